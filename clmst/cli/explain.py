"""``clmst explain``: describe how clmst would solve a graph, and why in this way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.failure import understood
from clmst.cli.options import columns_option, device_option, format_option, json_option
from clmst.cli.streaming import n_bytes
from clmst.cli.terminal import (
    STREAM,
    Stages,
    console,
    find_format,
    new_table,
    print_json,
    reading,
)

if TYPE_CHECKING:
    from clmst.explanation import Explanation


# What the output calls the facts about a graph by which :mod:`clmst.route` chooses, if their names
# in the code are not clear by themselves.
_FACTS = {
    "n": "points or rows",
    "n_vertices": "vertices",
    "n_entries": "entries",
    "boxed": "boxes bound distances",
    "unrounded": "distances are not rounded",
    "automatic": "algorithm left to clmst",
    "neighbours": "neighbours asked for",
    "host_allowed": "the host may solve",
    "by_entry": "ties by entry",
    "equal": "equal weights",
    "canonical": "in canonical order",
    "n_new": "edges of the stream",
    "has_space": "memory holds forest and edges",
    "memory_limit": "memory limit in bytes",
}


@click.command()
@click.argument("file", metavar="GRAPH", type=click.Path(path_type=Path))
@click.option(
    "--points", is_flag=True, is_eager=True,  # --columns needs it
    help="GRAPH is a table of points. --columns names their coordinates; by default, all columns "
         "are coordinates.",
)  # fmt: skip
@click.option(
    "--metric", metavar="NAME", is_eager=True,
    help="For points: use this metric instead of the one that the file names, or of euclidean.",
)  # fmt: skip
@click.option(
    "--maximum", is_flag=True, help="Find the maximum instead of the minimum spanning forest."
)
@click.option(
    "--stream", "is_stream", is_flag=True,
    help="Explain a solve in parts, as clmst solve --stream does it.",
)  # fmt: skip
@click.option(
    "--memory-limit", metavar="SIZE", callback=lambda _context, _option, text: n_bytes(text),
    help="Explain a solve in parts that uses at most this much memory of the device, for example "
         "500MB or 2GB.",
)  # fmt: skip
@device_option
@format_option("--format", "format_name", text="The format of GRAPH, whatever its suffix.")
@columns_option
@json_option
def explain(
    *,
    file: Path,
    points: bool,
    metric: str | None,
    maximum: bool,
    is_stream: bool,
    memory_limit: int | None,
    device_name: str | None,
    format_name: str | None,
    columns: tuple[str, ...] | None,
    as_json: bool,
) -> None:
    """Explain how the graph in GRAPH would be solved, and why.

    Nothing is solved. The answer is for clmst.minimum_spanning_forest. Below it are the ways that
    were rejected, each with the reason; docs/algorithms.md lists all limits. `clmst solve` itself
    uploads every graph to a device first, so it never uses the ways for small graphs. With --stream
    or --memory-limit, the answer is for clmst.stream_minimum_spanning_forest. GRAPH is read whole
    for it, also if `clmst solve --stream` would read it in parts.
    """
    from clmst.core.arguments import check_choice
    from clmst.core.points import METRICS_OF_FILES
    from clmst.explanation import explain as explained
    from clmst.explanation import explain_stream

    if metric is not None:
        with understood():
            check_choice("metric", metric, METRICS_OF_FILES)
    is_stream |= memory_limit is not None
    if is_stream and (points or metric is not None):
        raise click.UsageError(
            "--points and --metric cannot be combined with --stream and --memory-limit, because a "
            "stream has edges; leave some of them out"
        )
    stages = Stages(quiet=as_json)
    graph = _read(
        stages, file, format_name, columns=columns, points=points or metric is not None,
        metric=metric,
    )  # fmt: skip
    with stages.stage("explain", "asking the router"):
        given: dict[str, Any] = {"device": device_name, "maximum": maximum}
        if is_stream:
            found = explain_stream(graph, **given, memory_limit=memory_limit)
        else:
            found = explained(graph, **given)
    name = "stdin" if file == STREAM else str(file)
    if as_json:
        print_json(_as_json(name, found))
    else:
        _print(name, found)


def _read(
    stages: Stages, path: Path, format_name: str | None, *, points: bool, metric: Any,
    columns: tuple[str, ...] | None,
) -> Any:  # fmt: skip
    """Read the graph in the file `path`, or points if the format or the caller says so.

    `format_name` is None if the format follows from the file's name. With `points` the file has
    points, whose distance is `metric`. `columns` names the columns to read, or is None for the
    usual ones. `stages` gets the time of reading.
    """
    from clmst.io import read_graph, read_points, registry

    formats = registry.POINT_FORMATS if points else registry.able("reader")
    chosen = find_format(path, format_name, formats)
    opened = reading(stages, "read", path, format_name, points=points, columns=columns)
    with opened as file:
        if points or (chosen.points_reader and not columns):
            return read_points(file, format=format_name, metric=metric, columns=columns)
        return read_graph(file, format=format_name, columns=columns)


def _as_json(name: str, found: Explanation) -> dict[str, Any]:
    return {
        "file": name,
        "device": None if found.device is None else found.device.description,
        "facts": found.facts,
        "route": found.way.as_stats(),
        "passed": [{"record": record, "because": why} for record, why in found.passed],
    }


def _print(name: str, found: Explanation) -> None:
    from clmst.route import RECORDS

    way, device = found.way, found.device
    table = new_table()
    table.add_row("file", name)
    table.add_row("device", "none" if device is None else device.description)
    for fact, value in found.facts.items():
        table.add_row(_FACTS.get(fact, fact), _in_words(value))
    table.add_row("way", way.record + (f", {way.variant}" if way.variant else ""))
    table.add_row("", RECORDS[way.record])
    table.add_row("because", way.because)
    screen = console()
    screen.print(table)
    if found.passed:
        passed = new_table("passed over", "because")
        for record, why in found.passed:
            passed.add_row(record, why)
        screen.print()
        screen.print(passed)


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
