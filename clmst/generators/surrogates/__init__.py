"""Surrogate graphs: generated graphs of the kind and full size of those that papers measure.

The papers' graphs are not available everywhere; these are. Every number is a hash. So a name is
the same graph on every machine, byte for byte, and measurements of it can be compared. Weights
are 1 + hash(u, v) mod n, int32. Sizes, slots and forest weights are on record.

=================  =============================================================================
`surrogate`        what a surrogate graph is; building, caching
`catalogue`        those for the inputs of one paper, and families by parameters, by name
`rows`             from edges in any order to a symmetric CSR, in parallel
`lattice`          grids and road maps, written row by row
`drawn`, ...       one kind of graph each
=================  =============================================================================

>>> from clmst.generators import surrogates
>>> surrogates.find("2d-2e20.sym").name
'grid20'
>>> surrogates.find("random-2e10-d8").build()
Graph(n_vertices=1024, n_edges=4081, weights=int32)
"""

from __future__ import annotations

from clmst.generators.surrogates.catalogue import (
    DEGREE_STUDY,
    SIZE_STUDY,
    SURROGATES,
    find,
    random,
    rmat,
)
from clmst.generators.surrogates.surrogate import SurrogateGraph

__all__ = ["DEGREE_STUDY", "SIZE_STUDY", "SURROGATES", "SurrogateGraph", "find", "random", "rmat"]
