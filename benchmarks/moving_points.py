"""Minimum spanning trees of points that move around fixed places.

    python -m benchmarks moving_points solver 2e5,2 2e5,3
    python -m benchmarks moving_points lists 2e5,2 2e5,3

Sets of points are given as for `benchmarks.points`.

``solver`` times a `RepeatedSolver` beside solves anew, from arrays to arrays.
``lists`` times solves that keep order and lists however far points have moved, beside solves anew,
both on the device: at which share of unsure points lists cease to pay (``moved.most_unsure_on``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.points import SAMPLES, Sample, endpoints_of
from benchmarks.runner import Cases, Row, Rows, Run, case
from benchmarks.timing import by_name
from clmst import Device, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.moved import MovingPoints
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.bench.harness import Contestant
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher


class Jitter:
    """Points around fixed places: normally distributed, of a deviation in mean spacings."""

    def __init__(self, sample: Sample, share: float) -> None:
        self.places = self.coordinates = sample.draw()
        self._rng = np.random.default_rng(1)
        self._deviation = share * sample.n ** (-1 / sample.dimensions)

    def step(self) -> None:
        """Move all points; they do not drift."""
        step = self._rng.normal(size=self.places.shape)
        self.coordinates = self.places + self._deviation * step


class MovedPoints(Jitter):
    """What solves points that move: a solver, and each time anew."""

    def __init__(self, sample: Sample, share: float, device: Device) -> None:
        super().__init__(sample, share)
        self.device = device
        self._solver = clmst.RepeatedSolver(Points(self.places), devices=device)
        self._solver.solve(self.places)
        self._stats: list[Mapping[str, Any]] = []
        self.step()

    def anew(self) -> clmst.Forest:
        return clmst.minimum_spanning_forest(Points(self.coordinates), device=self.device)

    def moved(self) -> clmst.Forest:
        forest = self._solver.solve(self.coordinates)
        self._stats.append(forest.stats)
        return forest

    def how(self, rounds: int) -> str:
        """Return how the last rounds were solved, and how often."""
        counts = Counter(stats["moved"]["how"] for stats in self._stats[-rounds:])
        return ", ".join(f"{how} {count}" for how, count in counts.most_common())

    def candidates(self, rounds: int) -> float:
        """Return the most candidates a point that the last rounds had."""
        most: int = max(stats.get("candidates", 0) for stats in self._stats[-rounds:])
        return most / len(self.places)

    def difference(self, forest: clmst.Forest) -> str:
        """Return what is wrong with a forest of the present coordinates."""
        right = self.anew()
        same = np.array_equal(forest.edge_ids, right.edge_ids)
        return "" if same and np.array_equal(forest.weights, right.weights) else "another tree"


class KeptLists(Jitter):
    """What solves points that move, on a device: by lists that are kept, and each time anew."""

    def __init__(self, sample: Sample, share: float, device: Device) -> None:
        super().__init__(sample, share)
        self.device = device
        self._moving = MovingPoints(most_unsure=1.0)
        self.upload()
        self.by_lists()
        self.step()

    def upload(self) -> None:
        """Bring the points to the device."""
        self._matrix = DeviceMatrix.upload(Points(self.coordinates), self.device)

    def step(self) -> None:
        """Move all points, and bring them to the device."""
        super().step()
        self.upload()

    def anew(self) -> DeviceForest:
        """Build the hierarchy, and solve."""
        self._matrix.plans.clear()
        return bvh_boruvka.solve(self._matrix, Launcher(self.device, self.device.queue))

    def by_lists(self) -> DeviceForest:
        """Solve by the lists of the first places."""
        self.forest = self._moving.solve(self._matrix, Launcher(self.device, self.device.queue))
        return self.forest

    def difference(self, forest: DeviceForest) -> str:
        """Return what is wrong with a forest of the present coordinates."""
        same = np.array_equal(endpoints_of(forest), endpoints_of(self.anew()))
        return "" if same else "another tree"


def shares_option(*shares: float) -> Callable[[Any], Any]:
    """Return the option that says how far points move."""
    return click.option(
        "--share", "shares", type=float, multiple=True, default=shares, show_default=True,
        help="Standard deviation of a coordinate, in mean spacings.",
    )  # fmt: skip


def beside_anew(run: Run, moved: Any, name: str, call: Any, warm_ups: int) -> Row:
    """Return the times of solves of points that move, beside solves anew."""
    every = [
        Contestant(name="anew", call=moved.anew, before=moved.step),
        Contestant(name=name, call=call, difference=moved.difference, before=moved.step),
    ]
    times: Row = by_name(run.harness(warm_ups=warm_ups, verification="ends").run(every))
    pairs = zip(times["anew"], times[name], strict=True)
    return times | {"ratio": median(b / a for a, b in pairs)}


@click.group(cls=Cases)
def main() -> None:
    """Time spanning trees of points that move."""


@main.add_command
@case(SAMPLES, shares_option(0, 0.001, 0.003, 0.01, 0.03, 0.1, 1))
def solver(run: Run, samples: tuple[Sample, ...], shares: tuple[float, ...]) -> Rows:
    """Time a solver of points that move, beside a solve anew, from arrays to arrays."""
    for sample in samples:
        for share in shares:
            moved = MovedPoints(sample, share, run.device)
            times = beside_anew(run, moved, "solver", moved.moved, 8)
            yield (
                sample.row
                | {"movement": share}
                | times
                | {
                    "how": moved.how(run.repetitions),
                    "candidates a point": moved.candidates(run.repetitions),
                }
            )


@main.add_command
@case(SAMPLES, shares_option(0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2))
def lists(run: Run, samples: tuple[Sample, ...], shares: tuple[float, ...]) -> Rows:
    """Time solves by lists that are kept, beside solves anew, of points on a device."""
    for sample in samples:
        for share in shares:
            kept = KeptLists(sample, share, run.device)
            times = beside_anew(run, kept, "lists", kept.by_lists, 1)
            stats = kept.forest.stats
            yield (
                sample.row
                | {"movement": share}
                | times
                | {
                    "unsure": f"{stats['moved']['unsure']:.5f}",
                    "searches a point": f"{sum(stats['searches']) / sample.n:.4f}",
                }
            )
