"""What a caller may stream: chunks of edges, files of them, or a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from clmst.core.arguments import as_array, has, shown
from clmst.core.columns import check_columns
from clmst.core.cores import usable_cores
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.threads import TaskThread, ThreadTask, finish
from clmst.core.weight_keys import Array, as_weights
from clmst.io import pieces as files
from clmst.scale.table_chunk import arrays_of, names_of

_GRAPH_ROWS = 1 << 22  # slots of a graph that are looked at together
NO_WEIGHTS = np.dtype(np.float64)  # of a stream without rows
_MOST_READERS = 8  # threads that read files: pyarrow has threads of its own beside them


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPiece:
    """Consecutive rows of a chunk, as the caller has them; nothing is checked yet.

    Attributes
    ----------
    chunk : str
        The name of the chunk in messages.
    first_row : int
        The position of the first row in the chunk.
    u, v, weights, edge_ids : object
        Arrays, memory-mapped ones too, or what NumPy makes one of; the last two may be None.
    first_id : int, optional
        The id of the first row, where ids are consecutive, but are no positions in the stream.
    """

    chunk: str
    first_row: int
    u: Any
    v: Any
    weights: Any
    edge_ids: Any
    first_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource:
    """The pieces of a stream.

    Attributes
    ----------
    pieces : iterator of StreamPiece
    n_edges : int or None
        How many rows they have in all, if that is known.
    weight_dtype : numpy.dtype
        Of the weights, if there is no row to tell it.
    """

    pieces: Iterator[StreamPiece]
    n_edges: int | None
    weight_dtype: np.dtype[Any] = NO_WEIGHTS


def can_be_read_again(chunks: Any) -> bool:
    """Return whether a stream begins anew each time: it is no iterator of the caller's."""
    return not isinstance(chunks, Iterator)


