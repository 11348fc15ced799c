"""Measurements of what solves and transfers cost on a device, fitted by a line.

A :class:`clmst.RepeatedSolver` on several devices shares work out by these
(:mod:`clmst.algorithms.parts.costs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from clmst.bench.harness import Contestant, Harness, median_seconds
from clmst.core.graph import Graph
from clmst.generators import generate
from clmst.repeated.solver import RepeatedSolver
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.policy import PARAMETERS, Number
from clmst.runtime.transfer import Transfer
from clmst.tune.graphs import Makers

# Vertices of the graph whose solve takes what every solve takes, and of that of all pairs.
_SMALL = 256
_COMPLETE = {"cpu": 1024, "gpu": 4096, "accelerator": 4096}
_TRANSFER_BYTES = 64 << 20


def measure(device: Device, makers: Makers, repetitions: int) -> dict[str, Number]:
    """Measure the fields of a policy that are costs, by medians of solves of sparse graphs.

    The larger the graphs, the better; a small one is added. Weights are on the device, and forests
    stay there.
    """
    sizes, times = [], []
    small: Callable[[], Graph] = partial(generate, "random", n=_SMALL, average_degree=4.0)
    for make in (small, *makers.values()):
        graph = make()
        sizes.append((graph.n_vertices, graph.n_edges))
        times.append(solve_ms(device, graph, "auto", repetitions))
    values = fitted(sizes, times)
    n = _COMPLETE[device.capabilities.kind]
    ms = solve_ms(device, generate("complete", n=n), "dense", repetitions)
    values["cell_ns"] = 1e6 * (ms - 1e-3 * values["solve_us"]) / n**2
    if device.capabilities.host_arrays == "copied":
        values |= transfers(device, repetitions)
    return {
        name: float(f"{min(max(value, PARAMETERS[name].least), PARAMETERS[name].most):.4g}")
        for name, value in values.items()
    }


def fitted(sizes: Sequence[tuple[int, int]], milliseconds: Sequence[float]) -> dict[str, float]:
    """Return what a solve, a vertex and an edge take, by the times of graphs of known sizes.

    None is negative; by the least squares of relative errors, lest the largest graph decide
    alone.
    """
    from scipy.optimize import nnls

    rows = np.array([[1e-3, 1e-6 * n, 1e-6 * m] for n, m in sizes])
    found, _ = nnls(rows / np.array(milliseconds)[:, None], np.ones(len(sizes)))
    return dict(zip(("solve_us", "vertex_ns", "edge_ns"), found.tolist(), strict=True))


def solve_ms(device: Device, graph: Graph, algorithm: str, repetitions: int) -> float:
    """Return the median milliseconds of a prepared graph's solves, after the first two."""
    with RepeatedSolver(graph, devices=device, algorithm=algorithm) as solver:
        rng = np.random.default_rng(0)
        weights = DeviceArray.from_host(rng.random(solver.n_edges, dtype=np.float32), device)

        def solve() -> object:
            return solver.solve(weights, keep_on_device=True)

        return 1e3 * median_seconds(solve, repetitions, warm_ups=2)


def transfers(device: Device, repetitions: int) -> dict[str, float]:
    """Return the rates of an upload and a download of a large array, in GB/s."""
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
