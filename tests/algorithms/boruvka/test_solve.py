"""Recursive Borůvka: its alternatives, its levels, and what it refuses."""

from __future__ import annotations

import re
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import BoruvkaOptions, Device, EclOptions, Graph
from clmst.core.errors import InvalidArgumentError
from clmst.runtime import source
from tests.forests import assert_same_forest


def parallel_edges(n: int = 300, m: int = 6000) -> Graph:
    """Return a graph with ties, loops and many parallel edges."""
    rng = np.random.default_rng(4)
    u, v = rng.integers(0, n, (2, m))
    return Graph.from_edges(u, v, rng.integers(0, 40, m), n_vertices=n + 2)


@pytest.mark.parametrize(
    ("numbering", "duplicates"),
    [*product(("scan", "split"), ("auto", "minimum", "split", "keep"))],
    ids="-".join,
)
def test_every_alternative(device: Device, numbering: Any, duplicates: Any) -> None:
    """They change how long a solve takes, never its result."""
    graph = parallel_edges()
    options = BoruvkaOptions(numbering=numbering, duplicates=duplicates)
    for maximum in (False, True):
        solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        forest = solve(graph, algorithm="boruvka", device=device, options=options)
        assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))


def test_numberings_are_the_same(any_device: Device) -> None:
    """The paper's split by representative gives the numbers that the scan alone gives."""
    graph = parallel_edges()
    stats = [
        clmst.minimum_spanning_forest(
            graph,
            algorithm="boruvka",
            device=any_device,
            options=BoruvkaOptions(numbering=way),
        ).stats
        for way in ("scan", "split")
    ]
    assert stats[0]["vertices"] == stats[1]["vertices"]
    assert stats[0]["entries"] == stats[1]["entries"]


def test_levels_shrink(device: Device) -> None:
    """Every level at least halves the vertices that have an edge; parallel edges go."""
    graph = clmst.generate("random", n=5000, seed=3)
    stats = clmst.minimum_spanning_forest(graph, algorithm="boruvka", device=device).stats
    vertices, entries = stats["vertices"], stats["entries"]
    assert vertices[0] == graph.n_vertices
    assert stats["rounds"] == len(vertices) == len(entries) > 2
    assert all(2 * after <= before for before, after in pairwise(vertices))
    assert entries == sorted(entries, reverse=True)


def test_parallel_edges_go_where_many_are_expected(any_device: Device) -> None:
    """With "keep" the last levels carry them all; "auto" must not."""
    graph = parallel_edges(n=2000, m=60000)
    entries = {
        way: clmst.minimum_spanning_forest(
            graph,
            algorithm="boruvka",
            device=any_device,
            options=BoruvkaOptions(duplicates=way),
        ).stats["entries"]
        for way in ("auto", "minimum", "keep")
    }
    assert entries["auto"][-1] <= entries["auto"][0] // 100
    assert entries["keep"][-1] > 10 * entries["auto"][-1]
    assert all(a <= b for a, b in zip(entries["minimum"], entries["auto"], strict=True))


def test_kernels_use_no_atomics_on_global_memory() -> None:
    """So it runs on any OpenCL 1.2 device. The one atomic there is counts in local memory.

    But for sorts in one pass, which devices with lanes take, and histograms, which it does not
    use: theirs are of 32 bits.
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
    assert found == {("split_range.cl", "atomic_inc"), *in_one_pass, *in_histograms}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"numbering": "sort"}, "numbering is 'sort'; it must be one of 'scan', 'split'"),
        ({"duplicates": "drop"}, "duplicates is 'drop'; it must be one of 'auto'"),
    ],
)
def test_unknown_alternatives(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        BoruvkaOptions(**arguments)


def test_options_of_another_algorithm(any_device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match="'boruvka' takes a BoruvkaOptions"):
        clmst.minimum_spanning_forest(
            parallel_edges(), algorithm="boruvka", device=any_device, options=EclOptions()
        )
