"""Borůvka's algorithm made of primitives, without atomics."""
