"""Contestants must give one forest, wherever it lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import clmst
from clmst import Device
from clmst.bench.agreement import Agreement


def test_first_forest_is_the_right_one(any_device: Device) -> None:
    graph = clmst.to_device(clmst.generate("grid", rows=4, columns=5), any_device)
    agreement = Agreement("the first")
    least = clmst.minimum_spanning_forest(graph, keep_on_device=True)
    assert agreement.difference(least) == ""
    assert agreement.difference(least.to_host()) == ""
    other = agreement.difference(clmst.maximum_spanning_forest(graph, keep_on_device=True))
    assert other.startswith("a forest other than that of the first: edge ")


def test_parallel_edges_are_distinguished() -> None:
    """By their ids; not by their endpoints, for contestants that get the graph in other forms."""
    graph = clmst.Graph.from_edges([0, 0, 1], [1, 1, 2], [1, 1, 5])
    forest = clmst.kruskal(graph)
    other = replace(forest, edge_ids=np.array([1, 2]))
    assert Agreement("the oracle", forest, by="edges").difference(other) == ""
    assert Agreement("the oracle", forest).difference(other) == (
        "a forest other than that of the oracle: edge 0 is 1, not 0"
    )


def test_known_forest() -> None:
    path, edge = (clmst.kruskal(clmst.generate("path", n=n)) for n in (3, 2))
    assert Agreement("the oracle", path).difference(path) == ""
    assert Agreement("the oracle", path).difference(edge) == (
        "a forest other than that of the oracle: 1 edges, not 2"
    )
