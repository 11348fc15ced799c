"""Replace the parts of pages that commands write, each between two comments of Markdown.

A part is between a line ``<!-- KIND: NAME -->`` and the next ``<!-- end -->``. The command for a
KIND writes the parts of each NAME. A test makes all parts again and compares them.
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
        The word before the colon of the opening comment.
    make : callable
        Takes the name of a part, and returns its Markdown.
    """

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{make(found[2]).strip()}\n\n{found[3]}"

    return _pattern(kind).sub(part, text)


def without(text: str, kind: str) -> str:
    """Return the text of a page without the parts that the command for `kind` has written."""
    return _pattern(kind).sub("", text)


def names_in(text: str, kind: str) -> list[str]:
    """Return the names of a page's parts that the command for `kind` writes."""
    return [found[2] for found in _pattern(kind).finditer(text)]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table in Markdown. The first `texts` columns are aligned to the left."""
    rules = ["---" if number < texts else "--:" for number in range(len(headings))]
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rules)}|", *lines[1:]])


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {kind}: ([^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
