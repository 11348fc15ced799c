"""Minimum spanning forests of edges, and clusters of points, by the workers of Ray.

Each worker computes on its own device.

A task reduces blocks of the edges, or solves blocks of the points. Ray does the scheduling. If a
worker is lost, Ray runs its tasks again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any

from clmst.blocks.tasks import TASKS_OF_A_WORKER, Workers
from clmst.core.arguments import check_dict, has, shown
from clmst.core.columns import takes_columns
from clmst.core.errors import ClmstError, InvalidArgumentError, optional_import
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.points.hdbscan import HDBSCAN, check_model_for_workers
from clmst.scale import partitions, schedule
from clmst.scale.partition_names import PartitionEnds, PartitionNumbers
from clmst.scale.partition_pieces import lanes_of, parts_of
from clmst.scale.partitions import PartitionForest, PartitionJob

__all__ = ["cluster", "minimum_spanning_forest"]


@takes_columns
@lasting("computing a spanning forest by Ray")
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
    task_options: Mapping[str, Any] | None = None,
) -> Forest:
    """Compute the minimum spanning forest of edges in a Ray Dataset or in Ray's object store.

    The result is the same as from :func:`clmst.minimum_spanning_forest`, however the edges are
    divided into blocks and however many workers there are. The call blocks until the forest is
    complete.

    Parameters
    ----------
    edges : ray.data.Dataset, list of ObjectRef, path, or list of paths
        The edges, one per row. Each object must be a data frame, an Arrow table, a mapping of
        arrays, or a tuple of arrays (u, v, w). Each block of a Dataset is one partition. Ray may
        read the rows of a Dataset in a different order each time, so their positions cannot serve
        as edge ids: either name a column of ids with `edge_id`, or pass ``dataset.materialize()``,
        whose order is fixed. A path names a Parquet file, a structured ``.npy`` file, or a folder
        of these files, which all workers can read.
    n_vertices, columns, edge_id, device, memory_limit, maximum, split_every
        The same as in :func:`clmst.dask.minimum_spanning_forest`.
    task_options : mapping, optional
        Options for every Ray task, passed to ``options`` of the remote function, for example
        ``{"num_gpus": 1}``.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidArgumentError
        An argument has a wrong type or value, or `edges` is a Dataset without a fixed order and
        `edge_id` is None.
    InvalidGraphError
        A partition is malformed. The message names the worker, the block or file, and the row.
    UnsupportedDeviceError
        A worker does not have a usable device. The message names the worker.
    MissingDependencyError
        Ray is not installed.

    Notes
    -----
    The method is described in :func:`clmst.dask.minimum_spanning_forest`.

    Examples
    --------
    >>> import clmst, ray
    >>> dataset = ray.data.read_parquet("edges/").materialize()  # doctest: +SKIP
    >>> forest = clmst.ray.minimum_spanning_forest(dataset)  # doctest: +SKIP
    """
    ray = optional_import("ray", extra="ray")
    job = PartitionJob.checked(
        n_vertices=n_vertices, columns=columns, edge_id=edge_id, device=device,
        memory_limit=memory_limit, maximum=maximum,
    )  # fmt: skip
    split_every = schedule.check_split(split_every)
    options = _checked_options(task_options)
    take, merge, ends = (ray.remote(task).options(**options) for task in (_take, _merge, _ends))
    parts, job = _parts(ray, edges, job)

    def solve(job: PartitionJob, names: Sequence[PartitionNumbers] | None) -> Any:
        """Let the workers compute the forest of all blocks, and wait for it.

        A block is a part of the edges, as Ray stores them, and `job` has the settings. The ends of
        edges in a block may be names of vertices. `names` then has, for each block, the number of
        each name. It is None if the ends are numbers already.
        """
        lane_of = lanes_of(parts, names)

        def take_by(part: Any, step: schedule.LaneStep, before: Any, kept: Any) -> Any:
            """Start the Ray task that adds the edges of one block to a forest.

            The arguments are the same as in :func:`_take`.
            """
            own = None if names is None or lane_of is not None else names[step.number]
            return take.remote(part, step, job, before, [kept], names=own)

        last = schedule.in_rounds(
            parts,
            _n_tasks(ray, options, by_device=lane_of is not None),
            split_every,
            take=take_by,
            merge=lambda forests: merge.remote(job, *forests),
            lane_of=lane_of,
            outlives=True,  # the results of a worker stay on its node after the worker ends
        )
        return None if last is None else _got(ray, last)

    def count() -> Sequence[PartitionEnds]:
        """Let the workers read the ends of the edges in all blocks, to count the vertices."""
        found: Sequence[PartitionEnds] = _got(
            ray, [ends.remote(part, k, job) for k, part in enumerate(parts)]
        )
        return found

    try:
        return partitions.forest_by(job, "the workers of Ray", solve=solve, count=count)
    except partitions.CALLERS_ERRORS as error:
        raise partitions.plain(error) from None  # without the traceback through Ray


@lasting("clustering by Ray")
def cluster(model: HDBSCAN, X: Any, *, task_options: Mapping[str, Any] | None = None) -> HDBSCAN:
    """Fit HDBSCAN to points that are solved block by block in tasks of Ray.

    The result is the same as from ``model.fit(X)``, to the last bit, however many workers there
    are. The call blocks until the clusters are found.

    Parameters
    ----------
    model, X
        The same as in :func:`clmst.dask.cluster`: an estimator with `block_points`, which is
        fitted, and the points.
    task_options : mapping, optional
        Options for every Ray task, passed to ``options`` of the remote function, for example
        ``{"num_gpus": 1}``.

    Returns
    -------
    HDBSCAN
        The fitted `model`.

    Raises
    ------
    InvalidArgumentError
        `model` is not an HDBSCAN, its `block_points` is None, its `device` is not a name or not the
        name of a device of each worker, another of its parameters is out of its range, or
        `task_options` is not a mapping.
    InvalidGraphError
        `X` is malformed or lacks a finite row.
    MissingDependencyError
        Ray is not installed.

    Notes
    -----
    The method is described in :func:`clmst.dask.cluster`. If a worker is lost, Ray runs its task
    again.

    Examples
    --------
    >>> import clmst
    >>> from clmst.cluster import HDBSCAN
    >>> points = clmst.read_points("points/*.parquet", mapped=True)  # doctest: +SKIP
    >>> model = HDBSCAN(min_cluster_size=50, block_points=5_000_000)
    >>> clmst.ray.cluster(model, points).labels_  # doctest: +SKIP
    """
    ray = optional_import("ray", extra="ray")
    options = _checked_options(task_options)
    check_model_for_workers(model, "Ray")

    @cache  # Ray stores a function each time that it is made remote
    def task_of(function: Callable[..., Any]) -> Any:
        return ray.remote(function).options(**options)

    def call(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Call a function with each tuple of arguments, in tasks."""
        found: Sequence[Any] = _got(ray, [task_of(function).remote(*one) for one in arguments])
        return found

    n_tasks = _n_tasks(ray, options, by_device=False)
    at_once = TASKS_OF_A_WORKER * n_tasks
    workers = Workers(at_once=at_once, call=call, devices=[model.device])
    try:
        return model._fitted(X, None, workers)
    except partitions.CALLERS_ERRORS as error:
        raise partitions.plain(error) from None  # without the traceback through Ray


