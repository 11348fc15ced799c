"""ECL files: arrays whose lengths the file must prove."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clmst.core.graph import Graph
from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written


def words(*numbers: int) -> bytes:
    return np.array(numbers, np.int64).astype("<u4").tobytes()


PATTERN = words(3, 4, 0, 2, 3, 4, 1, 2, 0, 0)
WEIGHTED = PATTERN + words(5, -7, 5, -7)


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize(
    ("data", "dtype", "edges"),
    [
        (PATTERN, np.uint8, {(0, 1): 1, (0, 2): 1}),
        (WEIGHTED, np.int32, {(0, 1): 5, (0, 2): -7}),
        (words(3, 2, 0, 0, 1, 2, 0, 0, 9, 8), np.int32, {(0, 1): 9, (0, 2): 8}),
    ],
    ids=["no weights", "signed weights", "one direction"],
)
def test_files_are_read(
    tmp_path: Path, data: bytes, dtype: type, edges: dict[Any, int], end: str
) -> None:
    graph = parse(tmp_path, f".egr{end}", gzip.compress(data) if end else data)
    assert weight_by_edge(graph) == edges
    assert graph.weights.dtype == dtype


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"abc", "the file holds 3 bytes; an ECL graph starts with 8"),
        (WEIGHTED[:-1], "the file holds 55 bytes; it must hold 40, or 56 with weights"),
        (WEIGHTED + b"x", "the file holds 57 bytes; it must hold 40, or 56 with weights"),
        (PATTERN + words(1), "the file holds 44 bytes"),
        (words(2**32 - 1, 2**32 - 1, 0, 0), "declares 4294967295 vertices and 4294967295 stored"),
        (words(2**31, 4, 0, 0), "the file holds 16 bytes; it must hold 8589934620"),
        (words(3, 4, 0, 2, 3, 4, 1, 2, 0, 3), "indices[3] is 3 in a graph of 3 vertices"),
        (words(3, 4, 0, 2, 3, 4, 1, 2, 0, -1), "is 4294967295 in a graph of 3 vertices"),
        (words(3, 4, 0, 3, 2, 4, 1, 2, 0, 0), "indptr falls from 3 to 2 at row 1"),
        (words(3, 4, 0, 2, 3, 3, 1, 2, 0, 0), "indptr[-1] is 3 but indices has 4 entries"),
        (words(3, 4, 1, 2, 3, 4, 1, 2, 0, 0), "indptr[0] is 1; it must be 0"),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_bad_files_are_refused(tmp_path: Path, end: str, data: bytes, message: str) -> None:
    refuses(tmp_path, f".egr{end}", gzip.compress(data) if end else data, message)


def test_both_directions_are_written() -> None:
    graph = Graph.from_edges([2, 0, 1], [0, 1, 1], [-7, 5, 3])
    assert written(graph, FORMAT_OF["ecl"]) == WEIGHTED
