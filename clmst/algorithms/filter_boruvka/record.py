"""What the rest of clmst has to know of filter-boruvka."""

from __future__ import annotations

from clmst.algorithms.shared import links
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="filter-boruvka",
    folder="clmst.algorithms.filter_boruvka",
    options="FilterBoruvkaOptions",
    purpose="Borůvka's rounds on arrays that shrink, light edges first",
    good_for="GPUs; the quickest there on all sixteen graphs measured",
    rank=20,
    most_vertices=links.most_vertices,
    bytes_needed=(78, 64),  # (47, 33) where light edges are as few as it expects
    takes_any_graph=True,
)
