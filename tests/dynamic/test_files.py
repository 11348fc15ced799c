"""Files of dynamic forests: what is loaded is what was saved, and damage is noticed."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from clmst import DynamicForest, FileFormatError, InvalidArgumentError, MissingFileError


def saved(path: Path) -> DynamicForest:
    """Save a forest with deleted edges, and return it."""
    rng = np.random.default_rng(3)
    forest = DynamicForest(40, weight_dtype=np.float32)
    u, v = rng.integers(0, 40, (2, 90))
    forest.insert(u, v, rng.integers(0, 9, 90))
    forest.delete(forest.ids[::4])
    forest.save(path)
    return forest


def test_loaded_is_saved(tmp_path: Path) -> None:
    """Edges, ids and forest are the same, and go on in the same way."""
    one = saved(tmp_path / "a.forest")
    other = DynamicForest.load(tmp_path / "a.forest")
    for forest in (one, other):
        forest.insert([0, 1], [39, 38], [0, 0])
        forest.delete(forest.snapshot().edge_ids[:5])
        forest.insert_vertices(2)
    assert one.snapshot() == other.snapshot()
    assert one.ids.tolist() == other.ids.tolist()
    assert [x.tolist() for x in one.edges()] == [x.tolist() for x in other.edges()]
    assert one.next_id == other.next_id == 92
    DynamicForest(0).save(tmp_path / "a.forest")
    assert DynamicForest.load(tmp_path / "a.forest").n_vertices == 0


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    """A file that is cut off, or of which a byte has changed, is not loaded."""
    path = tmp_path / "a.forest"
    saved(path)
    content, rng = path.read_bytes(), np.random.default_rng(4)
    cuts = [content[:size] for size in (0, 5, 21, 40, 200, len(content) - 1)]
    for at, bit in rng.integers(0, (len(content), 8), (200, 2)).tolist():
        cuts += [content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]]
    for damaged in cuts:
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            DynamicForest.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_vertices", 3), ("n_vertices", -1), ("next_id", 5), ("n_edges", 10), ("n_edges", "many"),
     ("dtype", "<f8"), ("dtype", "object"), ("n_forest_edges", 1 << 40), ("next_id", None),
     ("n_edges", 1 << 70), ("n_edges", float("inf")), ("next_id", 1 << 63), ("next_id", "95")],
)  # fmt: skip
def test_contradictions_are_noticed(tmp_path: Path, name: str, value: object) -> None:
    """A header that does not fit the arrays is refused although the checksum is right."""
    path = tmp_path / "a.forest"
    saved(path)
    magic, header, rest = path.read_bytes()[:-4].split(b"\n", 2)
    changed = json.dumps(json.loads(header) | {name: value}).encode()
    content = b"\n".join((magic, changed, rest))
    path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    with pytest.raises(FileFormatError, match="its header and its edges contradict each other"):
        DynamicForest.load(path)


@pytest.mark.parametrize("header", [b"7", b"[1]", b"\xff", b"{}", b"[" * 100_000], ids=range(5))
def test_headers_that_cannot_be_read(tmp_path: Path, header: bytes) -> None:
    """A header that is no table of values is refused, even if reading it ends in a recursion."""
    path = tmp_path / "a.forest"
    saved(path)
    magic, _, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(b"\n".join((magic, header, rest)))
    with pytest.raises(FileFormatError, match="its header cannot be read"):
        DynamicForest.load(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """Each says what is wrong; a newer version is named; a failed save leaves the old file."""
    path = tmp_path / "a.forest"
    with pytest.raises(MissingFileError, match=r"a\.forest"):
        DynamicForest.load(path)
    with pytest.raises(InvalidArgumentError):
        DynamicForest.load(tmp_path)
    with pytest.raises(InvalidArgumentError):
        DynamicForest.load(3)
    forest = saved(path)
    with pytest.raises(InvalidArgumentError):
        forest.save(tmp_path / "no folder" / "a.forest")
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2'))
    with pytest.raises(FileFormatError, match="has version 2; this clmst reads version 1"):
        DynamicForest.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(FileFormatError, match="is not a file of a dynamic forest"):
        DynamicForest.load(path)
