"""Write the measured tables of the documents from records, so that no number is typed by hand.

    python -m benchmarks.pages [--check]

A record is the file that a benchmark has written with ``--json``, or ``clmst bench`` with
``--output``. Records are kept in ``docs/images/data``. A page has parts that are made from records,
such as a table and sentences with numbers. A part begins after a line ``<!-- record: NAME -->`` and
ends before the next ``<!-- end -->``. For each NAME, one function is registered that makes the part
from its records. Below the part are a link to each record and the SHA-256 of the record, so that a
record cannot change without its pages.

Numbers of the papers come from :mod:`benchmarks.stated`. In a table that a person writes, the mark
``†`` says that numbers were measured but have no record. It is in the heading of their column, or
in the first cell of their row. If it applies to all numbers of the table, it is in the first
heading.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from benchmarks.marked import filled, names_in, without
from benchmarks.runner import Row
from clmst.bench.results import Results, merged

DOCS = Path(__file__).parents[2] / "docs"
KIND = "record"
MARK = "†"
PAGES = ("performance.md", "scaling.md", "experiments.md", "papers/*.md")
LOG = Path("benchmarks", "log.md")  # beside the folder of the pages, and not on the site

# A table that a person writes needs the mark † where its numbers were measured but no record of
# them exists. Tables with these headings describe differences between a paper and clmst. They do
# not contain measurements, so they do not need the mark.
_NOT_MEASURED = {
    ("", "paper", "clmst"), ("", "paper (section 2)", "clmst"), ("what", "why"),
    ("program", "in the paper", "here"), ("the paper", "clmst"),
    ("program", "source, on github.com", "version", "compiler, flags", "our changes",
     "times in a record"),
}  # fmt: skip
# Columns with these headings name a machine, a program or a command. Their digits are not measured.
_NAMES = {"measured on", "compared with", "command"}
_QUANTITY = re.compile(r"\d(?:[\d.,]*\d)? (?:ms|s|ns|GB/s|x|times|per cent|%)(?!\w)|\d %")


@dataclass(frozen=True, kw_only=True)
class Record:
    """The file with results that a benchmark run has written."""

    path: Path
    name: str  # the path below the folder of records, without ``.json``

    @cached_property
    def content(self) -> dict[str, Any]:
        """The content of the file, parsed from JSON."""
        return dict(json.loads(self.path.read_text(encoding="utf-8")))

    @property
    def rows(self) -> list[Row]:
        """The rows of the table that a command of :mod:`benchmarks` has measured.

        A row is a dict of cells by the headings of the columns. A cell with a time is a list of the
        milliseconds of each repetition.
        """
        return list(self.content["points"])

    def row(self, **cells: Any) -> Row:
        """Return the row that has the given cells, such as ``row(graph="cit")``.

        Raises KeyError if no row has them, or several.
        """
        found = [row for row in self.rows if cells.items() <= row.items()]
        if len(found) != 1:
            raise KeyError(f"{self.path.name} has {len(found)} rows with {cells}")
        return found[0]

    def groups(self, heading: str) -> dict[Any, list[Row]]:
        """Group the rows by their value in one column, which has the given heading.

        Returns a dict from each value to the list of its rows, both in the order of the record.
        """
        found = dict[Any, list[Row]]()
        for row in self.rows:
            found.setdefault(row[heading], []).append(row)
        return found

    @property
    def devices(self) -> str:
        """The names of the devices on which the run was made, and of their drivers."""
        if machines := self.content.get("machines"):
            facts = list(machines.values())
        else:
            facts = self.content.get("devices", [self.content])
        return "; ".join(f"{one['device']}, driver {one['driver']}" for one in facts)

    @property
    def times(self) -> str:
        """A note on the times in the record, such as "medians of 9 calls", or "" without times."""
        if "points" not in self.content:
            counts = {len(one["seconds"]) for one in self.content["measurements"]}
        elif "times" in self.content:
            text = re.sub(r"of (\d+)", r"of \1 calls", self.content["times"])
            if text.startswith(unit := "per cent; "):
                text = f"{text.removeprefix(unit)}, in per cent"
            return f"it has, for each measurement, the {text}"
        else:
            cells = (item for row in self.rows for item in row.items() if item[0][0] != "_")
            counts = {len(cell) for _, cell in cells if isinstance(cell, list)}
        if not counts:
            return ""
        least, most = min(counts), max(counts)
        if most == 1:
            return "it has only the median of each measurement"
        return f"medians of {most if least == most else f'{least} to {most}'} calls"

    @property
    def date(self) -> str:
        """The day on which the record was made, such as "2026-11-27", or "" if it does not say.

        A record of ``clmst bench`` has the time at which each of its benchmarks ran. The day is the
        day of the first one.
        """
        begun = [one["benchmark"] for one in self.content.get("measurements", [])]
        return min(begun)[:10] if begun else str(self.content.get("date", ""))

    @property
    def took(self) -> str:
        """How long the benchmark that wrote the record took, such as "29 s".

        It is "" if the record does not say it.
        """
        seconds = self.content.get("took_seconds")
        return "" if seconds is None else f"{seconds:,.0f} s"

    @property
    def digest(self) -> str:
        """The SHA-256 of the record's file, as a hexadecimal number."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def link(self, page: Path) -> str:
        """Return a Markdown link to the record, relative to `page`.

        The devices of the record, and a note on its times, follow in parentheses.
        """
        target = Path(os.path.relpath(self.path, page.parent)).as_posix()
        facts = "; ".join(filter(None, [self.devices, self.times]))
        return f"[{self.name}]({target}) ({facts})"


