"""Solve a graph again and again: its edges stay, and its weights change."""
