"""ECL-MST: Kruskal's and Borůvka's algorithms unified."""
