"""The peers that clmst brings itself: SciPy and NetworkX, on one core of the host.

    python -m clmst.bench.own_peers scipy GRAPH.egr REPETITIONS

This is a program of its own, as any peer is: it keeps to the protocol of `clmst.bench.peers`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from clmst.bench.harness import Contestant, Harness
from clmst.core.graph import Graph
from clmst.io.file_edges import FileEdges


def _solver(name: str, graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    """Return what a library solves the upper triangle by, and what weighs its result."""
    from scipy import sparse

    edges = FileEdges.of_graph(graph)
    n = edges.n_vertices
    ends = (edges.u.astype(np.int32), edges.v.astype(np.int32))  # SciPy 1.13 takes no others
    matrix = sparse.csr_array((edges.weights, ends), shape=(n, n))
    if name == "scipy":
        from scipy.sparse.csgraph import minimum_spanning_tree

        return lambda: minimum_spanning_tree(matrix), lambda tree: math.fsum(tree.data)
    import networkx as nx

    G = nx.from_scipy_sparse_array(matrix)
    return (
        lambda: list(nx.minimum_spanning_edges(G, data=True)),  # by Kruskal's algorithm
        lambda edges: math.fsum(data["weight"] for _, _, data in edges),
    )


def main(words: list[str]) -> None:
    """Read the file, warm up once, and print a line for each repetition, then the weight."""
    from clmst.io import read_graph

    name, path, repetitions = words
    solve, weight_of = _solver(name, read_graph(Path(path), format="ecl"))
    contestant = Contestant(name=name, call=solve)
    (times,) = Harness(repetitions=int(repetitions), warm_ups=1).run([contestant])
    for seconds in times.seconds:
        print("solve_ms", 1e3 * seconds)
    print("weight", weight_of(solve()))


if __name__ == "__main__":
    main(sys.argv[1:])
