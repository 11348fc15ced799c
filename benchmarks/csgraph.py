"""Time ``clmst.csgraph.minimum_spanning_tree`` beside SciPy's, on the same matrices, in one run.

    python -m benchmarks csgraph internet grid20 random-1250-d8
    python -m benchmarks csgraph --points 300 --points 1000

Graphs are named as for ``clmst bench``; without names they are the six of its group "small". Each
is timed in six forms: symmetric; its upper triangle, which SciPy solves fastest; that with random
doubles, which no 32 bits hold; and with two weights for each pair, integers below 1,000 or below
10, or random doubles. `--points` times the matrices of distances between so many points, as plain
arrays. Both functions take turns, from matrix to matrix. Their results must be the same, array by
array, in every turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys
from scipy.spatial.distance import pdist, squareform

import clmst
from benchmarks.runner import Row, Rows, Run, case, graphs_argument, means
from clmst.bench import inputs
from clmst.bench.contestants import as_matrix
from clmst.core.machine import cache_folder

# Two of something: each pair of vertices has two weights, one in each direction.
FORMS = ("symmetric", "upper", "upper-doubles", "two-integers", "two-tied", "two-doubles")
_ARRAYS = ("data", "indices", "indptr")


def matrices(graph: clmst.Graph, forms: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the matrices of a symmetric graph that are timed, by their forms."""
    rng = np.random.default_rng(0)
    symmetric = as_matrix(graph)
    upper: Any = sparse.triu(symmetric, format="csr")
    for form in forms:
        stored = upper if form.startswith("upper") else symmetric
        if form.endswith("doubles"):
            stored = _with_data(stored, rng.random(stored.nnz))
        if form in ("two-integers", "two-tied"):
            most = 1000 if form == "two-integers" else 10
            stored = _with_data(stored, rng.integers(1, most, stored.nnz, dtype=np.int32))
        yield form, stored


def _with_data(matrix: Any, data: Any) -> Any:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def chosen(
    run: Run, graphs: Sequence[str], points: Sequence[int], forms: Sequence[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield (graph, form, matrix) of what is asked for."""
    if graphs or not points:
        named, _ = inputs.choose(list(graphs), run.device, cache_folder() / "graphs")
        for one in named:
            for form, matrix in matrices(one.load(), forms):
                yield one.name, form, matrix
    for n in points:
        yield f"{n} points", "distances", squareform(pdist(np.random.default_rng(0).random((n, 3))))


@case(
    graphs_argument(),
    click.option("--points", type=int, multiple=True, help="Numbers of points."),
    click.option("--form", "forms", type=click.Choice(FORMS), multiple=True, default=FORMS),
    repetitions=5,
)
def main(
    run: Run, graphs: tuple[str, ...], points: tuple[int, ...], forms: tuple[str, ...]
) -> Rows:
    """Time clmst.csgraph.minimum_spanning_tree beside SciPy's, on the same matrices."""
    rows: dict[str, list[Row]] = {}
    for name, form, matrix in chosen(run, graphs, points, forms):
        expected: Any = scipys.minimum_spanning_tree(matrix)

        def difference(tree: Any, expected: Any = expected) -> str:
            same = (np.array_equal(getattr(tree, one), getattr(expected, one)) for one in _ARRAYS)
            return "" if all(same) else "the tree is not SciPy's"

        ways = {
            "clmst": partial(clmst.csgraph.minimum_spanning_tree, matrix),
            "SciPy": partial(scipys.minimum_spanning_tree, matrix),
        }
        times = run.turns(ways, difference, order="alternate", verification="every")
        rows.setdefault(form, []).append(times)
        entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
        ratio = run.ratio(times, "SciPy", "clmst")
        yield {"graph": name, "matrix": form, "entries": entries, **times, "ratio": ratio}
    for form, timed in rows.items():
        yield f"{form}: {means(run, timed, 'SciPy')}"
