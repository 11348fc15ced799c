"""The public function for forests of streams: `stream_minimum_spanning_forest`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clmst.core.arguments import check_bool, check_integer, check_path, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.runtime.discovery import get_device
from clmst.scale.capacity import default_limit
from clmst.scale.driver import StreamSettings, forest_of_stream
from clmst.scale.result import StreamProgress
from clmst.scale.source import EdgeSource


def stream_minimum_spanning_forest(
    chunks: Any,
    n_vertices: int | None = None,
    *,
    device: Any = None,
    memory_limit: int | None = None,
    checkpoint: Any = None,
    on_progress: Callable[[StreamProgress], object] | None = None,
    maximum: bool = False,
    n_edges: int | None = None,
    columns: Any = None,
) -> Forest:
    """Compute the minimum spanning forest of a graph that is too large for the memory.

    The edges are read in chunks. In memory are only the forest of the edges so far, and as many
    further edges as the memory limit allows. Again and again they are reduced: replaced by their
    forest. The result is the forest that :func:`minimum_spanning_forest` finds for the whole graph,
    edge for edge, whatever the chunks and the memory limit are. If the limit does not have space
    for the forest and new edges, the stream is read once for each round of Borůvka's algorithm
    instead (``docs/scaling.md``). The call blocks until the forest is complete.

    Parameters
    ----------
    chunks : iterable, path, Graph or GeneratedEdges
        The edges of the graph.

        * An iterable of chunks ``(u, v, w)``. The arrays `u` and `v` are the ends of the edges,
          as vertex numbers or as names (strings), and `w` are the weights. Without `w`, every
          weight is 1. Memory-mapped arrays are read part by part. The arrays of a chunk may be
          changed as soon as the iterator is asked for the next chunk. Edge ids are positions in
          the whole stream.
        * An iterable of chunks ``(u, v, w, ids)`` with edge ids of their own. The ids must be
          distinct in the stream and increase within each chunk. Then the order of the chunks does
          not matter.
        * A table, or an iterable of tables: a data frame, an Arrow table or batch, a mapping of
          arrays, or a structured array.
        * A path, or an iterable of paths. A path names a Parquet file, an ``.npy`` file with a
          structured array, a folder of these files, or a pattern (``"edges/*.parquet"``).
        * A :class:`Graph` in the host's memory.
        * A :class:`GeneratedEdges`, whose edges the device computes, so that nothing is uploaded.
    n_vertices : int, optional
        The number of vertices, at most 2**32 - 2. If the vertices have names, it is the maximum
        number of names. By default the vertices are counted first: it is the number of names, or
        the greatest vertex number plus one. For that all chunks are read once more, so they cannot
        come from an iterator. Files that take at most a quarter of the memory are kept instead.
        Leave it out for a :class:`Graph` and for generated edges, which know it.
    device : None, str, Device or pyopencl.CommandQueue
        The device that solves; see :func:`clmst.get_device`.
    memory_limit : int, optional
        The number of bytes that the stream may use on the device. By default it is three quarters
        of the memory of a device that has its own, or a quarter of the memory that a device shares
        with the host.
    checkpoint : path, optional
        A file in which the state of the stream is stored from time to time. If the file exists when
        the function is called, the stream is read up to that state, compared with it by checksums,
        and continued from there.
    on_progress : callable, optional
        A function that is called with a :class:`StreamProgress` after every part of the stream, for
        example ``print``. Independently of it, the logger "clmst" gets a line at level INFO every
        five seconds.
    maximum : bool
        Whether to compute the maximum spanning forest.
    n_edges : int, optional
        The number of edges of the whole stream, from which the time left is estimated. A stream
        with another number of edges raises InvalidGraphError. For paths, graphs and generated edges
        it is known.
    columns : sequence of str, optional
        The columns of files and tables that contain the ends and the weights, as in
        :func:`clmst.read_graph`. If the ends are strings, they become the `vertex_labels` of the
        forest, in the order in which they first occur.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidGraphError
        A chunk is malformed (the message names the chunk and the row), or the stream has another
        number of edges than expected. The checkpoint then covers the valid chunks before it.
    Exception
        Any error that the iterator of the chunks or `on_progress` raises, unchanged. The checkpoint
        then covers all chunks before it. If one of those chunks is malformed, the error of that
        chunk is raised instead.
    InvalidArgumentError
        The checkpoint belongs to another stream, or an argument is invalid.
    FileFormatError
        The checkpoint or a file of the stream is damaged.
    FileWriteError
        The checkpoint cannot be written.
    OutOfDeviceMemoryError
        The memory limit is too small for the vertices. Or it is too small for new edges beside the
        forest, and the chunks come from an iterator, which can be read only once.

    Warns
    -----
    StreamedWarning
        The edges are read several times, because the memory is too small.

    Notes
    -----
    A stream of m edges of which b fit into memory takes m / b reductions, each of up to n + b
    edges. If the stream is read several times, there are at most log2(n) passes of O(n + m) each.
    ``docs/scaling.md`` has the cost model.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> chunks = [([0, 1], [1, 2], np.array([5, 3])), ([2, 0], [0, 3], np.array([4, 1]))]
    >>> clmst.stream_minimum_spanning_forest(chunks, 4).edge_ids
    array([2, 3, 1])
    """
    maximum = check_bool("maximum", maximum)
    if on_progress is not None and not callable(on_progress):
        raise InvalidArgumentError(f"on_progress is {shown(on_progress)}; it must be callable")
    found = get_device(device)
    limit = default_limit(found)
    if memory_limit is not None:
        limit = check_integer("memory_limit", memory_limit, low=1)
    settings = StreamSettings(
        device=found, limit=limit, on_progress=on_progress, maximum=maximum,
        checkpoint=None if checkpoint is None else check_path("checkpoint", checkpoint),
    )  # fmt: skip
    source = EdgeSource.checked(chunks, n_vertices=n_vertices, n_edges=n_edges, columns=columns)
    return forest_of_stream(source, settings)
