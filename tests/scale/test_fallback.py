"""A graph that does not fit its device is streamed, and that is said once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import OutOfDeviceMemoryError, StreamedWarning
from clmst.runtime.device import Device
from clmst.scale import fallback
from tests.scale.edges import forest_of_edges, random_edges

EDGES = random_edges(50, 3000, dtype="float32")


@pytest.fixture
def tiny(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device on which no graph of more than 1,000 slots fits."""
    whole = clmst.DeviceGraph.upload.__func__  # type: ignore[attr-defined]  # a class method

    def upload(cls: Any, graph: Any, *arguments: Any, **named: Any) -> Any:
        if graph.n_slots > 1000:
            raise OutOfDeviceMemoryError("1001 slots; there is space for 1000")
        return whole(cls, graph, *arguments, **named)

    monkeypatch.setattr(clmst.DeviceGraph, "upload", classmethod(upload))
    monkeypatch.setattr(fallback, "LEAST_SHARE", 1e-12)
    return any_device


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_the_forest_is_the_same(tiny: Device, maximum: bool) -> None:
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=50)
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    with pytest.warns(StreamedWarning, match="in parts, since it does not fit: 1001") as warned:
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
        with pytest.raises(OutOfDeviceMemoryError, match="1001 slots"):
            clmst.minimum_spanning_forest(graph, device=tiny, **given)


@pytest.mark.usefixtures("in_steps")
def test_a_small_graph_fails_for_another_reason(
    tiny: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that others use up is not made more by taking less of a small graph."""
    monkeypatch.setattr(fallback, "LEAST_SHARE", 1 / 16)
    graph = clmst.Graph.from_edges(*EDGES, n_vertices=50)
    with pytest.raises(OutOfDeviceMemoryError, match="1001 slots"):
        clmst.minimum_spanning_forest(graph, device=tiny)


def test_a_graph_that_fits_is_not_streamed(any_device: Device) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = clmst.minimum_spanning_forest(
            clmst.Graph.from_edges(*EDGES, n_vertices=50), device=any_device
        )
    assert found.stats["algorithm"] != "stream"


def test_2_32_edges_are_for_streams() -> None:
    from clmst.core.graph_checks import check_size

    with pytest.raises(clmst.InvalidGraphError, match="stream_minimum_spanning_forest any number"):
        check_size(5, 2**32)