def results_of(*records: Record) -> Results:
    """Merge the results of ``clmst bench`` in some records."""
    return merged({one.path.name: Results.load(one.path) for one in records})


# ------------------------------------------------------------------------------ parts

Make = Callable[..., str]
_PARTS: dict[str, tuple[tuple[str, ...], Make]] = {}


def part(name: str, *records: str) -> Callable[[Make], Make]:
    """Return a decorator that registers a function as the one that makes the part `name` of a page.

    A part is a table, or sentences with numbers. A comment in the page gives its name. `records`
    are the names of the record files that the part needs, without ``.json``. The decorated function
    gets a :class:`Record` for each of them, and returns the part as Markdown.
    """

    def register(make: Make) -> Make:
        _PARTS[name] = records, make
        return make

    return register


def names() -> list[str]:
    """Return the names of all parts of pages that are made from records."""
    _load()
    return [*_PARTS]


def records_used() -> set[str]:
    """Return the names of all records from which parts of pages are made."""
    _load()
    return {record for records, _ in _PARTS.values() for record in records}


def _load() -> None:
    # Importing a module registers the parts of its page.
    from benchmarks.pages import (  # noqa: F401
        ecl_mst,
        evidence,
        h200,
        hybrid,
        past,
        performance,
        pma,
        scaling,
        scan,
    )


def made(name: str, page: Path, docs: Path = DOCS) -> str:
    """Make the part `name` of a page from its records, and return it as Markdown.

    Links to the records and the SHA-256 of their files are appended. The links are relative to
    `page`. `docs` is the folder of the documents, which contains the records. Raises ValueError if
    no part has this name.
    """
    _load()
    if name not in _PARTS:
        raise ValueError(f"no part is called {name!r}; there are {', '.join(_PARTS)}")
    needed, make = _PARTS[name]
    folder = docs / "images" / "data"
    records = [Record(path=folder / f"{one}.json", name=one) for one in needed]
    begin = (
        "The numbers above come from these records, which are files with measured numbers:"
        if records[1:]
        else "The numbers above come from this record, a file with measured numbers:"
    )
    links = "; ".join(one.link(page) for one in records)
    digests = [f"<!-- SHA-256 of {one.name}: {one.digest} -->" for one in records]
    return "\n".join([make(*records), "", wrapped(f"{begin} {links}."), "", *digests])


