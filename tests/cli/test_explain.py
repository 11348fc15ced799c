"""``clmst explain``: the way of a graph, the facts that decide, and the ways passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import route
from clmst.io import read_graph
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood, fed
from tests.helpers.bounds import bounds


def explained(run: Run, *arguments: object) -> dict[str, Any]:
    """Run the command and return the JSON that it prints."""
    result = run("explain", *arguments, "--json")
    assert_fine(result)
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Return a table of 40 points in space."""
    path = tmp_path / "points.csv"
    coordinates = np.random.default_rng(1).random((40, 3))
    np.savetxt(path, coordinates, delimiter=",", header="x,y,z", comments="")
    return path


def test_it_is_the_way_of_the_solve(run: Run, sample: Path) -> None:
    """What is printed is what a forest says of itself afterwards."""
    told = clmst.minimum_spanning_forest(read_graph(sample)).stats["route"]
    answer = explained(run, sample)
    assert answer["route"] == told
    assert answer["facts"]["n_vertices"] == 6


def test_it_is_the_way_of_a_solve_in_steps(run: Run, sample: Path) -> None:
    with bounds(small_slots=0, small_edges=0, slots_on_host=0):
        told = clmst.minimum_spanning_forest(read_graph(sample)).stats["route"]
        answer = explained(run, sample)
        assert answer["route"]["record"] == told["record"] == route.STEPS
        assert answer["route"]["variant"] == told["variant"]


def test_ways_passed_over_have_their_limits(run: Run, sample: Path) -> None:
    with bounds(small_slots=2, small_edges=2, slots_on_host=3):
        passed = explained(run, sample)["passed"]
    reasons = [one["because"] for one in passed]
    assert any("6 > 2 (small_" in one or "4 entries > 3 (host)" in one for one in reasons)
    assert {one["record"] for one in passed} <= {*route.RECORDS, "prim"}


def test_points(run: Run, points: Path) -> None:
    told = clmst.minimum_spanning_forest(clmst.io.read_points(points)).stats["route"]
    answer = explained(run, points, "--points")
    assert answer["route"] == told
    assert (answer["facts"]["n"], answer["facts"]["dimensions"]) == (40, 3)
    two = explained(run, points, "--points", "--columns", "x,z")
    assert two["facts"]["dimensions"] == 2
    maximum = explained(run, points, "--points", "--maximum")
    assert maximum["route"]["record"] == route.ROWS
    assert "maximum" in maximum["passed"][0]["because"]


def test_for_people(run: Run, sample: Path) -> None:
    result = run("explain", sample)
    assert_fine(result)
    for word in ("way", "because", "passed over", str(sample)):
        assert word in result.stdout


def test_stdin_and_refusals(run: Run, sample: Path, tmp_path: Path) -> None:
    result = fed(sample.read_text(), "explain", "-", "--format", "edge-list", "--json")
    assert json.loads(result.stdout)["file"] == "stdin"
    assert_fails(run("explain", tmp_path / "none.gr"), "no such file")
    assert_not_understood(run("explain", sample, "--metric", "none"), "none")


def test_a_solve_in_parts(run: Run, sample: Path, points: Path) -> None:
    answer = explained(run, sample, "--stream")
    assert answer["route"]["record"] == route.REDUCED_ON_HOST
    assert answer["facts"]["n_vertices"] == 6
    short = explained(run, sample, "--memory-limit", "100")
    assert short["route"]["record"] == route.PASSES
    assert short["facts"]["memory_limit"] == 100
    assert_not_understood(run("explain", points, "--points", "--stream"), "--stream")
