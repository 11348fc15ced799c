"""The benchmark of one graph: contestants in turns, and peers between the turns."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Any

from clmst.bench.agreement import Reference
from clmst.bench.contestants import SolveContestant, SolveOutcome
from clmst.bench.harness import Harness
from clmst.bench.measurement import Measurement, Scope, Status, first_line
from clmst.bench.peers import Peer, PeerOutcome
from clmst.core.errors import ClmstError
from clmst.runtime.device import Device

# Calls that are not timed: warm-ups after the verified call, and rehearsals right before each timed
# call, as in the loop of a peer that times itself. Without rehearsals, a small solve after another
# contestant's long one takes twice as long, since caches and clocks fit the other one.
WARM_UPS = 2
REHEARSALS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerGroup:
    """Outside peers, and their inputs."""

    peers: tuple[Peer, ...]
    ecl_file: Callable[[], Path]  # returns the path of the graph as an ECL file
    seconds: float  # the time limit of a peer


def _new_identity() -> str:
    """Return the time at which a benchmark began, and a random part that makes it unique."""
    return f"{datetime.now().astimezone().isoformat(timespec='seconds')} {token_hex(4)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Where and how often contestants are timed on one graph."""

    device: Device
    machine: str  # its identity in results
    experiment: str
    graph: str
    repetitions: int
    # Called with the measurement of a peer at once, so that a driver that crashes this process does
    # not lose the minutes of a slow peer.
    keep: Callable[[list[Measurement]], None] | None = None
    # The `benchmark` of its measurements.
    identity: str = field(default_factory=_new_identity)

    @property
    def harness(self) -> Harness:
        """How contestants are timed."""
        return Harness(
            repetitions=self.repetitions,
            warm_ups=WARM_UPS,
            rehearsals=REHEARSALS,
            verification="ends",
            settle=self.device.queue.finish,
            goes_on=True,
            recover=partial(release, self.device),
        )

    def run(
        self,
        contestants: Sequence[SolveContestant],
        reference: Reference,
        group: PeerGroup | None = None,
    ) -> list[Measurement]:
        """Verify all contestants, then time the right ones in turns.

        Peers, which time themselves, run between the turns. A contestant or peer that is wrong or
        fails has no times, and does not stop the others.
        """
        harness, peers = self.harness, group.peers if group else ()
        details = [dict(one.parameters) for one in contestants]
        every = [
            harness.admit(_verified(one, reference, own))
            for one, own in zip(contestants, details, strict=True)
        ]
        answers: list[list[Measurement]] = []
        for turn in range(self.repetitions):
            while group and self._is_due(len(answers), len(peers), turn):
                release(self.device)  # a peer may want the same device's memory
                answers.append(self._ask(peers[len(answers)], group, reference))
                if self.keep is not None:
                    self.keep(answers[-1])
                harness.warm_up(every, 1)
            harness.take_turn(every, turn)
        ours = [
            self._measurement(
                times.name,
                one.scope,
                times.status,
                remark=times.remark,
                seconds=(*times.seconds,),
                details=own,
            )
            for one, times, own in zip(contestants, every, details, strict=True)
        ]
        return [*ours, *chain.from_iterable(answers)]

    # ------------------------------------------------------------------ peers

    def _is_due(self, done: int, peers: int, turn: int) -> bool:
        """Return whether the next peer runs before this turn."""
        return done < peers and turn >= (done + 1) * self.repetitions // (peers + 1)

    def _ask(self, peer: Peer, group: PeerGroup, reference: Reference) -> list[Measurement]:
        try:
            file = group.ecl_file()
        except (ClmstError, OSError) as error:  # weights that an ECL file cannot hold; a full disk
            verdict = PeerOutcome(status="failed", remark=first_line(error))
        else:
            weight, limit = reference.total_weight, group.seconds
            verdict = peer.compete(file, self.repetitions, weight, time_limit=limit)
        scopes: list[tuple[Scope, tuple[float, ...]]] = [("solve", verdict.solve)]
        if verdict.transfers:
            scopes.append(("transfers", verdict.transfers))
        return [
            self._measurement(
                peer.name, scope, verdict.status, remark=verdict.remark, seconds=times, ours=False
            )
            for scope, times in scopes
        ]

    def _measurement(
        self, contestant: str, scope: Scope, status: Status, **rest: Any
    ) -> Measurement:
        return Measurement(
            machine=self.machine,
            experiment=self.experiment,
            graph=self.graph,
            contestant=contestant,
            scope=scope,
            status=status,
            benchmark=self.identity,
            **rest,
        )


def _verified(
    contestant: SolveContestant, reference: Reference, details: dict[str, Any]
) -> SolveContestant:
    """Return a contestant that must give a known forest; `details` gets its first stats."""
    seen: list[bool] = []

    def difference(outcome: SolveOutcome) -> str:
        if not seen:
            details.update(contestant.details(outcome))
            seen.append(True)
        return outcome.difference(reference)

    return replace(contestant, difference=difference)


def release(device: Device) -> None:
    """Give memory that is no longer used back to the device, if it still answers."""
    gc.collect()  # reference cycles of exceptions and closures may keep buffers
    with suppress(Exception):
        device.release_memory()
