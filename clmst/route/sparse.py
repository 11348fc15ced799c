"""The choice of how a graph that lists its edges is solved. The first rule that applies decides."""

from __future__ import annotations

from clmst.route.facts import DeviceFacts, Form, Passed, Rule, SparseFacts, Way, ask, first_answer
from clmst.route.facts import passed_over as _passed_over
from clmst.route.limits import LIMITS, for_units
from clmst.route.records import EQUAL, HOST, SMALL, STEPS

# The name of the limit, by the form of the graph, up to which one work-item solves it. The limits
# are for a CPU of two compute units.
_SERIAL_LIMITS: dict[Form, str] = {
    "matrix": "small_matrix", "graph": "small_matrix", "list": "small_list",
    "complete": "small_complete",
}  # fmt: skip


def way_of_sparse(facts: SparseFacts) -> Way:
    """Choose the way of solving a graph that lists all edges, or a small complete graph.

    `facts` are the facts about the graph, the device and the call.
    """
    found = first_answer(_TREE_RULES if facts.by_entry else _FOREST_RULES, facts, facts.refused)
    return found or Way(STEPS, f"{facts.n_entries:,} edges or entries: no shorter way takes them")


def passed_over(facts: SparseFacts) -> list[tuple[str, str]]:
    """Return the ways of solving that :func:`way_of_sparse` rejects before it chooses one.

    Each element is the name of a way, and the reason against it in words, for these `facts`.
    """
    return _passed_over(_TREE_RULES if facts.by_entry else _FOREST_RULES, facts, facts.refused)


def _without_device(facts: SparseFacts) -> Way | Passed:
    """Choose the host if `facts.device` is None, which means that no device was found.

    Otherwise return the reason against the host.
    """
    if facts.device is None:
        return Way(HOST, "there is no device", facts.form)
    return ("there is a device",)


def _equal_weights(facts: SparseFacts) -> Way | Passed:
    """Choose a single kernel launch for a matrix of equal weights on a CPU device.

    The kernel reads the host's arrays without a copy. If the `facts` describe another case, return
    the reason against this way.
    """
    device = facts.device
    if facts.form != "matrix" or device is None:
        return ("it is for SciPy matrices, and this is a {}", facts.form)
    if not device.alone or device.host_arrays != "shared":
        return ("the device does not work in the host's memory by one work-item",)
    if facts.equal is False:
        return ("the weights differ",)
    size = max(facts.n_entries, facts.n_vertices)
    if size > LIMITS.equal_weights:
        return ("{:,} entries > {:,} (equal_weights)", size, LIMITS.equal_weights)
    if facts.equal is None:
        return ask("equal")
    return Way(EQUAL, f"{facts.n_entries:,} entries of equal weights", facts.form)


def _one_launch(facts: SparseFacts) -> Way | Passed:
    """Choose one launch of one work-item for a graph that it solves faster than all compute units.

    If `facts` describe a larger graph, or another kind of device, return the reason against this.
    """
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if device is None or not device.serial:
        return ("the device does not work in the host's memory by one work-item",)
    if facts.n_entries == 0:
        return ("there are no edges",)
    name = _SERIAL_LIMITS[facts.form]
    most = for_units(getattr(LIMITS, name), device)
    if size > most:
        return ("{:,} > {:,} ({}, {} compute units)", size, most, name, device.compute_units)
    return Way(SMALL, f"{size:,} of at most {most:,} for one work-item", facts.form)


def _one_launch_unsorted(facts: SparseFacts) -> Way | Passed:
    """Choose one launch also for a larger matrix, if any other way would have to sort its entries.

    If `facts` describe another graph, return the reason against this way.
    """
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if device is None or not device.serial or facts.form != "matrix" or facts.n_entries == 0:
        return ("it is for SciPy matrices, on a device that works in the host's memory",)
    most, units = for_units(LIMITS.small_unsorted_matrix, device), device.compute_units
    if size > most:
        return ("{:,} > {:,} (small_unsorted_matrix, {} compute units)", size, most, units)
    if facts.canonical is None:
        return ask("canonical")
    if facts.canonical:
        return ("the entries seem to be in canonical order",)
    return Way(SMALL, f"{size:,} in any order, of at most {most:,} for one work-item", facts.form)


def _small_on_host(facts: SparseFacts) -> Way | Passed:
    """Choose the host for a graph that it solves faster than a device with memory of its own.

    If `facts` describe a larger graph, or if the caller names a device, return the reason against
    the host.
    """
    device = facts.device
    if not facts.host_allowed:
        return ("the caller, or CLMST_DEVICE, names a device",)
    if device is not None and device.serial and SMALL not in facts.refused:
        return ("the device works in the host's memory by one work-item",)
    if facts.form == "complete":
        return ("a complete graph would have to be listed",)
    return _few_entries(facts)


