"""``clmst verify``: check whether a file holds the minimum spanning forest of a graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.failure import CommandFailure, understood
from clmst.cli.options import columns_option, format_option, json_option, quiet_option
from clmst.cli.terminal import STREAM, Stages, counted, find_format, print_json, reading
from clmst.core.errors import InvalidForestError

if TYPE_CHECKING:
    from clmst.core.forest import Forest
    from clmst.core.verification import Verification


@click.command()
@click.argument("graph_file", metavar="GRAPH", type=click.Path(path_type=Path))
@click.argument("forest_file", metavar="FOREST", type=click.Path(path_type=Path))
@click.option(
    "--maximum/--minimum",
    default=None,
    help="Whether FOREST must be the maximum or the minimum spanning forest. By default this is "
    "read from FOREST, and is the minimum if FOREST does not say.",
)
@format_option("--format", "format_name", text="The format of GRAPH, whatever its suffix.")
@format_option("--forest-format", text="The format of FOREST, whatever its suffix.")
@columns_option
@json_option
@quiet_option
def verify(
    *,
    graph_file: Path,
    forest_file: Path,
    maximum: bool | None,
    format_name: str | None,
    forest_format: str | None,
    columns: tuple[str, ...] | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check that FOREST is the minimum spanning forest of GRAPH.

    FOREST is a file that `clmst solve --output` wrote: an edge list, .csv, .mtx, .npz or .parquet.
    One of the two files may be -, which stands for stdin. Its format must then be given. The check
    runs on the host and shares no code with the algorithms. The exit status is 1 if the forest is
    wrong.
    """
    from clmst.core.verification import Verification
    from clmst.io import read_forest, read_graph

    if graph_file == forest_file == STREAM:
        raise click.UsageError("GRAPH and FOREST are both -; only one of them can come from stdin")
    stages = Stages(quiet=quiet)
    _find_forest_format(forest_file, forest_format)
    with reading(stages, "graph", graph_file, format_name, columns=columns) as file:
        graph = read_graph(file, format=format_name, columns=columns)
    forest = None
    try:
        with reading(stages, "forest", forest_file, forest_format) as file:
            forest = read_forest(file, graph, format=forest_format)
        if maximum is not None:
            forest = replace(forest, maximum=maximum)
        with stages.stage("verify", "verifying"):
            outcome = forest.verify(graph)
    except InvalidForestError as error:  # the forest has edges that are not in the graph
        outcome = Verification(problems=(str(error),), n_problems=1)
    graph_name, forest_name = (
        "stdin" if path == STREAM else str(path) for path in (graph_file, forest_file)
    )
    if as_json:
        print_json(_report(graph_name, forest_name, forest, outcome))
    kind = "maximum" if (maximum if forest is None else forest.maximum) else "minimum"
    if forest is None or not outcome:
        raise wrong_forest(
            f"{forest_name} is not the {kind} spanning forest of {graph_name}", outcome
        )
    if not (quiet or as_json):
        sizes = counted(forest.n_edges, "edges"), counted(forest.n_components, "components")
        click.echo(
            f"{forest_name} is the {kind} spanning forest of {graph_name}: "
            f"{', '.join(sizes)}, total weight {forest.total_weight:,}"
        )


def _find_forest_format(path: Path, format_name: str | None) -> None:
    """Raise a usage error if the format of the forest's file is unknown or cannot be read.

    This is checked before the graph is read, so that an error comes early. `path` is the file. If
    `format_name` is None, the name of the file decides the format.
    """
    from clmst.io import registry

    chosen = find_format(path, format_name, registry.able("reader"))
    with understood():
        registry.ability(chosen, "reader", "reads no forest")


def wrong_forest(verdict: str, outcome: Verification) -> CommandFailure:
    """Create the error for a forest that is wrong, with one problem on each line.

    `outcome` has the problems. The first line begins with `verdict`.
    """
    lines = [f"{verdict}: {outcome.problems[0]}", *outcome.problems[1:]]
    if rest := outcome.n_problems - len(outcome.problems):
        lines.append(f"... and {rest:,} more of this kind")
    return CommandFailure("\n  ".join(lines))


def _report(
    graph_name: str, forest_name: str, forest: Forest | None, outcome: Verification
) -> dict[str, Any]:
    report: dict[str, Any] = {
        "graph": graph_name,
        "forest": forest_name,
        "ok": outcome.ok,
        "n_problems": outcome.n_problems,
        "problems": outcome.problems,
    }
    if forest is not None:
        report |= {
            "maximum": forest.maximum,
            "n_vertices": forest.n_vertices,
            "n_edges": forest.n_edges,
            "n_components": _n_components(forest),
            "total_weight": forest.total_weight,
        }
    return report


def _n_components(forest: Forest) -> int:
    """Return the number of components of the graph that the forest's edges form.

    The edges may be wrong and contain cycles, so the vertices and edges are not simply counted.
    """
    import numpy as np
    from scipy import sparse

    u, v = forest.edges.T
    joined = sparse.coo_array((np.ones(u.size, np.int8), (u, v)), shape=(forest.n_vertices,) * 2)
    return int(sparse.csgraph.connected_components(joined, directed=False)[0])
