"""Time solves of points by blocks, beside solves at once, by one device or several.

    python -m benchmarks blocks 100e6 --block-points 50e6 --at-once
    python -m benchmarks blocks 300e6 --block-points 75e6 --what hdbscan [--dimensions 3]
    python -m benchmarks blocks 6e6 --block-points 1e6 --dimensions 8 --device nvidia:0
        --device nvidia:1
    python -m benchmarks blocks 1e6 --block-points 125000 --what hdbscan --dask 2

Points are float32 in memory. Half of them are uniform in a cube of side 100, and the others are in
200 Gaussian clumps. Times are seconds of one call each, after a small call has built the kernels.
The progress is printed as the lines of `on_progress`, and so shows the time of each step. The last
column has the peak of the process's resident memory so far, the points included. On a GPU it does
not include the memory of the device.

With ``--at-once``, the same is computed without blocks on the first device. Its result must have
the same bits. With several devices, the first of them also solves alone, before all together. The
largest of these runs need as much as 41 GiB of memory.

With ``--dask``, the points are clustered three times: without blocks, by blocks in this process,
and by blocks with that many worker processes of Dask on this machine. All results must have the
same bits. The seconds of each part are printed: opening the workers, a small call that builds their
kernels, dividing the points into blocks, core distances, trees of blocks, edges between blocks, the
tree among all of these edges, and clusters.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.streaming import KEEP_MEMORY
from clmst.cluster import HDBSCAN

_CLUMPS = 200
_DRAWN_AT_ONCE = 1 << 24  # points
_SMALL = 200_000  # points of the call that builds the kernels
_PATIENCE = 5.0  # seconds between two lines about one step


def drawn(n: int, dimensions: int, seed: int = 57) -> Any:
    """Draw points of float32: half of them uniform, and half in Gaussian clumps."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, dimensions), np.float32)
    centres = rng.random((_CLUMPS, dimensions)).astype(np.float32) * 100
    widths = (0.05 + rng.random(_CLUMPS) ** 3).astype(np.float32)
    for first in range(0, n, _DRAWN_AT_ONCE):
        rows = X[first : first + _DRAWN_AT_ONCE]
        half = len(rows) // 2
        rows[:half] = rng.random((half, dimensions), np.float32) * 100
        which = rng.integers(0, _CLUMPS, len(rows) - half)
        spread = rng.standard_normal((len(which), dimensions), np.float32)
        rows[half:] = centres[which] + widths[which, None] * spread
    return X


class Lines:
    """Prints the progress of a solve: the ends of each step, and a line in 5 seconds between."""

    def __init__(self) -> None:
        self._step, self._began, self._said = "", perf_counter(), 0.0

    def __call__(self, progress: clmst.BlockProgress) -> None:
        """Print a line, unless one was printed a short time ago."""
        now = perf_counter() - self._began
        is_end = progress.done in (0, progress.n_tasks)
        if progress.step != self._step or is_end or now - self._said > _PATIENCE:
            self._step, self._said = progress.step, now
            click.echo(f"{now:.1f} s: {progress}", err=True)


class Parts:
    """Measures the parts of a fit by blocks: it takes the progress, and has the time of each step.

    A fit begins when this object is created.
    """

    def __init__(self) -> None:
        self._began = perf_counter()
        self._first, self._last = dict[str, float](), dict[str, float]()

    def __call__(self, progress: clmst.BlockProgress) -> None:
        """Take the progress of a fit, and note the time."""
        now = perf_counter() - self._began
        self._first.setdefault(progress.step, now)
        self._last[progress.step] = now

    def seconds(self) -> Row:
        """Return the seconds of each part. Call this at the end of the fit."""
        total = perf_counter() - self._began
        first, last = self._first, self._last
        steps = ("core distances", "trees of blocks", "edges between blocks")
        row: Row = {"dividing the points": first["core distances"]}
        row |= {step: last[step] - first[step] for step in steps}
        row["tree among all edges"] = first["clusters"] - last["edges between blocks"]
        row["clusters"] = last["clusters"] - first["clusters"]
        row |= {"the rest": total - sum(row.values()), "in all": total}
        return {name: round(seconds, 2) for name, seconds in row.items()}


def _tree(X: Any, devices: Sequence[clmst.Device], blocks: Any) -> Any:
    """Compute the spanning tree of points."""
    where: dict[str, Any] = {"device": devices[0]} if blocks is None else {"devices": devices}
    return clmst.minimum_spanning_forest(clmst.Points(X), block_points=blocks, **where)


def _hdbscan(X: Any, devices: Sequence[clmst.Device], blocks: Any) -> Any:
    """Fit HDBSCAN to points."""
    return HDBSCAN(50, 5, device=devices[0], block_points=blocks).fit(X)


def _same(one: Any, other: Any) -> bool:
    """Return whether two trees, or two fits, are equal to the last bit."""
    if isinstance(one, clmst.Forest):
        return bool(one == other)
    return np.array_equal(one.labels_, other.labels_) and _same(one.forest_, other.forest_)


