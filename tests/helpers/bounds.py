"""Lower the bounds that keep some code paths from small inputs. Tests change bounds only here.

The table names each bound that is neither an option nor a capability, and that an honest input
could reach only at great cost. The proof by volume (``tests.prove``) lowers all bounds that decide
how small graphs are solved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from clmst import route

_MADE = "generators.surrogates."
_CHUNKED = ("cliques.CHUNK", "drawn.CHUNK", "growth.CHUNK", "rows.CHUNK")
BOUNDS = {
    "arranged_from": "route.LIMITS.device_order",
    "arrow_from": "io.edge_text.ARROW_BYTES",
    "checked_from": "route.LIMITS.device_check",
    "checkpoint_pace": "scale.driver.PACE",
    "checkpoint_seconds": "scale.driver.SECONDS_BETWEEN",
    "csgraph_any_order_below": "route.LIMITS.host_unsorted_tree",
    "csgraph_equal_below": "route.LIMITS.host_equal_tree",
    "dense_at_once": "route.LIMITS.one_work_group",
    "dense_part_from": "route.LIMITS.dense_part",
    "dense_short_ids": "algorithms.dense.workspace._SHORT_IDS",
    "equal_slots": "route.LIMITS.equal_weights",
    "expansion_free": "io.files.FREE_EXPANSION",
    "expansion_times": "io.files.MAX_EXPANSION",
    "filled_by_driver": "runtime.launcher.MOST_FILLED",
    "filter_boruvka_vertices": "algorithms.filter_boruvka.MAX_VERTICES",
    "forest_per_lost_edge": "route.LIMITS.forest_per_lost_edge",
    "hierarchy_alone_from": "route.LIMITS.hierarchy_alone",
    "hierarchy_from": "route.LIMITS.hierarchy",
    "k_core_capacity": "algorithms.k_core.core_numbers.SERIAL_CAPACITY",
    "k_core_group_budget": "algorithms.k_core.core_numbers.GROUP_BUDGET",
    "k_core_serial_budget": "algorithms.k_core.core_numbers.SERIAL_BUDGET",
    "known_points": "algorithms.points_self_test.VERTICES",
    "kruskal_word_bits": "core.kruskal._WORD",
    "lock_looks": "algorithms.edge_parallel.solve._PATIENCE",
    "marked_from": "algorithms.filter_boruvka.cpu.MARKED_FROM",
    "patience_seconds": "core.long_work.PATIENCE",
    "prim_edges": "route.LIMITS.prim_once",
    "prim_steps": "algorithms.prim.solve.STEPS_A_LAUNCH",
    "prim_vertices": "route.LIMITS.prim",
    "one_pass": "primitives.chain.is_taken",
    "range_step": "core.partition.RANGE_STEP",
    "lost_at_once": "route.LIMITS.lost_at_once",
    "edges_per_lost_edge": "route.LIMITS.edges_per_lost_edge",
    "resident_forest": "route.LIMITS.resident_forest",
    "round_alone": "route.LIMITS.serial_round",
    "vertices_per_kept_change": "route.LIMITS.vertices_per_kept_change",
    "ranking_lanes": "primitives.radix.RANKING_LANES",
    "segment_capacity": "algorithms.filter_boruvka.cpu.usual_capacity",
    "selection_serial": "route.LIMITS.selection_serial",
    "serial_tile": "primitives.radix._SERIAL_TILE",
    "series_from": "route.LIMITS.series",
    "host_compared": "route.LIMITS.host_compared",
    "host_components": "route.LIMITS.host_components",
    "host_lists": "route.LIMITS.host_lists",
    "slots_on_host": "route.LIMITS.host",
    "small_cells": "route.LIMITS.small_complete",
    "small_edges": "route.LIMITS.small_list",
    "small_slots": "route.LIMITS.small_matrix",
    "small_slots_in_any_order": "route.LIMITS.small_unsorted_matrix",
    "stream_joined_below": "scale.rows.JOINED",
    "stream_opens_from": "route.LIMITS.stream_on_device",
    "stream_patience": "scale.driver.PATIENCE",
    "stream_rows_from": "scale.sinks.LEAST_ROWS",
    "stream_blocks": "scale.sinks.BLOCKS",
    "stream_rows": "scale.sinks.ROWS",
    "surrogate_block": f"{_MADE}drawn.BLOCK {_MADE}lattice.BLOCK {_MADE}rows.BLOCK",
    "surrogate_chunk": " ".join(_MADE + one for one in _CHUNKED),
    "text_block": "io.text.BLOCK_BYTES",
    "topology_run": "core.topology._SLOTS_A_RUN",
    "warm_from": "route.LIMITS.warm_start route.LIMITS.warm_start_resident",
    "warm_most_left": "route.LIMITS.warm_start_candidates",
    "weights_checked_from": "route.LIMITS.weights_on_host",
    "worklist_capacities": "algorithms.filter_boruvka.workspace.usual_capacities",
}


# The bounds that are set at present, the latest one last, and the usual value of each of them.
# Overlapping blocks may end in any order, because a fixture that asks pytest for another one during
# its set-up ends first.
_SET: list[dict[tuple[str, str], Any]] = []
_USUAL: dict[tuple[str, str], Any] = {}


@contextmanager
def bounds(**values: Any) -> Iterator[None]:
    """Set some bounds, by their names in BOUNDS, while the body runs. Also a decorator of tests."""
    places = [(place, values[name]) for name in values for place in BOUNDS[name].split()]
    mine = {}
    for place, value in places:
        owner, _, attribute = place.rpartition(".")
        mine[owner, attribute] = value
    for owner, attribute in mine.keys() - {place for one in _SET for place in one}:
        _USUAL[owner, attribute] = getattr(_owner(owner), attribute)
    _SET.append(mine)
    try:
        _put_in_force(mine)
        yield
    finally:
        _SET[:] = [others for others in _SET if others is not mine]
        _put_in_force(mine)


def in_force() -> list[dict[tuple[str, str], Any]]:
    """Return the bounds that are set now, the latest last."""
    return list(_SET)


def _put_in_force(places: Iterable[tuple[str, str]]) -> None:
    """Give each bound the value that was set last and still holds, or else its usual value."""
    for owner, attribute in places:
        value = usual = _USUAL[owner, attribute]
        for one in _SET:
            if (owner, attribute) in one:
                value = one[owner, attribute]
                if isinstance(usual, dict):  # by kind of device
                    value = dict.fromkeys(usual, value)
        if owner == "route.LIMITS":
            object.__setattr__(route.LIMITS, attribute, value)  # frozen for all others
        else:
            setattr(_owner(owner), attribute, value)


def _owner(name: str) -> Any:
    """Return the object that has a bound: a module of clmst, or the router's limits."""
    return route.LIMITS if name == "route.LIMITS" else import_module(f"clmst.{name}")
