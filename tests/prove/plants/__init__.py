"""Faults for the proof to find: each module plants one where it is imported."""
