"""Tables and figures of results whose numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clmst.bench import canvas, report, tables
from clmst.bench.figures import draw_all
from clmst.bench.grid import MEAN, Grid
from clmst.bench.report import all_tables, as_markdown
from clmst.bench.results import Results, merged
from clmst.bench.tables import Table
from tests.bench.samples import measured, results_of


def view(results: Results, of: Callable[..., Any], experiment: str = "times", *more: Any) -> Any:
    """Return a view of solves in an experiment, of the only machine."""
    (grid,) = Grid.each(results, experiment, machines=["a"])
    return of(grid, *more)


def row(table: Table, name: str) -> dict[str, str]:
    """Return a row by its first cell. If several tables have it, the last one counts."""
    (found,) = (cells for cells in table.rows if cells[0] == name)
    return dict(zip(table.headings, found, strict=True))


def disconnected() -> Results:
    """Return results with means of their own over connected graphs, as the paper's are."""
    results = results_of()
    results.graphs["large"]["n_forest_edges"] -= 5
    return results


def incomplete() -> Results:
    """Return results of a rival that fails on the large graph, which must not make it look fast."""
    results = results_of()
    results.add([measured(graph="large", contestant="rival", status="wrong", seconds=())])
    return results


def without_edges() -> Results:
    """Return results of graphs without edges, for which throughput is undefined."""
    results = results_of()
    for facts in results.graphs.values():
        facts |= {"n_slots": 0, "n_edges": 0}
    return results


CONNECTED = f"{MEAN}, connected"


@pytest.mark.parametrize(
    ("made", "table", "rows"),
    [
        (results_of, lambda of: view(of, tables.times), {
            "small": {
                "vertices": "100", "slots": "1,000", "clmst auto ms": "1.000",
                "rival ms": "2.000", "ratio": "2.00", "spread": "1.800-2.400",
            },
            "large": {"vertices": "10,000"},
            MEAN: {"clmst auto ms": "2.000", "rival ms": "4.000", "ratio": "2.00", "spread": ""},
        }),
        (disconnected, lambda of: view(of, tables.times), {
            MEAN: {"rival ms": "4.000"}, CONNECTED: {"rival ms": "2.000"},
        }),
        (incomplete, lambda of: view(of, tables.times), {
            "large": {"rival ms": "", "ratio": ""}, MEAN: {"clmst auto ms": "1.000"},
        }),
        (results_of, lambda of: view(of, tables.throughput), {
            "large": {"clmst auto slots": "25.0", "rival slots": "12.5", "edges": "6.25"},
            MEAN: {"clmst auto slots": "5.00"},
        }),
        (disconnected, lambda of: view(of, tables.throughput), {
            CONNECTED: {"rival slots": "0.500"},
        }),
        (without_edges, lambda of: view(of, tables.throughput), {
            "small": {"clmst auto slots": ""}, MEAN: {"clmst auto slots": ""},
        }),
        (results_of, tables.memory, {
            "small": {"bytes an edge": "40.0", "bytes a vertex": "200.0"},
        }),
        (results_of, lambda of: view(of, report.ablation, "ablation"), {
            "small": {"No Atomic Guards": "1.500"},
        }),
        (disconnected, lambda of: view(of, report.ablation, "ablation"), {
            CONNECTED: {"Thread-Based": "2.250"}, "effect, connected": {"Thread-Based": "+50%"},
        }),
        (results_of, lambda of: view(of, report.seeds, "seeds"), {
            "small": {"most": "no filter"},
            "large": {
                "seeds": "4", "least": "6", "most/least": "4.00", "target: least": "+0%",
                "most": "+30%",
            },
        }),
        (results_of, lambda of: view(of, tables.growth, "scaling", "n"), {
            "1,024": {"degree": "8", "slots": "8,192", "ns a slot": "112.207"},
            "4,096": {"degree": "8", "slots": "32,768", "ns a slot": "103.052"},
        }),
    ],
)  # fmt: skip
def test_cells(
    made: Callable[[], Results], table: Callable[[Results], Table], rows: dict[str, dict[str, str]]
) -> None:
    found = table(made())
    assert [cells[0] for cells in found.rows if cells[0] in rows] == list(rows)
    for name, expected in rows.items():
        assert expected.items() <= row(found, name).items()


def test_notes_of_times() -> None:
    notes = view(incomplete(), tables.times).notes
    assert notes[0] == "clmst auto is ecl."
    assert "Means are over the 1 of 2 graphs that all were timed on." in notes
    assert notes[-1].startswith("A ratio is a time over that of clmst auto;")


def test_ratios_keep_their_base_where_it_failed_first() -> None:
    """The first algorithm of the command lacks a time on one graph only."""
    results = Results(machines=results_of().machines, graphs=results_of().graphs)
    results.add([
        measured(graph="small", status="failed", seconds=()),
        measured(graph="small", contestant="clmst ecl"),
        measured(graph="large", contestant="clmst ecl", seconds=(0.004,)),
        measured(graph="large", seconds=(0.002,)),
    ])  # fmt: skip
    large = row(view(results, tables.times), "large")
    assert list(large)[3] == "clmst auto ms"
    assert large["ratio"] == "2.00"


