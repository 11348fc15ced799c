"""SciPy matrices whose weights are all equal, on CPUs: Kruskal's algorithm without a sort."""
