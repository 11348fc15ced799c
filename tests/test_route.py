"""The router: each of its limits, by facts alone. No device takes part."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clmst import route
from clmst.core import clusters
from clmst.core.graph import Graph
from clmst.route import (
    BOXES,
    EQUAL,
    HOST,
    LIMITS,
    PASSES,
    PRIM_POINTS,
    RECORDS,
    REDUCED,
    REDUCED_ON_HOST,
    ROWS,
    SMALL,
    STEPS,
    TILES,
    TURNS,
    DeviceFacts,
    Limits,
    PointFacts,
    SparseFacts,
    StreamFacts,
    Way,
)
from clmst.route.limits import MEASURED
from clmst.runtime import source
from tests.helpers.bounds import bounds

CPU = DeviceFacts(alone=True, compute_units=2, host_arrays="shared")
GPU = DeviceFacts(alone=False, compute_units=132, host_arrays="copied")
OTHERS_THAN_CPU = CPU._replace(host_arrays="wrapped")  # PoCL takes copies of small arrays


def sparse(m: int, device: DeviceFacts | None = CPU, **facts: Any) -> SparseFacts:
    """Return facts about a matrix of `m` entries in canonical order, with weights that differ."""
    known = {"form": "matrix", "n_vertices": 10, "equal": False, "canonical": True, **facts}
    return SparseFacts(n_entries=m, device=device, **known)


def points(n: int, device: DeviceFacts = CPU, **facts: Any) -> PointFacts:
    """Return facts about points in the plane."""
    return PointFacts(
        n=n, device=device, **{"dimensions": 2, "boxed": True, "unrounded": True, **facts}
    )


def prim(n: int, m: int = 0, *, symmetric: bool = True) -> Way:
    """Return which of two algorithms comes first."""
    first = route.prefers_prim(alone=True, n_vertices=n, n_slots=m, symmetric=symmetric)
    return Way("prim" if first else "filter-boruvka", "")


def converted(m: int, device: DeviceFacts) -> Way:
    """Return who brings a matrix into CSR form."""
    on_host = route.converts_on_host(m, device, equal=False)
    return Way("host" if on_host else "device", "")


def either(decide: Callable[..., bool]) -> Callable[[int], Way]:
    """Return a decision between two as a way: "yes" or "no"."""
    return lambda size: Way("yes" if decide(size) else "no", "")


def filters_sparse(n_edges: int) -> bool:
    """Return whether light edges go first in a graph of degree 4 under a policy."""
    return route.light_edges_first(
        4, n_edges, filter_degree=2, dense_degree=8, filter_edges=1000
    )  # fmt: skip


def streamed(n_new: int, n_vertices: int = 10, **facts: Any) -> Way:
    """Return the way of a stream of so many edges so far."""
    known = {"n_forest": 0, **facts}
    return route.way_of_stream(StreamFacts(n_new=n_new, n_vertices=n_vertices, **known))


def yes(holds: bool) -> Way:
    """Return the answer to a question that is not about a record."""
    return Way("yes" if holds else "no", "")


def is_dense_part(n: int) -> bool:
    """Return whether a clique of so many vertices is a dense part, which one device solves."""
    u, v = np.triu_indices(n, 1)
    edges = Graph.from_edges(u, v, np.zeros(u.size), n_vertices=n)
    cores = np.full(n, n - 1)
    return clusters.dense_parts(edges, cores, least=LIMITS.dense_part, most=n).count == 1


SPARSE, TREE, CORE = route.way_of_sparse, route.way_of_complete, route.way_of_core_distances

# For each limit: what is decided as a function of a size, the last size on one side, the record
# there, and the record of the next size.
CORNERS: dict[str, tuple[Callable[[int], Way], int, str, str]] = {
    "small_matrix": (lambda m: SPARSE(sparse(m)), LIMITS.small_matrix, SMALL, STEPS),
    "small_unsorted_matrix": (
        lambda m: SPARSE(sparse(m, canonical=False)), LIMITS.small_unsorted_matrix, SMALL, STEPS,
    ),
    "small_list": (lambda m: SPARSE(sparse(m, form="list")), LIMITS.small_list, SMALL, STEPS),
    "small_complete": (
        lambda m: SPARSE(sparse(m, form="complete")), LIMITS.small_complete, SMALL, STEPS,
    ),
    "serial_compute_units": (
        lambda units: SPARSE(sparse(LIMITS.small_matrix // 8, CPU._replace(compute_units=units))),
        100, SMALL, SMALL,  # more than 16 units lower no limit
    ),
    "equal_weights": (lambda m: SPARSE(sparse(m, equal=True)), LIMITS.equal_weights, EQUAL, STEPS),
    "host": (lambda m: SPARSE(sparse(m, GPU)), LIMITS.host, HOST, STEPS),
    "first_entries": (
        either(route.host_solves_first), LIMITS.first_entries, "yes", "no",
    ),
    "first_points": (
        either(route.host_compares_first), LIMITS.first_points, "yes", "no",
    ),
    "host_conversion": (lambda m: converted(m, GPU), LIMITS.host_conversion, "host", "device"),
    "host_unsorted_tree": (
        lambda m: SPARSE(sparse(m, GPU, by_entry=True, canonical=False)),
        LIMITS.host_unsorted_tree - 1, HOST, STEPS,
    ),
    "host_equal_tree": (
        lambda m: SPARSE(sparse(m, GPU, by_entry=True, equal=True)),
        LIMITS.host_equal_tree - 1, HOST, STEPS,
    ),
    "prim": (prim, LIMITS.prim, "prim", "filter-boruvka"),
    "prim_once": (
        lambda m: prim(10, m, symmetric=False), LIMITS.prim_once, "prim", "filter-boruvka",
    ),
    "points_by_prim": (lambda n: TREE(points(n)), LIMITS.points_by_prim, PRIM_POINTS, BOXES),
    "hierarchy_alone": (
        lambda n: TREE(points(n, refused=frozenset({PRIM_POINTS}))),
        LIMITS.hierarchy_alone - 1, ROWS, BOXES,
    ),
    "hierarchy": (lambda n: TREE(points(n, GPU)), LIMITS.hierarchy - 1, ROWS, BOXES),
    "hierarchy_dimensions": (
        lambda d: TREE(points(10**6, dimensions=d)), LIMITS.hierarchy_dimensions, BOXES, TILES,
    ),
    "one_work_group": (
        lambda n: CORE(points(n, GPU, neighbours=1)), LIMITS.one_work_group, TURNS, TILES,
    ),
    "turns": (
        lambda k: CORE(points(1024, GPU, neighbours=k)), LIMITS.turns // 1024, TURNS, TILES,
    ),
    "flat_neighbours": (
        lambda n: CORE(points(n, GPU, neighbours=9)), LIMITS.flat_neighbours - 1, TILES, BOXES,
    ),
    "listed_neighbours": (
        lambda k: CORE(points(10**6, neighbours=k)), LIMITS.listed_neighbours, BOXES, TILES,
    ),
    "flat_dimensions": (
        lambda d: TREE(points(100, GPU, dimensions=d)), LIMITS.flat_dimensions, ROWS, TILES,
    ),
    "device_check": (either(route.device_checks), LIMITS.device_check - 1, "no", "yes"),
    "device_order": (either(route.device_orders), LIMITS.device_order - 1, "no", "yes"),
    "host_parallel": (either(route.host_merges_parallel), LIMITS.host_parallel, "no", "yes"),
    "host_complete": (either(route.host_lists_complete), 11_585, "yes", "no"),
    "host_lists": (
        either(lambda n: route.grows_from_lists(n, boxed=True, maximum=False)),
        LIMITS.host_lists - 1, "no", "yes",
    ),
    "host_tree_dimensions": (
        either(lambda d: route.searches_boxes(10_000, d)), LIMITS.host_tree_dimensions, "yes", "no",
    ),
    "host_pairs": (
        either(lambda n: route.searches_boxes(n, 8)), LIMITS.host_pairs, "no", "yes",
    ),
    "host_pairs_dimensions": (
        either(lambda d: route.searches_boxes(1000, d)),
        LIMITS.host_pairs_dimensions - 1, "yes", "no",
    ),
    "host_coordinates": (
        either(route.computes_without_scipy), LIMITS.host_coordinates, "yes", "no",
    ),
    "host_tree_dimensions_of_new": (
        either(lambda d: route.searches_boxes(1000, d, of_new=True)),
        LIMITS.host_tree_dimensions_of_new, "yes", "no",
    ),
    "host_components": (
        either(lambda k: route.compares_boxes(k, 10**6, 2)), LIMITS.host_components, "yes", "no",
    ),
    "host_compared": (
        either(lambda m: route.ends_comparison(m, 100)), 100 * LIMITS.host_compared, "no", "yes",
    ),
    "networkx": (either(route.pays_for_networkx), LIMITS.networkx - 1, "no", "yes"),
    "filter_sparse_times": (
        either(filters_sparse), 1000 * LIMITS.filter_sparse_times - 1, "no", "yes",
    ),
    "one_launch": (either(route.in_one_launch), LIMITS.one_launch, "yes", "no"),
    "products_alone": (
        either(lambda d: route.long_enough_for_products(1024, d, alone=True)),
        LIMITS.products_alone // 1024**2 - 1, "no", "yes",
    ),
    "products": (
        either(lambda d: route.long_enough_for_products(1024, d, alone=False)),
        LIMITS.products // 1024**2 - 1, "no", "yes",
    ),
    "device_sort": (
        either(lambda m: route.device_sorts(m, alone=False)), LIMITS.device_sort - 1, "no", "yes",
    ),
    "serial_dendrogram": (
        either(lambda n: route.one_merges(n, alone=False)), LIMITS.serial_dendrogram, "yes", "no",
    ),
    "condensed_tiles": (
        either(lambda n: route.condenses_in_one_launch(n, 256, alone=False)),
        256 * LIMITS.condensed_tiles, "yes", "no",
    ),
    "stream_on_device": (streamed, LIMITS.stream_on_device - 1, REDUCED_ON_HOST, REDUCED),
    "forest_per_lost_edge": (
        either(lambda n: route.keeps_trees(n, 3)), 3 * LIMITS.forest_per_lost_edge - 1, "no", "yes",
    ),
    "resident_forest": (
        lambda m: yes(route.stays_on_device(m, GPU)), LIMITS.resident_forest - 1, "no", "yes",
    ),
    "edges_per_lost_edge": (
        # Up to a sixteenth of the weights are looked at in passes of their own.
        either(lambda n: bool(route.shares_of_passes(n, 1 << 20))),
        (1 << 16) // LIMITS.edges_per_lost_edge, "yes", "no",
    ),
    "lost_at_once": (
        lambda n: yes(bool(route.shares_of_passes(n, 1 << 30))), LIMITS.lost_at_once - 1, "no",
        "yes",
    ),
    "vertices_per_edge": (
        lambda n: streamed(1 << 20, n), LIMITS.vertices_per_edge << 20, REDUCED, REDUCED_ON_HOST,
    ),
    "stream_filter": (
        lambda m: yes(route.filters_on_host(m, 1000)), 1000 * LIMITS.stream_filter - 1, "no", "yes",
    ),
    "streamed_part": (
        lambda m: yes(route.streams_instead(m, 1000 * LIMITS.streamed_part)), 999, "no", "yes",
    ),
    "dense_part": (lambda n: yes(is_dense_part(n)), LIMITS.dense_part - 1, "no", "yes"),
    "serial_round": (
        lambda m: yes(route.solves_round_alone(2, m, CPU)), LIMITS.serial_round, "yes", "no",
    ),
    "serial_changes": (
        lambda m: yes(route.takes_rounds_alone(m, CPU)), LIMITS.serial_changes, "yes", "no",
    ),
    "edges_per_change": (
        lambda m: yes(route.most_changes(m) == 0), LIMITS.edges_per_change - 1, "yes", "no",
    ),
    "vertices_per_kept_change": (
        lambda n: yes(route.most_kept_changes(n) == 0), LIMITS.vertices_per_kept_change - 1, "yes",
        "no",
    ),
    "rounds_without_keeping": (
        lambda n: yes(route.rounds_without_keeping(8) == n), LIMITS.rounds_without_keeping, "yes",
        "no",
    ),
    "weights_on_host": (
        lambda m: yes(route.checks_on_host(m)), LIMITS.weights_on_host - 1, "yes", "no",
    ),
    "warm_start": (
        lambda m: yes(route.has_warm_starts(m, one_launch=False)), LIMITS.warm_start - 1,
        "no", "yes",
    ),
    "warm_start_resident": (
        lambda m: yes(route.has_warm_starts(m, one_launch=True)), LIMITS.warm_start_resident - 1,
        "no", "yes",
    ),
    "warm_start_candidates": (
        lambda k: yes(route.warm_start_pays(k, 100)), LIMITS.warm_start_candidates, "yes", "no",
    ),
    "series": (
        lambda m: yes(route.looks_for_series(m, 1 << 30)), LIMITS.series - 1, "no", "yes",
    ),
    "series_density": (
        lambda m: yes(route.looks_for_series(m, 1 << 20)), (LIMITS.series_density << 20) // 100,
        "yes", "no",
    ),
    "series_candidates": (
        lambda k: yes(route.series_pays(k, 100)), LIMITS.series_candidates, "yes", "no",
    ),
    "scan_one_launch": (
        lambda n: yes(route.scanned_in_one_launch(n)), LIMITS.scan_one_launch, "yes", "no",
    ),
    "selection_one_launch": (
        lambda n: yes(route.selected_in_one_launch(n, 256)), 256 * LIMITS.selection_one_launch,
        "yes", "no",
    ),
    "selection_serial": (
        lambda n: yes(route.selected_in_one_launch(n, 1)), LIMITS.selection_serial, "yes", "no",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORNERS)
def test_each_limit_decides(name: str) -> None:
    decide, last, record, next_record = CORNERS[name]
    assert (decide(last).record, decide(last + 1).record) == (record, next_record)


def test_every_limit_has_a_corner_and_evidence() -> None:
    assert set(CORNERS) == {one.name for one in fields(Limits)}
    for one in fields(Limits):
        assert one.metadata["unit"], one.name
        assert len(one.metadata["evidence"]) > 20, one.name


# Limits whose measurement no page has. A limit that gets a record has to leave this list.
WITHOUT_RECORD = {
    "small_matrix", "small_unsorted_matrix", "small_complete", "serial_compute_units",
    "equal_weights", "host_unsorted_tree", "host_equal_tree", "hierarchy_alone", "turns",
    "listed_neighbours", "flat_dimensions", "device_order", "host_parallel", "host_complete",
    "host_lists", "host_pairs", "host_pairs_dimensions", "host_coordinates", "host_tree_dimensions",
    "host_tree_dimensions_of_new", "host_components", "host_compared", "filter_sparse_times",
    "device_sort", "vertices_per_edge", "forest_per_lost_edge", "streamed_part", "dense_part",
    "weights_on_host", "warm_start", "warm_start_candidates",
    "resident_forest", "edges_per_lost_edge", "lost_at_once", "vertices_per_kept_change",
    "rounds_without_keeping",
    "series", "series_density", "scan_one_launch", "selection_one_launch", "selection_serial",
}  # fmt: skip


def test_each_limit_has_a_kept_measurement_or_is_listed_as_without() -> None:
    """The page of a kept measurement has its words, and the day and the device are known."""
    assert {one.name for one in fields(Limits)} - set(MEASURED) == WITHOUT_RECORD
    assert set(MEASURED) <= {one.name for one in fields(Limits)}
    root = Path(__file__).parents[1]
    for name, one in MEASURED.items():
        assert date.fromisoformat(one.date), name
        assert one.device, name
        if (root / "docs").exists() and (root / "benchmarks").exists():
            assert one.part in " ".join((root / one.page).read_text("utf-8").split()), name


def test_the_page_has_the_limits() -> None:
    page = Path(__file__).parents[1] / "docs" / "algorithms.md"
    if not page.exists():
        pytest.skip("installed without the pages")
    text = page.read_text(encoding="utf-8")
    assert route.limits_table() in text
    assert route.records_table() in text


def test_only_the_router_knows_its_limits() -> None:
    """No other file of the product reads a limit, so none can choose a way by one.

    A message may say a limit. Kernels are built for the longest list of neighbours. The sizes of a
    part of a stream and of a dense part are computed from a limit, and so are the sizes of the
    calls that ``clmst.warm`` makes on both sides of it.
    """
    package = Path(route.__file__).parents[1]
    may = {
        "algorithms/bvh_boruvka/neighbours.py", "interop/networkx_backend.py",
        "repeated/assignments.py", "scale/capacity.py", "scale/partitions.py", "warming.py",
    }  # fmt: skip
    readers, names = set(), {one.name for one in fields(Limits)}
    for path in package.rglob("*.py"):
        if path.parent.name == "route":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_name = isinstance(node, ast.Name) and node.id in ("LIMITS", "Limits")
            is_field = isinstance(node, ast.Attribute) and node.attr in ("LIMITS", "Limits")
            if is_name or is_field:
                readers.add(path.relative_to(package).as_posix())
    assert readers == may
    compared = [
        (name, node.lineno)
        for name in sorted(may)
        for node in ast.walk(ast.parse((package / name).read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and names & {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    ]
    assert compared == []


def test_numbers_of_the_router_have_no_double() -> None:
    """A module with a limit of its own again, under the name of one that moved, would decide."""
    package = Path(route.__file__).parents[1]
    moved = {
        "FROM_SLOTS", "FROM_EDGES", "ALONE", "_FEW", "_FEWEST_EDGES", "_MOST_LISTED",
        "_LEAST_WORK", "_LEAST_WORK_ALONE", "_SERIAL_VERTICES", "_SORTED_BY_DEVICE_FROM",
        "_SPARSE_TIMES", "_TILES_OF_FEW",
    }  # fmt: skip
    found = [
        (path.name, node.id)
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in moved
    ]
    assert found == []


def test_the_dendrogram_of_one_work_item_fits_its_kernel() -> None:
    """The router's limit equals the number of vertices that fit the kernel's local memory."""
    text = source.root().joinpath("algorithms/dendrogram/serial.cl").read_text(encoding="utf-8")
    assert f"#define SERIAL_VERTICES {LIMITS.serial_dendrogram}\n" in text


def test_ways_passed_over_say_why() -> None:
    """Each rule that is passed over has a reason, with the limit if a size decided."""
    sizes = sparse(LIMITS.small_list + 1, form="list")
    reasons = dict(route.passed_over(sizes))
    assert route.way_of_sparse(sizes).record == STEPS
    assert set(reasons) == {HOST, EQUAL, SMALL}
    large = points(10**6, GPU, dimensions=13)
    assert dict(route.passed_over_complete(large)) == {
        PRIM_POINTS: "13 dimensions > 12 (hierarchy_dimensions)",
        BOXES: "13 dimensions > 12 (hierarchy_dimensions)",
    }
    near = dict(route.passed_over_core_distances(large._replace(neighbours=5)))
    assert near[TURNS] == "1,000,000 points > 2,048 (one_work_group)"
    unsure = large._replace(refused=frozenset({TILES}))
    assert route.way_of_complete(unsure).record == ROWS
    assert "self-test" in dict(route.passed_over_complete(unsure))[TILES]


def test_the_last_rule_passed_over_is_followed_by_the_answer() -> None:
    """What is passed over never has the answer, and every rule before the answer is there."""
    for facts in every_sparse():
        known = facts._replace(equal=False, canonical=True)
        way, passed = route.way_of_sparse(known), route.passed_over(known)
        assert all(why for _, why in passed)
        if way.record == SMALL:
            assert SMALL not in dict(passed)


def test_limits_are_divided_among_compute_units() -> None:
    """With more compute units the steps are quicker, so one work-item gets smaller graphs."""
    for units, most in ((1, 1), (2, 1), (4, 2), (16, 8), (128, 8)):
        device = CPU._replace(compute_units=units)
        m = LIMITS.small_matrix // most
        assert route.way_of_sparse(sparse(m, device)).record == SMALL
        assert route.way_of_sparse(sparse(m + 1, device)).record == STEPS


def every_sparse() -> Iterator[SparseFacts]:
    """Yield facts of every combination, none of which has been read from the data."""
    sizes = (0, 1, 10**4, 10**5, 10**6, 10**8)
    forms: tuple[Any, ...] = ("matrix", "graph", "list", "complete")
    devices = (None, CPU, GPU, OTHERS_THAN_CPU, CPU._replace(host_arrays="copied"))
    for form, m, device in product(forms, sizes, devices):
        for host_allowed, by_entry in product((False, True), repeat=2):
            yield SparseFacts(
                form=form, n_vertices=10, n_entries=m, device=device, host_allowed=host_allowed,
                by_entry=by_entry,
            )  # fmt: skip


def test_the_router_ends_with_a_record_it_knows() -> None:
    """Whatever the facts are, and whatever is refused, at most two facts are asked for."""
    for facts in every_sparse():
        for equal, canonical in product((False, True), repeat=2):
            answers: dict[str, Any] = {"equal": equal, "canonical": canonical}
            asked, known = [], facts
            while (way := route.way_of_sparse(known)).asks:
                asked.append(way.asks)
                known = known._replace(**{way.asks: answers[way.asks]})
            assert len(asked) == len(set(asked)) <= 2
            assert way.record in RECORDS
            assert way.because
            if way.record in (EQUAL, SMALL):  # there is always another way
                refused = known._replace(refused=frozenset({way.record}), equal=equal)
                assert route.way_of_sparse(refused._replace(canonical=canonical)) != way


def test_a_fact_that_does_not_matter_is_not_read() -> None:
    """A large matrix on a GPU has neither its weights nor its order looked at."""
    for facts in every_sparse():
        if facts.device is GPU and not facts.by_entry:
            assert route.way_of_sparse(facts).asks == ""


def test_a_named_device_is_not_replaced_by_the_host() -> None:
    for facts in every_sparse():
        if facts.device is not None and not facts.host_allowed and not facts.by_entry:
            known = facts._replace(equal=False, canonical=False)
            assert route.way_of_sparse(known).record != HOST


def test_without_a_device_the_host_solves() -> None:
    for facts in every_sparse():
        if facts.device is None:
            assert route.way_of_sparse(facts).record == HOST


def test_metrics_that_divide_are_compared_tile_by_tile() -> None:
    """In any number of dimensions, except for maximum trees; rounded distances are not."""
    for dimensions in (1, 2, 64):
        facts = points(1000, GPU, dimensions=dimensions, boxed=False)
        assert TREE(facts).record == TILES
        assert TREE(facts._replace(maximum=True)).record != TILES
    assert TREE(points(1000, GPU, boxed=False, unrounded=False)).record == ROWS


def test_points_have_a_way_on_every_device() -> None:
    for n, d, device in product((1, 100, 10**4, 10**6), (0, 1, 2, 8, 12, 13, 10**5), (CPU, GPU)):
        for maximum, automatic in product((False, True), repeat=2):
            facts = points(n, device, dimensions=d, boxed=d > 0, maximum=maximum)
            way = route.way_of_complete(facts._replace(automatic=automatic))
            assert way.record in RECORDS
            if maximum or not automatic:
                assert way.record in (TILES, ROWS)
            for k in (1, 10, 1000):
                near = route.way_of_core_distances(facts._replace(neighbours=k))
                assert near.record in RECORDS
    assert route.way_of_core_distances(points(9, unrounded=False)).record == HOST


def test_streams_have_a_way_whatever_is_known() -> None:
    """A stream goes to the device once that pays, and is read several times if memory is short."""
    n_new, n_forest = LIMITS.stream_on_device, LIMITS.stream_on_device + 1
    assert streamed(n_new, n_forest=n_forest).record == REDUCED_ON_HOST
    assert streamed(n_new, n_forest=n_forest, reduced=True).record == REDUCED
    assert streamed(n_new, refused=True).record == REDUCED_ON_HOST
    assert streamed(n_new, 0).record == REDUCED_ON_HOST
    assert streamed(0, generated=True).record == REDUCED
    assert streamed(0, generated=True, has_space=False).record == PASSES
    assert {REDUCED, REDUCED_ON_HOST, PASSES} <= set(RECORDS)


def test_primitives_read_their_input_once_where_that_pays() -> None:
    """A scan by one lane group reads it once anyway, and so does a sort of one tile."""
    most = LIMITS.scan_one_launch
    assert [route.in_one_pass("scan", n) for n in (most, most + 1)] == [False, True]
    assert [route.in_one_pass("sort", n) for n in (1, 2)] == [False, True]
    assert all(route.in_one_pass("selection", n) for n in (0, 1, 100))


def test_bounds_of_tests_may_end_in_any_order() -> None:
    """A fixture that asks pytest for another one while it is set up ends before that one."""
    outer, inner = bounds(slots_on_host=1, prim_edges=1), bounds(slots_on_host=2, prim_vertices=2)
    outer.__enter__()
    inner.__enter__()
    assert (LIMITS.host, LIMITS.prim_once, LIMITS.prim) == (2, 1, 2)
    outer.__exit__(None, None, None)
    assert (LIMITS.host, LIMITS.prim_once, LIMITS.prim) == (2, Limits().prim_once, 2)
    inner.__exit__(None, None, None)
    assert Limits() == LIMITS
