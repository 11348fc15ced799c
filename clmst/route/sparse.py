"""The way of a graph that lists its edges: the first rule that has an answer decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from clmst.route.facts import DeviceFacts, SparseFacts, Way, ask
from clmst.route.limits import LIMITS
from clmst.route.records import EQUAL, HOST, SMALL, STEPS


def way_of_sparse(facts: SparseFacts) -> Way:
    """Return the way of a graph that lists its edges, or of a small complete graph.

    The first rule that has an answer decides.
    """
    rules = _TREE_RULES if facts.by_entry else _FOREST_RULES
    for rule in rules:
        way = rule(facts)
        if way is not None:
            return way
    return Way(STEPS, f"{facts.n_entries:,} edges or entries")


def _without_device(facts: SparseFacts) -> Way | None:
    """Take the host if there is nothing else."""
    return Way(HOST, "there is no device") if facts.device is None else None


def _equal_weights(facts: SparseFacts) -> Way | None:
    """Take one launch for a matrix of equal weights, if one work-item reads the host's arrays."""
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if facts.form != "matrix" or device is None or EQUAL in facts.refused:
        return None
    if not device.alone or device.host_arrays != "shared" or size > LIMITS.equal_weights:
        return None
    if facts.equal is None:
        return ask("equal")
    return Way(EQUAL, f"{facts.n_entries:,} entries of equal weights") if facts.equal else None


def _one_launch(facts: SparseFacts) -> Way | None:
    """Take one launch for what one work-item solves sooner than all compute units together."""
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if device is None or not device.serial or SMALL in facts.refused or facts.n_entries == 0:
        return None
    most = _for_units(_serial_limit(facts), device)
    if size <= most:
        return Way(SMALL, f"{size:,} of at most {most:,} for one work-item")
    most = _for_units(LIMITS.small_unsorted_matrix, device)
    if facts.form != "matrix" or size > most:
        return None
    if facts.canonical is None:
        return ask("canonical")
    reason = f"{size:,} in any order, of at most {most:,} for one work-item"
    return None if facts.canonical else Way(SMALL, reason)


def _serial_limit(facts: SparseFacts) -> int:
    """Return the limit for one work-item beside two compute units."""
    if facts.form == "list":
        return LIMITS.small_list
    return LIMITS.small_complete if facts.form == "complete" else LIMITS.small_matrix


def _for_units(limit: int, device: DeviceFacts) -> int:
    """Return a limit that is for two compute units, for those that a device has."""
    return 2 * limit // min(max(device.compute_units, 2), LIMITS.serial_compute_units)


def _small_on_host(facts: SparseFacts) -> Way | None:
    """Take the host for what is too small for a device that has a memory of its own."""
    device = facts.device
    by_device = device is not None and device.serial and SMALL not in facts.refused
    if not facts.host_allowed or by_device or facts.form == "complete":
        return None
    return _few_entries(facts)


def _few_entries(facts: SparseFacts) -> Way | None:
    """Take the host for few entries."""
    m, most = facts.n_entries, LIMITS.host
    return Way(HOST, f"{m:,} of at most {most:,} for the host") if 0 < m <= most else None


def _unsorted_tree(facts: SparseFacts) -> Way | None:
    """Take the host for entries that a device would have to sort."""
    m, most = facts.n_entries, LIMITS.host_unsorted_tree
    if m >= most:
        return None
    if facts.canonical is None:
        return ask("canonical")
    return None if facts.canonical else Way(HOST, f"{m:,} in any order, of fewer than {most:,}")


def _equal_tree(facts: SparseFacts) -> Way | None:
    """Take the host for equal weights."""
    m = facts.n_entries
    if m >= LIMITS.host_equal_tree:
        return None
    if facts.equal is None:
        return ask("equal")
    return Way(HOST, f"{m:,} entries of equal weights, which need no sort") if facts.equal else None


_Rule: TypeAlias = Callable[[SparseFacts], Way | None]
_FOREST_RULES: tuple[_Rule, ...] = (_without_device, _equal_weights, _one_launch, _small_on_host)
_TREE_RULES: tuple[_Rule, ...] = (
    _without_device, _equal_weights, _one_launch, _few_entries, _unsorted_tree, _equal_tree,
)  # fmt: skip


def converts_on_host(n_entries: int, device: DeviceFacts, *, equal: bool) -> bool:
    """Return whether the host brings a COO or CSC matrix into CSR form.

    The alternative is that the device gets the entries as they are. `equal` says whether a sample
    of the weights has one value.
    """
    if equal and device.alone and device.host_arrays == "shared":
        return n_entries <= LIMITS.equal_weights
    if device.serial:
        return n_entries <= _for_units(LIMITS.small_unsorted_matrix, device)
    return n_entries <= LIMITS.host_conversion


def prefers_prim(*, alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> bool:
    """Return whether prim comes first of all algorithms, as one work-item soon has the forest."""
    if not alone:
        return False
    if symmetric:
        return n_vertices <= LIMITS.prim
    return 2 * n_vertices <= LIMITS.prim and n_slots <= LIMITS.prim_once
