"""A contest on one graph: everyone is verified, warmed up, and timed by turns."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import Any

from clmst.bench.entrants import Entrant, Outcome
from clmst.bench.measurement import Measurement, Scope, Status, first_line
from clmst.bench.peers import Peer, Verdict
from clmst.bench.reference import Reference
from clmst.core.errors import ClmstError
from clmst.runtime.device import Device

# Calls that are not timed: after the one that is verified, and right before each that is timed, as
# in the loop of a peer that times itself. Without the latter, a small solve that comes after
# another contestant's long one takes twice as long: caches and clocks are the other's.
WARM_UPS = 2
REHEARSALS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Outside peers, and what they are given.

    Attributes
    ----------
    peers : tuple of Peer
    ecl_file : callable
        Returns the path of the graph as an ECL file.
    seconds : float
        After which a peer is ended.
    """

    peers: tuple[Peer, ...]
    ecl_file: Callable[[], Path]
    seconds: float


@dataclass(slots=True)
class _Entry:
    """What has come of an entrant so far."""

    entrant: Entrant
    status: Status = "ok"
    remark: str = ""
    seconds: list[float] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def drop_out(self, status: Status, remark: str) -> None:
        self.status, self.remark, self.seconds = status, remark, []


def _new_identity() -> str:
    """Return when a contest began, and what tells it from others of the same second."""
    return f"{datetime.now().astimezone().isoformat(timespec='seconds')} {token_hex(4)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Where and how often contestants are timed.

    Attributes
    ----------
    device : Device
    machine : str
        Its identity in results.
    experiment, graph : str
        What measurements are of.
    repetitions : int
    keep : callable, optional
        Is given what a peer was measured at as soon as it is there: a driver that ends this whole
        process must not take the minutes of a slow peer with it.
    identity : str
        What its measurements carry: no other contest has the same.
    """

    device: Device
    machine: str
    experiment: str
    graph: str
    repetitions: int
    keep: Callable[[list[Measurement]], None] | None = None
    identity: str = field(default_factory=_new_identity)

    def run(
        self, entrants: Sequence[Entrant], reference: Reference, rivals: Rivals | None = None
    ) -> list[Measurement]:
        """Verify all entrants, then time those that were right, by turns.

        Peers, which time themselves, run between the turns, spread over them. Whoever is wrong or
        fails has no times, and does not stop the others.
        """
        entries = [_Entry(entrant, details=dict(entrant.parameters)) for entrant in entrants]
        for entry in entries:
            self._guarded(entry, partial(self._admit, entry, reference))
        peers = rivals.peers if rivals else ()
        answers: list[list[Measurement]] = []
        for turn in range(self.repetitions):
            while rivals and self._is_due(len(answers), len(peers), turn):
                release(self.device)  # a peer may want the same device's memory
                answers.append(self._ask(peers[len(answers)], rivals, reference))
                if self.keep is not None:
                    self.keep(answers[-1])
                self._warm_up(entries, 1)
            for entry in entries:
                is_last = turn == self.repetitions - 1
                check = reference if is_last else None
                self._guarded(entry, partial(self._time, entry, check))
        return [*map(self._of_entry, entries), *chain.from_iterable(answers)]

    # --------------------------------------------------------------- entrants

    def _guarded(self, entry: _Entry, step: Callable[[], object]) -> None:
        """Do a step of an entrant that is still in; whatever is raised takes it out."""
        if entry.status != "ok":
            return
        try:
            step()
        except Exception as error:
            # A device may vanish, run out of memory, or miscompile a kernel: whatever stops one
            # contestant must not stop the others; it stands in the results.
            entry.drop_out("failed", first_line(error))
            release(self.device)

    def _admit(self, entry: _Entry, reference: Reference) -> None:
        outcome = entry.entrant.call()
        entry.details = entry.entrant.told(outcome)
        self._check(entry, outcome, reference)
        self._warm_up([entry], WARM_UPS)

    def _warm_up(self, entries: Sequence[_Entry], calls: int) -> None:
        for entry in entries:
            for _ in range(calls):
                self._guarded(entry, entry.entrant.call)

    def _time(self, entry: _Entry, check: Reference | None) -> None:
        """Time one call; the result of the last one is verified again."""
        for _ in range(REHEARSALS):
            entry.entrant.call()
        self.device.queue.finish()
        start = perf_counter()
        outcome = entry.entrant.call()
        entry.seconds.append(perf_counter() - start)
        if check is not None:
            self._check(entry, outcome, check)

    @staticmethod
    def _check(entry: _Entry, outcome: Outcome, reference: Reference) -> None:
        if difference := outcome.difference(reference):
            entry.drop_out("wrong", difference)

    def _of_entry(self, entry: _Entry) -> Measurement:
        return self._measurement(
            entry.entrant.contestant,
            entry.entrant.scope,
            entry.status,
            remark=entry.remark,
            seconds=(*entry.seconds,),
            details=entry.details,
        )

    # ------------------------------------------------------------------ peers

    def _is_due(self, done: int, peers: int, turn: int) -> bool:
        """Whether the next peer runs before this turn."""
        return done < peers and turn >= (done + 1) * self.repetitions // (peers + 1)

    def _ask(self, peer: Peer, rivals: Rivals, reference: Reference) -> list[Measurement]:
        try:
            file = rivals.ecl_file()
        except (ClmstError, OSError) as error:  # weights that an ECL file cannot hold; a full disk
            verdict = Verdict(status="failed", remark=first_line(error))
        else:
            weight, limit = reference.total_weight, rivals.seconds
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
            contest=self.identity,
            **rest,
        )


def release(device: Device) -> None:
    """Give memory that is no longer used back to the device, if it still answers."""
    gc.collect()  # buffers may hang on exceptions and closures that refer to one another
    with suppress(Exception):
        device.release_memory()