def seconds_of(calls: dict[str, Callable[[], Any]], devices: Sequence[clmst.Device]) -> Row:
    """Make some calls one after the other, and return the seconds of each by its name.

    The memory that `devices` keep is released after each call. Raises ClickException unless all
    results are equal to the last bit.
    """
    row, first = Row(), list[Any]()
    for name, call in calls.items():
        began = perf_counter()
        found = call()
        row[name] = round(perf_counter() - began, 2)
        first = first or [found]
        if not _same(first[0], found):
            raise click.ClickException(f"{name}: another result than before")
        del found
        for device in devices:
            device.release_memory()
    return row


WHAT: dict[str, Callable[[Any, Sequence[clmst.Device], Any], Any]] = {
    "tree": _tree, "hdbscan": _hdbscan,
}  # fmt: skip


def by_dask(X: Any, block_points: int, n_workers: int) -> Rows:
    """Yield the seconds of each part of a fit by blocks, here and by worker processes of Dask.

    Raises ClickException unless all results are equal to the last bit.
    """
    small = drawn(_SMALL, X.shape[1])

    def seconds_of_parts(by: str, fit: Callable[..., HDBSCAN]) -> Row:
        """Fit HDBSCAN to the points by the function `fit`, and return the seconds of each part."""
        began = perf_counter()
        for points, n_points in ((small, _SMALL // 4), (X, block_points)):
            seconds = perf_counter() - began
            parts = Parts()
            options = clmst.BlockOptions(n_points=n_points, on_progress=parts)
            model = fit(HDBSCAN(50, 5, block_points=options), points)
            found = parts.seconds()
        if not _same(right, model):
            raise click.ClickException(f"{by}: another result than without blocks")
        return {"a small call before": round(seconds, 2)} | found

    HDBSCAN(50, 5).fit(small)
    began = perf_counter()
    right = HDBSCAN(50, 5).fit(X)
    at_once = round(perf_counter() - began, 2)
    here = seconds_of_parts("this process", HDBSCAN.fit)
    began = perf_counter()
    with ExitStack() as stack:
        _open_workers(stack, n_workers)
        there = {"opening the workers": round(perf_counter() - began, 2)}
        there |= seconds_of_parts("Dask", clmst.dask.cluster)
    for part, seconds in there.items():
        row: Row = {"part": part, f"{n_workers} workers of Dask, s": seconds}
        row["this process by blocks, s"] = here.get(part, "")
        yield row | {"without blocks, s": at_once if part == "in all" else ""}


def _open_workers(stack: ExitStack, n_workers: int) -> None:
    """Start worker processes of Dask on this machine, until `stack` closes, and connect to them."""
    distributed: Any = import_module("distributed")
    config = import_module("dask").config
    stack.enter_context(config.set({"distributed.nanny.pre-spawn-environ": KEEP_MEMORY}))
    cluster = stack.enter_context(
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
        )
    )
    stack.enter_context(distributed.Client(cluster)).wait_for_workers(n_workers)


@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--dimensions", default=2, show_default=True),
    click.option("--block-points", type=float, required=True),
    click.option("--what", type=click.Choice(list(WHAT)), default="tree", show_default=True),
    click.option("--at-once", is_flag=True, help="Compare with a solve without blocks."),
    click.option("--dask", "n_workers", default=0, help="With this number of workers of Dask."),
    repetitions=1,
    devices=(1, 8),
    description=__doc__,
)
def main(
    run: Run, numbers: tuple[float, ...], dimensions: int, block_points: float, what: str, *,
    at_once: bool, n_workers: int,
) -> Rows:  # fmt: skip
    """Time solves of points by blocks."""
    if n_workers:
        if what != "hdbscan" or at_once:
            raise click.UsageError("--dask takes --what hdbscan, and always compares with at once")
        for number in numbers:
            yield from by_dask(drawn(int(number), dimensions), int(block_points), n_workers)
        return
    if what == "hdbscan" and len(run.devices) > 1:
        raise click.UsageError("HDBSCAN takes one --device")
    compute = WHAT[what]
    groups = [run.devices[:1], run.devices] if len(run.devices) > 1 else [run.devices]
    for devices in groups:
        compute(drawn(_SMALL, dimensions), devices, _SMALL // 4)
    for number in numbers:
        X = drawn(int(number), dimensions)
        calls: dict[str, Callable[[], Any]] = {}
        if at_once:
            calls["at once, s"] = partial(compute, X, run.devices, None)
        for devices in groups:
            options = clmst.BlockOptions(n_points=int(block_points), on_progress=Lines())
            name = "by blocks, s" if len(devices) == 1 else f"by {len(devices)} devices, s"
            calls[name] = partial(compute, X, devices, options)
        row: Row = {"what": what, "points": len(X), "dimensions": dimensions}
        row["points a block"] = int(block_points)
        row |= seconds_of(calls, run.devices)
        row["peak, GiB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
        yield row
