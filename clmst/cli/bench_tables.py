"""The tables of ``clmst bench`` on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from clmst.cli.terminal import console, new_table

if TYPE_CHECKING:
    from clmst.bench.tables import Table


def show(tables: Sequence[Table], *, markdown: bool) -> None:
    """Print tables, for people or as Markdown."""
    screen = console()
    for table in tables:
        if markdown:
            click.echo(table.as_markdown())
            continue
        drawn = new_table(*table.headings, numbers=table.headings[table.n_names :])
        for row in table.rows:
            drawn.add_row(*row)
        screen.print(f"\n{table.title}", style="bold")
        screen.print(drawn)
        for note in table.notes:
            screen.print(note, style="dim")


def list_of_graphs() -> Table:
    """Return the table of all named graphs."""
    from clmst.bench.inputs import is_small
    from clmst.bench.tables import Table
    from clmst.generators.surrogates import SURROGATES

    rows = [
        (
            one.name,
            one.stands_for,
            one.description,
            "small" if is_small(one) else "large",
            f"{one.n_vertices:,}",
            f"{one.n_slots:,}",
        )
        for one in SURROGATES.values()
    ]
    return Table(
        title="Named graphs",
        headings=("graph", "stands for", "description", "group", "vertices", "slots"),
        rows=rows,
        n_names=4,
        notes=("There are also random-2e20-d8, random-1000-d4, rmat-2e20-d16 and their like.",),
    )
