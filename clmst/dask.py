"""Forests of edges and clusters of points by the workers of Dask, each on its own device.

A worker computes forests of its partitions of the edges, or trees of blocks of the points. Dask
does the scheduling. If a worker is lost, Dask computes the worker's results again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from clmst.blocks.tasks import TASKS_OF_A_WORKER, Workers
from clmst.core.arguments import has, shown
from clmst.core.columns import takes_columns
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.points.hdbscan import HDBSCAN, check_model_for_workers
from clmst.scale import partitions, schedule
from clmst.scale.partition_names import PartitionEnds, PartitionNumbers
from clmst.scale.partition_pieces import lanes_of, parts_of
from clmst.scale.partitions import PartitionForest, PartitionJob

__all__ = ["cluster", "minimum_spanning_forest"]


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

    The result is the same as from :func:`clmst.minimum_spanning_forest`, however the edges are
    partitioned and however many workers there are. The computation runs on the cluster of the
    current ``distributed.Client``. Without a client, it runs in threads of this process. The
    call blocks until the forest is complete.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame, list of Delayed, path, or list of paths
        The edges, one per row. Each delayed part must compute to a data frame, an Arrow table, a
        mapping of arrays, or a tuple of arrays (u, v, w). A path names a Parquet file, a structured
        ``.npy`` file, or a folder of these files, and all workers must be able to read it. The
        workers then read the files themselves, piece by piece, and no edges pass through the
        scheduler.
    n_vertices : int, optional
        The number of vertices, if the ends of the edges are vertex numbers: each end must be less
        than it. If the ends are strings, the maximum number of distinct strings. By default the
        ends are read an extra time, before the edges, to count the vertices.
    columns : list or tuple, optional
        The names of two or three columns: source, target and, optionally, weight. With two names
        every weight is 1. By default the columns "source", "target" and "weight", or all columns in
        order if there are two or three and they have other names (see :func:`clmst.read_graph`).
        Ends are vertex numbers or strings. Strings become the `vertex_labels` of the forest, in the
        order in which the rows of all partitions first contain them. Strings are read twice, and
        each distinct string passes through this process.
    edge_id : str, optional
        The name of a column of distinct non-negative integers, which become the `edge_ids` of the
        forest. By default an edge id is the position of the row in the concatenation of all
        partitions. Use a column of ids if Dask may return the rows in another order when it
        computes the collection again.
    device : str, optional
        The name of the device that each worker uses; see :func:`clmst.get_device`.
    memory_limit : int, optional
        The maximum number of bytes of device memory that each worker uses. By default three
        quarters of a device's own memory, or a quarter of a memory that the device shares with the
        host.
    maximum : bool
        Compute the maximum spanning forest instead.
    split_every : int
        The number of forests that are merged at a time.

    Returns
    -------
    Forest

    Raises
    ------
    InvalidArgumentError
        An argument has a wrong type or value.
    InvalidGraphError
        A partition is malformed. The message names the worker, the partition or file, and the row.
    UnsupportedDeviceError
        A worker does not have a usable device. The message names the worker.
    MissingDependencyError
        Dask is not installed.

    Notes
    -----
    Each of w workers keeps one forest and reduces one partition after another into it. From time to
    time, at most three times in a computation, the forests of all workers are merged in log(w) /
    log(split_every) levels, and each worker continues from the merged forest. If a worker is lost,
    only its work since the last merge is repeated. Workers on the same host that read files and
    compute on its CPU take turns, so that each one uses all cores.

    Examples
    --------
    >>> import clmst, pandas
    >>> import dask.dataframe as dd
    >>> roads = pandas.DataFrame({"source": [0, 1, 0], "target": [1, 2, 2], "weight": [3, 1, 2]})
    >>> forest = clmst.dask.minimum_spanning_forest(dd.from_pandas(roads, npartitions=2))
    >>> forest.edges
    array([[0, 2],
           [1, 2]], dtype=int32)
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
        """Let the workers compute the forest of all partitions, and wait for it.

        `job` has the settings. `names` has the vertex numbers of each partition's names, or is None
        if the ends of edges are vertex numbers.
        """
        lane_of = lanes_of(parts, names)
        lanes = _lanes(job, by_device=lane_of is not None)

        def take_by(part: Any, step: schedule.LaneStep, before: Any, kept: Any) -> Any:
            """Create the Dask task that adds one partition to a forest.

            The arguments are the same as in :func:`_take`.
            """
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
        """Find the vertices of each partition: the workers read the endpoints of all edges."""
        found: Sequence[PartitionEnds] = dask.compute(
            *(ends(part, k, job) for k, part in enumerate(parts))
        )
        return found

    try:
        return partitions.forest_by(job, "the workers of Dask", solve=solve, count=count)
    except partitions.CALLERS_ERRORS as error:
        raise partitions.plain(error) from None  # without the traceback through Dask


@lasting("clustering by Dask")
def cluster(model: HDBSCAN, X: Any) -> HDBSCAN:
    """Fit HDBSCAN to points that are solved block by block on the workers of Dask.

    The result is the same as from ``model.fit(X)``, to the last bit, however many workers there
    are. The computation runs on the cluster of the current ``distributed.Client``. Without a
    client, it runs in threads of this process. The call blocks until the clusters are found.

    Parameters
    ----------
    model : HDBSCAN
        The estimator, which is fitted. Its `block_points` must be given. Its `device` is None or
        the name of the device that each worker uses; see :func:`clmst.get_device`. This process
        uses a device of the same name.
    X : array of shape (n, d), data frame or Points
        The points, as :meth:`clmst.cluster.HDBSCAN.fit` takes them. They may be mapped from files
        (see :func:`clmst.read_points`), which the workers need not reach.

    Returns
    -------
    HDBSCAN
        The fitted `model`.

    Raises
    ------
    InvalidArgumentError
        `model` is not an HDBSCAN, its `block_points` is None, its `device` is not a name or not the
        name of a device of each worker, or another of its parameters is out of its range.
    InvalidGraphError
        `X` is malformed or lacks a finite row.
    MissingDependencyError
        Dask is not installed.

    Notes
    -----
    Each task is the core distances or the tree of one block, or the edges between two blocks. This
    process divides the points, sends each task the points that it needs, stores the results in the
    checkpoint if `block_points` names one, and finds the tree among the edges. At most two tasks
    for each worker are under way at a time. Core distances near the borders of blocks are computed
    one block after the other. If a worker is lost, Dask computes its tasks again.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> from clmst.cluster import HDBSCAN
    >>> X = np.random.default_rng(0).normal([[0], [9]], size=(2, 300)).reshape(-1, 2)
    >>> model = clmst.dask.cluster(HDBSCAN(min_cluster_size=20, block_points=100), X)
    >>> np.array_equal(model.labels_, HDBSCAN(min_cluster_size=20).fit_predict(X))
    True
    """
    dask = optional_import("dask", extra="dask")
    check_model_for_workers(model, "Dask")
    client = _client()
    n_workers = 1 if client is None else max(len(client.nthreads()), 1)

    def call(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Call `function` on the workers, once for each tuple of arguments, and return the results.

        The first argument of each tuple is a set of points.
        """
        sent = [points for points, *_ in arguments]
        if client is not None and sent:  # sends the points to the workers, not to the scheduler
            sent = client.scatter(sent, hash=False)
        task = dask.delayed(function, pure=False)
        found: Sequence[Any] = dask.compute(
            *(task(points, *more) for points, (_, *more) in zip(sent, arguments, strict=True))
        )
        return found

    at_once = TASKS_OF_A_WORKER * n_workers
    workers = Workers(at_once=at_once, call=call, devices=[model.device])
    try:
        return model._fitted(X, None, workers)
    except partitions.CALLERS_ERRORS as error:
        raise partitions.plain(error) from None  # without the traceback through Dask


