"""Rows of a NetworkX graph made all at once: what its own methods would make."""

from __future__ import annotations

import collections
from typing import Any

import networkx as nx
import numpy as np
import pytest

from clmst.interop.networkx_graph import chosen, copies_of, linked_rows


@pytest.mark.parametrize("m", [0, 1, 512, 513, 1300], ids=lambda m: f"m={m}")
def test_rows_are_those_of_a_graph(m: int) -> None:
    """Neighbours come in the order of the edges, over the borders of blocks, self-loops too."""
    rng = np.random.default_rng(m)
    labels = [("node", k) if k % 2 else f"node {k}" for k in range(200)]
    cells = rng.permutation(200 * 200)[: 4 * m]
    u, v = cells // 200, cells % 200
    u, v = u[u <= v][:m], v[u <= v][:m]
    data = [{"id": k} for k in range(u.size)]
    rows = linked_rows(list(labels), u, v, np.fromiter(data, object, len(data)))
    G = nx.Graph()
    G.add_nodes_from(labels)
    for i, j, one in zip(u.tolist(), v.tolist(), data, strict=True):
        G.add_edge(labels[i], labels[j], **one)
    assert [list(row.items()) for row in rows] == [list(row.items()) for _, row in G.adjacency()]
    for i, j, one in zip(u.tolist(), v.tolist(), data, strict=True):
        assert rows[i][labels[j]] is rows[j][labels[i]] is one


@pytest.mark.parametrize("size", [0, 1, 512, 513, 900])
def test_copies_in_the_order_that_is_asked_for(size: int) -> None:
    data: list[dict[Any, Any]] = [{"id": k} for k in range(1000)]
    positions = np.random.default_rng(size).permutation(1000)[:size]
    copies = copies_of(data, positions)
    assert copies.shape == (size,)
    assert [one["id"] for one in copies] == positions.tolist()
    assert not any(one is data[one["id"]] for one in copies)


def test_copies_are_of_dictionaries() -> None:
    """Other mappings are left to NetworkX's own methods."""
    with pytest.raises(TypeError):
        copies_of([{}, collections.UserDict()], np.array([0, 1]))  # type: ignore[list-item]


@pytest.mark.parametrize("positions", [[], [2], [2, 0, 2]])
def test_chosen_values_of_a_list(positions: list[int]) -> None:
    values = ["a", "b", "c"]
    found = chosen(values, np.array(positions, np.int64))
    assert list(found) == [values[k] for k in positions]
