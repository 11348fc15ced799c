"""The ``clmst`` command itself, with all its sub-commands.

The modules of sub-commands import nothing that is slow to import. A sub-command imports what it
needs when it runs, so that ``clmst --help`` answers at once.
"""

from __future__ import annotations

from typing import Any

import click

from clmst import __version__
from clmst.cli.bench import bench
from clmst.cli.cluster import cluster
from clmst.cli.devices import devices
from clmst.cli.explain import explain
from clmst.cli.failure import reported, warnings_in_one_line
from clmst.cli.generate import convert, generate
from clmst.cli.solve import solve
from clmst.cli.verify import verify
from clmst.cli.warm import warm


class _Reporting(click.Group):
    """A group that reports an error of a sub-command as one line and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        with reported(), warnings_in_one_line():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the sub-commands, in the order in which the commands were added.

        `ctx` is click's context, which is not used.
        """
        return list(self.commands)


def _show_versions(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from clmst.versions import show_versions

    with reported(), warnings_in_one_line():
        show_versions()
    context.exit()


@click.group(
    name="clmst",
    cls=_Reporting,
    commands=[solve, cluster, verify, explain, convert, generate, devices, warm, bench],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--versions", is_flag=True, is_eager=True, expose_value=False, callback=_show_versions,
    help="Print the versions and devices that a bug report needs, and exit.",
)  # fmt: skip
@click.version_option(__version__, prog_name="clmst", message="%(prog)s %(version)s")
def main() -> None:
    """Compute minimum spanning forests on any OpenCL device: the same forest everywhere.

    The exit status is 0 on success, 1 if something is wrong with a file, a device or a result, and
    2 if the command line is wrong. CLMST_TRACEBACK=1 shows where in clmst an error was raised.
    """
