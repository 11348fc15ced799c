"""The report of results: all tables in order, and figures."""

from __future__ import annotations

from pathlib import Path

from clmst.bench import ablation, seeds, tables
from clmst.bench.measurement import SCOPES
from clmst.bench.results import Results
from clmst.bench.tables import Table


def all_tables(results: Results) -> list[Table]:
    """Return every table for which there is something."""
    found: list[Table | None] = []
    for machine in results.machines:
        found += [tables.times(results, scope, machine) for scope in SCOPES]
        found += [tables.throughput(results, machine), ablation.table(results, machine)]
        found += [seeds.table(results, machine)]
    for scope in SCOPES:
        found += tables.devices(results, scope)
    found += [tables.memory(results)]
    found += [tables.growth(results, "scaling"), tables.growth(results, "degree")]
    found += [tables.list_of_graphs(results), tables.failures(results)]
    return [table for table in found if table is not None]


def as_markdown(results: Results) -> str:
    """Return machines and tables as Markdown."""
    machines = "\n".join(f"* {machine}" for machine in results.machines)
    return "\n\n".join([machines, *(table.as_markdown() for table in all_tables(results))])


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw every figure for which there is something; return the files.

    Raises
    ------
    MissingDependencyError
        There is no Matplotlib.
    """
    from clmst.bench import figures

    return [path for draw in figures.FIGURES for path in draw(results, folder)]
