"""The benchmarks: what is wrong is never timed, and what is timed is written down."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from click import ClickException
from click.testing import CliRunner, Result
from scipy import sparse

import clmst
from benchmarks import (
    beside_scipy,
    beside_stated,
    cores,
    dense,
    devices,
    largest,
    moves,
    pma,
    repeated,
    rounds,
    rush_hour,
    several_gpus,
    several_graphs,
    small_graphs,
    strategies,
    stream_rates,
    streaming,
)
from benchmarks.case import Case, CopyLimit, Method, Outcome, Work, run_case
from benchmarks.cases import ENTRIES, Entry
from benchmarks.peers import Peer
from benchmarks.pma_graphs import EXPERIMENTS, OF_THE_PAPER
from benchmarks.pma_plots import FIRST_LEVEL
from benchmarks.primitives import main
from benchmarks.report import segment_ratio
from benchmarks.reweighted import Reweighted
from benchmarks.union_finds import UNION_FINDS
from benchmarks.variants import GPU_SHAPE
from benchmarks.workspace import Workspace
from clmst import Device, algorithms, generate
from clmst.algorithms.pma.solve import lanes_for
from clmst.algorithms.proof.prove import Proof
from clmst.bench.harness import WrongResultError
from clmst.generators import surrogates
from clmst.repeated.device_pool import DevicePool
from clmst.scale import stream_sink
from tests.repeated.device_sets import device_sets

SIZE = 5000


@pytest.fixture
def space(any_device: Device) -> Workspace:
    return Workspace(any_device)


@pytest.fixture
def limit(space: Workspace) -> CopyLimit:
    return CopyLimit(space, 2**16)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), catch_exceptions=False)


def by_contestant(results: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {result["contestant"]: result for result in results}


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


def test_command_writes_what_it_measured(tmp_path: Path) -> None:
    file = tmp_path / "primitives.json"
    sizes = ("--elements", "2**12", "--repetitions", "3")
    result = run("--only", "copy,reduce", *sizes, "--json", str(file), "--plot", str(tmp_path))
    assert result.exit_code == 0
    assert "clmst" in result.stdout
    written = json.loads(file.read_text())
    assert {"device", "driver", "versions", "host"} <= written.keys()
    assert {one["case"] for one in written["results"]} == {"copy", "reduce"}
    ours = by_contestant(written["results"])["clmst"]
    assert ours["status"] == "ok"
    assert ours["elements"] == 4096
    assert len(ours["ms"]) == 3
    assert ours["ratio"] == 1
    assert ours["bytes"] == 4 * 4096
    assert ours["share_of_limit"] == pytest.approx(ours["gb_per_s"] / ours["copy_gb_per_s"])
    assert (tmp_path / "primitives.png").stat().st_size > 1000


def test_numpy_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "primitives.json"
    sizes = ("--elements", "2**12", "--repetitions", "1", "--json", str(file))
    assert run("--only", "reduce", "--no-numpy", *sizes).exit_code == 0
    contestants = by_contestant(json.loads(file.read_text())["results"])
    assert "clmst" in contestants
    assert "NumPy" not in contestants


def test_peers_do_not_stop_a_run(tmp_path: Path) -> None:
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
    file = tmp_path / "out.json"
    result = run("--only", "copy", "--elements", "1000", "--json", str(file), *options)
    assert result.exit_code == 0
    found = by_contestant(json.loads(file.read_text())["results"])
    assert found["right"]["median_ms"] == pytest.approx(0.25)
    assert found["wrong"]["status"] == "wrong"
    remarks = {
        "wrong": "by its own check",
        "late": "ended after 2 s without an answer",
        "broken": "exit status 1: out of luck",
        "other size": "does not keep to the protocol: 'copy 7 0.25 ok'",
        "no number": "does not keep to the protocol: 'copy 1000 nan ok'",
    }
    assert {name: found[name]["remark"] for name in remarks} == remarks
    assert found["missing"]["remark"].startswith("cannot be run: ")
    assert "elsewhere" not in found
    timed = {name for name, one in found.items() if "ms" in one}
    assert timed & {*scripts, "missing"} == {"right"}
    assert "copy, wrong: wrong: by its own check" in result.stdout


def test_wrong_result_of_clmst_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from clmst.primitives import scan

    monkeypatch.setattr(scan, "reduce", lambda values, **_: values[:1])
    result = run("--only", "reduce", "--elements", "1000", "--repetitions", "1")
    assert result.exit_code == 1
    assert "reduce, clmst: wrong" in result.stdout


def test_figures_of_scans(tmp_path: Path) -> None:
    file = tmp_path / "scans.json"
    few = ("--largest", "2", "--repetitions", "2")
    result = run("figures", *few, "--json", str(file), "--plot", str(tmp_path))
    assert result.exit_code == 0
    points = json.loads(file.read_text())["points"]
    ours = [point for point in points if point["name"] == "clmst reduce-then-scan"]
    assert [point["mib"] for point in ours] == [1, 2]
    assert all(len(point["kernel_ms"]) == len(point["total_ms"]) == 2 for point in ours)
    assert all(min(point["kernel_ms"]) > 0 for point in points)
    for name in ("scan_times.png", "scan_speedups.png"):
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--elements", "12k"), "is no positive number"),
        (("--elements", "0"), "is no positive number"),
        (("--only", "reduce,fold"), "no case is called 'fold'"),
        (("--peer", "cub"), "is no NAME=COMMAND"),
        (("--device", "no such device"), "no device matches"),
        (("--device", "cpu", "figures"), "stand behind its name"),
    ],
)
def test_bad_option_is_refused(arguments: tuple[str, ...], complaint: str) -> None:
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert complaint in result.stderr


def test_peer_keeps_its_quoted_arguments() -> None:
    peer = Peer.parse("a b = 'my program' --fast")
    assert peer == Peer(name="a b", command=("my program", "--fast"))


def test_kinds_of_segments_are_compared() -> None:
    def timed(kind: str, seconds: float) -> Outcome:
        outcome = Outcome(
            case="segmented_scan_kinds", contestant=f"clmst {kind}", size=1, status="ok"
        )
        outcome.seconds = [seconds]
        return outcome

    assert segment_ratio([]) is None
    assert segment_ratio([timed("one", 2.0), timed("16th", 3.0), timed("all", 2.4)]) == 1.5


@pytest.fixture
def tiny_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs of PMA's experiments that take no time."""
    tiny = {"path": lambda: generate("path", n=300), "dense": lambda: generate("complete", n=40)}
    for name in EXPERIMENTS:
        monkeypatch.setitem(EXPERIMENTS, name, lambda _: tiny)
    monkeypatch.setattr(pma, "GAMMAS", (2, 5))


