"""Solvers of points return the forests of fresh solves, and refuse calls for edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Points, RepeatedSolver
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest, solve

N = 1500  # "auto" takes a hierarchy of so many

Array = Any


@pytest.fixture(autouse=True)
def every_device_takes_a_hierarchy_alike() -> Iterator[None]:
    """GPUs do so of 20,000 points and more."""
    with bounds(hierarchy_from=1000):
        yield


def anew(points: Points, device: Device) -> clmst.Forest:
    return clmst.minimum_spanning_forest(points, device=device)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rounds_are_solves_anew(any_device: Device, metric: Any) -> None:
    """Edges, ids and weights, bit for bit; from coordinates, and from points."""
    rng = np.random.default_rng(0)
    coordinates = rng.random((N, 3)) + 0.1
    with RepeatedSolver(Points(coordinates, metric), devices=any_device) as solver:
        for step in (0.0, 1e-6, 2e-6, 1.0):
            points = Points(coordinates + step, metric)
            forest = solver.solve(points.coordinates if step else points)
            assert_same_forest(forest, anew(points, any_device))


@pytest.mark.parametrize(
    ("points", "options"),
    [
        (Points(np.random.default_rng(1).random((N, 2)) * 99, "rounded-euclidean"), {}),
        (Points(np.random.default_rng(2).random((50, 2))), {}),
        (Points(np.random.default_rng(3).random((50, 2))), {"maximum": True}),
        (Points(np.random.default_rng(5).random((50, 2))), {"algorithm": "dense"}),
    ],
    ids=["rounded", "few", "maximum", "dense"],
)
def test_other_points_are_solved_anew(any_device: Device, points: Points, options: Any) -> None:
    with RepeatedSolver(points, devices=any_device, **options) as solver:
        for _ in range(2):
            forest = solver.solve(points.coordinates)
            once = solve(points, any_device, maximum="maximum" in options)
            assert_same_forest(forest, once)


def test_points_with_core_distances(any_device: Device) -> None:
    rng = np.random.default_rng(6)
    rounds = [Points(rng.random((60, 2)), core_distances=rng.random(60)) for _ in range(2)]
    with RepeatedSolver(rounds[0], devices=any_device) as solver:
        for points in rounds:
            assert_same_forest(solver.solve(points), anew(points, any_device))
        with pytest.raises(clmst.InvalidArgumentError, match="with the core distances of these"):
            solver.solve(rounds[1].coordinates)


def test_many_rounds_from_one_array(any_device: Device) -> None:
    """The iterable fills it again while the present round is solved."""
    rng = np.random.default_rng(7)
    coordinates = rng.random((N, 2))
    steps = 1e-4 * rng.normal(size=(4, N, 2))

    def rounds() -> Any:
        buffer = coordinates.copy()
        for step in steps:
            buffer[:] = coordinates + step
            yield buffer

    with RepeatedSolver(Points(coordinates), devices=any_device) as solver:
        found = list(solver.solve_many(rounds()))
    for forest, step in zip(found, steps, strict=True):
        assert_same_forest(forest, anew(Points(coordinates + step), any_device))


def test_a_forest_on_the_device_stays_right(any_device: Device) -> None:
    """Later rounds overwrite the solver's arrays, but not the graph that belongs to the forest."""
    coordinates = np.random.default_rng(8).random((N, 2))
    with RepeatedSolver(Points(coordinates), devices=any_device) as solver:
        kept = solver.solve(coordinates, keep_on_device=True)
        solver.solve(coordinates[::-1] * 0.5)
        solver.solve(coordinates[::-1] * 0.5 + 1e-9)
        right = anew(Points(coordinates), any_device)
        assert_same_forest(kept.to_host(), right)
        assert_same_forest(clmst.minimum_spanning_forest(kept.graph), right)


def test_points_on_a_device_and_proofs(any_device: Device) -> None:
    coordinates = np.random.default_rng(9).random((N, 2))
    with RepeatedSolver(clmst.to_device(Points(coordinates), any_device)) as solver:
        for step in (0, 1, 2):
            forest = solver.solve(coordinates + 1e-7 * step, verify=True, profile=True)
        assert forest.stats["profile"]
        assert forest.stats["proof"]["where"] in ("device", "host")
        assert set(forest.stats["times"]) == {"prepare", "upload", "solve"}
        assert (solver.n_vertices, solver.n_edges) == (N, N * (N - 1) // 2)


def test_a_solver_is_used_again_after_a_failed_round(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinates = np.random.default_rng(10).random((N, 2))
    with RepeatedSolver(Points(coordinates), devices=any_device) as solver:
        solver.solve(coordinates)
        fault = inject(monkeypatch, "kernel", any_device)
        fault.arm(0)
        with pytest.raises(clmst.DeviceError):
            solver.solve(coordinates)
        fault.disarm()
        forest = solver.solve(coordinates)
        assert_same_forest(forest, anew(Points(coordinates), any_device))


WRONG = {
    "other number": (np.zeros((4, 2)), r"have shape \(4, 2\), and the solver was made of points"),
    "weights": (np.zeros(10), r"have shape \(10,\); it must be \(n, d\)"),
    "not finite": ([[0, 0]] * 4 + [[np.nan, 0]], "coordinate 0 of point 4 is NaN"),
    "other metric": (Points(np.zeros((5, 2)), "manhattan"), "points are given by 'manhattan'"),
    "core distances": (Points(np.eye(5, 2), core_distances=np.ones(5)), "with core distances"),
    "words": ("abc", "give points as rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_coordinates_are_refused(any_device: Device, name: str) -> None:
    """And the solver can be used again."""
    given, message = WRONG[name]
    with RepeatedSolver(Points(np.eye(5, 2)), devices=any_device) as solver:
        with pytest.raises(clmst.ClmstError, match=message):
            solver.solve(given)
        assert solver.solve(np.eye(5, 2)).n_edges == 4


def test_what_points_do_not_have_is_refused(any_device: Device) -> None:
    points = Points(np.eye(5, 2))
    solver = RepeatedSolver(points, devices=any_device)
    for call in (
        lambda: solver.update([0], [1.0]),
        lambda: solver.edges,
        lambda: solver.weights_of(np.zeros((5, 5))),
    ):
        with pytest.raises(clmst.InvalidArgumentError, match="the solver is made of points"):
            call()
    solver.close()
    with pytest.raises(clmst.InvalidArgumentError, match="the solver is closed"):
        solver.solve(points)
    with pytest.raises(clmst.InvalidArgumentError, match="only 'dense' solves"):
        RepeatedSolver(points, devices=any_device, algorithm="boruvka")
    with pytest.raises(clmst.InvalidArgumentError, match="2 devices are given for points"):
        RepeatedSolver(points, devices=[any_device, any_device.forcing_off("int64-atomics")])
