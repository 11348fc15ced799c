"""Doors for other libraries: what they load when they call clmst under their own names."""
