"""What workers do: partitions of frames, tables, mappings and tuples, and ids of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, UnsupportedDeviceError
from clmst.scale.partitions import (
    PartitionForest,
    PartitionJob,
    filter_of,
    finish,
    merge,
    reduce_partition,
)
from tests.scale.edges import forest_of_edges, random_edges

N = 40
EDGES = random_edges(N, 700)
GIVEN: dict[str, Any] = {
    "n_vertices": N, "source": "u", "target": "v", "weight": "w", "edge_id": None, "device": None,
    "memory_limit": None, "maximum": False,
}  # fmt: skip
JOB = PartitionJob.checked(**GIVEN)


def partitions(n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(np.array_split(column, n) for column in EDGES), strict=True))


def solved(parts: list[Any], job: PartitionJob = JOB, group: int = 3) -> clmst.Forest:
    layer = [reduce_partition(part, k, job) for k, part in enumerate(parts)]
    while len(layer) > 1:
        layer = [merge(layer[k : k + group], job) for k in range(0, len(layer), group)]
    return finish(layer[0] if layer else None, job, "here")


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("form", ["tuple", "mapping", "pandas", "arrow"])
def test_every_form_of_partition(form: str, n: int) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    make: Any = {
        "tuple": tuple,
        "mapping": lambda part: dict(zip("uvw", part, strict=True)),
        "pandas": lambda part: pandas.DataFrame(dict(zip("uvw", part, strict=True))),
        "arrow": lambda part: pyarrow.table(dict(zip("uvw", part, strict=True))),
    }[form]
    found = solved([make(part) for part in partitions(n)])
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == n
    assert found.stats["edges"] == EDGES[0].size


def test_empty_partitions_count_no_rows() -> None:
    """An empty frame may have any dtype."""
    parts: list[Any] = list(partitions(3))
    empty: Any = ([], [], np.zeros(0, object))
    assert solved([empty, parts[0], empty, *parts[1:], empty]) == forest_of_edges(EDGES, N)
    assert solved([empty, empty]).n_components == N
    assert solved([]).n_components == N


def test_ids_of_a_column() -> None:
    """Then the order of partitions means nothing."""
    job = replace(JOB, edge_id="id")
    ids = np.arange(EDGES[0].size)
    parts = list(zip(*(np.array_split(column, 5) for column in (*EDGES, ids)), strict=True))
    assert solved(parts[::-1], job) == forest_of_edges(EDGES, N)


def test_no_weights_and_maximum() -> None:
    ones = (*EDGES[:2], np.ones(EDGES[0].size, np.uint8))
    bare = [(u, v) for u, v, _ in partitions(4)]
    assert solved(bare, replace(JOB, weight=None)) == forest_of_edges(ones, N)
    maximum = solved(list(partitions(4)), replace(JOB, maximum=True))
    assert maximum == forest_of_edges(EDGES, N, maximum=True)


def test_a_result_that_is_computed_again_is_the_same() -> None:
    """So an engine may lose any of them."""
    part = partitions(2)[1]
    one, again = (reduce_partition(part, 1, JOB) for _ in range(2))
    np.testing.assert_array_equal(one.part.edge_ids, again.part.edge_ids)
    both: list[PartitionForest] = [one, again]  # even one that is not lost after all
    np.testing.assert_array_equal(merge(both, JOB).part.edge_ids, one.part.edge_ids)


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_a_filter_by_the_first_partition(maximum: bool) -> None:
    """It drops most edges, and none of the forest."""
    job = replace(JOB, maximum=maximum)
    parts = partitions(4)
    first = reduce_partition(parts[0], 0, job)
    known = filter_of(first, job)
    assert known is not None
    others = [reduce_partition(part, k, job, "", known) for k, part in enumerate(parts) if k]
    bare = [reduce_partition(part, k, job) for k, part in enumerate(parts) if k]
    assert sum(one.part.size for one in others) < sum(one.part.size for one in bare)
    right = forest_of_edges(EDGES, N, maximum=maximum)
    assert finish(merge([first, *others], job), job, "here") == right
    assert filter_of(reduce_partition(([0], [1], [1]), 0, job), job) is None


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (([0, N], [1, 2], [3, 4]), "^partition 7: u of row 1 is 40"),
        (([0, 1], [1, 2], [3, np.nan]), r"^partition 7: the weight of row 1 \(1, 2\) is NaN"),
        (([0, 1], [1], [3, 4]), "^partition 7: the shapes are"),
        (([0, 1], [1, 2], [3, 4], [0, 1]), "^partition 7 has 4 arrays and edge_id is None"),
        (5, "^partition 7 has no column 'u'"),
        ({"u": [1], "v": [2]}, "^partition 7 has no column 'w'"),
        ((1,), "^partition 7 is"),
    ],
)
def test_bad_partitions(part: Any, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        reduce_partition(part, 7, JOB)


def test_missing_values_are_no_zeros() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"u": [0, None], "v": [1, 2], "w": [1, 2]})
    with pytest.raises(InvalidGraphError, match="partition 0: 1 values of the column 'u' are miss"):
        reduce_partition(table, 0, JOB)


def test_weights_of_two_dtypes() -> None:
    parts = [([0], [1], np.array([1], dtype)) for dtype in (np.int8, np.int16)]
    with pytest.raises(InvalidGraphError, match=r"partitions 0 and 1: .* int16 after int8"):
        solved(parts)


def test_a_worker_without_a_device_is_named() -> None:
    job = replace(JOB, device="no such device")
    with pytest.raises(UnsupportedDeviceError, match=r"worker tcp://1:2 has no device: .*no such"):
        reduce_partition(partitions(1)[0], 0, job, "tcp://1:2")
    with pytest.raises(UnsupportedDeviceError, match=r"^the worker process \d+ on "):
        reduce_partition(partitions(1)[0], 0, job)


@pytest.mark.parametrize("name", GIVEN)
def test_jobs_are_checked(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{name} is "):
        PartitionJob.checked(**{**GIVEN, name: 0.5})
