"""Time graphs as people have them beside SciPy, on the very same object, from call to result.

    python -m benchmarks.ways_in [PART ...] [--device NAME] [--repetitions 5] [--patience SECONDS]
                                 [--fewest ENTRIES] [--most ENTRIES] [--csgraph] [--phases]
                                 [--least]

Parts are "arrays" (int64 ends, float64 weights), "matrices" (of scikit-learn and SciPy: k nearest
neighbours, radius, Delaunay, images, grids; float64, most of them directed or with rows that fall)
and "doubles" (one symmetric matrix with weights of int32, float64 that int32 holds, random float64
and int64); by default all. `--fewest` and `--most` leave out smaller and larger ones.

Of every input up to 5 million entries the forest is first compared with the oracle, edge for edge,
of longer lists of edges with the forest of a stream; of matrices the total with SciPy's, who adds
up what is there twice in a list. SciPy is timed once where it takes more than `--patience`. Both
run by turns; the median counts, with `--least` the least, for a busy machine. With `--csgraph`
matrices go to SciPy's function of clmst. With `--phases` a line tells what the check of arrays, the
way to the device and the solve there take. The table goes to standard output as Markdown.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay

import clmst
from clmst import Graph, csgraph
from clmst.core.weight_keys import Array

_MOST_FOR_ORACLE = 5_000_000
PARTS = ("arrays", "matrices", "doubles")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What is timed, in the words of a caller.

    Attributes
    ----------
    name : str
    entries : int
    ours, scipys : callable
        From the caller's object to the result.
    graph : callable
        The graph for the oracle.
    given : object
        The matrix, if it is one.
    chunk : tuple of ndarray
        The arrays, if they are such.
    """

    name: str
    entries: int
    ours: Callable[[], clmst.Forest]
    scipys: Callable[[], Any]
    graph: Callable[[], Graph]
    given: Any = None
    chunk: tuple[Array, ...] = ()


def of_arrays(m: int, degree: int, device: clmst.Device) -> Input:
    """Return random edges in three arrays."""
    n = 2 * m // degree
    rng = np.random.default_rng(m)
    u, v, w = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m)

    def graph() -> Graph:
        return Graph.from_edges(u, v, w, n_vertices=n)

    return Input(
        name=f"arrays, degree {degree}",
        entries=m,
        ours=lambda: clmst.minimum_spanning_forest(graph(), device=device),
        scipys=lambda: minimum_spanning_tree(sparse.csr_array((w, (u, v)), shape=(n, n))),
        graph=graph,
        chunk=(u, v, w),
    )


def of_matrix(name: str, A: Any, device: clmst.Device) -> Input:
    """Return a matrix as it is."""
    return Input(
        name=f"{name}, {A.dtype}",
        entries=A.nnz,
        ours=lambda: clmst.minimum_spanning_forest(A, device=device),
        scipys=lambda: minimum_spanning_tree(A),
        graph=lambda: Graph.from_scipy(A),
        given=A,
    )


def arrays(device: clmst.Device) -> Iterator[Input]:
    """Yield lists of edges."""
    for m in (100_000, 400_000, 1_200_000, 4_000_000, 33_500_000):
        yield of_arrays(m, 8, device)
        if m <= _MOST_FOR_ORACLE:
            yield of_arrays(m, 32, device)


def matrices(device: clmst.Device) -> Iterator[Input]:
    """Yield matrices of scikit-learn and SciPy."""
    for name, A in _matrices():
        yield of_matrix(name, A, device)


def _matrices() -> Iterator[tuple[str, Any]]:
    from sklearn.feature_extraction.image import grid_to_graph, img_to_graph
    from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

    rng = np.random.default_rng(8)
    for n, k in ((1000, 5), (4000, 8), (20_000, 10), (300_000, 10)):
        points = rng.random((n, 3))
        directed = kneighbors_graph(points, k, mode="distance")
        yield f"{k} nearest of {n}", directed
        if n >= 20_000:
            yield f"{k} nearest of {n}, made symmetric", directed.maximum(directed.T)
            yield f"{k} nearest of {n}", kneighbors_graph(points, k, mode="connectivity")
    for n, radius in ((2000, 0.05), (50_000, 0.012)):
        points = rng.random((n, 2))
        yield f"within {radius} of {n}", radius_neighbors_graph(points, radius, mode="distance")
    for n in (3000, 200_000):
        yield f"Delaunay of {n}", _delaunay(rng.random((n, 2)))
    for side in (64, 700):
        image = rng.random((side, side))
        yield f"gradients of {side} x {side} pixels", sparse.csr_array(img_to_graph(image))
    grid = sparse.csr_array(grid_to_graph(300, 300, return_as=sparse.coo_matrix, dtype=np.float64))
    yield "grid of 300 x 300", grid


def _delaunay(points: Array) -> Any:
    """Return the edges of a triangulation in both directions, with their lengths."""
    starts, columns = Delaunay(points).vertex_neighbor_vertices
    rows = np.repeat(np.arange(len(points)), np.diff(starts))
    lengths = np.linalg.norm(points[rows] - points[columns], axis=1)
    return sparse.csr_array((lengths, columns, starts), shape=(len(points),) * 2)


