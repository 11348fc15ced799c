"""The record of an experiment: every measured value, and the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from clmst.bench import machine
from clmst.bench.results import write_json
from clmst.core import atomic_file
from clmst.runtime.device import Device

T = TypeVar("T")


def write_record(device: Device, points: Sequence[Any], file: Path | None, **more: Any) -> None:
    """Write device, driver, host and points into a JSON file, if one is wanted; make its folder.

    Points are dataclasses, or mappings of the types of JSON; `more` are further facts.
    """
    if file is not None:
        values = [point if isinstance(point, dict) else asdict(point) for point in points]
        atomic_file.make_folder(file.parent)
        write_json(file, {**machine.facts(device), **more, "points": values})


def recorded(
    device: Device,
    points: Iterable[T],
    file: Path | None,
    *,
    on_point: Callable[[T], object] | None = None,
    **more: Any,
) -> list[T]:
    """Return all points; the record is written anew as soon as another one is measured.

    `on_point` is called with each point, to show it; the rest as of :func:`write_record`.
    """
    found: list[T] = []
    for point in points:
        found.append(point)
        if on_point is not None:
            on_point(point)
        write_record(device, found, file, **more)
    return found
