"""ECL files: arrays whose lengths the file must prove."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.io import write_graph
from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written


def words(*numbers: int) -> bytes:
    return np.array(numbers, np.int64).astype("<u4").tobytes()


PATTERN = words(3, 4, 0, 2, 3, 4, 1, 2, 0, 0)
WEIGHTED = PATTERN + words(5, -7, 5, -7)


def test_weights_may_be_missing(tmp_path: Path) -> None:
    assert weight_by_edge(parse(tmp_path, ".egr", PATTERN)) == {(0, 1): 1, (0, 2): 1}


@pytest.mark.parametrize("end", ["", ".gz"])
def test_weights_are_signed(tmp_path: Path, end: str) -> None:
    graph = parse(tmp_path, f".egr{end}", gzip.compress(WEIGHTED) if end else WEIGHTED)
    assert graph.weights.dtype == np.int32
    assert graph.is_symmetric
    assert weight_by_edge(graph) == {(0, 1): 5, (0, 2): -7}


def test_one_direction_is_enough(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".egr", words(3, 2, 0, 0, 1, 2, 0, 0, 9, 8))
    assert weight_by_edge(graph) == {(0, 1): 9, (0, 2): 8}


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


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 1], "the weights are float64; those of ECL graphs are integers of 32 bits"),
        ([2**31, 1], "the weights go from 0 to 2147483648"),
        ([-(2**31) - 1, 1], "the weights go from -2147483649 to 1"),
    ],
)
def test_weights_that_are_not_written(tmp_path: Path, weights: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        write_graph(Graph.from_edges([0, 0], [1, 2], weights), tmp_path / "a.egr")


def test_both_directions_are_written() -> None:
    graph = Graph.from_edges([2, 0, 1], [0, 1, 1], [-7, 5, 3])
    assert written(graph, FORMAT_OF["ecl"]) == WEIGHTED
