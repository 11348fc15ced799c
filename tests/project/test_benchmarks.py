"""The benchmarks: what is wrong is never timed, and what is timed is written down."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
import pytest
from click import Context, Group, option
from click.testing import CliRunner, Result
from scipy import sparse

import clmst
from benchmarks import (
    beside_commit,
    boruvka_steps,
    cores,
    dense,
    devices,
    ecl,
    figures,
    largest,
    pma,
    repeated,
    rounds,
    runner,
    rush_hour,
    several_gpus,
    several_graphs,
    stated,
    strategies,
    studies,
    thirty_calls,
)
from benchmarks.__main__ import CASES
from benchmarks.__main__ import main as cases
from benchmarks.agreement import Agreement
from benchmarks.case import Case, CopyLimit, Method, Outcome, Work, run_case
from benchmarks.cases import ENTRIES, Entry
from benchmarks.primitives import remarks_on
from benchmarks.runner import Row, Rows, Run, case, means
from benchmarks.workspace import Workspace
from clmst import Device, generate
from clmst.algorithms import solving
from clmst.generators import surrogates
from tests.bench import samples
from tests.helpers.bounds import bounds
from tests.helpers.kernel_sources import COARSE_DIGITS, miscomputing
from tests.helpers.records import changed, emptied
from tests.repeated.device_sets import device_sets

SIZE = 5000

if find_spec("sklearn"):  # which sets variables of the environment when it is first imported
    import_module("sklearn")


@pytest.fixture
def space(any_device: Device) -> Workspace:
    return Workspace(any_device)


@pytest.fixture
def limit(space: Workspace) -> CopyLimit:
    return CopyLimit(space, 2**16)


def run_case_of(*arguments: object, points: Path | None = None) -> Result:
    """Run ``python -m benchmarks`` with few repetitions, and write what it measured."""
    words = [str(one) for one in arguments]
    words += ["--repetitions", "2"] if "--repetitions" not in words else []
    words += ["--json", str(points)] if points is not None else []
    return CliRunner().invoke(cases, words)


def points_of(file: Path, *arguments: object) -> list[dict[str, Any]]:
    """Return the rows of a run that succeeds."""
    result = run_case_of(*arguments, points=file)
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(file.read_text())["points"]
    return found


def times_in(row: dict[str, Any]) -> dict[str, list[float]]:
    """Return the contestants of a row."""
    return {name: cell for name, cell in row.items() if isinstance(cell, list)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "points.json"


def contestants_of(file: Path, *arguments: object) -> dict[str, dict[str, Any]]:
    """Return what a comparison of primitives says about each contestant."""
    points = points_of(file, "primitives", "compare", *arguments)
    return {point["contestant"]: point for point in points}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_case_is_right(entry: Entry, space: Workspace, limit: CopyLimit) -> None:
    """Else a benchmark would report its own mistake as one of clmst's."""
    case = entry.build(space, SIZE)
    quick = [one for one in case.methods if not one.name.startswith("pyopencl")]
    outcomes = run_case(space, replace(case, methods=quick), limit, 1)
    assert case.name == entry.name
    assert {outcome.contestant: outcome.remark for outcome in outcomes if outcome.remark} == {}
    assert all(len(outcome.seconds) == 1 and outcome.median > 0 for outcome in outcomes)


def test_wrong_result_is_not_timed(space: Workspace, limit: CopyLimit) -> None:
    """Neither one that is wrong in a single element, nor one that was left by somebody else."""
    x = np.arange(SIZE, dtype=np.uint32)
    nearly, out = x.copy(), space.put(x)
    nearly[4321] += 1
    calls = []

    def works(result: Any) -> Work:
        return Work(enqueue=lambda: calls.append(1), results=lambda: [result()])

    def fails() -> Work:
        raise ImportError("nothing of that name")

    case = Case(
        name="copy",
        size=SIZE,
        expected=[x],
        outputs=[out],
        methods=[
            Method(name="nearly", prepare=lambda: works(lambda: nearly)),
            Method(name="idle", prepare=lambda: works(out.to_host)),
            Method(name="short", prepare=lambda: works(lambda: x[1:])),
            Method(name="absent", prepare=fails),
        ],
    )
    outcomes = {outcome.contestant: outcome for outcome in run_case(space, case, limit, 9)}
    assert {name: outcome.status for name, outcome in outcomes.items()} == {
        "nearly": "wrong",
        "idle": "wrong",
        "short": "wrong",
        "absent": "failed",
    }
    assert outcomes["nearly"].remark == "result 0: element 4321 is 4322, not 4321"
    assert outcomes["absent"].remark == "ImportError: nothing of that name"
    assert all(outcome.seconds == [] for outcome in outcomes.values())
    assert len(calls) == 3


