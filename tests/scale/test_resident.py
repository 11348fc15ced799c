"""Forests of generated edges by the public call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.algorithms.edge_stream import generated
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
)
from clmst.runtime.device import Device
from clmst.scale import driver
from clmst.scale.checkpoint import Checkpoint
from tests.scale.edges import KilledError, limit_for_passes

N, M = 300, 40_000
stream = clmst.stream_minimum_spanning_forest


def random_graph(seed: int = 1, dtype: str = "uint32", **changed: Any) -> clmst.GeneratedEdges:
    edges = clmst.GeneratedEdges(
        **{
            "n_vertices": N, "n_edges": M, "u": "h(id * 3u + seed) % 300",
            "v": "h(id * 7u + seed + 1) % 290", "weight": "h(id + seed) % 100",
            "weight_dtype": dtype, "scalars": {"seed": "u4"},
            "preamble": "uint h(uint x) { return ((x ^ x >> 9) * 2654435761u) >> 5; }",
            **changed,
        }
    )  # fmt: skip
    return edges(seed=seed)


def right_forest(edges: clmst.GeneratedEdges, maximum: bool = False) -> clmst.Forest:
    return clmst.kruskal(clmst.Graph.from_edges(*edges.edges(), N), maximum=maximum)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("way", ["one reduction", "reductions", "passes"])
@pytest.mark.filterwarnings("ignore::clmst.StreamedWarning")
def test_forest_is_the_oracles(any_device: Device, dtype: str, maximum: bool, way: str) -> None:
    edges, few = random_graph(dtype=dtype), limit_for_passes(N, 300, dtype)
    limit = {"one reduction": None, "reductions": 260_000, "passes": few}[way]
    found = stream(edges, device=any_device, maximum=maximum, memory_limit=limit)
    right, stats = right_forest(edges, maximum), found.stats
    assert found == right
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)
    assert stats["edges"] == M
    assert (stats["reductions"] > 1) == (way == "reductions")
    assert (stats["passes"] > 1) == (way == "passes")
    if way == "reductions":
        assert stats["edges_filtered"] > M // 2


def test_many_edges_of_few_vertices(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk is never more than a reduction takes, which depends on the vertices."""
    monkeypatch.setattr(generated, "CHUNK", dict.fromkeys(generated.CHUNK, 1 << 26))
    edges = random_graph(n_edges=2_000_000)
    found = stream(edges, device=any_device)
    assert found.n_edges == N - 1
    assert found.stats["reductions"] > 1
    monkeypatch.undo()
    assert stream(edges, device=any_device) == found


def test_graphs_without_edges(any_device: Device) -> None:
    for n, m in ((0, 0), (1, 0), (5, 0), (1, 20)):
        found = stream(random_graph(n_vertices=n, n_edges=m, u="0", v="0"), device=any_device)
        assert (found.n_vertices, found.n_edges) == (n, 0)
    with pytest.raises(InvalidArgumentError, match="3 edges but no vertices"):
        stream(random_graph(n_vertices=0, n_edges=3), device=any_device)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"u": "id == 31234 ? 300 : 5"}, "u of the generated edge 31234 is 300; it must"),
        ({"v": "id == 39999 ? -1 : 5"}, "v of the generated edge 39999 is no number of 32 bits"),
        (
            {"weight": "id == 7 ? NAN : 1.0f", "weight_dtype": "float32"},
            "the weight of the generated edge 7 is NaN",
        ),
    ],
)
def test_faulty_edges_are_named(
    any_device: Device, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    """A call that finds the checkpoint goes on from what came before, to the same error."""
    edges, file = random_graph(**changed), tmp_path / "edges.checkpoint"
    for _ in range(2):
        with pytest.raises(InvalidGraphError, match=message):
            stream(edges, device=any_device, memory_limit=260_000, checkpoint=file)
    saved = Checkpoint.read(file, n_vertices=N, maximum=False)
    n_saved = 0 if saved is None else saved.position.n_edges
    assert (M // 2 < n_saved < M) == ("generated edge 3" in message)


def test_what_edges_have_is_refused() -> None:
    for given in ({"n_vertices": 300}, {"n_edges": M}, {"columns": ("u", "v")}):
        with pytest.raises(InvalidArgumentError, match="generated edges have their own"):
            stream(random_graph(), **given)


def test_a_run_goes_on_from_its_checkpoint(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption at any point: the same forest, and nothing is done twice."""
    monkeypatch.setattr(driver, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(driver, "PACE", 0)
    edges, file = random_graph(), tmp_path / "edges.checkpoint"
    right = right_forest(edges)
    given: dict[str, Any] = {"device": any_device, "memory_limit": 260_000, "checkpoint": file}
    for end in (100, 9000, 30_000):

        def kill(progress: clmst.StreamProgress, end: int = end) -> None:
            if progress.edges >= end:
                raise KilledError

        with pytest.raises(KilledError):
            stream(edges, on_progress=kill, **given)
    found = stream(edges, **given)
    assert found == right
    assert found.stats["resumed_at"] >= 29_000
    again = stream(edges, **given)
    assert again == right
    assert again.stats["resumed_at"] == M
    with pytest.raises(InvalidArgumentError, match="is of another stream"):
        stream(random_graph(seed=2), **given)
