"""Borůvka's algorithm, built from parallel primitives without atomics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

Duplicates: TypeAlias = Literal["auto", "minimum", "split", "keep"]
Numbering: TypeAlias = Literal["scan", "split"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoruvkaOptions:
    """Options of `boruvka`, Borůvka's algorithm built from parallel primitives.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    numbering : {"scan", "split"}, default "scan"
        How the supervertices of the next level get their numbers. A supervertex is the vertex that
        replaces the vertices that a level has joined. "scan" numbers the representatives of the
        joined vertices by a prefix sum. "split" first sorts all vertices by their representative,
        as the paper does. Both give the same numbers; "split" is there to repeat the paper.
    duplicates : {"auto", "minimum", "split", "keep"}, default "auto"
        What happens to parallel edges, which are edges between the same two supervertices.
        "minimum" sorts the edges by both ends and takes the segmented minimum of each pair. "split"
        sorts them by both ends and by weight, and takes the first of each pair, as the paper does.
        "keep" sorts by one end only and keeps all parallel edges, which makes a level cheaper and
        leaves more edges to the next one. "auto" chooses "minimum" on the levels where enough edges
        are expected to go, and "keep" on the others.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices.

    References
    ----------
    V. Vineet, P. Harish, S. Patidar, P. J. Narayanan, "Fast Minimum Spanning Tree for Large Graphs
    on the GPU", High Performance Graphics 2009.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.BoruvkaOptions(numbering="split", duplicates="split")  # as in the paper
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
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
