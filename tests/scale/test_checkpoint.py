"""Checkpoints: a killed stream goes on and ends in the same forest; foreign ones are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import (
    ClmstError,
    FileFormatError,
    FileWriteError,
    InvalidArgumentError,
    InvalidGraphError,
)
from clmst.runtime.device import Device
from clmst.scale.checkpoint import Position, StreamState, read_checkpoint, write_checkpoint
from tests.scale.edges import cut, forest_of_edges, limit_for, part_of, random_edges

N, M = 80, 4000
EDGES = random_edges(N, M, n_weights=7)


def stream(device: Device | None, path: Path, chunks: Any = None, **given: Any) -> clmst.Forest:
    if device is not None:
        given = {"memory_limit": limit_for(device, N, 250), **given}
    return clmst.stream_minimum_spanning_forest(
        cut(EDGES, 90) if chunks is None else chunks, N, device=device, checkpoint=path, **given
    )


def test_what_came_before_an_error_is_kept(any_device: Device, tmp_path: Path) -> None:
    path = tmp_path / "stream.ckpt"

    def chunks() -> Iterator[Any]:
        yield from list(cut(EDGES, 100))[:20]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        stream(any_device, path, chunks(), memory_limit=None)
    assert stream(any_device, path).stats["resumed_at"] == 2000


def test_what_came_before_an_error_of_the_progress_function_is_kept(
    any_device: Device, tmp_path: Path
) -> None:
    path = tmp_path / "stream.ckpt"

    def stop(progress: clmst.StreamProgress) -> None:
        if progress.edges >= 2000:
            raise TimeoutError("enough for today")

    with pytest.raises(TimeoutError, match="enough for today"):
        stream(any_device, path, cut(EDGES, 100), memory_limit=None, on_progress=stop)
    assert stream(any_device, path).stats["resumed_at"] >= 2000


def test_a_stream_that_ends_early(any_device: Device, tmp_path: Path) -> None:
    path = tmp_path / "stream.ckpt"
    with pytest.raises(InvalidGraphError, match=rf"has 90 edges, not {M}.* has the forest of th"):
        stream(any_device, path, list(cut(EDGES, 90))[:1], n_edges=M)
    with pytest.raises(InvalidGraphError, match=r"ends after 10 edges, before the 90 of the check"):
        stream(any_device, path, list(cut(EDGES, 10))[:1])
    assert stream(any_device, path, n_edges=M) == forest_of_edges(EDGES, N)


def test_a_checkpoint_of_another_stream(any_device: Device, tmp_path: Path) -> None:
    path = tmp_path / "stream.ckpt"
    stream(any_device, path)
    before = path.read_bytes()
    other = random_edges(N, M, seed=9)
    with pytest.raises(InvalidArgumentError, match="of another stream: the first 4000 edges"):
        stream(any_device, path, [other])
    with pytest.raises(InvalidArgumentError, match="n_vertices = 80, not 81"):
        clmst.stream_minimum_spanning_forest([EDGES], N + 1, checkpoint=path)
    with pytest.raises(InvalidArgumentError, match="maximum = False, not True"):
        clmst.stream_minimum_spanning_forest([EDGES], N, checkpoint=path, maximum=True)
    with pytest.raises(InvalidArgumentError, match="of another stream"):
        stream(any_device, path, [(EDGES[0], EDGES[1], EDGES[2].astype(np.int64))])
    assert path.read_bytes() == before


def small(path: Path) -> StreamState:
    part = part_of(random_edges(5, 4), slice(None), 5)
    one = StreamState(position=Position(n_edges=4), forest=part)
    write_checkpoint(path, one, n_vertices=5, maximum=False)
    return one


def test_damage_is_seen_wherever_it_is(tmp_path: Path) -> None:
    """Cut at every byte, and with every byte changed; else what is written is read."""
    path = tmp_path / "a.ckpt"
    one, whole = small(path), path.read_bytes()
    found = read_checkpoint(path, n_vertices=5, maximum=False)
    assert found is not None
    assert found.forest is not None
    assert one.forest is not None
    assert found.position == one.position
    for column, right in zip(found.forest.columns, one.forest.columns, strict=True):
        np.testing.assert_array_equal(column, right)
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(FileFormatError):
                read_checkpoint(path, n_vertices=5, maximum=False)


def test_another_version(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    small(path)
    magic, header, rest = path.read_bytes().split(b"\n", 2)
    header = json.dumps({**json.loads(header), "version": 3}).encode()
    path.write_bytes(b"\n".join((magic, header, rest)))
    with pytest.raises(FileFormatError, match="has version 3; this clmst reads version 2"):
        read_checkpoint(path, n_vertices=5, maximum=False)


@pytest.mark.parametrize(
    ("path", "message"),
    [("", "cannot be read|is a directory"), ("no/such/folder/x", "cannot be written")],
)
def test_a_place_that_holds_no_file(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(ClmstError, match=message):
        clmst.stream_minimum_spanning_forest([EDGES], N, checkpoint=tmp_path / path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_no_space_for_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    path.symlink_to("/dev/full")
    one = StreamState(forest=part_of(EDGES, slice(None), N))
    with pytest.raises(FileWriteError, match="was not written: No space left"):
        write_checkpoint(path, one, n_vertices=5, maximum=False)
