"""Run the command-line program: ``python -m clmst`` is the same as ``clmst``."""

from __future__ import annotations

from clmst.cli import main

main(prog_name="clmst")
