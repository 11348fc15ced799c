"""Tables and figures of results whose numbers are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.bench import report, tables
from clmst.bench.grid import MEAN
from clmst.bench.report import all_tables, as_markdown, draw_all
from clmst.bench.results import Results, merged
from clmst.bench.tables import Table
from tests.bench.samples import measured, results_of


def row(table: Table | None, name: str) -> dict[str, str]:
    """Return a row by its first cell; of headings that come again, the last."""
    assert table is not None
    (found,) = (cells for cells in table.rows if cells[0] == name)
    return dict(zip(table.headings, found, strict=True))


SAMPLE = results_of()
CELLS = {
    "times": (
        tables.times(SAMPLE, "solve", "a"),
        {
            "small": {
                "vertices": "100", "slots": "1,000", "clmst auto ms": "1.000",
                "rival ms": "2.000", "ratio": "2.00", "spread": "1.800-2.400",
            },
            MEAN: {"clmst auto ms": "2.000", "rival ms": "4.000", "ratio": "2.00"},
        },
    ),
    "throughput": (
        tables.throughput(SAMPLE, "a"),
        {
            "large": {"clmst auto slots": "25.0", "rival slots": "12.5", "edges": "6.25"},
            MEAN: {"clmst auto slots": "5.00"},
        },
    ),
    "memory": (
        tables.memory(SAMPLE), {"small": {"bytes an edge": "40.0", "bytes a vertex": "200.0"}},
    ),
    "ablation": (report.ablation(SAMPLE, "a"), {"small": {"No Atomic Guards": "1.500"}}),
    "seeds": (
        report.seeds(SAMPLE, "a"),
        {
            "large": {
                "seeds": "4", "least": "6", "most/least": "4.00", "target: least": "+0%",
                "most": "+30%",
            },
            "small": {"most": "no filter"},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_cells(name: str) -> None:
    table, rows = CELLS[name]
    for of, expected in rows.items():
        assert expected.items() <= row(table, of).items()


def test_rows_of_times() -> None:
    table = tables.times(SAMPLE, "solve", "a")
    assert table is not None
    assert [cells[0] for cells in table.rows] == ["small", "large", MEAN]
    assert table.notes[0] == "clmst auto is ecl."


def test_means_leave_out_what_not_all_have() -> None:
    """Else a contestant that fails on the large graphs would look fast."""
    results = results_of()
    results.add([measured(graph="large", contestant="rival", status="wrong", seconds=())])
    results.measurements.pop(("a", "times", "large", "rival", "solve"))
    table = tables.times(results, "solve", "a")
    assert row(table, MEAN)["clmst auto ms"] == "1.000"
    assert row(table, "large")["rival ms"] == row(table, "large")["ratio"] == ""
    assert table is not None
    assert "Means are over the 1 of 2 graphs that all were timed on." in table.notes


def test_ratios_keep_their_base_where_it_failed_first() -> None:
    """The first algorithm of the command has no time on one graph; it has on the others."""
    results = Results(machines=results_of().machines, graphs=results_of().graphs)
    results.add([
        measured(graph="small", status="failed", seconds=()),
        measured(graph="small", contestant="clmst ecl"),
        measured(graph="large", contestant="clmst ecl", seconds=(0.004,)),
        measured(graph="large", seconds=(0.002,)),
    ])  # fmt: skip
    large = row(tables.times(results, "solve", "a"), "large")
    assert list(large)[3] == "clmst auto ms"
    assert large["ratio"] == "2.00"


def test_turns_of_different_runs_are_not_compared() -> None:
    """A run that was broken off leaves a peer of later turns than those of clmst."""
    results = Results(machines=results_of().machines, graphs=results_of().graphs)
    results.add([measured(graph="small", benchmark="first")])
    peer = measured(graph="small", contestant="peer", ours=False, benchmark="second")
    results.add([peer])
    table = tables.times(results, "solve", "a")
    assert table is not None
    assert "peer ms" not in table.headings


def test_ablation_beside_the_paper() -> None:
    table = report.ablation(results_of(), "a")
    for name, expected in {
        "effect": ["", *["+50%"] * 8],
        "paper's effect": ["", "+27%", "+9%", "+30%", "+58%", "+62%", "+33%", "-6%", "+40%"],
        "same sign": ["", *["yes"] * 6, "no", "yes"],
    }.items():
        assert [*row(table, name).values()][1:] == expected
    assert table is not None
    assert "cost 25.6 x" in table.notes[1]
    assert "in 7 of 8 steps" in table.notes[2]


def test_connected_graphs_have_means_of_their_own() -> None:
    """The paper's figures are over those; a mean over all would be held against them wrongly."""
    results = results_of()
    results.graphs["large"]["n_forest_edges"] -= 5
    connected = f"{MEAN}, connected"
    times = tables.times(results, "solve", "a")
    assert (row(times, MEAN)["rival ms"], row(times, connected)["rival ms"]) == ("4.000", "2.000")
    assert row(tables.throughput(results, "a"), connected)["rival slots"] == "0.500"
    steps = report.ablation(results, "a")
    assert row(steps, connected)["Thread-Based"] == "2.250"
    assert row(steps, "effect, connected")["Thread-Based"] == "+50%"


