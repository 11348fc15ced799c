"""Solves of one graph whose weights change; public as :class:`clmst.RepeatedSolver`."""
