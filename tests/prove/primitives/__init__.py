"""Primitives as a subject of the proof: every documented width, dtype and option, beside NumPy."""
