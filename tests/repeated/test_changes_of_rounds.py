"""Rounds that start from the forest of the round before: the oracle's forests, whatever changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceArray, InvalidGraphError, OutOfDeviceMemoryError, RepeatedSolver
from clmst.algorithms.changes import last_forest
from clmst.route import takes_rounds_alone
from tests.helpers.bounds import bounds
from tests.repeated.rounds import check, every_device, in_canonical_order, random_graph

on_every_device = pytest.mark.parametrize("variant", every_device())


def new_weights(rng: np.random.Generator, count: int, dtype: str, distinct: int) -> Any:
    """Return weights with many ties if `distinct` is small, infinite ones among floats."""
    weights = rng.integers(0, distinct, count).astype(dtype)
    if weights.dtype.kind == "f":
        weights[rng.random(count) < 0.02] = np.inf
    return weights


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "steps between"])
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "f8"])
@on_every_device
def test_few_changes(variant: Device, dtype: str, maximum: bool, alone: bool) -> None:
    """Rounds with one, few and many changes in turn, by solve and by update."""
    rng = np.random.default_rng(1)
    seen = set()
    with ExitStack() as stack:
        if not alone:
            stack.enter_context(bounds(round_alone=0))
        for m, distinct, in_order in ((330, 4, True), (1500, 100, False), (4000, 100, True)):
            graph = random_graph(m=m, seed=m)
            graph = in_canonical_order(graph) if in_order else graph
            with closing(RepeatedSolver(graph, devices=variant, maximum=maximum)) as solver:
                weights = new_weights(rng, solver.n_edges, dtype, distinct)
                check(solver, weights)
                for number in range(12):
                    count = (0, 1, 2, 15, 40, solver.n_edges)[number % 6]
                    ids = rng.integers(0, solver.n_edges, count)
                    new = new_weights(rng, count, dtype, distinct)
                    weights = weights.copy()
                    weights[ids] = new
                    by_update = number % 2 == 0
                    forest = solver.update(ids, new) if by_update else solver.solve(weights)
                    check(solver, weights, forest)
                    seen.add("changes" in forest.stats)
    assert seen == ({True, False} if takes_rounds_alone(1, variant.facts) else {False})


@on_every_device
def test_rounds_of_other_kinds_between(variant: Device) -> None:
    """A forest that was kept on the device or proved is what the next round starts from."""
    rng = np.random.default_rng(2)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        weights = rng.random(solver.n_edges)
        every: list[dict[str, Any]] = [
            {"keep_on_device": True}, {"verify": True}, {"profile": True}, {},
        ]  # fmt: skip
        for options in every:
            for _ in range(2):
                weights = weights.copy()
                weights[rng.integers(0, solver.n_edges, 9)] = rng.random(9)
                found: Any = solver.solve(weights, **options)
                check(solver, weights, found.to_host() if "keep_on_device" in options else found)
                ids, new = rng.integers(0, solver.n_edges, 5), rng.random(5)
                weights[ids] = new
                check(solver, weights, solver.update(ids, new))


@on_every_device
def test_switched_off(variant: Device) -> None:
    with closing(RepeatedSolver(random_graph(), devices=variant, warm_start=False)) as solver:
        weights = np.random.default_rng(3).random(solver.n_edges)
        for _ in range(3):
            assert "changes" not in check(solver, weights).stats


@on_every_device
def test_the_reason_is_told(variant: Device) -> None:
    """The statistics say from what a round by one work-item started, and why not from another."""
    if not takes_rounds_alone(1, variant.facts):
        pytest.skip("the device does not work in the host's memory by one work-item")
    rng = np.random.default_rng(4)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        weights = rng.random(solver.n_edges)
        said = [solver.solve(weights).stats["route"]]
        said.append(solver.update([0], [5.0]).stats["route"])
        said.append(solver.solve(rng.random(solver.n_edges)).stats["route"])
    assert [one["variant"] for one in said] == ["anew", "changes", "anew"]
    assert "no round before" in said[0]["because"]
    assert "may change the forest" in said[1]["because"]
    assert "more than" in said[2]["because"]


@on_every_device
def test_arrays_have_the_types_of_a_solve_by_steps(variant: Device) -> None:
    graph = random_graph(m=300, seed=3)
    weights = np.random.default_rng(3).random(graph.n_edges)
    kinds = set()
    for algorithm in ("auto", "filter-boruvka"):
        with RepeatedSolver(graph, devices=variant, algorithm=algorithm) as solver:
            for forest in (solver.solve(weights), solver.update([0, 5], [2.0, -1.0])):
                arrays = forest.edges, forest.edge_ids, forest.weights
                kinds.add(tuple(one.dtype for one in arrays))
    assert len(kinds) == 1


def in_groups() -> list[Any]:
    """Return the devices in the shape of a GPU, which keep the last forest of large graphs."""
    return [one for one in every_device() if not one.values[0].facts.alone]


@pytest.fixture
def kept_on_a_gpu() -> Iterator[None]:
    """Let rounds of small graphs start from the last forest as rounds of large ones do."""
    with bounds(resident_forest=0, vertices_per_kept_change=5):
        yield


@pytest.mark.usefixtures("kept_on_a_gpu")
@pytest.mark.parametrize("passes", [False, True], ids=["all edges", "light edges first"])
@pytest.mark.parametrize(("dtype", "maximum"), [("u1", True), ("f4", False), ("i8", True)])
@pytest.mark.parametrize("variant", in_groups())
def test_few_changes_on_a_gpu(variant: Device, dtype: str, maximum: bool, passes: bool) -> None:
    """As by one work-item; none changes, one, several, and all weights."""
    rng, seen = np.random.default_rng(5), []
    with ExitStack() as stack:
        if passes:
            stack.enter_context(bounds(lost_at_once=0, edges_per_lost_edge=1))
        for m, distinct, in_order in ((330, 4, True), (1500, 100, False)):
            graph = random_graph(m=m, seed=m)
            graph = in_canonical_order(graph) if in_order else graph
            with closing(RepeatedSolver(graph, devices=variant, maximum=maximum)) as solver:
                weights = new_weights(rng, solver.n_edges, dtype, distinct)
                check(solver, weights)
                for number in range(12):
                    count = (0, 1, 2, 15, 30, solver.n_edges)[number % 6]
                    ids = rng.integers(0, solver.n_edges, count)
                    weights = weights.copy()
                    weights[ids] = new = new_weights(rng, count, dtype, distinct)
                    forest = solver.solve(weights) if number % 2 else solver.update(ids, new)
                    check(solver, weights, forest)
                    seen.append((count, forest.stats["route"]["variant"]))
    assert {count for count, how in seen if how == "changes"} == {0, 1, 2, 15, 30}
    assert min(count for count, how in seen if how == "anew") > 300


@pytest.mark.usefixtures("kept_on_a_gpu")
@pytest.mark.parametrize("variant", in_groups()[:1])
def test_other_rounds_on_a_gpu(variant: Device) -> None:
    """Arrays on the device, options, other dtypes, refused weights and near weights between."""
    rng = np.random.default_rng(6)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        weights = rng.random(solver.n_edges)

        def changed(dtype: str = "f8", **options: Any) -> str:
            weights[rng.integers(0, solver.n_edges, 9)] = rng.integers(0, 2, 9)
            given: Any = weights.astype(dtype)
            there = options.pop("there", False)
            found: Any = solver.solve(DeviceArray.from_host(given, variant) if there else given,
                                      **options)  # fmt: skip
            check(solver, given, found.to_host() if "keep_on_device" in options else found)
            return str(found.stats["route"]["variant"])

        assert changed() == "anew"
        assert changed() == "changes"
        assert changed(there=True) == "changes"
        assert changed(keep_on_device=True, there=True) == "changes"
        assert changed(verify=True) == "changes"
        assert changed(profile=True) == "changes"
        assert changed("f4") == "anew"  # weights are stored in another way
        assert changed("f4") == "changes"
        assert changed("i4") == "anew"  # words of the same width
        assert changed("i4") == "changes"
        assert changed() == "anew"
        wrong = weights.copy()
        wrong[7] = np.nan
        with pytest.raises(InvalidGraphError, match="NaN"):
            solver.update([7], [np.nan])
        assert changed() == "changes"  # no weight had changed
        with pytest.raises(InvalidGraphError, match="NaN"):
            solver.solve(wrong)
        with bounds(weights_checked_from=0), pytest.raises(InvalidGraphError, match="edge 7"):
            solver.solve(wrong.astype(np.float32))
        assert changed() == "anew"


@pytest.mark.usefixtures("kept_on_a_gpu")
@pytest.mark.parametrize("variant", in_groups()[:1])
def test_why_a_round_on_a_gpu_begins_anew(variant: Device) -> None:
    rng = np.random.default_rng(7)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        said = [solver.solve(rng.random(solver.n_edges)).stats["route"]["because"]]
        said += [solver.solve(rng.random(solver.n_edges)).stats["route"]["because"]]
        said += [solver.solve(rng.integers(0, 9, solver.n_edges)).stats["route"]["because"]]
        said += [solver.update([1], [77]).stats["route"]["because"]]
    most = solver.edges.shape[0] - (solver.edges[:, 0] < 0).sum()
    assert said == [
        "no round before is kept",
        f"more than 61 of {most:,} weights differ",
        "no round before with weights of this kind is kept",
        f"1 of {most:,} weights differ",
    ]


@pytest.mark.usefixtures("kept_on_a_gpu")
@pytest.mark.parametrize("variant", in_groups()[:1])
def test_forests_are_kept_ever_more_rarely_on_a_gpu(variant: Device) -> None:
    """If all weights are new in each round. After few new weights, the next forest is kept."""
    rng = np.random.default_rng(9)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        said = []
        for _ in range(12):
            weights = rng.random(solver.n_edges)
            said.append(check(solver, weights).stats["route"]["because"])
        compared = [number for number, why in enumerate(said) if why.startswith("more than")]
        assert compared == [1, 2, 4, 7]  # 0, 0, 1, 2, and 4 rounds without a kept forest between
        assert said[3].startswith("each of 2 rounds before had more than 61 new weights")
        for _ in range(4):
            weights[rng.integers(0, weights.size, 3)] = rng.random(3)
            found = check(solver, weights)
        assert found.stats["route"]["variant"] == "changes"


@pytest.mark.usefixtures("kept_on_a_gpu")
@pytest.mark.parametrize("variant", in_groups()[:1])
@pytest.mark.parametrize("part", ["KeptForest", "new_flags"])
def test_a_lack_of_memory(variant: Device, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds begin anew, and say so, if the last forest does not fit beside the graph."""

    def lacks(*_: Any, **__: Any) -> None:
        raise OutOfDeviceMemoryError("the device has no memory left")

    monkeypatch.setattr(last_forest, part, lacks)
    with closing(RepeatedSolver(random_graph(), devices=variant)) as solver:
        weights = np.random.default_rng(8).random(solver.n_edges)
        check(solver, weights)
        for edge in (1, 2, 3):
            weights[edge] = edge
            found = check(solver, weights, solver.update([edge], [edge]))
            assert "memory" in found.stats["route"]["because"]
