"""Real graphs with published answers, and small cases from other projects' tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import clmst
from clmst import Graph, InvalidGraphError
from clmst.cli import main
from tests.conftest import SHARED_DATA
from tests.helpers.variants import Variant, variants_elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file and what is known of its graph: sizes, components, weight of its minimum forest."""

    file: str
    n: int
    m: int
    cc: int
    weight: float


REAL = (
    Case(file="USA-road-d.NY.gr.gz", n=264_346, m=365_050, cc=1, weight=261_159_288),
    Case(file="rome99.gr", n=3_353, m=4_444, cc=22, weight=1_215_457),
    Case(file="monaco.highways.gr.gz", n=4_709, m=5_093, cc=19, weight=6_575_333),
    Case(file="delaunay_n14.mtx.gz", n=16_384, m=49_122, cc=1, weight=16_383),
    Case(file="PGPgiantcompo.graph", n=10_680, m=24_316, cc=1, weight=10_679),
    Case(file="astro-ph.graph.gz", n=16_706, m=121_251, cc=1_029, weight=15_677),
    Case(file="p2p-Gnutella31.txt.gz", n=62_586, m=147_892, cc=12, weight=62_574),
    Case(file="wiki-Vote.txt.gz", n=7_115, m=100_762, cc=24, weight=7_091),
    Case(file="tinyEWG.txt", n=8, m=16, cc=1, weight=1.81),
    Case(file="mediumEWG.txt", n=250, m=1_273, cc=1, weight=10.46351),
    Case(file="karate.csv", n=34, m=78, cc=1, weight=33.0),
    Case(file="netscience.csv", n=1_461, m=2_742, cc=268, weight=554.3975334),
    Case(file="T3_instance080.gr.gz", n=666, m=221_445, cc=1, weight=255_251),
)
# Stated for the absolute values of its entries, some of which are negative.
STIFFNESS = Case(file="bcsstk13.mtx.gz", n=2_003, m=40_940, cc=1, weight=9_855_441_973.935162)
# Points, of which the graph is all pairs at their rounded distances.
POINTS = Case(file="pcb3038.tsp", n=3_038, m=4_613_203, cc=1, weight=127_302)
# The complete graph of T3_instance080.gr.gz, which has another value of pi: its edges are the same
# but for 252 weights.
GLOBE = Case(file="gr666.tsp", n=666, m=221_445, cc=1, weight=255_251)

SMALL_FILE = SHARED_DATA / "small_cases.json"
SMALL = json.loads(SMALL_FILE.read_text(encoding="utf-8")) if SMALL_FILE.exists() else []
NOT_A_NUMBER = [case for case in SMALL if "expected_weight" not in case]
SOLVABLE = [case for case in SMALL if "expected_weight" in case]

# Devices as they are, and without 64-bit atomics.
VARIANTS = [v for v in variants_elsewhere() if "lanes" not in v.name and "shape" not in v.name]
NATIVE = [v for v in VARIANTS if not v.device.without]

small = pytest.mark.parametrize("case", SOLVABLE, ids=lambda case: case["id"])
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
native = pytest.mark.parametrize("variant", NATIVE, ids=lambda v: v.name)


def close_to(weight: float) -> Any:
    """Return an integer unchanged.

    Published sums of floats were added up in another order, so they are rounded.
    """
    return weight if isinstance(weight, int) else pytest.approx(weight, rel=1e-14)


def solve_by_command(file: Path, variant: Variant, *options: str) -> dict[str, Any]:
    without = [word for name in variant.device.without for word in ("--without", name)]
    arguments = ["solve", file, "--json", "--device", variant.device.name, *without, *options]
    result = CliRunner().invoke(main, [str(word) for word in arguments])
    assert result.exit_code == 0, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def assert_is(summary: dict[str, Any], case: Case) -> None:
    assert (summary["n_vertices"], summary["n_edges"]) == (case.n, case.m)
    assert summary["n_components"] == case.cc
    assert summary["total_weight"] == close_to(case.weight)


# ---------------------------------------------------------------------------- real


def all_pairs(file: Path) -> Graph:
    """Return the complete graph of the points in a TSPLIB file, at rounded Euclidean distances."""
    text = file.read_text(encoding="utf-8").split("NODE_COORD_SECTION")[1].split("EOF")[0]
    x, y = np.array(text.split(), float).reshape(-1, 3)[:, 1:].T
    u, v = np.triu_indices(x.size, 1)
    distances = np.hypot(x[u] - x[v], y[u] - y[v])
    return Graph.from_edges(u, v, np.floor(distances + 0.5).astype(np.int32))


