"""Borůvka's rounds and Prim's rest: where the one hands over to the other."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst import Device, PrimBoruvkaOptions, PrimOptions
from clmst.algorithms.prim_boruvka.solve import rounds_for
from tests.algorithms.test_options import many_components
from tests.helpers.forests import assert_same_forest, parallel_edges, solve


@pytest.mark.parametrize(
    ("n", "rounds"),
    [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (16, 2), (17, 3), (256, 3), (257, 4),
     (1 << 16, 4), ((1 << 16) + 1, 5), (1 << 24, 5)],
)  # fmt: skip
def test_rounds_are_those_of_the_paper(n: int, rounds: int) -> None:
    """log2(log2 n), rounded up."""
    assert rounds_for(n) == rounds


def test_rounds_leave_less(any_device: Device) -> None:
    """Each at least halves the vertices that have an edge; no pair is handed over twice."""
    graph = clmst.generate("random", n=3000, seed=3)
    before = solve(graph, any_device, algorithm="boruvka").stats
    left = []
    for rounds in range(before["rounds"] + 2):
        options = PrimBoruvkaOptions(rounds=rounds)
        stats = solve(graph, any_device, options=options).stats
        assert stats["algorithm"] == "prim-boruvka"
        assert stats["rounds"] == min(rounds, before["rounds"])
        assert stats["entries"] <= stats["vertices"] * max(stats["vertices"] - 1, 0)
        left.append(stats["vertices"])
    assert left == [*before["vertices"], 0, 0]


def test_parallel_edges_go_before_prim(any_device: Device) -> None:
    """A lone work-item would look at each of them."""
    graph = parallel_edges(n=60, m=6000)
    options = PrimBoruvkaOptions(rounds=0)
    forest = solve(graph, any_device, options=options)
    assert_same_forest(forest, clmst.kruskal(graph))
    u, v, _, _ = graph.edges()
    assert forest.stats["entries"] == 2 * np.unique(u.astype(np.int64) * graph.n_vertices + v).size


def test_components_that_are_left(any_device: Device) -> None:
    """Those that a round finished are left out; each of the others has a worker."""
    graph = many_components()
    options = PrimBoruvkaOptions(rounds=1, prim=PrimOptions(components="apart"))
    stats = solve(graph, any_device, options=options).stats
    assert 0 < stats["patches"] <= stats["vertices"]
    assert stats["growing_launches"] == 1


def test_phases_of_both(any_device: Device) -> None:
    """A profile tells how long each of the two takes."""
    options = PrimBoruvkaOptions(rounds=1)
    forest = solve(parallel_edges(), any_device, options=options, profile=True)
    assert {"rank edges", "segmented minimum scan", "make rows", "grow trees"} <= {
        *forest.stats["phases"]
    }
