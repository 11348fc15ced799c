"""Streams: the forest of one device, whatever chunks, limits and interruptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, OutOfDeviceMemoryError
from clmst.runtime.device import Device
from clmst.scale.host_reducer import reduce as real_reduce
from tests.scale.edges import Edges, cut, forest_of_edges, limit_for, random_edges

N, M = 80, 4000
EDGES = random_edges(N, M, n_weights=7)


def check(found: clmst.Forest, edges: Edges = EDGES, n: int = N, maximum: bool = False) -> None:
    right = forest_of_edges(edges, n, maximum=maximum)
    assert found == right
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)


def test_a_tenth_of_the_graph(any_device: Device) -> None:
    """The limit is a tenth of what the arrays of the edges take, ids left out."""
    edges = random_edges(200, 200_000, n_weights=1000, dtype="float32")
    limit = (200_000 * (4 + 4 + 4)) // 10
    found = clmst.stream_minimum_spanning_forest(
        cut(edges, 30_000), 200, device=any_device, memory_limit=limit
    )
    check(found, edges, 200)
    assert found.stats["edges_filtered"] > 100_000
    assert found.stats["reductions"] > 1


@pytest.mark.parametrize("n", [0, 3])
def test_no_chunks(any_device: Device, n: int) -> None:
    none: list[Any] = [[], [([], [], [])]]
    for chunks in none:
        found = clmst.stream_minimum_spanning_forest(chunks, n, device=any_device)
        assert (found.n_edges, found.n_components) == (0, n)


# ------------------------------------------------------------------------ bad input


def refuses(chunks: Any, message: str, n: int = 4, **given: Any) -> None:
    with pytest.raises((InvalidGraphError, InvalidArgumentError), match=message):
        clmst.stream_minimum_spanning_forest(chunks, n, **given)


def test_bad_chunks_are_named_with_their_rows() -> None:
    good = ([0, 1], [1, 2], np.array([1.0, 2.0]))
    refuses([good, ([0, 4], [1, 2], np.ones(2))], "^chunk 1: u of row 1 is 4; it must be from 0")
    refuses([good, ([0, 1], [1, -1], np.ones(2))], "^chunk 1: v of row 1 is -1")
    refuses([good, good, ([0], [1], np.array([np.nan]))], r"^chunk 2: the weight of row 0 \(0, 1\)")
    refuses([good, ([0], [1, 2], np.ones(2))], r"^chunk 1: the shapes are u \(1,\), v \(2,\)")
    refuses([good, ([0], [1], np.ones(1, np.float32))], "^chunk 1: weights have dtype float32")
    refuses([good, ([0.5], [1], np.ones(1))], "^chunk 1: u is 1-dimensional of dtype float64")
    refuses([good, 7], "^chunk 1 is 7; it must be")
    refuses([good, (1, 2, 3)], r"^chunk 1: the shapes are u \(\)")
    refuses([(*good, [3, 3])], "^chunk 0: edge id 3 comes before 3")
    refuses([(*good, [1, 2]), ([2], [3], np.array([0.0]), [2])], "two edges have the id 2")
    refuses(5, "chunks is 5; it must be an iterable")
    refuses([good], "n_vertices is missing", n=None)  # type: ignore[arg-type]
    refuses([good], "n_vertices is -1", n=-1)
    refuses([good], "2\\*\\*32 - 2 = 4294967294, in a stream", n=2**32 - 1)
    refuses([good], "memory_limit is 0", memory_limit=0)
    refuses([good], "on_progress is 3", on_progress=3)
    refuses([good], "the stream has 2 edges, not 3", n_edges=3)


def test_an_iterator_that_raises_is_named() -> None:
    def chunks() -> Iterator[Any]:
        yield [0], [1], [5]
        raise OSError("the disk is gone")

    with pytest.raises(InvalidGraphError, match=r"chunk 1 did not come .OSError.*gone") as error:
        clmst.stream_minimum_spanning_forest(chunks(), 3)
    assert isinstance(error.value.__cause__, OSError)


def test_a_limit_below_the_forest(any_device: Device) -> None:
    limit = limit_for(any_device, N, N // 2)
    with pytest.raises(OutOfDeviceMemoryError, match="the memory limit must be greater"):
        clmst.stream_minimum_spanning_forest(
            cut(EDGES, 99), N, device=any_device, memory_limit=limit
        )


def test_parts_are_halved_where_the_device_is_smaller_than_it_says(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []

    def reduce(parts: list[Any], **ways: Any) -> Any:
        if sum(part.size for part in parts) > 700:
            refused.append(parts)
            raise OutOfDeviceMemoryError("no")
        return real_reduce(parts, **ways)

    monkeypatch.setattr("clmst.scale.host_reducer.reduce", reduce)
    check(clmst.stream_minimum_spanning_forest([EDGES], N, device=any_device))
    assert refused
