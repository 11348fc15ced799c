"""The table of what was run: a row for each device, and the sums."""

from __future__ import annotations

from collections.abc import Sequence

from tests.prove import settings
from tests.prove.state import State
from tests.prove.tally import FAILURES, Tally

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
    """Return the table in Markdown: of solves, and another of all other subjects."""
    solves = [state for state in states if state.plan.subject == "solves"]
    others = [state for state in states if state.plan.subject != "solves"]
    tables = [_of_solves(solves)] if solves else []
    return "\n\n".join([*tables, *([_of_others(others)] if others else [])])


_HEAD_OF_OTHERS = (
    "device",
    "run",
    "subject",
    "right",
    "refused",
    "wrong",
    "crash or hang",
    "other errors",
    "minutes",
)


def _of_others(states: Sequence[State]) -> str:
    """Return the table of runs of other subjects, a row for each subject."""
    rows = [_HEAD_OF_OTHERS, ("---",) * 3 + ("--:",) * (len(_HEAD_OF_OTHERS) - 3)]
    for state in states:
        verdicts: dict[str, dict[str, int]] = {}
        for entry, count in state.tally.table("subject").items():
            subject, _, verdict = entry.partition(": ")
            verdicts.setdefault(subject, {})[verdict] = count
        minutes = f"{sum(run['seconds'] for run in state.runs) / 60:.1f}"
        for subject, found in verdicts.items():
            run = (_name(state), state.plan.subject, subject)
            rows.append((*run, *_verdicts(found), minutes))
    return _as_text(rows)


def _as_text(rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _name(state: State) -> str:
    """Return the platform and driver of a run."""
    known = (run["machine"] for run in state.runs if "machine" in run)
    machine: dict[str, str] = next(known, {})
    return f"{machine.get('platform', state.device)} {machine.get('driver', '')}".strip()


def _verdicts(verdicts: dict[str, int]) -> tuple[str, ...]:
    """Return how many were right, refused, wrong, lost and failed otherwise."""
    lost = verdicts.get("crash", 0) + verdicts.get("hang", 0)
    others = sum(verdicts.get(one, 0) for one in FAILURES) - lost - verdicts.get("wrong", 0)
    known = (verdicts.get(one, 0) for one in ("right", "refused", "wrong"))
    return tuple(f"{count:,}" for count in (*known, lost, others))


def _of_solves(states: Sequence[State]) -> str:
    total = Tally()
    rows = [_HEAD, ("---",) + ("--:",) * (len(_HEAD) - 1)]
    for state in states:
        total.add(state.tally)
        rows.append(_row(_name(state), state.tally, sum(run["seconds"] for run in state.runs)))
    seconds = sum(run["seconds"] for state in states for run in state.runs)
    rows.append(_row("all", total, seconds))
    lines = [_as_text(rows)]
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
    seen = f"{len(tally.table('combinations')):,} of {settings.n_combinations():,}"
    return (
        name,
        *(f"{families.get(one, 0):,}" for one in ("random", "structured", "points")),
        f"{tally.counts['total/forests compared']:,}",
        *_verdicts(verdicts),
        seen,
        f"{seconds / 60:.0f}",
    )
