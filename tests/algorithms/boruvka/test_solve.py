"""Recursive Borůvka: its levels, and what its kernels do without."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

import clmst
from clmst import BoruvkaOptions, Device, PmaOptions
from clmst.runtime import source
from tests.helpers.forests import parallel_edges, solve


def test_numberings_are_the_same(any_device: Device) -> None:
    """The paper's split by representative gives the numbers that the scan alone gives."""
    graph = parallel_edges()
    stats = [
        solve(graph, any_device, options=BoruvkaOptions(numbering=way)).stats
        for way in ("scan", "split")
    ]
    assert stats[0]["vertices"] == stats[1]["vertices"]
    assert stats[0]["entries"] == stats[1]["entries"]


@pytest.mark.parametrize("options", [BoruvkaOptions(), PmaOptions(gamma=4)], ids=repr)
def test_levels_shrink(device: Device, options: Any) -> None:
    """Every level at least halves the vertices that have an edge; parallel edges go."""
    graph = clmst.generate("random", n=5000, seed=3)
    stats = solve(graph, device, options=options).stats
    vertices, entries = stats["vertices"], stats["entries"]
    assert vertices[0] == graph.n_vertices
    assert stats["rounds"] == len(vertices) == len(entries) > 2
    assert all(2 * after <= before for before, after in pairwise(vertices))
    assert entries == sorted(entries, reverse=True)
    assert stats.get("gammas", [4])[0] == 4


def test_parallel_edges_go_where_many_are_expected(any_device: Device) -> None:
    """With "keep" the last levels carry them all; "auto" must not."""
    graph = parallel_edges(n=2000, m=60000)
    entries = {
        way: solve(graph, any_device, options=BoruvkaOptions(duplicates=way)).stats["entries"]
        for way in ("auto", "minimum", "keep")
    }
    assert entries["auto"][-1] <= entries["auto"][0] // 100
    assert entries["keep"][-1] > 10 * entries["auto"][-1]
    assert all(a <= b for a, b in zip(entries["minimum"], entries["auto"], strict=True))


def test_kernels_use_no_atomics_on_global_memory() -> None:
    """So it runs on any OpenCL 1.2 device. The one atomic there is counts in local memory.

    Other files of primitives have atomics of 32 bits: sorts in one pass, which devices with lanes
    take; histograms, which it does not use; and the report of a caller's wrong offsets.
    """
    families = ("primitives/*", "algorithms/boruvka/*", "algorithms/shared/contraction*")
    files = [file for family in families for file in source.root().glob(f"{family}.cl")]
    assert {"segments.cl", "split.cl", "boruvka.cl", "contraction.cl"} <= {f.name for f in files}
    found = {
        (file.name, word)
        for file in files
        for word in re.findall(r"\b(\w*atom\w*|\w+_claim_\w+)\(", file.read_text("utf-8"))
    }
    in_one_pass = {("split_chain.cl", "atomic_inc"), ("split_chain.cl", "atomic_add")}
    in_histograms = {("histogram.cl", "atomic_inc"), ("histogram.cl", "atomic_add")}
    of_faults = {("segments.cl", "atomic_min")}
    counted = {("split_range.cl", "atomic_inc")}
    assert found == {*counted, *in_one_pass, *in_histograms, *of_faults}
