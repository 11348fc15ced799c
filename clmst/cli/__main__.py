"""Run the ``clmst`` command with ``python -m clmst.cli``."""

from __future__ import annotations

from clmst.cli import main

main(prog_name="clmst")
