"""The landscape: its graphs are what their names say, a run goes on, and a cliff is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import clmst
from benchmarks import landscape
from benchmarks.__main__ import main as cases
from benchmarks.landscape_graphs import FAMILIES, STRUCTURED, WEIGHTS, Cell
from benchmarks.landscape_report import HELD_OUT
from clmst import Device
from clmst.algorithms.shared.solution import Solution
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from tests.helpers.records import emptied, registered

B = 10
N = 1 << B


def graph_of(
    device: Device, family: str, degree: int, weights: str = "int32", layout: str = "both"
) -> clmst.Graph:
    cell = Cell(family=family, degree=degree, log_size=B, weights=weights, layout=layout)
    return cell.made(7, device).graph


def degrees_of(graph: clmst.Graph) -> Array:
    return np.diff(graph.indptr.astype(np.int64))


@pytest.mark.parametrize("family", FAMILIES)
def test_graph_is_whole(family: str, any_device: Device) -> None:
    """Both layouts have the same edges and weights, whatever the device does with large sorts."""
    degree = FAMILIES[family].degrees[0]
    both, upper = (graph_of(any_device, family, degree, layout=one) for one in ("both", "upper"))
    assert (both.is_symmetric, upper.is_symmetric) == (True, False)
    for one, other in zip(both.edges()[:3], upper.edges()[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    u, v, _, _ = upper.edges()
    assert np.all(u < v)
    cell = Cell(family=family, degree=degree, log_size=B, weights="int32", layout="upper")
    assert cell.made(8, any_device).graph != upper, "the seed changes something"


def test_families_are_what_they_are_called(any_device: Device) -> None:
    side = 1 << B // 2
    grid = graph_of(any_device, "grid 2d", 4, layout="upper")
    own = clmst.generate("grid", rows=side, columns=side)
    np.testing.assert_array_equal(grid.indices, own.indices)
    np.testing.assert_array_equal(grid.indptr, own.indptr)
    renamed = graph_of(any_device, "grid 2d, renamed", 4)
    straight = graph_of(any_device, "grid 2d", 4)
    np.testing.assert_array_equal(np.sort(degrees_of(renamed)), np.sort(degrees_of(straight)))
    assert not np.array_equal(renamed.indices, straight.indices)
    inner = degrees_of(graph_of(any_device, "grid 3d", 8))
    assert inner.max() == 8
    star = degrees_of(graph_of(any_device, "star", 8))
    assert (star[:4] >= N - 4).all()
    assert (star[4:] == 4).all()
    cliques = degrees_of(graph_of(any_device, "cliques", 8))
    assert {*cliques[: N // 9 * 9].tolist()} <= {8, 9}
    assert abs(degrees_of(graph_of(any_device, "random", 32)).mean() - 32) < 1
    skewed = [degrees_of(graph_of(any_device, f"rmat {one}", 16)).max() for one in (45, 70)]
    assert 40 < skewed[0] < skewed[1]
    attached = degrees_of(graph_of(any_device, "preferential", 4))
    assert attached.max() > 40
    assert attached.min() >= 1
    assert graph_of(any_device, "path", 2, layout="upper").n_edges in range(N - 1, N + N // 16)
    geometric = degrees_of(graph_of(any_device, "geometric", 16))
    assert 12 < geometric.mean() < 16.5


def test_weights_are_of_their_kind(any_device: Device) -> None:
    found = {name: graph_of(any_device, "random", 8, name).weights for name in WEIGHTS}
    kinds = {name: str(values.dtype) for name, values in found.items()}
    assert kinds == {
        "int32": "int32", "float32": "float32", "float64": "float64", "ten values": "int32",
        "one value": "int32",
    }  # fmt: skip
    counts = {name: np.unique(values).size for name, values in found.items()}
    assert (counts["ten values"], counts["one value"]) == (10, 1)
    assert min(counts["int32"], counts["float32"], counts["float64"]) > 3000
    assert found["int32"].min() >= 0
    assert ((found["float64"] >= 1) & (found["float64"] < 2)).all()


# ------------------------------------------------------------------------- the command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cases, ["landscape", *map(str, arguments)], catch_exceptions=False)


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


FEW = ("--most-entries", 1 << 14, "--repetitions", 1, "--cells", 6)


@pytest.mark.exhaustive
def test_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    stopped = run("measure", file, *FEW, "--seconds", 0)
    assert "6 of 6 cells are left" in stopped.output
    assert run("measure", file, *FEW[:-1], 2, "--targets").exit_code == 0
    first = lines_of(file)
    with file.open("a") as stream:
        stream.write('{"family": "pa')  # killed
    shown = run("report", file)
    assert shown.exit_code == 0, shown.output
    file.write_text("".join(json.dumps(line) + "\n" for line in first))
    assert run("measure", file, *FEW, "--targets").exit_code == 0
    every = lines_of(file)
    assert every[: len(first)] == first
    cells = [line for line in every if "family" in line]
    assert len(cells) == 6
    assert not any("failed" in line for line in cells)
    assert all(len(line["ms"]) == 1 and len(line["_targets"]) == 10 for line in cells)
    assert not {line["family"] for line in cells} & {*HELD_OUT}
    assert run("measure", file, *FEW, "--targets").exit_code == 0
    assert lines_of(file) == every, "nothing is left to do"


@pytest.mark.exhaustive
def test_held_out_families_are_apart(tmp_path: Path) -> None:
    """Else they would shape the model that they are judged by."""
    file = tmp_path / "cells.jsonl"
    assert run("measure", file, *FEW[:-1], 2, "--held-out").exit_code == 0
    assert {line["family"] for line in lines_of(file) if "family" in line} <= {*HELD_OUT}
    assert "no cell of a family that the model is fitted to" in run("report", file).output
    assert run("measure", file, *FEW).exit_code == 0
    assert "6 cells" in run("report", file).output
    assert "2 cells" in run("report", file, "--held-out").output


def seeded(slow: str = "", *, times: float = 20.0) -> list[dict[str, Any]]:
    """Return lines as of cells that take exactly what a model says, but for one family."""
    rates = {"launch": 0.01, "byte": 1e-9, "gathers": {str(b): 1e-7 for b in range(12, 26)}}
    lines: list[dict[str, Any]] = [{"device": "a device", "constants": rates, "facts": {}}]
    for name, family in FAMILIES.items():
        for degree in family.degrees[:3]:
            for b in (12, 16, 20):
                slots = degree << b
                ms = 3 * 0.01 + 2e-9 * (4 * (1 << b) + 8 * slots) + 1e-7 * min(slots, 5 << b)
                own = ms * (times if name == slow and b == 16 else 1)
                lines.append({
                    "device": "a device", "family": name, "degree": degree, "log_size": b,
                    "weights": "int32", "layout": "both", "n": 1 << b, "slots": slots,
                    "ms": [own], "_kernels": {"a kernel": own}, "_targets": {"()": [ms]},
                })  # fmt: skip
    return lines


@pytest.mark.exhaustive
def test_slow_cell_is_found_and_drawn(tmp_path: Path) -> None:
    """A cliff must neither be missed nor lift the model until it is none."""
    file, picture = tmp_path / "cells.jsonl", tmp_path / "map.png"
    file.write_text("".join(json.dumps(line) + "\n" for line in seeded()))
    assert "0 cells over 1.5" in run("report", file).output
    file.write_text("".join(json.dumps(line) + "\n" for line in seeded("rmat 70")))
    for colour in ("model", "best"):
        report = run("report", file, "--plot", picture, "--colour", colour)
        assert report.exit_code == 0, report.output
        assert picture.stat().st_size > 1000
        picture.unlink()
    assert "3 cells over 1.5" in report.output
    found = report.output.partition("3 cells over 1.5")[2]
    rows = [line.split(" | ") for line in found.splitlines() if line.startswith("| rmat 70 ")]
    assert [(row[2], row[8]) for row in rows] == [("65536", "20")] * 3
    assert [round(float(row[9])) for row in rows] == [20] * 3


def test_wrong_forest_is_not_timed(tmp_path: Path) -> None:
    """Even where the first one was right, which is compared with others."""
    file, calls = tmp_path / "cells.jsonl", count()

    def wrap(solve: Callable[..., Solution]) -> Callable[..., Solution]:
        def wrapped(graph: DeviceGraph, *given: Any, **named: Any) -> Solution:
            solution = solve(graph, *given, **named)
            if next(calls):
                emptied(solution, graph)
            return solution

        return wrapped

    with registered(landscape.ALGORITHM, wrap=wrap):
        assert run("measure", file, *FEW[:-1], 1).exit_code == 0
    (cell,) = [line for line in lines_of(file) if "family" in line]
    assert "WrongResultError" in cell["failed"]
    assert "ms" not in cell


def test_sample_has_every_structure_once() -> None:
    """A prefix of it is a sample, too."""
    cells = landscape.every_cell(lambda _: True, 0, 1 << 26)
    keys = [(one.family, one.degree, one.log_size) for one in cells]
    assert len({*keys}) == len(keys) > 1000
    assert {one.family for one in cells} == {*FAMILIES, *STRUCTURED}
    assert all(one.entries <= 1 << 26 for one in cells)
    assert cells != landscape.every_cell(lambda _: True, 1, 1 << 26)
    assert cells == landscape.every_cell(lambda _: True, 0, 1 << 26)
    assert {one.layout for one in cells} == {"both", "upper"}
