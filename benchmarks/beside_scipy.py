"""Time ``clmst.minimum_spanning_forest`` beside SciPy on the same matrices, in one run.

    python benchmarks/beside_scipy.py GRAPH.egr ... [--device NAME] [--repetitions 5]

Both get the same ``scipy.sparse.csr_array`` and are timed from call to result, conversion included,
by turns. Each graph is taken as it comes (symmetric, its own weights), as its upper triangle, which
is what SciPy likes best, and with random doubles that no 32 bits can hold. Totals are compared
before any time is printed. The table goes to standard output as Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst


def matrices(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield a graph in the forms that are timed."""
    graph = clmst.read_graph(path).symmetrised()
    shape = (graph.n_vertices, graph.n_vertices)
    parts = (graph.weights, graph.indices.astype(np.int32), graph.indptr.astype(np.int32))
    symmetric = sparse.csr_array(parts, shape=shape)
    yield "symmetric", symmetric
    upper = sparse.triu(symmetric, format="csr")
    yield "upper triangle", upper
    random = upper.astype(np.float64)
    random.data = np.random.default_rng(0).random(random.nnz)
    yield "random doubles", random


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds a call takes, and its result."""
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def compare(matrix: Any, device: clmst.Device, repetitions: int) -> tuple[float, float]:
    """Return the median seconds of clmst and of SciPy, run by turns; raise if they disagree."""
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repetitions + 1):
        seconds, forest = timed(lambda: clmst.minimum_spanning_forest(matrix, device=device))
        ours.append(seconds)
        seconds, tree = timed(lambda: minimum_spanning_tree(matrix))
        theirs.append(seconds)
        if not math.isclose(forest.total_weight, math.fsum(tree.data), rel_tol=1e-12):
            raise SystemExit(f"totals differ: {forest.total_weight} and {math.fsum(tree.data)}")
    return median(ours[1:]), median(theirs[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    device = clmst.get_device(arguments.device)
    print(f"{device.description}, driver {device.driver}\n")
    print("| graph | matrix | slots | clmst ms | SciPy ms | ratio |\n|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {}
    for path in arguments.graphs:
        for form, matrix in matrices(path):
            ours, theirs = compare(matrix, device, arguments.repetitions)
            ratios.setdefault(form, []).append(theirs / ours)
            print(
                f"| {path.stem} | {form} | {matrix.nnz:,} | {ours * 1e3:.1f} | {theirs * 1e3:.1f} "
                f"| {theirs / ours:.2f} |",
                flush=True,
            )
    means = ", ".join(f"{form} {geometric_mean(values):.2f}" for form, values in ratios.items())
    print(f"\nGeometric means of the ratios: {means}.")


if __name__ == "__main__":
    main()
