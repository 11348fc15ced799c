"""Bounds that keep some ways from small inputs: each has a name here, and nobody else sets one.

What is too costly to reach by an honest input, and is neither an option nor a capability, stands in
the table. The proof by volume (``tests.prove``) lowers all that solves of small graphs go by.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_MADE = "generators.surrogates."
_CHUNKED = ("cliques.CHUNK", "drawn.CHUNK", "growth.CHUNK", "rows.CHUNK")
BOUNDS = {
    "arranged_from": "algorithms.canonical_csr.arrange.FROM_EDGES",
    "arrow_from": "io.edge_text.ARROW_BYTES",
    "checked_from": "algorithms.csr_validation.check.FROM_SLOTS",
    "checkpoint_pace": "scale.driver.PACE",
    "checkpoint_seconds": "scale.driver.SECONDS_BETWEEN",
    "csgraph_any_order_below": "csgraph.FEW_ENTRIES_IN_ANY_ORDER",
    "csgraph_equal_below": "csgraph.FEW_EQUAL_ENTRIES",
    "dense_at_once": "algorithms.dense.plan._FEW_VERTICES",
    "dense_part_from": "repeated.strategies.LEAST_DENSE",
    "dense_short_ids": "algorithms.dense.plan._SHORT_IDS",
    "equal_slots": "algorithms.equal_weights.solve.MOST_SLOTS",
    "expansion_free": "io.files.FREE_EXPANSION",
    "expansion_times": "io.files.MAX_EXPANSION",
    "filled_by_driver": "runtime.launcher.MOST_FILLED",
    "filter_boruvka_vertices": "algorithms.filter_boruvka.MAX_VERTICES",
    "hierarchy_from": "algorithms.bvh_boruvka.choice._LEAST_POINTS",
    "k_core_capacity": "algorithms.k_core.core_numbers.SERIAL_CAPACITY",
    "k_core_group_budget": "algorithms.k_core.core_numbers.GROUP_BUDGET",
    "k_core_serial_budget": "algorithms.k_core.core_numbers.SERIAL_BUDGET",
    "known_points": "algorithms.points_self_test.VERTICES",
    "kruskal_word_bits": "core.kruskal._WORD",
    "lock_looks": "algorithms.edge_parallel.solve._PATIENCE",
    "marked_from": "algorithms.filter_boruvka.cpu.MARKED_FROM",
    "patience_seconds": "core.long_work.PATIENCE",
    "prim_edges": "algorithms.prim.MOST_EDGES",
    "prim_steps": "algorithms.prim.solve.STEPS_A_LAUNCH",
    "prim_vertices": "algorithms.prim.MOST_VERTICES",
    "one_pass": "primitives.chain.is_taken",
    "range_step": "core.partition.RANGE_STEP",
    "ranking_lanes": "primitives.radix.RANKING_LANES",
    "segment_capacity": "algorithms.filter_boruvka.cpu.usual_capacity",
    "serial_tile": "primitives.radix._SERIAL_TILE",
    "series_from": "algorithms.reweighting.series._LEAST_EDGES",
    "slots_on_host": "algorithms.small_matrix.solve.MOST_SLOTS_ON_HOST",
    "small_cells": "algorithms.small_matrix.solve.MOST_CELLS",
    "small_edges": "algorithms.small_matrix.solve.MOST_EDGES",
    "small_slots": "algorithms.small_matrix.solve.MOST_SLOTS",
    "small_slots_in_any_order": "algorithms.small_matrix.solve.MOST_SLOTS_IN_ANY_ORDER",
    "stream_joined_below": "scale.rows.JOINED",
    "stream_opens_from": "scale.sinks.OPEN_FROM",
    "stream_patience": "scale.driver.PATIENCE",
    "stream_rows_from": "scale.stream_sink.LEAST_ROWS",
    "stream_blocks": "scale.stream_sink.BLOCKS",
    "stream_rows": "scale.stream_sink.ROWS",
    "surrogate_block": f"{_MADE}drawn.BLOCK {_MADE}lattice.BLOCK {_MADE}rows.BLOCK",
    "surrogate_chunk": " ".join(_MADE + one for one in _CHUNKED),
    "text_block": "io.text.BLOCK_BYTES",
    "topology_run": "core.topology._SLOTS_A_RUN",
    "warm_from": "algorithms.reweighting.warm_start._LEAST_EDGES",
    "warm_most_left": "algorithms.reweighting.warm_start._MOST_LEFT",
    "weights_checked_from": "repeated.weights.DEVICE_CHECKS_FROM",
    "worklist_capacities": "algorithms.filter_boruvka.plan.usual_capacities",
}


@contextmanager
def bounds(**values: Any) -> Iterator[None]:
    """Set some bounds for a while; also a decorator of tests."""
    saved = []
    try:
        for place, value in [(at, values[name]) for name in values for at in BOUNDS[name].split()]:
            path, _, attribute = place.rpartition(".")
            module = import_module(f"clmst.{path}")
            usual = getattr(module, attribute)
            saved.append((module, attribute, usual))
            by_kind = isinstance(usual, dict)  # of devices
            setattr(module, attribute, dict.fromkeys(usual, value) if by_kind else value)
        yield
    finally:
        for module, attribute, usual in reversed(saved):
            setattr(module, attribute, usual)
