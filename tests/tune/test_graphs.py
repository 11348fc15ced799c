"""The graphs that candidates are timed on: of a size that suits the device, or those named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clmst import InvalidArgumentError, generate, write_graph
from clmst.runtime.capabilities import Capabilities
from clmst.tune import graphs
from tests.runtime.test_policy import CAPABILITIES


def vertices(capabilities: Capabilities) -> list[int]:
    """Return how many vertices the standard graphs have, as their names say."""
    found = []
    for name in graphs.standard(capabilities):
        _, _, listed = name.partition(":")
        given = dict(part.split("=") for part in listed.split(","))
        if "rows" in given:
            found.append(int(given["rows"]) * int(given["columns"]))
        else:
            found.append(int(given["n"]) if "n" in given else 1 << int(given["scale"]))
    return found


def test_standard_graphs_grow_with_the_device() -> None:
    *small, smallest = vertices(CAPABILITIES["cpu"])
    assert smallest == 2048  # for "prim"
    gpu = CAPABILITIES["gpu"]
    assert vertices(replace(gpu, global_memory=1 << 28)) == small
    some = vertices(replace(gpu, global_memory=8 << 30))
    most = vertices(replace(gpu, global_memory=140 << 30))
    assert all(a < b < c for a, b, c in zip(small, some, most, strict=True))
    assert vertices(replace(gpu, global_memory=280 << 30)) == most
    assert vertices(replace(CAPABILITIES["cpu"], global_memory=1 << 40)) == [*small, smallest]


def test_standard_graphs_can_be_made() -> None:
    (make_grid, *_) = graphs.standard(CAPABILITIES["cpu"]).values()
    assert make_grid().n_vertices == vertices(CAPABILITIES["cpu"])[0]


def test_named_family() -> None:
    (make,) = graphs.named(["grid:rows=3,columns=4,weights=equal"]).values()
    graph = make()
    assert (graph.n_vertices, set(graph.weights.tolist())) == (12, {1})


def test_named_file_and_order(tmp_path: Path) -> None:
    """What is named twice counts once."""
    write_graph(generate("path", n=9), path := tmp_path / "g.npz")
    makers = graphs.named([str(path), "path:n=5", str(path)])
    assert [make().n_vertices for make in makers.values()] == [9, 5]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("none.gr", ("none.gr is neither a file nor a graph family", "grid, road")),
        ("grid", ("grid does not give rows, columns", "grid:rows=...,columns=...")),
        ("grid:rows=3", ("does not give columns",)),
        ("path:m=3", ("the part 'm=3'", "path takes n")),
        ("path:n", ("the part 'n'",)),
        ("path:n=many", ("n is 'many'; it must be int",)),
    ],
)
def test_what_names_nothing(text: str, facts: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        graphs.named([text])
    for fact in facts:
        assert fact in str(caught.value)
