"""A spanning forest of a graph that changes: the class :class:`clmst.DynamicForest`."""
