"""What a benchmark leaves behind: everything that was measured, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import clmst
from clmst.bench import machine
from clmst.core import atomic_file


def write_record(
    device: clmst.Device, points: Sequence[Any], file: Path | None, **more: Any
) -> None:
    """Write points, which are dataclasses, into a JSON file, if one is wanted; make its folder."""
    if file is not None:
        record = {**machine.facts(device), **more, "points": [asdict(point) for point in points]}
        atomic_file.make_folder(file.parent)
        atomic_file.write_text(file, json.dumps(record, indent=1) + "\n")
