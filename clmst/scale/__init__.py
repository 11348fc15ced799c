"""Forests of graphs that are larger than the memory of a device."""
