"""Stand-ins for the graphs that papers measure: of their kind and full size, named, seeded.

Those graphs cannot be had everywhere, and these can: every number is a hash, so a name is the
same graph on every machine, byte for byte, and measurements of it can be compared. Weights are
1 + hash(u, v) mod n, int32. Sizes, slots and forest weights are on record.

=================  =============================================================================
`stand_in`         what a stand-in is; building, caching
`catalogue`        those for the inputs of one paper, by name
`families`         others by parameters, for studies of size and of degree
`rows`             from edges in any order to a symmetric CSR, in parallel
`lattice`          grids and road maps, written row by row
`recursive`, ...   one kind of graph each
=================  =============================================================================

>>> from clmst.generators import stand_ins
>>> stand_ins.find("2d-2e20.sym").name
'grid20'
>>> stand_ins.find("random-2e10-d8").build()
Graph(n_vertices=1024, n_edges=4081, weights=int32)
"""

from __future__ import annotations

from clmst.generators.stand_ins.catalogue import STAND_INS
from clmst.generators.stand_ins.families import DEGREE_STUDY, SIZE_STUDY, find, random, rmat
from clmst.generators.stand_ins.stand_in import StandIn

__all__ = ["DEGREE_STUDY", "SIZE_STUDY", "STAND_INS", "StandIn", "find", "random", "rmat"]
