"""Solve a graph many times, each time with new weights of the same edges."""
