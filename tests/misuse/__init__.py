"""Misused calls of every public entry."""
