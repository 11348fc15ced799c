"""The functions that Dask or Ray calls on its workers to find the forest of a partitioned table.

The engine, which is Dask or Ray, calls `take_partition` for each partition of the edges, `merge`
for groups of results, in the order that `clmst.scale.schedule` defines, and `finish` for the last
result. The results of all three depend on their arguments only, so the engine may call them again
to restore results that were lost with a worker.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.edge_stream.edges import EdgePart, check_n_vertices, check_same_dtype
from clmst.core.arguments import check_bool, check_integer, check_text
from clmst.core.columns import check_columns, choose
from clmst.core.errors import (
    ClmstError,
    InvalidArgumentError,
    InvalidGraphError,
    MissingDependencyError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.runtime.discovery import get_device
from clmst.scale.capacity import default_limit
from clmst.scale.checkpoint import StreamState
from clmst.scale.partition_names import (
    NamesFoundError,
    Numbering,
    PartitionEnds,
    PartitionNumbers,
)
from clmst.scale.partition_pieces import (
    ROW_BITS,
    FileLane,
    by_ids,
    named_pieces,
    piece_of,
    pieces_of_lane,
)
from clmst.scale.result import forest_of_part
from clmst.scale.rows import StreamPiece
from clmst.scale.schedule import LaneStep
from clmst.scale.sinks import ReductionSink
from clmst.scale.source import pieces_of_file

# Errors caused by an argument, or by what a worker lacks. Their messages say everything, so these
# errors are raised without a traceback. After a failure of a device the traceback and the cause say
# more.
CALLERS_ERRORS = (
    InvalidArgumentError,
    InvalidGraphError,
    MissingDependencyError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionJob:
    """The arguments of a user's call, which all functions on the workers get.

    Each worker finds `device` on its own machine, and `memory_limit` is in bytes of that device.
    `columns` are the columns of the ends and weights, as in :func:`clmst.core.columns.choose`.
    `edge_id` is the column of edge ids. If it is None, edge ids are positions in all partitions.
    """

    n_vertices: int | None  # None: the vertices are counted first
    columns: tuple[Hashable, ...] | None
    edge_id: str | None
    device: Any
    memory_limit: int | None
    maximum: bool

    @classmethod
    def checked(cls, **given: Any) -> PartitionJob:
        """Check all attributes, and return a job. The device must be None or a name.

        Raise InvalidArgumentError if an attribute is invalid.
        """
        if given["n_vertices"] is not None:
            given["n_vertices"] = check_integer("n_vertices", given["n_vertices"], low=0)
            check_n_vertices(given["n_vertices"])
        given["columns"] = check_columns(given["columns"])
        for name in ("edge_id", "device"):
            if given[name] is not None:
                given[name] = check_text(name, given[name])
        if given["memory_limit"] is not None:
            given["memory_limit"] = check_integer("memory_limit", given["memory_limit"], low=1)
        given["maximum"] = check_bool("maximum", given["maximum"])
        return cls(**given)

    def for_table(self, names: Sequence[Any]) -> tuple[PartitionJob, list[Any]]:
        """Choose the columns of a table that are needed, and return a job with their names.

        `names` are the names of all columns of the table. The second result lists the columns to
        read, with the column of edge ids if there is one. Raise InvalidGraphError if the table
        lacks a column.
        """
        chosen = choose([name for name in names if name != self.edge_id], self.columns)
        ids = [] if self.edge_id is None else [self.edge_id]
        if ids and ids[0] not in names:
            raise InvalidGraphError(
                f"the columns are {', '.join(map(repr, names))}; edge_id is {ids[0]!r}, which must "
                "be one of them"
            )
        names = [chosen.source, chosen.target, chosen.weight]
        columns = tuple(names if chosen.weight is not None else names[:2])
        return replace(self, columns=columns), [*chosen.names, *ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionForest:
    """The forest of some partitions of a table, and edges that wait to be merged into it.

    Merging is called a reduction. `dtype` is the dtype of the weights. `counts` has, by partition
    number, the number of rows and the number of reductions that the task of the partition ran.
    """

    state: StreamState
    dtype: np.dtype[Any]
    counts: Mapping[int, tuple[int, int]]

    @property
    def is_filled(self) -> bool:
        """Whether the partitions have rows. The `dtype` of partitions without rows is ignored."""
        return any(rows for rows, _ in self.counts.values())

    @property
    def forest(self) -> EdgePart:
        """The forest of all edges. No edges may still wait to be merged into the forest."""
        assert not self.state.waiting, "a merge reduces what waits"
        return self.state.forest or EdgePart.empty(self.dtype)


def place_of(job: PartitionJob, worker: str) -> str:
    """Return a text that is equal for workers that share a device, and different for all others.

    `job` names the device, and `worker` is the name of this worker. For a CPU device the text is
    the name of the host, since all workers of a host share its CPU. For any other device, or if the
    worker does not have one, the text is `worker`: each worker is assumed to have a device of its
    own. A worker without a device raises an error later.
    """
    try:
        kind = get_device(job.device).capabilities.kind
    except (UnsupportedDeviceError, InvalidArgumentError):
        return worker
    return socket.gethostname() if kind == "cpu" else worker


def take_partition(
    data: Any,
    step: LaneStep,
    job: PartitionJob,
    worker: str = "",
    before: PartitionForest | None = None,
    *,
    names: PartitionNumbers | None = None,
) -> PartitionForest:
    """Add the edges of a partition to a forest on this worker's device, and return the new forest.

    Parameters
    ----------
    data : table, tuple of arrays or FileLane
        The partition, as in :func:`piece_of`, or several files that this worker reads in sequence.
    step : LaneStep
        The number of the partition, and how many partitions of its lane follow. Waiting edges are
        reduced if there are more of them than forest edges and, while partitions follow, more than
        2**20. After a FileLane they are always reduced.
    job : PartitionJob
        The arguments of the call.
    worker : str
        The name of this worker, for messages.
    before : PartitionForest or None
        The forest of partitions that were taken before, in any order.
    names : PartitionNumbers or None
        The numbers of the partition's vertex names. A FileLane has its own.

    Returns
    -------
    PartitionForest
        Edges may still wait for a reduction.
    """
    with _plain_errors(worker):
        if isinstance(data, FileLane):
            pieces, n_rows = pieces_of_lane(data, job.columns)
        else:
            piece = piece_of(data, job, step.number)
            pieces = named_pieces(iter([piece]), names)
            n_rows = {step.number: len(piece.u)}
        sink = _sink(job, worker, sum(n_rows.values()) * (1 + step.to_come))
        if before is not None and before.is_filled:
            sink.go_on_from(before.state)
        dtype = np.dtype(np.uint8)
        try:
            for given in pieces:
                piece = by_ids(given.with_arrays(0))
                dtype = piece.dtype
                for _ in sink.take(piece):
                    pass
            sink.flush()
            most = max(sink.reducer.n_forest, route.LIMITS.stream_on_device if step.to_come else 0)
            if isinstance(data, FileLane) or sink.reducer.n_waiting > most:
                sink.reduce(is_last=True)
            state = sink.state()
        finally:
            sink.close()
        last, reductions = max(n_rows), sink.reducer.reductions
        counts = {k: (n, reductions if k == last else 0) for k, n in n_rows.items()}
        if before is not None:
            dtype = before.dtype if before.is_filled else dtype
            counts = {**before.counts, **counts}
        return PartitionForest(state=state, dtype=dtype, counts=counts)


def ends_of_partition(data: Any, number: int, job: PartitionJob, worker: str = "") -> PartitionEnds:
    """Read the ends of the edges in a partition, to count its vertices or to collect their names.

    No device is used. `data` is the path of a file, or a partition as in :func:`piece_of`, and
    `number` is the number of the partition. `job` has the names of the columns. Errors name the
    `worker`.
    """
    with _plain_errors(worker):
        if isinstance(data, str):
            return PartitionEnds.of(pieces_of_file(Path(data), job.columns, f"partition {number}"))
        return PartitionEnds.of(iter([piece_of(data, job, number)]))


def forest_by(
    job: PartitionJob,
    engine: str,
    *,
    solve: Callable[[PartitionJob, Sequence[PartitionNumbers] | None], PartitionForest | None],
    count: Callable[[], Sequence[PartitionEnds]],
) -> Forest:
    """Let Dask or Ray compute the forest of all partitions, and return the forest.

    `solve` and `count` are functions that run work on the workers. `solve` gets the job and, for
    each partition, the numbers of its vertex names, or None if vertices are numbers. It returns the
    forest of all partitions, or None if there are none. `count` reads the ends of the edges in all
    partitions. It is called first if the job does not have `n_vertices`, and otherwise only if
    `solve` raises NamesFoundError. `engine` is the text for ``stats["device"]``.
    """
    if job.n_vertices is not None:
        try:
            return finish(solve(job, None), job, engine)
        except NamesFoundError:
            pass
    numbering = Numbering.of(count(), job.n_vertices)
    if numbering.labels is not None or job.n_vertices is None:
        job = replace(job, n_vertices=numbering.n_vertices)
        check_n_vertices(numbering.n_vertices)
    return finish(solve(job, numbering.parts), job, engine, labels=numbering.labels)


@contextmanager
def _plain_errors(worker: str) -> Iterator[None]:
    """Replace errors about the user's input inside the ``with`` by errors that name the worker.

    These are errors of the classes CALLERS_ERRORS, which a user can correct. Their tracebacks are
    dropped. Yields None.
    """
    try:
        yield
    except CALLERS_ERRORS as error:
        raise plain(error, worker) from None


def plain(error: ClmstError, worker: str = "") -> ClmstError:
    """Return a copy of an error without traceback. The message begins with the worker's name.

    If the message contains the name already, or `worker` is empty, the message is not changed.
    """
    message = str(error)
    return type(error)(
        message if not worker or worker in message else f"worker {worker}: {message}"
    )


def merge(
    forests: Sequence[PartitionForest], job: PartitionJob, worker: str = ""
) -> PartitionForest:
    """Compute the forest of all edges of several forests together, on the device of this worker.

    `job` names the device. Edges that have not been reduced yet are included, so the result has
    none. Raise InvalidGraphError if the weights of two partitions have different dtypes.
    """
    with _plain_errors(worker):
        filled = [one for one in forests if one.is_filled]
        sink = _sink(job, worker, sum(one.state.size for one in filled))
        try:
            for at, one in enumerate(filled):
                _check_dtypes(filled[0], one)
                if at == 0:
                    sink.go_on_from(one.state)
                    continue
                others = [*one.state.waiting]
                if one.state.forest is not None and not _same(one.state.forest, filled[0]):
                    others.append(one.state.forest)
                for part in others:
                    for _ in sink.take(
                        _as_piece(part, f"the forest of partition {min(one.counts)}")
                    ):
                        pass
            sink.reduce(is_last=True)
            state = sink.state()
        finally:
            sink.close()
        counts = {number: both for one in forests for number, both in one.counts.items()}
        rows, reductions = counts[max(counts)]
        counts[max(counts)] = rows, reductions + sink.reducer.reductions
        return PartitionForest(state=state, dtype=(filled or forests)[0].dtype, counts=counts)


def _as_piece(part: EdgePart, chunk: str) -> StreamPiece:
    """Return the edges of `part` sorted by edge id, in the form in which a stream takes edges.

    `chunk` is the name of these edges for messages.
    """
    ordered = part.take(np.argsort(part.edge_ids))
    return StreamPiece(
        chunk=chunk, first_row=0, u=ordered.u, v=ordered.v, weights=ordered.weights,
        edge_ids=ordered.edge_ids,
    )  # fmt: skip


def _same(forest: EdgePart, other: PartitionForest) -> bool:
    """Return whether two forests have the same edges, judged by their edge ids.

    This is the case if two workers began with the same forest and have not computed another one
    since.
    """
    theirs = other.state.forest
    return theirs is not None and np.array_equal(forest.edge_ids, theirs.edge_ids)


def finish(
    last: PartitionForest | None, job: PartitionJob, engine: str, labels: Array | None = None
) -> Forest:
    """Convert the last result of Dask or Ray to a Forest.

    `last` is the forest of all partitions, or None if there are none. Unless `job` names a column
    of edge ids, an edge id is the position of the edge if all partitions follow one another.
    `engine` is the text for ``stats["device"]``. `labels` are the names of the vertices, or None.
    """
    part = EdgePart.empty(np.dtype(np.float64)) if last is None else last.forest
    counts = {} if last is None else last.counts
    n_rows = {number: rows for number, (rows, _) in counts.items()}
    if job.edge_id is None:
        ids = _positions(part.edge_ids, n_rows)
        part = EdgePart(u=part.u, v=part.v, weights=part.weights, edge_ids=ids)
    because = f"{sum(n_rows.values()):,} edges in {len(n_rows):,} partitions of the caller"
    stats = {
        "algorithm": "stream",
        "device": engine,
        "route": route.Way(route.PARTITIONS, because).as_stats(),
        "edges": sum(n_rows.values()),
        "partitions": len(n_rows),
        "reductions": sum(reductions for _, reductions in counts.values()),
    }
    assert job.n_vertices is not None, "vertices are counted first"
    return forest_of_part(
        part, n_vertices=job.n_vertices, maximum=job.maximum, stats=stats,
        has_own_ids=job.edge_id is not None, labels=labels,
    )  # fmt: skip


def _positions(ids: npt.NDArray[np.int64], n_rows: Mapping[int, int]) -> npt.NDArray[np.int64]:
    """Convert edge ids to positions in the sequence of all partitions.

    An id has the number of a partition in its upper bits, and a row in its lower 32. `n_rows` maps
    the number of each partition to its number of rows.
    """
    if not n_rows:
        return ids
    lengths = np.zeros(max(n_rows) + 2, np.int64)
    for number, n in n_rows.items():
        lengths[number + 1] = n
    rows = ids & ((1 << ROW_BITS) - 1)
    positions: npt.NDArray[np.int64] = np.cumsum(lengths)[ids >> ROW_BITS] + rows
    return positions


def _check_dtypes(one: PartitionForest, other: PartitionForest) -> None:
    """Raise InvalidGraphError unless both forests have weights of one dtype."""
    try:
        check_same_dtype(one.dtype, other.dtype)
    except InvalidGraphError as error:
        numbers = f"partitions {min(one.counts)} and {min(other.counts)}"
        raise InvalidGraphError(f"{numbers}: {error}") from None


def _sink(job: PartitionJob, worker: str, n_edges: int) -> ReductionSink:
    """Create the object that takes and reduces about `n_edges` edges on this worker's device.

    `job` names the device. Raise UnsupportedDeviceError, which names the worker, if the worker does
    not have this device.
    """
    try:
        device = get_device(job.device)
    except (UnsupportedDeviceError, InvalidArgumentError) as error:
        where = worker or f"process {os.getpid()} on {socket.gethostname()}"
        raise UnsupportedDeviceError(f"the worker {where} has no device: {error}") from error
    assert job.n_vertices is not None, "vertices are counted first"
    limit = default_limit(device) if job.memory_limit is None else job.memory_limit
    return ReductionSink(
        n_vertices=job.n_vertices, device=device, limit=limit, maximum=job.maximum, n_edges=n_edges
    )
