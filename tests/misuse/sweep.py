"""Making the calls in child processes, which may end, and counting what becomes of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clmst
from tests.misuse.entries import Entry, entries
from tests.misuse.values import odd_values
from tests.misuse.world import World

# What a child runs: a module, and its arguments.
MODULES = ("tests.misuse",)
HANGS_AFTER = 20.0  # seconds without an outcome
# A callable of the caller's that is called, and raises: its error is the caller's.
CALLERS_OWN = {
    ("RepeatedSolver.solve_many", "progress", "type"),
    ("stream_minimum_spanning_forest", "on_progress", "type"),
}
_PACKAGE = str(Path(clmst.__file__).parent)


@dataclass(slots=True)
class Outcomes:
    """What became of misused calls.

    Attributes
    ----------
    returned, refused : int
        Calls that took the value, and calls that raised a :class:`clmst.ClmstError`.
    foreign, ended : list of dict
        Calls that raised something else, with the location; calls that ended the process, or hung.
    """

    returned: int = 0
    refused: int = 0
    foreign: list[dict[str, Any]] = field(default_factory=list)
    ended: list[dict[str, Any]] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return self.returned + self.refused + len(self.foreign) + len(self.ended)

    def locations(self) -> Counter[str]:
        return Counter(one["location"] for one in self.foreign)


def cases() -> Iterator[tuple[int, Entry, str, str]]:
    """Yield (number, entry, argument, name of the odd value), always in the same order."""
    number, values = 0, list(odd_values())
    for entry in entries():
        for argument in entry.make(_WORLD)[1]:
            for value in values:
                if (entry.name, argument, value) not in CALLERS_OWN:
                    yield number, entry, argument, value
                number += 1


_WORLD = World()


def run(
    *, every: int = 1, first: int = 0, only: str = "", seconds: float = HANGS_AFTER
) -> Outcomes:
    """Make each `every`-th call, from number `first` on, in children; return the outcomes."""
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        start: int | None = first
        while start is not None:
            command = ["--start", str(start), "--every", str(every), "--only", only]
            tried = _run_child(outcomes, Path(folder), command, seconds)
            start = None if tried is None else tried + every
    return outcomes


def _run_child(outcomes: Outcomes, folder: Path, options: list[str], seconds: float) -> int | None:
    """Make calls in one child until it ends; return the number that ended it, if one did."""
    report = folder / "report.jsonl"
    report.write_text("")
    command = [sys.executable, "-m", *MODULES, "--child", str(report), *options]
    log = (folder / "log.txt").open("w")
    with log, subprocess.Popen(command, stdout=log, stderr=log) as child:
        size, since = 0, time.monotonic()
        while child.poll() is None:
            time.sleep(0.05)
            if (now := report.stat().st_size) != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > seconds:
                child.kill()
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    tried = None
    for line in lines:
        if line["outcome"] == "tried":
            tried = line
        else:
            tried = None
            _count(outcomes, line)
    if lines and lines[-1]["outcome"] == "done":
        return None
    if tried is None:
        said = (folder / "log.txt").read_text()[-2000:]
        raise RuntimeError(f"a child ended by {child.returncode} between two calls:\n{said}")
    outcomes.ended.append({**tried, "by": child.returncode})
    return int(tried["number"])


def _count(outcomes: Outcomes, line: dict[str, Any]) -> None:
    if line["outcome"] == "returned":
        outcomes.returned += 1
    elif line["outcome"] == "refused":
        outcomes.refused += 1
    elif line["outcome"] == "foreign":
        outcomes.foreign.append(line)


def child(report: Path, *, start: int, every: int, only: str) -> None:
    """Make calls, and write what becomes of each; the working folder is a new one."""
    import os

    values = odd_values()
    warnings.simplefilter("ignore")
    with report.open("a", buffering=1) as out, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def note(**line: Any) -> None:
            out.write(json.dumps(line) + "\n")

        for number, entry, argument, value in cases():
            if number < start or (number - start) % every or only not in entry.name:
                continue
            call = {"number": number, "entry": entry.name, "argument": argument, "value": value}
            note(outcome="tried", **call)
            note(**call, **outcome_of(entry, argument, values[value](_WORLD)))
        note(outcome="done")
        os.chdir("/")


def outcome_of(entry: Entry, argument: str, value: Any) -> dict[str, Any]:
    """Call an entry with one argument exchanged, and say what becomes of it."""
    function, arguments = entry.make(_WORLD)
    try:
        function(**{**arguments, argument: value})
    except clmst.ClmstError as error:
        return _readable(error)
    except Exception as error:
        return _foreign(error)
    return {"outcome": "returned"}


def _readable(error: clmst.ClmstError) -> dict[str, Any]:
    """Say that a call was refused, if the message can be read."""
    try:
        text = str(error)
    except Exception as broken:
        return _foreign(broken)
    return {"outcome": "refused"} if text else {**_foreign(error), "kind": "no message"}


def _foreign(error: Exception) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if one.filename.startswith(_PACKAGE)]
    at = ours[-1] if ours else frames[-1]
    location = f"{Path(at.filename).name}:{at.lineno} {at.line}"
    try:
        text = str(error)[:160]
    except Exception:
        text = "?"
    return {"outcome": "foreign", "kind": type(error).__name__, "location": location, "text": text}
