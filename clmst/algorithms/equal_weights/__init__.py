"""Solve SciPy matrices of equal weights on CPUs, by Kruskal's algorithm without a sort."""
