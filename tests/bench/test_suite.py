"""The suite over several graphs: what fails is noted, what is done is not done again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clmst import Device, kruskal
from clmst.algorithms import registry
from clmst.bench.inputs import Input
from clmst.bench.peers import Peer
from clmst.bench.results import Results
from clmst.bench.settings import EXPERIMENTS, Settings
from clmst.bench.suite import Suite
from clmst.core.errors import InvalidArgumentError, OutOfDeviceMemoryError
from tests.bench.samples import file_of, graph_of, input_of
from tests.records import registered


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        cache=tmp_path / "cache", repetitions=2, seeds=2, vertices=(64, 128), degrees=(2, 4),
        degree_vertices=64,
    )  # fmt: skip


@pytest.fixture
def graphs(tmp_path: Path) -> list[Input]:
    weight = kruskal(graph_of()).total_weight
    assert isinstance(weight, int)
    files = [file_of(tmp_path / f"{name}.egr") for name in ("one", "two")]
    return [input_of(path, weight) for path in files]


def run(
    device: Device, settings: Settings, graphs: list[Input], results: Results | None = None
) -> tuple[Results, list[str]]:
    reported: list[str] = []
    results = Results() if results is None else results
    Suite(device=device, settings=settings, results=results, tell=reported.append).run(graphs)
    return results, reported


def test_everything_is_measured(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    everything = replace(settings, experiments=EXPERIMENTS, algorithms=("auto", "ecl", "boruvka"))
    results, _ = run(any_device, everything, graphs)
    assert results.failures == []
    counts = {name: len(results.of(name)) for name in EXPERIMENTS}
    # of auto and ecl, which are the same, one; three scopes; nine steps; two sizes of sample
    two = 3  # whatever auto is, it is not ecl or boruvka
    each = 3 * two
    assert counts == {
        "times": 2 * each, "ablation": 2 * 9, "seeds": 2 * 2 * 2, "scaling": 2 * each,
        "degree": 2 * each,
    }  # fmt: skip
    assert all(len(one.seconds) == 2 for one in results.measurements.values())
    assert results.graphs["one"]["known_by"] == "the recorded weight"
    assert results.graphs["random-2e6-d8"]["known_by"] == "Kruskal's algorithm on the host"
    assert results.graphs["random-2e6-d2"]["degree"] == 2


def test_resumed_run_does_only_what_is_missing(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    results, _ = run(any_device, settings, graphs[:1])
    before = dict(results.measurements)
    _, reported = run(any_device, settings, graphs, results)
    assert reported == ["one: times: measured already", "two: loading", "two: times"]
    assert {key: results.measurements[key] for key in before} == before
    assert len(results.measurements) == 2 * len(before)
    _, reported = run(any_device, replace(settings, repetitions=3), graphs[:1], results)
    assert reported == ["one: loading", "one: times"]


def benchmarks(results: Results) -> dict[str, set[str]]:
    """Return the benchmarks that measured each graph."""
    found: dict[str, set[str]] = {}
    for one in results.measurements.values():
        found.setdefault(one.graph, set()).add(one.benchmark)
    return found


def test_resumed_run_times_everyone_by_the_same_turns(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    """Whoever took part before is timed anew beside the newcomer, or they were not comparable."""
    results, _ = run(any_device, settings, graphs[:1])
    earlier = set(results.measurements)
    later = replace(settings, algorithms=("ecl", "boruvka"), transfers=False)
    run(any_device, later, graphs[:1], results)
    assert set(results.measurements) > earlier
    assert next(iter(results.measurements.values())).contestant == "clmst auto"  # ratios' base
    assert {one.contestant for one in results.measurements.values()} == {
        "clmst auto", "clmst ecl", "clmst boruvka",
    }  # fmt: skip
    assert {one.scope for one in results.measurements.values()} == {"solve", "forest", "transfers"}
    assert [len(found) for found in benchmarks(results).values()] == [1]
    seeds = replace(settings, experiments=("seeds",))
    run(any_device, seeds, graphs[1:], results)
    run(any_device, replace(seeds, seeds=1, repetitions=3), graphs[1:], results)
    assert [len(found) for found in benchmarks(results).values()] == [1, 1]


def test_contest_that_was_broken_off_is_not_taken_for_done(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    """A peer's times are kept at once; beside contestants of an earlier run they mean nothing."""
    results, _ = run(any_device, settings, graphs[:1])
    (one, *_) = results.measurements.values()
    results.add([replace(one, contestant="peer", scope="solve", ours=False, benchmark="another")])
    peer = Peer(name="peer", command=("false",))
    _, reported = run(any_device, replace(settings, peers=(peer,)), graphs[:1], results)
    assert reported == ["one: loading", "one: times"]
    assert [len(found) for found in benchmarks(results).values()] == [1]


def test_peer_that_is_not_named_again_is_not_mixed_with_later_turns(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    """Its command is not in the results: nothing is measured, and nothing lost."""
    results, _ = run(any_device, settings, graphs[:1])
    (one, *_) = results.measurements.values()
    results.add([replace(one, contestant="peer", scope="solve", ours=False)])
    before = dict(results.measurements)
    with pytest.raises(
        InvalidArgumentError, match=r"peer 'peer' on one, .*name it with its command"
    ):
        run(any_device, replace(settings, repetitions=3), graphs[:1], results)
    assert results.measurements == before
    _, reported = run(any_device, settings, graphs[:1], results)
    assert reported == ["one: times: measured already"]


def test_device_that_vanishes_loses_nothing(
    any_device: Device, settings: Settings, graphs: list[Input], tmp_path: Path
) -> None:
    """The graph that was done stays; the other is done when the run is resumed."""
    results = Results(path=tmp_path / "r.json")
    run(any_device, settings, graphs[:1], results)

    def vanish(*_: Any, **__: Any) -> Any:
        raise RuntimeError("clFinish failed: DEVICE_LOST")

    with registered(*registry.ALGORITHMS, wrap=lambda _: vanish):
        _, reported = run(any_device, settings, graphs, results)
    assert "two: RuntimeError: clFinish failed: DEVICE_LOST" in reported
    assert results.path is not None
    kept = Results.load(results.path)
    done = {one.graph: one.status for one in kept.measurements.values()}
    assert done == {"one": "ok", "two": "failed"}
    run(any_device, settings, graphs, kept)
    assert kept.failures == []


def too_large() -> Any:
    raise OutOfDeviceMemoryError("a buffer of 9 bytes is needed; it allocates 8")


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"load": too_large}, "a buffer of 9 bytes is needed; it allocates 8"),
        ({"total_weight": 1}, "recorded is 1"),
    ],
)
def test_graph_that_fails_does_not_stop_the_others(
    any_device: Device, settings: Settings, graphs: list[Input], changes: Any, remark: str
) -> None:
    """It does not fit, or has not the weight on record."""
    results, _ = run(any_device, settings, [replace(graphs[0], **changes), graphs[1]])
    failed = {(one.graph, one.scope) for one in results.failures}
    assert failed == {("one", scope) for scope in ("solve", "forest", "transfers")}
    assert all(one.remark.endswith(remark) for one in results.failures)
    assert "one" not in results.graphs
    assert any(one.graph == "two" and one.is_ok for one in results.measurements.values())


def test_impossible_study_is_refused_before_anything_runs(
    any_device: Device, settings: Settings, graphs: list[Input]
) -> None:
    wrong = replace(settings, experiments=("times", "degree"), degrees=(100,))
    results = Results()
    with pytest.raises(InvalidArgumentError, match="degree"):
        run(any_device, wrong, graphs, results)
    assert results.measurements == {}
