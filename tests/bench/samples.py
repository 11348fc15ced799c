"""Results with known figures, and graphs small enough to solve at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clmst.bench.agreement import Reference
from clmst.bench.contestants import SolveContestant, take_turns
from clmst.bench.inputs import Input
from clmst.bench.report import STEPS
from clmst.bench.results import Measurement, Results
from clmst.core.graph import Graph
from clmst.generators import random
from clmst.io import write_graph
from clmst.runtime.device import Device

MACHINE = {
    "device": "Swift GPU",
    "platform": "Some CL",
    "driver": "1.2",
    "without": [],
    "host": "Some CPU",
    "host_cores": 8,
    "versions": {"clmst": "0.1.0"},
}


def graph_of(n: int = 300, degree: int = 8) -> Graph:
    """Return a random graph in the form that benchmarks take."""
    graph = random(n=n, average_degree=degree).symmetrised()
    return graph.replace(edge_ids=None, n_input=graph.n_slots)


def file_of(path: Path, **parameters: int) -> Path:
    """Write such a graph."""
    write_graph(graph_of(**parameters), path)
    return path


def input_of(path: Path, total_weight: int | None = None) -> Input:
    """Return the input of a graph as in :func:`graph_of`, which is in the file `path`."""
    return Input(name=path.stem, load=graph_of, ecl_file=lambda: path, total_weight=total_weight)


def timed(
    device: Device,
    contestants: Sequence[SolveContestant],
    reference: Reference,
    repetitions: int = 3,
    **peers: Any,
) -> list[Measurement]:
    """Return the measurements of a benchmark of contestants."""
    return take_turns(device, contestants, reference, measured, repetitions, **peers)


def facts_of(n: int, slots: int, /, **more: Any) -> dict[str, Any]:
    """Return the description of a graph in results."""
    return {
        "n_vertices": n,
        "n_slots": slots,
        "n_edges": slots // 2,
        "weights": "int32",
        "n_forest_edges": n - 1,
        "total_weight": 10 * n,
        "known_by": "the recorded weight",
        **more,
    }


def measured(**fields: Any) -> Measurement:
    """Return a measurement, of a millisecond unless told otherwise."""
    ordinary: dict[str, Any] = {
        "machine": "a",
        "experiment": "times",
        "graph": "g",
        "contestant": "clmst auto",
        "scope": "solve",
        "status": "ok",
        "seconds": (0.001, 0.001, 0.0015),
    }
    return Measurement(**(ordinary | fields))


def results_of(machine: str = "a", device: str = "Swift GPU", pace: float = 1.0) -> Results:
    """Return results of all contestants on two graphs. All times are proportional to `pace`."""
    results = Results(machines={machine: MACHINE | {"device": device}})
    results.graphs = {"small": facts_of(100, 1000), "large": facts_of(10_000, 100_000)}

    def add(graph: str, contestant: str, milliseconds: float, **fields: Any) -> None:
        times = tuple(pace * 1e-3 * milliseconds * factor for factor in (1.0, 0.9, 1.2))
        one = measured(machine=machine, graph=graph, contestant=contestant, seconds=times, **fields)
        results.measurements[one.key] = one

    for graph, ms in (("large", 4.0), ("small", 1.0)):
        reported = {"algorithm": "ecl", "device_bytes": results.graphs[graph]["n_slots"] * 20}
        add(graph, "clmst auto", ms, details=reported)
        add(graph, "rival", 2 * ms, ours=False)
        for scope in ("forest", "transfers"):
            add(graph, "clmst auto", 3 * ms, scope=scope, details={"algorithm": "ecl"})
        for step, title in enumerate(STEPS):
            add(graph, title, ms * 1.5**step, experiment="ablation")
        for seed in range(4):
            details = {"samples": 1024, "seed": seed}
            if graph == "large":
                details["light_edges"] = 15_000 + 1500 * seed
            add(graph, f"seed {seed}", ms * (1 + seed), experiment="seeds", details=details)
    for study, of in (("scaling", ((1024, 8), (4096, 8))), ("degree", ((2048, 4), (2048, 16)))):
        for n, degree in of:
            name = f"random-{n}-d{degree}"
            results.graphs[name] = facts_of(n, n * degree, n=n, degree=degree)
            add(name, "clmst auto", 0.1 + n * degree * 1e-4, experiment=study)
    broken = measured(machine=machine, contestant="slow", status="timeout", seconds=(), ours=False)
    results.graphs["g"] = facts_of(5, 8)
    results.measurements[broken.key] = broken
    return results
