"""Dendrograms: which clusters the edges of a forest merge, the lightest edge first."""
