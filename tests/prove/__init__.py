"""Tests of the proof by volume."""
