"""``clmst generate`` and ``clmst convert``: write graphs to files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.failure import understood
from clmst.cli.options import columns_option, format_option, quiet_option
from clmst.cli.terminal import (
    STREAM,
    Stages,
    counted,
    force_option,
    name_of,
    reading,
    refuse_to_replace,
    target,
    warn_of_labels,
    will_write,
)
from clmst.core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clmst.core.graph import Graph
    from clmst.generators import Family, Parameter


class _Families(click.Group):
    """A group with one command for each graph family.

    The module with the families is imported when a command is listed or called.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all families. `ctx` is click's context, which is not used."""
        from clmst.generators import FAMILIES

        return list(FAMILIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command that generates graphs of a family, or None if the name is unknown.

        `cmd_name` is the name of the family. `ctx` is click's context, which is not used.
        """
        from clmst.generators import FAMILIES

        return _command(FAMILIES[cmd_name]) if cmd_name in FAMILIES else None


@click.command(cls=_Families)
def generate() -> None:
    """Generate a graph of a named family.

    The same parameters and seed give the same graph on every machine.
    """


def _command(family: Family) -> click.Command:
    options: list[click.Parameter] = [_option(parameter) for parameter in family.parameters]
    command = click.Command(
        family.name,
        params=options,
        callback=lambda **values: _generate(family, **values),
        help=_prose(family.description),
        short_help=_prose(family.description),
    )
    for add in (_output_option, _format_option, quiet_option):
        add(command)
    return command


_output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True,
    help="The file to write. Its suffix chooses the format, and a further suffix such as .gz the "
         "compression. - is stdout; --output-format then names the format.",
)  # fmt: skip
_format_option = format_option(
    "--output-format", text="The format of the output, whatever its suffix."
)


def _generate(
    family: Family,
    output: Path,
    output_format: str | None,
    quiet: bool,
    **parameters: Any,
) -> None:
    will_write(output, output_format, "writer", "writes no graph")
    stages = Stages(quiet=quiet)
    with stages.stage("generate", f"generating a {family.name} graph"), understood():
        graph = family(**parameters)
    _write(graph, output, output_format, stages, quiet=quiet)


def _option(parameter: Parameter) -> click.Option:
    flag = parameter.name.replace("_", "-")
    names = [f"--{flag}", parameter.name]
    common: dict[str, Any] = {"help": _prose(parameter.help), "required": parameter.required}
    if not parameter.required:
        common |= {"default": parameter.default, "show_default": True}
    if parameter.type is bool:
        return click.Option([f"--{flag}/--no-{flag}", parameter.name], **common)
    if parameter.choices:
        return click.Option(names, type=click.Choice(parameter.choices), **common)
    if parameter.type is tuple:
        metavar = "INT,..."
        if not parameter.required:
            common["default"] = ",".join(map(str, parameter.default))
    else:
        metavar = parameter.type.__name__.upper()
    return click.Option(
        names, type=str, metavar=metavar, callback=partial(_parsed, parameter), **common
    )


def _parsed(parameter: Parameter, _: click.Context, option: click.Parameter, text: str) -> Any:
    """Parse the text of an option as a value of a graph family's parameter.

    `option` is click's object for the option. Raises a usage error if `text` is not a value of the
    parameter.
    """
    try:
        return parameter.parse(text)
    except InvalidArgumentError as error:
        raise click.BadParameter(str(error), param=option) from error


def _prose(text: str) -> str:
    """Return the text of a docstring without its markup."""
    return text.replace("``", "")


@click.command()
@click.argument("file", metavar="IN", type=click.Path(path_type=Path))
@click.argument("output", metavar="OUT", type=click.Path(path_type=Path))
@format_option("--format", "format_name", text="The format of IN, whatever its suffix.")
@format_option("--output-format", text="The format of OUT, whatever its suffix.")
@columns_option
@force_option
@quiet_option
def convert(
    *,
    file: Path,
    output: Path,
    format_name: str | None,
    output_format: str | None,
    columns: tuple[str, ...] | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write the graph in IN to OUT, in the format of OUT's suffix.

    Either file may be -, which is stdin or stdout. Its format must then be given. Of parallel edges
    only the lightest is written, and self-loops are not written. Points become the list of all
    pairs.
    """
    from clmst.io import read_graph

    chosen = will_write(output, output_format, "writer", "writes no graph")
    refuse_to_replace([file], [output], force=force)
    stages = Stages(quiet=quiet)
    with reading(stages, "read", file, format_name, columns=columns) as opened:
        graph = read_graph(opened, format=format_name, columns=columns)
    _write(graph, output, output_format, stages, quiet=quiet)
    warn_of_labels(chosen, graph.vertex_labels)


def _write(
    graph: Graph, output: Path, format_name: str | None, stages: Stages, *, quiet: bool
) -> None:
    """Write a graph to the file `output`, or to stdout, and print its sizes unless `quiet`.

    `format_name` is None if the format follows from the file's name. `stages` gets the time of
    writing.
    """
    from clmst.io import write_graph

    with stages.stage("write", f"writing {name_of(output)}"):
        write_graph(graph, target(output), format=format_name)
    if not quiet:
        sizes = counted(graph.n_vertices, "vertices"), counted(graph.n_edges, "edges")
        click.echo(f"{name_of(output)}: {', '.join(sizes)}", err=output == STREAM)
