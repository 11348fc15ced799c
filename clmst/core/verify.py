"""The public function ``clmst.verify``, which checks a forest without using a device."""

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

    The check does not solve the graph, and shares no code with the algorithms. The check runs on
    the host. It examines the lengths of the arrays, the edge ids, ends and weights, that the edges
    do not form cycles, that no edge of the graph joins two trees, and that every other edge comes
    after all edges on the path between its ends, in the order (weight, position).

    Parameters
    ----------
    graph : Graph, DenseGraph, Points, or any other graph on the host
        Any graph that :func:`clmst.minimum_spanning_forest` takes, except on devices.
    forest : Forest
        The forest to check. Its attribute `maximum` says whether it should be the minimum or the
        maximum spanning forest.
    symmetrize, weight, columns
        The same as in :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    Verification
        True in a boolean context if the forest is right. Otherwise it lists problems. The check
        stops at the first stage that finds a problem, because later stages rely on earlier ones.

    Raises
    ------
    InvalidGraphError
        The object is not a graph, or the graph is malformed.
    InvalidArgumentError
        `forest` is not a Forest, or another argument has a wrong type.

    Notes
    -----
    O((n + m) log n) time and O(n + m) memory.

    Source: V. King, "A simpler minimum spanning tree verification algorithm", Algorithmica 18,
    1997.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> forest = clmst.minimum_spanning_forest(graph)
    >>> bool(clmst.verify(graph, forest))
    True
    """
    check_kind("forest", forest, Forest)
    return verified(graph, forest, symmetrize=symmetrize, weight=weight, columns=columns)
