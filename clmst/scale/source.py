"""Sources of a stream: chunks of edges, files, a graph, or edges that a device generates."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.edge_stream.edges import check_n_vertices
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.core.arguments import check_integer, errors_as, has, shown
from clmst.core.columns import check_columns
from clmst.core.errors import InvalidArgumentError, logger
from clmst.core.graph import Graph
from clmst.core.machine import usable_cores
from clmst.core.tables import arrays_of, names_of
from clmst.core.threads import TaskThread, ThreadTask, finish
from clmst.core.weight_keys import Array
from clmst.io import pieces as files
from clmst.scale.capacity import host_share
from clmst.scale.rows import NO_WEIGHTS, GeneratedPiece, StreamPiece
from clmst.scale.vertex_names import VertexNames

_GRAPH_ROWS = 1 << 22  # slots of a graph in one piece
_MOST_READERS = 8  # maximum number of threads that read files; pyarrow uses further threads


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSource:
    """A checked source of edges, which can be read several times unless it is an iterator.

    Attributes
    ----------
    chunks, columns, n_vertices, n_edges
        The arguments of :func:`clmst.stream_minimum_spanning_forest`.
    weight_dtype : numpy.dtype
        The dtype of the weights, if the stream does not have edges from which it is known.
    names : VertexNames or None
        The names of the vertices, if ends may be strings. None for a graph and generated edges.
    kept : list of StreamPiece or None
        All pieces, with vertex numbers in place of names, if a first reading of files has kept
        them in memory.
    """

    chunks: Any
    columns: tuple[Hashable, ...] | None
    n_vertices: int
    n_edges: int | None
    weight_dtype: np.dtype[Any] = NO_WEIGHTS
    names: VertexNames | None = None
    kept: list[StreamPiece] | None = None

    @classmethod
    def checked(
        cls, chunks: Any, *, n_vertices: Any, n_edges: Any = None, columns: Any = None
    ) -> EdgeSource:
        """Check the arguments `chunks` and so on of a stream, and return the source.

        The arguments are explained in :func:`clmst.stream_minimum_spanning_forest`. If `n_vertices`
        is None, read the whole source to count its vertices. Raise InvalidArgumentError if an
        argument is invalid, or if the vertices of an iterator would have to be counted, since it
        can be read only once.
        """
        if isinstance(chunks, GeneratedEdges):
            return _of_generated(chunks, n_vertices=n_vertices, n_edges=n_edges, columns=columns)
        columns = check_columns(columns)
        wanted = None if n_edges is None else check_integer("n_edges", n_edges, low=0)
        if isinstance(chunks, Graph):
            if n_vertices not in (None, chunks.n_vertices):
                raise InvalidArgumentError(
                    f"n_vertices is {shown(n_vertices)} but the graph has {chunks.n_vertices}; "
                    "leave it out"
                )
            return cls(
                chunks=chunks, columns=columns, n_vertices=chunks.n_vertices,
                n_edges=chunks.n_slots if wanted is None else wanted,
                weight_dtype=chunks.weight_dtype,
            )  # fmt: skip
        if isinstance(chunks, str | PathLike):
            sizes = [files.n_rows(path, columns) for path in files.listed(chunks)]
            wanted = sum(sizes) if wanted is None else wanted
        elif names_of(chunks) is not None:
            chunks = [chunks]
        elif not has(chunks, "__iter__") or isinstance(chunks, bytes) or has(chunks, "tocsr"):
            raise InvalidArgumentError(
                f"chunks is {shown(chunks)}; it must be an iterable of (u, v, w), a path or a Graph"
            )
        names = VertexNames()
        source = cls(chunks=chunks, columns=columns, n_vertices=0, n_edges=wanted, names=names)
        if n_vertices is None:
            if not source.can_be_read_again:
                raise InvalidArgumentError(
                    "n_vertices is missing, and an iterator can be read only once; a list of "
                    "chunks, or files, would be read twice, to count the vertices first"
                )
            logger.info("reading the stream for its number of vertices, since n_vertices is None")
            first = _FirstReading(host_share() if _are_paths(chunks) else 0)
            n_vertices = names.count(first.recorded(source.pieces()))
            source = replace(source, kept=first.pieces)
        names.most = n = check_integer("n_vertices", n_vertices, low=0)
        check_n_vertices(n)
        return replace(source, n_vertices=n)

    @property
    def graph(self) -> Graph | None:
        """The graph whose edges are streamed, or None if the source is not a graph."""
        return self.chunks if isinstance(self.chunks, Graph) else None

    @property
    def generated(self) -> GeneratedEdges | None:
        """The edges that the device generates, or None if the host has the edges."""
        return self.chunks if isinstance(self.chunks, GeneratedEdges) else None

    @property
    def can_be_read_again(self) -> bool:
        """Whether the source can be read several times. It is False for iterators only."""
        return not isinstance(self.chunks, Iterator)

    @property
    def labels(self) -> Array | None:
        """The names of the vertices that have been read so far, or None if vertices are numbers."""
        return None if self.names is None else self.names.labels

    def pieces(self) -> Iterator[Any]:
        """Return an iterator over all edges, as StreamPiece or GeneratedPiece objects.

        The pieces have vertex numbers in place of names. Pieces are read only as the iterator
        advances, and errors of the source are raised then.
        """
        if self.kept is not None:
            return iter(self.kept)
        pieces = pieces_of(self.chunks, self.columns)
        return pieces if self.names is None else self.names.numbered(pieces)


class _FirstReading:
    """Keeps the pieces of a stream in memory when they are read to count the vertices.

    They are kept only if all together take at most `most` bytes. Otherwise the attribute `pieces`
    is None, and the stream has to be read again.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self.pieces: list[StreamPiece] | None = [] if most else None

    def recorded(self, pieces: Iterator[StreamPiece]) -> Iterator[StreamPiece]:
        """Yield all pieces unchanged, and keep them as long as they take at most `most` bytes.

        A piece is a run of consecutive edges of the stream.
        """
        for piece in pieces:
            if self.pieces is not None:
                self._left -= piece.n_bytes
                if self._left >= 0:
                    self.pieces.append(piece)
                else:
                    self.pieces = None
            yield piece


