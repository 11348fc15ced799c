"""Time outside programs (peers) that do the work of a benchmark case of primitives.

A peer makes its own input, times itself and checks its own result.

The protocol is as follows. clmst runs ``COMMAND work n repetitions``, where `work` is the name of a
case and `n` the number of elements. The peer makes a random input of the same kind, checks its own
result, and prints one line:

    work n median_ms verdict

The median is of the milliseconds of a call. The data are already in the memory in which the peer
works. The verdict is "ok" or "wrong". Lines that begin with "#" are remarks. A peer that does not
offer the work exits with status 64.
"""

from __future__ import annotations

import math

from benchmarks.case import Outcome
from clmst.bench.peers import Peer, ask, seconds_in

NOT_OFFERED = 64


def answer_of(
    peer: Peer, case: str, size: int, repetitions: int, *, time_limit: float
) -> Outcome | None:
    """Run a peer on `size` elements for at most `time_limit` seconds, and return the outcome.

    `case` is the name of the work, which the peer times `repetitions` times. Returns None if the
    peer does not offer this work.
    """
    outcome = Outcome(case=case, contestant=peer.name, size=size, status="failed")
    command = [*peer.command, case, str(size), str(repetitions)]
    answer = ask(command, time_limit=time_limit)
    if answer.status == NOT_OFFERED:
        return None
    outcome.remark = answer.remark
    if answer.trouble == "ok":
        _read_answer(outcome, answer.output)
    return outcome


def _read_answer(outcome: Outcome, text: str) -> None:
    """Parse the output of a peer, and store its time or an error in `outcome`.

    `text` is the output. If it is not in the form of the protocol, a remark says so.
    """
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