def open_source(chunks: Any, columns: Any = None) -> StreamSource:
    """Return the source that `chunks` is, as of :func:`clmst.stream_minimum_spanning_forest`."""
    columns = check_columns(columns)
    if isinstance(chunks, Graph):
        return StreamSource(
            pieces=_of_graph(chunks), n_edges=chunks.n_slots, weight_dtype=chunks.weight_dtype
        )
    if isinstance(chunks, str | PathLike):
        paths = files.listed(chunks)
        sizes = [files.n_rows(path, columns) for path in paths]
        parts = (
            part
            for k, path in enumerate(paths)
            for part in parts_of_file(path, columns, f"chunk {k}")
        )
        pieces = read_ahead(parts, max(1, min(_MOST_READERS, usable_cores() // 2)))
        return StreamSource(pieces=pieces, n_edges=sum(sizes))
    if names_of(chunks) is not None:
        chunks = [chunks]
    if not has(chunks, "__iter__") or isinstance(chunks, bytes) or has(chunks, "tocsr"):
        raise InvalidArgumentError(
            f"chunks is {shown(chunks)}; it must be an iterable of (u, v, w), a path or a Graph"
        )
    return StreamSource(pieces=_of_chunks(chunks, columns), n_edges=None)


Pieces: TypeAlias = Callable[[], Iterator[StreamPiece]]


def one_ahead(pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
    """Yield pieces of files, each of which is read in a thread while the one before is solved."""
    return read_ahead(iter([lambda: pieces]), 1)


def read_ahead(parts: Iterator[Pieces], n_threads: int) -> Iterator[StreamPiece]:
    """Yield the pieces of all parts, in order, while threads read the next ones.

    So many parts are begun at a time; of each, one piece is read ahead. What a part raises comes
    when those before it have ended.
    """
    begun = deque[tuple[TaskThread, Iterator[StreamPiece], ThreadTask[StreamPiece | None]]]()
    workers = [TaskThread("clmst-stream") for _ in range(n_threads)]

    def begin_next(worker: TaskThread) -> None:
        try:
            part = next(parts, None)
        except Exception as error:  # of a file that cannot be opened: it waits for its turn
            part = partial(_raised, error)
        if part is not None:
            pieces = part()
            begun.append((worker, pieces, worker.start(partial(next, pieces, None))))

    try:
        for worker in workers:
            begin_next(worker)
        while begun:
            worker, pieces, coming = begun.popleft()
            while (piece := coming.result()) is not None:
                coming = worker.start(partial(next, pieces, None))
                yield piece
            begin_next(worker)
    finally:
        finish(workers)


def _raised(error: Exception) -> Iterator[StreamPiece]:
    raise error
    yield


def _of_graph(graph: Graph) -> Iterator[StreamPiece]:
    """Yield the edges of a graph; their ids are slots, which order like edge ids."""
    for begin in range(0, graph.n_slots, _GRAPH_ROWS):
        rows = slice(begin, begin + _GRAPH_ROWS)
        u, v = graph.rows[rows], graph.indices[rows]
        yield StreamPiece(
            chunk="the graph", first_row=begin, u=u, v=v, weights=graph.weights[rows],
            edge_ids=None, first_id=begin,
        )  # fmt: skip


def _of_chunks(chunks: Iterable[Any], columns: Any) -> Iterator[StreamPiece]:
    """Yield the pieces of chunks; what the caller's iterator raises becomes one clear error."""
    number, iterator = 0, None
    while True:
        try:
            iterator = iter(chunks) if iterator is None else iterator
            chunk = next(iterator, None)
        except (ClmstError, MemoryError):
            raise
        except Exception as error:
            raise InvalidGraphError(
                f"chunk {number} did not come ({type(error).__name__}: {shown(error)}); "
                "the iterator of chunks must not raise"
            ) from error
        if chunk is None:
            return
        yield from _of_chunk(chunk, number, columns)
        number += 1


def _of_chunk(chunk: Any, number: int, columns: Any) -> Iterator[StreamPiece]:
    """Yield the pieces of one chunk: of arrays one, of a file several."""
    if isinstance(chunk, str | PathLike):
        for path in files.listed(chunk):
            yield from pieces_of_file(path, columns, f"chunk {number}")
        return
    if names_of(chunk) is not None:
        chunk = arrays_of(chunk, columns, None, f"chunk {number}")
    if not isinstance(chunk, tuple | list) or not 2 <= len(chunk) <= 4:
        raise InvalidGraphError(
            f"chunk {number} is {shown(chunk)}; it must be (u, v), (u, v, w), (u, v, w, edge ids), "
            "a table of them, or the path of a file"
        )
    u, v, w, ids = [*chunk, None, None][:4]
    yield StreamPiece(chunk=f"chunk {number}", first_row=0, u=u, v=v, weights=w, edge_ids=ids)


def pieces_of_file(path: Path, columns: Any, name: str) -> Iterator[StreamPiece]:
    """Yield the pieces of a file; `name` and the file's own name are the chunk's."""
    for part in parts_of_file(path, columns, name):
        yield from part()


def parts_of_file(path: Path, columns: Any, name: str) -> Iterator[Pieces]:
    """Yield what reads the pieces of each part of a file, all of which may be read at once."""
    for part in files.parts_of(path, columns):
        yield partial(_pieces_of_part, part, f"{name} ({path.name})")


def _pieces_of_part(part: files.FilePart, chunk: str) -> Iterator[StreamPiece]:
    first_row = part.first_row
    for u, v, w in part.read():
        yield StreamPiece(chunk=chunk, first_row=first_row, u=u, v=v, weights=w, edge_ids=None)
        first_row += len(u)


def column_of(name: str, column: Any) -> Array:
    """Return a column of a chunk as an array; of a list of weights all elements are looked at."""
    if name == "w" and isinstance(column, list | tuple):
        return as_weights(column)
    array = as_array(name, column, error=InvalidGraphError)
    return array if array.size else array.astype(np.int64) if name != "w" else array
