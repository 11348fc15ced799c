"""Make matrices of the kinds that users have: from scikit-learn, from SciPy and from files.

They are passed on as the libraries return them. Most are directed or have unsorted rows. Their
weights are doubles with full mantissas, or ones. There are small random matrices, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import Delaunay

import clmst
from clmst.bench.contestants import as_matrix

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

SIZES = (5, 10, 30, 100, 300, 1_000, 3_000, 10_000, 40_000)
DEGREES = (4, 16)
EDGES = (100_000, 400_000, 1_000_000, 4_000_000)
WEIGHTS = ("integers", "doubles", "ones")


def _points(n: int, dimensions: int) -> Any:
    return np.random.default_rng(n).random((n, dimensions))


def neighbours(n: int, k: int, mode: str, dimensions: int = 3) -> Any:
    """Return scikit-learn's graph of the `k` nearest neighbours of each of `n` random points.

    It is a directed sparse matrix, in which the entries of a row are in order of distance. `mode`
    is "distance" or "connectivity".
    """
    from sklearn.neighbors import kneighbors_graph

    return kneighbors_graph(_points(n, dimensions), k, mode=mode)


def symmetric_neighbours(n: int, k: int) -> Any:
    """Return the graph of the `k` nearest neighbours of `n` random points as a symmetric matrix.

    Each entry is the maximum of the two directions, as users of scikit-learn compute it.
    """
    graph = neighbours(n, k, "distance")
    return graph.maximum(graph.T)


def radius(n: int, degree: int) -> Any:
    """Return scikit-learn's graph of all neighbours within a radius, of `n` random points.

    The average degree is about `degree`. The matrix is symmetric, but its rows are not sorted.
    """
    from sklearn.neighbors import radius_neighbors_graph

    reach = (degree / (n * np.pi)) ** 0.5
    return radius_neighbors_graph(_points(n, 2), reach, mode="distance")


def triangulation(n: int) -> Any:
    """Return SciPy's Delaunay triangulation of `n` random points as a sparse matrix of distances.

    The rows are not sorted.
    """
    points = _points(n, 2)
    starts, ends = Delaunay(points).vertex_neighbor_vertices
    rows = np.repeat(np.arange(n), np.diff(starts))
    lengths = np.linalg.norm(points[rows] - points[ends], axis=1)
    return sparse.csr_array((lengths, ends, starts), shape=(n, n))


def image(side: int) -> Any:
    """Return scikit-learn's graph of the gradients of a random image with `side` x `side` pixels.

    The matrix is in COO format, symmetric, and has loops.
    """
    from sklearn.feature_extraction.image import img_to_graph

    return img_to_graph(1 + _points(side, side))


def grid(side: int) -> Any:
    """Return scikit-learn's graph of neighbouring pixels in an image of `side` x `side` pixels.

    The matrix is in COO format. All weights are 1, and there are loops.
    """
    from sklearn.feature_extraction.image import grid_to_graph

    return grid_to_graph(side, side)


def random(n: int, entries: int, kind: str = "csr") -> Any:
    """Return a random directed sparse matrix of doubles, with shape (n, n).

    It has `entries` random entries, before parallel ones are summed up. `kind` is the format, such
    as "csr".
    """
    rng = np.random.default_rng(n)
    u, v = rng.integers(0, n, (2, entries))
    matrix: Any = sparse.coo_array((rng.random(entries), (u, v)), shape=(n, n))
    return matrix.asformat(kind)


def edge_arrays(words: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield random graphs as arrays of edges in random order (COO), each with a title.

    The ends are int64, and the weights are doubles. No pair occurs twice. `words` selects titles as
    in :func:`usual`.
    """
    for m, degree in product(EDGES, (5, 16)):
        title = f"{m:,} edges, {degree} a vertex"
        if not words or any(word in title for word in words):
            matrix = random(m // degree, m).tocoo()
            order = np.random.default_rng(m).permutation(matrix.nnz)
            matrix.coords = tuple(ends[order].astype(np.int64) for ends in matrix.coords)
            matrix.data = matrix.data[order]
            yield title, matrix


def shuffled(n: int, entries: int) -> Any:
    """Return a random directed CSR matrix in which the entries of each row are in random order."""
    matrix = random(n, entries)
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    order = np.lexsort((rng.random(matrix.nnz), rows))
    parts = (matrix.data[order], matrix.indices[order], matrix.indptr)
    return sparse.csr_array(parts, shape=(n, n))


def file(name: str) -> Any:
    """Read the graph of a file of real data, and return it as a matrix of doubles.

    `name` is the name of the file. The matrix is the upper triangle, so it has each edge once.
    """
    return sparse.triu(as_matrix(clmst.read_graph(SHARED_DATA / name)), format="csr").astype(float)


KINDS: Mapping[str, Callable[[], Any]] = {
    "kNN, distance, 200 x 5": partial(neighbours, 200, 5, "distance"),
    "kNN, distance, 1,000 x 10": partial(neighbours, 1_000, 10, "distance"),
    "kNN, connectivity, 3,000 x 10": partial(neighbours, 3_000, 10, "connectivity"),
    "radius, 3,000": partial(radius, 3_000, 12),
    "Delaunay, 2,000": partial(triangulation, 2_000),
    "random, CSC, 10,000": partial(random, 10_000, 80_000, "csc"),
    "kNN, connectivity, 20,000 x 10": partial(neighbours, 20_000, 10, "connectivity"),
    "kNN, distance, 30,000 x 10": partial(neighbours, 30_000, 10, "distance"),
    "kNN, symmetric, 50,000 x 8": partial(symmetric_neighbours, 50_000, 8),
    "kNN, distance, 100,000 x 15, 8 dimensions": partial(
        neighbours, 100_000, 15, "distance", dimensions=8
    ),
    "radius, 100,000": partial(radius, 100_000, 12),
    "Delaunay, 100,000": partial(triangulation, 100_000),
    "image, gradients, 300 x 300": partial(image, 300),
    "image, grid, 500 x 500": partial(grid, 500),
    "random, 100,000": partial(random, 100_000, 1_000_000),
    "random, COO, 200,000": partial(random, 200_000, 1_000_000, "coo"),
    "random, rows not sorted, 100,000": partial(shuffled, 100_000, 2_000_000),
    "random, 1,000,000": partial(random, 1_000_000, 10_000_000),
}
FILES = ("USA-road-d.NY.gr.gz", "astro-ph.graph.gz", "wiki-Vote.txt.gz", "rome99.gr")


def usual(words: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all matrices of this module except small ones, each with a title.

    If `words` are given, a title must contain at least one of them.
    """
    there = [name for name in FILES if (SHARED_DATA / name).exists()]
    makers: dict[str, Callable[[], Any]] = dict(KINDS)
    makers |= {f"file, {name}": partial(file, name) for name in there}
    for title, make in makers.items():
        if not words or any(word in title for word in words):
            yield title, make()


def small(n: int, degree: int, weights: str, form: str) -> Any:
    """Return a random matrix with `n` vertices and an average degree of about `degree`.

    `weights` is one of WEIGHTS, and `form` is "symmetric", "upper" or "directed".
    """
    rng = np.random.default_rng(n + degree)
    u, v = rng.integers(0, n, (2, n * degree // (1 if form == "directed" else 2)))
    low, high = (u, v) if form == "directed" else (np.minimum(u, v), np.maximum(u, v))
    kept = u != v
    matrix = sparse.coo_array((np.ones(kept.sum()), (low[kept], high[kept])), shape=(n, n)).tocsr()
    drawn: dict[str, Any] = {
        "integers": rng.integers(1, 1 << 20, matrix.nnz, dtype=np.int32),
        "doubles": rng.random(matrix.nnz),
        "ones": np.ones(matrix.nnz),
    }
    parts = (drawn[weights], matrix.indices, matrix.indptr)
    matrix = sparse.csr_array(parts, shape=matrix.shape)
    if form == "symmetric":
        matrix = sparse.csr_array(matrix + matrix.T)
        matrix.sort_indices()
    return matrix


def every_small(
    weights: Sequence[str], forms: Sequence[str], words: Sequence[str] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield pairs of a title and a small random matrix, of all sizes and degrees.

    `weights` has the kinds of weights, and `forms` the forms of matrices, as for :func:`small`. If
    `words` are given, a title must contain at least one of them.
    """
    for kind, form, n, degree in product(weights, forms, SIZES, DEGREES):
        title = f"{n:,} x {degree}, {form}, {kind}"
        if degree < n and (not words or any(word in title for word in words)):
            yield title, small(n, degree, kind, form)
