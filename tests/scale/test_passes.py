"""Forests by passes: where a device has no space for reductions, edges are read once a round."""

from __future__ import annotations

from collections.abc import Iterator
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
from clmst.scale.checkpoint import Checkpoint
from tests.scale.edges import (
    assert_forest,
    cut,
    forest_of_edges,
    limit_for_passes,
    random_edges,
)
from tests.scale.test_resident import N as N_GENERATED
from tests.scale.test_resident import random_graph, right_forest

N, M = 3000, 12_000
EDGES = random_edges(N, M, n_weights=7)
stream = clmst.stream_minimum_spanning_forest


def by_passes(chunks: Any, n: int | None = N, **given: Any) -> clmst.Forest:
    limit = limit_for_passes(N, 1000) if n else None
    told = "once for each round of Borůvka's algorithm, since"
    with pytest.warns(StreamedWarning, match=told) as warned:
        found = stream(chunks, n, **{"memory_limit": limit, **given})
    assert [one.filename for one in warned] == [__file__]
    assert found.stats["passes"] > 1
    assert found.stats["reductions"] == 0
    return found


@pytest.mark.parametrize("size", [1000, M])
@pytest.mark.parametrize("rows", [64, 999])
def test_any_size_of_chunks(any_device: Device, size: int, rows: int) -> None:
    limit = limit_for_passes(N, rows)
    found = by_passes([*cut(EDGES, size)], device=any_device, memory_limit=limit)
    assert_forest(found, EDGES, N)


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


class StopHereError(Exception):
    """The end of a run in a test."""


def stop_in(passes: int) -> Any:
    def on_progress(progress: clmst.StreamProgress) -> None:
        if progress.passes == passes and progress.edges > M // 2:
            raise StopHereError

    return on_progress


@pytest.mark.parametrize("what", ["rows", "generated"])
def test_a_run_goes_on_from_its_checkpoint(any_device: Device, tmp_path: Path, what: str) -> None:
    """An interruption in any pass: the same forest, and no pass is done twice."""
    file = tmp_path / "edges.checkpoint"
    chunks: Any = [*cut(EDGES, 1700)] if what == "rows" else random_graph()
    n = N if what == "rows" else None
    limit = limit_for_passes(N if what == "rows" else N_GENERATED, 300)
    right = forest_of_edges(EDGES, N) if what == "rows" else right_forest(chunks)
    given: dict[str, Any] = {"device": any_device, "memory_limit": limit, "checkpoint": file}
    with pytest.warns(StreamedWarning), pytest.raises(StopHereError):
        stream(chunks, n, on_progress=stop_in(1), **given)
    assert not file.exists()
    with pytest.warns(StreamedWarning), pytest.raises(StopHereError):
        stream(chunks, n, on_progress=stop_in(2), **given)
    with pytest.raises(StopHereError):
        stream(chunks, n, on_progress=stop_in(3), **given)
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
    saved = Checkpoint.read(file, n_vertices=N, maximum=False)
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


def test_faults_are_named(any_device: Device) -> None:
    """By the first pass; also where the edges before the fault were enough to choose passes."""
    u, v, w = (column.copy() for column in EDGES)
    u[9000] = N
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match="u of row 9000 is"):
        stream([(u, v, w)], N, device=any_device, memory_limit=limit_for_passes(N, 500))
    u[9000], w = 0, w.astype(np.float32)
    w[11_999] = np.nan
    chunks: Any = [(u[:9000], v[:9000], w[:9000]), (u[9000:], v[9000:], w[9000:])]
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match=r"^chunk 1: the w"):
        stream(chunks, N, device=any_device, memory_limit=limit_for_passes(N, 500))
    edges = random_graph(v="id == 39999 ? -1 : 5")
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match="edge 39999 is no"):
        stream(edges, device=any_device, memory_limit=limit_for_passes(N_GENERATED, 300))


class Changing:
    """Chunks of which there are fewer each time."""

    def __init__(self, times: int) -> None:
        self.times = times

    def __iter__(self) -> Iterator[Any]:
        self.times -= 1
        yield EDGES
        if self.times > 0:
            yield EDGES


def test_a_stream_that_is_shorter_the_next_time(any_device: Device) -> None:
    with pytest.warns(StreamedWarning), pytest.raises(InvalidGraphError, match="12000 edges in"):
        stream(Changing(3), N, device=any_device, memory_limit=limit_for_passes(N, 500))


class Failing:
    """Chunks whose first readings find the device without memory."""

    def __init__(self, chunks: Any, times: int) -> None:
        self.chunks, self.times = chunks, times

    def __iter__(self) -> Iterator[Any]:
        yield from self.chunks
        self.times -= 1
        if self.times >= 0:
            raise OutOfDeviceMemoryError("the driver has no memory")


def test_a_device_with_less_memory_than_it_says(any_device: Device) -> None:
    """The stream begins again with half the limit, as often as need be."""
    with pytest.warns(StreamedWarning) as warned:
        found = stream(Failing([EDGES], 2), N, device=any_device, memory_limit=1 << 24)
    assert [one.filename for one in warned] == [__file__] * 2
    assert [str(one.message) for one in warned] == [
        f"the stream begins again with a limit of {limit} bytes, since the driver has no memory"
        for limit in (1 << 23, 1 << 22)
    ]
    assert_forest(found, EDGES, N)
    assert found.stats["memory_limit"] == 1 << 22
    with pytest.raises(OutOfDeviceMemoryError, match="the driver has no memory; these chunks can"):
        stream(iter(Failing([EDGES], 1)), N, device=any_device)
