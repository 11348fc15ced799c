"""What workers do: partitions of frames, tables, mappings and tuples, and ids of their rows."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, UnsupportedDeviceError
from clmst.scale import capacity
from clmst.scale.partition_pieces import lanes_of
from clmst.scale.partitions import (
    PartitionForest,
    PartitionJob,
    finish,
    merge,
    place_of,
    take_partition,
)
from clmst.scale.schedule import LaneStep, in_rounds, rounds
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.scale.edges import forest_of_edges, random_edges

N = 40
EDGES = random_edges(N, 700)
GIVEN: dict[str, Any] = {
    "n_vertices": N, "columns": None, "edge_id": None, "device": None, "memory_limit": None,
    "maximum": False,
}  # fmt: skip
JOB = PartitionJob.checked(**GIVEN)


def at(number: int, to_come: int = 0) -> LaneStep:
    return LaneStep(number=number, to_come=to_come)


def partitions(n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(np.array_split(column, n) for column in EDGES), strict=True))


def solved(parts: list[Any], job: PartitionJob = JOB, lanes: int = 2) -> clmst.Forest:
    """Return the forest of an engine that keeps results as bytes."""
    last = in_rounds(
        parts,
        lanes,
        2,
        take=lambda part, step, before, kept: pickle.dumps(
            take_partition(part, step, job, "", before and pickle.loads(before))
        ),
        merge=lambda ends: pickle.dumps(merge([pickle.loads(end) for end in ends], job)),
        lane_of=lanes_of(parts),
    )
    return finish(last and pickle.loads(last), job, "here")


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
    assert solved(bare) == forest_of_edges(ones, N)
    maximum = solved(list(partitions(4)), replace(JOB, maximum=True))
    assert maximum == forest_of_edges(EDGES, N, maximum=True)


def test_a_result_that_is_computed_again_is_the_same() -> None:
    """So an engine may lose any of them. A step changes nothing of the result before it."""
    parts = partitions(4)
    first = take_partition(parts[0], at(0, to_come=1), JOB)
    (one, again) = (take_partition(parts[1], at(1), JOB, "", first) for _ in range(2))
    np.testing.assert_array_equal(one.forest.edge_ids, again.forest.edge_ids)
    both: list[PartitionForest] = [one, again]  # even one that is not lost after all
    np.testing.assert_array_equal(merge(both, JOB).forest.edge_ids, one.forest.edge_ids)


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_what_a_lane_carries(maximum: bool) -> None:
    """Edges wait until the lane ends, and a filter made once serves the steps after it."""
    job = replace(JOB, maximum=maximum)
    parts = partitions(5)
    waiting = take_partition(parts[0], at(0, to_come=3), job)
    assert waiting.state.forest is None
    assert sum(part.size for part in waiting.state.waiting) > N
    first = take_partition(parts[0], at(0), job)
    second = take_partition(parts[1], at(1, to_come=3), job, "", first)
    third = take_partition(parts[2], at(2, to_come=2), job, "", second)
    assert third.state.forest is first.state.forest
    assert second.state.by_forest is not None
    assert second.state.by_forest is third.state.by_forest
    waiting_edges = sum(part.size for part in third.state.waiting)
    assert waiting_edges < (parts[1][0].size + parts[2][0].size) // 2
    assert {k: both[1] for k, both in third.counts.items()} == {0: 1, 1: 0, 2: 0}


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
@bounds(stream_opens_from=100)
def test_the_device_filters_large_partitions(maximum: bool) -> None:
    """What waits and the forest go from step to step, in ids that need not rise."""
    job = replace(JOB, maximum=maximum)
    parts = partitions(5)
    first = take_partition(parts[4], at(4, to_come=1), job)
    assert first.state.forest is not None
    second = take_partition(parts[0], at(0, to_come=1), job, "", first)
    assert sum(part.size for part in second.state.waiting) < 0.7 * parts[0][0].size
    last = [take_partition(parts[k], at(k), job, "", second if k == 1 else None) for k in (1, 2, 3)]
    found = finish(merge(last, job), job, "here")
    assert found == forest_of_edges(EDGES, N, maximum=maximum)
    np.testing.assert_array_equal(
        found.edge_ids, forest_of_edges(EDGES, N, maximum=maximum).edge_ids
    )


def test_a_smaller_device_reduces_what_waits() -> None:
    """Devices of workers may differ; the one that goes on has space for less."""
    parts = partitions(2)
    first = take_partition(parts[0], at(0, to_come=1), JOB)
    assert sum(part.size for part in first.state.waiting) > 300
    device = clmst.get_device()
    limit = capacity.bytes_of_reduction(device, N, 120, np.dtype(EDGES[2].dtype))
    job = replace(JOB, memory_limit=limit)
    second = take_partition(parts[1], at(1), job, "", first)
    assert finish(merge([second], job), job, "here") == forest_of_edges(EDGES, N)


@pytest.mark.parametrize("outlives", [False, True])
@pytest.mark.parametrize("n_lanes", [1, 2, 5, 100])
@pytest.mark.parametrize("n_parts", [0, 1, 2, 9, 160, 161])
def test_rounds_have_every_partition_once(n_parts: int, n_lanes: int, outlives: bool) -> None:
    found = rounds(n_parts, n_lanes, outlives=outlives)
    numbers = [number for lanes in found for lane in lanes for number in lane]
    assert sorted(numbers) == list(range(n_parts))
    assert len(found) <= 3
    assert all(0 < len(lanes) <= n_lanes for lanes in found)
    for lanes in found:
        assert max(map(len, lanes)) - min(map(len, lanes)) <= 1


def test_the_forest_that_a_round_began_with_is_kept_until_the_next_has_begun() -> None:
    """Else a worker that is lost would take everything with it."""
    begins: dict[int, tuple[Any, Any]] = {}

    def take(_: int, step: LaneStep, before: Any, kept: Any) -> str:
        begins[step.number] = (before, kept)
        return f"step {step.number}"

    last = in_rounds(range(65), 2, 2, take=take, merge=" and ".join)
    assert begins[0] == begins[1] == (None, None)
    assert begins[2] == ("step 0", None)
    assert begins[3] == ("step 1", None)
    assert begins[22] == begins[23] == ("step 20 and step 21", None)
    assert begins[44] == begins[45] == ("step 42 and step 43", "step 20 and step 21")
    assert last == "step 64 and step 63"


def test_rounds_of_a_single_lane_need_no_merge() -> None:
    """There are some if their results outlive the worker; files leave nothing that waits."""
    taken = list[tuple[Any, LaneStep, Any, Any]]()

    def take(*given: Any) -> str:
        taken.append(given)
        return f"round {given[1].round}"

    def merge(forests: Any) -> Any:
        raise AssertionError(f"merged {forests}")

    def lane_of(numbers: Any) -> str:
        return f"files {list(numbers)}"

    how: dict[str, Any] = {"take": take, "merge": merge, "lane_of": lane_of}
    assert in_rounds("a" * 24, 1, 2, **how, outlives=True) == "round 2"
    assert [one[0] for one in taken] == [f"files {list(range(k, k + 8))}" for k in (0, 8, 16)]
    assert [one[2:] for one in taken] == [(None, None), ("round 0", None), ("round 1", "round 0")]
    assert [(one[1].round, one[1].lane) for one in taken] == [(0, 0), (1, 0), (2, 0)]
    taken.clear()
    assert in_rounds("a" * 24, 1, 2, **how) == "round 0"
    assert len(taken) == 1


def test_workers_of_a_host_share_its_processor() -> None:
    for listed in clmst.devices():
        if listed.usable and (device := listed.device).capabilities.kind == "cpu":
            job = replace(JOB, device=device.name)
            assert place_of(job, "tcp://1:2") == place_of(job, "tcp://1:3")
    missing = replace(JOB, device="no such device")
    assert place_of(missing, "tcp://1:2") == "tcp://1:2"


def test_workers_have_gpus_of_their_own() -> None:
    gpu: Any = with_capabilities(clmst.get_device(), kind="gpu")
    assert place_of(replace(JOB, device=gpu), "tcp://1:2") == "tcp://1:2"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (([0, N], [1, 2], [3, 4]), "^partition 7: u of row 1 is 40"),
        (([0, 1], [1, 2], [3, np.nan]), r"^partition 7: the weight of row 1 \(1, 2\) is NaN"),
        (([0, 1], [1], [3, 4]), "^partition 7: the shapes are"),
        (([0, 1], [1, 2], [3, 4], [0, 1]), "^partition 7 has 4 arrays and edge_id is None"),
        (5, "^partition 7 is 5; it must be a data frame"),
        ({"u": [1]}, "^partition 7: the columns are 'u'; source, target and weight must"),
        ((1,), "^partition 7 is"),
    ],
)
def test_bad_partitions(part: Any, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        take_partition(part, at(7), JOB)


@pytest.mark.parametrize("lanes", [1, 3])
def test_files(tmp_path: Path, lanes: int) -> None:
    """Each is a partition, which is read a piece at a time; messages name file and row.

    One of a million rows goes to the device, in two pieces.
    """
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    parts: list[Any] = partitions(19)
    parts[2] = random_edges(N, (1 << 20) + 40)
    paths = [str(tmp_path / f"{k}.parquet") for k in range(19)]
    for path, part in zip(paths, parts, strict=True):
        pandas.DataFrame(dict(zip("uvw", part, strict=True))).to_parquet(path)
    whole: Any = tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))
    found = solved(paths, lanes=lanes)
    assert found == solved(parts, lanes=lanes) == forest_of_edges(whole, N)
    assert found.stats["edges"] == whole[0].size
    bad, row = pandas.read_parquet(paths[2]), (1 << 20) + 30
    bad.loc[row, "u"] = N
    bad.to_parquet(paths[2], row_group_size=1 << 21)
    with pytest.raises(
        InvalidGraphError, match=rf"^partition 2 \(2.parquet\): u of row {row} is {N};"
    ):
        solved(paths, lanes=lanes)


def test_missing_values_are_no_zeros() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"u": [0, None], "v": [1, 2], "w": [1, 2]}).convert_dtypes()
    for one in (frame, pyarrow.Table.from_pandas(frame)):
        with pytest.raises(InvalidGraphError, match="partition 0: row 1 of column 'u' is missing"):
            take_partition(one, at(0), JOB)


def test_weights_of_two_dtypes() -> None:
    parts = [([0], [1], np.array([1], dtype)) for dtype in (np.int8, np.int16)]
    with pytest.raises(InvalidGraphError, match=r"^partition 1: .* int16 after int8"):
        solved(parts, lanes=1)
    with pytest.raises(InvalidGraphError, match=r"^partitions 0 and 1: .* int16 after int8"):
        solved(parts, lanes=2)


def test_a_worker_without_a_device_is_named() -> None:
    job = replace(JOB, device="no such device")
    with pytest.raises(UnsupportedDeviceError, match=r"worker tcp://1:2 has no device: .*no such"):
        take_partition(partitions(1)[0], at(0), job, "tcp://1:2")
    with pytest.raises(UnsupportedDeviceError, match=r"^the worker process \d+ on "):
        take_partition(partitions(1)[0], at(0), job)


@pytest.mark.parametrize("name", GIVEN)
def test_jobs_are_checked(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{name} (is|are) "):
        PartitionJob.checked(**{**GIVEN, name: 0.5})
