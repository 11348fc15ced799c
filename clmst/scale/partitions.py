"""What a worker of somebody else's cluster does: reduce a partition, or several forests.

An engine calls `take_partition` for each partition and `merge` for groups of results, in the order
of `clmst.scale.rounds`, and `finish` for the last result. All are pure, so it may call them again
for results that it has lost.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, check_bool, check_integer, check_text, has, shown
from clmst.core.errors import (
    ClmstError,
    InvalidArgumentError,
    InvalidGraphError,
    UnsupportedDeviceError,
)
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.runtime.discovery import get_device
from clmst.scale.carried import Carried
from clmst.scale.edge_part import EdgePart, check_n_vertices, check_same_dtype
from clmst.scale.result import forest_of_part
from clmst.scale.rounds import LaneStep
from clmst.scale.source import StreamPiece
from clmst.scale.stream_state import StreamState

_ROW_BITS = 32  # of an id: the partition above, the row below
_MOST_PARTITIONS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionJob:
    """What is to be found in all partitions.

    Attributes
    ----------
    n_vertices : int
    source, target : str
        The columns of the ends.
    weight, edge_id : str or None
        The columns of the weights (None: all are 1) and of the edge ids (None: positions).
    device : object
        As of :func:`clmst.get_device`, on each worker.
    memory_limit : int or None
        As of :func:`clmst.stream_minimum_spanning_forest`, on each worker.
    maximum : bool
    """

    n_vertices: int
    source: str
    target: str
    weight: str | None
    edge_id: str | None
    device: Any
    memory_limit: int | None
    maximum: bool

    @classmethod
    def checked(cls, **given: Any) -> PartitionJob:
        """Return a job of checked attributes; a device must be None or a name."""
        given["n_vertices"] = check_integer("n_vertices", given["n_vertices"], low=0)
        check_n_vertices(given["n_vertices"])
        for name in ("source", "target"):
            given[name] = check_text(name, given[name])
        for name in ("weight", "edge_id", "device"):
            if given[name] is not None:
                given[name] = check_text(name, given[name])
        if given["memory_limit"] is not None:
            given["memory_limit"] = check_integer("memory_limit", given["memory_limit"], low=1)
        given["maximum"] = check_bool("maximum", given["maximum"])
        return cls(**given)

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        named = (self.source, self.target, self.weight, self.edge_id)
        return [name for name in named if name is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionForest:
    """The forest of some partitions, and edges of theirs that wait for the next reduction.

    Attributes
    ----------
    carried : Carried
    dtype : dtype
        Of the weights.
    n_rows, n_reductions : mapping of int to int
        The rows of each of these partitions; the reductions up to it since the one before.
    """

    carried: Carried
    dtype: np.dtype[Any]
    n_rows: Mapping[int, int]
    n_reductions: Mapping[int, int]

    @property
    def is_filled(self) -> bool:
        """Whether there are rows; an empty frame may have any dtype."""
        return any(self.n_rows.values())

    @property
    def forest(self) -> EdgePart:
        """The forest, where nothing waits."""
        assert not self.carried.waiting, "a merge reduces what waits"
        return self.carried.forest or EdgePart.empty(self.dtype)


def take_partition(
    data: Any,
    step: LaneStep,
    job: PartitionJob,
    worker: str = "",
    before: PartitionForest | None = None,
) -> PartitionForest:
    """Return the forest of one partition and of those before it, on the device of this worker.

    Parameters
    ----------
    data : data frame, Arrow table, mapping of arrays, or tuple
        A tuple is (u, v), (u, v, w) or (u, v, w, edge ids).
    step : LaneStep
        The last one of a lane reduces what waits if that is more than the forest.
    job : PartitionJob
    worker : str
        The name of this worker in messages.
    before : PartitionForest, optional
        Of the partitions before, in any order.
    """
    number = step.number
    name = f"partition {number}"
    u, v, weights, ids = _columns_of(data, job, name)
    u = as_array(f"u of {name}", u, error=InvalidGraphError)
    if u.size >> _ROW_BITS or number > _MOST_PARTITIONS:
        raise InvalidGraphError(
            f"{name} has {u.size} rows; there may be 2**32 - 1 in each of 2**31 partitions"
        )
    if ids is None:
        begin = number << _ROW_BITS
        ids = np.arange(begin, begin + u.size)
    state = _state(job, worker)
    if before is not None and before.is_filled:
        state.go_on_from(before.carried)
    state.n_edges = u.size * (1 + step.to_come)
    piece = StreamPiece(chunk=name, first_row=0, u=u, v=v, weights=weights, edge_ids=ids)
    for _ in state.feed(piece):
        pass
    if not step.to_come and state.waits_for_many:
        state.finish()
    dtype = np.dtype(np.uint8) if weights is None else np.asarray(weights[:0]).dtype
    n_rows, n_reductions = {number: u.size}, {number: state.reductions}
    if before is not None:
        dtype = before.dtype if before.is_filled else dtype
        n_rows, n_reductions = {**before.n_rows, **n_rows}, {**before.n_reductions, **n_reductions}
    return PartitionForest(
        carried=state.carried, dtype=dtype, n_rows=n_rows, n_reductions=n_reductions
    )


def merge(
    forests: Sequence[PartitionForest], job: PartitionJob, worker: str = ""
) -> PartitionForest:
    """Return the forest of the union of some forests, on the device of this worker."""
    filled = [one for one in forests if one.is_filled]
    state = _state(job, worker)
    for at, one in enumerate(filled):
        _check_dtypes(filled[0], one)
        if at == 0:
            state.go_on_from(one.carried)
            continue
        others = [*one.carried.waiting]
        if one.carried.forest is not None and not _same(one.carried.forest, filled[0]):
            others.append(one.carried.forest)
        for part in others:
            state.add(part, f"the forest of partition {min(one.n_rows)}")
    state.finish()
    n_rows = {number: n for one in forests for number, n in one.n_rows.items()}
    n_reductions = {number: n for one in forests for number, n in one.n_reductions.items()}
    n_reductions[max(n_rows)] += state.reductions
    return PartitionForest(
        carried=state.carried,
        dtype=(filled or forests)[0].dtype,
        n_rows=n_rows,
        n_reductions=n_reductions,
    )


def _same(forest: EdgePart, other: PartitionForest) -> bool:
    """Whether a lane still has the forest that another one has: both began with it."""
    theirs = other.carried.forest
    return theirs is not None and np.array_equal(forest.edge_ids, theirs.edge_ids)


def finish(last: PartitionForest | None, job: PartitionJob, engine: str) -> Forest:
    """Return the forest of all partitions, its edge ids positions unless there is a column."""
    part = EdgePart.empty(np.dtype(np.float64)) if last is None else last.forest
    n_rows = {} if last is None else last.n_rows
    if job.edge_id is None:
        ids = _positions(part.edge_ids, n_rows)
        part = EdgePart(u=part.u, v=part.v, weights=part.weights, edge_ids=ids)
    stats = {
        "algorithm": "stream",
        "device": engine,
        "edges": sum(n_rows.values()),
        "partitions": len(n_rows),
        "reductions": 0 if last is None else sum(last.n_reductions.values()),
    }
    return forest_of_part(
        part, n_vertices=job.n_vertices, maximum=job.maximum, stats=stats,
        has_own_ids=job.edge_id is not None,
    )  # fmt: skip


def _positions(ids: npt.NDArray[np.int64], n_rows: Mapping[int, int]) -> npt.NDArray[np.int64]:
    """Return the positions, in all partitions, of rows of partitions."""
    if not n_rows:
        return ids
    lengths = np.zeros(max(n_rows) + 2, np.int64)
    for number, n in n_rows.items():
        lengths[number + 1] = n
    rows = ids & ((1 << _ROW_BITS) - 1)
    positions: npt.NDArray[np.int64] = np.cumsum(lengths)[ids >> _ROW_BITS] + rows
    return positions


def _check_dtypes(one: PartitionForest, other: PartitionForest) -> None:
    try:
        check_same_dtype(one.dtype, other.dtype)
    except InvalidGraphError as error:
        numbers = f"partitions {min(one.n_rows)} and {min(other.n_rows)}"
        raise InvalidGraphError(f"{numbers}: {error}") from None


def _state(job: PartitionJob, worker: str) -> StreamState:
    """Return a new state on this worker's device."""
    try:
        device = get_device(job.device)
    except (UnsupportedDeviceError, InvalidArgumentError) as error:
        where = worker or f"process {os.getpid()} on {socket.gethostname()}"
        raise UnsupportedDeviceError(f"the worker {where} has no device: {error}") from error
    return StreamState(
        n_vertices=job.n_vertices,
        device=device,
        limit=job.memory_limit,
        checkpoint=None,
        maximum=job.maximum,
    )


