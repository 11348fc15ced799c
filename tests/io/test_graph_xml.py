"""GraphML and GEXF files, as NetworkX and others write them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.io import read_graph
from tests.io.files import parse, refuses, weight_by_edge

networkx: Any = pytest.importorskip("networkx")
WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".graphml": networkx.write_graphml,
    ".gexf": networkx.write_gexf,
}
every_form = pytest.mark.parametrize("suffix", WRITERS)


@every_form
def test_the_graph_is_networkxs(tmp_path: Path, suffix: str) -> None:
    """Forests too, on names, with an isolated vertex; compressed as well."""
    G = networkx.gnm_random_graph(30, 80, seed=1)
    rng = np.random.default_rng(2)
    for u, v in G.edges:
        G[u][v]["weight"] = float(rng.integers(1, 9)) / 2
    G = networkx.relabel_nodes(G, {k: f"town {k}" for k in G})
    G.add_node("lone")
    WRITERS[suffix](G, path := tmp_path / f"towns{suffix}")
    (packed := tmp_path / f"towns{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
    expected = clmst.kruskal(clmst.Graph.from_networkx(G))
    for file in (path, packed):
        graph = read_graph(file)
        assert graph.vertex_labels == tuple(G)
        found = clmst.kruskal(graph)
        assert np.array_equal(found.edges, expected.edges)
        assert found.total_weight == expected.total_weight


@every_form
def test_numbers_are_numbers(tmp_path: Path, suffix: str) -> None:
    """Names that are all numbers become such; no weight is 1."""
    for nodes, labels in (([0, 1, 2], None), ([7, -3, 12], (7, -3, 12))):
        G = networkx.path_graph(nodes)
        WRITERS[suffix](G, path := tmp_path / f"path{suffix}")
        graph = read_graph(path)
        assert graph.vertex_labels == labels
        assert graph.weights.tolist() == [1, 1]


@every_form
def test_arcs_are_edges(tmp_path: Path, suffix: str) -> None:
    """Of parallel ones the lightest counts, as in other files."""
    D = networkx.DiGraph()
    D.add_weighted_edges_from([(0, 1, 5), (1, 0, 3), (1, 2, 4), (2, 2, 1)])
    WRITERS[suffix](D, path := tmp_path / f"arcs{suffix}")
    assert weight_by_edge(read_graph(path)) == {(0, 1): 3, (1, 2): 4}


@every_form
def test_another_attribute_is_named(tmp_path: Path, suffix: str) -> None:
    """And where none is called weight, a number is not passed over; text may hold numbers."""
    G = networkx.Graph()
    G.add_edge("a", "b", length="2.5", road="A6")
    G.add_edge("b", "c", length="7", road="A1")
    WRITERS[suffix](G, path := tmp_path / f"roads{suffix}")
    words = "no edge has the attribute 'weight', .* as source,target,length, and two names"
    with pytest.raises(FileFormatError, match=words):
        read_graph(path)
    graph = read_graph(path, columns=("source", "target", "length"))
    assert weight_by_edge(graph) == {("a", "b"): 2.5, ("b", "c"): 7}
    assert read_graph(path, columns=("source", "target")).weights.tolist() == [1, 1]
    for columns, words in (
        (("source", "target", "road"), r"attribute 'road' of edge \('a', 'b'\) is 'A6'; weights"),
        (("source", "target", "km"), "no edge has the attribute 'km', and the attributes are"),
        (("from", "to"), "called 'from' and 'to'; they are source and target in this format"),
    ):
        with pytest.raises(FileFormatError, match=words):
            read_graph(path, columns=columns)


@pytest.mark.parametrize("name", ["GraphML", "GEXF"])
@pytest.mark.parametrize("text", ["hello", "<a>", "<graphml></graphml>", "<gexf></gexf>", "<a/>"])
def test_other_text_is_refused(tmp_path: Path, name: str, text: str) -> None:
    refuses(tmp_path, f".{name.lower()}", text, f"NetworkX reads no {name} (")


def test_entities_do_not_fill_the_memory(tmp_path: Path) -> None:
    """A few hundred bytes that would be 10 GB."""
    more = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))
    text = (
        f'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a0 "aaaaaaaaaa">{more}]>'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
        '<node id="&a9;"/></graph></graphml>'
    )
    refuses(tmp_path, ".graphml", text, "NetworkX reads no GraphML (limit on input amplification")


def test_files_are_only_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="writes no graph in format graphml; the"):
        clmst.write_graph(clmst.Graph.from_edges([0], [1]), tmp_path / "a.graphml")


def test_no_vertices(tmp_path: Path) -> None:
    WRITERS[".graphml"](networkx.Graph(), path := tmp_path / "file.graphml")
    assert parse(tmp_path, ".graphml", path.read_bytes()).n_vertices == 0
