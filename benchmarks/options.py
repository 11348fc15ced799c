"""Options that several benchmarks have."""

from __future__ import annotations

from pathlib import Path

import click

device_option = click.option("--device", default=None, help="As of clmst solve.")
repetitions_option = click.option(
    "--repetitions", type=click.IntRange(min=1), default=9, show_default=True
)
json_option = click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures here."
)
