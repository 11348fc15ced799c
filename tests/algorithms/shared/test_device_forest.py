"""What comes to the host of a forest: by one read, by several, or from the host's own graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Graph
from clmst.algorithms.shared import read_back
from clmst.runtime.launcher import Launcher
from tests.forests import assert_same_forest

DTYPES = (np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float32, np.float64)


@pytest.fixture
def copying(any_device: Device) -> Device:
    """Return the device as one with memory of its own."""
    device = Device(any_device.cl_device, _trusted=True)
    device.capabilities = replace(device.capabilities, host_arrays="copied")
    return device


def graph(dtype: type, *, n: int = 301, seed: int = 0, apart: int = 0) -> Graph:
    """Return a graph whose edges stand in no order, so that it keeps the caller's ids.

    The last `apart` vertices have no edges.
    """
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n - apart, (2, 3 * n))
    weights = rng.integers(0, 2, u.size) if dtype is np.bool_ else rng.random(u.size) * 99
    return Graph.from_edges(u, v, weights.astype(dtype), n_vertices=n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_read(copying: Device, monkeypatch: pytest.MonkeyPatch, dtype: type) -> None:
    """All parts come together, whatever the width of weights, and are right.

    The number of edges is not read before; there may be fewer than there could be.
    """
    bounds: list[tuple[bool, int]] = []
    read = read_back.read_packed

    def noted(on: Any, slots: Any, count: Any, bound: int, launch: Launcher) -> Any:
        bounds.append((count is not None, bound))
        return read(on, slots, count, bound, launch)

    monkeypatch.setattr(read_back, "read_packed", noted)
    for given in (graph(dtype), graph(dtype, apart=50)):
        for name in ("ecl", "filter-boruvka"):
            found = clmst.minimum_spanning_forest(given, device=copying, algorithm=name)
            expected = clmst.kruskal(given)
            assert_same_forest(found, expected)
            assert found.weights.dtype == expected.weights.dtype
            assert found.edge_ids.tolist() == expected.edge_ids.tolist()
            kept = clmst.minimum_spanning_forest(
                given, device=copying, algorithm=name, keep_on_device=True
            )
            assert kept.to_host() == found
            assert bounds[-2:] == [(True, given.n_vertices - 1), (False, found.n_edges)]


def test_one_read_and_several_are_the_same(
    copying: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = graph(np.float32, seed=1)
    kept = clmst.minimum_spanning_forest(
        given, device=copying, algorithm="ecl", keep_on_device=True
    )
    at_once = kept.to_host()
    monkeypatch.setattr(read_back, "STAGED_FROM", 1)
    by_parts = kept.to_host()
    assert_same_forest(at_once, by_parts)
    for name in ("edges", "edge_ids", "weights"):
        one, other = getattr(at_once, name), getattr(by_parts, name)
        assert one.dtype == other.dtype
        assert one.flags.writeable == other.flags.writeable


def test_no_edges(copying: Device) -> None:
    """A forest without edges has nothing to read."""
    empty = Graph.from_edges([0, 1], [0, 1], [1.0, 2.0], n_vertices=3)
    assert clmst.minimum_spanning_forest(empty, device=copying, algorithm="ecl").n_edges == 0
