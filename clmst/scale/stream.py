"""A forest of a stream of edges: the present forest and a part of the stream in memory."""

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
    """Compute the minimum spanning forest of a graph that need not fit anywhere at once.

    The forest is that of :func:`minimum_spanning_forest`, edge for edge, whatever the chunks and
    the memory limit. In memory are the forest of the edges so far and as many more edges as
    the memory limit allows; chunks are joined or cut for that. The device checks and filters the
    edges, or the host where the device cannot. Where the limit has no space for that, edges are
    read once for each round of Borůvka's algorithm (``docs/scaling.md``).

    Parameters
    ----------
    chunks : iterable, path, Graph or GeneratedEdges
        An iterable of chunks ``(u, v, w)``, arrays of vertex numbers, or of names (strings), and of
        weights; without ``w`` every weight is 1. Memory-mapped arrays are read a part at a time.
        Arrays of a chunk may change once the next one is asked for. Edge ids are positions in the
        whole stream. A chunk ``(u, v, w, edge ids)`` brings its own, distinct in the stream and
        rising within the chunk: then chunks may come in any order. A chunk may also be a table: a
        data frame, an Arrow table or batch, a mapping of arrays or a structured array. Or a path,
        or an iterable of paths: of a Parquet file, of an ``.npy`` file with a structured array, of
        a folder of such, or a pattern of their names (``"edges/*.parquet"``). Or a
        :class:`GeneratedEdges`, which the device makes: the whole stream stays there.
    n_vertices : int, optional
        Up to 2**32 - 2. A :class:`Graph` and generated edges have their own. If ends are strings,
        it is how many names there may be. By default there are as many vertices as names, or one
        more than the greatest number. Then files are kept in memory while they are read for that,
        if their rows take at most a quarter of it. All else is read once more, so it must be
        possible to read it again.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.
    memory_limit : int, optional
        Bytes of the device that a reduction may use. By default three quarters of a device's own
        memory, or a quarter of a memory that it shares with the host.
    checkpoint : path, optional
        A file that holds the state of the stream from time to time. A call that finds it reads the
        stream up to that state, checks that it is the same stream, and goes on from there.
    on_progress : callable, optional
        Called with a :class:`StreamProgress` after every part; ``print`` will do. The logger
        "clmst" has one every five seconds at INFO in any case.
    maximum : bool
        Compute the maximum spanning forest.
    n_edges : int, optional
        The number of edges of the whole stream, for the time left; a stream that has other than
        that is an error. Paths and graphs have their own.
    columns : sequence of str, optional
        Of files and tables: as of :func:`clmst.read_graph`. Ends are vertex numbers, or strings,
        which become `vertex_labels` in the order in which rows have them.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidGraphError
        A chunk is malformed (the message names chunk and row), or the stream ends early. The
        checkpoint then has all chunks before.
    Exception
        Whatever the chunks' iterator or `on_progress` raises, unchanged. The checkpoint then has
        all chunks before, too. If one of these chunks is malformed, its error is raised instead.
    InvalidArgumentError
        The checkpoint belongs to another stream, or an argument is wrong.
    FileFormatError
        The checkpoint, or a file of the stream, is damaged.
    FileWriteError
        There is no space for the checkpoint.
    OutOfDeviceMemoryError
        The memory limit is too small for the vertices; or it leaves nothing beside the forest, and
        the chunks come from an iterator, which can be read once.

    Warns
    -----
    StreamedWarning
        The edges are read several times, since memory is short.

    Notes
    -----
    A stream of m edges by parts of b takes m / b reductions of up to n + b edges each. By passes it
    is log2(n) passes at most, O(n + m) each. ``docs/scaling.md`` has the cost model.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> chunks = [([0, 1], [1, 2], np.array([5, 3])), ([2, 0], [0, 3], np.array([4, 1]))]
    >>> clmst.stream_minimum_spanning_forest(chunks, 4).edge_ids
    array([3, 2, 1])
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
