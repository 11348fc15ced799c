"""Solves of the same edges under other weights."""
