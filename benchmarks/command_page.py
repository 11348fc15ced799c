"""Write the tables of options of the command ``clmst`` into the page ``docs/command.md``.

    python -m benchmarks.command_page

The options are read from the command itself. Between a line ``<!-- options: NAME -->`` and the next
``<!-- end -->``, the page has the options of the sub-command NAME. A test compares them with the
command.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from benchmarks.marked import filled
from clmst.cli.root import main as clmst

PAGE = Path(__file__).parents[1] / "docs" / "command.md"
KIND = "options"


def rendered(text: str) -> str:
    """Return the text of the page with all its tables replaced by new ones."""
    return filled(text, KIND, lambda name: table(name.split()))


def table(names: list[str]) -> str:
    """Return the usage, purpose and options of a sub-command of ``clmst`` as Markdown.

    `names` leads to it, such as ["generate", "road"] for ``clmst generate road``.
    """
    command, context = resolved(names)
    usage = f"clmst {' '.join(names)} {' '.join(command.collect_usage_pieces(context))}"
    # Only options are put into the table. Arguments are shown in the line of usage, and whether
    # they also have a help record depends on the version of click.
    options = (one for one in command.get_params(context) if isinstance(one, click.Option))
    rows = [option.get_help_record(context) for option in options]
    lines = [f"\n{command.get_short_help_str(200)}\n", f"```text\n{usage}\n```\n"]
    lines += ["| option | meaning |", "|---|---|"]
    lines += [f"| `{cell(record[0])}` | {cell(record[1])} |" for record in rows if record]
    if isinstance(command, click.Group):
        lines += ["", "| sub-command | makes |", "|---|---|"]
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            lines.append(f"| `{name}` | {cell(child.get_short_help_str(200))} |")
    return "\n".join([*lines, "", ""])


def resolved(names: list[str]) -> tuple[click.Command, click.Context]:
    """Find a sub-command of ``clmst`` by its names, and return it with a click context for it."""
    command: click.Command = clmst
    context = click.Context(clmst, info_name="clmst", **clmst.context_settings)
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None
        command = found
        context = click.Context(command, info_name=name, parent=context)
    return command, context


def cell(text: str) -> str:
    """Return text for a cell of a table, on one line."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace(str(Path.home()), "~")


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
