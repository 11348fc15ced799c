"""Repeated solves of one graph under changing weights: the class :class:`clmst.RepeatedSolver`."""
