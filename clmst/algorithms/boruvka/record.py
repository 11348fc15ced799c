"""The record of `boruvka`."""

from __future__ import annotations

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="boruvka",
    folder="clmst.algorithms.boruvka",
    options="BoruvkaOptions",
    purpose="recursive contraction made of primitives alone",
    good_for="devices without atomics on global memory; to compare",
    rank=60,
    bytes_needed=(0, 85),
)
