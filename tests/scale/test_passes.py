"""Streams that are read once a round, for want of space, and streams of generated edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
    StreamedWarning,
)
from clmst.runtime.device import Device
from clmst.scale.checkpoint import read_checkpoint
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.scale.edges import (
    KilledError,
    Readings,
    assert_forest,
    cut,
    forest_of_edges,
    kill_at,
    limit_for_passes,
    random_edges,
)

N, M = 3000, 12_000
EDGES = random_edges(N, M, n_weights=7)
N_MADE, M_MADE = 300, 40_000  # of generated edges
stream = clmst.stream_minimum_spanning_forest


def random_graph(seed: int = 1, dtype: str = "uint32", **changed: Any) -> clmst.GeneratedEdges:
    edges = clmst.GeneratedEdges(
        **{
            "n_vertices": N_MADE, "n_edges": M_MADE, "u": "h(id * 3u + seed) % 300",
            "v": "h(id * 7u + seed + 1) % 290", "weight": "h(id + seed) % 100",
            "weight_dtype": dtype, "scalars": {"seed": "u4"},
            "preamble": "uint h(uint x) { return ((x ^ x >> 9) * 2654435761u) >> 5; }",
            **changed,
        }
    )  # fmt: skip
    return edges(seed=seed)


def right_forest(edges: clmst.GeneratedEdges, maximum: bool = False) -> clmst.Forest:
    return clmst.kruskal(clmst.Graph.from_edges(*edges.edges(), N_MADE), maximum=maximum)


def by_passes(chunks: Any, n: int | None = N, **given: Any) -> clmst.Forest:
    limit = limit_for_passes(N, 1000) if n else None
    told = "once for each round of Borůvka's algorithm, since"
    with pytest.warns(StreamedWarning, match=told) as warned:
        found = stream(chunks, n, **{"memory_limit": limit, **given})
    assert [one.filename for one in warned] == [__file__]
    assert found.stats["passes"] > 1
    assert found.stats["reductions"] == 0
    return found


@pytest.mark.parametrize("name", ["path", "few"])
def test_few_edges_of_many_vertices(any_device: Device, name: str) -> None:
    """One pass joins all of a path, in which every vertex chooses the next one.

    Where there are vertices without edges, one more pass tells that no component has any.
    """
    path = np.arange(N - 1), np.arange(1, N), np.arange(N - 1)[::-1].astype(np.int32)
    edges = path if name == "path" else random_edges(N, 500, n_weights=90)
    with pytest.warns(StreamedWarning):
        found = stream([edges], N, device=any_device, memory_limit=limit_for_passes(N, 64))
    assert_forest(found, edges, N)
    assert (found.stats["passes"] == 1) == (name == "path")


# --------------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize("what", ["rows", "generated"])
def test_a_run_goes_on_from_its_checkpoint(any_device: Device, tmp_path: Path, what: str) -> None:
    """An interruption in any pass: the same forest, and no pass is done twice."""
    file = tmp_path / "edges.checkpoint"
    chunks: Any = [*cut(EDGES, 1700)] if what == "rows" else random_graph()
    n = N if what == "rows" else None
    limit = limit_for_passes(N if what == "rows" else N_MADE, 300)
    right = forest_of_edges(EDGES, N) if what == "rows" else right_forest(chunks)
    given: dict[str, Any] = {"device": any_device, "memory_limit": limit, "checkpoint": file}
    with pytest.warns(StreamedWarning), pytest.raises(KilledError):
        stream(chunks, n, on_progress=kill_at(M // 2 + 1, 1), **given)
    assert not file.exists()
    with pytest.warns(StreamedWarning), pytest.raises(KilledError):
        stream(chunks, n, on_progress=kill_at(M // 2 + 1, 2), **given)
    with pytest.raises(KilledError):
        stream(chunks, n, on_progress=kill_at(M // 2 + 1, 3), **given)
    found = stream(chunks, n, **given)
    assert found == right
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)
    assert found.stats["resumed_at"] == 2 * found.stats["edges"]
    again = stream(chunks, n, **{**given, "memory_limit": None})  # it goes on by passes
    assert again == right
    assert again.stats["passes"] == found.stats["passes"] + 1
    other: Any = [*cut(random_edges(N, M, seed=5), 1700)] if n else random_graph(seed=2)
    with pytest.raises(InvalidArgumentError, match="is of another stream"):
        stream(other, n, **given)


def test_a_checkpoint_of_one_reading_is_left_behind(any_device: Device, tmp_path: Path) -> None:
    """Its forest is of a part of the stream, which tells nothing for certain."""
    u, v, w = EDGES
    file = tmp_path / "edges.checkpoint"
    with pytest.raises(InvalidGraphError):
        stream([(u, v, w), ([0], [N], w[:1])], N, device=any_device, checkpoint=file)
    saved = read_checkpoint(file, n_vertices=N, maximum=False)
    assert saved is not None
    assert (saved.position.n_edges, saved.passes) == (M, 0)
    more = [EDGES, random_edges(N, M, seed=4)]
    found = by_passes(more, device=any_device, checkpoint=file)
    both: Any = tuple(np.concatenate(columns) for columns in zip(*more, strict=True))
    assert_forest(found, both, N)


# ----------------------------------------------------------------------------- bad input


def test_an_iterator_cannot_be_read_again(any_device: Device) -> None:
    with pytest.raises(OutOfDeviceMemoryError, match="these chunks can be read once; a list of"):
        stream(cut(EDGES, 1700), N, device=any_device, memory_limit=limit_for_passes(N, 500))


def test_too_small_a_limit_for_the_vertices(any_device: Device) -> None:
    limit = limit_for_passes(N, 63)
    with pytest.raises(OutOfDeviceMemoryError, match=f"{limit} bytes .* too few for 3000 vertices"):
        stream([EDGES], N, device=any_device, memory_limit=limit)


def test_a_stream_that_is_shorter_the_next_time(any_device: Device) -> None:
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match="12000 edges in"):
        stream(
            Readings([EDGES] * 2, [EDGES] * 2, [EDGES]),
            N,
            device=any_device,
            memory_limit=limit_for_passes(N, 500),
        )


def test_a_device_with_less_memory_than_it_says(any_device: Device) -> None:
    """The stream begins again with half the limit, as often as need be."""
    failing = [EDGES, OutOfDeviceMemoryError("the driver has no memory")]
    with pytest.warns(StreamedWarning) as warned:
        found = stream(
            Readings(failing, failing, [EDGES]), N, device=any_device, memory_limit=1 << 24
        )
    assert [one.filename for one in warned] == [__file__] * 2
    assert [str(one.message) for one in warned] == [
        f"the stream begins again with a limit of {limit} bytes, since the driver has no memory"
        for limit in (1 << 23, 1 << 22)
    ]
    assert_forest(found, EDGES, N)
    assert found.stats["memory_limit"] == 1 << 22
    with pytest.raises(OutOfDeviceMemoryError, match="the driver has no memory; these chunks can"):
        stream(iter(Readings(failing)), N, device=any_device)


# --------------------------------------------------------------------- generated edges


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("way", ["one reduction", "reductions", "passes"])
@pytest.mark.filterwarnings("ignore::clmst.StreamedWarning")
def test_forest_is_the_oracles(any_device: Device, dtype: str, maximum: bool, way: str) -> None:
    edges, few = random_graph(dtype=dtype), limit_for_passes(N_MADE, 300, dtype)
    limit = {"one reduction": None, "reductions": 260_000, "passes": few}[way]
    found = stream(edges, device=any_device, maximum=maximum, memory_limit=limit)
    right, stats = right_forest(edges, maximum), found.stats
    assert found == right
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)
    assert stats["edges"] == M_MADE
    assert stats["edges_on_device"] == M_MADE * stats["passes"]  # the last chunk is not larger
    assert (stats["reductions"] > 1) == (way == "reductions")
    assert (stats["passes"] > 1) == (way == "passes")
    if way == "reductions":
        assert stats["edges_filtered"] > M_MADE // 2


def test_many_edges_of_few_vertices(any_device: Device) -> None:
    """Not even a GPU's chunk is more than a reduction takes, which depends on the vertices."""
    edges = random_graph(n_edges=2_000_000)
    found = stream(edges, device=with_capabilities(any_device, kind="gpu"))
    assert found.n_edges == N_MADE - 1
    assert found.stats["reductions"] > 1
    assert stream(edges, device=with_capabilities(any_device, kind="cpu")) == found


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
    """A call with the checkpoint continues after the earlier edges, and raises the same error."""
    edges, file = random_graph(**changed), tmp_path / "edges.checkpoint"
    few = limit_for_passes(N_MADE, 300, str(edges.weight_dtype))
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match=message):
        stream(edges, device=any_device, memory_limit=few)
    for _ in range(2):
        with pytest.raises(InvalidGraphError, match=message):
            stream(edges, device=any_device, memory_limit=260_000, checkpoint=file)
    saved = read_checkpoint(file, n_vertices=N_MADE, maximum=False)
    n_saved = 0 if saved is None else saved.position.n_edges
    assert (M_MADE // 2 < n_saved < M_MADE) == ("generated edge 3" in message)


def test_what_edges_have_is_refused() -> None:
    for given in ({"n_vertices": 300}, {"n_edges": M_MADE}, {"columns": ("u", "v")}):
        with pytest.raises(InvalidArgumentError, match="generated edges have their own"):
            stream(random_graph(), **given)


@bounds(checkpoint_seconds=0.0, checkpoint_pace=0)
def test_a_run_of_reductions_goes_on(any_device: Device, tmp_path: Path) -> None:
    """An interruption at any point: the same forest, and nothing is done twice."""
    edges, file = random_graph(), tmp_path / "edges.checkpoint"
    right = right_forest(edges)
    given: dict[str, Any] = {"device": any_device, "memory_limit": 260_000, "checkpoint": file}
    for end in (100, 9000, 30_000):
        with pytest.raises(KilledError):
            stream(edges, on_progress=kill_at(end), **given)
    found = stream(edges, **given)
    assert found == right
    assert found.stats["resumed_at"] >= 29_000
    again = stream(edges, **given)
    assert again == right
    assert again.stats["resumed_at"] == M_MADE
    with pytest.raises(InvalidArgumentError, match="is of another stream"):
        stream(random_graph(seed=2), **given)
