"""Parts of a graph on several devices, and the union of their forests."""