def run_pma(*arguments: str) -> Result:
    return CliRunner().invoke(pma.main, list(arguments))


@pytest.mark.usefixtures("tiny_experiments")
def test_experiments_of_pma(tmp_path: Path) -> None:
    """Each is measured as often as asked for, written down and drawn."""
    file = tmp_path / "pma.json"
    result = run_pma("--repetitions", "2", "--json", str(file), "--plot", str(tmp_path))
    assert result.exit_code == 0
    written = json.loads(file.read_text())
    assert {"device", "driver", "unit", "points"} <= written.keys()
    points = written["points"]
    assert {len(point["values"]) for point in points} == {2}
    assert {point["graph"] for point in points} == {"path", "dense"}
    contestants = {
        name: {point["contestant"] for point in points if point["experiment"] == name}
        for name in OF_THE_PAPER
    }
    variants = {"pma min", "pma sort", "pma hybrid"}
    assert contestants["table"] == {"boruvka", "ecl", *variants, FIRST_LEVEL}
    assert contestants["gamma"] == variants
    assert contestants["parallel"] == {
        f"{what}, {gamma}" for what in ("removed", "kept") for gamma in ("gamma 6", "chosen gamma")
    }
    assert {point["x"] for point in points if point["experiment"] == "gamma"} == {2.0, 5.0}
    united = [point["values"] for point in points if point["experiment"] == "reduction"]
    assert all(50 <= value <= 100 for values in united for value in values)
    for name in OF_THE_PAPER:
        assert (tmp_path / f"pma_{name}.png").stat().st_size > 1000


