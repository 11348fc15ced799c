"""What commands have in common: options, and completions by the Tab key (docs/command.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from clmst.algorithms.registry import one_of

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _algorithms(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the algorithms whose names begin so."""
    from clmst.algorithms.registry import ALGORITHMS

    return _beginning(["auto", *ALGORITHMS], incomplete)


def _formats(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the file formats whose names begin so."""
    from clmst.io import FORMATS

    return _beginning((one.name for one in FORMATS), incomplete)


def graphs(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the named graphs and groups of the benchmark that begin so, and files."""
    from clmst.bench.inputs import GROUPS
    from clmst.generators.surrogates import CLOSER, SURROGATES

    named = _beginning([*GROUPS, *SURROGATES, *CLOSER], incomplete)
    return [*named, CompletionItem(incomplete, type="file")]


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


device_option: Callable[[_Command], _Command] = click.option(
    "--device",
    "device_name",
    metavar="NAME",
    help='"gpu", "cpu" or part of a name that `clmst devices` shows; the best one when left out.',
)
devices_option: Callable[[_Command], _Command] = click.option(
    "--device",
    "device_names",
    metavar="NAME",
    multiple=True,
    help='"gpu", "cpu" or part of a name that `clmst devices` shows; the best one when left out. '
    "Repeated, it names several, each of which solves a part of the graph.",
)
quiet_option: Callable[[_Command], _Command] = click.option(
    "-q", "--quiet", is_flag=True, help="No summary and no progress; the exit status tells."
)
json_option: Callable[[_Command], _Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on stdout instead of tables."
)

columns_option: Callable[..., Any] = click.option(
    "--columns",
    metavar="NAMES",
    callback=lambda _context, _option, text: _names(text),
    help="Of a CSV or Parquet file: the columns of the edges' ends and, if there are weights, of "
    "these, with commas between.",
)


options_option: Callable[[_Command], _Command] = click.option(
    "--option",
    "option_texts",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the algorithm, as gamma=64 of pma; docs/algorithms.md lists their classes. "
    "May be repeated.",
)


def format_option(*names: str, text: str) -> Callable[..., Any]:
    """Return an option that takes the name of a file format; `text` is its help."""
    return click.option(*names, metavar="NAME", shell_complete=_formats, help=text)


def algorithm_option(*names: str, text: str, **more: Any) -> Callable[..., Any]:
    """Return the option that takes the name of an algorithm; its help is `text` and all names."""
    return click.option(
        "--algorithm", *names, metavar="NAME", shell_complete=_algorithms, show_default=True,
        help=text.format(names=one_of()), **more,
    )  # fmt: skip


def _names(text: str | None) -> tuple[str, ...] | None:
    """Return the names in a list, where commas separate them."""
    if text is None:
        return None
    names = tuple(text.split(","))
    if len(names) not in (2, 3) or not all(names):
        raise click.BadParameter(
            f"{text!r} has {len(names)} names; it must be SOURCE,TARGET or SOURCE,TARGET,WEIGHT"
        )
    return names
