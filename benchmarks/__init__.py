"""Timings of clmst beside other programs. Everything is verified before it is timed."""
