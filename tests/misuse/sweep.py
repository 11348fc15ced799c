"""Making the calls in child processes, which may end, and counting what becomes of them."""

from __future__ import annotations

import os
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clmst
from tests.helpers.processes import Child, LostError
from tests.helpers.unoptimised import compile_quickly
from tests.misuse.entries import Entry, entries
from tests.misuse.values import odd_values
from tests.misuse.world import World

HANGS_AFTER = 20.0  # seconds without an outcome
# A callable of the caller's that is called, and raises: its error is the caller's.
CALLERS_OWN = {
    ("RepeatedSolver.solve_many", "progress", "type"),
    ("stream_minimum_spanning_forest", "on_progress", "type"),
}
_PACKAGE = str(Path(clmst.__file__).parent)


@dataclass(slots=True)
class Outcomes:
    """What became of misused calls."""

    returned: int = 0  # took the value
    refused: int = 0  # raised a ClmstError
    foreign: list[dict[str, Any]] = field(default_factory=list)  # raised something else
    ended: list[dict[str, Any]] = field(default_factory=list)  # ended the process, or hung

    @property
    def calls(self) -> int:
        return self.returned + self.refused + len(self.foreign) + len(self.ended)

    def count(self, call: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Note what became of a call."""
        self.returned += outcome["outcome"] == "returned"
        self.refused += outcome["outcome"] == "refused"
        if outcome["outcome"] == "foreign":
            self.foreign.append(call | outcome)

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


def run(*, every: int = 1, first: int = 0, only: str = "", is_optimised: bool = True) -> Outcomes:
    """Make each `every`-th call, from number `first` on, in a child; return the outcomes."""
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder, Child(_begin, folder, is_optimised) as child:
        for number, entry, argument, value in cases():
            if number < first or (number - first) % every or only not in entry.name:
                continue
            call = {"number": number, "entry": entry.name, "argument": argument, "value": value}
            try:
                outcomes.count(call, child.ask(number, HANGS_AFTER))
            except LostError as lost:
                outcomes.ended.append({**call, "by": lost.detail})
    return outcomes


def _begin(folder: str, is_optimised: bool) -> Callable[[int], dict[str, Any]]:
    """Return a function that makes the call with a given number, in a folder for its files."""
    if not is_optimised:
        compile_quickly()
    warnings.simplefilter("ignore")
    os.chdir(folder)
    values = odd_values()
    calls = {number: (entry, argument, value) for number, entry, argument, value in cases()}

    def answer(number: int) -> dict[str, Any]:
        entry, argument, value = calls[number]
        return outcome_of(entry, argument, values[value](_WORLD))

    return answer


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
