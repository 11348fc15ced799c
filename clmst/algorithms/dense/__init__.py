"""Borůvka's algorithm on an adjacency matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

if TYPE_CHECKING:
    from clmst.runtime.device import Device

Reread: TypeAlias = Literal["stale", "all"]
Filter: TypeAlias = Literal["auto", "differences", "products"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    reread : {"stale", "all"}
        What a round after the first reads of the matrix. "stale": blocks whose lightest cell, found
        before, lies within a component by now, where they may still hold what is looked for. "all":
        everything, as strategy CU of Ma and Wan does; for comparison.
    filter : {"auto", "differences", "products"}
        How float32 compares points of more than three dimensions by a metric that has squares: by
        differences of coordinates, or by products, in half of the instructions, but with an error
        that grows with how far points are from the center. "auto": by products where a solve is
        long and a sample shows that they separate near points; ``stats["filter"]`` says which.

    Raises
    ------
    InvalidArgumentError
        A value that is none of these.
    """

    reread: Reread = "stale"
    filter: Filter = "auto"

    def __post_init__(self) -> None:
        check_alternatives(self, reread=Reread, filter=Filter)


def _most_vertices(device: Device) -> int:
    from clmst.runtime.device_matrix import most_vertices

    return most_vertices(device)


RECORD = AlgorithmRecord(
    name="dense",
    options=DenseOptions,
    purpose="an adjacency matrix, read about once, or distances of points computed on the way",
    good_for="complete graphs; nearly complete ones that are solved more than once",
    most_vertices=_most_vertices,
    takes_complete_graphs=True,
    large_self_test="never",
)
