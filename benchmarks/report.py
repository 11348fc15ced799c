"""What a run tells: a table on the terminal, and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.case import Outcome
from benchmarks.figures import NUMPY, Point
from clmst.bench.tables import digits
from clmst.cli.terminal import new_table

_SEGMENT_KINDS = "segmented_scan_kinds"


def yardsticks(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return for each case the seconds that ratios refer to: those of its first contestant.

    That is clmst, except in the case "copy"; a case whose first contestant failed has none.
    """
    firsts = {name: next(group) for name, group in groupby(outcomes, lambda o: o.case)}
    return {name: first.median for name, first in firsts.items() if first.status == "ok"}


def segment_ratio(outcomes: Sequence[Outcome]) -> float | None:
    """Return how many times as long the slowest kind of segments takes as the quickest."""
    times = [o.median for o in outcomes if o.case == _SEGMENT_KINDS and o.status == "ok"]
    return max(times) / min(times) if times else None


def as_json(facts: dict[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return everything that was measured."""
    base = yardsticks(outcomes)
    ratio = segment_ratio(outcomes)
    return {
        **facts,
        "results": [_record(outcome, base.get(outcome.case)) for outcome in outcomes],
        "segmented_slowest_over_quickest": None if ratio is None else round(ratio, 4),
    }


def _record(outcome: Outcome, base: float | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "case": outcome.case,
        "contestant": outcome.contestant,
        "elements": outcome.size,
        "status": outcome.status,
    }
    if outcome.remark:
        record["remark"] = outcome.remark
    if outcome.status == "ok":
        copy = outcome.copy_seconds_per_byte
        record |= {
            "median_ms": outcome.median * 1e3,
            "ms": [seconds * 1e3 for seconds in outcome.seconds],
            "calls_per_repetition": outcome.calls,
            "ratio": None if base is None else outcome.median / base,
            "bytes": outcome.traffic,
            "gb_per_s": None if outcome.bandwidth is None else outcome.bandwidth * 1e-9,
            "copy_gb_per_s": None if math.isnan(copy) else 1e-9 / copy,
            "share_of_limit": outcome.limit_share,
        }
    return record


def table(outcomes: Sequence[Outcome], *, markdown: bool = False) -> Table:
    """Return the table of a run, if wanted to be pasted as Markdown.

    Times are medians with the least and the greatest; "ratio" is a contestant's time over that of
    the first in its case.
    """
    numbers = ("elements", "ms", "min-max", "GB/s", "of limit", "ratio")
    result = new_table("case", "contestant", *numbers, numbers=numbers)
    base = yardsticks(outcomes)
    for name, group in groupby(outcomes, lambda outcome: outcome.case):
        for outcome in group:
            result.add_row(*_row(outcome, base.get(name)))
        if not markdown:
            result.add_section()
    return _as_markdown(result) if markdown else result


def _as_markdown(result: Table) -> Table:
    """Return the same table with the lines that Markdown wants."""
    result.box, result.show_edge = box.MARKDOWN, True
    return result


def not_timed(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each contestant that was not timed, with the reason."""
    return [
        f"{outcome.case}, {outcome.contestant}: {outcome.status}: {outcome.remark}"
        for outcome in outcomes
        if outcome.status != "ok"
    ]


def scan_table(points: Sequence[Point], *, markdown: bool = False) -> Table:
    """Return the table of kernel and total times in milliseconds by size."""
    names = list(dict.fromkeys(point.name for point in points if point.total_ms))
    space = " " if markdown else "\n"
    both = ("kernel", "total")
    headings = [name + space + what for name in names if name != NUMPY for what in both]
    headings.append(NUMPY)
    result = new_table("MiB", *headings, numbers=("MiB", *headings))
    for mib, group in groupby(points, lambda point: point.mib):
        cells = [
            digits(value)
            for point in group
            if point.total_ms
            for value in ([point.total] if point.name == NUMPY else [point.kernel, point.total])
        ]
        result.add_row(str(mib), *cells)
    return _as_markdown(result) if markdown else result


def _row(outcome: Outcome, base: float | None) -> list[str]:
    head = [outcome.case, outcome.contestant, f"{outcome.size:,}"]
    if outcome.status != "ok":
        return [*head, outcome.status]
    low, high = min(outcome.seconds) * 1e3, max(outcome.seconds) * 1e3
    bandwidth, share = outcome.bandwidth, outcome.limit_share
    return [
        *head,
        digits(outcome.median * 1e3),
        "" if len(outcome.seconds) == 1 else f"{digits(low)}-{digits(high)}",
        "" if bandwidth is None else f"{bandwidth * 1e-9:,.1f}",
        "" if share is None else f"{share:.0%}",
        "" if base is None else f"{outcome.median / base:.2f}",
    ]
