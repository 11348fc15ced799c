"""Proofs, made by compilers alone, that the kernels build for devices this machine lacks."""
