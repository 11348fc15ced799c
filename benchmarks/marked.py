"""Replace generated parts of Markdown pages, such as tables, by new ones.

A part begins after a comment ``<!-- KIND: NAME -->`` and ends before the next ``<!-- end -->``.
KIND says which command of this package generates the part, and NAME which part it is. For example,
the part ``<!-- options: solve -->`` is written by ``benchmarks.command_page``. A test generates all
parts again and compares them with the pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence


def filled(text: str, kind: str, make: Callable[[str], str]) -> str:
    """Return the text of a page, with all parts of a kind replaced by new ones.

    Parameters
    ----------
    text : str
        The page, in Markdown.
    kind : str
        The word before the colon of the comments that begin the parts to replace.
    make : callable
        Takes the name of a part, which is the text after the colon, and returns the new part as
        Markdown.
    """

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{make(found[2]).strip()}\n\n{found[3]}"

    return _pattern(kind).sub(part, text)


def without(text: str, kind: str) -> str:
    """Return the text of a page without all generated parts of a kind.

    `kind` is the word before the colon of the comments that begin these parts.
    """
    return _pattern(kind).sub("", text)


def names_in(text: str, kind: str) -> list[str]:
    """Return the names of all generated parts of a kind in a page.

    `kind` is the word before the colon of the comment that begins a part, and the name is the text
    after the colon.
    """
    return [found[2] for found in _pattern(kind).finditer(text)]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table in Markdown.

    The first `texts` columns are aligned to the left, and all others to the right.
    """
    rules = ["---" if number < texts else "--:" for number in range(len(headings))]
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rules)}|", *lines[1:]])


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {kind}: ([^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
