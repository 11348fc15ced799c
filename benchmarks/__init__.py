"""Timings of clmst beside others; everything is verified before it is timed."""
