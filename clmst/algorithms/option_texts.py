"""Options of algorithms as text, in the form of a command line: ``gamma=64``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from clmst.algorithms import solving
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.arguments import from_text
from clmst.core.errors import InvalidArgumentError


def option_names(name: str) -> tuple[str, ...]:
    """Return the names of all options of an algorithm.

    An option of a nested class has a name like ``prim.queue``.
    """
    if name == "auto":
        return ()
    return tuple(option for option, *_ in _leaves(ALGORITHMS[name].options()))


def options_of(name: str, texts: Iterable[str]) -> object:
    """Make the options of the algorithm `name` from texts like ``gamma=64``.

    Without texts, the result is None. The class of the options checks the values. "none" means None
    for an option that may be None.

    Raises
    ------
    InvalidArgumentError
        A text lacks "=", names an option that the algorithm does not have, or gives an invalid
        value; or the algorithm is "auto", which takes no options as text.
    """
    values = dict(map(_halves, texts))
    if not values:
        return None
    if name == "auto":
        raise InvalidArgumentError(
            f"{next(iter(values))} is an option of an algorithm, but the algorithm is 'auto'; "
            "name the algorithm that it is for"
        )
    kind = ALGORITHMS[name].options
    for option in values:
        _check_option(option, [name])
    return _changed(kind(), values)


def read(text: str) -> tuple[str, object]:
    """Return the algorithm and the options that a text like ``pma gamma=64`` names.

    Raises InvalidArgumentError for an unknown algorithm, and for the reasons of :func:`options_of`.
    """
    name, *texts = text.split() or [""]
    solving.check_name(name)
    return name, options_of(name, texts)


def texts_with(algorithms: Iterable[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Add options to texts that name algorithms, and return the texts without repetitions.

    `algorithms` has texts like ``pma gamma=64``, and `texts` has options like ``gamma=32``. Each
    option is added to the algorithms that have an option of that name, unless the text of the
    algorithm sets it already. The returned texts are in the form of :func:`write`.

    Raises
    ------
    InvalidArgumentError
        None of the algorithms has one of the options, or a text is invalid for :func:`read`.
    """
    split = [text.split() or [""] for text in algorithms]
    for name, *_ in split:
        solving.check_name(name)
    known = [option_names(name) for name, *_ in split]
    options = [_halves(text)[0] for text in texts]
    for option in options:
        _check_option(option, [name for name, *_ in split])
    found = []
    for (name, *own), names in zip(split, known, strict=True):
        more = [text for text, option in zip(texts, options, strict=True) if option in names]
        found.append(write(*read(" ".join([name, *more, *own]))))
    return tuple(dict.fromkeys(found))


def write(name: str, options: object) -> str:
    """Return the text from which :func:`read` makes the algorithm `name` and these options.

    The text is like ``pma gamma=64`` and names only options that differ from their defaults. If
    `options` is None, it is the name alone.
    """
    if options is None:
        return name
    both = zip(_leaves(options), _leaves(type(options)()), strict=True)
    given = [f"{key}={_text(v)}" for (key, _, v), (*_, usual) in both if v != usual]
    return " ".join([name, *given])


def _check_option(option: str, algorithms: Sequence[str]) -> None:
    """Raise InvalidArgumentError unless one of the algorithms has an option called `option`.

    The error lists the options of all given algorithms.
    """
    known = {name: option_names(name) for name in algorithms}
    if not any(option in names for names in known.values()):
        offers = "; ".join(
            f"{name} takes {', '.join(names) or 'none'}" for name, names in known.items()
        )
        raise InvalidArgumentError(f"there is no option {option!r}; {offers}")


def _halves(text: str) -> tuple[str, str]:
    option, equals, value = text.partition("=")
    if not equals or not option:
        raise InvalidArgumentError(f"an option is {text!r}; it must be NAME=VALUE")
    return option.strip().replace("-", "_"), value.strip()


def _leaves(options: Any, within: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, type and value of each option, nested options included.

    A nested option has a name like ``prim.queue``. `within` is the prefix of all yielded names:
    the name of the outer option and a dot, or "".
    """
    kinds = get_type_hints(type(options))
    for field in fields(options):
        name, value = within + field.name, getattr(options, field.name)
        if is_dataclass(value):
            yield from _leaves(value, f"{name}.")
        else:
            yield name, kinds[field.name], value


def _changed(options: Any, texts: Mapping[str, str]) -> Any:
    """Return a copy of `options` with new values for some options.

    `texts` has the value of each of these options as a text, by the name of the option. The class
    of the options checks all values together.
    """
    values, nested = dict[str, Any](), dict[str, dict[str, str]]()
    for option, kind, _ in _leaves(options):
        outer, dot, inner = option.partition(".")
        if option in texts and dot:
            nested.setdefault(outer, {})[inner] = texts[option]
        elif option in texts:
            values[option] = _value(texts[option], kind)
    inner_options = {name: _changed(getattr(options, name), own) for name, own in nested.items()}
    return replace(options, **values, **inner_options)


def _value(text: str, kind: Any) -> Any:
    """Convert a text to a value of type `kind`.

    If that fails, return the text itself, which the class of the options will refuse.
    """
    kinds = get_args(kind)
    if NoneType in kinds:
        if text.lower() == "none":
            return None
        (kind,) = (one for one in kinds if one is not NoneType)
    if get_origin(kind) is Literal:
        return text
    try:
        return from_text(text, kind)
    except ValueError:
        return text


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
