"""Candidates of points that move: the tree among them is that of all pairs, edge for edge."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.algorithms.bvh_boruvka import moved
from clmst.repeated.points import solver_of_candidates
from tests.algorithms.bvh_boruvka.test_moved import Rounds, how

Array = Any


def rounds_of(device: Device, n: int, metric: Any = "euclidean") -> Rounds:
    """Return rounds that look for candidates from the second one on."""
    return Rounds(device, metric, prepare=partial(solver_of_candidates, n=n, device=device))


def crowds(rng: np.random.Generator, d: int = 2) -> Array:
    """Return groups of 12 points, whose lists of 7 name no point of another group."""
    return np.repeat(rng.random((30, d)), 12, axis=0) + 1e-3 * rng.random((360, d))


def test_candidates_are_used_on_every_variant(device: Device) -> None:
    rng, rounds = np.random.default_rng(1), rounds_of(device, 400)
    coordinates = rng.random((400, 2))
    found = [rounds.solve(coordinates + 1e-4 * rng.random((400, 2))) for _ in range(4)]
    assert [how(forest) for forest in found] == ["anew", "anew", "candidates", "candidates"]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("step", [1e-9, 1e-6, 1e-5])
def test_crowds_that_move(any_device: Device, metric: Any, step: float) -> None:
    """The edges between groups change, and no list has any of them."""
    rng, rounds = np.random.default_rng(2), rounds_of(any_device, 360, metric)
    coordinates = crowds(rng, 3)
    found = [how(rounds.solve(coordinates + step * rng.normal(size=(360, 3)))) for _ in range(8)]
    assert "candidates" in found


def test_equal_distances(any_device: Device) -> None:
    """Points of a lattice that move along it: ties between candidates and others go by numbers."""
    rng, rounds = np.random.default_rng(3), rounds_of(any_device, 300)
    lattice = 16.0 * rng.integers(0, 15, (300, 2))
    found = [how(rounds.solve(lattice + rng.integers(-1, 2, (300, 2)))) for _ in range(6)]
    assert "candidates" in found


def test_points_that_drift(any_device: Device) -> None:
    """Candidates are found for longer ways where they did not last."""
    rng, rounds = np.random.default_rng(4), rounds_of(any_device, 300)
    coordinates, found = rng.random((300, 2)), []
    for _ in range(16):
        found.append(how(rounds.solve(coordinates)))
        coordinates += 3e-4 * rng.normal(size=(300, 2))
    assert found.count("candidates") >= 8


def test_one_point_moves_far(any_device: Device) -> None:
    """Further than candidates allow: they are not used then."""
    rng, rounds = np.random.default_rng(5), rounds_of(any_device, 300)
    coordinates = rng.random((300, 2))
    for _ in range(3):
        assert how(rounds.solve(coordinates)) in ("anew", "candidates")
    there = coordinates.copy()
    there[7] = there[200] + 1e-6
    assert how(rounds.solve(there)) != "candidates"


@pytest.mark.parametrize("n", [2, 8, 9])
def test_few_points(any_device: Device, n: int) -> None:
    rng, rounds = np.random.default_rng(n), rounds_of(any_device, n)
    for step in (0.0, 1e-3, 1e-3):
        forest = rounds.solve(np.arange(2.0 * n).reshape(n, 2) + step * rng.random((n, 2)))
    assert how(forest) == "candidates"


@pytest.mark.parametrize("extent", [0.0, 1e-320, 1e308])
def test_too_many_candidates(any_device: Device, extent: float) -> None:
    """Equal points are all candidates of each other, and so are points beyond all numbers."""
    rng, rounds = np.random.default_rng(6), rounds_of(any_device, 500)
    for _ in range(3):
        forest = rounds.solve(extent * rng.choice([-1.0, 1.0], (500, 2)))
    assert how(forest) == "lists"


def test_a_margin_that_is_too_small_is_seen(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else these tests would pass whatever the margin is."""
    monkeypatch.setattr(moved, "margin_for", lambda _points, _farthest: 0.0)
    with pytest.raises(AssertionError):
        test_crowds_that_move(any_device, "euclidean", 1e-5)
