"""Arcs in both directions: one of two is left out while a file is read, if that loses nothing."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Graph
from clmst.io import read_graph
from tests.helpers.bounds import bounds

WEIGHTS: dict[str, Any] = {
    "integers": lambda rng, m: rng.integers(-5, 5, m),
    "floats": lambda rng, m: rng.normal(size=m),
    "above 63 bits": lambda rng, m: rng.integers(2**63, 2**64 - 1, m, dtype=np.uint64),
    "zeros of both signs": lambda rng, m: rng.choice([0.5, 0.0, -0.0], m),
    "none": lambda rng, m: None,
}


def arcs_of(kind: str, *, order: str, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return the arcs of a graph in both directions, with parallel edges and loops."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(1, 60, (2, 500))
    w = WEIGHTS[kind](rng, 500)
    both = np.concatenate([u, v]), np.concatenate([v, u])
    by = rng.permutation(1000) if order == "random" else np.lexsort(both[::-1])
    return both[0][by], both[1][by], None if w is None else np.tile(w, 2)[by]


def text_of(u: Any, v: Any, w: Any, problem: str = "sp") -> str:
    ends = zip(u.tolist(), v.tolist(), strict=True)
    words = [""] * len(u) if w is None else [f" {x!r}" for x in w.tolist()]
    rows = [f"a {i} {j}{word}\n" for (i, j), word in zip(ends, words, strict=True)]
    return f"p {problem} 60 {len(rows)}\n" + "".join(rows)


def read(text: str, tmp_path: Path) -> Graph:
    (tmp_path / "a.gr").write_text(text)
    return read_graph(tmp_path / "a.gr")


def assert_same(found: Graph, right: Graph) -> None:
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
        assert getattr(found, name).dtype == getattr(right, name).dtype


@pytest.mark.parametrize("size", [1 << 20, 700])
@pytest.mark.parametrize("order", ["random", "by source"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_half_of_the_arcs_give_the_same_graph(
    tmp_path: Path, kind: str, order: str, size: int
) -> None:
    """Rows are kept for all edges except loops, or for a whole file."""
    arcs = arcs_of(kind, order=order)
    with bounds(text_block=size):
        found = read(text_of(*arcs), tmp_path)
        right = read(text_of(*arcs, problem="edge"), tmp_path)
    assert_same(found, right)
    n_loops = int((arcs[0] == arcs[1]).sum()) // 2
    assert found.n_input <= 500 + n_loops
    assert found.edge_ids is not None
    assert int(found.edge_ids.max()) < found.n_input


def test_the_arc_that_leads_up_is_kept(tmp_path: Path) -> None:
    """Ids count the rows that are kept: first 3 1, which is joined with 1 3, then 1 2."""
    found = read("p sp 3 4\na 2 1 5\na 3 1 6\na 1 3 6\na 1 2 5\n", tmp_path)
    assert found.edge_ids is not None
    assert (found.indices.tolist(), found.edge_ids.tolist()) == ([1, 2], [1, 0])


@pytest.mark.parametrize("problem", ["sp", "edge"])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.covering
def test_ids_do_not_depend_on_blocks(tmp_path: Path, kind: str, problem: str) -> None:
    """A pair of opposite arcs may have one arc in a block, and the other one in the next."""
    u, v, w = arcs_of(kind, order="random")
    both = np.stack([u, v], axis=1), np.stack([v, u], axis=1)
    weights = None if w is None else np.repeat(w, 2)
    text = text_of(both[0].ravel(), both[1].ravel(), weights, problem)
    mixed = text if w is None else text.replace(" 3\n", " 3.5\n", 1)  # integers and floats
    for one in (text, mixed):
        whole = read(one, tmp_path)
        for size in (50, 61, 700):
            with bounds(text_block=size):
                found = read(one, tmp_path)
            assert_same(found, whole)
            assert found.n_input == whole.n_input
            np.testing.assert_array_equal(found.edge_ids, whole.edge_ids)


@pytest.mark.parametrize("change", ["weight", "missing", "more", "turned"])
def test_arcs_without_an_opposite_one_are_read_again(tmp_path: Path, change: str) -> None:
    """One arc of a thousand is enough."""
    u, v, w = arcs_of("integers", order="random", seed=1)
    at = int(np.flatnonzero(u > v)[7])
    if change == "weight":
        w[at] = -100
    elif change == "missing":
        u, v, w = (np.delete(each, at) for each in (u, v, w))
    elif change == "more":
        u, v, w = np.append(u, 59), np.append(v, 1), np.append(w, -100)
    else:
        u[at], v[at] = v[at], u[at]
    found = read(text_of(u, v, w), tmp_path)
    assert_same(found, read(text_of(u, v, w, problem="edge"), tmp_path))
    assert found.n_input > 900
    assert_same(found, Graph.from_edges(u - 1, v - 1, w, n_vertices=60, merge_parallel=True))


def test_pipes_and_compressed_files_are_read_again(tmp_path: Path) -> None:
    u, v, w = arcs_of("integers", order="random", seed=2)
    w[u > v] += 1
    text = text_of(u, v, w).encode()
    right = read(text.decode(), tmp_path)
    assert_same(read_graph(BytesIO(text), format="dimacs"), right)
    (tmp_path / "b.gr.gz").write_bytes(gzip.compress(text))
    assert_same(clmst.read_graph(tmp_path / "b.gr.gz"), right)
