"""Options of several benchmarks."""

from __future__ import annotations

from pathlib import Path

import click

from clmst.cli.failure import reported


class Experiment(click.Command):
    """A command that reports errors in one line."""

    def invoke(self, context: click.Context) -> object:
        """Run the command."""
        with reported():
            return super().invoke(context)


class Experiments(click.Group):
    """Several of them."""

    command_class = Experiment


device_option = click.option("--device", default=None, help="As of clmst solve.")
repetitions_option = click.option(
    "--repetitions", type=click.IntRange(min=1), default=9, show_default=True
)
largest_option = click.option(
    "--largest", type=click.IntRange(min=512), default=16384, show_default=True
)
vertices_option = click.option(
    "--vertices", type=click.IntRange(min=16), default=16384, show_default=True
)
json_option = click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures here."
)


def complete_sizes(largest: int) -> list[int]:
    """Return the numbers of vertices that complete graphs are timed with: 512, doubled."""
    return [512 << k for k in range((largest // 512).bit_length())]
