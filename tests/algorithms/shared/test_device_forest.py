"""What comes to the host of a forest: by one read, by several, or from the host's own graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Graph
from clmst.runtime.transfer import Staging, StagingShape
from tests.faults.injection import inject
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest, random_graph

DTYPES = (np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float32, np.float64)


@pytest.fixture
def copying(any_device: Device) -> Device:
    """Return the device as one with memory of its own."""
    return with_capabilities(any_device, host_arrays="copied")


def graph(dtype: type, *, apart: int = 0) -> Graph:
    """Return a graph whose edges stand in no order, so that it keeps the caller's ids."""
    return random_graph(301 - apart, 903, np.linspace(0, 99, 400).astype(dtype), apart=apart)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_read(copying: Device, monkeypatch: pytest.MonkeyPatch, dtype: type) -> None:
    """All parts come together, whatever the width of weights, and are right.

    The number of edges is not read before; there may be fewer than there could be.
    """
    copies = inject(monkeypatch, "copy")
    for given in (graph(dtype), graph(dtype, apart=50)):
        for name in ("ecl", "filter-boruvka"):
            how: dict[str, Any] = {"device": copying, "algorithm": name}
            kept = clmst.minimum_spanning_forest(given, **how, keep_on_device=True)
            before = copies.count
            found = kept.to_host()
            assert copies.count == before + 1
            assert found == clmst.minimum_spanning_forest(given, **how)
            assert_same_forest(found, clmst.kruskal(given))
            counts = []
            for keep in (False, True):  # which reads the number of edges
                before = copies.count
                clmst.minimum_spanning_forest(given, **how, keep_on_device=keep)
                counts.append(copies.count - before)
            # One launch tells how it ended with the forest, or before by one more read.
            assert counts[0] == counts[1] - (found.stats.get("launches_as") == "resident")


def test_one_read_and_several_are_the_same(copying: Device) -> None:
    how: dict[str, Any] = {"algorithm": "ecl", "keep_on_device": True}
    kept = clmst.minimum_spanning_forest(graph(np.float32), device=copying, **how)
    at_once = kept.to_host()
    copying.staging = Staging(copying.queue, shape=StagingShape(from_bytes=1))
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
