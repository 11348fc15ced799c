"""What came of an implementation, and the table of all, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.implementations.catalogue import FOLDER, IMPLEMENTATIONS, ROOT

PAGE = ROOT / "docs" / "portability.md"
BEGIN, END = "<!-- implementations -->", "<!-- end -->"
_LONGEST = 150  # characters of a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an implementation.

    Attributes
    ----------
    title, date : str
    device : str
        Its platform, and the driver's version.
    ended : list of str
        Steps whose process ended by a signal or was ended after its time; the user's process in
        the first of all.
    refused : dict of str to str
        The families of kernels that the device is not trusted with, each with the reason.
    unusable : str
        Why the device cannot be used at all; then no family is.
    passed : int
        Families that it is trusted with.
    answers : dict of str to str
        What came of default solves.
    over_scipy : float or None
        The time of a default solve over SciPy's.
    contract : dict of str to int
        Tests of the contract suite by their outcome.
    failed : list of str
        Those that failed.
    proof : dict of str to int
        Cases of the proof by volume by their verdict.
    share : str
        What was asked for.
    """

    title: str
    date: str
    device: str = ""
    ended: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unusable: str = ""
    passed: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    over_scipy: float | None = None
    contract: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    proof: dict[str, int] = field(default_factory=dict)
    share: str = ""

    @classmethod
    def load(cls, path: Path) -> Outcome:
        """Read what :meth:`save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def save(self, path: Path) -> None:
        """Write it."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @property
    def is_sound(self) -> bool:
        """Whether no answer was wrong, and the process of the first use lived."""
        wrong = [one for one in self.answers.values() if one.startswith("wrong")]
        return not (wrong or self.proof.get("wrong") or "first use" in self.ended)

    def row(self) -> list[str]:
        """Return its row of the table."""
        families = f"{self.passed} of {self.passed + len(self.refused)}"
        right = sum(one.startswith("right") for one in self.answers.values())
        wrong = sum(one.startswith("wrong") for one in self.answers.values())
        answers = f"{right} of {len(self.answers)} right" + (f", {wrong} wrong" if wrong else "")
        by = "" if self.over_scipy is None else f"{self.over_scipy:.2f}"
        if any("on host" in one for one in self.answers.values()):
            answers += ", some by the host"
        return [
            self.title, self.device, "none, refused" if self.unusable else families,
            "the process ended" if "first use" in self.ended else answers, by,
            _counted(self.contract), _counted(self.proof), self.share,
        ]  # fmt: skip

    def notes(self) -> list[str]:
        """Return the details that do not fit into the row."""
        if self.unusable:
            return [self.unusable]
        reasons: dict[str, list[str]] = {}
        for family, reason in self.refused.items():
            reasons.setdefault(reason[:_LONGEST], []).append(family)
        found = [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
        others = [one for one in self.ended if one != "first use"]
        return found + ([f"ended: {', '.join(others)}"] if others else [])


_HEAD = (
    "implementation", "driver", "families passed", "default solves", "`auto` over SciPy",
    "contract suite", "proof by volume", "share",
)  # fmt: skip


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the table."""
    rows = [list(_HEAD), ["---"] * len(_HEAD), *(one.row() for one in outcomes)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def notes(outcomes: Sequence[Outcome]) -> str:
    """Return the reasons of refusals, and what ended."""
    return "\n".join(f"* {one.title}: {note}" for one in outcomes for note in one.notes())


def outcomes() -> list[Outcome]:
    """Return the latest outcome of each implementation that ran here, in the catalogue's order."""
    paths = [FOLDER / "outcomes" / f"{one.name}.json" for one in IMPLEMENTATIONS]
    return [Outcome.load(path) for path in paths if path.exists()]


def write_page(text: str, page: Path = PAGE) -> None:
    """Put the table between the page's markers."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no {BEGIN} with {END} behind it; the table goes between")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def _counted(found: dict[str, Any]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in found.items() if count) or "none ran"
