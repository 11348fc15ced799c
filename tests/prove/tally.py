"""What was run, counted: by graph, dtype, algorithm with options, input form and variant."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.prove import settings
from tests.prove.cases import Case, Outcome
from tests.prove.primitives.case import PrimitiveCase
from tests.prove.weights import DTYPES

VERDICTS = ("right", "wrong", "refused", "error", "foreign error", "crash", "hang")
FAILURES = tuple(one for one in VERDICTS if one not in ("right", "refused"))


class Tally:
    """Counts, by names; added up and written as JSON.

    Names are "table/entry". The table "combinations" counts right answers by algorithm with option,
    dtype and variant; all other tables count every outcome of a case.
    """

    def __init__(self, counts: dict[str, int] | None = None) -> None:
        self.counts = Counter(counts or {})

    def note(self, case: Case | PrimitiveCase, outcome: Outcome, *, oracle_checked: bool) -> None:
        """Count a case."""
        counts = self.counts
        subject = f"subject/{case.subject}: {outcome.verdict}"
        for name in (f"verdict/{outcome.verdict}", subject, *case.counted):
            counts[name] += 1
        counts["total/cases"] += 1
        compared = "results" if isinstance(case, PrimitiveCase) else "forests"
        counts[f"total/{compared} compared"] += outcome.solves if outcome.verdict == "right" else 0
        counts["total/oracle checked"] += oracle_checked
        if outcome.verdict == "right" and isinstance(case, Case) and case.subject == "solves":
            counts[f"combinations/{case.named}|{case.dtype}|{case.variant}"] += 1
        if outcome.verdict == "refused":
            counts[f"refused/{case.named}: {outcome.detail.splitlines()[0][:160]}"] += 1

    def add(self, other: Tally) -> None:
        """Add what another one has counted."""
        self.counts.update(other.counts)

    def table(self, name: str) -> dict[str, int]:
        """Return one table, by its entries."""
        found = {key: n for key, n in self.counts.items() if key.partition("/")[0] == name}
        return {key.partition("/")[2]: found[key] for key in sorted(found)}

    def as_json(self) -> dict[str, Any]:
        """Return all tables by name."""
        names = sorted({key.partition("/")[0] for key in self.counts} - {"combinations"})
        tables: dict[str, Any] = {name: self.table(name) for name in names}
        if not any(key.startswith("combinations/") for key in self.counts):
            return tables
        rows: dict[str, dict[str, list[int]]] = {}
        for named, dtype, variant in settings.combinations():
            count = self.counts.get(f"combinations/{named}|{dtype}|{variant}", 0)
            rows.setdefault(named, {}).setdefault(variant, []).append(count)
        # A row of counts by dtype is a text, which takes one line.
        tables["combinations"] = {
            named: {variant: " ".join(map(str, counts)) for variant, counts in row.items()}
            for named, row in rows.items()
        }
        return tables

    @classmethod
    def of_json(cls, tables: dict[str, Any]) -> Tally:
        """Return what :meth:`as_json` gave."""
        counts = {
            f"{name}/{entry}": n
            for name, table in tables.items()
            if name != "combinations"
            for entry, n in table.items()
        }
        for named, row in tables.get("combinations", {}).items():
            for variant, numbers in row.items():
                for dtype, n in zip(DTYPES, map(int, numbers.split()), strict=True):
                    if n:
                        counts[f"combinations/{named}|{dtype}|{variant}"] = n
        return cls(counts)
