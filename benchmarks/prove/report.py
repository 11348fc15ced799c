"""The table of what was run: a row for each device, and the sums."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.prove import settings
from benchmarks.prove.state import State
from benchmarks.prove.tally import FAILURES, Tally

_HEAD = (
    "device",
    "random",
    "structured",
    "points",
    "forests compared",
    "right",
    "refused",
    "wrong",
    "crash or hang",
    "other errors",
    "combinations",
    "minutes",
)


def table(states: Sequence[State]) -> str:
    """Return the table in Markdown."""
    total = Tally()
    rows = [_HEAD, ("---",) + ("--:",) * (len(_HEAD) - 1)]
    for state in states:
        total.add(state.tally)
        machine: dict[str, str] = next(
            (run["machine"] for run in state.runs if "machine" in run), {}
        )
        name = f"{machine.get('platform', state.device)} {machine.get('driver', '')}".strip()
        rows.append(_row(name, state.tally, sum(run["seconds"] for run in state.runs)))
    seconds = sum(run["seconds"] for state in states for run in state.runs)
    rows.append(_row("all", total, seconds))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    missing = settings.n_combinations() - len(total.table("combinations"))
    lines += [
        "",
        f"Combinations of option, dtype and variant that gave no right answer: {missing}.",
    ]
    refused = total.table("refused")
    if refused:
        lines += ["", "Refused:", ""]
        lines += [f"* {n:,} times {reason}" for reason, n in refused.items()]
    return "\n".join(lines)


def _row(name: str, tally: Tally, seconds: float) -> tuple[str, ...]:
    verdicts, families = tally.table("verdict"), tally.table("family")
    lost = verdicts.get("crash", 0) + verdicts.get("hang", 0)
    others = sum(verdicts.get(one, 0) for one in FAILURES) - lost - verdicts.get("wrong", 0)
    seen = f"{len(tally.table('combinations')):,} of {settings.n_combinations():,}"
    return (
        name,
        *(f"{families.get(one, 0):,}" for one in ("random", "structured", "points")),
        f"{tally.counts['total/forests compared']:,}",
        *(f"{verdicts.get(one, 0):,}" for one in ("right", "refused", "wrong")),
        f"{lost:,}",
        f"{others:,}",
        seen,
        f"{seconds / 60:.0f}",
    )
