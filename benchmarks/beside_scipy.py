"""Time ``clmst.minimum_spanning_forest`` and ``clmst.csgraph`` beside SciPy, on SciPy matrices.

    python -m benchmarks beside_scipy usual [--only kNN]
    python -m benchmarks beside_scipy small [--weights doubles] [--form symmetric] [--form directed]
    python -m benchmarks beside_scipy edges
    python -m benchmarks beside_scipy graphs internet grid20 random-1250-d8 GRAPH.egr
    python -m benchmarks beside_scipy graphs --points 300 --points 1000

``usual`` times matrices as users have them (``usual_matrices.py``): as scikit-learn and SciPy
return them, and from files of real graphs beside the clone. ``small`` times small matrices in
several ways: without a choice of the device, on a named device, and on the host. ``edges`` times
arrays of edges: ``Graph.from_edges`` and the forest beside ``csr_array((w, (u, v)))`` and the tree.
``graphs`` times graphs named as for ``clmst bench``, on the device and by ``clmst.csgraph``.
Without names it takes the group "small". Each graph has six forms. The first is symmetric. The
second is the upper triangle, which SciPy solves fastest. The third is the upper triangle with
random doubles, which do not fit into 32 bits. The other three have two weights for each pair:
integers below 1,000, integers below 10, and random doubles. ``--points`` adds the matrices of
distances between points, as plain arrays.

All functions get the same object, take turns, and are timed from the call to the result. This
includes conversions. The number of edges and the total weight are compared before any time is
printed. For ``graphs``, all arrays of the trees of SciPy and of ``clmst.csgraph`` are compared.
Below a table are the geometric mean and the smallest of the ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import geometric_mean
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

import clmst
from benchmarks import usual_matrices
from benchmarks.runner import Cases, Row, Rows, Run, case, graphs_argument
from clmst.bench import inputs
from clmst.bench.contestants import as_matrix
from clmst.core.kruskal import forest_of_matrix
from clmst.core.machine import cache_folder

Solve = Callable[[Any], Any]

SCIPY = "SciPy"
CSGRAPH: Mapping[str, Solve] = {"csgraph": clmst.csgraph.minimum_spanning_tree}
LAYOUTS = ("symmetric", "upper", "directed")
# The forms of a graph's matrix. In a form "two-...", each pair of neighbours has two weights, one
# in each direction.
FORMS = ("symmetric", "upper", "upper-doubles", "two-integers", "two-tied", "two-doubles")
ONLY = click.option("--only", multiple=True, help="Part of a title; again for more.")


def difference_from(tree: Any, *, exact: bool) -> Callable[[Any], str]:
    """Return a function that compares the result of clmst with SciPy's result, `tree`.

    The function takes a Forest or a sparse matrix. It returns "" if the result is right, and
    otherwise a text with the difference. It compares the number of edges and the total weight. If
    `exact` is true and the result is a matrix, it compares all edges and weights.
    """
    size, weight = tree.nnz, math.fsum(tree.data)

    def difference(found: Any) -> str:
        if exact and sparse.issparse(found):
            parts = [(getattr(one, name) for one in (found, tree)) for name in _ARRAYS]
            return "" if all(np.array_equal(*pair) for pair in parts) else "the tree is not SciPy's"
        is_forest = isinstance(found, clmst.Forest)
        weights = found.weights if is_forest else found.data
        total = float(found.total_weight) if is_forest else math.fsum(found.data)
        if weights.size == size and math.isclose(total, weight, rel_tol=1e-12):
            return ""
        return f"{weights.size} edges of weight {total}, not {size} of {weight}"

    return difference


_ARRAYS = ("data", "indices", "indptr")


def compared(
    run: Run,
    matrices: Iterable[tuple[str, Any]],
    ways: Mapping[str, Solve],
    scipys: Solve = minimum_spanning_tree,
    *,
    exact: bool = False,
) -> Rows:
    """Time several functions on each matrix, and yield a row with the times and ratios to SciPy's.

    `matrices` has pairs of a title and a matrix. `ways` has the functions to time, by name. Each
    takes a matrix and computes its forest. `scipys` is SciPy's function. At the end, a text is
    yielded for each function, with the geometric mean and the worst of its ratios. Results are
    compared by their number of edges and total weight or, if `exact` is true, edge by edge.
    """
    ratios: dict[str, list[tuple[float, str]]] = {name: [] for name in ways}
    for title, matrix in matrices:
        solves = {name: partial(solve, matrix) for name, solve in {**ways, SCIPY: scipys}.items()}
        right = difference_from(scipys(matrix), exact=exact)
        times = run.turns(solves, right, order="random", verification="ends", warm_ups=0)
        for name, found in ratios.items():
            found.append((run.ratio(times, SCIPY, name), title))
        entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
        row: Row = {"matrix": title, "vertices": matrix.shape[0], "entries": entries}
        row |= {"weights": str(matrix.dtype), **times}
        yield row | {f"{SCIPY} / {name}": found[-1][0] for name, found in ratios.items()}
    for name, found in ((name, found) for name, found in ratios.items() if found):
        mean, (least, worst) = geometric_mean(ratio for ratio, _ in found), min(found)
        yield f"{name}: geometric mean {mean:.2f}, worst {least:.2f} ({worst})"


def _on_host(matrix: Any) -> clmst.Forest:
    forest = forest_of_matrix(matrix, maximum=False)
    assert forest is not None
    return forest


def _of_edges(arrays: Any) -> clmst.Forest:
    u, v = arrays.coords
    graph = clmst.Graph.from_edges(u, v, arrays.data, n_vertices=arrays.shape[0])
    return clmst.minimum_spanning_forest(graph)


def _scipys_of_edges(arrays: Any) -> Any:
    rows = sparse.csr_array((arrays.data, arrays.coords), shape=arrays.shape)
    try:
        return minimum_spanning_tree(rows)
    except ValueError:  # SciPy 1.13 makes indices of 64 bits, which its function does not take
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return minimum_spanning_tree(rows)


def in_forms(graph: clmst.Graph, forms: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Convert a symmetric graph to a matrix in each of `forms`, and yield (form, matrix) pairs.

    The top of this module explains the forms.
    """
    rng = np.random.default_rng(0)
    symmetric = as_matrix(graph)
    upper: Any = sparse.triu(symmetric, format="csr")
    for form in forms:
        stored = upper if form.startswith("upper") else symmetric
        data: Any = stored.data
        if form.endswith("doubles"):
            data = rng.random(stored.nnz)
        if form in ("two-integers", "two-tied"):
            most = 1000 if form == "two-integers" else 10
            data = rng.integers(1, most, stored.nnz, dtype=np.int32)
        yield form, sparse.csr_array((data, stored.indices, stored.indptr), shape=stored.shape)


