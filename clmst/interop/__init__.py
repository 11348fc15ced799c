"""Modules that other libraries load, with the functions that these libraries call."""
