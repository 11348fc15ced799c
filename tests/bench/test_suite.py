"""The suite over several graphs: what fails is noted, what is done is not done again."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from tests.helpers.records import registered


@dataclass(frozen=True, slots=True)
class RunOf:
    """A suite of small settings over two graphs."""

    device: Device
    settings: Settings
    graphs: list[Input]

    def __call__(
        self, graphs: list[Input], results: Results | None = None, **changed: Any
    ) -> tuple[Results, list[str]]:
        """Return the results of a run under settings that may be changed, and what it reported."""
        reported: list[str] = []
        results = Results() if results is None else results
        settings = replace(self.settings, **changed)
        suite = Suite(device=self.device, settings=settings, results=results, tell=reported.append)
        suite.run(graphs)
        return results, reported


@pytest.fixture
def suite(any_device: Device, tmp_path: Path) -> RunOf:
    settings = Settings(
        cache=tmp_path / "cache", repetitions=2, seeds=2, vertices=(64, 128), degrees=(2, 4),
        degree_vertices=64,
    )  # fmt: skip
    weight = kruskal(graph_of()).total_weight
    assert isinstance(weight, int)
    files = [file_of(tmp_path / f"{name}.egr") for name in ("one", "two")]
    return RunOf(any_device, settings, [input_of(path, weight) for path in files])


def test_everything_is_measured(suite: RunOf) -> None:
    named = ("auto", "ecl", "boruvka")
    results, _ = suite(suite.graphs, experiments=EXPERIMENTS, algorithms=named)
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


def test_resumed_run_does_only_what_is_missing(suite: RunOf) -> None:
    results, _ = suite(suite.graphs[:1])
    before = dict(results.measurements)
    _, reported = suite(suite.graphs, results)
    assert reported == ["one: times: measured already", "two: loading", "two: times"]
    assert {key: results.measurements[key] for key in before} == before
    assert len(results.measurements) == 2 * len(before)
    _, reported = suite(suite.graphs[:1], results, repetitions=3)
    assert reported == ["one: loading", "one: times"]


def benchmarks(results: Results) -> dict[str, set[str]]:
    """Return the benchmarks that measured each graph."""
    found: dict[str, set[str]] = {}
    for one in results.measurements.values():
        found.setdefault(one.graph, set()).add(one.benchmark)
    return found


def test_resumed_run_times_everyone_by_the_same_turns(suite: RunOf) -> None:
    """Whoever took part before is timed anew beside the newcomer, or they were not comparable."""
    results, _ = suite(suite.graphs[:1])
    earlier = set(results.measurements)
    suite(suite.graphs[:1], results, algorithms=("ecl", "boruvka"), transfers=False)
    assert set(results.measurements) > earlier
    assert next(iter(results.measurements.values())).contestant == "clmst auto"  # ratios' base
    assert {one.contestant for one in results.measurements.values()} == {
        "clmst auto", "clmst ecl", "clmst boruvka",
    }  # fmt: skip
    assert {one.scope for one in results.measurements.values()} == {"solve", "forest", "transfers"}
    assert [len(found) for found in benchmarks(results).values()] == [1]
    for more in ({}, {"seeds": 1, "repetitions": 3}):
        suite(suite.graphs[1:], results, experiments=("seeds",), **more)
    assert [len(found) for found in benchmarks(results).values()] == [1, 1]


def test_contest_that_was_broken_off_is_not_taken_for_done(suite: RunOf) -> None:
    """A peer's times are kept at once; beside contestants of an earlier run they mean nothing."""
    results, _ = suite(suite.graphs[:1])
    (one, *_) = results.measurements.values()
    results.add([replace(one, contestant="peer", scope="solve", ours=False, benchmark="another")])
    peer = Peer(name="peer", command=("false",))
    _, reported = suite(suite.graphs[:1], results, peers=(peer,))
    assert reported == ["one: loading", "one: times"]
    assert [len(found) for found in benchmarks(results).values()] == [1]


def test_peer_that_is_not_named_again_is_not_mixed_with_later_turns(suite: RunOf) -> None:
    """Its command is not in the results: nothing is measured, and nothing lost."""
    results, _ = suite(suite.graphs[:1])
    (one, *_) = results.measurements.values()
    results.add([replace(one, contestant="peer", scope="solve", ours=False)])
    before = dict(results.measurements)
    with pytest.raises(
        InvalidArgumentError, match=r"peer 'peer' on one, .*give the peer with its command"
    ):
        suite(suite.graphs[:1], results, repetitions=3)
    assert results.measurements == before
    _, reported = suite(suite.graphs[:1], results)
    assert reported == ["one: times: measured already"]


def test_device_that_vanishes_loses_nothing(suite: RunOf, tmp_path: Path) -> None:
    """The graph that was done stays; the other is done when the run is resumed."""
    results = Results(path=tmp_path / "r.json")
    suite(suite.graphs[:1], results)

    def vanish(*_: Any, **__: Any) -> Any:
        raise RuntimeError("clFinish failed: DEVICE_LOST")

    with registered(*registry.ALGORITHMS, wrap=lambda _: vanish):
        _, reported = suite(suite.graphs, results)
    assert "two: RuntimeError: clFinish failed: DEVICE_LOST" in reported
    assert results.path is not None
    kept = Results.load(results.path)
    done = {one.graph: one.status for one in kept.measurements.values()}
    assert done == {"one": "ok", "two": "failed"}
    suite(suite.graphs, kept)
    assert kept.failures == []


def too_large() -> Any:
    raise OutOfDeviceMemoryError("a buffer of 9 bytes is needed; it allocates 8")


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"load": too_large}, "a buffer of 9 bytes is needed; it allocates 8"),
        ({"total_weight": 1}, "recorded weight is 1"),
    ],
)
def test_graph_that_fails_does_not_stop_the_others(suite: RunOf, changes: Any, remark: str) -> None:
    """It does not fit, or has not the weight on record."""
    one, other = suite.graphs
    results, _ = suite([replace(one, **changes), other])
    failed = {(one.graph, one.scope) for one in results.failures}
    assert failed == {("one", scope) for scope in ("solve", "forest", "transfers")}
    assert all(one.remark.endswith(remark) for one in results.failures)
    assert "one" not in results.graphs
    assert any(one.graph == "two" and one.is_ok for one in results.measurements.values())


def test_impossible_study_is_refused_before_anything_runs(suite: RunOf) -> None:
    results = Results()
    with pytest.raises(InvalidArgumentError, match="degree"):
        suite(suite.graphs, results, experiments=("times", "degree"), degrees=(100,))
    assert results.measurements == {}
