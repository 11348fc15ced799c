"""Contestants: an algorithm, its options, and what its time covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from clmst import algorithms
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.api import minimum_spanning_forest
from clmst.bench.agreement import Reference
from clmst.bench.harness import Contestant
from clmst.bench.results import Scope
from clmst.core.graph import Graph
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

# Stats of a solve that results keep.
_KEPT = ("rounds", "launches", "device_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOutcome:
    """The result of a call."""

    # Takes the right forest and returns "" if this is it, else what differs; not part of the time.
    difference: Callable[[Reference], str]
    stats: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveContestant(Contestant[SolveOutcome]):
    """One way of solving one graph."""

    scope: Scope
    parameters: Mapping[str, Any]  # what a reader must know of it

    def details(self, outcome: SolveOutcome) -> dict[str, Any]:
        """Return parameters and the stats of an outcome that are kept, in the types of JSON."""
        stats = {name: int(outcome.stats[name]) for name in _KEPT if name in outcome.stats}
        sizes = outcome.stats.get("worklist_sizes", ())
        if len(sizes) == 2 and sizes[0]:  # two phases: the filter was at work
            stats["light_edges"] = int(sizes[0][0])
        return {**self.parameters, **stats}


def solving(
    resident: DeviceGraph,
    algorithm: str,
    contestant: str,
    options: object = None,
    **parameters: Any,
) -> SolveContestant:
    """Return the contestant that leaves the forest on the device as flags: what ECL-MST times."""
    device = resident.device
    name, solve = algorithms.choose(algorithm, device, resident)

    def call() -> SolveOutcome:
        with device.lock:
            launch = Launcher(device, device.queue)
            solution = solve(resident, launch, maximum=False, options=options)
            launch.queue.finish()
        stats = {**solution.stats, "launches": launch.launches}
        flags = solution.in_forest

        def difference(reference: Reference) -> str:
            return reference.difference_of_flags(flags.to_host())

        return SolveOutcome(difference=difference, stats=stats)

    parameters = {"algorithm": name, **parameters}
    return SolveContestant(name=contestant, scope="solve", call=call, parameters=parameters)


def finding_forest(
    source: Any, resident: DeviceGraph, algorithm: str, contestant: str
) -> SolveContestant:
    """Return the contestant that finds the forest of `source`, which is equal to `resident`.

    The forest of `resident` itself stays on the device; that of a source on the host ends there.
    """
    device = resident.device
    stays: Any = source is resident

    def call() -> SolveOutcome:
        forest = minimum_spanning_forest(
            source, algorithm=algorithm, device=device, keep_on_device=stays
        )
        if stays:
            device.queue.finish()

        def difference(reference: Reference) -> str:
            found = forest.to_host() if isinstance(forest, DeviceForest) else forest
            return reference.difference(found.edge_ids)

        return SolveOutcome(difference=difference, stats=forest.stats)

    name, _ = algorithms.choose(algorithm, device, resident)
    return SolveContestant(
        name=contestant,
        scope="forest" if stays else "transfers",
        call=call,
        parameters={"algorithm": name} | ({} if stays else {"source": type(source).__name__}),
    )


def as_matrix(graph: Graph) -> Any:
    """Return a symmetric graph as a SciPy matrix of the same arrays.

    SciPy has no matrices of float16; such a graph is returned as it is.
    """
    if graph.weights.dtype == np.float16:
        return graph
    signed = np.int32 if max(graph.n_slots, graph.n_vertices) < 1 << 31 else np.int64
    parts = [
        array.view(np.int32) if signed is np.int32 else array.astype(np.int64)
        for array in (graph.indices, graph.indptr)
    ]
    shape = (graph.n_vertices, graph.n_vertices)
    return sparse.csr_array((graph.weights, *parts), shape=shape)
