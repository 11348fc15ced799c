"""The cases of self-tests: the kinds of weights, and minimum or maximum forests, to test."""

from __future__ import annotations

from clmst.runtime.kernel_family import Case

# The cases that are tested if it is not known yet which graph will be solved. Together they cover
# all widths and kinds of weights, and edges stored once and twice.
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
# The cases in which kernels that sort edges are tested. PACKED: the position of an edge is in the
# same word as its key. APART: it is in another word. RANKS: the kernels replace weights by their
# ranks.
PACKED, APART, RANKS = "positions with keys", "positions apart", "ranks of weights"
