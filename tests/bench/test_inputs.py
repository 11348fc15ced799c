"""Graphs by name, group and file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clmst.bench import inputs
from clmst.core.errors import InvalidArgumentError
from clmst.generators.surrogates import SURROGATES
from clmst.io import read_graph, write_graph
from tests.bench.samples import file_of, graph_of
from tests.helpers.machine import with_memory


def device(kind: str, memory: int = 1 << 40) -> Any:
    return SimpleNamespace(capabilities=SimpleNamespace(kind=kind, global_memory=memory))


def names(chosen: list[inputs.Input]) -> list[str]:
    return [one.name for one in chosen]


def test_groups_are_all_the_named_graphs(tmp_path: Path) -> None:
    small, large, everything = (
        names(inputs.choose([group], device("gpu"), tmp_path)[0]) for group in inputs.GROUPS
    )
    assert {*small} | {*large} == {*everything} == {*SURROGATES}
    assert not {*small} & {*large}
    assert len(everything) == 17
    assert "rmat16" in small
    assert "kron21" in large


@with_memory(1 << 40)
def test_default_depends_on_the_device(tmp_path: Path) -> None:
    chosen, left_out = inputs.choose([], device("gpu"), tmp_path)
    assert (names(chosen), left_out) == ([*SURROGATES], [])
    chosen, left_out = inputs.choose([], device("cpu"), tmp_path)
    assert "rmat16" in names(chosen)
    assert "kron21" not in names(chosen)
    chosen, left_out = inputs.choose([], device("gpu", 2 << 30), tmp_path)
    assert "kron21" in left_out
    assert {*names(chosen), *left_out} == {*SURROGATES}
    with with_memory(1 << 20):
        assert inputs.choose([], device("gpu"), tmp_path)[0] == []


def test_names_mean_each_graph_once(tmp_path: Path) -> None:
    wanted = ["rmat16", "rmat16.sym", "random-100-d4", "small"]
    chosen, _ = inputs.choose(wanted, device("gpu"), tmp_path)
    assert names(chosen)[:2] == ["rmat16", "random-100-d4"]
    assert len(names(chosen)) == len({*names(chosen)})


def test_unknown_name_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'rmat61'.*kron21.*small, large, all"):
        inputs.choose(["rmat61"], device("gpu"), tmp_path)


@pytest.mark.parametrize("name", ["roads.egr", "roads.mtx.gz"])
def test_file_is_an_input(tmp_path: Path, name: str) -> None:
    """Formats that peers do not read are converted once."""
    path, cache = tmp_path / name, tmp_path / "deep" / "cache"
    write_graph(graph_of(), path)
    ((one,), _) = inputs.choose([str(path)], device("gpu"), cache)
    graph, file = one.load(), one.ecl_file()
    assert one.name == "roads"
    assert graph.is_symmetric
    assert np.array_equal(graph.weights, graph_of().weights)
    assert file == path if name.endswith(".egr") else file.parent == cache
    written = file.stat().st_mtime_ns
    assert one.ecl_file() == file
    assert file.stat().st_mtime_ns == written
    assert read_graph(file).n_slots == graph_of().n_slots


def test_real_graph_goes_before_its_surrogate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name that it has in the papers; the surrogate's own name means the surrogate."""
    monkeypatch.setenv("CLMST_GRAPHS", str(tmp_path))
    wanted = ["USA-road-d.NY", "rmat16.sym", "road_ny"]
    assert names(inputs.choose(wanted, device("gpu"), tmp_path)[0]) == ["road_ny", "rmat16"]
    file = tmp_path / "USA-road-d.NY.gr.gz"
    write_graph(graph_of(), file)
    (tmp_path / "USA-road-d.NY.gr.png").write_bytes(b"")
    chosen, _ = inputs.choose(wanted, device("gpu"), tmp_path)
    assert names(chosen) == ["USA-road-d.NY", "rmat16", "road_ny"]
    assert chosen[0].facts == {"file": str(file)}
    assert chosen[0].load().n_slots == graph_of().n_slots
    assert inputs.real_file("USA-road-d.COL") is None
    monkeypatch.delenv("CLMST_GRAPHS")
    monkeypatch.chdir(tmp_path)
    assert inputs.real_file("USA-road-d.NY") == Path(file.name)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    paths = [str(file_of(folder / "g.egr")) for folder in (tmp_path, tmp_path / "other")]
    with pytest.raises(InvalidArgumentError, match="two graphs are called g"):
        inputs.choose(paths, device("gpu"), tmp_path)


def test_random_graph_is_generated_and_kept(tmp_path: Path) -> None:
    one = inputs.random_graph(256, 4, tmp_path)
    assert one.name == "random-2e8-d4"
    assert (one.facts["n"], one.facts["degree"]) == (256, 4)
    graph = one.load()
    assert [path.name for path in tmp_path.iterdir()] == ["random-2e8-d4.egr"]
    assert graph.n_slots == read_graph(one.ecl_file()).n_slots
    with pytest.raises(InvalidArgumentError, match="degree"):
        inputs.random_graph(4, 8, tmp_path)
