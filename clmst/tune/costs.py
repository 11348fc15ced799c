"""What solves and transfers cost on a device: measured, and fitted by a line.

A :class:`clmst.RepeatedSolver` on several devices shares work out by these
(:mod:`clmst.algorithms.parts.costs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from clmst.bench.harness import Contestant, Harness, median_seconds
from clmst.core.graph import Graph
from clmst.generators import generate
from clmst.repeated.solver import RepeatedSolver
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.transfer import Transfer
from clmst.runtime.tuning_parameters import PARAMETERS
from clmst.runtime.tuning_table import Number
from clmst.tune.graphs import GraphSource

# Vertices of the graph whose solve takes what every solve takes, and of that of all pairs.
_SMALL = 256
_COMPLETE = {"cpu": 1024, "gpu": 4096, "accelerator": 4096}
_TRANSFER_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A sparse graph, and the milliseconds that it took."""

    n_vertices: int
    n_edges: int
    milliseconds: float


def measure(device: Device, sources: Sequence[GraphSource], repetitions: int) -> dict[str, Number]:
    """Return the fields of a policy that are costs, measured on a device.

    Parameters
    ----------
    device : Device
    sources : sequence of GraphSource
        Sparse graphs, the larger the better; a small one is added.
    repetitions : int
        Solves of each, of whose times the median counts.

    Notes
    -----
    Weights are on the device, and forests stay there.
    """
    small = generate("random", n=_SMALL, average_degree=4.0)
    points = []
    for graph in (small, *(source.make() for source in sources)):
        ms = solve_ms(device, graph, "auto", repetitions)
        n, m = graph.n_vertices, graph.n_edges
        points.append(Point(n_vertices=n, n_edges=m, milliseconds=ms))
    values = fitted(points)
    values["cell_ns"] = _cell_ns(device, values["solve_us"], repetitions)
    if device.capabilities.host_arrays == "copied":
        values |= transfers(device, repetitions)
    return {name: _legal(name, value) for name, value in values.items()}


def fitted(points: Sequence[Point]) -> dict[str, float]:
    """Return what a solve, an edge and a vertex take, none less than nothing.

    By the least squares of relative errors, lest the largest graph decide alone.
    """
    from scipy.optimize import nnls

    rows = np.array([[1e-3, 1e-6 * p.n_edges, 1e-6 * p.n_vertices] for p in points])
    times = np.array([p.milliseconds for p in points])
    found, _ = nnls(rows / times[:, None], np.ones(times.size))
    return dict(zip(("solve_us", "edge_ns", "vertex_ns"), found.tolist(), strict=True))


def solve_ms(device: Device, graph: Graph, algorithm: str, repetitions: int) -> float:
    """Return the median of what solves of a prepared graph take, after the first two."""
    with RepeatedSolver(graph, devices=device, algorithm=algorithm) as solver:
        rng = np.random.default_rng(0)
        weights = DeviceArray.from_host(rng.random(solver.n_edges, dtype=np.float32), device)

        def solve() -> object:
            return solver.solve(weights, keep_on_device=True)

        return 1e3 * median_seconds(solve, repetitions, warm_ups=2)


def transfers(device: Device, repetitions: int) -> dict[str, float]:
    """Return how quickly a large array of the host comes to a device, and back."""
    array = np.ones(_TRANSFER_BYTES, np.uint8)
    there = Transfer(buffer=device.allocate(array.nbytes), array=array)
    queue = device.new_queue()
    copies: dict[str, Callable[..., None]] = {
        "upload_gb_s": device.staging.send,
        "download_gb_s": device.staging.fetch,
    }
    contestants = [
        Contestant(name=name, call=partial(copy, queue, [there]), wait=queue.finish)
        for name, copy in copies.items()
    ]
    found = Harness(repetitions=repetitions).run(contestants)
    return {times.name: 1e-9 * array.nbytes / times.median for times in found}


def _cell_ns(device: Device, solve_us: float, repetitions: int) -> float:
    n = _COMPLETE[device.capabilities.kind]
    graph = generate("complete", n=n)
    ms = solve_ms(device, graph, "dense", repetitions)
    return 1e6 * (ms - 1e-3 * solve_us) / n**2


def _legal(name: str, value: float) -> float:
    """Return a value of four digits within the range of what it is a value of."""
    parameter = PARAMETERS[name]
    return float(f"{min(max(value, parameter.least), parameter.most):.4g}")
