"""The ``clmst`` command."""

from __future__ import annotations

from clmst.cli.root import main

__all__ = ["main"]