def test_command_writes_what_it_measured(file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "primitives.png"
    sizes = ("--elements", "2**12", "--repetitions", 3)
    ours = contestants_of(file, "--only", "copy,reduce", *sizes, "--plot", picture)["clmst"]
    written = json.loads(file.read_text())
    assert {"device", "driver", "versions", "host"} <= written.keys()
    assert {one["case"] for one in written["points"]} == {"copy", "reduce"}
    assert (ours["_status"], ours["elements"], ours["ratio"]) == ("ok", 4096, "1.00")
    assert len(ours["ms"]) == 3
    assert ours["_bytes"] == 4 * 4096
    assert ours["GB/s"] == f"{4 * 4096e-6 / np.median(ours['ms']):.1f}"
    assert ours["_limit_share"] > 0
    assert picture.stat().st_size > 1000


def test_numpy_is_left_out(file: Path) -> None:
    contestants = contestants_of(file, "--only", "reduce", "--no-numpy", "--elements", "2**12")
    assert "clmst" in contestants
    assert "NumPy" not in contestants


def test_peers_do_not_stop_a_run(file: Path, tmp_path: Path) -> None:
    """A wrong, late, broken, unknown or talkative peer is reported; a right one is timed."""
    scripts = {
        "right": "print('# a remark'); print(sys.argv[1], sys.argv[2], 0.25, 'ok')",
        "wrong": "print(sys.argv[1], sys.argv[2], 0.25, 'wrong')",
        "late": "import subprocess; subprocess.run(['sleep', '60'])",
        "broken": "sys.exit('out of luck')",
        "other size": "print(sys.argv[1], 7, 0.25, 'ok')",
        "no number": "print(sys.argv[1], sys.argv[2], 'nan', 'ok')",
        "elsewhere": "sys.exit(64)",
    }
    options = []
    for number, (name, text) in enumerate(scripts.items()):
        script = tmp_path / f"{number}.py"
        script.write_text(f"import sys\n{text}\n")
        options += ["--peer", f"{name}={sys.executable} {script}"]
    options += ["--peer", f"missing={tmp_path / 'no such program'}", "--peer-limit", "2"]
    found = contestants_of(file, "--only", "copy", "--elements", 1000, *options)
    assert found["right"]["ms"] == pytest.approx([0.25])
    assert found["wrong"]["_status"] == "wrong"
    remarks = {
        "wrong": "by its own check",
        "late": "ended after 2 s without an answer",
        "broken": "exit status 1: out of luck",
        "other size": "does not keep to the protocol: 'copy 7 0.25 ok'",
        "no number": "does not keep to the protocol: 'copy 1000 nan ok'",
    }
    assert {name: found[name]["_remark"] for name in remarks} == remarks
    assert found["missing"]["_remark"].startswith("cannot be run: ")
    assert "elsewhere" not in found
    timed = {name for name, one in found.items() if isinstance(one["ms"], list)}
    assert timed & {*scripts, "missing"} == {"right"}


def test_wrong_result_of_clmst_fails_the_run(tmp_path: Path) -> None:
    with miscomputing(tmp_path, COARSE_DIGITS):
        result = run_case_of("primitives", "compare", "--only", "sort", "--elements", 1000)
    assert result.exit_code == 1
    assert "sort, clmst: wrong: result 0: element " in result.stdout


@pytest.mark.exhaustive
def test_figures_of_scans(file: Path, tmp_path: Path) -> None:
    points = points_of(file, "primitives", "scans", "--largest", 2, "--plot", tmp_path)
    ways = {point["way"] for point in points}
    assert {"clmst reduce-then-scan, in place", "clmst, 1 buffer allocated"} < ways
    assert {figures.TO_DEVICE, figures.FROM_DEVICE} < ways
    ours = [point for point in points if point["way"] == "clmst reduce-then-scan"]
    assert [point["MiB"] for point in ours] == [1, 2]
    assert all(len(point["kernel ms"]) == len(point["total ms"]) == 2 for point in ours)
    assert all(min(point["kernel ms"] or point["total ms"]) > 0 for point in points)
    for name in ("scan_times.png", "scan_speedups.png"):
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--elements", "12k"), "is not a positive number"),
        (("--elements", "0"), "is not a positive number"),
        (("--only", "reduce,fold"), "no case is called 'fold'"),
        (("--peer", "cub"), "is not of the form NAME=COMMAND"),
        (("--device", "no such device"), "no device matches"),
    ],
)
def test_bad_option_is_refused(arguments: tuple[str, ...], complaint: str) -> None:
    result = run_case_of("primitives", "compare", *arguments)
    assert result.exit_code in (1, 2)
    assert complaint in result.stderr


def test_kinds_of_segments_are_compared() -> None:
    def timed(kind: str, seconds: float) -> Outcome:
        case, contestant = "segmented_scan_kinds", f"clmst {kind}"
        return Outcome(case=case, contestant=contestant, size=1, status="ok", seconds=[seconds])

    assert [*remarks_on([])] == []
    every = [timed("one", 2.0), timed("16th", 3.0), timed("all", 2.4)]
    assert [*remarks_on(every)] == [
        "segmented_scan: the slowest segments take 1.500 x the quickest ones"
    ]


# ------------------------------------------------------------------ the runner


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "random.egr"
    clmst.io.write_graph(generate("random", n=300, average_degree=6, seed=2).symmetrised(), path)
    return path


def test_every_case_has_a_command() -> None:
    for name in CASES:
        assert cases.get_command(Context(cases), name) is not None, name
    found = {path.stem for path in Path(runner.__file__).parent.glob("*.py")}
    commands = {name for name in found if hasattr(import_module(f"benchmarks.{name}"), "main")}
    # Those with a command line of their own.
    alone = {"__main__", "first_calls", "programs_of_calls", "quiz", "structure", "way_of_a_solve"}
    assert commands - alone == set(CASES)
    result = CliRunner().invoke(cases, ["--help"])
    assert all(name in result.output for name in CASES)


def test_pages_name_cases_that_exist() -> None:
    """A page's figure would else stand with a command that nobody can run."""
    root = Path(runner.__file__).parents[1]
    if not (root / "docs").exists():
        pytest.skip("installed without the pages")
    wrong, found = [], 0
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *root.glob("benchmarks/*.py")]:
        text = page.read_text(encoding="utf-8")
        for module, name, inner in re.findall(
            r"python -m\s+(benchmarks|tests)(?:\s+|\.)(?!CASE)([\w.]*\w)(?: ([\w-]+))?", text
        ):
            found += 1
            command = cases.get_command(Context(cases), name) if module == "benchmarks" else None
            if isinstance(command, Group) and not command.invoke_without_command:
                known = command.get_command(Context(command), inner) is not None
            else:
                known = command is not None or find_spec(f"{module}.{name}") is not None
            wrong += [] if known else [f"{page.name}: {module} {name} {inner}"]
    assert wrong == []
    assert found > 100


def write_down(rows: Any, path: Path, title: str) -> None:
    path.write_text(f"{title}{rows}")


@case(option("--size", default=3), draw=write_down)
def steps(run: Run, size: int) -> Rows:
    """Time two ways."""
    ways: dict[str, Any] = {"sum": lambda: sum(range(size)), "max": lambda: max(range(size))}
    right = sum(range(size))
    times = run.turns(ways, lambda found: "" if found == right else f"{found} is not {right}")
    yield {"n": 1000 * size, "name": "steps", **times, "ratio": 2.0, "_kept": [1]}
    yield means(run, [times], "sum")


