"""Minimum spanning trees of points that move around fixed places.

    python -m benchmarks.moving_points solver 2e5,2 2e5,3 [--device NAME]
    python -m benchmarks.moving_points lists 2e5,2 2e5,3

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
from benchmarks.options import Experiments, device_option, repetitions_option
from benchmarks.points import Sample, endpoints_of, samples_argument
from clmst import Device, Points
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.moved import MovingPoints
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.bench.harness import CLOCKS, Contestant, Harness
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher


@click.group(cls=Experiments)
def main() -> None:
    """Time spanning trees of points that move."""


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

    def ways(self, rounds: int) -> str:
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


clock_option = click.option(
    "--clock", type=click.Choice(list(CLOCKS)), default="wall", show_default=True
)


def shares_option(*shares: float) -> Callable[[Any], Any]:
    """Return the option that says how far points move."""
    return click.option(
        "--share", "shares", type=float, multiple=True, default=shares, show_default=True,
        help="Standard deviation of a coordinate, in mean spacings.",
    )  # fmt: skip


@main.command()
@samples_argument
@device_option
@repetitions_option
@clock_option
@shares_option(0, 0.001, 0.003, 0.01, 0.03, 0.1, 1)
def solver(
    samples: tuple[Sample, ...], device: str | None, repetitions: int, clock: str,
    shares: tuple[float, ...],
) -> None:  # fmt: skip
    """Time a solver of points that move, beside a solve anew, from arrays to arrays."""
    found = clmst.get_device(device)
    click.echo(f"{found.description}, clmst {clmst.__version__}\n")
    click.echo(
        "| points | dimensions | kind | movement | anew, ms | solver, ms | ratio | how "
        "| candidates a point |"
    )
    click.echo("|---|---|---|---|---|---|---|---|---|")
    for sample in samples:
        for share in shares:
            jitter = MovedPoints(sample, share, found)
            every = [
                Contestant(name="anew", call=jitter.anew, before=jitter.step),
                Contestant(
                    name="solver",
                    call=jitter.moved,
                    difference=jitter.difference,
                    before=jitter.step,
                ),
            ]
            harness = Harness(
                repetitions=repetitions, warm_ups=8, verification="ends", clock=CLOCKS[clock]
            )
            anew, moved = harness.run(every)
            ratio = median(b / a for a, b in zip(anew.seconds, moved.seconds, strict=True))
            click.echo(
                f"| {sample} | {share:g} | {1e3 * anew.median:.1f} | {1e3 * moved.median:.1f} "
                f"| {ratio:.2f} | {jitter.ways(repetitions)} "
                f"| {jitter.candidates(repetitions):.1f} |"
            )


@main.command()
@samples_argument
@device_option
@repetitions_option
@clock_option
@shares_option(0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2)
def lists(
    samples: tuple[Sample, ...], device: str | None, repetitions: int, clock: str,
    shares: tuple[float, ...],
) -> None:  # fmt: skip
    """Time solves by lists that are kept, beside solves anew, of points on a device."""
    found = clmst.get_device(device)
    click.echo(f"{found.description}, clmst {clmst.__version__}\n")
    click.echo(
        "| points | dimensions | kind | movement | anew, ms | lists, ms | ratio | unsure "
        "| searches a point |"
    )
    click.echo("|---|---|---|---|---|---|---|---|---|")
    for sample in samples:
        for share in shares:
            kept = KeptLists(sample, share, found)
            every = [
                Contestant(name="anew", call=kept.anew, before=kept.step),
                Contestant(
                    name="lists", call=kept.by_lists, difference=kept.difference, before=kept.step
                ),
            ]
            harness = Harness(
                repetitions=repetitions, warm_ups=1, verification="ends", clock=CLOCKS[clock]
            )
            anew, by_lists = harness.run(every)
            stats = kept.forest.stats
            ratio = median(b / a for a, b in zip(anew.seconds, by_lists.seconds, strict=True))
            click.echo(
                f"| {sample} | {share:g} | {1e3 * anew.median:.1f} | {1e3 * by_lists.median:.1f} "
                f"| {ratio:.2f} | {stats['moved']['unsure']:.5f} "
                f"| {sum(stats['searches']) / sample.n:.4f} |"
            )


if __name__ == "__main__":
    main()