def _client() -> Any:
    """Return the current client of a cluster of Dask, or None if there is none."""
    try:
        return optional_import("distributed", extra="dask").default_client()
    except (ImportError, ValueError):
        return None


def _lanes(job: PartitionJob, *, by_device: bool) -> list[list[str]]:
    """Divide the workers of the cluster into groups, one for each lane.

    A lane is a sequence of partitions that are added to one forest, one after the other, by any
    worker of the lane's group. `job` names the device of a worker. If `by_device` is False, each
    worker is a group by itself. If it is True, as for files, all workers that share a device are
    one group, because the device does most of the work. Without a cluster there is one group
    without workers: ``[[]]``.
    """
    client = _client()
    if client is None:
        return [[]]
    workers = sorted(client.nthreads())
    if not by_device or len(workers) < 2:
        return [[one] for one in workers] or [[]]
    places: dict[str, Any] = client.run(_place, job, on_error="return")
    sharing = defaultdict[str, list[str]](list)
    for worker in sorted(places):
        if isinstance(places[worker], str):  # otherwise it is the error of a lost worker
            sharing[places[worker]].append(worker)
    return list(sharing.values()) or [[]]


def _by_a_worker_of(lane: list[str], number_of_round: int) -> AbstractContextManager[Any]:
    """Return a context manager in which Dask runs tasks on one of the workers in `lane`.

    A lane is a sequence of tasks in which each round continues from the forest of the round before.
    `lane` lists the workers that share this sequence, and take turns by `number_of_round`. So the
    forest of a round is in the memory of two workers: the one that computed it, and the next one,
    which reads it. It survives the loss of either.
    """
    if len(lane) < 2:
        return nullcontext()
    turn = lane[number_of_round % len(lane)]
    annotate: AbstractContextManager[Any] = optional_import("dask", extra="dask").annotate(
        workers=[turn], allow_other_workers=True
    )
    return annotate


