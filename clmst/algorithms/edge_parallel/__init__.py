"""Borůvka's rounds over all edges of the graph."""
