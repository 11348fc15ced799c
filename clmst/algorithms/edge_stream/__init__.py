"""Streams of edges on a device: generate the edges, filter them, and reduce them to a forest."""
