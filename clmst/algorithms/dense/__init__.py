"""Borůvka's algorithm on an adjacency matrix."""
