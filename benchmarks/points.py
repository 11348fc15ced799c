"""Time minimum spanning trees of points, on a device and beside other programs.

    python -m benchmarks points trees 1e6,2 1e6,3 37e6,3,clusters
    python -m benchmarks points dendrograms 1e6,2 37e6,3
    python -m benchmarks points peers 1e6,2 1e6,3
    python -m benchmarks points choice 500,2 1000,2 2000,16
    python -m benchmarks points doubles 20000,2 20000,3 10000,8 5000,64

A set of points is ``NUMBER,DIMENSIONS[,KIND]``. Its kind is "uniform", in a cube, or "clusters":
200 clusters, with standard deviations from 1e-5 to 1e-2 of the cube's side, and a tenth of uniform
points. Seeds are fixed.

``trees`` times `bvh-boruvka` on points that are on the device. The hierarchy (the tree of bounding
boxes over the points) is built anew in each solve. The time ends when the endpoints of the spanning
tree's edges are on the device. The table also has the device memory per point, and a hash of the
endpoints, which must be equal on all devices.

``dendrograms`` also times sorting the edges of the tree by weight and merging along them, all on
the device. For up to 1,000,000 points the merges are compared with the merges of disjoint sets in
Python. For more points, every node must be a child once, and sizes must add up. A hash of the
merges must be equal on all devices.

``peers`` times the user's call, from arrays to arrays, beside quitefastmst if it is installed.
``choice`` times `bvh-boruvka` beside `dense`, which shows which of them "auto" should choose.

``doubles`` times core distances and the tree that HDBSCAN computes from them, from arrays to
arrays, on the device and on the same device without doubles. The results must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Row, Rows, Run, case, installed
from clmst import Device, Points, route
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.complete import decide_tree, facts_of_complete
from clmst.algorithms.dendrogram.merge import Merges, merge
from clmst.algorithms.self_test import merge_by_host
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.bench.harness import WrongResultError
from clmst.core.weight_keys import Array
from clmst.primitives.sort import argsort
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

_CLUSTERS = 200
_CHECKED_BY_HOST = 1_000_000  # points
_MIN_SAMPLES = 5  # HDBSCAN's parameter of this name


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The parameters of a random set of points: number, dimensions and kind."""

    n: int
    dimensions: int
    kind: str

    @classmethod
    def parse(cls, text: str) -> Sample:
        """Parse a text in the form ``NUMBER,DIMENSIONS[,KIND]``. Raises ValueError if malformed."""
        number, dimensions, *kinds = text.split(",")
        kind = kinds[0] if kinds else "uniform"
        if len(kinds) > 1 or kind not in ("uniform", "clusters"):
            raise ValueError(text)
        return cls(n=int(float(number)), dimensions=int(dimensions), kind=kind)

    def draw(self) -> Array:
        """Draw the random points, and return their coordinates, shape (n, dimensions)."""
        rng = np.random.default_rng(0)
        coordinates: Array = rng.random((self.n, self.dimensions))
        if self.kind == "clusters":
            middles = rng.random((_CLUSTERS, self.dimensions))
            deviations = 10.0 ** rng.uniform(-5, -2, _CLUSTERS)
            number = rng.integers(0, _CLUSTERS, self.n - self.n // 10)
            spread = rng.normal(size=(number.size, self.dimensions)) * deviations[number, None]
            coordinates[self.n // 10 :] = middles[number] + spread
        return coordinates

    @property
    def row(self) -> Row:
        """The first columns of the table row for this set of points: number, dimensions, kind."""
        return {"points": self.n, "dimensions": self.dimensions, "kind": self.kind}


def parsed(_context: click.Context, _parameter: click.Parameter, texts: Any) -> tuple[Sample, ...]:
    """Parse the samples of the command line. Raises a usage error if one is malformed."""
    try:
        return tuple(Sample.parse(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(
            f"{' '.join(texts)!r} has what is no set of points; each must be "
            "NUMBER,DIMENSIONS[,KIND]"
        ) from error


SAMPLES = click.argument("samples", nargs=-1, required=True, callback=parsed)


class Resident:
    """Points on a device, and a function that computes their spanning tree."""

    def __init__(self, sample: Sample, device: Device) -> None:
        self.device, self.n = device, sample.n
        self.matrix = DeviceMatrix.upload(Points(sample.draw()), device)

    def solve(self, launch: Launcher | None = None) -> DeviceForest:
        """Build the tree of boxes over the points anew, and compute their spanning tree.

        The kernels are enqueued on the queue of `launch`. If it is None, they are enqueued on the
        default queue of the device.
        """
        for kept in self.matrix.caches:
            kept.clear()
        launch = launch or Launcher(self.device, self.device.queue)
        return bvh_boruvka.solve(self.matrix, launch).on_device(launch)


def endpoints_of(forest: DeviceForest) -> Array:
    """Copy the endpoints of a tree to the host."""
    return forest.to_host().edges


def _check_merges(forest: clmst.Forest, children: Array, sizes: Array) -> None:
    """Raise WrongResultError if the merges of a dendrogram are wrong.

    `forest` is the spanning tree, `children` are the two nodes of each merge, and `sizes` the
    numbers of points in each merge. Up to 1,000,000 points, the merges are compared with the merges
    of disjoint sets in Python. With more points, it is only checked that every node is a child
    once, and that the sizes add up.
    """
    n = forest.n_vertices
    if n <= _CHECKED_BY_HOST:
        right = merge_by_host(n, forest.edges, np.argsort(forest.weights, kind="stable"))
        good = all(map(np.array_equal, (children, sizes), right))
    else:
        every = np.concatenate([np.ones(n, np.uint32), sizes])
        good = np.array_equal(np.sort(children, axis=None), np.arange(2 * n - 2))
        good &= bool((children.max(axis=1) < np.arange(n, 2 * n - 1)).all())
        good &= np.array_equal(every[children].sum(axis=1), sizes)
    if not good:
        raise WrongResultError("these merges are wrong")


def calls_of(sample: Sample) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name and the call of each library that computes a tree from coordinates.

    `sample` has the parameters of the points.
    """
    coordinates = sample.draw()
    yield "clmst", lambda: clmst.minimum_spanning_forest(Points(coordinates)).weights
    if (peer := installed("quitefastmst")) is not None:
        yield "quitefastmst", lambda: np.sort(peer.mst_euclid(coordinates, 0)[0])


def ratios(run: Run, times: dict[str, list[float]]) -> dict[str, float]:
    """Return the time of each compared program divided by the time of the first one.

    `times` has the milliseconds by the name of the program.
    """
    first, *others = times
    return {f"{name} / {first}": run.ratio(times, name, first) for name in others}


@click.group(cls=Cases)
def main() -> None:
    """Time spanning trees of points."""


@main.add_command
@case(
    SAMPLES,
    click.option("--verify", is_flag=True, help="Prove each tree minimum, over all pairs."),
)
def trees(run: Run, samples: tuple[Sample, ...], verify: bool) -> Rows:
    """Time spanning trees of points that are on a device."""
    for sample in samples:
        resident = Resident(sample, run.device)
        times = run.turns({"ms": resident.solve})
        run.device.release_memory()
        forest = resident.solve()
        memory = run.device._pool.managed_bytes / sample.n
        stats, host = forest.stats, forest.to_host()
        if verify:
            assert isinstance(resident.matrix.graph, Points)
            host.verify(resident.matrix.graph).raise_if_invalid()
        searches = f"{sum(stats['searches']) / sample.n:.3f}"
        digest = sha256(host.edges.astype(np.uint32).tobytes()).hexdigest()[:16]
        row = sample.row | times | {"rounds": stats["rounds"], "searches a point": searches}
        yield row | {"bytes a point": round(memory), "hash": digest}
        run.device.release_memory()


@main.add_command
@case(SAMPLES)
def dendrograms(run: Run, samples: tuple[Sample, ...]) -> Rows:
    """Time dendrograms of points, and the spanning trees that they are from, on a device."""
    device = run.device
    for sample in samples:
        resident = Resident(sample, device)
        forest = resident.solve()
        host = forest.to_host()
        weights, ends = DeviceArray.from_host(host.weights, device), forest.edges_array()

        def merged(
            n: int = sample.n, weights: DeviceArray = weights, ends: DeviceArray = ends
        ) -> Merges:
            launch = Launcher(device, device.queue)
            order = argsort(weights, launch=launch)
            return merge(
                n, ends, order, launch, serial=route.one_merges(n, alone=device.facts.alone)
            )

        merges = merged()
        children, sizes = merges.children.to_host(), merges.sizes.to_host()
        _check_merges(host, children.reshape(-1, 2), sizes)
        ways: dict[str, Callable[[], Any]] = {"tree": resident.solve, "dendrogram": merged}
        times = run.turns(ways, wait=device.queue.finish)
        digest = sha256(children.tobytes() + sizes.tobytes()).hexdigest()[:16]
        yield sample.row | times | ratios(run, times) | {"hash": digest}
        device.release_memory()


@main.add_command
@case(SAMPLES)
def peers(run: Run, samples: tuple[Sample, ...]) -> Rows:
    """Time spanning trees from coordinates to edges, both on the host, beside quitefastmst."""
    for sample in samples:
        totals: dict[str, float] = {}

        def difference(weights: Array, totals: dict[str, float] = totals) -> str:
            total = totals.setdefault("first", float(np.sum(weights)))
            same = np.isclose(float(np.sum(weights)), total, rtol=1e-12)
            return "" if same else f"the tree weighs {np.sum(weights)}; it must weigh {total}"

        times = run.turns(dict(calls_of(sample)), difference)
        yield sample.row | times | ratios(run, times)


@main.add_command
@case(SAMPLES, name="choice")
def choose(run: Run, samples: tuple[Sample, ...]) -> Rows:
    """Time the algorithms `bvh-boruvka` and `dense`, and show which of them "auto" chooses.

    Each solve by `bvh-boruvka` builds its tree of bounding boxes anew.
    """
    for sample in samples:
        resident = Resident(sample, run.device)
        right = endpoints_of(resident.solve())

        def dense(matrix: DeviceMatrix = resident.matrix) -> DeviceForest:
            return clmst.minimum_spanning_forest(matrix, algorithm="dense", keep_on_device=True)

        def difference(forest: DeviceForest, right: Array = right) -> str:
            return "" if np.array_equal(endpoints_of(forest), right) else "another tree"

        times = run.turns({"bvh-boruvka": resident.solve, "dense": dense}, difference)
        way, _ = decide_tree(resident.matrix, facts_of_complete(resident.matrix), None)
        yield sample.row | times | ratios(run, times) | {"auto": way.record}


@main.add_command
@case(SAMPLES, name="doubles")
def with_and_without(run: Run, samples: tuple[Sample, ...]) -> Rows:
    """Time the tree that HDBSCAN computes, on the device with and without doubles."""
    without = run.device.forcing_off("doubles")
    for sample in samples:
        points = Points(sample.draw())

        def tree(device: Device, points: Points = points) -> clmst.Forest:
            core = clmst.core_distances(points, _MIN_SAMPLES, device=device)
            return clmst.minimum_spanning_forest(points.with_core_distances(core), device=device)

        right = tree(run.device)

        def difference(forest: clmst.Forest, right: clmst.Forest = right) -> str:
            return "" if forest == right else "another tree"

        ways = {"with doubles": partial(tree, run.device), "without": partial(tree, without)}
        times = run.turns(ways, difference)
        yield sample.row | times | ratios(run, times)
