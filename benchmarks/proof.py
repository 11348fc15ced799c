"""What a proof costs beside the solve: ``python -m benchmarks.proof [NAME ...] [--times N]``.

A NAME is a surrogate graph (``clmst.generators.surrogates``), "path" (2**21 vertices, weights at
random) or "doubles" (10 million random edges of 64-bit weights). Both are timed in turns in one
process: the solve of a graph that is on the device, the solve from the host's graph to the host's
forest, and the proof. Ratios are medians over turns.
"""

from __future__ import annotations

import argparse
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import clmst
from clmst import DeviceForest, Graph
from clmst.algorithms.proof.prove import prove
from clmst.bench.harness import Contestant, Harness
from clmst.generators import surrogates
from clmst.runtime.launcher import Launcher

NAMES = ("road_ny", "cit", "amazon", "copapers", "patents", "path", "doubles")


def graph_of(name: str) -> Graph:
    """Return a graph by its name."""
    rng = np.random.default_rng(0)
    if name == "path":
        n = 1 << 21
        weights = rng.permutation(n - 1).astype(np.int32)
        return Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights)
    if name == "doubles":
        m, n = 10_000_000, 1_000_000
        u, v = rng.integers(0, n, (2, m))
        return Graph.from_edges(u, v, rng.random(m), n_vertices=n)
    return surrogates.find(name).build()


def measure(name: str, times: int) -> None:
    """Time one graph, and print a row of a table in Markdown."""
    graph, device = graph_of(name), clmst.get_device()
    resident = clmst.to_device(graph, device)
    forests: list[DeviceForest] = []  # the last one

    def solve() -> None:
        forests[:] = [clmst.minimum_spanning_forest(resident, keep_on_device=True)]

    contestants: list[Contestant[Any]] = [
        Contestant(name="solve", call=solve),
        Contestant(name="whole", call=partial(clmst.minimum_spanning_forest, graph, device=device)),
        Contestant(
            name="proof",
            call=lambda: prove(forests[0], Launcher(device, device.queue)),
            difference=lambda verdict: "" if verdict.ok else "the forest is refuted",
        ),
    ]
    found = Harness(repetitions=times, verification="every").run(contestants)
    on_device, whole, proof = (1e3 * one.median for one in found)
    ratios = [
        median(own / other for own, other in zip(found[2].seconds, beside.seconds, strict=True))
        for beside in found[:2]
    ]
    print(
        f"| {name} | {graph.n_vertices:,} | {graph.n_slots:,} | {on_device:.0f} | {whole:.0f} "
        f"| {proof:.0f} | {ratios[0]:.2f} | {ratios[1]:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    for graph_name in given.names:
        measure(graph_name, given.times)
