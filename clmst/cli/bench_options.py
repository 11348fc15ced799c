"""The formats of options of ``clmst bench``, and its help on peers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from clmst.bench.peers import Peer

    _WordsType = click.ParamType[tuple[str, ...]]
    _NumbersType = click.ParamType[tuple[int, ...]]
    _PeerType = click.ParamType[Peer]
else:  # older releases of click have no generic ParamType
    _WordsType = _NumbersType = _PeerType = click.ParamType

EPILOG = """\b
Outside peers: COMMAND is run once a graph, its words {file} and {repetitions}
replaced by an ECL graph (.egr) and a number; without either both stand behind it.
It warms up, times itself so often, ends with status 0 and prints, one a line,
    solve_ms X      for each repetition: graph and result where it works
    transfer_ms X   for each repetition, or not at all: with both transfers
    weight W        the total weight of its forest, which clmst checks
    # ...           remarks
A peer that is wrong, late or fails is reported and has no times.
clmst brings two peers: --peer scipy and --peer networkx.
"""


class Words(_WordsType):
    """Words of a choice, with commas between them."""

    name = "NAME,..."

    def __init__(self, choices: Sequence[str]) -> None:
        self.choices = choices

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """Return the words, each once and in the order of the choice."""
        words = {word.strip() for word in value.split(",")}
        for word in sorted(words - {*self.choices}):
            self.fail(f"{word!r} is none of {', '.join(self.choices)}", param, ctx)
        return tuple(word for word in self.choices if word in words)


class Numbers(_NumbersType):
    """Positive integers, with commas between them."""

    name = "N,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Return the numbers, each once."""
        words = [word.strip() for word in value.split(",")] if value else []
        for word in words:
            if not word.isdecimal() or int(word) == 0:
                self.fail(f"{word!r} is no positive number", param, ctx)
        return tuple(dict.fromkeys(map(int, words)))


class PeerCommand(_PeerType):
    """An outside peer, or one that clmst brings."""

    name = "NAME[=COMMAND]"

    def convert(self, value: Any, param: Any, ctx: Any) -> Peer:
        """Return the peer that `value` writes."""
        from clmst.bench.peers import Peer

        try:
            return Peer.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
