"""Faults: what fails, when, and what must come of it."""
