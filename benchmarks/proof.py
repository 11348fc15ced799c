"""Time the proof that a forest is minimal, and the solve that has found the forest.

    python -m benchmarks proof [NAME ...]

A NAME is a surrogate graph or a file, as for ``clmst bench``, or "path" (2**21 vertices with random
weights), or "doubles" (10 million random edges with 64-bit weights). Three calls are timed in
turns: the solve of a graph on the device, the solve from a graph on the host to a forest on the
host, and the proof. A ratio is the median of the ratios of all turns.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

import numpy as np

import clmst
from benchmarks.repeated import load
from benchmarks.runner import Row, Rows, Run, Way, case, graphs_argument
from clmst import DeviceForest, Graph
from clmst.algorithms.proof.prove import prove
from clmst.runtime.launcher import Launcher

NAMES = ("road_ny", "cit", "amazon", "copapers", "patents", "path", "doubles")


def graph_of(name: str) -> Graph:
    """Generate or load a graph by its name. The top of this module lists the names."""
    rng = np.random.default_rng(0)
    if name == "path":
        n = 1 << 21
        weights = rng.permutation(n - 1).astype(np.int32)
        return Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights)
    if name == "doubles":
        m, n = 10_000_000, 1_000_000
        u, v = rng.integers(0, n, (2, m))
        return Graph.from_edges(u, v, rng.random(m), n_vertices=n)
    return load(name)


def refuted(found: Any) -> str:
    """Return "the forest is refuted" if the result of a proof is not ok, otherwise ""."""
    return "" if getattr(found, "ok", True) else "the forest is refuted"


@case(graphs_argument(), repetitions=5)
def main(run: Run, graphs: tuple[str, ...]) -> Rows:
    """Time solves, and proofs that their forests are minimal."""
    device = run.device
    for name in graphs or NAMES:
        graph = graph_of(name)
        resident = clmst.to_device(graph, device)
        forests: list[DeviceForest] = []  # the last one

        def solve(resident: Any = resident, forests: list[DeviceForest] = forests) -> None:
            forests[:] = [clmst.minimum_spanning_forest(resident, keep_on_device=True)]

        def proved(forests: list[DeviceForest] = forests) -> Any:
            return prove(forests[0], Launcher(device, device.queue))

        whole = partial(clmst.minimum_spanning_forest, graph, device=device)
        ways: dict[str, Way] = {"solve": solve, "whole": whole, "proof": proved}
        times = run.turns(ways, refuted, verification="every", warm_ups=0)
        row: Row = {"graph": name, "vertices": graph.n_vertices, "slots": graph.n_slots}
        row |= times
        for other in ("solve", "whole"):
            pairs = zip(times["proof"], times[other], strict=True)
            row[f"proof / {other}"] = median(own / its for own, its in pairs)
        yield row
