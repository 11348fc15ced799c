"""Dendrograms, cuts and clusters, which follow from a spanning forest."""
