"""Outside peers: programs that do the same work elsewhere, and time and check themselves.

The protocol: clmst runs ``COMMAND work n repetitions``, where `work` is the name of a case and `n`
the number of elements. The peer makes up its own random input of the same kind, checks its result,
and prints one line

    work n median_ms verdict

with the median time of a call in milliseconds, data resident where it works, and "ok" or "wrong".
Lines that begin with "#" are remarks. A peer that does not offer the work exits with status 64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmarks.case import Outcome
from clmst.bench.peers import ask, named_command, seconds_in

NOT_OFFERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A program that takes part in the protocol.

    Attributes
    ----------
    name : str
    command : tuple of str
        The words before the arguments of the protocol.
    """

    name: str
    command: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Peer:
        """Read ``NAME=COMMAND``; raise `ValueError` if it is none."""
        name, command = named_command(text)
        return cls(name=name, command=command)

    def compete(
        self, case: str, size: int, repetitions: int, *, time_limit: float
    ) -> Outcome | None:
        """Run the peer; None if it does not offer the work.

        Parameters
        ----------
        case : str
        size : int
            Elements.
        repetitions : int
        time_limit : float
            Seconds, after which it is ended.
        """
        outcome = Outcome(case=case, contestant=self.name, size=size, status="failed")
        command = [*self.command, case, str(size), str(repetitions)]
        answer = ask(command, time_limit=time_limit)
        if answer.status == NOT_OFFERED:
            return None
        outcome.remark = answer.remark
        if not answer.trouble:
            _read_answer(outcome, answer.output)
        return outcome


def _read_answer(outcome: Outcome, text: str) -> None:
    """Store a peer's answer, or an error in it, in its outcome."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    fields = lines[0].split() if len(lines) == 1 else []
    asked = [outcome.case, str(outcome.size)]
    seconds = seconds_in(fields[2]) if len(fields) == 4 else math.nan
    if fields[:2] != asked or not seconds > 0 or fields[3] not in ("ok", "wrong"):
        outcome.remark = f"does not keep to the protocol: {text.strip()[:60]!r}"
    elif fields[3] == "wrong":
        outcome.status, outcome.remark = "wrong", "by its own check"
    else:
        outcome.status = "ok"
        outcome.seconds.append(seconds)
