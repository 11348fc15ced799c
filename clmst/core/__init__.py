"""Graphs, forests, weight keys, the reference solver and verification. Nothing here uses OpenCL."""
