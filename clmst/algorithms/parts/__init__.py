"""Solve parts of a graph's edges on several devices, and unite the forests of the parts."""
