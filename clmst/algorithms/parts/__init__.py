"""Solve parts of a graph on several devices, and unite the forests of the parts."""