@pytest.mark.usefixtures("tiny_experiments")
def test_workers_of_pma_are_compared(
    tmp_path: Path, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where lanes combine; elsewhere there is nothing to compare."""
    shaped = any_device.with_policy(GPU_SHAPE)
    monkeypatch.setattr(clmst, "get_device", lambda _: shaped)
    if lanes_for(shaped.capabilities, shaped.policy) == 1:
        refused = run_pma("workers", "--repetitions", "1")
        assert (refused.exit_code, "workers is 'lanes'" in refused.stderr) == (1, True)
        return
    file = tmp_path / "pma.json"
    options = ("--repetitions", "1", "--json", str(file), "--plot", str(tmp_path))
    assert run_pma("workers", *options).exit_code == 0
    points = json.loads(file.read_text())["points"]
    assert {point["contestant"] for point in points} == {"work-items", "lane groups"}
    assert (tmp_path / "pma_workers.png").stat().st_size > 1000


@pytest.mark.usefixtures("tiny_experiments")
def test_wrong_forest_of_pma_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pma, "VARIANTS", ("min",))
    right = pma.by

    def by(algorithm: str, options: Any = None) -> Any:
        solve = clmst.maximum_spanning_forest if algorithm == "pma" else None
        return right(algorithm, options) if solve is None else partial(solve, keep_on_device=True)

    monkeypatch.setattr(pma, "by", by)
    result = run_pma("table", "--repetitions", "1")
    assert result.exit_code == 1
    assert "pma min: a forest other than that of ecl" in result.stderr


@pytest.fixture
def one_small_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate("random", n=50, seed=1)
    monkeypatch.setattr(small_graphs, "graphs", lambda: iter([("random", graph)]))


@pytest.mark.usefixtures("one_small_graph")
@pytest.mark.parametrize("scope", [(), ("--from-edges",)], ids=["resident", "from edges"])
def test_small_graphs_have_a_row_each(scope: tuple[str, ...]) -> None:
    few = (*scope, "--repetitions", "2", "--algorithm", "prim", "--rounds", "0", "--rounds", "1")
    result = CliRunner().invoke(small_graphs.main, few, catch_exceptions=False)
    *_, head, _, row = result.stdout.splitlines()
    titles = ["prim", "prim-boruvka, 0 rounds", "prim-boruvka, 1 round"]
    cells = [cell.strip() for cell in head.strip("|").split("|")]
    assert cells == ["graph", "n", "slots", *titles, "quickest"]
    kind, n, _, *times, quickest = [cell.strip() for cell in row.strip("|").split("|")]
    assert (kind, n) == ("random", "50")
    medians = {title: float(cell.split()[0]) for title, cell in zip(titles, times, strict=True)}
    assert medians[quickest.strip("`")] == min(medians.values()) > 0


@pytest.mark.usefixtures("one_small_graph")
def test_wrong_forest_of_a_small_graph_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = algorithms.ALGORITHMS["prim"].solve

    def turned(*args: Any, maximum: bool, **kwargs: Any) -> Any:
        return solve(*args, maximum=not maximum, **kwargs)

    monkeypatch.setattr("clmst.algorithms.prim.solve.solve", turned)
    result = CliRunner().invoke(small_graphs.main, ["--repetitions", "1"])
    assert result.exit_code == 1
    assert "prim: a forest other than that of the oracle" in result.output


def test_dense_graphs(tmp_path: Path) -> None:
    """Complete and ever denser graphs, forests compared first; where contestants cross."""
    file, figure = tmp_path / "dense.json", tmp_path / "dense.png"
    few = ["--repetitions", "2", "--json", str(file)]
    result = CliRunner().invoke(dense.main, ["complete", "--largest", "1024", *few])
    assert result.exit_code == 0, result.output
    points = json.loads(file.read_text())["points"]
    assert [point["n_vertices"] for point in points] == [512, 1024]
    assert [point["n_edges"] for point in points] == [130816, 523776]
    assert {len(times) for times in points[0]["milliseconds"].values()} == {1, 2}  # SciPy's is one
    arguments = ["density", "--vertices", "200", "--plot", str(figure), *few]
    result = CliRunner().invoke(dense.main, arguments)
    assert result.exit_code == 0, result.output
    record = json.loads(file.read_text())
    assert [point["probability"] for point in record["points"]] == [*dense.PROBABILITIES]
    assert record["crossover"].keys() == {dense.MATRIX, dense.BUILT}
    assert figure.stat().st_size > 1000


def run_strategies(file: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return the points of a run of two repetitions."""
    few = ["--repetitions", "2", "--json", str(file)]
    result = CliRunner().invoke(strategies.main, [*arguments, *few])
    assert result.exit_code == 0, result.output
    points: list[dict[str, Any]] = json.loads(file.read_text())["points"]
    return points


def test_union_finds_of_strategies(tmp_path: Path, any_device: Device) -> None:
    """Each of them on as many compute units as there are, and on half as many."""
    file = tmp_path / "sets.json"
    points = run_strategies(file, "sets", "--vertices", "100")
    units = [point["units"] for point in points]
    assert units == sorted(set(units))
    assert units[-1] == any_device.capabilities.compute_units
    if cl.device_partition_property.BY_COUNTS in any_device.cl_device.partition_properties:
        assert units[:-1] == [1 << k for k in range(len(units) - 1)]
        assert units[0] == 1
    else:
        assert len(units) == 1
    for point in points:
        assert point["n_edges"] == 4950
        assert [*point["milliseconds"]] == [*point["steps"]] == [*UNION_FINDS]
        assert {len(times) for times in point["milliseconds"].values()} == {2}
        assert all(0 < ms < 1e4 for steps in point["steps"].values() for ms in steps.values())
    (point, *_) = run_strategies(file, "sets", "--vertices", "50", "--union-find", "atomic-full")
    assert [*point["steps"]] == ["atomic-full"]


def test_graphs_of_strategies(tmp_path: Path) -> None:
    """Sparse, complete and ever denser graphs, beside the oracle and clmst's own algorithms."""
    file = tmp_path / "graphs.json"
    points = run_strategies(file, "families", "--scale", "7", "--scale", "8")
    assert [point["n_vertices"] for point in points] == [128] * 3 + [256] * 3
    assert [point["n_edges"] for point in points[:2]] == [8 * 128, 7 * 16 + 8 * 15]
    own, _ = algorithms.choose("auto", clmst.get_device())
    sparse_graphs = {"atomic-half", "atomic-full", own, strategies.KRUSKAL}
    assert {frozenset(point["milliseconds"]) for point in points} == {frozenset(sparse_graphs)}
    points = run_strategies(file, "complete", "--largest", "512")
    dense_graphs = [strategies.MP, strategies.CU, dense.MATRIX, own]
    assert [[*point["milliseconds"]] for point in points] == [[*dense_graphs, strategies.KRUSKAL]]
    points = run_strategies(file, "density", "--vertices", "60")
    assert [point["probability"] for point in points] == [*dense.PROBABILITIES]
    assert [*points[0]["milliseconds"]] == dense_graphs


def test_strategy_that_is_wrong_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = algorithms.ALGORITHMS["edge-parallel"].solve

    def turned(*args: Any, maximum: bool, **kwargs: Any) -> Any:
        return solve(*args, maximum=not maximum, **kwargs)

    monkeypatch.setattr("clmst.algorithms.edge_parallel.solve.solve", turned)
    for command in (("complete", "--largest", "512"), ("families", "--scale", "6")):
        result = CliRunner().invoke(strategies.main, [*command, "--repetitions", "1"])
        assert result.exit_code == 1
        assert "a forest other than that of" in result.output


def test_repeated(tmp_path: Path) -> None:
    """A ratio is of the one-shot solve of the same kind, and every round's forest is compared."""
    record, graph = tmp_path / "new" / "repeated.json", tmp_path / "random.egr"
    clmst.io.write_graph(generate("random", n=300, average_degree=6, seed=2).symmetrised(), graph)
    few = ["--repetitions", "2", "--share", "0.1", "--json", str(record)]
    result = CliRunner().invoke(repeated.main, [str(graph), *few])
    assert result.exit_code == 0, result.output
    (point,) = json.loads(record.read_text())["points"]
    assert point["n_vertices"] == 300
    assert {len(times) for times in point["milliseconds"].values()} == {2}
    assert set(repeated.BESIDE) | set(repeated.BESIDE.values()) == set(point["milliseconds"])


def test_other_weights_for_a_matrix() -> None:
    """Edge k weighs the same in both directions: what was given for the k-th one."""
    graph = generate("random", n=300, average_degree=6, seed=2).symmetrised()
    reweighted = Reweighted(graph)
    np.testing.assert_array_equal(reweighted.matrix(reweighted.own).data, graph.weights)
    u, v, _, _ = graph.edges()
    weights = np.arange(u.size) + 1
    matrix = reweighted.matrix(weights)
    np.testing.assert_array_equal(matrix[u.view("i4"), v.view("i4")], weights)
    np.testing.assert_array_equal(matrix[v.view("i4"), u.view("i4")], weights)
    assert matrix.nnz == 2 * u.size


def test_rounds(tmp_path: Path) -> None:
    """Everyone solves every round; what preparing cost is where the courses begin."""
    record, figure = tmp_path / "new" / "rounds.json", tmp_path / "new" / "rounds.png"
    graph = tmp_path / "random.egr"
    clmst.io.write_graph(generate("random", n=300, average_degree=6, seed=2).symmetrised(), graph)
    names = ["one-shot", "repeated", "repeated:dense", "one-shot:prim"]
    chosen = [word for name in names for word in ("--contestant", name)]
    reported = ["--json", str(record), "--plot", str(figure)]
    result = CliRunner().invoke(rounds.main, [str(graph), "--rounds", "4", *chosen, *reported])
    assert result.exit_code == 0, result.output
    points = json.loads(record.read_text())["points"]
    assert [point["name"] for point in points] == names
    assert {(len(point["prepare"]), len(point["rounds"])) for point in points} == {(5, 4)}
    assert figure.stat().st_size > 1000
    result = CliRunner().invoke(rounds.main, [str(graph), "--contestant", "repeated:guess"])
    assert result.exit_code == 2
    assert "'repeated:guess' is no contestant" in result.output


def test_wrong_forest_of_a_round_ends_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = clmst.minimum_spanning_forest(generate("path", n=3))
    monkeypatch.setattr(rounds.Repeated, "solve", lambda *_: wrong)
    reweighted = Reweighted(generate("grid", rows=3, columns=4).symmetrised())
    with pytest.raises(WrongResultError, match="round 0: repeated: a forest other than that of"):
        rounds.race(reweighted, ["one-shot", "repeated"], clmst.get_device(), 2)


def test_contestant_that_does_not_fit_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*_: Any) -> None:
        raise clmst.OutOfDeviceMemoryError("it needs 9 GB of 1; take another algorithm")

    monkeypatch.setattr(rounds.OneShot, "solve", refuses)
    reweighted = Reweighted(generate("grid", rows=3, columns=4).symmetrised())
    courses = rounds.race(reweighted, ["one-shot:dense", "repeated"], clmst.get_device(), 2)
    assert [course.name for course in courses] == ["repeated"]
    assert "one-shot:dense is left out: it needs 9 GB of 1" in capsys.readouterr().err
    with pytest.raises(ClickException, match="can hold none of the contestants"):
        rounds.race(reweighted, ["one-shot"], clmst.get_device(), 2)


