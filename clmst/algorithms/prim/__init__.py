"""Prim's algorithm, one tree for each work-item or work-group."""
