"""Several devices for one graph: a device pool, and the executor of each round."""
