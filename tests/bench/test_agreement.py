"""Contestants must give one forest, wherever it lies."""

from __future__ import annotations

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


def test_known_forest() -> None:
    path, edge = (clmst.kruskal(clmst.generate("path", n=n)) for n in (3, 2))
    assert Agreement("the oracle", path).difference(path) == ""
    assert Agreement("the oracle", path).difference(edge) == (
        "a forest other than that of the oracle: 1 edges, not 2"
    )