def test_turns_of_different_runs_are_not_compared() -> None:
    """A run that was broken off leaves a peer with later turns than clmst's."""
    results = Results(machines=results_of().machines, graphs=results_of().graphs)
    results.add([measured(graph="small", benchmark="first")])
    peer = measured(graph="small", contestant="peer", ours=False, benchmark="second")
    results.add([peer])
    assert "peer ms" not in view(results, tables.times).headings


def test_ablation_beside_the_paper() -> None:
    table = view(results_of(), report.ablation, "ablation")
    for name, expected in {
        "effect": ["", *["+50%"] * 8],
        "paper's effect": ["", "+27%", "+9%", "+30%", "+58%", "+62%", "+33%", "-6%", "+40%"],
        "same sign": ["", *["yes"] * 6, "no", "yes"],
    }.items():
        assert [*row(table, name).values()][1:] == expected
    assert "cost 25.6 x" in table.notes[1]
    assert "in 7 of 8 steps" in table.notes[2]


def test_failures_have_their_reasons() -> None:
    results = results_of()
    results.add([measured(contestant="a|b", status="wrong", remark="2 edges", seconds=())])
    table = tables.failures(results)
    assert ("g", "times", "slow", "solve", "timeout", "") in table.rows
    assert "| g | times | a\\|b | solve | wrong | 2 edges |" in table.as_markdown()


def test_devices_side_by_side() -> None:
    results = merged({"one": results_of(), "other": results_of("b", "Slow GPU", 3.0)})
    (grid,) = Grid.each(results, "times")
    (table,) = tables.devices(grid)
    assert "clmst auto" in table.title
    assert table.notes[0] == "clmst auto is ecl on Swift GPU."
    large = row(table, "large")
    assert (large["Swift GPU ms"], large["Slow GPU ms"]) == ("4.000", "12.00")
    assert large["ratio"] == row(table, MEAN)["ratio"] == "3.00"
    assert view(results_of(), tables.devices) == []
    (lines,) = Grid.each(results, "scaling")
    assert "clmst auto, Slow GPU ms" in tables.growth(lines, "n").headings


@pytest.mark.parametrize("made", [results_of, incomplete, disconnected, without_edges])
def test_tables_are_square_and_all_there(made: Callable[[], Results]) -> None:
    several = merged({"1": results_of(), "2": results_of("b", "Slow GPU", 3.0)})
    for results in (made(), several):
        found = all_tables(results)
        assert len(found) > 8
        for table in found:
            assert {len(cells) for cells in table.rows} == {len(table.headings)}
        text = as_markdown(results)
        assert all(f"### {table.title}\n\n|" in text for table in found)
        notes = [note for table in found for note in table.notes]
        assert sorted(notes) == sorted({*notes}), "a note stands below its first table alone"


def test_nothing_measured_makes_no_tables_and_no_figures(tmp_path: Path) -> None:
    assert not all_tables(Results())
    assert not [*draw_all(Results(), tmp_path)]


@pytest.mark.parametrize("made", [results_of, without_edges])
def test_figures_are_drawn(made: Callable[[], Results], tmp_path: Path) -> None:
    drawn = [path.name for path in draw_all(made(), tmp_path)]
    of_seeds = ["seeds.png", "thresholds.png"] if made is results_of else []
    assert drawn == [
        "throughput.png", "throughput_transfers.png", "ablation.png", *of_seeds, "scaling.png",
        "degree.png",
    ]  # fmt: skip
    assert all((tmp_path / name).stat().st_size > 5000 for name in drawn)


def test_figures_of_several_devices(tmp_path: Path) -> None:
    results = merged({"one": results_of(), "other": results_of("b", "Slow GPU", 300.0)})
    drawn = {path.name for path in draw_all(results, tmp_path)}
    assert drawn >= {"devices_throughput.png", "ablation_1.png", "ablation_2.png", "scaling.png"}
    assert drawn == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("letters", [5, 20, 40])
def test_legends_are_no_wider_than_their_figure(letters: int, tmp_path: Path) -> None:
    """Each series once, however many axes have it, in as many columns as there is room for."""
    pytest.importorskip("matplotlib")
    with canvas.panels(tmp_path / "some.png", 2, (6.5, 4), title="some") as axes:
        for name in [f"{number} " + "m" * letters for number in range(4)]:
            for one in axes:
                one.plot([1, 2], [1, 2], label=name)
        canvas.legend_below(axes[0], columns=4)
        figure = axes[0].figure
        figure.draw_without_rendering()
        (legend,) = figure.legends
        assert len(legend.get_texts()) == 4
        extent = legend.get_window_extent()
        assert 0 <= extent.x0 < extent.x1 <= figure.bbox.width


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.01234, "0.01234"), (1.0, "1.000"), (12.345, "12.35"), (12345.6, "12346")],
)
def test_digits(milliseconds: float, text: str) -> None:
    assert tables.digits(milliseconds) == text
