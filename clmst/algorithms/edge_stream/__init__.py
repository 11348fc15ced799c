"""Streams of edges on a device: generate them, filter them, and replace them by their forest."""
