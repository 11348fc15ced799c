"""Resident memory of the process over many rounds of a RepeatedSolver: whether it goes on growing.

python -m benchmarks.memory_of_rounds --algorithm pma --vertices 100000 --rounds 200
"""

from __future__ import annotations

import argparse

import numpy as np

import clmst


def resident_mib() -> float:
    """Return the memory of this process that is resident, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) / 256


def main() -> None:
    """Print the memory after 1, 2, 5, 10, ... rounds, each of other weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--device")
    parser.add_argument("--vertices", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=2000)
    given = parser.parse_args()
    graph = clmst.generate("random", n=given.vertices, average_degree=8.0, seed=1)
    solver = clmst.RepeatedSolver(graph, devices=given.device, algorithm=given.algorithm)
    shown = {step * 10**power for step in (1, 2, 5) for power in range(7)} | {given.rounds}
    rng = np.random.default_rng(0)
    for k in range(1, given.rounds + 1):
        forest = solver.solve(rng.random(graph.n_edges))
        if forest.edges.shape[0] and k in shown:
            print(f"{k:8} rounds: {resident_mib():.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