def _columns_of(data: Any, job: PartitionJob, name: str) -> tuple[Any, Any, Any, Any]:
    """Return ends, weights or None, and ids or None."""
    if isinstance(data, tuple | list):
        if not 2 <= len(data) <= 4:
            raise InvalidGraphError(
                f"{name} is {shown(data)}; it must be (u, v), (u, v, w) or (u, v, w, edge ids)"
            )
        if (len(data) == 4) != (job.edge_id is not None):
            raise InvalidGraphError(
                f"{name} has {len(data)} arrays and edge_id is {job.edge_id!r}; a fourth array and "
                "edge_id go together"
            )
        u, v, weights, ids = [*data, None, None][:4]
        return u, v, weights, ids
    found = {column: _column(data, column, name) for column in job.columns}
    weights = None if job.weight is None else found[job.weight]
    ids = None if job.edge_id is None else found[job.edge_id]
    return found[job.source], found[job.target], weights, ids


def _column(data: Any, column: str, name: str) -> Array:
    """Return a column of a frame or table as an array."""
    try:
        values = data[column]
        n_missing = int(values.null_count) if has(values, "null_count") else 0
        array: Array = values.to_numpy() if has(values, "to_numpy") else np.asarray(values)
    except (ClmstError, MemoryError):
        raise
    except Exception as error:
        raise InvalidGraphError(
            f"{name} has no column {column!r} ({type(error).__name__}: {shown(error)}); it must be "
            "a data frame, a table, a mapping of arrays or a tuple of arrays"
        ) from error
    if n_missing:
        raise InvalidGraphError(
            f"{name}: {n_missing} values of the column {column!r} are missing; there must be one "
            "in each row"
        )
    return array
