"""Borůvka's algorithm over a bounding-volume hierarchy: spanning trees of points."""