def doubles(device: clmst.Device) -> Iterator[Input]:
    """Yield one symmetric matrix with weights of several types."""
    for n, degree in ((200_000, 16), (2_000_000, 16)):
        rng = np.random.default_rng(n)
        m = n * degree // 2
        u, v = rng.integers(0, n, (2, m))
        ends = np.minimum(u, v), np.maximum(u, v)
        upper = sparse.coo_array((np.ones(m, np.int32), ends), shape=(n, n))
        A = sparse.triu(upper.tocsr(), 1, format="csr")
        pattern = sparse.csr_array(A + A.T)
        pattern.sort_indices()
        rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(pattern.indptr))
        key = np.minimum(rows, pattern.indices) * n + np.maximum(rows, pattern.indices)
        hashes = (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)
        whole = (hashes >> np.uint64(33)).astype(np.int32)
        for name, weights in (
            ("", whole),
            (", whole numbers", whole.astype(np.float64)),
            (", full mantissa", hashes.astype(np.float64) * 2.0**-53),
            (", 53 bits", hashes.astype(np.int64)),
        ):
            B = sparse.csr_array((weights, pattern.indices, pattern.indptr), shape=(n, n))
            yield of_matrix(f"symmetric, {n} vertices{name}", B, device)


def check(one: Input) -> float:
    """Return SciPy's seconds; raise if a forest is wrong."""
    forest = one.ours()
    if one.entries <= _MOST_FOR_ORACLE:
        expected = clmst.kruskal(one.graph())
        for name in ("edge_ids", "edges", "weights"):
            if not np.array_equal(getattr(forest, name), getattr(expected, name)):
                raise SystemExit(f"{one.name}: {name} are not those of the oracle")
    elif one.chunk:
        streamed = clmst.stream_minimum_spanning_forest([one.chunk], forest.n_vertices)
        if not np.array_equal(forest.edge_ids, streamed.edge_ids):
            raise SystemExit(f"{one.name}: edge ids are not those of a stream")
    began = time.perf_counter()
    tree = one.scipys()
    seconds = time.perf_counter() - began
    if one.given is not None and not math.isclose(
        forest.total_weight, math.fsum(tree.data), rel_tol=1e-12
    ):
        raise SystemExit(f"{one.name}: the total weight is {forest.total_weight}, not SciPy's")
    return seconds


def timed(
    calls: list[Callable[[], object]], repetitions: int, pick: Callable[[list[float]], float]
) -> list[float]:
    """Return the median or least milliseconds of each call, by turns."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(repetitions):
        for call, own in zip(calls, found, strict=True):
            began = time.perf_counter()
            call()
            own.append(1e3 * (time.perf_counter() - began))
    return [pick(own) for own in found]


def print_phases(one: Input, device: clmst.Device, repetitions: int) -> None:
    """Print what the parts of a call take."""
    given = one.graph() if one.given is None else one.given
    resident = clmst.to_device(given, device)
    calls: dict[str, Callable[[], object]] = {
        "to_device": lambda: clmst.to_device(given, device),
        "solve and result": lambda: clmst.minimum_spanning_forest(resident),
        "solve": lambda: clmst.minimum_spanning_forest(resident, keep_on_device=True),
    }
    if one.given is None:
        calls = {"from_edges": one.graph, **calls}
    times = timed(list(calls.values()), repetitions, median)
    print(
        ", ".join(f"{name} {ms:.2f}" for name, ms in zip(calls, times, strict=True)),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--device")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--most", type=int, default=1 << 40)
    parser.add_argument("--fewest", type=int, default=0)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--csgraph", action="store_true")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--patience", type=float, default=3.0)
    arguments = parser.parse_args()
    pick: Callable[[list[float]], float] = min if arguments.least else median
    device = clmst.get_device(arguments.device)
    print(f"{device.description}, driver {device.driver}\n")
    print("| input | entries | clmst ms | SciPy ms | ratio |\n|---|--:|--:|--:|--:|")
    ratios = []
    for part in arguments.parts:
        for one in globals()[part](device):
            if not arguments.fewest <= one.entries <= arguments.most:
                continue
            seconds = check(one)
            ours_is: Callable[[], object] = one.ours
            if arguments.csgraph and one.given is not None:
                ours_is = partial(csgraph.minimum_spanning_tree, one.given)
                ours_is()
            calls = [ours_is]
            if seconds < arguments.patience:
                calls.append(one.scipys)
            ours, *theirs = timed(calls, arguments.repetitions, pick)
            scipys = theirs[0] if theirs else 1e3 * seconds
            ratios.append(scipys / ours)
            print(
                f"| {one.name} | {one.entries:,} | {ours:.2f} | {scipys:.1f} | {ratios[-1]:.2f} |",
                flush=True,
            )
            if arguments.phases:
                print_phases(one, device, arguments.repetitions)
    if ratios:
        print(f"\ngeometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