def test_round_in_which_preparing_is_repaid() -> None:
    one_shot = rounds.Course(name="a", prepare=[0.0], rounds=[10.0, 10.0, 10.0])
    repeated = rounds.Course(name="b", prepare=[90.0, 10.0, 12.0], rounds=[4.0, 4.0, 4.0])
    assert repeated.accumulated == [12.0, 16.0, 20.0, 24.0]
    assert repeated.repaid_beside(one_shot) == 2
    assert one_shot.repaid_beside(repeated) == 1
    slow = rounds.Course(name="c", prepare=[0.0], rounds=[11.0, 11.0, 11.0])
    assert slow.repaid_beside(one_shot) is None


def test_rush_hour(tmp_path: Path) -> None:
    """All come to the middle, by roads that exist; both pictures are there."""
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
    result = CliRunner().invoke(rush_hour.main, [str(graph), "--folder", str(folder)])
    assert result.exit_code == 0, result.output
    assert "180 vertices, 331 edges" in result.output
    assert sorted(one.name for one in folder.iterdir()) == [
        "rush_hour.png", "rush_hour_middle.png",
    ]  # fmt: skip


def test_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each device alone and every strategy, forests compared; who did what, when."""
    names = [entry.device for entry in clmst.devices() if entry.usable]
    if len(names) < 2:
        pytest.skip("there are not two usable devices")
    record = tmp_path / "new" / "devices.json"
    arguments = ["random:n=2000,average_degree=16.0", "--repetitions", "2", "--json", str(record)]
    arguments += [word for one in names[:2] for word in ("--device", f"{one.platform}")]
    result = CliRunner().invoke(devices.main, arguments)
    assert result.exit_code == 0, result.output
    (point,) = json.loads(record.read_text())["points"]
    contestants = [f"{k}: {one.name}" for k, one in enumerate(names[:2])]
    assert list(point["milliseconds"]) == [*contestants, *devices.STRATEGIES]
    assert {len(times) for times in point["prefetched"].values()} == {2}
    parts = point["stats"]["split"]["devices"]
    assert {part["device"] for part in parts} == {one.description for one in names[:2]}
    assert "geometric mean: split" in result.output
    one = CliRunner().invoke(devices.main, arguments[:-2])
    assert "strategies are for two or more" in one.output
    inner = DevicePool.solve

    def turned(devices: DevicePool, weights: Any, **options: Any) -> Any:
        return inner(devices, -weights, **options)

    monkeypatch.setattr(DevicePool, "solve", turned)
    wrong = CliRunner().invoke(devices.main, arguments)
    assert wrong.exit_code == 1
    assert "split: a forest other than that of the first device" in wrong.output


def test_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complete, random and read graphs, in both ways of storing them; wrong numbers end it."""
    record, graph = tmp_path / "cores.json", tmp_path / "grid.gr"
    clmst.write_graph(generate("grid", rows=5, columns=10), graph)
    few = ["--repetitions", "2", "--json", str(record)]
    wanted = {
        ("complete", "--largest", "1024"): ([512, 1024], 511),
        ("random", "--vertices", "900"): ([900], 5),
        ("files", str(graph)): ([50], 2),
    }
    for arguments, (sizes, least) in wanted.items():
        result = CliRunner().invoke(cores.main, [*arguments, *few])
        assert result.exit_code == 0, result.output
        points = json.loads(record.read_text())["points"]
        assert [point["n_vertices"] for point in points] == sizes
        assert points[0]["greatest"] >= least
        assert len(points[0]["milliseconds"][cores.ONCE]) == 2
        assert (cores.NETWORKX in points[0]["milliseconds"]) == (arguments[0] == "files")
    monkeypatch.setattr(clmst, "core_numbers", lambda *_: np.zeros(512), raising=False)
    result = CliRunner().invoke(cores.main, ["complete", "--largest", "512"])
    assert result.exit_code == 1
    assert "other core numbers than expected" in result.output


