"""The peers that clmst brings itself: SciPy and NetworkX, on one core of the host.

    python -m clmst.bench.own_peers scipy GRAPH.egr REPETITIONS

This is a program of its own, as any peer is: it keeps to the protocol of `clmst.bench.peers`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from clmst.bench.harness import Contestant, Harness
from clmst.core.graph import Graph
from clmst.io.file_edges import FileEdges

# Returns what is called each time, and what gives the weight of its result.
Make: TypeAlias = Callable[[Graph], tuple[Callable[[], Any], Callable[[Any], float]]]


def _scipy(graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    """``scipy.sparse.csgraph.minimum_spanning_tree`` of the upper triangle, its fastest form."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    matrix = _upper(graph)
    return lambda: minimum_spanning_tree(matrix), lambda tree: math.fsum(tree.data)


def _networkx(graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    """``networkx.minimum_spanning_edges`` of a NetworkX graph, by Kruskal's algorithm."""
    import networkx as nx

    G = nx.from_scipy_sparse_array(_upper(graph))
    return (
        lambda: list(nx.minimum_spanning_edges(G, data=True)),
        lambda edges: math.fsum(data["weight"] for _, _, data in edges),
    )


def _upper(graph: Graph) -> Any:
    from scipy import sparse

    edges = FileEdges.of_graph(graph)
    n = edges.n_vertices
    ends = (edges.u.astype(np.int32), edges.v.astype(np.int32))  # SciPy 1.13 takes no others
    return sparse.csr_array((edges.weights, ends), shape=(n, n))


def main(words: list[str]) -> None:
    """Read the file, warm up once, and print a line for each repetition, then the weight."""
    from clmst.io import read_graph

    name, path, repetitions = words
    make: Make = {"scipy": _scipy, "networkx": _networkx}[name]
    solve, weight_of = make(read_graph(Path(path), format="ecl"))
    contestant = Contestant(name=name, call=solve)
    (times,) = Harness(repetitions=int(repetitions), warm_ups=1).run([contestant])
    for seconds in times.seconds:
        print("solve_ms", 1e3 * seconds)
    print("weight", weight_of(solve()))


if __name__ == "__main__":
    main(sys.argv[1:])
