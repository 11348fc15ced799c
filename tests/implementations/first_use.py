"""Default solves by a process that knows nothing of its device; prints what came of them as JSON.

Each answer is compared with Kruskal's. The last one is timed beside SciPy's.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from scipy.sparse import coo_array, csgraph

import clmst
from clmst import generators

TIMED = 200_000  # vertices
GRAPHS: dict[str, Callable[[], clmst.Graph]] = {
    "grid": lambda: generators.generate("grid", rows=60, columns=70, weights="equal"),
    "path": lambda: generators.generate("path", n=5000, weights="ruler"),
    "star": lambda: generators.generate("star", n=5000),
    "road": lambda: generators.generate("road", n=20_000),
    "rmat": lambda: generators.generate("rmat", scale=12),
    "random": lambda: generators.generate("random", n=TIMED, average_degree=12, weights="float"),
}


def best_of(repetitions: int, call: Callable[[], Any]) -> float:
    """Return the shortest time of some calls, in seconds."""
    times = []
    for _ in range(repetitions):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    found: dict[str, Any] = {"answers": {}}
    for name, make in GRAPHS.items():
        graph = make()
        print(f"first use: {name}", file=sys.stderr, flush=True)
        try:
            forest = clmst.minimum_spanning_forest(graph)
        except clmst.ClmstError as error:
            found["answers"][name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            continue
        is_right = forest.edge_ids.tolist() == clmst.kruskal(graph).edge_ids.tolist()
        by = f"{forest.stats['algorithm']} on {forest.stats['device']}"
        found["answers"][name] = f"right, by {by}" if is_right else f"wrong, by {by}"
    u, v, weights, _ = graph.edges()
    matrix = coo_array((weights, (u, v)), shape=2 * (graph.n_vertices,)).tocsr()
    ours = best_of(3, lambda: clmst.minimum_spanning_forest(graph))
    theirs = best_of(3, lambda: csgraph.minimum_spanning_tree(matrix))
    print(json.dumps(found | {"over_scipy": round(ours / theirs, 3)}))


if __name__ == "__main__":
    main()