def _parts(edges: Any, job: PartitionJob) -> tuple[list[Any], PartitionJob]:
    """Return the partitions of the edges, and the job with the names of the columns to read.

    `edges` is the caller's argument. The partitions are delayed objects of Dask, or paths of files.
    """
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
    """Add the edges of one partition to a forest, on the worker that runs this task.

    `job` has the settings of the whole computation, `data` is the partition, and `step` says which
    step of which lane this is. A lane is a sequence of partitions that are added to one forest.
    `before` is the forest of the earlier steps, or None at the first step of a lane. `names` has
    the vertex numbers of the partition's names, or is None if its ends are numbers. `kept` is the
    forest of an older step. It is not used, but Dask keeps the result of a task in memory while
    another task has it as an argument.
    """
    return partitions.take_partition(data, step, job, _worker(), before, names=names)


def _ends(data: Any, number: int, job: PartitionJob) -> PartitionEnds:
    """Read the ends of the edges of one partition, on the worker that runs this task.

    `data` is the partition, a part of the table of edges, and `number` its position. `job` says
    which columns to read. The result says which names the ends have, or how many vertices their
    numbers imply.
    """
    return partitions.ends_of_partition(data, number, job, _worker())


def _place(job: PartitionJob) -> str:
    """Return a name for the device of the worker on which this task runs.

    Workers that share a device return the same name. `job` has the settings of the computation.
    """
    return partitions.place_of(job, _worker())


def _merge(forests: list[PartitionForest], job: PartitionJob) -> PartitionForest:
    """Merge several forests into the forest of all their edges, in a task on a worker.

    `job` has the settings of the whole computation.
    """
    return partitions.merge(forests, job, _worker())


def _worker() -> str:
    """Return the address of the current Dask worker, or "" in a thread without a cluster."""
    try:
        return str(optional_import("distributed", extra="dask").get_worker().address)
    except (ImportError, ValueError):
        return ""
