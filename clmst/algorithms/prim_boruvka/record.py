"""The record of `prim-boruvka`."""

from __future__ import annotations

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="prim-boruvka",
    folder="clmst.algorithms.prim_boruvka",
    options="PrimBoruvkaOptions",
    purpose="Borůvka's first log log n rounds, then `prim`",
    good_for="to compare",
    rank=50,
    bytes_needed=(0, 85),
)
