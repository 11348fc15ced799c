"""PMA: trees grown in parallel by Prim's algorithm, then contracted."""
