"""Spanning trees of points, by Borůvka's algorithm over a tree of bounding boxes."""
