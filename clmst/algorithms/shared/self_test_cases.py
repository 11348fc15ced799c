"""The cases of self-tests, by which families, self-tests and solves name them."""

from __future__ import annotations

from clmst.runtime.kernel_family import Case

# The cases that stand for all others before a graph is known: widths, directions, kinds of word.
USUAL = (
    Case(32, "unsigned", maximum=False, symmetric=False),
    Case(32, "float", maximum=False, symmetric=True),
    Case(64, "float", maximum=True, symmetric=False),
    Case(64, "signed", maximum=False, symmetric=True),
)
DIRECTED = (Case(32, "unsigned", maximum=False), Case(64, "float", maximum=True))
KEYS = (Case(32, "unsigned"), Case(64, "float"))
WORDS = (Case(32, None), Case(64, None))
FEW_VERTICES, MANY_VERTICES = "few vertices", "many vertices"
FEW_POINTS = "few points"
# Of edges that are sorted: a position in the same word as its key, or in another one; and weights.
PACKED, APART, RANKS = "positions with keys", "positions apart", "ranks of weights"
