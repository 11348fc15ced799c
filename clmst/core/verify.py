"""``clmst.verify``: a caller's forest and graph, checked without any device."""

from __future__ import annotations

from typing import Any

from clmst.core.arguments import check_kind
from clmst.core.columns import WEIGHT
from clmst.core.forest import Forest
from clmst.core.verification import Verification, verified


def verify(
    graph: Any, forest: Forest, *, symmetrize: bool = False, weight: Any = WEIGHT,
    columns: Any = None,
) -> Verification:  # fmt: skip
    """Check that `forest` is the unique minimum (or maximum) spanning forest of `graph`.

    Everything is checked: lengths, edge ids, endpoints and weights; that there is no cycle; that no
    edge of the graph joins two trees; and that no edge outside the forest precedes the last edge on
    the path between its ends, in the order (weight, edge). Runs on the host only and shares nothing
    with the algorithms.

    Parameters
    ----------
    graph : Graph, DenseGraph, Points, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`.
    forest : Forest
        Its attribute `maximum` says which forest it claims to be.
    symmetrize, weight, columns
        As of :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    Verification
        Truthy if the forest is right. Stops at the first stage with a problem, since later stages
        rely on it.

    Raises
    ------
    InvalidGraphError
        There is no graph, or it is malformed.
    InvalidArgumentError
        There is no forest.

    Notes
    -----
    O((n + m) log n) time, O(n + m) memory.
    """
    check_kind("forest", forest, Forest)
    return verified(graph, forest, symmetrize=symmetrize, weight=weight, columns=columns)
