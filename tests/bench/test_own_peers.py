"""SciPy and NetworkX as peers keep to the protocol, and find forests of the right weight."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst import Graph, kruskal
from clmst.bench.own_peers import main
from clmst.bench.peers import OWN_PEERS, Peer
from clmst.io import write_graph
from tests.bench.samples import file_of, graph_of


@pytest.mark.parametrize("name", OWN_PEERS)
def test_own_peer_is_a_peer(name: str, tmp_path: Path) -> None:
    """As ``clmst bench --peer scipy`` runs it: a program of its own."""
    pytest.importorskip(name)
    file, right = file_of(tmp_path / "g.egr"), kruskal(graph_of()).total_weight
    outcome = Peer.parse(name).compete(file, 2, right, time_limit=60)
    assert (outcome.status, outcome.remark) == ("ok", "")
    assert len(outcome.solve) == 2


@pytest.mark.parametrize("name", OWN_PEERS)
def test_parallel_edges_and_weights_of_zero(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SciPy would add the weights of parallel edges up."""
    pytest.importorskip(name)
    graph = Graph.from_edges([0, 0, 1, 1, 2], [1, 1, 2, 2, 2], [5, 3, 0, 7, 1], n_vertices=4)
    write_graph(graph, tmp_path / "g.egr")
    main([name, str(tmp_path / "g.egr"), "1"])
    lines = capsys.readouterr().out.split()
    assert lines[0] == "solve_ms"
    assert lines[2:] == ["weight", "3.0"]


def test_any_other_peer_needs_a_command() -> None:
    with pytest.raises(ValueError, match="no NAME=COMMAND, nor one of scipy, networkx"):
        Peer.parse("igraph")
