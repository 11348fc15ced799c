"""Benchmarks of clmst beside other programs. Every result is verified before it is timed."""
