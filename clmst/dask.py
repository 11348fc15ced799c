"""Spanning forests of edges that Dask holds: each worker reduces its partitions on its own device.

The engine is Dask's: its scheduler places the work, and computes again what lost workers had.
"""

from __future__ import annotations

from typing import Any

from clmst.core.arguments import has, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.optional import optional_import
from clmst.scale import partitions, rounds
from clmst.scale.file_lane import lanes_of
from clmst.scale.partition_pieces import parts_of
from clmst.scale.partitions import PartitionForest, PartitionJob

__all__ = ["minimum_spanning_forest"]


def minimum_spanning_forest(
    edges: Any,
    n_vertices: int,
    *,
    source: str = "u",
    target: str = "v",
    weight: str | None = "w",
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
    n_vertices : int
        Ends are vertex numbers below it.
    source, target, weight : str
        The columns; weights are 1 if `weight` is None.
    edge_id : str, optional
        A column of distinct ids that rise within each partition. By default ids are positions in
        all partitions.
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
        A partition is malformed; the message names partition and row.
    UnsupportedDeviceError
        A worker has no device; the message names it.
    MissingDependencyError
        Dask is not installed.

    Notes
    -----
    Each of w workers carries one forest through its partitions, as a stream does. At most three
    times the forests of all workers are merged, in log(w) / log(split_every) levels, and each
    worker goes on from the result. What a lost worker has done since then is computed again.
    """
    dask = optional_import("dask", extra="dask")
    job = PartitionJob.checked(
        n_vertices=n_vertices, source=source, target=target, weight=weight, edge_id=edge_id,
        device=device, memory_limit=memory_limit, maximum=maximum,
    )  # fmt: skip
    split_every = rounds.check_split(split_every)
    take, merge = dask.delayed(_take, pure=False), dask.delayed(_merge, pure=False)
    parts = _parts(edges, job)
    last = rounds.in_rounds(
        parts,
        _n_workers(),
        split_every,
        take=lambda part, step, *others: take(part, step, job, *others),
        merge=lambda forests: merge(forests, job),
        lane_of=lanes_of(parts),
    )
    return partitions.finish(None if last is None else last.compute(), job, "the workers of Dask")


def _n_workers() -> int:
    """Return how many workers the cluster of the current client has; 1 without a cluster."""
    try:
        client = optional_import("distributed", extra="dask").default_client()
        return max(1, len(client.nthreads()))
    except (ImportError, ValueError):
        return 1


def _parts(edges: Any, job: PartitionJob) -> list[Any]:
    """Return the delayed parts of a collection, or paths of files."""
    parts = parts_of(edges, job)
    if parts is not None:
        return parts
    if not has(edges, "to_delayed", "columns"):
        raise InvalidArgumentError(
            f"edges is {shown(edges)}; it must be a Dask DataFrame, a list of delayed parts, "
            "a path or a list of paths"
        )
    missing = [name for name in job.columns if name not in list(edges.columns)]
    if missing:
        raise InvalidArgumentError(
            f"the frame has the columns {', '.join(map(repr, edges.columns))}, not {missing[0]!r}; "
            "name them by source, target and weight"
        )
    columns: list[Any] = edges[list(dict.fromkeys(job.columns))].to_delayed()
    return columns


def _take(
    data: Any,
    step: rounds.LaneStep,
    job: PartitionJob,
    before: PartitionForest | None,
    kept: PartitionForest | None,
) -> PartitionForest:
    """Take a partition; `kept` is an argument only so that the workers keep it."""
    return partitions.take_partition(data, step, job, _worker(), before)


def _merge(forests: list[PartitionForest], job: PartitionJob) -> PartitionForest:
    return partitions.merge(forests, job, _worker())


def _worker() -> str:
    """Return the address of the worker that runs this; nothing in a thread without a cluster."""
    try:
        return str(optional_import("distributed", extra="dask").get_worker().address)
    except (ImportError, ValueError):
        return ""
