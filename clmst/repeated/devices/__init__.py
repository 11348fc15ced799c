"""Several devices at one graph: a pool of them, of which each round's executor is made."""
