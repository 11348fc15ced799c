"""A few rounds of Borůvka's algorithm, then Prim's."""

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="prim-boruvka",
    purpose="Borůvka's first log log n rounds, then `prim`",
    good_for="to compare",
    rank=50,
    bytes_needed=(0, 85),
)
