"""Borůvka's algorithm on an adjacency matrix that stores all pairs of vertices."""

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
    """Options of `dense`: Borůvka's algorithm on an adjacency matrix or on points.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    reread : {"stale", "all"}, default "stale"
        Which blocks of the matrix the rounds after the first read. The first round records the
        lightest cell of each block. With "stale", a later round reads a block again only if its
        recorded cell now joins two vertices of one component, and the block may still contain the
        lightest edge of this component. With "all", each round reads the whole matrix, as strategy
        CU of Ma and Wan does; this is meant for comparisons.
    filter : {"auto", "differences", "products"}, default "auto"
        How squared distances of points with more than three dimensions are estimated in float32,
        before the exact distances of near pairs are computed. It applies to metrics that are
        computed from squares: "euclidean", "cosine" and "rounded-euclidean". "differences" sums the
        squares of differences of coordinates. "products" uses ``|a|**2 + |b|**2 - 2 a.b``. It takes
        half the instructions, but its error grows with the distance of the points from their
        center. "auto" takes products if the solve is long and a sample of the points shows that
        they separate near points. ``stats["filter"]`` of the forest says which one was used.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.DenseOptions(reread="all")
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
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
