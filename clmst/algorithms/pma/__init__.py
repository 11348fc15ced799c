"""PMA: trees grown in parallel by Prim's algorithm, then contracted."""

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="pma",
    purpose="many Partial Prim trees at once, united, again",
    good_for="to compare",
    rank=70,
    bytes_needed=(0, 83),
)
