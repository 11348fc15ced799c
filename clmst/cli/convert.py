"""``clmst convert``: a graph file in another format."""

from __future__ import annotations

from pathlib import Path

import click

from clmst.cli.graph_files import STREAM, columns_option, format_option, name_of, reading, target
from clmst.cli.terminal import Stages, counted, quiet_option


@click.command()
@click.argument("file", metavar="IN", type=click.Path(path_type=Path))
@click.argument("output", metavar="OUT", type=click.Path(path_type=Path))
@format_option("--format", "format_name", text="The format of IN, whatever its suffix.")
@format_option("--output-format", text="The format of OUT, whatever its suffix.")
@columns_option
@quiet_option
def convert(
    *,
    file: Path,
    output: Path,
    format_name: str | None,
    output_format: str | None,
    columns: tuple[str, ...] | None,
    quiet: bool,
) -> None:
    """Write the graph in IN to OUT, in the format of its suffix.

    Either may be -, for stdin or stdout, whose format must be named. Of parallel edges the lightest
    is written; self-loops are not. Points become the list of all pairs.
    """
    from clmst.io import read_graph, registry, write_graph

    chosen = registry.find(target(output), output_format)
    registry.ability(chosen, "writer", "hold a graph")
    stages = Stages(quiet=quiet)
    with reading(stages, "read", file, format_name) as opened:
        graph = read_graph(opened, format=format_name, columns=columns)
    with stages.stage("write", f"writing {name_of(output)}"):
        write_graph(graph, target(output), format=output_format)
    if not quiet:
        sizes = counted(graph.n_vertices, "vertices"), counted(graph.n_edges, "edges")
        click.echo(f"{name_of(output)}: {', '.join(sizes)}", err=output == STREAM)
    if graph.vertex_labels is not None and not chosen.keeps_labels:
        click.echo(
            f"clmst: warning: format {chosen.name} holds no vertex labels; its vertices are the "
            "numbers of IN's in their order",
            err=True,
        )
