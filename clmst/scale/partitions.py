"""What a worker of somebody else's cluster does: reduce a partition, or several forests.

An engine calls `reduce_partition` for the first partition, `filter_of` for its forest,
`reduce_partition` with that filter for all others, `merge` for groups of results as a tree, and
`finish` for the last one. All are pure, so it may call them again for results that it has lost.
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
from clmst.scale.cycle_filter import CycleFilter
from clmst.scale.edge_part import EdgePart, check_n_vertices, check_same_dtype
from clmst.scale.result import forest_of_part
from clmst.scale.source import StreamPiece
from clmst.scale.stream_state import FILTER_FROM, StreamState

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
    """The forest of some partitions.

    Attributes
    ----------
    part : EdgePart
    n_rows : mapping of int to int
        The rows of each of these partitions.
    reductions : int
    """

    part: EdgePart
    n_rows: Mapping[int, int]
    reductions: int


def reduce_partition(
    data: Any, number: int, job: PartitionJob, worker: str = "", known: CycleFilter | None = None
) -> PartitionForest:
    """Return the forest of one partition, on the device of this worker.

    Parameters
    ----------
    data : data frame, Arrow table, mapping of arrays, or tuple
        A tuple is (u, v), (u, v, w) or (u, v, w, edge ids).
    number : int
        Of the partition.
    job : PartitionJob
    worker : str
        The name of this worker in messages.
    known : CycleFilter, optional
        Of the forest of another partition.
    """
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
    state.known, state.n_edges = known, u.size
    piece = StreamPiece(chunk=name, first_row=0, u=u, v=v, weights=weights, edge_ids=ids)
    for _ in state.feed(piece):
        pass
    state.finish()
    dtype = np.dtype(np.uint8) if weights is None else np.asarray(weights[:0]).dtype
    part = EdgePart.empty(dtype) if state.forest is None else state.forest
    return PartitionForest(part=part, n_rows={number: u.size}, reductions=state.reductions)


def filter_of(first: PartitionForest, job: PartitionJob) -> CycleFilter | None:
    """Return a filter for all other partitions, by the forest of one; None if that is too small."""
    if sum(first.n_rows.values()) < FILTER_FROM * job.n_vertices:
        return None
    return CycleFilter(first.part, job.n_vertices, maximum=job.maximum)


def merge(
    forests: Sequence[PartitionForest], job: PartitionJob, worker: str = ""
) -> PartitionForest:
    """Return the forest of the union of some forests, on the device of this worker."""
    n_rows = {number: n for one in forests for number, n in one.n_rows.items()}
    filled = [one for one in forests if any(one.n_rows.values())]  # an empty frame has any dtype
    for one in filled[1:]:
        _check_dtypes(filled[0], one)
    state = _state(job, worker)
    for one in filled:
        state.add(one.part, f"the forest of partition {min(one.n_rows)}")
    state.finish()
    part = (filled or forests)[0].part if state.forest is None else state.forest
    reductions = state.reductions + sum(one.reductions for one in forests)
    return PartitionForest(part=part, n_rows=n_rows, reductions=reductions)


def finish(last: PartitionForest | None, job: PartitionJob, engine: str) -> Forest:
    """Return the forest of all partitions, its edge ids positions unless there is a column."""
    part = EdgePart.empty(np.dtype(np.float64)) if last is None else last.part
    n_rows = {} if last is None else last.n_rows
    if job.edge_id is None:
        ids = _positions(part.edge_ids, n_rows)
        part = EdgePart(u=part.u, v=part.v, weights=part.weights, edge_ids=ids)
    stats = {
        "algorithm": "stream",
        "device": engine,
        "edges": sum(n_rows.values()),
        "partitions": len(n_rows),
        "reductions": 0 if last is None else last.reductions,
    }
    return forest_of_part(
        part, n_vertices=job.n_vertices, maximum=job.maximum, stats=stats,
        has_own_ids=job.edge_id is not None,
    )  # fmt: skip


def check_split(split_every: Any) -> int:
    """Return how many forests are merged at a time, or raise."""
    return check_integer("split_every", split_every, low=2)


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
        check_same_dtype(one.part.weights.dtype, other.part.weights.dtype)
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
