"""The benchmark of one graph: contestants in turns, and peers between the turns."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from clmst.bench.agreement import Reference
from clmst.bench.contestants import SolveContestant, SolveOutcome
from clmst.bench.harness import Harness, first_line
from clmst.bench.peers import Peer, PeerOutcome
from clmst.bench.results import Measurement
from clmst.core.errors import ClmstError
from clmst.runtime.device import Device

# Calls that are not timed: warm-ups after the verified call, and rehearsals right before each timed
# call, as in the loop of a peer that times itself. Without rehearsals, a small solve after another
# contestant's long one takes twice as long, since caches and clocks fit the other one.
WARM_UPS = 2
REHEARSALS = 2

# Makes a measurement of this machine, experiment and graph.
Make: TypeAlias = Callable[..., Measurement]


def new_identity() -> str:
    """Return the time at which a benchmark began, and a random part that makes it unique."""
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
    """Verify all contestants, then time the right ones in turns.

    Peers, which time themselves, run between the turns. `keep` gets what a peer measured at once,
    so that a driver that crashes this process does not lose its minutes. A contestant or peer that
    is wrong or fails has no times, and does not stop the others.
    """
    harness = Harness(
        repetitions=repetitions,
        warm_ups=WARM_UPS,
        rehearsals=REHEARSALS,
        verification="ends",
        settle=device.queue.finish,
        goes_on=True,
        recover=partial(release, device),
    )
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
            release(device)  # a peer may want the same device's memory
            answers.append(ask())
            if keep is not None:
                keep(answers[-1])
            harness.warm_up(every, 1)
        harness.take_turn(every, turn)
    ours = [
        make(
            contestant=times.name,
            scope=one.scope,
            status=times.status,
            remark=times.remark,
            seconds=(*times.seconds,),
            details=own,
        )
        for one, times, own in zip(contestants, every, details, strict=True)
    ]
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
    """Run a peer on a graph, whose path as an ECL file `ecl_file` returns."""
    try:
        file = ecl_file()
    except (ClmstError, OSError) as error:  # weights that an ECL file cannot hold; a full disk
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
    """Return a contestant that must give a known forest; `details` gets its first stats."""

    def difference(outcome: SolveOutcome) -> str:
        for name, value in contestant.details(outcome).items():
            details.setdefault(name, value)
        return outcome.difference(reference)

    return replace(contestant, difference=difference)


def release(device: Device) -> None:
    """Give memory that is no longer used back to the device, if it still answers."""
    gc.collect()  # reference cycles of exceptions and closures may keep buffers
    with suppress(Exception):
        device.release_memory()
