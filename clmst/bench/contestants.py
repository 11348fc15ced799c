"""Time several algorithms on one graph in turns.

A contestant is an algorithm with options, and with a scope, which says what its time covers: for
example only the solve, or the copies to the device and back as well. In a turn every contestant is
called once.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.solving import choose
from clmst.api import minimum_spanning_forest
from clmst.bench.agreement import Reference
from clmst.bench.harness import Contestant, Harness, first_line
from clmst.bench.peers import Peer, PeerOutcome
from clmst.bench.results import Measurement, Scope
from clmst.core.errors import ClmstError
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

# The entries of a forest's statistics that are kept in the results.
_KEPT = ("rounds", "launches", "device_bytes")
# Numbers of calls that are not timed. After a contestant's first call, which is verified, it is
# called WARM_UPS more times. Before each timed call it is called REHEARSALS times, because peers
# (programs of other authors) time themselves in a loop, so that they have made calls just before,
# too. Without rehearsals, a small solve takes twice as long after the long solve of another
# contestant, because its data are not in the caches and the clock rate differs.
WARM_UPS = 2
REHEARSALS = 2

# A function that makes a :class:`Measurement` from the results of a contestant. The caller has
# bound its arguments for the machine, the experiment and the graph.
Make: TypeAlias = Callable[..., Measurement]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOutcome:
    """The result of one call of a contestant, which is a compared algorithm or program."""

    # A function that compares the result of the call with the right forest. It returns "" if both
    # agree, else a description of the first difference. The comparison is not part of the time.
    difference: Callable[[Reference], str]
    stats: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveContestant(Contestant[SolveOutcome]):
    """An algorithm with options that the harness can verify and time on one graph.

    `scope` says what the time covers: the solve alone, or also copies to the device and back.
    """

    scope: Scope
    parameters: Mapping[str, Any]  # facts that are stored with the measurement

    def details(self, outcome: SolveOutcome) -> dict[str, Any]:
        """Return the parameters of the contestant and some statistics of a call, for JSON.

        `outcome` is the result of the call.
        """
        stats = {name: int(outcome.stats[name]) for name in _KEPT if name in outcome.stats}
        sizes = outcome.stats.get("worklist_sizes", ())
        if len(sizes) == 2 and sizes[0]:  # two filter passes: the filter was used
            stats["light_edges"] = int(sizes[0][0])
        return {**self.parameters, **stats}


def solving(
    resident: DeviceGraph,
    algorithm: str,
    contestant: str,
    options: object = None,
    **parameters: Any,
) -> SolveContestant:
    """Return a contestant whose timed call ends when the device has marked the forest's edges.

    The call solves the graph `resident`, which is on a device, by `algorithm` with `options`. It
    copies nothing to the host. The authors of ECL-MST measure their times in the same way.
    `contestant` is the name in tables, and `parameters` are stored with the measurement.
    """
    device = resident.device
    name, solve = choose(algorithm, device, resident, options=options)

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
    source: Any, resident: DeviceGraph, algorithm: str, contestant: str, options: object = None
) -> SolveContestant:
    """Return a contestant that finds the forest of `source` by `algorithm` with `options`.

    `source` is the graph `resident`, which is on a device, or the same graph on the host. If it is
    on the device, the forest stays there. If it is on the host, the timed call ends with the forest
    on the host. `contestant` is the name in tables.
    """
    device = resident.device
    stays: Any = source is resident

    def call() -> SolveOutcome:
        forest = minimum_spanning_forest(
            source, algorithm=algorithm, options=options, device=device, keep_on_device=stays
        )
        if stays:
            device.queue.finish()

        def difference(reference: Reference) -> str:
            found = forest.to_host() if isinstance(forest, DeviceForest) else forest
            return reference.difference(found.edge_ids)

        return SolveOutcome(difference=difference, stats=forest.stats)

    name, _ = choose(algorithm, device, resident, options=options)
    return SolveContestant(
        name=contestant,
        scope="forest" if stays else "transfers",
        call=call,
        parameters={"algorithm": name} | ({} if stays else {"source": type(source).__name__}),
    )


def as_matrix(graph: Graph) -> Any:
    """Return a symmetric graph as a SciPy CSR matrix that shares the graph's arrays if possible.

    SciPy does not have float16 matrices, so a graph with float16 weights is returned as a Graph.
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


