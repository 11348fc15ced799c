"""The public function for core numbers of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms import families
from clmst.core.dense_graph import DenseGraph
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.inputs import on_device, taken
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher


@lasting("computing core numbers")
def core_numbers(
    graph: Any, *, device: Any = None, symmetrize: bool = False
) -> npt.NDArray[np.uint32]:
    """Compute the core number of every vertex of an undirected graph. Weights are ignored.

    The k-core is the largest subgraph in which every vertex has at least k edges. The core number
    of a vertex is the greatest k whose k-core contains the vertex.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy.sparse array or matrix, or another library's graph
        Any graph that :func:`minimum_spanning_forest` takes. Self-loops do not count. Parallel
        edges count separately if they are stored separately, as in a NetworkX multigraph or in edge
        arrays that name a pair twice. In a SciPy matrix, ``A[i, j]`` and ``A[j, i]`` together are
        one edge.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`. A :class:`DeviceGraph` is processed
        on the device that holds it.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) of a dense matrix to differ; see
        :func:`minimum_spanning_forest`.

    Returns
    -------
    ndarray of uint32, shape (n,)
        The core number of each vertex, in the order of vertex numbers. For a graph without parallel
        edges the numbers are those that ``networkx.core_number`` returns. In a complete graph all
        are n - 1.

    Raises
    ------
    InvalidGraphError
        The graph is malformed, or stores more than 2**31 - 1 edges in one direction only.
    InvalidArgumentError
        No device matches the name given as `device`.
    UnsupportedDeviceError
        No usable device was found.
    OutOfDeviceMemoryError
        The device does not have enough memory.

    Notes
    -----
    Vertices are removed level by level, with O(n_slots + n * levels) work at most, where n_slots is
    the number of stored matrix entries. The algorithm is PKC (H. Kabir, K. Madduri, "Parallel
    k-core decomposition on multicore platforms", 2017). ``cl/algorithms/k_core/k_core.cl`` states
    the differences.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    >>> clmst.core_numbers(A)
    array([2, 2, 2, 1], dtype=uint32)
    """
    graph = taken(graph, symmetrize=symmetrize)
    if isinstance(graph, DenseGraph | Points | DeviceMatrix):  # all core numbers are n - 1
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
