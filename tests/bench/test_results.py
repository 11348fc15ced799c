"""The file of results: whole or as it was, read back as written, laid side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmst.bench.results import Results, merged
from clmst.core.errors import FileFormatError, InvalidArgumentError
from tests.bench.samples import MACHINE, facts_of, measured, results_of


def test_file_is_written_after_every_addition_and_read_back(tmp_path: Path) -> None:
    whole, path = results_of(), tmp_path / "r.json"
    results = Results(path=path)
    results.add_machine("a", MACHINE)
    for name, facts in whole.graphs.items():
        results.add_graph(name, facts)
    for one in whole.measurements.values():
        results.add([one])
        again = Results.load(path)
        assert list(again.measurements.values()) == list(results.measurements.values())
    assert (again.machines, again.graphs) == (results.machines, whole.graphs)
    assert list(again.measurements) == list(whole.measurements)
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_later_measurement_takes_the_place_of_an_earlier() -> None:
    results = Results()
    results.add([measured(status="failed", seconds=(), remark="gone")])
    assert len(results.failures) == 1
    results.add([measured()])
    assert len(results.measurements) == 1
    assert results.failures == []


def test_what_counts_as_measured() -> None:
    results = Results()
    results.add([measured(), measured(scope="forest", status="wrong", seconds=())])
    done, wrong = (one.key for one in results.measurements.values())
    assert results.have([done], 3)
    assert not results.have([done], 4)
    assert not results.have([done, wrong], 3)
    assert not results.have([measured(graph="h").key], 1)


def test_graph_of_another_size_is_refused() -> None:
    results = Results(graphs={"g": facts_of(3, 4)})
    results.add_graph("g", facts_of(3, 4))
    with pytest.raises(InvalidArgumentError, match="n_slots is 4 and 6"):
        results.add_graph("g", facts_of(3, 6))


def _json(**changes: Any) -> str:
    value = {"format": "clmst-bench", "version": 1, "machines": {}, "graphs": {}}
    return json.dumps(value | {"measurements": []} | changes)


def _one(**changes: Any) -> dict[str, Any]:
    one = measured().as_json() | changes
    parts: dict[str, Any] = {"machines": {"a": {}}, "graphs": {"g": {}}}
    return parts | {"measurements": [{k: v for k, v in one.items() if v is not None}]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "does not hold results of `clmst bench`"),
        (_json(format="other"), "does not hold results of `clmst bench`"),
        (_json(version=2), "the results have version 2; this clmst reads version 1"),
        (_json(graphs=[]), "machines, graphs or measurements are missing"),
        (_json(measurements=[3]), "a measurement lacks"),
        (_json(**_one(scope="sideways")), "contradicts itself"),
        (_json(**_one(seconds=[])), "'ok' must have positive times"),
        (_json(**_one(seconds=[1.0, -1.0])), "'ok' must have positive times"),
        (_json(**_one(seconds=None)), "a measurement lacks 'seconds'"),
        (_json(**_one(machine="b")), "graph and machine must be described"),
        (_json(**_one(graph="h")), "graph and machine must be described"),
    ],
)
def test_broken_file_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        Results.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(InvalidArgumentError, match="no such file"):
        Results.load(tmp_path / "none.json")


def test_merging_parts_of_one_machine() -> None:
    """Measurements and commands of both files are kept."""
    parts = {}
    for file, graph in (("one.json", "g"), ("two.json", "h")):
        part = Results(graphs={graph: facts_of(3, 4)})
        part.add_machine("a", MACHINE | {"command": ["bench", graph]})
        part.add([measured(graph=graph)])
        parts[file] = part
    whole = merged(parts)
    assert [one.graph for one in whole.measurements.values()] == ["g", "h"]
    assert whole.machines["a"]["commands"] == [["bench", "g"], ["bench", "h"]]


def test_merging_refuses_contradictions() -> None:
    one, other = results_of(), results_of("b")
    other.graphs["small"] = facts_of(101, 1000)
    with pytest.raises(InvalidArgumentError, match=r"one.json and other.json mean different .*100"):
        merged({"one.json": one, "other.json": other})
    with pytest.raises(
        InvalidArgumentError, match=r"both hold clmst auto on large \(times, solve\)"
    ):
        merged({"one.json": results_of(), "again.json": results_of()})


def test_machines_are_distinguished() -> None:
    facts = [MACHINE, MACHINE | {"platform": "Other CL"}, MACHINE | {"device": "Slow GPU"}]
    results = Results(machines=dict(zip("abc", facts, strict=True)))
    names = [results.name_of(machine) for machine in results.machines]
    assert names == ["Swift GPU, Some CL", "Swift GPU, Other CL", "Slow GPU"]
    results.machines["d"] = MACHINE
    assert results.name_of("a") == "a"


def test_machine_keeps_the_commands_of_all_runs() -> None:
    """The command of a resumed run does not take the place of the one before."""
    results = Results(machines={"a": MACHINE | {"command": ["bench", "small"]}})
    for words in (["bench", "all"], ["bench", "small"]):
        results.add_machine("a", MACHINE | {"command": words, "python": "3.13"})
    assert results.machines["a"]["commands"] == [["bench", "small"], ["bench", "all"]]
    assert results.machines["a"]["python"] == "3.13"
    assert "command" not in results.machines["a"]


def test_what_earlier_turns_alone_have_goes_with_them() -> None:
    """A peer's old times with transfers must not remain beside new times."""
    results = Results()
    earlier = [
        measured(benchmark="first"),
        measured(contestant="peer", ours=False, scope="transfers", benchmark="first"),
        measured(graph="h", benchmark="another"),
    ]
    results.add(earlier)
    results.add_benchmark([measured(benchmark="second")])
    assert [(one.graph, one.benchmark) for one in results.measurements.values()] == [
        ("h", "another"), ("g", "second"),
    ]  # fmt: skip
