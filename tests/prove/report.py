"""The table of what was run: a row for each device, and the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.prove import settings
from tests.prove.state import FAILURES, State, Tally

_TEXTS = ("device", "run", "subject")  # columns of words, which are set to the left


def table(states: Sequence[State]) -> str:
    """Return the table in Markdown: of solves, and another of all other subjects."""
    solves = [state for state in states if state.plan.subject == "solves"]
    others = [row for state in states if state not in solves for row in _subjects_of(state)]
    tables = [_of_solves(solves)] if solves else []
    return "\n\n".join(tables + ([_text(others)] if others else []))


def _text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows as a table whose head is the names of the columns."""
    rule = ["---" if name in _TEXTS else "--:" for name in rows[0]]
    lines = [list(rows[0]), rule, *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _subjects_of(state: State) -> list[dict[str, str]]:
    """Return a row for each subject of a run."""
    verdicts: dict[str, dict[str, int]] = {}
    for entry, count in state.tally.table("subject").items():
        subject, _, verdict = entry.partition(": ")
        verdicts.setdefault(subject, {})[verdict] = count
    minutes = f"{state.seconds / 60:.1f}"
    return [
        {"device": _name(state), "run": state.plan.subject, "subject": subject}
        | _verdicts(found)
        | {"minutes": minutes}
        for subject, found in verdicts.items()
    ]


def _name(state: State) -> str:
    """Return the platform and driver of a run."""
    known = (run["machine"] for run in state.runs if "machine" in run)
    machine: dict[str, str] = next(known, {})
    return f"{machine.get('platform', state.device)} {machine.get('driver', '')}".strip()


def _verdicts(verdicts: Mapping[str, int]) -> dict[str, str]:
    """Return how many were right, refused, wrong, lost and failed otherwise."""
    found = {name: verdicts.get(name, 0) for name in ("right", "refused", "wrong")}
    found["crash or hang"] = verdicts.get("crash", 0) + verdicts.get("hang", 0)
    failed = sum(verdicts.get(one, 0) for one in FAILURES)
    found["other errors"] = failed - found["wrong"] - found["crash or hang"]
    return {name: f"{count:,}" for name, count in found.items()}


def _of_solves(states: Sequence[State]) -> str:
    total = Tally()
    for state in states:
        total.update(state.tally)
    rows = [_row(_name(state), state.tally, state.seconds) for state in states]
    rows.append(_row("all", total, sum(state.seconds for state in states)))
    missing = settings.n_combinations() - len(total.table("combinations"))
    lines = [
        _text(rows),
        "",
        f"Combinations of option, dtype and variant that gave no right answer: {missing}.",
    ]
    if refused := total.table("refused"):
        lines += ["", "Refused:", "", *(f"* {n:,} times {why}" for why, n in refused.items())]
    return "\n".join(lines)


def _row(name: str, tally: Tally, seconds: float) -> dict[str, str]:
    families = ("random", "structured", "points")
    seen = f"{len(tally.table('combinations')):,} of {settings.n_combinations():,}"
    return (
        {"device": name}
        | {family: f"{tally[f'family/{family}']:,}" for family in families}
        | {"forests compared": f"{tally['total/forests compared']:,}"}
        | _verdicts(tally.table("verdict"))
        | {"combinations": seen, "minutes": f"{seconds / 60:.0f}"}
    )
