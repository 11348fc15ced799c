"""Edges of a stream on a device: what generates, filters and reduces them."""
