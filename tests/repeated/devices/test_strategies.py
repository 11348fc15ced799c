"""The choice of a strategy, by costs and by the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from clmst import Device, Graph, peeling
from clmst.algorithms.parts import costs as model
from clmst.core import topology
from clmst.repeated.strategies import Choice
from clmst.runtime.tuning import Costs
from tests.algorithms.parts.test_costs import CPU, GPU
from tests.repeated.device_sets import clustered_graph, every_device_set


def plan_of(devices: list[Device], graph: Graph, strategy: str, costs: list[Costs]) -> Any:
    choice = Choice(topology.edges_once(graph), devices, algorithm="auto", options=None)
    choice.costs = costs
    return choice.plan(strategy)


@every_device_set("two")
def test_what_auto_chooses(devices: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    """By costs alone; core numbers are found only where degrees do not rule dense parts out."""
    free = Costs(
        solve_ms=0, edge_ns=1e3, vertex_ns=1, cell_ns=1e4, upload_ns=0, download_ns=0, host=False
    )
    monkeypatch.setattr(model, "_MERGE_OVERHEAD_MS", 0.0)
    many = Graph.from_edges(*np.random.default_rng(0).integers(0, 50, (2, 20000)))
    found: list[int] = []
    inner = peeling.core_numbers

    def counted(*given: Any, **named: Any) -> Any:
        found.append(1)
        return inner(*given, **named)

    monkeypatch.setattr(peeling, "core_numbers", counted)
    plan = plan_of(devices, many, "auto", [free, free])
    assert plan.strategy == "split"
    assert [len(one.parts) for one in plan.assignments] == [1, 1]
    assert plan_of(devices, many, "auto", [free, replace(free, solve_ms=99.0)]).strategy == "alone"
    on_host = replace(free, host=True)
    plan = plan_of(devices, many, "auto", [on_host, replace(on_host, edge_ns=500.0)])
    assert (plan.strategy, plan.device) == ("alone", devices[1])
    assert plan_of(devices, many, "auto", [free, on_host]).strategy == "split"
    road = clustered_graph((), n=3000, m=4000)
    assert plan_of(devices, road, "auto", [free, free]).strategy == "alone"
    assert not found
    cheap = replace(free, cell_ns=30.0)
    cliques = clustered_graph((80, 60, 50))
    plan = plan_of(devices, cliques, "auto", [cheap, cheap])
    assert plan.strategy == "cores"
    assert found
    assert sorted(one.algorithm for one in plan.assignments) == ["auto", "dense"]
    dear = replace(free, cell_ns=499.0, edge_ns=1e3)
    found.clear()
    assert plan_of(devices, road, "auto", [dear, dear]).strategy == "alone"
    assert not found


@every_device_set("two")
def test_no_dense_part_at_all(devices: list[Device]) -> None:
    """One device does all then, whatever was asked for."""
    path = np.arange(100)
    graph = Graph.from_edges(path, path + 1)
    dear = [replace(GPU, cell_ns=1.0)] * 2
    assert plan_of(devices, graph, "cores", dear).strategy == "alone"
    assert plan_of(devices, Graph.from_edges([], []), "cores", [GPU, GPU]).strategy == "alone"
    assert plan_of(devices, graph, "alone", [CPU, GPU]).device is devices[1]