@cache
def read(file: Path) -> Graph:
    if file.suffix == ".tsp":
        return all_pairs(file)
    graph = Graph.read(file)
    return graph.replace(weights=abs(graph.weights)) if file.name == STIFFNESS.file else graph


@pytest.mark.parametrize("case", REAL, ids=lambda case: case.file)
@every_variant
def test_real_graph_by_command(shared_data: Path, variant: Variant, case: Case) -> None:
    verify = () if variant.device.without else ("--verify",)
    summary = solve_by_command(shared_data / case.file, variant, *verify)
    assert_is(summary, case)
    assert summary["verified"] == bool(verify)


@pytest.mark.parametrize(
    ("case", "suffix"), [(STIFFNESS, ".npz"), (POINTS, ".egr")], ids=lambda x: getattr(x, "file", x)
)
@every_variant
def test_made_graph_by_command(
    shared_data: Path, tmp_path: Path, variant: Variant, case: Case, suffix: str
) -> None:
    """What a file only implies is written out first, and comes back with the stated answer."""
    file = tmp_path / f"graph{suffix}"
    clmst.write_graph(read(shared_data / case.file), file)
    summary = solve_by_command(file, variant)
    assert_is(summary, case)


@pytest.mark.parametrize("case", [POINTS, GLOBE], ids=lambda case: case.file)
@every_variant
def test_points_by_command(shared_data: Path, variant: Variant, case: Case) -> None:
    """No edge is listed; an algorithm that takes edges finds the same weight."""
    summary = solve_by_command(shared_data / case.file, variant)
    assert summary["algorithm"] == "dense"
    assert_is(summary, case)
    if case is GLOBE and not variant.device.without:
        summary = solve_by_command(shared_data / case.file, variant, "--algorithm", "ecl")
        assert summary["algorithm"] == "ecl"
        assert summary["total_weight"] == case.weight


# --------------------------------------------------------------------------- small


def arrays_of(case: dict[str, Any]) -> tuple[Any, Any, Any]:
    u, v, w = zip(*case["edges"], strict=True) if case["edges"] else ((), (), ())
    return np.array(u, int), np.array(v, int), np.array([float(x) if x == "NaN" else x for x in w])


def write(case: dict[str, Any], path: Path) -> Path:
    """Write a case as DIMACS, which says how many vertices there are, or as an edge list."""
    n, edges = case["n"], case["edges"]
    if path.suffix == ".gr":
        lines = [f"p sp {n} {len(edges)}", *(f"a {u + 1} {v + 1} {w}" for u, v, w in edges)]
    else:
        alone = sorted(set(range(n)) - {x for u, v, _ in edges for x in (u, v)})
        lines = [f"{u} {v} {w}" for u, v, w in edges] + [f"{x} {x} 0" for x in alone]
        lines = lines or ["0", "0"]  # the header of the algs4 collection: no vertices, no edges
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@small
@every_variant
def test_small_case(variant: Variant, case: dict[str, Any]) -> None:
    graph = Graph.from_edges(*arrays_of(case), n_vertices=case["n"])
    for stored in (graph, graph.symmetrised()):
        forest = clmst.minimum_spanning_forest(stored, device=variant.device)
        assert forest.n_components == case["expected_components"]
        assert forest.total_weight == close_to(case["expected_weight"])
        forest.verify(graph).raise_if_invalid()


@small
@pytest.mark.parametrize("suffix", [".gr", ".txt"])
@native
def test_small_case_by_command(
    tmp_path: Path, variant: Variant, suffix: str, case: dict[str, Any]
) -> None:
    path = write(case, tmp_path / f"case{suffix}")
    summary = solve_by_command(path, variant, "--verify")
    assert summary["n_vertices"] == case["n"]
    assert summary["n_components"] == case["expected_components"]
    assert summary["total_weight"] == close_to(case["expected_weight"])
    assert summary["verified"]


@pytest.mark.parametrize("case", NOT_A_NUMBER, ids=lambda case: case["id"])
def test_case_that_is_not_a_graph(tmp_path: Path, case: dict[str, Any]) -> None:
    """A weight that is not a number is an error that names its edge."""
    with pytest.raises(InvalidGraphError, match=r"\(0, 12\) is NaN"):
        Graph.from_edges(*arrays_of(case), n_vertices=case["n"])
    for suffix in (".gr", ".txt"):
        path = write(case, tmp_path / f"case{suffix}")
        result = CliRunner().invoke(main, ["solve", str(path)])
        assert result.exit_code == 1
        assert "NaN" in result.stderr
