"""Clustering of points, and dendrograms and cuts, all computed from spanning forests."""
