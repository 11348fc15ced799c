"""The record of `pma`."""

from __future__ import annotations

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="pma",
    folder="clmst.algorithms.pma",
    options="PmaOptions",
    purpose="many Partial Prim trees at once, united, again",
    good_for="to compare",
    rank=70,
    bytes_needed=(0, 83),
)
