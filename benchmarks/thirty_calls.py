"""Thirty calls as users make them, of graphs, lists of edges and points of several sizes.

``beside_commit`` times these calls in several versions of clmst. So the calls use only public
names, and this file imports nothing from the benchmarks. ``beside_commit`` runs this file as a
program, once for each version. The program reads requests from standard input. Each line has a word
and the name of a call. It answers each request by a line of JSON on standard output.

    prepare NAME    make the input, run the call once, and answer with a hash of its result
    time NAME       run the call once more, and answer with its wall time in milliseconds
    forget NAME     drop the input

A call of a graph in a file has the name "FORM: FILE", where FORM is a key of `FORMS`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

import clmst
from clmst import cluster, csgraph

Call: TypeAlias = Callable[[], Any]

DEVICE = os.environ.get("CLMST_DEVICE")


def _ends(n: int, m: int) -> tuple[Any, Any, Any]:
    """Return the ends of `m` random edges between `n` vertices, and the random generator.

    The ends are int64.
    """
    rng = np.random.default_rng(n + m)
    return rng.integers(0, n, m), rng.integers(0, n, m), rng


def _symmetric(n: int, degree: int, dtype: Any = np.float64) -> Any:
    """Return a symmetric CSR matrix of `n` rows with about `degree` entries per row."""
    u, v, rng = _ends(n, n * degree // 2)
    apart = u != v
    u, v = u[apart], v[apart]
    if np.dtype(dtype).kind == "f":
        weights = rng.random(u.size).astype(dtype)
    else:
        weights = rng.integers(1, 1_000_000, u.size).astype(dtype)
    once = sparse.coo_array((weights, (np.minimum(u, v), np.maximum(u, v))), shape=(n, n)).tocsr()
    matrix = (once + once.T).tocsr()
    matrix.sort_indices()
    return matrix.astype(dtype)


def _points(n: int, d: int) -> Any:
    """Return `n` points of `d` dimensions around 20 centres, float64, shape (n, d)."""
    rng = np.random.default_rng(n + d)
    return rng.normal(size=(20, d))[rng.integers(0, 20, n)] * 8 + rng.normal(size=(n, d))


def _matrix(n: int, degree: int, dtype: Any = np.float64) -> Call:
    matrix = _symmetric(n, degree, dtype)
    return lambda: clmst.minimum_spanning_forest(matrix)


def _upper(n: int, degree: int) -> Call:
    matrix = sparse.triu(_symmetric(n, degree), format="csr")
    return lambda: clmst.minimum_spanning_forest(matrix)


def _unsorted(n: int, degree: int) -> Call:
    u, v, rng = _ends(n, n * degree)
    matrix = sparse.coo_array((rng.random(u.size), (u, v)), shape=(n, n))
    return lambda: clmst.minimum_spanning_forest(matrix)


def _equal(n: int, degree: int) -> Call:
    matrix = _symmetric(n, degree)
    matrix.data[:] = 1
    return lambda: clmst.minimum_spanning_forest(matrix)


def _edges(n: int, m: int) -> Call:
    u, v, rng = _ends(n, m)
    weights = rng.random(m)
    return lambda: clmst.minimum_spanning_forest(clmst.Graph.from_edges(u, v, weights, n))


def _frame(n: int, m: int) -> Call:
    import pandas as pd

    u, v, rng = _ends(n, m)
    frame = pd.DataFrame({"source": u, "target": v, "weight": rng.random(m)})
    return lambda: clmst.minimum_spanning_forest(frame)


def _scipys(n: int, degree: int) -> Call:
    matrix = _symmetric(n, degree)
    return lambda: csgraph.minimum_spanning_tree(matrix)


def _maximum(n: int, degree: int) -> Call:
    matrix = _symmetric(n, degree, np.float32)
    return lambda: clmst.maximum_spanning_forest(matrix)


def _resident(n: int, degree: int, dtype: Any) -> Call:
    graph = clmst.to_device(clmst.Graph.from_scipy(_symmetric(n, degree, dtype)), DEVICE)
    return lambda: clmst.minimum_spanning_forest(graph)


def _dense(n: int) -> Call:
    points = _points(n, 3)
    cells = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    return lambda: clmst.minimum_spanning_forest(cells)


def _rounds(n: int, degree: int) -> Call:
    graph = clmst.Graph.from_scipy(_symmetric(n, degree))
    solver, rng = clmst.RepeatedSolver(graph), np.random.default_rng(n)
    weights = [rng.random(len(solver.edges)) for _ in range(2)]

    def call() -> Any:
        weights.reverse()
        return solver.solve(weights[0])

    return call


def _stream(n: int, m: int) -> Call:
    u, v, rng = _ends(n, m)
    weights = rng.random(m)
    bounds = range(0, m, m // 4)

    def call() -> Any:
        chunks = ((u[k : k + m // 4], v[k : k + m // 4], weights[k : k + m // 4]) for k in bounds)
        return clmst.stream_minimum_spanning_forest(chunks, n)

    return call


def _tree_of_points(n: int, d: int) -> Call:
    points = clmst.Points(_points(n, d))
    return lambda: clmst.minimum_spanning_forest(points)


def _hdbscan(n: int, d: int) -> Call:
    points = _points(n, d)
    return lambda: cluster.HDBSCAN(min_cluster_size=10).fit(points)


def _linkage(n: int, d: int) -> Call:
    points = _points(n, d)
    return lambda: cluster.single_linkage(points)


def _cores(n: int, degree: int) -> Call:
    graph = clmst.Graph.from_scipy(_symmetric(n, degree))
    return lambda: clmst.core_numbers(graph)


def _proof(n: int, degree: int) -> Call:
    matrix = _symmetric(n, degree)
    return lambda: clmst.minimum_spanning_forest(matrix, verify=True)


CALLS: Mapping[str, Callable[[], Call]] = {
    "matrix 30 x 4": lambda: _matrix(30, 4),
    "matrix 1,000 x 8": lambda: _matrix(1_000, 8),
    "matrix 30,000 x 8": lambda: _matrix(30_000, 8),
    "matrix 300,000 x 8": lambda: _matrix(300_000, 8),
    "matrix 300,000 x 8, int32": lambda: _matrix(300_000, 8, np.int32),
    "upper triangle 100,000 x 8": lambda: _upper(100_000, 8),
    "COO in any order 100,000 x 8": lambda: _unsorted(100_000, 8),
    "equal weights 100,000 x 8": lambda: _equal(100_000, 8),
    "maximum 100,000 x 16, float32": lambda: _maximum(100_000, 16),
    "with a proof 30,000 x 8": lambda: _proof(30_000, 8),
    "SciPy's function 300 x 8": lambda: _scipys(300, 8),
    "SciPy's function 100,000 x 8": lambda: _scipys(100_000, 8),
    "on the device 100,000 x 8, int32": lambda: _resident(100_000, 8, np.int32),
    "on the device 1,000,000 x 4, float64": lambda: _resident(1_000_000, 4, np.float64),
    "edges 2,000": lambda: _edges(500, 2_000),
    "edges 200,000": lambda: _edges(50_000, 200_000),
    "edges 4,000,000": lambda: _edges(1_000_000, 4_000_000),
    "data frame 200,000": lambda: _frame(50_000, 200_000),
    "stream 1,000,000": lambda: _stream(100_000, 1_000_000),
    "distances 200 x 200": lambda: _dense(200),
    "distances 2,000 x 2,000": lambda: _dense(2_000),
    "round of 10,000 x 8": lambda: _rounds(10_000, 8),
    "round of 200,000 x 8": lambda: _rounds(200_000, 8),
    "core numbers 100,000 x 8": lambda: _cores(100_000, 8),
    "tree of points 1,000 x 2": lambda: _tree_of_points(1_000, 2),
    "tree of points 200,000 x 3": lambda: _tree_of_points(200_000, 3),
    "HDBSCAN 1,000 x 2": lambda: _hdbscan(1_000, 2),
    "HDBSCAN 3,000 x 64": lambda: _hdbscan(3_000, 64),
    "HDBSCAN 100,000 x 2": lambda: _hdbscan(100_000, 2),
    "single linkage 50,000 x 8": lambda: _linkage(50_000, 8),
}


def _stays_there(graph: clmst.Graph) -> Call:
    resident = clmst.to_device(graph, DEVICE)
    return lambda: clmst.minimum_spanning_forest(resident, keep_on_device=True)


def _matrix_of(graph: clmst.Graph, weights: Any) -> Call:
    ends = (graph.indices.astype(np.int32), graph.indptr.astype(np.int32))
    matrix = sparse.csr_array((weights, *ends), shape=(graph.n_vertices, graph.n_vertices))
    return lambda: clmst.minimum_spanning_forest(matrix)


# The forms in which a graph from a file, with both directions of each edge, is given. For the form
# "doubles", a quarter is added to each weight.
FORMS: Mapping[str, Callable[[clmst.Graph], Call]] = {
    "on the device": _stays_there,
    "matrix": lambda graph: _matrix_of(graph, graph.weights),
    "matrix of doubles": lambda graph: _matrix_of(graph, graph.weights + 0.25),
}


def call_of(name: str) -> Call:
    """Return the call of a name, which is a key of `CALLS`, or "FORM: FILE"."""
    if name in CALLS:
        return CALLS[name]()
    form, file = name.split(": ", 1)
    return FORMS[form](clmst.read_graph(file).symmetrised())


def _arrays(found: Any) -> Iterable[Any]:
    """Return the arrays of a result, which may be a forest, a sparse matrix or a fit of HDBSCAN."""
    if isinstance(found, clmst.DeviceForest):
        found = found.to_host()
    if isinstance(found, clmst.Forest):
        return found.edges, found.weights, found.edge_ids
    if sparse.issparse(found):
        matrix: Any = found
        return matrix.indptr, matrix.indices, matrix.data
    if isinstance(found, cluster.HDBSCAN):
        return found.labels_, found.probabilities_
    return (np.asarray(found),)


def hash_of(found: Any) -> str:
    """Return a hash of the values, dtypes and shapes of all arrays of a result."""
    digest = hashlib.sha256()
    for array in map(np.ascontiguousarray, _arrays(found)):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def serve() -> None:
    """Answer the requests that standard input has, one per line, until it ends.

    The top of this module lists the requests.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # text that a driver prints is not an answer
    prepared: dict[str, Call] = {}
    for line in sys.stdin:
        word, _, name = line.strip().partition(" ")
        try:
            if word == "prepare":
                prepared[name] = call_of(name)
                answer: Any = hash_of(prepared[name]())
            elif word == "time":
                begun = time.perf_counter()
                prepared[name]()
                answer = 1000 * (time.perf_counter() - begun)
            else:
                answer = prepared.pop(name, None) and None
        except Exception as error:  # the comparison goes on with the next call
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    serve()