def test_crossover_of_dense_graphs() -> None:
    def point(probability: float, ours: float) -> dense.Point:
        times = {dense.MATRIX: [ours], dense.EDGES: [4.0]}
        return dense.Point(n_vertices=9, probability=probability, n_edges=9, milliseconds=times)

    assert dense.crossover([point(0.1, 8.0), point(0.2, 2.0)], dense.MATRIX) == pytest.approx(0.15)
    assert dense.crossover([point(0.1, 8.0), point(0.2, 9.0)], dense.MATRIX) is None
    assert dense.crossover([point(0.1, 2.0), point(0.2, 1.0)], dense.MATRIX) == 0.1


def test_beside_stated_times(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratio is that of the stated time to the median of the solves, not of the forests."""
    graph = surrogates.find("random-2e10-d8").build()
    point = beside_stated.measure("grid20", graph, any_device, "float32", 3)
    assert (point.n_slots, len(point.solve), len(point.forest)) == (graph.n_slots, 3, 3)
    point = replace(point, solve=[2.0, 4.0, 9.0], forest=[1.0])
    assert point.ratio == beside_stated.STATED["grid20"] / 4.0
    monkeypatch.setattr(beside_stated, "measure", lambda *_: point)
    monkeypatch.setattr(beside_stated, "load", lambda _: graph)
    result = CliRunner().invoke(beside_stated.main, ["grid20=f", "--device", any_device.name])
    assert "geometric mean" in result.output
    unknown = CliRunner().invoke(beside_stated.main, ["lj"])
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


def test_largest_solves_by_two_algorithms(any_device: Device, tmp_path: Path) -> None:
    file = tmp_path / "largest.json"
    sizes = ["--bits", "9", "--degree", "6", "--repetitions", "2", "--json", str(file)]
    command = [*sizes, "--device", any_device.name]
    graph = largest.made_on(any_device, 9, 6)
    found = list(largest.measure(graph, ("filter-boruvka", "edge-parallel"), 2))
    assert [point.n_edges for point in found] == [511, 511]
    assert all(point.n_bytes > 8 * point.n_slots and point.proof > 0 for point in found)
    result = CliRunner().invoke(largest.main, command, catch_exceptions=False)
    assert result.exit_code == 0
    assert "3,071 slots" in result.output
    assert [p["algorithm"] for p in json.loads(file.read_text())["points"]] == [
        "filter-boruvka",
        "ecl",
    ]


def test_largest_finds_a_wrong_forest(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = largest.made_on(any_device, 6, 4)
    monkeypatch.setattr(largest, "prove", lambda *_: Proof(ok=False))
    with pytest.raises(WrongResultError, match="refutes"):
        largest.solve_by("edge-parallel", graph, 1)


@pytest.mark.parametrize(("bits", "degree"), [(27, 34), (6, 3), (6, 32)])
def test_largest_refuses_what_cannot_be(any_device: Device, bits: int, degree: int) -> None:
    with pytest.raises(clmst.InvalidArgumentError, match=r"one device takes|must be even"):
        largest.made_on(any_device, bits, degree)


def test_streams_in_chunks() -> None:
    """Every way of a stream has a row, after its forest has been compared."""
    result = CliRunner().invoke(
        streaming.main, ["chunks", "--graph", "random-2e10-d8", "--repetitions", "1"]
    )
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[1:3]] == [
        "| whole, from edge arrays", "| whole, a Graph that is made",
    ]  # fmt: skip
    assert len(rows) == 5


def test_rates_of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus, the stream by each way, and its steps; each in a row."""
    monkeypatch.setattr(stream_sink, "BLOCKS", stream_sink.BLOCKS)
    monkeypatch.setattr(stream_sink, "ROWS", dict(stream_sink.ROWS))
    arguments = ["--rows", "2e4", "--vertices", "1e3", "--repetitions", "1", "--folder", tmp_path]
    result = CliRunner().invoke(stream_rates.main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if line.startswith("| ")]
    assert rows[1].startswith("| copy from pinned memory to the device | ")
    assert rows[1].endswith(" | 1.000 |")
    assert len(rows) >= 8
    assert not list(tmp_path.iterdir())
    result = CliRunner().invoke(
        stream_rates.main,
        ["--rows", "1.2e6", "--vertices", "1e3", "--repetitions", "1", "--without-files",
         "--checked", "1e5", "--block", "5000", "--blocks", "3", "--chunk", "100000"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "1,200,000 edges, 200,000 of them checked and filtered by" in result.output
    assert "| stream from pinned memory | " in result.output
    assert "| reading" not in result.output


def test_a_wrong_stream_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = clmst.kruskal(clmst.generate("grid", rows=2, columns=2))
    monkeypatch.setattr(clmst, "stream_minimum_spanning_forest", lambda *_, **__: wrong)
    result = CliRunner().invoke(
        streaming.main, ["chunks", "--graph", "random-2e10-d8", "--repetitions", "1"]
    )
    assert result.exit_code == 1
    assert "another forest; it must be that of the whole graph" in result.output
    assert "|" not in result.output


def test_several_gpus_make_their_parts(tmp_path: Path) -> None:
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
    points = list(several_gpus.measure(devices, [16], 3000, 2000, 2))
    assert [point.scope for point in points] == ["resident", "from the host", "pinned"]
    assert several_gpus.table_of(points).as_markdown().count("| 16 |") == 3


def test_moves_by_every_way(tmp_path: Path) -> None:
    """Two device objects of one name share no context, except where that is the way."""
    file, name = tmp_path / "moves.json", device_sets()["two"][0].platform.split("(")[0]
    command = ["--bytes", "200000", "--repetitions", "2", "--json", str(file)]
    result = CliRunner().invoke(moves.main, ["--device", name, "--device", name, *command])
    assert result.exit_code == 0, result.output
    found = [point["way"] for point in json.loads(file.read_text())["points"]]
    assert found[:4] == ["blocks of 1 MiB", "blocks of 4 MiB", "array", "blocks of 16 MiB"]
    assert "one context" in found


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (["--only", "200 x 5", "Delaunay, 2,000"], ["kNN, distance, 200 x 5", "Delaunay, 2,000"]),
        (
            ["--small", "--only", "300 x 16", "--forms", "directed", "--weights", "ones"],
            ["300 x 16, directed, ones"],
        ),
    ],
)
def test_matrices_beside_scipy(
    capsys: pytest.CaptureFixture[str], arguments: list[str], titles: list[str]
) -> None:
    """Each has a row, and each way a mean and a worst ratio."""
    pytest.importorskip("sklearn")
    beside_scipy.main([*arguments, "--repetitions", "1"])
    lines = capsys.readouterr().out.splitlines()
    ways = ["clmst", "csgraph", "device", "host"][: 4 if "--small" in arguments else 2]
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")][2:]
    assert [row[0] for row in rows] == titles
    assert all(len(row) == 5 + 2 * len(ways) for row in rows)
    said = [line.split(":")[0] for line in lines if ": geometric mean" in line]
    assert said == ways


def test_a_forest_that_scipy_has_not_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = clmst.maximum_spanning_forest
    monkeypatch.setattr(clmst, "minimum_spanning_forest", lambda A, **_: other(A))
    with pytest.raises(WrongResultError, match=r"edges of weight"):
        beside_scipy.main(["--small", "--only", "100 x 4", "--repetitions", "1"])
