"""Proofs, computed on a device, that a forest is the minimum spanning forest of its graph."""
