"""Time ``clmst.minimum_spanning_forest`` and ``clmst.csgraph`` beside SciPy, in one run.

    python -m benchmarks.beside_scipy [--device NAME] [--repetitions 5] [--only kNN]
    python -m benchmarks.beside_scipy --small [--weights doubles] [--forms symmetric directed]
    python -m benchmarks.beside_scipy --edges
    python -m benchmarks.beside_scipy GRAPH.egr ...

The first times the matrices that people have (``usual_matrices.py``): by scikit-learn, by SciPy,
and those of real files beside the clone, as they are. The second times small ones, by every way:
as it is, on a named device, on the host. The third times arrays of edges: ``Graph.from_edges`` and
the forest beside ``csr_array((w, (u, v)))`` and the tree. With graph files, each is timed as stored
(symmetric, its own weights), as its upper triangle, which is SciPy's fastest form, and with random
doubles.

All get the very same object and are timed from call to result, conversion included, by turns. The
number of edges and the total weight are compared before any time is printed. Tables go to standard
output as Markdown, the geometric mean of the ratios and the worst one below. `--clock cpu` takes
the processor time of all threads.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks import usual_matrices as usual
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import CLOCKS, Contestant, Harness
from clmst.core.kruskal import forest_of_matrix

Solve = Callable[[Any], Any]

FORMS = ("symmetric", "upper", "directed")


def matrices(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield a graph in the forms that are timed."""
    symmetric = as_matrix(clmst.read_graph(path).symmetrised())
    yield "symmetric", symmetric
    upper = sparse.triu(symmetric, format="csr")
    yield "upper triangle", upper
    random = upper.astype(np.float64)
    random.data = np.random.default_rng(0).random(random.nnz)
    yield "random doubles", random


def times(
    matrix: Any, ways: Mapping[str, Solve], repetitions: int, clock: str = "wall"
) -> dict[str, float]:
    """Return the median seconds of each way, run by turns; raise if one disagrees with SciPy."""
    tree = ways["SciPy"](matrix)
    expected = tree.nnz, math.fsum(tree.data)

    def difference(found: Any) -> str:
        is_forest = isinstance(found, clmst.Forest)
        weights = found.weights if is_forest else found.data
        total = float(found.total_weight) if is_forest else math.fsum(found.data)
        if weights.size == expected[0] and math.isclose(total, expected[1], rel_tol=1e-12):
            return ""
        return f"{weights.size} edges of weight {total}, not {expected[0]} of {expected[1]}"

    harness = Harness(
        repetitions=repetitions, verification="ends", order="random", clock=CLOCKS[clock]
    )
    contestants: list[Contestant[Any]] = [
        Contestant(name=name, call=partial(solve, matrix), difference=difference)
        for name, solve in ways.items()
    ]
    measured = harness.run(contestants)
    return {name: one.median for name, one in zip(ways, measured, strict=True)}


def print_table(rows: Iterable[tuple[str, str, Any, tuple[float, float]]]) -> None:
    """Print each row when it is measured, and the mean ratio of each form at the end.

    Parameters
    ----------
    rows : iterable of (graph, form, matrix, seconds of clmst and of SciPy)
    """
    print("| graph | matrix | entries | clmst ms | SciPy ms | ratio |\n|---|---|--:|--:|--:|--:|")
    ratios: dict[str, list[float]] = {}
    for name, form, matrix, (ours, theirs) in rows:
        ratios.setdefault(form, []).append(theirs / ours)
        entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
        print(
            f"| {name} | {form} | {entries:,} | {ours * 1e3:.2f} | {theirs * 1e3:.2f} "
            f"| {theirs / ours:.2f} |",
            flush=True,
        )
    means = ", ".join(f"{form} {geometric_mean(values):.2f}" for form, values in ratios.items())
    print(f"\nGeometric means of the ratios: {means}.")


def print_ways(
    rows: Iterable[tuple[str, Any]], ways: Mapping[str, Solve], repetitions: int, clock: str
) -> None:
    """Print a row for each matrix: ms of each way, then how many times as fast as SciPy it is."""
    ours = [name for name in ways if name != "SciPy"]
    heads = ["matrix", "vertices", "entries", "weights", *(f"{name} ms" for name in ways), *ours]
    print(f"| {' | '.join(heads)} |\n|---|{'--:|' * (len(heads) - 1)}")
    ratios: dict[str, list[tuple[float, str]]] = {name: [] for name in ours}
    for title, matrix in rows:
        taken = times(matrix, ways, repetitions, clock)
        for name in ours:
            ratios[name].append((taken["SciPy"] / taken[name], title))
        cells = [title, f"{matrix.shape[0]:,}", f"{matrix.nnz:,}", str(matrix.dtype)]
        cells += [f"{1e3 * taken[name]:.3g}" for name in ways]
        cells += [f"{ratios[name][-1][0]:.2f}" for name in ours]
        print(f"| {' | '.join(cells)} |", flush=True)
    print()
    for name, found in ratios.items():
        mean, (least, worst) = geometric_mean(ratio for ratio, _ in found), min(found)
        print(f"{name}: geometric mean {mean:.2f}, worst {least:.2f} ({worst})")


def _on_host(matrix: Any) -> clmst.Forest:
    forest = forest_of_matrix(matrix, maximum=False)
    assert forest is not None
    return forest


def _of_edges(arrays: Any, solve: Solve) -> clmst.Forest:
    u, v = arrays.coords
    forest: clmst.Forest = solve(
        clmst.Graph.from_edges(u, v, arrays.data, n_vertices=arrays.shape[0])
    )
    return forest


def _scipys_of_edges(arrays: Any) -> Any:
    rows = sparse.csr_array((arrays.data, arrays.coords), shape=arrays.shape)
    try:
        return minimum_spanning_tree(rows)
    except ValueError:  # SciPy 1.13 makes indices of 64 bits, which its function does not take
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return minimum_spanning_tree(rows)


def main(arguments: list[str] | None = None) -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--only", nargs="+", default=[], help="words in titles of matrices")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--weights", nargs="+", choices=usual.WEIGHTS, default=usual.WEIGHTS[:2])
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS[:1])
    given = parser.parse_args(arguments)
    device = clmst.get_device(given.device)
    print(f"{device.description}, driver {device.driver}, {given.clock} time, medians\n")
    named = partial(clmst.minimum_spanning_forest, device=device)
    default = clmst.minimum_spanning_forest if given.device is None else named
    scipys: dict[str, Solve] = {"SciPy": minimum_spanning_tree}
    if given.graphs:
        repetitions = given.repetitions or 5
        rows = ((path.stem, *form) for path in given.graphs for form in matrices(path))
        print_table(
            (name, form, matrix, (taken["clmst"], taken["SciPy"]))
            for name, form, matrix in rows
            for taken in [times(matrix, {"clmst": named, **scipys}, repetitions, given.clock)]
        )
        return
    ways: dict[str, Solve] = {"clmst": default, "csgraph": clmst.csgraph.minimum_spanning_tree}
    if given.edges:
        ways = {"clmst": partial(_of_edges, solve=default)}
        scipys = {"SciPy": _scipys_of_edges}
        chosen = usual.edge_arrays(given.only)
    elif given.small:
        ways |= {"device": named, "host": _on_host}
        chosen = usual.every_small(given.weights, given.forms, given.only)
    else:
        chosen = usual.usual(given.only)
    repetitions = given.repetitions or (15 if given.small else 5)
    print_ways(chosen, {**ways, **scipys}, repetitions, given.clock)


if __name__ == "__main__":
    main()