def test_growth() -> None:
    table = tables.growth(results_of(), "scaling")
    assert table is not None
    assert [cells[:3] for cells in table.rows] == [
        ("1,024", "8", "8,192"), ("4,096", "8", "32,768"),
    ]  # fmt: skip
    assert [cells[5] for cells in table.rows] == ["112.207", "103.052"]
    degrees = tables.growth(results_of(), "degree")
    assert degrees is not None
    assert [cells[1] for cells in degrees.rows] == ["4", "16"]


def test_failures_have_their_reasons() -> None:
    results = results_of()
    results.add([measured(contestant="a|b", status="wrong", remark="2 edges", seconds=())])
    table = tables.failures(results)
    assert table is not None
    assert ("g", "times", "slow", "solve", "timeout", "") in table.rows
    assert "| g | times | a\\|b | solve | wrong | 2 edges |" in table.as_markdown()


def test_devices_side_by_side() -> None:
    results = merged({"one": results_of(), "other": results_of("b", "Slow GPU", 3.0)})
    (table,) = tables.devices(results, "solve")
    assert "clmst auto" in table.title
    large = row(table, "large")
    assert (large["Swift GPU ms"], large["Slow GPU ms"]) == ("4.000", "12.00")
    assert large["ratio"] == row(table, MEAN)["ratio"] == "3.00"
    assert tables.devices(results_of(), "solve") == []
    lines = tables.growth(results, "scaling")
    assert lines is not None
    assert "clmst auto, Slow GPU ms" in lines.headings


def test_tables_are_square_and_all_there() -> None:
    for results in (results_of(), merged({"1": results_of(), "2": results_of("b", "B")})):
        found = all_tables(results)
        assert len(found) > 10
        for table in found:
            assert {len(cells) for cells in table.rows} == {len(table.headings)}
        text = as_markdown(results)
        assert all(f"### {table.title}\n\n|" in text for table in found)


def test_nothing_measured_makes_no_tables(tmp_path: Path) -> None:
    assert not all_tables(Results())
    assert not draw_all(Results(), tmp_path)


def test_graphs_without_edges(tmp_path: Path) -> None:
    results = results_of()
    for facts in results.graphs.values():
        facts |= {"n_slots": 0, "n_edges": 0}
    assert row(tables.throughput(results, "a"), "small")["clmst auto slots"] == ""
    assert len(all_tables(results)) > 8
    assert draw_all(results, tmp_path)


def test_figures_are_drawn(tmp_path: Path) -> None:
    drawn = [path.name for path in draw_all(results_of(), tmp_path)]
    assert drawn == [
        "throughput.png", "throughput_transfers.png", "ablation.png", "seeds.png",
        "thresholds.png", "scaling.png", "degree.png",
    ]  # fmt: skip
    assert all((tmp_path / name).stat().st_size > 5000 for name in drawn)


def test_figures_of_several_devices(tmp_path: Path) -> None:
    results = merged({"one": results_of(), "other": results_of("b", "Slow GPU", 300.0)})
    drawn = {path.name for path in draw_all(results, tmp_path)}
    assert drawn >= {"devices_throughput.png", "ablation_1.png", "ablation_2.png", "scaling.png"}
    assert drawn == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.01234, "0.01234"), (1.0, "1.000"), (12.345, "12.35"), (12345.6, "12346")],
)
def test_digits(milliseconds: float, text: str) -> None:
    assert tables.digits(milliseconds) == text
