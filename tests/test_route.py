"""The router: each of its limits, by facts alone. No device takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from clmst import route
from clmst.route import (
    BOXES,
    EQUAL,
    HOST,
    LIMITS,
    PRIM_POINTS,
    RECORDS,
    ROWS,
    SMALL,
    STEPS,
    TILES,
    TURNS,
    DeviceFacts,
    Limits,
    PointFacts,
    SparseFacts,
    Way,
)
from tests.helpers.bounds import bounds

CPU = DeviceFacts(alone=True, compute_units=2, host_arrays="shared", doubles=True)
GPU = DeviceFacts(alone=False, compute_units=132, host_arrays="copied", doubles=True)
OTHERS_THAN_CPU = replace(CPU, host_arrays="wrapped")  # PoCL takes copies of small arrays


def sparse(m: int, device: DeviceFacts | None = CPU, **facts: Any) -> SparseFacts:
    """Return facts about a matrix of `m` entries in canonical order, with weights that differ."""
    known = {"form": "matrix", "n_vertices": 10, "equal": False, "canonical": True, **facts}
    return SparseFacts(n_entries=m, device=device, **known)


def points(n: int, device: DeviceFacts = CPU, **facts: Any) -> PointFacts:
    """Return facts about points in the plane."""
    return PointFacts(n=n, device=device, **{"dimensions": 2, "boxed": True, **facts})


def prim(n: int, m: int = 0, *, symmetric: bool = True) -> Way:
    """Return which of two algorithms comes first."""
    first = route.prefers_prim(alone=True, n_vertices=n, n_slots=m, symmetric=symmetric)
    return Way("prim" if first else "filter-boruvka", "")


def converted(m: int, device: DeviceFacts) -> Way:
    """Return who brings a matrix into CSR form."""
    on_host = route.converts_on_host(m, device, equal=False)
    return Way("host" if on_host else "device", "")


def yes(holds: bool) -> Way:
    """Return a choice between two."""
    return Way("yes" if holds else "no", "")


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
        lambda units: SPARSE(sparse(LIMITS.small_matrix // 8, replace(CPU, compute_units=units))),
        100, SMALL, SMALL,  # more than 16 units lower no limit
    ),
    "equal_weights": (lambda m: SPARSE(sparse(m, equal=True)), LIMITS.equal_weights, EQUAL, STEPS),
    "host": (lambda m: SPARSE(sparse(m, GPU)), LIMITS.host, HOST, STEPS),
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
    "rounds_in_one_launch": (
        lambda n: yes(route.takes_all_rounds_in_one_launch(n)), LIMITS.rounds_in_one_launch,
        "yes", "no",
    ),
    "products": (
        lambda d: yes(route.may_take_products(1 << 10, d, alone=False)),
        (LIMITS.products >> 20) - 1, "no", "yes",
    ),
    "products_alone": (
        lambda d: yes(route.may_take_products(1 << 10, d, alone=True)),
        (LIMITS.products_alone >> 20) - 1, "no", "yes",
    ),
    "serial_merges": (
        lambda n: yes(route.merges_serially(n, GPU)), LIMITS.serial_merges, "yes", "no",
    ),
    "condensed_tiles": (
        lambda n: yes(route.condenses_in_one_launch(n, 256, GPU)), 256 * LIMITS.condensed_tiles,
        "yes", "no",
    ),
    "device_sort": (
        lambda m: yes(route.sorts_on_device(m, GPU)), LIMITS.device_sort - 1, "no", "yes",
    ),
    "flat_dimensions": (
        lambda d: TREE(points(100, GPU, dimensions=d)), LIMITS.flat_dimensions, ROWS, TILES,
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


def test_the_page_has_the_limits() -> None:
    page = Path(__file__).parents[1] / "docs" / "algorithms.md"
    if not page.exists():
        pytest.skip("installed without the pages")
    assert route.limits_table() in page.read_text(encoding="utf-8")


def test_limits_are_divided_among_compute_units() -> None:
    """More compute units make the steps quicker, so one work-item is given less."""
    for units, most in ((1, 1), (2, 1), (4, 2), (16, 8), (128, 8)):
        device = replace(CPU, compute_units=units)
        m = LIMITS.small_matrix // most
        assert route.way_of_sparse(sparse(m, device)).record == SMALL
        assert route.way_of_sparse(sparse(m + 1, device)).record == STEPS


def every_sparse() -> Iterator[SparseFacts]:
    """Yield facts of every combination, none of which has been read from the data."""
    sizes = (0, 1, 10**4, 10**5, 10**6, 10**8)
    forms: tuple[Any, ...] = ("matrix", "graph", "list", "complete")
    devices = (None, CPU, GPU, OTHERS_THAN_CPU, replace(CPU, host_arrays="copied"))
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
                known = replace(known, **{way.asks: answers[way.asks]})
            assert len(asked) == len(set(asked)) <= 2
            assert way.record in RECORDS
            assert way.because
            if way.record in (EQUAL, SMALL):  # there is always another way
                refused = replace(known, refused=frozenset({way.record}), equal=equal)
                assert route.way_of_sparse(replace(refused, canonical=canonical)) != way


def test_a_fact_that_does_not_matter_is_not_read() -> None:
    """A large matrix on a GPU has neither its weights nor its order looked at."""
    for facts in every_sparse():
        if facts.device is GPU and not facts.by_entry:
            assert route.way_of_sparse(facts).asks == ""


def test_a_named_device_is_not_replaced_by_the_host() -> None:
    for facts in every_sparse():
        if facts.device is not None and not facts.host_allowed and not facts.by_entry:
            known = replace(facts, equal=False, canonical=False)
            assert route.way_of_sparse(known).record != HOST


def test_without_a_device_the_host_solves() -> None:
    for facts in every_sparse():
        if facts.device is None:
            assert route.way_of_sparse(facts).record == HOST


def test_points_have_a_way_on_every_device() -> None:
    for n, d, device in product((1, 100, 10**4, 10**6), (0, 1, 2, 8, 12, 13, 400), (CPU, GPU)):
        for maximum, automatic in product((False, True), repeat=2):
            facts = points(n, device, dimensions=d, boxed=d > 0, maximum=maximum)
            way = route.way_of_complete(replace(facts, automatic=automatic))
            assert way.record in RECORDS
            if maximum or not automatic:
                assert way.record in (TILES, ROWS)
            for k in (1, 10, 1000):
                near = route.way_of_core_distances(replace(facts, neighbours=k))
                assert near.record in RECORDS
    assert route.way_of_core_distances(points(9, replace(GPU, doubles=False))).record == HOST
    assert route.way_of_core_distances(points(9, boxed=False)).record == HOST


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
