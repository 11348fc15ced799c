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
import os
import shlex
import signal
import subprocess
from dataclasses import dataclass

from benchmarks.contest import Outcome

NOT_OFFERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A program that takes part in the protocol.

    Attributes
    ----------
    name : str
    command : tuple of str
        What comes before the arguments of the protocol.
    """

    name: str
    command: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Peer:
        """Read ``NAME=COMMAND``; raise `ValueError` if it is none."""
        name, separator, command = text.partition("=")
        words = tuple(shlex.split(command))
        if not (separator and name.strip() and words):
            raise ValueError(f"{text!r} is no NAME=COMMAND")
        return cls(name=name.strip(), command=words)

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
        try:
            status, answer, complaint = _run(command, time_limit)
        except subprocess.TimeoutExpired:
            outcome.remark = f"ended after {time_limit:g} s without an answer"
        except OSError as error:
            outcome.remark = f"cannot be run: {error}"
        else:
            if status == NOT_OFFERED:
                return None
            if status:
                last = (complaint.strip() or "no message").splitlines()[-1]
                outcome.remark = f"exit status {status}: {last}"
            else:
                _read_answer(outcome, answer)
        return outcome


def _run(command: list[str], time_limit: float) -> tuple[int, str, str]:
    """Run a command to its end; return its exit status and what it wrote.

    A peer that is late is ended together with all that it started.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            answer, complaint = process.communicate(timeout=time_limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, answer, complaint


def _read_answer(outcome: Outcome, text: str) -> None:
    """Enter a peer's answer, or what is wrong with it, into its outcome."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    fields = lines[0].split() if len(lines) == 1 else []
    asked = [outcome.case, str(outcome.size)]
    seconds = _milliseconds(fields[2]) if len(fields) == 4 else math.nan
    if fields[:2] != asked or not seconds > 0 or fields[3] not in ("ok", "wrong"):
        outcome.remark = f"does not keep to the protocol: {text.strip()[:60]!r}"
    elif fields[3] == "wrong":
        outcome.status, outcome.remark = "wrong", "by its own check"
    else:
        outcome.status = "ok"
        outcome.seconds.append(seconds)


def _milliseconds(text: str) -> float:
    """Return so many milliseconds in seconds, NaN if `text` is no finite number."""
    try:
        value = float(text) * 1e-3
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
