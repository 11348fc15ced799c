"""What has been run so far: counted, kept in a file of JSON, and shown as a table."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clmst.core import atomic_file
from clmst.runtime import source
from tests.prove import settings
from tests.prove.cases import Case, Outcome, Plan
from tests.prove.primitives.case import PrimitiveCase

ROOT = Path(__file__).resolve().parents[2]
_KEPT = 10  # failures that are kept in full of each kind; all are counted
FAILURES = ("wrong", "error", "foreign error", "crash", "hang")


class Tally(Counter[str]):
    """Counts by names, which are "table/entry".

    The table "combinations" counts right answers by algorithm with option, dtype and variant; all
    other tables count every outcome of a case.
    """

    def note(self, case: Case | PrimitiveCase, outcome: Outcome, *, oracle_checked: bool) -> None:
        """Count a case."""
        subject = f"subject/{case.subject}: {outcome.verdict}"
        self.update([f"verdict/{outcome.verdict}", subject, *case.counted, "total/cases"])
        compared = "results" if isinstance(case, PrimitiveCase) else "forests"
        is_right = outcome.verdict == "right"
        self[f"total/{compared} compared"] += outcome.solves if is_right else 0
        self["total/oracle checked"] += oracle_checked
        if is_right and isinstance(case, Case) and case.subject == "solves":
            self[f"combinations/{case.named}|{case.dtype}|{case.variant}"] += 1
        if outcome.verdict == "refused":
            self[f"refused/{case.named}: {outcome.detail.splitlines()[0][:160]}"] += 1

    def table(self, name: str) -> dict[str, int]:
        """Return one table, by its entries."""
        found = ((key.partition("/"), count) for key, count in sorted(self.items()))
        return {entry: count for (table, _, entry), count in found if table == name}


def replace_file(path: Path, record: dict[str, Any], indent: int | None = None) -> None:
    """Write a record as JSON, replacing the file whole."""
    atomic_file.make_folder(path.parent)
    atomic_file.write_text(path, json.dumps(record, indent=indent) + "\n", durable=False)


@dataclass(kw_only=True)
class State:
    """What has been run so far, as it is kept in a file."""

    plan: Plan
    device: str | None
    done: dict[int, int] = field(default_factory=dict)  # by block, the next case to run
    tally: Tally = field(default_factory=Tally)
    failures: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)  # when, how long, on what

    @property
    def cases(self) -> int:
        """The number of cases that have been run."""
        return self.tally["total/cases"]

    @property
    def seconds(self) -> float:
        """The seconds that all runs took."""
        return float(sum(one["seconds"] for one in self.runs))

    def fail(self, failure: dict[str, Any]) -> bool:
        """Record a failure, unless many of its kind are known; return whether it was."""
        kinds = Counter((one["verdict"], one.get("named")) for one in self.failures)
        if kinds[failure["verdict"], failure.get("named")] >= _KEPT:
            return False
        self.failures.append(failure)
        return True

    def save(self, path: Path) -> None:
        """Write everything, replacing the file whole."""
        record = {
            "cases": self.cases,
            "wrong": self.tally["verdict/wrong"],
            "failures": self.failures,
            "seed": self.plan.seed,
            "block": self.plan.block,
            "subject": self.plan.subject,
            "device": self.device,
            "seconds": round(self.seconds, 1),
            "runs": self.runs,
            "counts": dict(sorted(self.tally.items())),
            "done": {str(block): end for block, end in sorted(self.done.items())},
        }
        replace_file(path, record, indent=1)

    @classmethod
    def load(cls, path: Path) -> State:
        """Read what :meth:`save` wrote."""
        record = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            plan=Plan(seed=record["seed"], block=record["block"], subject=record["subject"]),
            device=record["device"],
            done={int(block): end for block, end in record["done"].items()},
            tally=Tally(record["counts"]),
            failures=record["failures"],
            runs=record["runs"],
        )

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield blocks that are to be run, without end: block, first case, end."""
        block = 0
        while True:
            end = (block + 1) * self.plan.block
            first = self.done.get(block, block * self.plan.block)
            if first < end:
                yield block, first, end
            block += 1


def sources() -> dict[str, Any]:
    """Return the identity of the sources that ran: their hash, and the commit if git knows it."""
    digest = hashlib.sha256()
    package, kernels = ROOT / "clmst", source.root()
    for folder, pattern in ((package, "*.py"), (kernels, "*.cl")):
        for path in sorted(folder.rglob(pattern)):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    git = ("git", "-C", str(ROOT))
    try:
        commit = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {"commit": commit, "sources": digest.hexdigest()[:16]}


# ----------------------------------------------------------------------- the table of runs


def table(states: Sequence[State]) -> str:
    """Return the table of runs and their sum in Markdown, then the refused cases and reasons."""
    total = Tally()
    for state in states:
        total.update(state.tally)
    rows = [_row(_name(one), one.plan.subject, one.tally, one.seconds) for one in states]
    rows.append(_row("all", "", total, sum(one.seconds for one in states)))
    heads = list(rows[0])
    lines = [heads, ["---", "---", *("--:" for _ in heads[2:])], *(row.values() for row in rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    refused = [f"* {n:,} times {why}" for why, n in total.table("refused").items()]
    return "\n".join(text + (["", "Refused:", "", *refused] if refused else []))


def _name(state: State) -> str:
    """Return the platform and driver of a run."""
    known = (run["machine"] for run in state.runs if "machine" in run)
    machine: dict[str, str] = next(known, {})
    return f"{machine.get('platform', state.device)} {machine.get('driver', '')}".strip()


def _row(device: str, subject: str, tally: Tally, seconds: float) -> dict[str, str]:
    compared = ("total/forests compared", "total/results compared")
    counts = {name: tally[f"family/{name}"] for name in ("random", "structured", "points")}
    counts["compared"] = sum(tally[one] for one in compared)
    counts |= {name: tally[f"verdict/{name}"] for name in ("right", "refused", *FAILURES)}
    seen = f"{len(tally.table('combinations')):,} of {len(settings.combinations()):,}"
    return (
        {"device": device, "run": subject}
        | {name: f"{count:,}" for name, count in counts.items()}
        | {"combinations": seen, "minutes": f"{seconds / 60:.0f}"}
    )
