"""Graphs larger than a device: one pure function, `reduce`, and what feeds it."""
