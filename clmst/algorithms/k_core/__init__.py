"""Core numbers of vertices."""
