"""Checks of options."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args

from clmst.core.arguments import check_choice
from clmst.core.errors import InvalidArgumentError

Options = TypeVar("Options")


def options_for(algorithm: str, kind: type[Options], options: object) -> Options:
    """Return the options of an algorithm: those given, or the defaults; raise for another class."""
    if options is None:
        hashable: Any = kind
        usual: Options = _usual(hashable)
        return usual
    if type(options) is not kind:  # those of a caller's class may raise when compared
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; {algorithm!r} takes {article} {kind.__name__}"
        )
    return options


@cache
def _usual(kind: Any) -> Any:
    """Return options that say nothing: made once, since making them costs a small solve 4 us."""
    return kind()


def check_alternatives(options: object, **alternatives: Any) -> None:
    """Raise unless each field named is one of its alternatives, the arguments of a ``Literal``."""
    for name, known in alternatives.items():
        check_choice(name, getattr(options, name), get_args(known))
