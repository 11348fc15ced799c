"""Time ``clmst.minimum_spanning_forest`` beside SciPy on the same matrices, in one run.

    python -m benchmarks.beside_scipy GRAPH.egr ... [--device NAME] [--repetitions 5]

Both get the same ``scipy.sparse.csr_array`` and are timed from call to result, conversion included,
by turns. Each graph is timed as stored (symmetric, its own weights), as its upper triangle, which
is SciPy's fastest form, and with random doubles that no 32 bits can hold. Totals are compared
before any time is printed. The table goes to standard output as Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks.ratios import print_table
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import Contestant, Harness


def matrices(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield a graph in the forms that are timed."""
    symmetric = as_matrix(clmst.read_graph(path).symmetrised())
    yield "symmetric", symmetric
    upper = sparse.triu(symmetric, format="csr")
    yield "upper triangle", upper
    random = upper.astype(np.float64)
    random.data = np.random.default_rng(0).random(random.nnz)
    yield "random doubles", random


def compare(matrix: Any, device: clmst.Device, repetitions: int) -> tuple[float, float]:
    """Return the median seconds of clmst and of SciPy, run by turns; raise if they disagree."""
    totals: list[float] = []

    def difference(total: float) -> str:
        totals.append(total)
        right = math.isclose(total, totals[0], rel_tol=1e-12)
        return "" if right else f"the total weight is {total}, not {totals[0]} as for clmst"

    harness = Harness(repetitions=repetitions, verification="every")
    ours: Contestant[Any] = Contestant(
        name="clmst",
        call=partial(clmst.minimum_spanning_forest, matrix, device=device),
        difference=lambda forest: difference(forest.total_weight),
    )
    theirs: Contestant[Any] = Contestant(
        name="SciPy",
        call=partial(minimum_spanning_tree, matrix),
        difference=lambda tree: difference(math.fsum(tree.data)),
    )
    one, other = harness.run([ours, theirs])
    return one.median, other.median


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    device = clmst.get_device(arguments.device)
    print(f"{device.description}, driver {device.driver}\n")
    print_table(
        (path.stem, form, matrix, compare(matrix, device, arguments.repetitions))
        for path in arguments.graphs
        for form, matrix in matrices(path)
    )


if __name__ == "__main__":
    main()
