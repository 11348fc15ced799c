"""The benchmark of policies on real devices: fair times, forests checked, refusals survived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import clmst
from clmst import Device, InvalidForestError, KernelBuildError, OutOfDeviceMemoryError, api
from clmst.algorithms import ALGORITHMS, choose
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.bench.harness import WrongResultError
from clmst.runtime.failures import refusal
from clmst.runtime.policy import Policy
from clmst.tune.policy_benchmark import PolicyBenchmark, RefusedError
from tests.variants import GPU_SHAPE, variants

GRAPHS = {
    "grid": clmst.generate("grid", rows=40, columns=50),
    "random": clmst.generate("random", n=500, average_degree=12.0),
}


def benchmark_on(device: Device, algorithm: str = "ecl", repetitions: int = 2) -> PolicyBenchmark:
    benchmark = PolicyBenchmark(device, GRAPHS, algorithm=algorithm, repetitions=repetitions)
    benchmark.establish(device.policy)
    return benchmark


def other(tuned: Policy) -> Policy:
    return replace(tuned, edges_per_item=3, groups_per_compute_unit=5)


PLAIN = {v.name: v.device for v in variants() if "-" not in v.name}
each_implementation = pytest.mark.parametrize("one", PLAIN.values(), ids=PLAIN)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_compares(any_device: Device, algorithm: str) -> None:
    """With buffers of one context, whatever the shape."""
    benchmark = benchmark_on(any_device, algorithm)
    assert benchmark.compare(other(any_device.policy), any_device.policy) > 0


def test_auto_solves_each_graph_as_it_would(any_device: Device) -> None:
    """What nobody gets by default is not what is tuned for those who choose nothing."""
    benchmark = benchmark_on(any_device, "auto")
    resident = [clmst.to_device(graph, any_device) for graph in GRAPHS.values()]
    chosen = [choose("auto", any_device, graph)[0] for graph in resident]
    assert benchmark.algorithms == tuple(dict.fromkeys(chosen))
    assert benchmark.compare(any_device.policy, any_device.policy) > 0


def test_every_shape_has_its_own_kernels(any_device: Device) -> None:
    """What an algorithm keeps with a graph from solve to solve is of one shape only."""
    device = any_device.with_policy(GPU_SHAPE)  # in the shape of a CPU no plan is kept
    benchmark = benchmark_on(device, "filter-boruvka", repetitions=1)
    seen: list[Policy] = []

    class Plans(dict[Any, Any]):
        def __setitem__(self, key: Any, plan: Any) -> None:
            seen.append(plan.device.policy)
            super().__setitem__(key, plan)

    candidate = other(device.policy)
    for policy in (candidate, device.policy):
        benchmark._solve("grid", policy)
        for name, graph in benchmark._shaped[policy].items():
            benchmark._shaped[policy][name] = replace(graph, plans=Plans())
    benchmark.compare(candidate, device.policy)
    assert sorted(seen, key=hash) == sorted([candidate, device.policy] * 2, key=hash)


def test_shapes_as_different_as_can_be(any_device: Device) -> None:
    benchmark = benchmark_on(any_device, repetitions=1)
    assert benchmark.compare(GPU_SHAPE, any_device.policy) > 0
    assert benchmark.compare(any_device.policy, any_device.policy) > 0


def test_times_are_those_of_solves(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean is of ratios, so whatever the graph takes: here they are 4/3 and 3, and it is 2."""
    clock = [0.0]
    real = api.minimum_spanning_forest

    def slowly(graph: Any, **options: Any) -> Any:
        is_other = graph.device.policy != any_device.policy
        pace = 1.0 if not is_other else 4 / 3 if graph.n_vertices == 2000 else 3.0
        clock[0] += pace * graph.n_vertices
        return real(graph, **options)

    benchmark = benchmark_on(any_device, repetitions=5)
    monkeypatch.setattr(api, "minimum_spanning_forest", slowly)
    benchmark.harness = replace(benchmark.harness, clock=lambda: clock[0])
    ratio = benchmark.compare(other(any_device.policy), any_device.policy)
    assert ratio == pytest.approx(2.0)


def test_hopeless_candidate_is_not_timed_to_the_end(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, solves = [0.0], [0]
    real = api.minimum_spanning_forest

    def slowly(graph: Any, **options: Any) -> Any:
        solves[0] += 1
        clock[0] += 9.0 if graph.device.policy != any_device.policy else 1.0
        return real(graph, **options)

    benchmark = benchmark_on(any_device, repetitions=50)
    monkeypatch.setattr(api, "minimum_spanning_forest", slowly)
    benchmark.harness = replace(benchmark.harness, clock=lambda: clock[0])
    assert benchmark.compare(other(any_device.policy), any_device.policy) == pytest.approx(9.0)
    assert solves[0] == 4 * len(GRAPHS)


def test_wrong_forest_is_found(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that is wrong in its last repetition only."""
    benchmark = benchmark_on(any_device, repetitions=2)
    real, solves = api.minimum_spanning_forest, [0]

    def wrongly(graph: Any, **options: Any) -> DeviceForest:
        solves[0] += 1
        forest: DeviceForest = real(graph, **options)
        is_last = solves[0] == 4 * len(GRAPHS)
        return replace(forest, n_edges=forest.n_edges - 1) if is_last else forest

    monkeypatch.setattr(api, "minimum_spanning_forest", wrongly)
    with pytest.raises(WrongResultError, match="another forest of random: 1 edges differ"):
        benchmark.compare(other(any_device.policy), any_device.policy)


def test_first_forest_is_proven(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the shape in place were wrong itself, the right ones would all be called wrong."""
    real = api.minimum_spanning_forest

    def wrongly(graph: Any, **options: Any) -> DeviceForest:
        forest: DeviceForest = real(graph, **options)
        return replace(forest, n_edges=forest.n_edges - 1)

    monkeypatch.setattr(api, "minimum_spanning_forest", wrongly)
    with pytest.raises(InvalidForestError):
        benchmark_on(any_device)


@each_implementation
def test_refusal_leaves_the_benchmark_usable(one: Device) -> None:
    """Kernels that no device has room for, and after them others as before."""
    benchmark = benchmark_on(one)
    huge = replace(GPU_SHAPE, work_group_size=1 << 20, stage_capacity=1 << 24)
    with pytest.raises(RefusedError) as caught:
        benchmark.compare(huge, one.policy)
    assert len(str(caught.value).splitlines()) == 1
    assert benchmark.compare(other(one.policy), one.policy) > 0


def test_lack_of_memory_is_a_refusal(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = benchmark_on(any_device)

    def full(*_: object, **__: object) -> None:
        raise OutOfDeviceMemoryError("a buffer of 9 bytes is needed")

    monkeypatch.setattr(api, "minimum_spanning_forest", full)
    with pytest.raises(RefusedError, match="out of device memory: a buffer of 9 bytes"):
        benchmark.compare(any_device.policy, any_device.policy)


def test_other_errors_are_no_refusals(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug must not pass for a device's limits."""
    benchmark = benchmark_on(any_device)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(api, "minimum_spanning_forest", broken)
    with pytest.raises(ZeroDivisionError):
        benchmark.compare(any_device.policy, any_device.policy)


def test_words_of_refusals() -> None:
    log = "<kernel>:3:1: warning: unused\n<kernel>:7:2: error: too much shared data\n"
    assert refusal(KernelBuildError("ecl[]", "d", log)) == (
        "does not build: <kernel>:7:2: error: too much shared data"
    )
    assert refusal(KernelBuildError("ecl[]", "d", "")) == "does not build"
    assert refusal(ValueError("x")) is None
