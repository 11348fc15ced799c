"""Spanning forests of edges that Dask holds: each worker reduces its partitions on its own device.

The engine is Dask's: its scheduler places the work, and computes again what lost workers had.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from clmst.core.arguments import has, shown
from clmst.core.columns import takes_columns
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.scale import partitions, schedule
from clmst.scale.partition_names import PartitionEnds, PartitionNumbers
from clmst.scale.partition_pieces import lanes_of, parts_of
from clmst.scale.partitions import PartitionForest, PartitionJob

__all__ = ["minimum_spanning_forest"]


@takes_columns
@lasting("computing a spanning forest by Dask")
def minimum_spanning_forest(
    edges: Any,
    n_vertices: int | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    edge_id: str | None = None,
    device: str | None = None,
    memory_limit: int | None = None,
    maximum: bool = False,
    split_every: int = 4,
) -> Forest:
    """Compute the minimum spanning forest of edges in a Dask collection.

    The forest is that of :func:`clmst.minimum_spanning_forest`, whatever the partitions and the
    workers. It runs where Dask runs: on the cluster of the current ``distributed.Client``, else in
    threads of this process.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, list of Delayed, path, or list of paths
        A row for each edge. A delayed part is a data frame, an Arrow table, a mapping of arrays,
        or a tuple of arrays (u, v, w). Paths are of Parquet or structured ``.npy`` files that all
        workers can read, or of a folder of them: then workers read the files themselves, a piece at
        a time, and no data pass through the scheduler's tasks.
    n_vertices : int, optional
        Ends are vertex numbers below it. If ends are strings, it is how many names there may be.
        By default the ends are read once more, before the edges, to count the vertices.
    columns : list or tuple, optional
        The names of the columns: of both ends, and of weights, which are 1 where it is left out.
        By default as of :func:`clmst.read_graph`. Ends are vertex numbers, or strings, which become
        `vertex_labels` in the order in which the rows of all partitions first have them. Strings
        are read twice, and each name passes through this process.
    edge_id : str, optional
        A column of distinct integers, at least 0, which become the `edge_ids` of the forest. By
        default an edge id is the position of the row in all partitions. Give such a column if
        computing the collection again may bring its rows in another order.
    device : str, optional
        The name of each worker's device, see :func:`clmst.get_device`.
    memory_limit : int, optional
        As of :func:`clmst.stream_minimum_spanning_forest`, on each worker.
    maximum : bool
        Compute the maximum spanning forest.
    split_every : int
        How many forests are merged at a time.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidArgumentError
        An argument is wrong.
    InvalidGraphError
        A partition is malformed; the message names the worker, the partition or file, and the row.
    UnsupportedDeviceError
        A worker has no device; the message names it.
    MissingDependencyError
        Dask is not installed.

    Notes
    -----
    Each of w workers carries one forest through its partitions, as a stream does. At most three
    times the forests of all workers are merged, in log(w) / log(split_every) levels, and each
    worker goes on from the result. What a lost worker has done since then is computed again.
    Workers of one host that read files and compute on its CPU take turns: each uses all cores.
    """
    dask = optional_import("dask", extra="dask")
    job = PartitionJob.checked(
        n_vertices=n_vertices, columns=columns, edge_id=edge_id, device=device,
        memory_limit=memory_limit, maximum=maximum,
    )  # fmt: skip
    split_every = schedule.check_split(split_every)
    tasks = (dask.delayed(task, pure=False) for task in (_take, _merge, _ends))
    take, merge, ends = tasks
    parts, job = _parts(edges, job)

    def solve(job: PartitionJob, names: Sequence[PartitionNumbers] | None) -> Any:
        lane_of = lanes_of(parts, names)
        lanes = _lanes(job, by_device=lane_of is not None)

        def take_by(part: Any, step: schedule.LaneStep, before: Any, kept: Any) -> Any:
            own = None if names is None or lane_of is not None else names[step.number]
            with _by_a_worker_of(lanes[step.lane], step.round):
                return take(part, step, job, before, kept, names=own)

        last = schedule.in_rounds(
            parts,
            len(lanes),
            split_every,
            take=take_by,
            merge=lambda forests: merge(forests, job),
            lane_of=lane_of,
            outlives=len(lanes[0]) > 1,
        )
        return None if last is None else last.compute()

    def count() -> Sequence[PartitionEnds]:
        found: Sequence[PartitionEnds] = dask.compute(
            *(ends(part, k, job) for k, part in enumerate(parts))
        )
        return found

    try:
        return partitions.forest_by(job, "the workers of Dask", solve=solve, count=count)
    except partitions.CALLERS_ERRORS as error:
        raise partitions.plain(error) from None  # without what Dask did


def _lanes(job: PartitionJob, *, by_device: bool) -> list[list[str]]:
    """Return the workers of each lane: one, or all that share a device; none without a cluster.

    Files are a device's work. All else is mostly the host's, of which each worker does its part.
    """
    try:
        client = optional_import("distributed", extra="dask").default_client()
    except (ImportError, ValueError):
        return [[]]
    workers = sorted(client.nthreads())
    if not by_device or len(workers) < 2:
        return [[one] for one in workers] or [[]]
    places: dict[str, Any] = client.run(_place, job, on_error="return")
    sharing = defaultdict[str, list[str]](list)
    for worker in sorted(places):
        if isinstance(places[worker], str):  # else an error: it is lost meanwhile
            sharing[places[worker]].append(worker)
    return list(sharing.values()) or [[]]


def _by_a_worker_of(lane: list[str], number_of_round: int) -> AbstractContextManager[Any]:
    """Let the workers of a lane take its rounds in turns, as far as they can.

    Then each round's forest is on two of them, the one that found it and the one that goes on.
    """
    if len(lane) < 2:
        return nullcontext()
    turn = lane[number_of_round % len(lane)]
    annotate: AbstractContextManager[Any] = optional_import("dask", extra="dask").annotate(
        workers=[turn], allow_other_workers=True
    )
    return annotate


def _parts(edges: Any, job: PartitionJob) -> tuple[list[Any], PartitionJob]:
    """Return the delayed parts of a collection or paths of files, and what to find in them."""
    parts = parts_of(edges, job)
    if parts is not None:
        return parts, job
    if not has(edges, "to_delayed", "columns"):
        raise InvalidArgumentError(
            f"edges is {shown(edges)}; it must be a Dask DataFrame, a list of delayed parts, "
            "a path or a list of paths"
        )
    job, needed = job.for_table(list(edges.columns))
    return edges[needed].to_delayed(), job


def _take(
    data: Any,
    step: schedule.LaneStep,
    job: PartitionJob,
    before: PartitionForest | None,
    kept: PartitionForest | None,
    *,
    names: PartitionNumbers | None,
) -> PartitionForest:
    """Take a partition; `kept` is an argument only so that the workers keep it."""
    return partitions.take_partition(data, step, job, _worker(), before, names=names)


def _ends(data: Any, number: int, job: PartitionJob) -> PartitionEnds:
    return partitions.ends_of_partition(data, number, job, _worker())


def _place(job: PartitionJob) -> str:
    return partitions.place_of(job, _worker())


def _merge(forests: list[PartitionForest], job: PartitionJob) -> PartitionForest:
    return partitions.merge(forests, job, _worker())


def _worker() -> str:
    """Return the address of the worker that runs this; nothing in a thread without a cluster."""
    try:
        return str(optional_import("distributed", extra="dask").get_worker().address)
    except (ImportError, ValueError):
        return ""