def _few_entries(facts: SparseFacts) -> Way | Passed:
    """Choose the host if the graph has few entries. Otherwise return the reason against the host.

    `facts` has the number of entries.
    """
    m, most = facts.n_entries, LIMITS.host
    if 0 < m <= most:
        return Way(HOST, f"{m:,} of at most {most:,} for the host", facts.form)
    return ("{:,} entries > {:,} (host)", m, most) if m else ("there are no edges",)


def _unsorted_tree(facts: SparseFacts) -> Way | Passed:
    """Choose the host for unsorted entries, which a device would have to sort first.

    If `facts` describe too many entries or sorted ones, return the reason against the host.
    """
    m, most = facts.n_entries, LIMITS.host_unsorted_tree
    if m >= most:
        return ("{:,} entries >= {:,} (host_unsorted_tree)", m, most)
    if facts.canonical is None:
        return ask("canonical")
    if facts.canonical:
        return ("the entries seem to be in canonical order",)
    return Way(HOST, f"{m:,} in any order, of fewer than {most:,}", facts.form)


def _equal_tree(facts: SparseFacts) -> Way | Passed:
    """Choose the host, not the device, for a matrix whose weights are all equal.

    If the `facts` describe another case, return the reason against the host.
    """
    m, most = facts.n_entries, LIMITS.host_equal_tree
    if m >= most:
        return ("{:,} entries >= {:,} (host_equal_tree)", m, most)
    if facts.equal is None:
        return ask("equal")
    if not facts.equal:
        return ("the weights differ",)
    return Way(HOST, f"{m:,} entries of equal weights, which need no sort", facts.form)


# The rules by which the way of computing a forest is chosen, in this order.
_FOREST_RULES: tuple[Rule[SparseFacts], ...] = (
    (HOST, _without_device), (EQUAL, _equal_weights), (SMALL, _one_launch),
    (SMALL, _one_launch_unsorted), (HOST, _small_on_host),
)  # fmt: skip
# The rules if `by_entry` is true: of edges with equal weights, the one that is stored first in the
# matrix is preferred, as in SciPy's function.
_TREE_RULES: tuple[Rule[SparseFacts], ...] = (
    (HOST, _without_device), (EQUAL, _equal_weights), (SMALL, _one_launch),
    (SMALL, _one_launch_unsorted), (HOST, _few_entries), (HOST, _unsorted_tree),
    (HOST, _equal_tree),
)  # fmt: skip


# ------------------------------------------------- what the host does before and in a solve


def converts_on_host(n_entries: int, device: DeviceFacts, *, equal: bool) -> bool:
    """Return whether the host converts a COO or CSC matrix to CSR.

    Otherwise the `n_entries` entries are uploaded as they are, and the device converts them.
    `equal` says whether the weights are probably all equal: some were compared.
    """
    if equal and device.alone and device.host_arrays == "shared":
        return n_entries <= LIMITS.equal_weights
    if device.serial:
        return n_entries <= for_units(LIMITS.small_unsorted_matrix, device)
    return n_entries <= LIMITS.host_conversion


def device_checks(n_slots: int) -> bool:
    """Return whether the device, not the host, checks that a CSR of `n_slots` entries is valid."""
    return n_slots >= LIMITS.device_check


def device_orders(n_edges: int) -> bool:
    """Return whether the device, not the host, sorts `n_edges` edges or entries.

    They are sorted by row and column, as a canonical CSR requires.
    """
    return n_edges >= LIMITS.device_order


def host_merges_parallel(n_entries: int) -> bool:
    """Return whether the host merges the parallel edges among `n_entries` before a solve.

    If there are few entries, it is faster to let the solve itself find the lightest of parallel
    edges.
    """
    return n_entries > LIMITS.host_parallel


def host_lists_complete(n_vertices: int) -> bool:
    """Return whether the host may list all edges of a complete graph of `n_vertices` vertices.

    It lists them to prove that a tree is the minimum spanning tree, if the graph is small enough.
    """
    return n_vertices**2 <= 2 * LIMITS.host_complete


def pays_for_networkx(n_edges: int) -> bool:
    """Return whether clmst is faster than NetworkX for a NetworkX graph of `n_edges` edges.

    The time of the conversion is included.
    """
    return n_edges >= LIMITS.networkx