# ------------------------------------------------------------------------------ pages


def pages(docs: Path = DOCS) -> Iterator[Path]:
    """Yield the pages of `docs` that have parts made from records, and the log of experiments.

    The log, ``benchmarks/log.md``, comes last. It is left out if it is not beside `docs`.
    """
    for pattern in PAGES:
        yield from sorted(docs.glob(pattern))
    if (log := docs.parent / LOG).exists():
        yield log


def rendered(page: Path, docs: Path = DOCS) -> str:
    """Return the text of a page in which all parts are made again from their records."""
    text = page.read_text(encoding="utf-8")
    return filled(text, KIND, lambda name: made(name, page, docs))


def stale(docs: Path = DOCS) -> list[str]:
    """Return the names of the pages that would change if their parts were made again."""
    return [page.name for page in pages(docs) if rendered(page, docs) != page.read_text("utf-8")]


def unplaced(docs: Path = DOCS) -> set[str]:
    """Return the names of parts that are on no page."""
    found = {name for page in pages(docs) for name in names_in(page.read_text("utf-8"), KIND)}
    return set(names()) - found


def unmarked(page: Path) -> Iterator[str]:
    """Yield a message for each measured number of a page that lacks the mark ``†``.

    The mark says that a number is not from a record. Numbers in parts that are made from records do
    not need it. In a table that a person has written, every number needs it, except numbers of the
    paper, numbers in the first column, numbers in columns of machines, programs and commands, and
    cells that link to a record. A paragraph that has a measured quantity needs the mark, too,
    unless the paragraph is about the paper.
    """
    text = re.sub(r"```.*?```", "", without(page.read_text("utf-8"), KIND), flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        if lines and lines[0].startswith("|"):
            yield from _unmarked_cells(lines)
        elif not block.startswith("    ") and MARK not in block:
            about_paper = re.search(r"[Tt]he paper|section|\(T\. ", block)
            if not about_paper and (found := _QUANTITY.search(block)):
                yield f"{found[0]!r} in {lines[0]!r}"


def _unmarked_cells(lines: Sequence[str]) -> Iterator[str]:
    headings, _, *rows = [_cells(line) for line in lines]
    if tuple(headings) in _NOT_MEASURED or headings[0] == "machine" or MARK in headings[0]:
        return
    for row in rows:
        for heading, cell in zip(headings[1:], row[1:], strict=True):
            excused = any(MARK in one or _is_of_paper(one) for one in (heading, row[0]))
            excused |= heading in _NAMES or "images/data/" in cell
            if re.search(r"\d", cell) and not excused and MARK not in cell:
                yield f"{cell!r} under {heading!r}, {row[0]!r}"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _is_of_paper(text: str) -> bool:
    return "paper" in text or re.search(r"\(T\. \d", text) is not None


# ---------------------------------------------------------------------------- numbers


def digits(value: float, significant: int = 4) -> str:
    """Format a number with about `significant` digits, and with commas from a thousand on.

    Digits before the decimal point are never rounded.
    """
    if value == 0:
        return "0"
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def of(row: Row, heading: str) -> float:
    """Return the median of the times in a row's cell in the column `heading`.

    If the cell is a single number, it is returned.
    """
    cell = row[heading]
    return float(median(cell)) if isinstance(cell, list) else float(cell)


def span(values: Sequence[float], significant: int = 3) -> str:
    """Format the range of some numbers, such as "1.25 to 3.40"."""
    return f"{digits(min(values), significant)} to {digits(max(values), significant)}"


def mean(values: Sequence[float], significant: int = 3) -> str:
    """Return the geometric mean of some numbers as text with some significant digits."""
    return digits(geometric_mean(values), significant)


def listed(words: Sequence[str]) -> str:
    """Join words to a list as in a sentence: with commas, and with "and" before the last."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def wrapped(text: str) -> str:
    """Wrap a paragraph to lines of at most 100 characters."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)