# ---------------------------------------------------------------------------- turns


def new_identity() -> str:
    """Return a unique text that identifies a benchmark run: the time and a random number."""
    return f"{datetime.now().astimezone().isoformat(timespec='seconds')} {token_hex(4)}"


def take_turns(
    device: Device,
    contestants: Sequence[SolveContestant],
    reference: Reference,
    make: Make,
    repetitions: int,
    *,
    peers: Sequence[Callable[[], list[Measurement]]] = (),
    keep: Callable[[list[Measurement]], object] | None = None,
) -> list[Measurement]:
    """Verify all contestants, then time the right ones in turns, and return the measurements.

    `reference` is the right forest, `make` creates a measurement, and each contestant is timed
    `repetitions` times. `peers` are functions that run outside programs, which time themselves.
    They run between the turns. `keep` is called with the measurements of a peer immediately after
    it has run, so that they are not lost if a driver crashes this process. A contestant or peer
    that is wrong or fails gets no times, and does not stop the others.
    """
    harness = Harness(
        repetitions=repetitions, warm_ups=WARM_UPS, rehearsals=REHEARSALS, verification="ends",
        settle=device.queue.finish, goes_on=True, recover=partial(release, device),
    )  # fmt: skip
    details = [dict(one.parameters) for one in contestants]
    every = [
        harness.admit(_verified(one, reference, own))
        for one, own in zip(contestants, details, strict=True)
    ]
    answers: list[list[Measurement]] = []
    for turn in range(repetitions):
        for ask in peers[len(answers) :]:
            if turn < (len(answers) + 1) * repetitions // (len(peers) + 1):
                break
            release(device)  # a peer may need the memory of the device
            answers.append(ask())
            if keep is not None:
                keep(answers[-1])
            harness.warm_up(every, 1)
        harness.take_turn(every, turn)
    ours = [
        make(
            contestant=times.name, scope=one.scope, status=times.status, remark=times.remark,
            seconds=(*times.seconds,), details=own,
        )
        for one, times, own in zip(contestants, every, details, strict=True)
    ]  # fmt: skip
    return [*ours, *chain.from_iterable(answers)]


def ask_peer(
    peer: Peer,
    ecl_file: Callable[[], Path],
    reference: Reference,
    make: Make,
    repetitions: int,
    *,
    time_limit: float,
) -> list[Measurement]:
    """Run a peer, which is an outside program, on a graph, and return the peer's measurements.

    `ecl_file` returns the path of a file in ECL format with the graph. `reference` is the right
    forest. The peer makes `repetitions` timed solves, and is stopped after `time_limit` seconds.
    `make` creates a measurement.
    """
    try:
        file = ecl_file()
    except (ClmstError, OSError) as error:  # unsuitable weights, or a full disk
        verdict = PeerOutcome(status="failed", remark=first_line(error))
    else:
        verdict = peer.compete(file, repetitions, reference.total_weight, time_limit=time_limit)
    made = partial(
        make, contestant=peer.name, status=verdict.status, remark=verdict.remark, ours=False
    )
    transfers = [made(scope="transfers", seconds=verdict.transfers)] if verdict.transfers else []
    return [made(scope="solve", seconds=verdict.solve), *transfers]


def _verified(
    contestant: SolveContestant, reference: Reference, details: dict[str, Any]
) -> SolveContestant:
    """Return the contestant with a function that verifies its forest.

    The function compares the forest with the right one, `reference`. It also adds the statistics of
    the contestant's first call to `details`.
    """

    def difference(outcome: SolveOutcome) -> str:
        for name, value in contestant.details(outcome).items():
            details.setdefault(name, value)
        return outcome.difference(reference)

    return replace(contestant, difference=difference)


def release(device: Device) -> None:
    """Release unused memory of the device. Errors are ignored."""
    gc.collect()  # reference cycles of exceptions and closures may keep buffers
    with suppress(Exception):
        device.release_memory()
