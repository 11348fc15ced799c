"""ECL-MST: Kruskal's and Borůvka's algorithms unified."""

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="ecl",
    purpose="ECL-MST: edge worklists, deterministic reservations, one filter",
    good_for="graphs of more than 2\\*\\*30 vertices; every optimisation can be switched off",
    rank=40,
    bytes_needed=(20, 34),
    takes_any_graph=True,
)
