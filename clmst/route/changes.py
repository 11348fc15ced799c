"""Changes of a dynamic forest: how the edges that a change leaves open are solved."""

from __future__ import annotations


def contracts_pieces(n_open: int, n_kept: int) -> bool:
    """Return whether the kept trees of a forest become single vertices before a solve.

    `n_open` is the number of edges between the trees, and `n_kept` the number of edges in them. The
    trees do not become vertices if there are more open edges than kept ones: ranks of many open
    edges, which keep the order of ties, take longer than a solve with the kept edges.
    """
    return n_open <= n_kept
