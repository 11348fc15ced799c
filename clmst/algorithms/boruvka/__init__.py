"""Borůvka's algorithm made of primitives, without atomics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

Duplicates: TypeAlias = Literal["auto", "minimum", "split", "keep"]
Numbering: TypeAlias = Literal["scan", "split"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoruvkaOptions:
    """Alternatives for two steps; they change how long a solve takes, never its result.

    Attributes
    ----------
    numbering : {"scan", "split"}
        How supervertices get their numbers: by a scan over the representatives, or along the
        vertices split by representative, as the paper has it; the numbers are the same.
    duplicates : {"auto", "minimum", "split", "keep"}
        How parallel edges go. "minimum": split by (u, v), segmented minimum of each pair. "split":
        split by (u, v, weight), first of each pair, as the paper has it. "keep": split by u only,
        parallel edges stay. "auto": "minimum" on levels where there is reason to expect enough of
        them, else "keep".
    """

    numbering: Numbering = "scan"
    duplicates: Duplicates = "auto"

    def __post_init__(self) -> None:
        check_alternatives(self, numbering=Numbering, duplicates=Duplicates)


RECORD = AlgorithmRecord(
    name="boruvka",
    options=BoruvkaOptions,
    purpose="recursive contraction made of primitives alone",
    good_for="devices without atomics on global memory; to compare",
    rank=60,
    bytes_needed=(0, 85),
)