def test_rows_are_shown_and_recorded(file: Path, tmp_path: Path) -> None:
    """What an underscore begins is for the record; a picture can be drawn again from that."""
    picture = tmp_path / "picture"
    wanted = ["--size", "3", "--json", str(file), "--plot", str(picture), "--clock", "cpu"]
    result = CliRunner().invoke(steps, wanted)
    assert result.exit_code == 1
    assert "max: 2 is not 3" in result.output
    assert not file.exists()
    alike = ["--size", "2", "--plot", str(picture)]
    result = CliRunner().invoke(steps, [*alike, "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "| n | name | sum | max | ratio |\n|--:|---|--:|--:|--:|\n| 2,000 | steps | " in (
        result.output
    )
    assert "times as fast as sum, geometric means: max " in result.output
    record = json.loads(file.read_text())
    assert {"device", "driver", "clock", "devices"} <= record.keys()
    assert "complete" not in record
    (point,) = record["points"]
    assert (len(point["sum"]), point["_kept"]) == (9, [1])
    drawn = picture.read_text()
    picture.unlink()
    again = CliRunner().invoke(steps, [*alike, "--from", str(file), "--least"])
    assert again.exit_code == 0, again.output
    assert picture.read_text() == drawn
    shown = again.output.splitlines()[-1].split(" | ")
    assert float(shown[2]) == pytest.approx(min(point["sum"]), rel=1e-3)


def test_record_is_written_at_each_row(file: Path) -> None:
    """A run that is cut short leaves the rows that it has measured, and says so."""

    @case()
    def cut_short(_: Run) -> Rows:
        yield {"n": 1}
        raise MemoryError

    CliRunner().invoke(cut_short, ["--json", str(file)])
    record = json.loads(file.read_text())
    assert (record["points"], record["complete"]) == ([{"n": 1}], False)


def test_devices_are_as_many_as_a_case_takes() -> None:
    name = device_sets()["two"][0].platform.split("(")[0]
    for case_, number in (("devices", 1), ("moves", 3)):
        chosen = ["--device", name] * number
        arguments = ["random:n=20,average_degree=4.0"] if case_ == "devices" else []
        result = run_case_of(case_, *arguments, *chosen)
        assert result.exit_code == 2
        assert f"{number} devices are given with --device; it takes 2" in result.output


# ------------------------------------------------------------------ beside another commit


@pytest.mark.exhaustive
def test_this_tree_is_timed_beside_a_commit(file: Path) -> None:
    """Both versions and the control run the same call and return the same arrays."""
    root = Path(runner.__file__).parents[1]
    if not (root / ".git").exists():
        pytest.skip("not a clone")
    (row,) = points_of(file, "beside_commit", "HEAD", "--only", "matrix 30 x 4")
    assert [*times_in(row)] == ["now", "before", "before again"]
    assert row["same arrays"] == "yes"
    assert row["now / before"] > 0


def test_a_graph_of_a_file_is_solved_in_three_forms(tmp_path: Path) -> None:
    clmst.write_graph(generate("road", n=300), tmp_path / "road.gr")
    names = [f"{form}: {tmp_path / 'road.gr'}" for form in thirty_calls.FORMS]
    stays, matrix, doubles = (thirty_calls.call_of(name)() for name in names)
    assert isinstance(stays, clmst.DeviceForest)
    found = stays.to_host()
    assert thirty_calls.hash_of(stays) == thirty_calls.hash_of(found)
    for forest, more in ((matrix, 0), (doubles, 0.25)):
        np.testing.assert_array_equal(forest.edges, found.edges)
        np.testing.assert_array_equal(forest.weights, found.weights + more)


def test_different_arrays_and_failed_calls_are_seen() -> None:
    """A version whose answer differs, or that cannot run a call, must not pass for equal."""

    class StandIn:
        def __init__(self, answer: object) -> None:
            self.answer = answer

        def ask(self, word: str, name: str) -> object:
            del name
            return {"prepare": self.answer, "time": 1.0, "forget": None}[word]

    def row_of(*answers: object) -> object:
        names = ("now", "before", "before again")
        versions: Any = dict(zip(names, map(StandIn, answers), strict=True))
        return beside_commit.row_of_call(versions, "a call", 2)

    same, other = row_of("a", "a", "a"), row_of("b", "a", "a")
    assert isinstance(same, dict)
    assert isinstance(other, dict)
    assert (same["same arrays"], other["same arrays"]) == ("yes", "NO")
    assert "is not known" in str(row_of({"error": "is not known"}, "a", "a"))


# ------------------------------------------------------------------------- cases


@pytest.fixture
def tiny_experiments() -> Iterator[None]:
    """Graphs of PMA's experiments that take no time."""
    tiny = {"path": lambda: generate("path", n=300), "dense": lambda: generate("complete", n=40)}
    names = ("table_graphs", "gamma_graphs", "reduction_graphs", "degree_graphs")
    changes: dict[str, Any] = {"GAMMAS": (2, 5), **dict.fromkeys(names, lambda _: tiny)}
    with patch.multiple(pma, **changes):
        yield


@pytest.mark.usefixtures("tiny_experiments")
@pytest.mark.exhaustive
def test_experiments_of_pma(file: Path, tmp_path: Path) -> None:
    """Each is measured as often as asked for, written down and drawn."""
    variants = ["pma min", "pma sort", "pma hybrid"]
    parallel = [
        f"{what}, {gamma}" for gamma in ("gamma 6", "chosen gamma") for what in ("removed", "kept")
    ]
    contestants = {
        "table": ["boruvka", "ecl", *variants, pma.FIRST_LEVEL],
        "gamma": variants,
        "parallel": parallel,
        "reduction": [
            pma.BADER_CONG,
            "boruvka",
            *(f"pma, gamma {gamma}" for gamma in (2, 10, 100)),
        ],
    }
    for name, expected in contestants.items():
        picture = tmp_path / f"{name}.png"
        points = points_of(file, "pma", name, "--plot", picture)
        assert {point["graph"] for point in points} == {"path", "dense"}
        assert [*times_in(points[0])] == expected
        assert {len(times) for point in points for times in times_in(point).values()} == {2}
        assert picture.stat().st_size > 1000
        if name == "gamma":
            assert {point["gamma"] for point in points} == {2, 5}
        if name == "reduction":
            for way in expected[1:]:
                assert all(50 <= each <= 100 for point in points for each in point[way])
            for point in points:  # trees that never touch leave more than those that do
                assert max(point[pma.BADER_CONG]) <= min(point["pma, gamma 100"])


@pytest.mark.parametrize("scope", [(), ("--from-edges",)], ids=["resident", "from edges"])
def test_small_graphs_have_a_row_each(scope: tuple[str, ...], file: Path) -> None:
    few = (*scope, "--largest", "16", "--algorithm", "prim", "--rounds", "0", "--rounds", "1")
    rows = points_of(file, "studies", "small", *few)
    assert [(row["graph"], row["n"]) for row in rows] == [
        ("random, degree 8", 16),
        ("complete", 16),
    ]
    for row in rows:
        assert [*times_in(row)] == ["prim", "prim-boruvka, 0 rounds", "prim-boruvka, 1 round"]
        medians = {name: np.median(times) for name, times in times_in(row).items()}
        assert medians[row["quickest"].strip("`")] == min(medians.values()) > 0


def two_devices() -> list[str]:
    """Return the options that name two devices of different platforms."""
    platforms = [entry.device.platform for entry in clmst.devices() if entry.usable]
    if len(platforms) < 2:
        pytest.skip("there are not two usable devices")
    return [word for name in platforms[:2] for word in ("--device", name)]


@pytest.mark.usefixtures("tiny_experiments")
@pytest.mark.parametrize(
    "arguments",
    [
        ["boruvka_steps", "--largest", "20000"],
        ["dense", "complete", "--largest", "512"],
        ["devices", "random:n=2000,average_degree=16.0", "DEVICES"],
        ["pma", "table"],
        ["repeated", "GRAPH"],
        ["rounds", "GRAPH", "--contestant", "one-shot", "--contestant", "repeated"],
        ["studies", "small", "--largest", "16"],
        ["strategies", "complete", "--largest", "512"],
        ["strategies", "families", "--scale", "6"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_a_wrong_forest_is_not_timed(
    arguments: list[str], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every forest after the first is said to be another one; its case must end with that."""

    def difference(agreement: Agreement, found: Any) -> str:
        if agreement.forest is not None:
            return "another forest"
        agreement.forest = found
        return ""

    monkeypatch.setattr(Agreement, "difference", difference)
    given = {"GRAPH": [str(graph)], "DEVICES": two_devices() if "DEVICES" in arguments else []}
    result = run_case_of(*chain.from_iterable(given.get(word, [word]) for word in arguments))
    assert result.exit_code == 1
    assert "another forest" in result.output


@pytest.mark.parametrize("probability", [0.1, 1.0])
def test_rows_of_dense_graphs_are_a_graph(probability: float) -> None:
    """Which is made without checks: they find nothing."""
    graph = dense.random_rows(60, probability)
    fields = ("indptr", "indices", "weights", "is_symmetric", "edge_ids", "n_input")
    clmst.Graph(**{name: getattr(graph, name) for name in fields})
    assert graph.n_edges == pytest.approx(probability * 60 * 59 / 2, rel=0.3)


@pytest.mark.exhaustive
def test_dense_graphs(file: Path, tmp_path: Path) -> None:
    """Complete and ever denser graphs, forests compared first; where contestants cross."""
    points = points_of(file, "dense", "complete", "--largest", "1024")
    assert [point["n"] for point in points] == [512, 1024]
    assert [point["edges"] for point in points] == [130816, 523776]
    assert {len(times) for times in times_in(points[0]).values()} == {1, 2}  # SciPy's is one
    picture = tmp_path / "dense.png"
    arguments = ["dense", "density", "--vertices", "200", "--plot", picture]
    assert [point["p"] for point in points_of(file, *arguments)] == [*dense.PROBABILITIES]
    said = run_case_of(*arguments).output
    assert f"{dense.MATRIX} is faster than {dense.EDGES} " in said
    assert f"{dense.BUILT} is faster than {dense.EDGES} " in said
    assert picture.stat().st_size > 1000


def test_crossover_of_dense_graphs(any_device: Device) -> None:
    def row(probability: float, ours: float) -> Row:
        return {"p": probability, dense.MATRIX: [ours], dense.EDGES: [4.0]}

    run = Run(devices=[any_device])
    assert dense.crossover(run, [row(0.1, 8), row(0.2, 2)], dense.MATRIX) == pytest.approx(0.15)
    assert dense.crossover(run, [row(0.1, 8), row(0.2, 9)], dense.MATRIX) is None
    assert dense.crossover(run, [row(0.1, 2), row(0.2, 1)], dense.MATRIX) == 0.1


def test_union_finds_of_strategies(file: Path, any_device: Device) -> None:
    """Each of them on as many compute units as there are, and on half as many."""
    points = points_of(file, "strategies", "sets", "--vertices", "100")
    units = [*dict.fromkeys(point["units"] for point in points)]
    assert units == sorted(units, reverse=True)
    assert units[0] == any_device.capabilities.compute_units
    if cl.device_partition_property.BY_COUNTS in any_device.cl_device.partition_properties:
        assert units[1:] == [1 << k for k in reversed(range(len(units) - 1))]
        assert units[-1] == 1
    else:
        assert len(units) == 1
    names = [point["union-find"] for point in points]
    assert names == [*strategies.UNION_FINDS] * len(units)
    assert {len(point["total ms"]) for point in points} == {2}
    assert all(0 < ms < 1e4 for point in points for ms in point["_steps"].values())


@pytest.mark.exhaustive
def test_graphs_of_strategies(file: Path) -> None:
    """Sparse, complete and ever denser graphs, beside the oracle and clmst's own algorithms."""
    points = points_of(file, "strategies", "families", "--scale", "7", "--scale", "8")
    assert [point["n"] for point in points] == [128] * 3 + [256] * 3
    assert [point["edges"] for point in points[:2]] == [8 * 128, 7 * 16 + 8 * 15]
    own, _ = solving.choose("auto", clmst.get_device())
    expected = {"atomic-half", "atomic-full", own, strategies.KRUSKAL}
    assert {frozenset(times_in(point)) for point in points} == {frozenset(expected)}
    points = points_of(file, "strategies", "schedules", "--scale", "7")
    expected = {*strategies.SCHEDULES, strategies.KRUSKAL}
    assert {frozenset(times_in(point)) for point in points} == {frozenset(expected)}
    dense_graphs = [strategies.MP, strategies.CU, dense.MATRIX, own]
    (point,) = points_of(file, "strategies", "complete", "--largest", "512")
    assert [*times_in(point)] == [*dense_graphs, strategies.KRUSKAL]
    points = points_of(file, "strategies", "density", "--vertices", "60")
    assert [point["p"] for point in points] == [*dense.PROBABILITIES]
    assert [*times_in(points[0])] == dense_graphs


def test_repeated(file: Path, graph: Path) -> None:
    """A ratio is to the one-shot solve of the same kind."""
    (point,) = points_of(file, "repeated", graph, "--share", "0.1")
    assert point["n"] == 300
    assert {len(times) for times in times_in(point).values()} == {2}
    assert set(repeated.BESIDE) | set(repeated.BESIDE.values()) == set(times_in(point))
    for name, beside in repeated.BESIDE.items():
        expected = np.median(point[name]) / np.median(point[beside])
        assert point[f"{name} / it"] == pytest.approx(expected)


def test_other_weights_for_a_matrix() -> None:
    """Edge k weighs the same in both directions: what was given for the k-th one."""
    graph = generate("random", n=300, average_degree=6, seed=2).symmetrised()
    reweighted = repeated.Reweighted(graph)
    np.testing.assert_array_equal(reweighted.matrix(reweighted.own).data, graph.weights)
    u, v, _, _ = graph.edges()
    weights = np.arange(u.size) + 1
    matrix = reweighted.matrix(weights)
    np.testing.assert_array_equal(matrix[u.view("i4"), v.view("i4")], weights)
    np.testing.assert_array_equal(matrix[v.view("i4"), u.view("i4")], weights)
    assert matrix.nnz == 2 * u.size


def test_rounds(file: Path, graph: Path, tmp_path: Path) -> None:
    """Everyone solves every round; what preparing cost is where the courses begin."""
    names = ["one-shot", "repeated", "repeated:dense", "one-shot:prim"]
    chosen = [word for name in names for word in ("--contestant", name)]
    picture = tmp_path / "rounds.png"
    points = points_of(file, "rounds", graph, "--repetitions", 4, *chosen, "--plot", picture)
    assert [point["contestant"] for point in points] == names
    assert {(len(point["prepare"]), len(point["round"])) for point in points} == {(5, 4)}
    assert picture.stat().st_size > 1000
    result = run_case_of("rounds", graph, "--contestant", "repeated:guess")
    assert result.exit_code == 2
    assert "'repeated:guess' is no contestant" in result.output


@pytest.mark.exhaustive
def test_rounds_of_the_hybrid(file: Path, tmp_path: Path) -> None:
    """MP and CU alone, and both at once: dense parts on one device, the rest on another."""
    names = ["MP", "CU", "MP+CU", "Hybrid"]
    chosen = [word for name in names for word in ("--contestant", name)]
    graphs = [f"clustered:n={n},clusters=2,cluster_size=300,density=1.0" for n in (2000, 3000)]
    more = ["--repetitions", 2, *chosen, *two_devices(), "--plot", tmp_path / "rounds.png"]
    points = points_of(file, "rounds", *graphs, *more)
    assert [(point["graph"], point["contestant"]) for point in points] == [*product(graphs, names)]
    assert [len(point["_stats"]) for point in points] == [0, 0, 2, 2] * 2
    steps = rounds.course(points[-1]["_stats"])
    for one in points[-1]["_stats"][0]["devices"]:
        assert f"{one['device']}: {one['edges']:,} edges" in steps
    for name in names[2:]:
        sparse = run_case_of("rounds", "road:n=3000", "--contestant", name, *two_devices())
        assert sparse.exit_code == 1
        assert "no dense part" in sparse.output


def test_contestant_that_does_not_fit_is_left_out(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*_: Any, **__: Any) -> Any:
        raise clmst.OutOfDeviceMemoryError("it needs 9 GB of 1; take another algorithm")

    monkeypatch.setitem(rounds.KINDS, "one-shot", refuses)
    reweighted = repeated.Reweighted(generate("grid", rows=3, columns=4).symmetrised())
    run = Run(devices=[any_device], repetitions=2)
    assert [*rounds.race(run, reweighted, ["one-shot:dense", "repeated"])] == ["repeated"]
    assert "one-shot:dense is left out: it needs 9 GB of 1" in capsys.readouterr().err
    assert rounds.race(run, reweighted, ["one-shot"]) == {}


def test_contestant_that_takes_too_long_is_left_out(graph: Path) -> None:
    """Of the graph, and of those after it; the others go on."""
    chosen = ["--contestant", "one-shot:prim", "--contestant", "repeated", "--repetitions", 2]
    result = run_case_of("rounds", graph, graph, *chosen, "--at-most", 1e-9)
    assert result.exit_code == 0
    assert result.output.count("is left out: a round takes") == 2
    assert result.output.count("all contestants are left out") == 1
    assert run_case_of("rounds", graph, *chosen, "--at-most", 100).output.count("| repeated |") == 1


def test_round_in_which_preparing_is_repaid() -> None:
    one_shot: Row = {"prepare": [0.0], "round": [10.0, 10.0, 10.0]}
    solver: Row = {"prepare": [90.0, 10.0, 12.0], "round": [4.0, 4.0, 4.0]}
    assert rounds.accumulated(solver) == [12.0, 16.0, 20.0, 24.0]
    assert rounds.repaid(solver, one_shot) == 2
    assert rounds.repaid(one_shot, solver) == 1
    slow: Row = {"prepare": [0.0], "round": [11.0, 11.0, 11.0]}
    assert rounds.repaid(slow, one_shot) is None


def test_round_in_which_preparing_will_be_repaid() -> None:
    """The break-even may lie beyond the measured rounds, and lies at 0 for who prepares less."""
    run = Run(devices=())
    one_shot: Row = {"prepare": [1.0], "round": [10.0, 10.0, 12.0]}
    solver: Row = {"prepare": [601.0], "round": [4.0, 4.0, 9.0]}
    assert rounds.repaid_after(run, solver, one_shot) == 100
    assert rounds.repaid_after(run, one_shot, solver) is None
    less: Row = {"prepare": [0.0], "round": [9.0]}
    assert rounds.repaid_after(run, less, one_shot) == 0
    found = {"CU": one_shot, "MP+CU": solver}
    said = "MP+CU: preparing is repaid beside CU: after 100.0 rounds"
    assert rounds.break_even(run, "MP+CU", found) == said


@pytest.mark.exhaustive
def test_rush_hour(tmp_path: Path) -> None:
    """All cars reach the middle by roads that exist, and both pictures are drawn."""
    roads = rush_hour.load(None)
    middle = rush_hour.middle_of(roads)
    cars = rush_hour.cars_by_road(roads, middle)
    u, v, _, _ = roads.edges()
    assert cars[(u == middle) | (v == middle)].sum() == roads.n_vertices - 1
    assert np.count_nonzero(cars) == roads.n_vertices - 1
    apart = clmst.Graph.from_edges([0, 1, 3], [1, 2, 4], [1, 1, 1])
    assert rush_hour.cars_by_road(apart, 1).tolist() == [1, 1, 0]
    graph, folder = tmp_path / "grid.gr", tmp_path / "pictures"
    clmst.write_graph(generate("grid", rows=9, columns=20), graph)
    result = CliRunner().invoke(cases, ["rush_hour", str(graph), "--folder", str(folder)])
    assert result.exit_code == 0, result.output
    assert "180 vertices, 331 edges" in result.output
    assert sorted(one.name for one in folder.iterdir()) == [
        "rush_hour.png", "rush_hour_middle.png",
    ]  # fmt: skip


@pytest.mark.exhaustive
def test_devices(file: Path) -> None:
    """Each device alone and every strategy; who did what, when."""
    names = [entry.device for entry in clmst.devices() if entry.usable]
    arguments = ["devices", "random:n=2000,average_degree=16.0", *two_devices()]
    (point, *parts) = points_of(file, *arguments)
    contestants = [*(f"{k}: {one.name}" for k, one in enumerate(names[:2])), *devices.STRATEGIES]
    every = [name for one in contestants for name in (one, f"{one}, prefetched")]
    assert [*times_in(point)] == every
    assert {len(times) for times in times_in(point).values()} == {2}
    split = {part["device"] for part in parts if part["strategy"] == "split"}
    assert split == {one.description for one in names[:2]}
    assert "geometric means: split" in run_case_of(*arguments).output


def test_cores(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complete, random and read graphs, in both ways of storing them; wrong numbers end it."""
    graph = tmp_path / "grid.gr"
    clmst.write_graph(generate("grid", rows=5, columns=10), graph)
    wanted = {
        ("complete", "--largest", "1024"): ([512, 1024], 511),
        ("complete", "--smallest", "16", "--largest", "40"): ([16, 32], 15),
        ("random", "--vertices", "900"): ([900], 5),
        ("files", str(graph)): ([50], 2),
    }
    for arguments, (sizes, least) in wanted.items():
        points = points_of(file, "cores", *arguments)
        assert [point["n"] for point in points] == sizes
        assert points[0]["greatest"] >= least
        assert len(points[0][cores.ONCE]) == 2
        assert (cores.NETWORKX in points[0]) == (arguments[0] == "files")
    monkeypatch.setattr(clmst, "core_numbers", lambda *_: np.zeros(512), raising=False)
    result = run_case_of("cores", "complete", "--largest", "512")
    assert result.exit_code == 1
    assert "other core numbers than expected" in result.output


def test_stated_times(any_device: Device, tmp_path: Path) -> None:
    """The ratio divides the stated time by the median of the solves, not of the forests."""
    graph = surrogates.find("random-2e10-d8").build()
    row = ecl.beside_stated(Run(devices=[any_device], repetitions=3), "grid20", graph, "float32")
    assert (row["slots"], len(row["solve"]), len(row["forest"])) == (graph.n_slots, 3, 3)
    assert row["stated / solve"] == ecl.STATED["grid20"] / np.median(row["solve"])
    file = tmp_path / "positions.gr"  # whose edge ids are not slots
    clmst.write_graph(generate("random", n=60), file)
    assert "| grid20 | " in run_case_of("ecl", "stated", f"grid20={file}").output
    unknown = run_case_of("ecl", "stated", "lj")
    assert unknown.exit_code != 0
    assert "no time is stated for 'lj'" in unknown.output


@pytest.mark.parametrize(("bits", "degree"), [(6, 2), (9, 6), (11, 32)])
def test_largest_graph_is_what_it_says(any_device: Device, bits: int, degree: int) -> None:
    """Its size is not what one finds out about a graph of 2**32 slots by looking at it."""
    graph = largest.made_on(any_device, bits, degree).graph
    assert (graph.n_vertices, graph.n_slots) == (1 << bits, degree * (1 << bits) - 1)
    dense = sparse.csr_array((graph.weights, graph.indices, graph.indptr)).toarray()
    assert (dense == dense.T).all()
    assert np.flatnonzero(graph.rows == graph.indices).tolist() == [0]
    degrees = np.diff(graph.indptr)
    assert sorted(set(degrees.tolist())) == [degree - 1, degree]
    assert len(np.unique(graph.weights)) > 0.49 * graph.n_slots


def test_largest_solves_by_two_algorithms(file: Path) -> None:
    sizes = ["largest", "--bits", "9", "--degree", "6"]
    points = points_of(file, *sizes)
    assert [point["algorithm"] for point in points] == ["filter-boruvka", "ecl"]
    assert [(point["slots"], point["edges"]) for point in points] == [(3071, 511)] * 2
    assert all(point["bytes a slot"] > 8 and point["proof ms"] > 0 for point in points)
    assert "3,071 slots" in run_case_of(*sizes).output
    with changed(emptied):
        assert "the device refutes the forest" in run_case_of(*sizes).output


@pytest.mark.parametrize(("bits", "degree"), [(27, 34), (6, 3), (6, 32)])
def test_largest_refuses_what_cannot_be(any_device: Device, bits: int, degree: int) -> None:
    with pytest.raises(clmst.InvalidArgumentError, match=r"one device takes|must be even"):
        largest.made_on(any_device, bits, degree)


def test_streams_in_chunks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way of a stream has a row, after its forest has been compared."""
    arguments = ["streaming", "chunks", "--graph", "random-2e10-d8", "--repetitions", "1"]
    points = points_of(file, *arguments)
    assert [point["way"] for point in points[:2]] == [
        "whole, from edge arrays", "whole, a Graph that is made",
    ]  # fmt: skip
    assert len(points) == 4
    wrong = clmst.kruskal(clmst.generate("grid", rows=2, columns=2))
    monkeypatch.setattr(clmst, "stream_minimum_spanning_forest", lambda *_, **__: wrong)
    result = run_case_of(*arguments)
    assert result.exit_code == 1
    assert "another forest; it must be that of the whole graph" in result.output
    assert "|" not in result.output


@pytest.mark.exhaustive
@bounds(stream_blocks=3, stream_rows=1 << 18)  # which the case changes
def test_rates_of_a_stream(file: Path, tmp_path: Path) -> None:
    """There is a row for the bus, for the stream by each way, and for each step."""
    folder = tmp_path / "edges"
    folder.mkdir()
    small = ["stream_rates", "--vertices", "1e3", "--repetitions", "1"]
    points = points_of(file, *small, "--rows", "2e4", "--folder", folder)
    assert points[0]["what"] == "copy from pinned memory to the device"
    assert points[0]["to the bus"] == pytest.approx(1)
    assert len(points) >= 7
    assert not list(folder.iterdir())
    result = run_case_of(
        *small, "--rows", "1.2e6", "--without-files", "--checked", "1e5", "--block", "5000",
        "--blocks", "3", "--chunk", "100000",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "1,200,000 edges, 200,000 of them checked and filtered by" in result.output
    assert "| stream from pinned memory | " in result.output
    assert "| reading" not in result.output


@pytest.mark.exhaustive
def test_several_gpus_make_their_parts() -> None:
    """Rows rise strictly, parts are balanced, and all scopes are in the table."""
    devices = device_sets()["two"]
    recipe = several_graphs.Recipe.of(16, 3000)
    whole = recipe.made_on(devices[0], 0, recipe.n_vertices).graph
    assert (whole.n_slots, recipe.n_vertices) == (recipe.n_edges, 512)
    assert np.bincount(np.concatenate([whole.rows, whole.indices])).mean() == pytest.approx(16, 0.1)
    parts = recipe.parts_on(devices)
    low, high = (part.graph.indices for part in parts.parts)
    np.testing.assert_array_equal(np.concatenate([low, high]), whole.indices)
    assert low.size == pytest.approx(0.45 * recipe.n_edges, rel=0.05)
    several_gpus.check_small(devices, 16)
    run, graph = Run(devices=devices, repetitions=2), several_gpus.graph_on_host(recipe, devices[0])
    resident = several_gpus.resident(run, recipe)
    assert [*times_in(resident)] == ["one", "one, both ways", "several", "_solves", "_moves"]
    for scope in ("from the host", "pinned"):
        row = several_gpus.from_host(run, graph, recipe, scope)
        assert (row["scope"], row["degree"], row["edges"]) == (scope, 16, recipe.n_edges)
        assert {len(row[name]) for name in ("one", "several")} == {2}


def test_moves_by_every_way(file: Path) -> None:
    """Two device objects of one name share no context, except where that is the way."""
    name = device_sets()["two"][0].platform.split("(")[0]
    points = points_of(file, "moves", *["--device", name] * 2, "--bytes", "200000")
    found = [point["way"] for point in points]
    assert found[:4] == ["blocks of 1 MiB", "blocks of 4 MiB", "array", "blocks of 16 MiB"]
    assert "one context" in found


@pytest.mark.parametrize(
    "graph", [("--vertices", 500, "--edges", 2000), ("--roads", 2000, "--bandwidth", 100)]
)
def test_changes_of_a_dynamic_forest(file: Path, graph: tuple[Any, ...]) -> None:
    """Each kind of change of each size, beside both solves; the forest is compared at the end."""
    points = points_of(file, "dynamic", *graph, "--repetitions", 2)
    floors = [point["floor"] for point in points if "floor" in point]
    assert len(floors) == (10 if "--roads" in graph else 0)
    assert all(0 < floor < 1 for floor in floors)
    found = [(point["what"], point["edges changed"]) for point in points]
    kinds = ("insert", "delete of the forest", "delete outside", "update", "mixed")
    solves = [("solve from arrays", 0), ("solve on the device", 0)]
    assert found == [*solves, *((kind, k) for kind in kinds for k in (1, 100))]
    assert {len(point["ms"]) for point in points} == {2}


def test_rounds_with_few_changes(file: Path) -> None:
    """Each degree and dtype has a row, whose forests were compared before."""
    sizes = ("--edges", 400, "--dtype", "int32", "--dtype", "float64", "--repetitions", 2)
    points = points_of(file, "few_changes", *sizes)
    found = [(point["degree"], point["weights"]) for point in points]
    assert found == [(degree, dtype) for degree in (4, 16) for dtype in ("int32", "float64")]
    assert all(point["update, share / one-shot"] > 0 for point in points)


@pytest.mark.exhaustive
def test_steps_of_boruvka(file: Path, tmp_path: Path) -> None:
    """Dense and sparse graphs, finding minima and the other steps, and all of it one after another.

    A sweep of two sizes each: the complete graph of the most vertices that have as few edges, and
    the random one of as many.
    """
    picture = tmp_path / "steps.png"
    sizes = ("--smallest", 10_000, "--largest", 20_000)
    points = points_of(file, "boruvka_steps", *sizes, "--sequential", "--paper", "--plot", picture)
    smaller, dense_graph, smaller_sparse, sparse_graph = points
    assert smaller["edges"] <= 10_000 < dense_graph["edges"]
    assert smaller_sparse["edges"] <= 10_000 < sparse_graph["edges"]
    assert (dense_graph["graph"], sparse_graph["graph"]) == ("dense", "sparse")
    n, m = dense_graph["vertices"], dense_graph["edges"]
    assert m == n * (n - 1) // 2
    assert m <= 20_000 < (n + 1) * n // 2
    n, m = sparse_graph["vertices"], sparse_graph["edges"]
    assert (n, m) == (2500, 2499 * 8)
    for point in (dense_graph, sparse_graph):
        for name in ("finding minima", "other steps", "NumPy, first minima"):
            assert point[name] > 0
        assert (len(point["solve"]), len(point[strategies.KRUSKAL])) == (2, 1)
        for name in (boruvka_steps.ALGORITHM_4, boruvka_steps.SEQUENTIAL):
            finding, total = (point[f"{name}: {what}"] for what in ("finding", "total"))
            assert len(finding) == 2
            assert all(0 < some < every for some, every in zip(finding, total, strict=True))
    assert picture.stat().st_size > 1000


def test_surrogates_beside_the_inputs_of_the_paper(file: Path) -> None:
    """All inputs have a row of the paper's; a grid, which is exact, has the same numbers."""
    assert {*stated.TABLE_2} == {*surrogates.SURROGATES}
    (point,) = points_of(file, "ecl", "inputs", "grid20")
    for title in ecl.TITLES:
        assert point[f"{title}, paper"] == point[f"{title}, ours"]
    path = clmst.Graph.from_edges([0, 1, 3], [1, 2, 4], [1, 1, 1], n_vertices=6).symmetrised()
    assert ecl.facts_of(path) == (6, 6, 3, 1.0, 2)


@pytest.mark.exhaustive
def test_larger_samples_come_nearer_to_the_target_of_the_filter(file: Path, tmp_path: Path) -> None:
    """Figure 7 of SC '23: the distance is of each seed, and is the same in a second run."""
    words = ["ecl", "thresholds", "random-2e12-d8", "--seeds", 9]
    points = points_of(file, *words, "--plot", tmp_path / "picture.png")
    beside = {row["samples"]: np.array(row[f"_{ecl.LIGHT}"]) for row in points}
    assert [*beside] == [20, 1024]
    assert all(distances.size == 9 for distances in beside.values())
    assert np.ptp(beside[1024]) < np.ptp(beside[20])
    assert all(0 < row["fewest rounds"] <= row["most rounds"] for row in points)
    assert points_of(file, *words) == points
    assert (tmp_path / "picture.png").stat().st_size > 0
    timed = points_of(file, *words, "--timed", "--plot", tmp_path / "timed.png")
    assert (tmp_path / "timed.png").stat().st_size > (tmp_path / "picture.png").stat().st_size
    assert all(len(row[f"_{ecl.SEED_MS}"]) == 9 for row in timed)
    assert all(row["slowest / quickest"] >= 1 for row in timed)


def test_steps_of_warps() -> None:
    """A row of 3 slots is not a warp's, one of 33 takes two steps, and rows of a warp add up."""
    degrees = np.zeros(70, np.int64)
    degrees[[0, 31, 32, 69]] = 33, 64, 3, 4
    assert ecl.warp_steps(degrees).tolist() == [4, 0, 1]
    assert ecl.warp_steps(degrees[:0]).size == 0


def test_rates_of_programs_in_the_paper() -> None:
    """Figure 3's greatest rates of ECL-MST and of PBBS, as section 5.2 states them."""
    rates = ecl.rates_in_paper("Titan V")
    assert max(rates["ECL-MST"].values()) == pytest.approx(7.09, abs=0.005)
    assert max(rates["PBBS"].values()) == pytest.approx(0.20, abs=0.005)
    assert len(rates["Jucele"]) == 9  # the connected inputs


def test_rates_beside_the_paper_on_ecl_mst(tmp_path: Path) -> None:
    """A second's slots of what was timed, and of the paper's graph of that name at its time."""
    assert {*stated.ECL_MST} == {*surrogates.SURROGATES}
    results = samples.results_of()
    results.graphs["grid20"] = samples.facts_of(1 << 20, 4_000_000)
    one = samples.measured(graph="grid20", seconds=(0.002,))
    results.measurements[one.key] = one
    results.path = tmp_path / "results.json"
    results.save()
    picture = tmp_path / "rates.png"
    words = ["ecl", "throughput", str(results.path), "--plot", str(picture)]
    said = CliRunner().invoke(cases, words).output
    (row,) = re.findall(r"^\| grid20 .*$", said, re.MULTILINE)  # no surrogate beside it
    assert row == "| grid20 | 0.855 | 1.5 | 2 |  |"  # 4,190,208 slots in 4.9 ms; in 2.8
    assert "| small " not in said
    assert picture.stat().st_size > 1000


def test_splits_by_fields(file: Path, tmp_path: Path) -> None:
    """As many rows as combinations of record and key; a wrong order is not timed."""
    points = points_of(file, "primitives", "splits", "--elements", "3000")
    found = [(point["bytes"], point["key bits"]) for point in points]
    assert found == [(4, 8), (4, 16), (4, 24), (4, 32), (8, 32), (8, 48), (8, 64)]
    with miscomputing(tmp_path, COARSE_DIGITS):
        wrong = run_case_of("primitives", "splits", "--elements", "3000")
    assert (wrong.exit_code, "another order" in wrong.output) == (1, True)


def test_trees_of_bader_and_cong(any_device: Device) -> None:
    """One processor grows one tree a component; many get in each other's way."""
    whole, halves = generate("path", n=200), generate("cliques", count=2, size=50)
    for graph, trees in ((whole, 1), (halves, 2)):
        resident = clmst.to_device(graph, any_device)
        alone = pma.united_by_bader_cong(resident, 1)
        assert alone == pytest.approx(100 * (1 - trees / graph.n_vertices))
        assert pma.united_by_bader_cong(resident, 20) <= 95
    nothing = clmst.Graph.from_edges([], [], n_vertices=3)
    assert pma.united_by_bader_cong(clmst.to_device(nothing, any_device), 4) == 0


@pytest.mark.exhaustive
def test_counts_of_launches(file: Path) -> None:
    """The steps of the paper on recursive Borůvka take as many rounds, and more launches."""
    points = points_of(file, "studies", "counts", "--vertices", 600, "--degree", 8)
    assert len(points) == len(studies.FAMILIES)
    for row in points:
        assert row["boruvka: rounds"] == row[f"{studies.PAPER_STEPS}: rounds"] > 0
        assert 0 < row["boruvka: launches"] < row[f"{studies.PAPER_STEPS}: launches"]
    record = json.loads(file.read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["took_seconds"] > 0


@pytest.mark.exhaustive
def test_studies_of_families(file: Path, tmp_path: Path) -> None:
    """Every family at every size and degree, by algorithms with options, beside Kruskal's."""
    few = ("--algorithm", "boruvka", "--algorithm", "pma gamma=4", "--kruskal")
    points = points_of(
        file, "studies", "sizes", "--vertices", 300, "--vertices", 600, "--degree", 8, *few
    )
    assert [point["family"] for point in points[::2]] == [*studies.FAMILIES]
    assert [*times_in(points[0])] == ["boruvka", "pma gamma=4", strategies.KRUSKAL]
    for small, large in zip(points[::2], points[1::2], strict=True):
        assert 1.5 < large["vertices"] / small["vertices"] < 2.5
        for point in (small, large):
            assert 2 * point["edges"] / point["vertices"] == pytest.approx(8, rel=0.25)
    two = ("--degree", 32, "--degree", 4, "--plot", tmp_path / "degrees.png")
    dense = points_of(file, "studies", "degrees", "--vertices", 400, *two, *few[:2])[::2]
    assert (tmp_path / "degrees.png").stat().st_size > 1000
    assert all(2 * point["edges"] / point["vertices"] > 20 for point in dense)
    wrong = run_case_of("studies", "sizes", "--algorithm", "pma gama=4")
    assert "pma takes variant, gamma" in wrong.output


def test_road_maps_of_papers(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the usual name takes the place of the surrogate."""
    monkeypatch.setenv("CLMST_GRAPHS", str(tmp_path))
    clmst.io.write_graph(generate("random", n=90), tmp_path / "USA-road-d.BAY.gr")
    few = ("--share", 0.01, "--place", "New York", "--place", "San Francisco")
    made, real = points_of(file, "studies", "roads", *few, "--algorithm", "boruvka")
    assert (made["from"], made["vertices"]) == ("surrogate", 2640)
    assert (real["from"], real["vertices"]) == ("USA-road-d.BAY.gr", 90)
    assert (made["Vineet, GPU"], made["HybridPMA"]) == (39, 18)


# Cases that no other test runs, on inputs that take no time.
SMALL = {
    "clustering": ["tree", "--points", "300"],
    "beside_scipy": ["graphs", "--points", "100", "--clock", "cpu", "--least"],
    "beside_sklearn": ["--points", "100"],
    "data_frames": ["--edges", "2000"],
    "generated": ["1e5", "--vertices", "12", "--small", "1e4"],
    "memory": ["rounds", "--vertices", "200", "--rounds", "5"],
    "networkx_trees": ["--edges", "500"],
    "order_of_rows": ["--sets", "1", "--orders", "1"],
    "points": ["dendrograms", "500,2"],
    "proof": ["GRAPH"],
    "beside_native": ["GRAPH", "--passes", "1"],
}


@pytest.mark.exhaustive
def test_memory_of_memberships(file: Path) -> None:
    """In a process of its own, for all points and for some."""
    for part, count in ((0, 600), (50, 50)):
        words = ("memory", "memberships", 600, "--clusters", 6, "--part", part)
        (row,) = points_of(file, *words)
        assert (row["points"], row["clusters"], row["memberships of"]) == (600, 6, count)
        assert row["exemplars"] >= 6


@pytest.mark.parametrize("name", SMALL)
def test_case_runs(name: str, file: Path, graph: Path) -> None:
    arguments = [str(graph) if word == "GRAPH" else word for word in SMALL[name]]
    points = points_of(file, name, *arguments)
    assert all(times for point in points for times in times_in(point).values())


@pytest.mark.parametrize(
    ("arguments", "titles", "ways"),
    [
        (
            ["usual", "--only", "200 x 5", "--only", "Delaunay, 2,000"],
            ["kNN, distance, 200 x 5", "Delaunay, 2,000"],
            ["clmst", "csgraph"],
        ),
        (
            ["small", "--only", "300 x 16", "--form", "directed", "--weights", "ones"],
            ["300 x 16, directed, ones"],
            ["clmst", "csgraph", "device", "host"],
        ),
        (["edges", "--only", "100,000 edges, 16"], ["100,000 edges, 16 a vertex"], ["clmst"]),
        (["graphs", "GRAPH", "--form", "two-tied"], ["random, two-tied"], ["device", "csgraph"]),
    ],
)
def test_matrices_beside_scipy(
    file: Path, graph: Path, arguments: list[str], titles: list[str], ways: list[str]
) -> None:
    """Each has a row, and each way a mean and a worst ratio."""
    pytest.importorskip("sklearn")
    words = [str(graph) if word == "GRAPH" else word for word in arguments]
    points = points_of(file, "beside_scipy", *words, "--repetitions", 1)
    assert [point["matrix"] for point in points] == titles
    assert all([*times_in(point)] == [*ways, "SciPy"] for point in points)
    assert all(point[f"SciPy / {way}"] > 0 for point in points for way in ways)


def test_a_forest_that_scipy_has_not_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = clmst.maximum_spanning_forest
    monkeypatch.setattr(clmst, "minimum_spanning_forest", lambda A, **_: other(A))
    nothing = run_case_of("beside_scipy", "small", "--only", "no such matrix")
    assert (nothing.exit_code, "nothing of these names" in nothing.output) == (0, True)
    wrong = run_case_of("beside_scipy", "small", "--only", "100 x 4")
    assert wrong.exit_code == 1
    assert "edges of weight" in wrong.output