@click.group(cls=Cases)
def main() -> None:
    """Time SciPy matrices beside SciPy's own function."""


@main.add_command
@case(ONLY, repetitions=5)
def usual(run: Run, only: tuple[str, ...]) -> Rows:
    """Time clmst and SciPy on typical matrices: from scikit-learn, from SciPy, from files."""
    ways: dict[str, Solve] = {"clmst": clmst.minimum_spanning_forest, **CSGRAPH}
    return compared(run, usual_matrices.usual(only), ways)


@main.add_command
@case(
    ONLY,
    click.option(
        "--weights", multiple=True, type=click.Choice(usual_matrices.WEIGHTS),
        default=usual_matrices.WEIGHTS[:2], show_default=True,
    ),
    click.option(
        "--form", "forms", multiple=True, type=click.Choice(LAYOUTS), default=LAYOUTS[:1],
        show_default=True,
    ),
    repetitions=15,
)  # fmt: skip
def small(
    run: Run, only: tuple[str, ...], weights: tuple[str, ...], forms: tuple[str, ...]
) -> Rows:
    """Time small matrices in every way of clmst (default, named device, host) and by SciPy."""
    on_device = partial(clmst.minimum_spanning_forest, device=run.device)
    ways: dict[str, Solve] = {"clmst": clmst.minimum_spanning_forest, **CSGRAPH}
    ways |= {"device": on_device, "host": _on_host}
    return compared(run, usual_matrices.every_small(weights, forms, only), ways)


@main.add_command
@case(ONLY, repetitions=5)
def edges(run: Run, only: tuple[str, ...]) -> Rows:
    """Time forests from arrays of edges, including the conversion to a graph, beside SciPy."""
    arrays = usual_matrices.edge_arrays(only)
    return compared(run, arrays, {"clmst": _of_edges}, _scipys_of_edges)


@main.add_command
@case(
    graphs_argument(),
    click.option("--points", type=int, multiple=True, help="Numbers of points."),
    click.option("--form", "forms", type=click.Choice(FORMS), multiple=True, default=FORMS),
    repetitions=5,
)
def graphs(
    run: Run, graphs: tuple[str, ...], points: tuple[int, ...], forms: tuple[str, ...]
) -> Rows:
    """Time graphs in several forms, and matrices of distances between points."""

    def matrices() -> Iterator[tuple[str, Any]]:
        if graphs or not points:
            named, _ = inputs.choose(list(graphs), run.device, cache_folder() / "graphs")
            for one in named:
                for form, matrix in in_forms(one.load(), forms):
                    yield f"{one.name}, {form}", matrix
        for n in points:
            yield f"{n} points", squareform(pdist(np.random.default_rng(0).random((n, 3))))

    on_device = partial(clmst.minimum_spanning_forest, device=run.device)
    return compared(run, matrices(), {"device": on_device, **CSGRAPH}, exact=True)
