"""``python -m clmst`` is ``clmst``."""

from __future__ import annotations

from clmst.cli import main

main(prog_name="clmst")
