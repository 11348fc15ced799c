"""What an experiment writes down: every point, and what it was measured on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clmst import Device
from clmst.bench.record import recorded, write_record


@dataclass
class Point:
    name: str
    milliseconds: list[float]


def test_record_has_device_and_points(any_device: Device, tmp_path: Path) -> None:
    file = tmp_path / "new" / "record.json"
    points = [Point("a", [1.5, 2.0]), {"name": "b", "milliseconds": [0.5]}]
    write_record(any_device, points, file, unit="milliseconds")
    written = json.loads(file.read_text())
    assert written["device"] == any_device.name
    assert written["driver"] == any_device.driver
    assert written["unit"] == "milliseconds"
    assert [point["name"] for point in written["points"]] == ["a", "b"]
    write_record(any_device, points, None)
    assert [one.name for one in tmp_path.iterdir()] == ["new"]


def test_record_is_written_after_each_point(any_device: Device, tmp_path: Path) -> None:
    """So that a run that is cut short leaves what it has measured."""
    file = tmp_path / "record.json"
    shown: list[str] = []

    def measure() -> Iterator[Point]:
        yield Point("a", [1.0])
        assert [one["name"] for one in json.loads(file.read_text())["points"]] == ["a"]
        yield Point("b", [2.0])

    found = recorded(any_device, measure(), file, on_point=lambda one: shown.append(one.name))
    assert [one.name for one in found] == shown == ["a", "b"]
    assert len(json.loads(file.read_text())["points"]) == 2