def _are_paths(chunks: Any) -> bool:
    """Return whether all chunks of a stream are paths of files.

    The arrays that are read from them can be kept, because no code of the caller can change them.
    """
    paths = [chunks] if isinstance(chunks, str | PathLike) else chunks
    return isinstance(paths, list | tuple) and all(isinstance(p, str | PathLike) for p in paths)


def pieces_of(chunks: Any, columns: Any) -> Iterator[Any]:
    """Return an iterator over the pieces of a caller's chunks.

    `columns` are the names of the columns of tables, or None for the usual ones. The ends of edges
    are neither checked nor numbered: they are as the caller gives them. If `chunks` is a path,
    threads read the next files while a piece is in use.
    """
    if isinstance(chunks, GeneratedEdges):
        return iter([GeneratedPiece(edges=chunks, first=0, size=chunks.n_edges)])
    if isinstance(chunks, Graph):
        return _of_graph(chunks)
    if isinstance(chunks, str | PathLike):
        parts = (
            part
            for k, path in enumerate(files.listed(chunks))
            for part in parts_of_file(path, columns, f"chunk {k}")
        )
        return read_ahead(parts, max(1, min(_MOST_READERS, usable_cores() // 2)))
    return _of_chunks(chunks, columns)


def _of_generated(edges: GeneratedEdges, **given: Any) -> EdgeSource:
    """Return a source of edges that a device generates.

    `given` are the caller's other arguments. Raise InvalidArgumentError if one of them is not None,
    because the generator defines all of them itself.
    """
    for name, value in given.items():
        if value is not None:
            raise InvalidArgumentError(
                f"{name} is {shown(value)}, but generated edges have their own; leave it out"
            )
    if edges.n_edges and not edges.n_vertices:
        raise InvalidArgumentError(
            f"there are {edges.n_edges} edges but no vertices; an edge needs its ends"
        )
    return EdgeSource(
        chunks=edges, columns=None, n_vertices=edges.n_vertices, n_edges=edges.n_edges,
        weight_dtype=edges.weight_dtype,
    )  # fmt: skip


Pieces: TypeAlias = Callable[[], Iterator[StreamPiece]]


def read_ahead(parts: Iterator[Pieces], n_threads: int) -> Iterator[StreamPiece]:
    """Yield the pieces of all parts of files, in order, while threads read the next parts.

    `parts` yields functions, each of which returns an iterator over the pieces of a part. Each of
    the `n_threads` threads starts one part, and reads its first piece. While a piece of a part is
    in use, the part's thread reads the next piece. If reading a part raises an exception, it is
    raised here after all earlier parts. The threads end when the iterator does.
    """
    begun = deque[tuple[TaskThread, Iterator[StreamPiece], ThreadTask[StreamPiece | None]]]()
    workers = [TaskThread("clmst-stream") for _ in range(n_threads)]

    def begin_next(worker: TaskThread) -> None:
        try:
            part = next(parts, None)
        except Exception as error:  # a file cannot be opened; raised after the earlier parts
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
    """Return an iterator that raises an error when the first element is requested."""
    raise error
    yield


def _of_graph(graph: Graph) -> Iterator[StreamPiece]:
    """Yield the CSR entries of a graph as pieces of a stream, which are runs of edges."""
    for begin in range(0, graph.n_slots, _GRAPH_ROWS):
        rows = slice(begin, begin + _GRAPH_ROWS)
        u, v = graph.rows[rows], graph.indices[rows]
        yield StreamPiece(
            chunk="the graph", first_row=begin, u=u, v=v, weights=graph.weights[rows],
            edge_ids=None, first_id=begin,
        )  # fmt: skip


def _of_chunks(chunks: Iterable[Any], columns: Any) -> Iterator[StreamPiece]:
    """Yield the pieces of a caller's chunks.

    A chunk is a path, a table or a tuple of arrays, and a piece is a run of its edges. `columns`
    are the names of the columns of tables, or None for the usual ones. Raise InvalidArgumentError
    if `chunks` cannot be iterated. Errors that the caller's iterator raises are passed on.
    """
    with errors_as(lambda error: InvalidArgumentError(
        f"chunks is {shown(chunks)}, which cannot be iterated ({shown(error)}); it must be an "
        "iterable of (u, v, w), a path or a Graph"
    )):  # fmt: skip
        iterator = iter(chunks)
    for number, chunk in enumerate(iterator):
        yield from _of_chunk(chunk, number, columns)


def _of_chunk(chunk: Any, number: int, columns: Any) -> Iterator[StreamPiece]:
    """Yield the pieces of one chunk: a path, a table, or a tuple of arrays.

    `number` is the number of the chunk, for messages. `columns` are the columns that the caller
    names, or None.
    """
    if isinstance(chunk, str | PathLike):
        for path in files.listed(chunk):
            yield from pieces_of_file(path, columns, f"chunk {number}")
        return
    u, v, w, ids = arrays_of(chunk, columns, None, f"chunk {number}")
    yield StreamPiece(chunk=f"chunk {number}", first_row=0, u=u, v=v, weights=w, edge_ids=ids)


def pieces_of_file(path: Path, columns: Any, name: str) -> Iterator[StreamPiece]:
    """Yield the edges of the file `path` as pieces, that is, arrays of consecutive rows.

    Messages contain `name`, the name of the chunk, and the file's name. `columns` are the columns
    that the caller names, or None.
    """
    for part in parts_of_file(path, columns, name):
        yield from part()


def parts_of_file(path: Path, columns: Any, name: str) -> Iterator[Pieces]:
    """Yield, for each part of the file `path`, a function that reads the part.

    The function returns an iterator over the pieces of the part. Several threads may read different
    parts at the same time. `columns` are the columns that the caller names, or None. `name` is the
    name of the chunk, for messages.
    """
    for part in files.parts_of(path, columns):
        yield partial(_pieces_of_part, part, f"{name} ({path.name})")


def _pieces_of_part(part: Callable[[], Iterator[files.Rows]], chunk: str) -> Iterator[StreamPiece]:
    """Yield the rows of a part of a file as pieces of a stream.

    `part` returns an iterator over the rows. `chunk` is what messages call the pieces.
    """
    for first_row, u, v, w in part():
        yield StreamPiece(chunk=chunk, first_row=first_row, u=u, v=v, weights=w, edge_ids=None)
