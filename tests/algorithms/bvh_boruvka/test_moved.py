"""Points that move: each solve is that of the points where they are, edge for edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka import moved
from clmst.algorithms.bvh_boruvka.moved import MovingPoints, Prepare
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.algorithms.bvh_boruvka.test_solve import clusters
from tests.forests import assert_same_forest

Array = Any


class Rounds:
    """Solves of points that move, each compared with all pairs."""

    def __init__(
        self, device: Device, metric: Any = "euclidean", most_unsure: float | None = 1.0,
        prepare: Prepare | None = None,
    ) -> None:  # fmt: skip
        self.device, self.metric = device, metric
        self.moving = MovingPoints(most_unsure, prepare)

    def solve(self, coordinates: Array) -> Forest:
        """Solve, and return the forest if it is right."""
        points = Points(coordinates, self.metric)
        matrix = DeviceMatrix.upload(points, self.device)
        launch = Launcher(self.device, self.device.queue)
        found = self.moving.solve(matrix, launch).to_host()
        assert_same_forest(found, clmst.kruskal(points.to_graph()))
        return found


def how(forest: Forest) -> str:
    return str(forest.stats["moved"]["how"])


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.1, 10.0])
def test_movements_of_any_size(device: Device, share: float) -> None:
    """Lists are kept whatever has moved: bounds alone make the trees right."""
    rng, rounds = np.random.default_rng(1), Rounds(device)
    coordinates = rng.random((500, 2))
    assert how(rounds.solve(coordinates)) == "anew"
    for _ in range(2):
        step = share * 500**-0.5 * rng.normal(size=(500, 2))
        forest = rounds.solve(coordinates + step)
        assert how(forest) == "lists"
        lengths = np.linalg.norm(step, axis=1)
        assert forest.stats["moved"]["movement"] == pytest.approx(lengths.max())


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_metrics(any_device: Device, metric: Any) -> None:
    rng, rounds = np.random.default_rng(2), Rounds(any_device, metric)
    for step in (0.0, 1e-9, 1e-3, 0.05, 0.5):
        rounds.solve(rng.random((400, 3)) * step + clusters(400, 3, seed=2) + 2)


@pytest.mark.parametrize("d", [1, 10])
def test_other_dimensions(any_device: Device, d: int) -> None:
    rng, rounds = np.random.default_rng(d), Rounds(any_device)
    coordinates = clusters(300, d, seed=d)
    for step in (0.0, 1e-4, 0.1):
        rounds.solve(coordinates + step * rng.normal(size=(300, d)))


@pytest.mark.parametrize("n", [0, 1, 2, 8, 9, 513])
def test_sizes(any_device: Device, n: int) -> None:
    """Lists shorter than seven, and leaves that are not full."""
    rng, rounds = np.random.default_rng(n), Rounds(any_device)
    for step in (0.0, 0.01, 1.0):
        rounds.solve(np.arange(2 * n).reshape(n, 2) % 7 + step * rng.random((n, 2)))


def test_one_point_moves_far(any_device: Device) -> None:
    """Each point in turn becomes the neighbour of others that have not listed it."""
    rng, rounds = np.random.default_rng(3), Rounds(any_device)
    coordinates = rng.random((300, 2))
    rounds.solve(coordinates)
    for point in range(0, 300, 60):
        there = coordinates.copy()
        there[point] = coordinates[(point + 150) % 300] + 1e-6
        assert how(rounds.solve(there)) == "lists"


def test_many_steps_drift_from_the_origins(any_device: Device) -> None:
    """Bounds are relative to where lists were found, not to the step before."""
    rng, rounds = np.random.default_rng(4), Rounds(any_device)
    coordinates = rng.random((300, 2))
    for _ in range(12):
        found = how(rounds.solve(coordinates))
        coordinates += 0.01 * rng.normal(size=(300, 2))
    assert found == "lists"


def test_equal_points_and_equal_distances(any_device: Device) -> None:
    """A lattice, some of whose points move to others: ties go by numbers."""
    rng, rounds = np.random.default_rng(5), Rounds(any_device)
    lattice = rng.integers(0, 12, (400, 2)).astype(np.float64)
    for _ in range(4):
        rounds.solve(lattice)
        chosen = rng.integers(0, 400, 20)
        lattice[chosen] += rng.integers(-1, 2, (20, 2))


def test_far_and_near_points(any_device: Device) -> None:
    """Movements and distances that overflow, and squares that vanish."""
    rng = np.random.default_rng(6)
    huge = rng.choice([-1e308, 1e308, 0.0, 1e200], (120, 2))
    tiny = rng.integers(0, 9, (120, 2)) * 1e-162
    for coordinates in (huge, tiny, np.concatenate([huge, tiny])):
        rounds = Rounds(any_device)
        for _ in range(3):
            rounds.solve(rng.permutation(coordinates, axis=0))
            rounds.solve(0.5 * coordinates)


def test_lists_are_found_again_where_that_is_quicker(any_device: Device) -> None:
    """What moves far each time is tried less and less often; a small movement is seen again."""
    rng, rounds = np.random.default_rng(7), Rounds(any_device, most_unsure=None)
    tried = ["unsure" in rounds.solve(rng.random((300, 2))).stats["moved"] for _ in range(10)]
    assert tried[:3] == [False, True, True]
    assert sum(tried) < 6
    coordinates = rng.random((300, 2))
    found = [how(rounds.solve(coordinates + 1e-6 * k)) for k in range(8)]
    assert found[0] == "anew"
    assert found[-1] == "lists"


def test_bounds_that_are_not_lowered_are_seen(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else these tests would pass whatever bounds are: here no other point is said to move."""
    rng, rounds = np.random.default_rng(1), Rounds(any_device)
    coordinates = rng.random((500, 2))
    rounds.solve(coordinates)
    monkeypatch.setattr(moved, "_farthest", lambda _found, _launch: 0.0)
    coordinates[::2] = rng.random((250, 2))
    with pytest.raises((AssertionError, clmst.DeviceError)):  # another tree, or a cycle
        rounds.solve(coordinates)
