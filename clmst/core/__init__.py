"""Graphs, forests, weight keys, the oracle and verification: everything that needs no OpenCL."""
