"""Borůvka's rounds over all edges of the graph."""

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="edge-parallel",
    purpose="every round over all edges, by disjoint sets; nothing compacted or filtered",
    good_for="to compare",
    rank=80,
    bytes_needed=(13, 10),
    takes_any_graph=True,
)