def _checked_options(task_options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Check the argument `task_options`, and return it, or an empty mapping if it is None."""
    options = {} if task_options is None else task_options
    check_dict("task_options", options)
    return options


def _got(ray: Any, references: Any) -> Any:
    """Wait for tasks and return the tasks' results, or raise the clmst error of a failed task.

    `ray` is the module, and `references` are Ray's references to the results.
    """
    try:
        return ray.get(references)
    except ray.exceptions.RayTaskError as error:  # its text is a traceback of several lines
        if isinstance(error.cause, ClmstError):
            raise error.cause from error
        raise


def _parts(ray: Any, edges: Any, job: PartitionJob) -> tuple[list[Any], PartitionJob]:
    """Return the partitions of the edges, and the job with the names of the columns to read.

    `ray` is the imported module, and `edges` is the caller's argument. The partitions are Ray's
    references to blocks, or paths of files.
    """
    parts = parts_of(edges, job)
    if parts is not None:
        return parts, job
    if not has(edges, "to_arrow_refs", "select_columns", "context"):
        raise InvalidArgumentError(
            f"edges is {shown(edges)}; it must be a Ray Dataset, a list of object "
            "references, a path or a list of paths"
        )
    datasets = optional_import("ray.data.dataset", extra="ray")
    is_fixed = isinstance(edges, datasets.MaterializedDataset)
    if job.edge_id is None and not is_fixed:
        raise InvalidArgumentError(
            "edges is a Dataset that Ray has not materialized, and edge_id is None; Ray may read "
            "its rows in another order each time, so positions of rows cannot be edge ids: "
            "edge_id= names a column of ids, dataset.materialize() fixes the order, and paths of "
            "files are read in order"
        )
    columns = edges.columns() or []
    needed: list[Any] = []
    if columns:
        job, needed = job.for_table(columns)
    if not is_fixed:  # the rows contain their ids, so their order does not matter
        return (edges.select_columns(needed) if columns else edges).to_arrow_refs(), job
    blocks = edges.to_arrow_refs()  # in their fixed order, which Dataset.select_columns may change
    if len(needed) == len(columns):
        return blocks, job
    select = ray.remote(_select)
    return [select.remote(block, needed) for block in blocks], job


def _select(block: Any, columns: list[Any]) -> Any:
    """Return only the needed columns of a block. Runs as a task on the node that has the block."""
    return block.select(columns)


def _n_tasks(ray: Any, options: Mapping[str, Any], *, by_device: bool) -> int:
    """Return the number of tasks that the cluster can run at the same time, at least 1.

    `ray` is the module, and `options` are Ray's options of a task. With `by_device`, tasks read
    files and a device does most of the work, so there is one task for each node, unless the options
    ask for GPUs.
    """
    needed = {"CPU": options.get("num_cpus", 1), "GPU": options.get("num_gpus", 0)}
    there = ray.cluster_resources()
    counts = [int(there.get(name, 0) // n) for name, n in needed.items() if n]
    if by_device and not needed["GPU"]:
        counts.append(sum(bool(node["Alive"]) for node in ray.nodes()))
    return max(1, min(counts, default=1))


def _take(
    data: Any,
    step: schedule.LaneStep,
    job: PartitionJob,
    before: PartitionForest | None,
    kept: list[Any],
    *,
    names: PartitionNumbers | None,
) -> PartitionForest:
    """Add the edges of one partition to a forest, on the worker that runs this task.

    `job` has the settings of the whole computation, `data` is the partition, and `step` says which
    step of which lane this is. A lane is a sequence of partitions that are added to one forest.
    `before` is the forest of the earlier steps, or None at the first step of a lane. `names` has
    the vertex numbers of the partition's names, or is None if its ends are numbers. `kept` is not
    used. It holds a reference to an earlier forest, so that Ray keeps the forest in memory.
    """
    return partitions.take_partition(data, step, job, _worker(), before, names=names)


def _ends(data: Any, number: int, job: PartitionJob) -> PartitionEnds:
    """Read the ends of the edges of one partition, on the worker that runs this task.

    `data` is the partition, a part of the edges, and `number` its position. `job` says which
    columns to read. The result says which names the ends have, or how many vertices their numbers
    imply.
    """
    return partitions.ends_of_partition(data, number, job, _worker())


def _merge(job: PartitionJob, *forests: PartitionForest) -> PartitionForest:
    """Merge several forests into the forest of all their edges, in a task on a worker.

    `job` has the settings of the whole computation.
    """
    return partitions.merge(forests, job, _worker())


def _worker() -> str:
    """Return the process and the node that run this, in words, for error messages."""
    context = optional_import("ray", extra="ray").get_runtime_context()
    return f"process {os.getpid()} on node {context.get_node_id()}"
