"""Core numbers of vertices, as users ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms import families
from clmst.core.dense_graph import DenseGraph
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.intake import on_device, taken
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher


@lasting("computing core numbers")
def core_numbers(
    graph: Any, *, device: Any = None, symmetrize: bool = False
) -> npt.NDArray[np.uint32]:
    """Compute the core number of every vertex of an undirected graph; weights mean nothing.

    The k-core is the largest subgraph in which every vertex has k edges or more; the core number
    of a vertex is the greatest k whose core it is in.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy.sparse array or matrix, or any other one
        As of :func:`minimum_spanning_forest`. Self-loops do not count. Every stored parallel edge
        does: edges of a NetworkX multigraph, entries of edge arrays that name the same pair. A
        SciPy matrix that stores both ``A[i, j]`` and ``A[j, i]`` has one edge there.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`; a :class:`DeviceGraph` brings its own.
    symmetrize : bool
        As of :func:`minimum_spanning_forest`.

    Returns
    -------
    ndarray of uint32, shape (n,)
        Of a simple graph what ``networkx.core_number`` has, in the order of vertex numbers; n - 1
        everywhere for a complete graph.

    Raises
    ------
    InvalidGraphError
        The graph is malformed, or stores more than 2**31 - 1 edges in one direction only.
    InvalidArgumentError
        Nothing has the name given as `device`.
    UnsupportedDeviceError
        There is no usable device.
    OutOfDeviceMemoryError
        The device cannot hold what peeling needs.

    Notes
    -----
    Peeling level by level, O(n_slots + n * levels) work at most: PKC (Kabir, Madduri 2017) with
    differences that ``cl/algorithms/k_core/k_core.cl`` states.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    >>> clmst.core_numbers(A)
    array([2, 2, 2, 1], dtype=uint32)
    """
    graph = taken(graph, symmetrize=symmetrize)
    if isinstance(graph, DenseGraph | Points | DeviceMatrix):  # nothing to peel, nor to upload
        if device is not None:
            get_device(device)
        return np.full(graph.n_vertices, max(graph.n_vertices - 1, 0), np.uint32)
    stored = on_device(graph, device)
    assert isinstance(stored, DeviceGraph)
    device = stored.device
    device.trust.require(families.CORE_NUMBERS)
    from clmst.algorithms.k_core import core_numbers as k_core

    with device.lock, Guard(device, caches=stored.caches):
        numbers, _ = k_core.core_numbers(stored, Launcher(device, device.queue))
        return numbers.to_host()
