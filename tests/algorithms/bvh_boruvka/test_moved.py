"""Points that move: by lists and by candidates, each solve is that of the points where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, Points
from clmst.algorithms.bvh_boruvka.moved import MovingPoints
from clmst.repeated.points import solver_of_candidates
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.forests import assert_same_forest
from tests.kernel_sources import changed
from tests.variants import GPU_SHAPE

Array = Any
Rounds = Callable[[np.random.Generator], Iterator[Array]]


def solve(device: Device, moving: MovingPoints, points: Points) -> Forest:
    """Solve, and return the forest if it is right."""
    matrix = DeviceMatrix.upload(points, device)
    found = moving.solve(matrix, Launcher(device, device.queue)).to_host()
    assert_same_forest(found, clmst.kruskal(points.to_graph()))
    return found


def ways_of(
    device: Device, rounds: Iterable[Array], metric: Any = "euclidean", *, candidates: bool
) -> list[str]:
    """Return how each round was solved; all are right. Lists are kept whatever has moved."""
    moving, found = MovingPoints(1.0), list[str]()
    for coordinates in rounds:
        if candidates and not found:
            prepare = partial(solver_of_candidates, n=len(coordinates), device=device)
            moving = MovingPoints(1.0, prepare)
        found.append(solve(device, moving, Points(coordinates, metric)).stats["moved"]["how"])
    return found


def around(rng: np.random.Generator, at: Array, *steps: float) -> Iterator[Array]:
    """Yield points as far from their places as each step."""
    yield from (at + step * rng.normal(size=at.shape) for step in steps)


def crowds(rng: np.random.Generator, d: int) -> Array:
    """Return groups of 12 points, whose lists of 7 name no point of another group."""
    return np.repeat(rng.random((30, d)), 12, axis=0) + 1e-3 * rng.random((360, d))


def drift(rng: np.random.Generator, step: float, count: int) -> Iterator[Array]:
    coordinates = rng.random((300, 2))
    for _ in range(count):
        yield coordinates
        coordinates = coordinates + step * rng.normal(size=(300, 2))


def one_after_the_other(rng: np.random.Generator) -> Iterator[Array]:
    """Yield points of which each in turn becomes the neighbour of others that do not list it."""
    coordinates = rng.random((300, 2))
    yield from (coordinates, coordinates, coordinates)
    for point in range(0, 300, 60):
        there = coordinates.copy()
        there[point] = coordinates[(point + 150) % 300] + 1e-6
        yield there


def steps_on_a_lattice(rng: np.random.Generator) -> Iterator[Array]:
    lattice = 16.0 * rng.integers(0, 15, (300, 2))
    yield from (lattice + rng.integers(-1, 2, (300, 2)) for _ in range(6))


def on_a_lattice(rng: np.random.Generator) -> Iterator[Array]:
    """Yield points of a lattice, some of which move to others: ties go by numbers."""
    lattice = rng.integers(0, 12, (400, 2)).astype(np.float64)
    for _ in range(4):
        yield lattice
        chosen = rng.integers(0, 400, 20)
        lattice = lattice.copy()
        lattice[chosen] += rng.integers(-1, 2, (20, 2))


def shuffled(rng: np.random.Generator, *coordinates: Array) -> Iterator[Array]:
    together = np.concatenate(coordinates)
    for _ in range(3):
        yield from (rng.permutation(together, axis=0), 0.5 * together)


def huge(rng: np.random.Generator) -> Array:
    """Return points whose movements and distances overflow."""
    return rng.choice([-1e308, 1e308, 0.0, 1e200], (120, 2))


def tiny(rng: np.random.Generator) -> Array:
    """Return points whose squares vanish."""
    return rng.integers(0, 9, (120, 2)) * 1e-162


def equal(extent: float) -> Rounds:
    """Equal points are all candidates of each other, and so are points beyond all numbers."""
    return lambda rng: (extent * rng.choice([-1.0, 1.0], (500, 2)) for _ in range(3))


def crowds_by(step: float) -> Rounds:
    return lambda rng: around(rng, crowds(rng, 3), *[step] * 8)


def of_dimensions(d: int) -> Rounds:
    return lambda rng: around(rng, rng.random((300, d)), 0.0, 1e-4, 0.1)


def few(n: int) -> Rounds:
    places = np.arange(2.0 * n).reshape(n, 2) % 701
    return lambda rng: around(rng, places, 0.0, 1e-3, 1e-3, 1e-3)


def of_any_size(rng: np.random.Generator) -> Iterator[Array]:
    return around(rng, rng.random((400, 3)) + 2, 0.0, 1e-9, 1e-3, 0.05, 0.5)


METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")
# Rounds of points, their metric, and a way that is taken where candidates are looked for.
ROUNDS: dict[str, tuple[Rounds, str, str]] = {
    **{
        f"{metric} crowds by {step}": (crowds_by(step), metric, "candidates")
        for metric in METRICS[:3]
        for step in (1e-9, 1e-6, 1e-5)
    },
    **{metric: (of_any_size, metric, "anew") for metric in METRICS},
    **{f"{d} dimensions": (of_dimensions(d), "euclidean", "anew") for d in (1, 10)},
    **{
        f"{n} points": (few(n), "euclidean", "candidates" if n > 1 else "anew")
        for n in (0, 1, 2, 8, 9, 513)
    },
    **{f"equal times {x}": (equal(x), "euclidean", "lists") for x in (0.0, 1e-320, 1e308)},
    "steps on a lattice": (steps_on_a_lattice, "euclidean", "candidates"),
    "to others on a lattice": (on_a_lattice, "euclidean", "anew"),
    "drift": (lambda rng: drift(rng, 3e-4, 16), "euclidean", "candidates"),
    "far drift": (lambda rng: drift(rng, 0.01, 12), "euclidean", "anew"),
    "one point moves far": (one_after_the_other, "euclidean", "candidates"),
    "huge": (lambda rng: shuffled(rng, huge(rng)), "euclidean", "anew"),
    "tiny": (lambda rng: shuffled(rng, tiny(rng)), "euclidean", "anew"),
    "huge and tiny": (lambda rng: shuffled(rng, huge(rng), tiny(rng)), "euclidean", "anew"),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds(any_device: Device, name: str) -> None:
    make, metric, way = ROUNDS[name]
    found = ways_of(any_device, make(np.random.default_rng(2)), metric, candidates=False)
    assert set(found[1:]) == {"lists"} or name in ("0 points", "1 points")
    found = ways_of(any_device, make(np.random.default_rng(2)), metric, candidates=True)
    assert way in found
    if name == "one point moves far":  # farther than candidates allow
        assert "candidates" not in found[3:]
    if name == "drift":  # candidates are found for longer ways where they did not last
        assert found.count("candidates") >= 8


def test_work_groups_that_are_no_power_of_two(any_device: Device) -> None:
    """The farthest movement is that of all work-items, however often their number is halved."""
    device = any_device.with_policy(replace(GPU_SHAPE, work_group_size=160))
    for candidates in (False, True):
        ways_of(device, one_after_the_other(np.random.default_rng(2)), candidates=candidates)


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.1, 10.0])
def test_every_variant(device: Device, share: float) -> None:
    """Movements of any size by lists, and small ones by candidates."""
    rng, moving = np.random.default_rng(1), MovingPoints(1.0)
    coordinates = rng.random((500, 2))
    solve(device, moving, Points(coordinates))
    for _ in range(2):
        step = share * 500**-0.5 * rng.normal(size=(500, 2))
        told = solve(device, moving, Points(coordinates + step)).stats["moved"]
        assert told["how"] == "lists"
        assert told["movement"] == pytest.approx(np.linalg.norm(step, axis=1).max())
    rounds = (coordinates + 1e-4 * rng.random((500, 2)) for _ in range(4))
    found = ways_of(device, rounds, candidates=True)
    assert found == ["anew", "anew", "candidates", "candidates"]


def test_lists_are_found_again_where_that_is_quicker(any_device: Device) -> None:
    """What moves far each time is tried less and less often; a small movement is seen again."""
    rng, moving = np.random.default_rng(7), MovingPoints()

    def moved_of(coordinates: Array) -> dict[str, Any]:
        told: dict[str, Any] = solve(any_device, moving, Points(coordinates)).stats["moved"]
        return told

    tried = ["unsure" in moved_of(rng.random((300, 2))) for _ in range(10)]
    assert tried[:3] == [False, True, True]
    assert sum(tried) < 6
    coordinates = rng.random((300, 2))
    found = [moved_of(coordinates + 1e-6 * k)["how"] for k in range(8)]
    assert (found[0], found[-1]) == ("anew", "lists")


def half_of_them(rng: np.random.Generator) -> Iterator[Array]:
    coordinates = rng.random((500, 2))
    yield coordinates
    yield np.where(np.arange(500)[:, None] % 2, coordinates, rng.random((500, 2)))


@pytest.mark.parametrize(
    ("old", "new", "make", "candidates"),
    [
        ("own)) + margin", "own))", ROUNDS["euclidean crowds by 1e-05"][0], True),
        ("farthest[get_group_id(0)] = most", "farthest[get_group_id(0)] = 0", half_of_them, False),
    ],
    ids=["candidates", "lists"],
)
def test_bounds_that_are_wrong_are_seen(
    any_device: Device, tmp_path: Path, *, old: str, new: str, make: Any, candidates: bool
) -> None:
    """Else these tests would pass whatever bounds are: here no point is said to move."""
    device = Device(any_device.cl_device, _trusted=True)
    with (
        changed(tmp_path, (old, new)),
        pytest.raises((AssertionError, clmst.DeviceError)),  # another tree, or a cycle
    ):
        ways_of(device, make(np.random.default_rng(2)), candidates=candidates)
