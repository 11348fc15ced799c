"""A graph that does not fit its device is streamed, and that is said once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import OutOfDeviceMemoryError, StreamedWarning
from clmst.runtime.device import Device
from tests.helpers.capabilities import with_capabilities
from tests.scale.edges import forest_of_edges, random_edges

EDGES = random_edges(50, 3000, dtype="float32")


TOO_LARGE = r"a buffer of \d+ bytes is needed; .* allocates at most 4000 in one piece"


def with_memory(device: Device, n_bytes: int) -> Device:
    """Return a device of so much memory, on which no graph of more than 1,000 slots fits."""
    return with_capabilities(
        device, host_arrays="copied", max_allocation=4000, global_memory=n_bytes
    )


@pytest.fixture
def tiny(any_device: Device) -> Device:
    return with_memory(any_device, 1 << 17)


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_the_forest_is_the_same(tiny: Device, maximum: bool) -> None:
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=50)
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    with pytest.warns(
        StreamedWarning, match=f"in parts, since it does not fit: {TOO_LARGE}"
    ) as warned:
        found = solve(graph, device=tiny, verify=True)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert found == forest_of_edges(EDGES, 50, maximum=maximum)
    assert found.stats["algorithm"] == "stream"
    assert found.stats["proof"]["where"] == "host"


def test_a_matrix_keeps_its_ids(tiny: Device) -> None:
    """Edge ids index the data of the matrix. A proof keeps it from the way of small matrices."""
    u, v, w = EDGES
    whole = np.zeros((50, 50), np.float32)
    whole[np.minimum(u, v), np.maximum(u, v)] = w + 3
    sparse = pytest.importorskip("scipy.sparse").csr_array(whole + np.triu(whole, 1).T)
    right = clmst.kruskal(sparse)
    with pytest.warns(StreamedWarning):
        assert clmst.minimum_spanning_forest(sparse, device=tiny, verify=True) == right


def test_what_needs_the_device_says_so(tiny: Device) -> None:
    """Nor is anything else solved than what was asked for."""
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=50)
    others: list[dict[str, Any]] = [
        {"algorithm": "ecl"}, {"keep_on_device": True}, {"profile": True},
    ]  # fmt: skip
    for given in others:
        with pytest.raises(OutOfDeviceMemoryError, match=TOO_LARGE):
            clmst.minimum_spanning_forest(graph, device=tiny, **given)


@pytest.mark.usefixtures("in_steps")
def test_a_small_graph_fails_for_another_reason(any_device: Device) -> None:
    """Memory that others use up is not made more by taking less of a small graph."""
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=50)
    with pytest.raises(OutOfDeviceMemoryError, match=TOO_LARGE):
        clmst.minimum_spanning_forest(graph, device=with_memory(any_device, 1 << 30))


def test_a_graph_that_fits_is_not_streamed(any_device: Device) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = clmst.minimum_spanning_forest(
            clmst.Graph.from_edges(*EDGES, n_vertices=50), device=any_device
        )
    assert found.stats["algorithm"] != "stream"
