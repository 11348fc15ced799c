"""Proofs on the device that a forest is the minimum one."""
