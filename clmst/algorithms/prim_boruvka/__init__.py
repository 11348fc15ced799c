"""A few rounds of Borůvka's algorithm, then Prim's."""
