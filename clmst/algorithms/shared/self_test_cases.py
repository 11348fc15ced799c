"""The cases of self-tests, under the names that families, self-tests and solves use."""

from __future__ import annotations

from clmst.runtime.kernel_family import Case

# The cases that are tested if the graph is not known yet. Together they cover all widths and kinds
# of weights, and edges stored once and twice.
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
# Cases of sorting edges. The position of an edge is in the same word as its key (PACKED), or in
# another word (APART). With RANKS, ranks of weights are sorted in place of keys.
PACKED, APART, RANKS = "positions with keys", "positions apart", "ranks of weights"
