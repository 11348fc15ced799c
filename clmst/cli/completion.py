"""Completions by the Tab key: names that only clmst knows. docs/command.md turns it on."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def algorithms(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the algorithms whose names begin so."""
    from clmst.algorithms.registry import ALGORITHMS

    return _beginning(["auto", *ALGORITHMS], incomplete)


def formats(
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
    from clmst.generators.surrogates import SURROGATES

    named = _beginning([*GROUPS, *SURROGATES], incomplete)
    return [*named, CompletionItem(incomplete, type="file")]


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
