"""Options that several commands share, and completion by the Tab key (docs/command.md)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from clmst.algorithms.registry import one_of

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _completed(names: Callable[[], Iterable[str]]) -> Callable[..., list[CompletionItem]]:
    """Return a click callback for completion by the Tab key.

    It offers those names that begin with what the user has typed. `names` returns all names.
    """

    def complete(_context: object, _parameter: object, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def _algorithms() -> Iterable[str]:
    from clmst.algorithms.registry import ALGORITHMS

    return ["auto", *ALGORITHMS]


def _formats() -> Iterable[str]:
    from clmst.io import FORMATS

    return [one.name for one in FORMATS]


def _graphs() -> Iterable[str]:
    from clmst.bench.inputs import GROUPS
    from clmst.generators.surrogates import CLOSER, SURROGATES

    return [*GROUPS, *SURROGATES, *CLOSER]


def _devices(_context: object, _parameter: object, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a device: "gpu", "cpu", or one word for each device.

    `incomplete` is what the user has typed so far. Shells split a name at its spaces, and any part
    of a device's name selects the device. So each device is offered by the first word of its name
    that selects it. The other two arguments are click's, and are not used.
    """
    from clmst.runtime import discovery

    found, begin = discovery.enumerate_devices(), incomplete.lower()
    items = [CompletionItem(kind) for kind in ("gpu", "cpu") if kind.startswith(begin)]
    for device in found:
        words = [word for word in device.name.split() if word.isascii() and word[0].isalnum()]
        begun = [word for word in words if word.lower().startswith(begin)]
        mean_it = [word for word in begun if discovery.matching(found, word)[0] is device]
        items += [CompletionItem(word, help=device.description) for word in mean_it[:1]]
    return items


def graphs(context: object, parameter: object, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a benchmark graph, of a group of graphs, or of a file.

    `incomplete` is what the user has typed so far. `context` and `parameter` are click's.
    """
    named = _completed(_graphs)(context, parameter, incomplete)
    return [*named, CompletionItem(incomplete, type="file")]


_DEVICE = '"gpu", "cpu" or part of a name that `clmst devices` prints. By default, the best device.'
device_option: Callable[[_Command], _Command] = click.option(
    "--device", "device_name", metavar="NAME", shell_complete=_devices, help=_DEVICE
)
devices_option: Callable[[_Command], _Command] = click.option(
    "--device", "device_names", metavar="NAME", shell_complete=_devices, multiple=True,
    help=f"{_DEVICE} If it is given several times, each device solves a part of the graph.",
)  # fmt: skip
quiet_option: Callable[[_Command], _Command] = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print neither a summary nor progress. The exit status shows success.",
)
json_option: Callable[[_Command], _Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on stdout instead of tables."
)

columns_option: Callable[..., Any] = click.option(
    "--columns", metavar="NAMES", callback=lambda context, _option, text: (
        _names(text) if _are_points(context) else _ends(_names(text))
    ),
    help="For a CSV or Parquet file: the columns of the two ends of the edges, and of the "
         "weights if there are any, separated by commas.",
)  # fmt: skip

coordinates_option: Callable[..., Any] = click.option(
    "--columns", metavar="NAMES", callback=lambda _context, _option, text: _names(text),
    help="The columns of the coordinates, separated by commas. By default, all columns of the "
         "table.",
)  # fmt: skip

options_option: Callable[[_Command], _Command] = click.option(
    "--option", "option_texts", metavar="NAME=VALUE", multiple=True,
    help="Set an option of the algorithm, such as gamma=64 for pma. docs/algorithms.md lists the "
         "classes of options. May be repeated.",
)  # fmt: skip


def format_option(*names: str, text: str) -> Callable[..., Any]:
    """Return a decorator that adds an option for the name of a file format to a command.

    `names` are the names of the option, and `text` is its help.
    """
    return click.option(*names, metavar="NAME", shell_complete=_completed(_formats), help=text)


def algorithm_option(*names: str, text: str, **more: Any) -> Callable[..., Any]:
    """Return a decorator that adds the option --algorithm to a command.

    The help of the option is `text`, in which ``{names}`` is replaced by the names of all
    algorithms. `names` are further names of the option, and `more` are arguments of
    ``click.option``.
    """
    return click.option(
        "--algorithm", *names, metavar="NAME", shell_complete=_completed(_algorithms),
        show_default=True, help=text.format(names=one_of()), **more,
    )  # fmt: skip


def words_of(choices: Sequence[str]) -> Callable[..., tuple[str, ...]]:
    """Return a click callback that parses words separated by commas.

    The callback returns each word once, in the order of `choices`, and raises a usage error for a
    word that is not one of them.
    """

    def parse(_context: object, _option: object, text: str) -> tuple[str, ...]:
        words = {word.strip() for word in text.split(",")}
        for word in sorted(words - {*choices}):
            raise click.BadParameter(f"{word!r} is not one of {', '.join(choices)}")
        return tuple(word for word in choices if word in words)

    return parse


def numbers(_context: object, _option: object, text: str) -> tuple[int, ...]:
    """Parse positive integers separated by commas in `text`, and return each once, in order.

    The result is empty if `text` is empty or None. The other two arguments are click's, and are not
    used.
    """
    words = [word.strip() for word in text.split(",")] if text else []
    for word in words:
        if not word.isdecimal() or int(word) == 0:
            raise click.BadParameter(f"{word!r} is not a positive number")
    return tuple(dict.fromkeys(map(int, words)))


def _are_points(context: click.Context) -> bool:
    """Return whether columns of a table are coordinates, because --metric or --points is given."""
    return bool(context.params.get("metric") or context.params.get("points"))


def _names(text: str | None) -> tuple[str, ...] | None:
    """Parse names separated by commas, like a row of CSV: a name with a comma is quoted.

    `text` is the value of the option. Returns None if `text` is None, because the option was not
    given. Raises a usage error if a name is empty.
    """
    if text is None:
        return None
    names = tuple(next(csv.reader([text]), ()))
    if not names or not all(names):
        raise click.BadParameter(
            f"{text!r} has an empty name; names must be separated by single commas"
        )
    return names


def _ends(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Check the names of the columns of both ends and of the weight, and return them unchanged.

    Raises a usage error unless there are two or three names. `names` is None if the option was not
    given, and is then returned as None.
    """
    if names is not None and len(names) not in (2, 3):
        raise click.BadParameter(
            f"{','.join(names)!r} has {len(names)} names; it must be SOURCE,TARGET or "
            "SOURCE,TARGET,WEIGHT"
        )
    return names
