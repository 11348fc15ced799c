"""The one function that everything larger than a device is made of.

An edge that is the heaviest of a cycle is not in the forest (the cycle property). A cycle of a part
is a cycle of the whole, so an edge that is not in the forest of its part is not in the forest of
the graph either. Hence the forest of the union of the parts' forests is the forest of the graph,
whatever the parts and whatever the order of reductions.

"The heaviest" needs a total order that is the same in all parts: (weight key, lesser end, greater
end, edge id). That is the order of a solve by one device, where edges are numbered in canonical
order: by their ends, then by their position in the input.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import algorithms
from clmst.algorithms.shared.solution import forest_of
from clmst.core import canonical
from clmst.core.arguments import check_bool, check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device, pass_over
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.trust import NoFamilyLeftError
from clmst.scale.capacity import VERTICES_PER_EDGE
from clmst.scale.edge_part import EdgePart, check_n_vertices, joined


def reduce(
    parts: Iterable[EdgePart], *, n_vertices: int, device: Any = None, maximum: bool = False
) -> EdgePart:
    """Return the forest of the union of some parts of a graph.

    Parameters
    ----------
    parts : iterable of EdgePart
        At least one; all weights of one dtype.
    n_vertices : int
        Of the whole graph, up to 2**32 - 2.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.
    maximum : bool
        Keep the heaviest edges; among equal ones the first in canonical order still stays.

    Returns
    -------
    EdgePart
        The edges of the forest in canonical order: by (min(u, v), max(u, v)).

    Raises
    ------
    InvalidGraphError
        Dtypes differ, or there are too many vertices.
    OutOfDeviceMemoryError
        The union does not fit; a stream then takes less at a time.

    Notes
    -----
    Pure, associative and commutative: any tree of reductions over any division of the edges gives
    the same edges.
    """
    n_vertices = check_integer("n_vertices", n_vertices, low=0)
    check_n_vertices(n_vertices)
    listed = list(parts)
    if not listed:
        raise InvalidArgumentError("there are no parts; there must be one at least")
    union = joined(listed)
    if union.size == 0:
        return union
    check_size(n_vertices, union.size)
    n, u, v, occurring = n_vertices, union.u, union.v, None
    if n > VERTICES_PER_EDGE * union.size:
        occurring, u, v = _renumbered(u, v)
        n = occurring.size
    slots = canonical.upper_from_edges(n, u, v)
    order = _parallel_by_id(slots, union.edge_ids)
    graph = Graph.unchecked(
        indptr=slots.indptr, indices=slots.indices, weights=union.weights[order],
        is_symmetric=False, edge_ids=None, n_input=order.size,
    )  # fmt: skip
    forest = _solved(graph, device, maximum=check_bool("maximum", maximum))
    ends = forest.edges if occurring is None else occurring[forest.edges]
    return EdgePart(
        u=ends[:, 0].astype(np.uint32),
        v=ends[:, 1].astype(np.uint32),
        weights=forest.weights,
        edge_ids=union.edge_ids[order[forest.edge_ids]],
    )


def _renumbered(u: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return new numbers for the vertices that occur, in their order: edges keep theirs."""
    occurring, numbers = np.unique(np.concatenate((u, v)), return_inverse=True)
    numbers = numbers.astype(np.uint32)
    return occurring, numbers[: u.size], numbers[u.size :]


def _parallel_by_id(slots: canonical.Pattern, edge_ids: npt.NDArray[np.int64]) -> Array:
    """Return the positions of the slots with parallel edges in the order of their ids.

    Parallel edges are neighbours, in the order of the input, which parts in any order do not give.
    """
    order = slots.positions
    same = slots.indices[1:] == slots.indices[:-1]
    starts = slots.indptr[1:-1]
    same[starts[(starts > 0) & (starts < order.size)] - 1] = False  # another row begins there
    later = np.flatnonzero(same) + 1  # slots that are parallel to the one before
    out_of_order = later[edge_ids[order[later]] < edge_ids[order[later - 1]]]
    if not out_of_order.size:
        return order
    pair = np.concatenate((np.zeros(1, np.int64), np.cumsum(~same)))  # of each slot: its number
    is_wrong = np.zeros(int(pair[-1]) + 1, np.bool_)  # of each pair of vertices
    is_wrong[pair[out_of_order]] = True
    wrong = np.flatnonzero(is_wrong[pair])
    positions = order[wrong]
    order = order.copy()
    order[wrong] = positions[np.lexsort((edge_ids[positions], pair[wrong]))]
    return order


def _solved(graph: Graph, device: Any, *, maximum: bool) -> Forest:
    """Return the forest of a graph, whose ids are slots; pass over devices that are not trusted."""
    while True:
        try:
            found = get_device(device)
            with found.lock, Guard(found):
                stored = DeviceGraph.upload(graph, found, wait=False)
                launch = Launcher.of(found, profile=False)
                name, solve = algorithms.choose(
                    "auto", found, stored, options=None, maximum=maximum
                )
                solution = solve(stored, launch, maximum=maximum, options=None)
                forest = forest_of(solution, launch, algorithm=name, maximum=maximum, wait=False)
                return forest.copied(launch)
        except NoFamilyLeftError as error:
            if not pass_over(device, error):
                raise
