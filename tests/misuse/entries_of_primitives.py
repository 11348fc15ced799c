"""Valid calls of primitives, operators and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import clmst
from clmst import drawing
from clmst import primitives as p
from clmst.algorithms.dendrogram.condense import ROW
from clmst.points.leaf_persistence import TRACE
from clmst.runtime.launcher import Launcher
from tests.misuse.entries import used
from tests.misuse.world import WORLD as W
from tests.misuse.world import Later, World

Valid = tuple[str, Any, dict[str, Any]]

LAUNCH: Any = Later(lambda w: Launcher(w.device, w.device.queue))
ENDS = dict(launch=LAUNCH)
U4 = np.dtype("u4")


def every() -> Iterator[Valid]:
    """Yield all of them."""
    for group in (_operators, _scans, _selections, _moves, _maps, _drawing):
        yield from group()


def _combined(world: World, monoid: Any) -> Any:
    return p.reduce(world.words(), monoid=monoid).to_host()


def _call_predicate(world: World) -> Callable[..., Any]:
    rule = p.Predicate(
        dtype=U4, expression="x < limit || table[i] > limit",
        scalars={"limit": "u4"}, arrays={"table": "u4"},
    )  # fmt: skip
    return lambda **given: _kept(world, rule(**given))


def _kept(world: World, predicate: Any) -> Any:
    return p.compact(world.words(), predicate=predicate)[1].to_host()


def _mapped(world: World, function: Any) -> Any:
    return p.map(world.words(), function).to_host()


def _operators() -> Iterator[Valid]:
    total = dict(dtype="u4", combine="a + b", identity="0", commutative=True)
    yield "Monoid", used(p.Monoid, _combined), total
    for name in ("sum", "product", "minimum", "maximum", "bitwise_and", "bitwise_or",
                 "bitwise_xor"):  # fmt: skip
        yield f"Monoid.{name}", getattr(p.Monoid, name), dict(dtype="u4")
    yield "Monoid.minimum_by_key", p.Monoid.minimum_by_key, dict(key="u4")
    large = dict(dtype="u4", expression="x > 1")
    yield "Predicate", used(p.Predicate, _kept), large
    yield "Predicate.__call__", Later(_call_predicate), dict(limit=3, table=W.words())
    next_one = dict(dtype="u4", expression="x + 1", result="u2")
    yield "Map", used(p.Map, _mapped), next_one
    yield "pair_of", p.pair_of, dict(first="u4", second="f4", names=("key", "index"))


def _scans() -> Iterator[Valid]:
    common = dict(values=W.words(), monoid=p.Monoid.sum("u4"), out=W.empty())
    flags = dict(flags=W.flags())
    yield "reduce", p.reduce, dict(**common, **ENDS)
    chosen = dict(strategy="reduce-then-scan", launch=LAUNCH)
    for scan in (p.exclusive_scan, p.inclusive_scan):
        yield scan.__name__, scan, dict(**common, total=W.empty(1), **chosen)
    yield "segmented_scan", p.segmented_scan, dict(**common, **flags, **ENDS)
    yield "segmented_reduce, flags", p.segmented_reduce, dict(**common, **flags, **ENDS)
    offsets = dict(offsets=W.words(9))
    yield "segmented_reduce, offsets", p.segmented_reduce, dict(**common, **offsets, **ENDS)
    bytes_out = dict(out=W.empty(8, "u1"), launch=LAUNCH)
    yield "head_flags", p.head_flags, dict(**offsets, length=8, **bytes_out)
    yield "end_flags", p.end_flags, dict(**flags, **bytes_out)


def _selections() -> Iterator[Valid]:
    outputs = dict(out=W.empty(), count=W.empty(1), **ENDS)
    values = dict(values=W.words(), values_out=W.empty())
    how: dict[str, Any] = dict(flags=W.flags(), predicate=p.Predicate(dtype=U4, expression="x > 1"))
    for select in (p.compact, p.partition):
        most = dict(at_most=8) if select is p.compact else {}
        for name, chosen in how.items():
            given = dict(records=W.words(), **values, **outputs, **most)
            yield f"{select.__name__}, {name}", select, given | {name: chosen}
    yield "positions", p.positions, dict(flags=W.flags(), at_most=8, **outputs)
    yield "unique_by_key", p.unique_by_key, dict(keys=W.words(), at_most=8, **values, **outputs)


def _moves() -> Iterator[Valid]:
    for move in (p.gather, p.scatter):
        given = dict(values=W.words(), indices=W.words(), out=W.empty(), launch=LAUNCH)
        yield move.__name__, move, given
    bits = dict(key_bits=3, values=W.words(), values_out=W.empty())
    yield "split", p.split, dict(records=W.words(), **bits, out=W.empty(), **ENDS)
    keys = dict(keys=W.words())
    yield "sort", p.sort, dict(**keys, out=W.empty(), **ENDS)
    records = dict(keys=W.empty(8, "f4,u4"), key="f0", out=W.empty(8, "f4,u4"))
    yield "sort, by a field", p.sort, dict(**records, **ENDS)
    yield "sort_by_key", p.sort_by_key, dict(**keys, **bits, keys_out=W.empty(), **ENDS)
    yield "argsort", p.argsort, dict(**keys, out=W.empty(), **ENDS)


def _maps() -> Iterator[Valid]:
    next_one = p.Map(dtype=U4, expression="x + 1")
    given = dict(values=W.words(), out=W.empty(), **ENDS)
    yield "map", p.map, dict(**given, function=next_one)
    yield "histogram", p.histogram, dict(**given, n_bins=8, bin_of=next_one)


def _drawing() -> Iterator[Valid]:
    look = dict(title="a", ax=None, legend=True)
    common = dict(graph=W.graph, path="drawn.png", max_edges=10, **look)
    yield "draw_forest", drawing.draw_forest, dict(**common, forest=W.forest)
    yield (
        "draw_change",
        drawing.draw_change,
        dict(**common, before=W.forest, after=W.forest, window=(0.0, -3.0, 3.0, 0.0)),
    )
    line = np.array([[0, 1, 1, 2], [2, 3, 2, 3]], float)
    three: dict[str, Any] = dict(labels=np.array([0, 0, 1]), path="clusters.png", **look)
    names = dict(names=["a", "b", "c"])
    yield "draw_dendrogram", drawing.draw_dendrogram, dict(linkage=line, **names, **three)
    forest = clmst.kruskal(clmst.Graph.from_edges([0, 2], [2, 1], [1, 2]))
    map_of = dict(points=np.eye(3)[:, :2], forest=forest, **three)
    yield "draw_clusters", drawing.draw_clusters, dict(**map_of, tree=False)
    tree = np.array([(2, 0, 1.0, 1), (2, 1, 2.0, 1)], ROW)
    shown = dict(tree=tree, path="tree.png", selected=[2], **look)
    yield "draw_condensed_tree", drawing.draw_condensed_tree, shown
    trace = np.array([(2, 4.0, 2, True), (5, 0.0, 0, False)], TRACE)
    sums = dict(trace=trace, path="sums.png", selected=2, **look)
    yield "draw_persistence", drawing.draw_persistence, sums
    if find_spec("plotly"):
        page: dict[str, Any] = dict(labels=np.array([0, 0, 1]), path="a.html", title="a", **names)
        yield "explore_dendrogram", drawing.explore_dendrogram, dict(linkage=line, **page)
        map_of = dict(points=np.eye(3)[:, :2], forest=forest, **page)
        yield "explore_clusters", drawing.explore_clusters, map_of
    yield "layout", drawing.layout, dict(graph=W.graph)
