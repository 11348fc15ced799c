"""Time ``clmst.csgraph.minimum_spanning_tree`` beside SciPy's, on the same matrices, in one run.

    python -m benchmarks.csgraph internet grid20 random-1250-d8 [--clock cpu] [--repetitions 5]
    python -m benchmarks.csgraph --points 300 1000

Graphs are named as for ``clmst bench``; without names they are the six of its group "small". Each
is timed in five forms: symmetric; its upper triangle, which SciPy solves fastest; that with random
doubles, which no 32 bits hold; and with two weights for each pair, small integers or random
doubles. `--points` times the matrices of distances between so many points, as plain arrays. Both
functions take turns, from matrix to matrix. Their results must be the same, array by array, in
every turn. `--clock cpu` takes the processor time of all threads, and `--least` the least time of
all repetitions instead of the median: for a machine that others use. The table goes to standard
output as Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys
from scipy.spatial.distance import pdist, squareform

import clmst
from benchmarks.ratios import print_table
from clmst.bench import inputs
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import CLOCKS, Contestant, Harness
from clmst.core.machine import cache_folder

# Two of something: each pair of vertices has two weights, one in each direction.
FORMS = ("symmetric", "upper", "upper-doubles", "two-integers", "two-doubles")
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
        if form == "two-integers":
            stored = _with_data(stored, rng.integers(1, 1000, stored.nnz, dtype=np.int32))
        yield form, stored


def _with_data(matrix: Any, data: Any) -> Any:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def compare(
    matrix: Any, *, repetitions: int, clock: str, least: bool = False
) -> tuple[float, float]:
    """Return the median or least seconds of clmst and of SciPy; raise if a result differs."""
    expected = scipys.minimum_spanning_tree(matrix)

    def difference(tree: Any) -> str:
        same = (np.array_equal(getattr(tree, name), getattr(expected, name)) for name in _ARRAYS)
        return "" if all(same) else "the tree is not SciPy's"

    harness = Harness(
        repetitions=repetitions,
        warm_ups=1,
        order="alternate",
        verification="every",
        clock=CLOCKS[clock],
    )
    solvers = {
        "clmst": clmst.csgraph.minimum_spanning_tree,
        "SciPy": scipys.minimum_spanning_tree,
    }
    contestants = [
        Contestant(name=name, call=partial(solve, matrix), difference=difference)
        for name, solve in solvers.items()
    ]
    ours, theirs = harness.run(contestants)
    if least:
        return min(ours.seconds), min(theirs.seconds)
    return ours.median, theirs.median


def _chosen(given: argparse.Namespace, device: clmst.Device) -> Iterator[tuple[str, str, Any]]:
    """Yield (graph, form, matrix) of what is asked for."""
    if given.graphs or not given.points:
        chosen, _ = inputs.choose(given.graphs, device, cache_folder() / "graphs")
        for one in chosen:
            for form, matrix in matrices(one.load(), given.forms):
                yield one.name, form, matrix
    for n in given.points:
        points = np.random.default_rng(0).random((n, 3))
        yield f"{n} points", "distances", squareform(pdist(points))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--points", type=int, nargs="*", default=[])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--least", action="store_true")
    given = parser.parse_args(arguments)
    device = clmst.get_device()
    said = "least" if given.least else "medians"
    print(f"{device.description}, driver {device.driver}, {given.clock} time, {said}\n")
    how = {"repetitions": given.repetitions, "clock": given.clock, "least": given.least}
    print_table(
        (name, form, matrix, compare(matrix, **how))
        for name, form, matrix in _chosen(given, device)
    )


if __name__ == "__main__":
    main()
