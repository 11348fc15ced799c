"""Choose where algorithms divide the edges by weight into windows, which they solve one by one.

A window is a range of the total order of edges, by weight and, among equal weights, by slot (CSR
entry). The window with the lightest edges is solved first, so that most heavier edges can be left
out. The ends of windows are estimated from a sample of weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from clmst import route
from clmst.algorithms.shared.read_back import words_at
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

# A window is a range of weights that is solved by itself. If it would have more than this share of
# all edges, it is joined with the next window.
_MAX_SHARE = 0.7
# A window with less than this share of all edges counts as small. The ends of windows are estimated
# from a sample of sort keys, which are integers that sort as the weights do. A usual sample of 1024
# keys has only 16 keys or fewer of a small window, which are too few. The number of edges up to the
# k-th least key of a sample has a relative standard deviation of 1 / sqrt(k), which is a quarter
# for 16 keys.
_SMALL_SHARE = 1 / 64
# Base-2 logarithm of the maximum number of slots (CSR entries) that are drawn at random for each
# key of a sample. For a small window, each key of the sample is the least key of several random
# slots, so that light keys are sampled more often. The number is limited because each slot is a
# read of its own.
_MAX_DRAW_BITS = 4
# Number of standard deviations that are added to the rank at which a small window ends. A window
# ends at a key of the sample, and the rank is the position of this key in the sorted sample. It is
# better if the window is too large than if it is too small. If it is too large, a few more edges
# are solved. If it is too small, it joins hardly any components, so the next window gets too many
# edges.
_SPREADS = 3.0
# A target is the number of edges that there should be up to the end of a window. If the light edges
# of the first window have joined too few vertices, the solve begins again with windows whose
# targets are these multiples of the first target. After each of these windows, most edges of the
# next one can be left out.
_FINER = (1.0, 3.0, 9.0)
# Target of the first window, which is the number of edges that it should have, as a multiple of the
# number of vertices. For dense graphs the policy's `dense_filter_target` is used instead. The value
# suits both an H200 and two CPU cores: no other value from 0.75 to 4 was quicker by more than the
# difference between two runs (benchmarks/log.md).
_TARGET = 1.0
# Number of vertices in the sample from which the skew of the degrees of a graph is estimated. The
# skew is great if a few vertices have most of the edges.
_DEGREES = 1024
# If the skew of the degrees of a graph is at least _SKEWED, windows have only _SKEWED_SHARE times
# their usual size. With skewed degrees, edges of hubs join most vertices early, so fewer edges are
# enough. The skew is 0.5 to 1.35 in a sample of random graphs and grids. A dense graph that stores
# each edge once keeps the usual windows, since in its first round only the edges of a window join
# vertices.
_SKEWED, _SKEWED_SHARE = 1.5, 0.6
# Key in `graph.plans`, where the skew of degrees and the share of vertices with edges are kept.
_SAMPLED = "degrees"
# Number of slots (CSR entries) whose weights are compared to guess whether nearly all weights are
# equal. If they are, the ids decide the order of edges, so the first window has the edges of the
# first rows. These edges join few vertices, unless the neighbours of these rows are spread over the
# whole graph.
_WEIGHTS = 64
_EQUAL = "equal"  # key in `graph.plans`: whether nearly all weights are equal
# If weights are equal, a window has the edges of the first rows. These constants decide whether the
# neighbours of these rows are spread over the whole graph.
#   _NEIGHBOURS   number of slots (CSR entries) of these rows that are sampled
#   _ANYWHERE     neighbours are spread if the share of neighbours outside these rows, divided by
#                 the share of vertices outside, is at least this number
#   _HUBS         rows with more than this multiple of their share of all slots contain hubs, whose
#                 edges join most of the graph in one round
_NEIGHBOURS, _ANYWHERE, _HUBS = 1024, 0.93, 2.0
# Key in `graph.plans`: whether the neighbours of the first rows are spread over the whole graph.
_FAR = "far"
# If all weights are equal, there are several windows only if the graph has at least _EQUAL_TIMES
# times as many edges as the device's setting `filter_edges`. If the graph stores both directions of
# edges, the target of a window (its number of edges) is multiplied by _EQUAL_SHARE.
_EQUAL_TIMES, _EQUAL_SHARE = 6, 0.5
# A worklist (list of undecided edges) with space for all edges takes _LIST_BYTES bytes for each
# edge. Such worklists are used if they take at most the share _LIST_SHARE of the device's memory.
_LIST_BYTES, _LIST_SHARE = 32, 1 / 4
# A solve counts as slow, so that the next one gets more windows, if a round of the last window
# leaves at least the share _SLOW_SHARE of its edges, and at least _SLOW_DEGREE edges for each
# supervertex (a component that has become one vertex). In random graphs a round leaves less than
# half of the edges.
_SLOW_SHARE, _SLOW_DEGREE = 0.9, 8
# More windows are also expected to save time if at least this share of all edges still joins two
# components when the last window begins.
_LARGE_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The ends of the windows of weights, as ranks (positions) in a sorted sample of keys.

    A key is an integer that sorts as the weight of an edge does, and a window is a range of keys.
    Each key of the sample is the minimum over ``1 << draw_bits`` randomly chosen CSR entries. With
    more entries for each key, the sample has more light keys, and the ends of smaller windows can
    be estimated from a sample of the same size.
    """

    samples: int  # number of keys in the sample
    draw_bits: int
    ranks: tuple[int, ...]  # the end of each window except the last, ascending; 0 is the least key

    @property
    def largest_share(self) -> float:
        """The share of all edges in the largest window before the last, estimated from the sample.

        The last window has all edges that remain, so its share does not count.
        """
        above = 1 - np.array([0, *self.ranks]) / self.samples
        return float(np.max(-np.diff(above ** (1 / (1 << self.draw_bits)))))


def contracts_slowly(edges: tuple[int, int], n_vertices: int) -> bool:
    """Return whether a round has removed so few edges that a solve with more windows is faster.

    A window is a range of weights, and windows are solved one after the other. `edges` has the
    numbers of edges before and after the first round of the last window, after which `n_vertices`
    supervertices (contracted components) are left. If the round has removed few edges, every
    further round would go through nearly all edges again, and there may be log2 n rounds. This
    happens if supervertices merge only in pairs, along light edges that earlier windows do not
    contain.
    """
    before, after = edges
    return after >= max(_SLOW_SHARE * before, _SLOW_DEGREE * n_vertices, 1)


def last_window_too_large(edges: int, n_vertices: int, n_edges: int) -> bool:
    """Return whether so many edges remain for the last window that more windows are faster.

    A window is a range of weights, and windows are solved one after the other. `edges` is the
    number of edges that still join two of the `n_vertices` supervertices (contracted components),
    out of `n_edges` edges of the graph. In random graphs a fifth of all edges remains, since the
    other edges are within components.
    """
    return edges >= max(_LARGE_SHARE * n_edges, _SLOW_DEGREE * n_vertices, 1)


def may_have_windows(graph: DeviceGraph, targets: tuple[float, ...] | None) -> bool:
    """Return whether the edges of a graph may be divided by weight into several windows.

    `targets` is the caller's choice: the edges are divided unless it is empty. If it is None, the
    size and the average degree of the graph decide, with limits that depend on the device.
    """
    if targets is not None:
        return len(targets) > 0
    tuning, degree = graph.device.policy, graph.average_degree
    return route.light_edges_first(
        degree, graph.edge_bound, filter_degree=tuning.filter_degree,
        dense_degree=tuning.dense_degree, filter_edges=tuning.filter_edges,
    )  # fmt: skip


def skew(degrees: Array) -> float:
    """Return the skew of degrees, which is 1 if all degrees are 0.

    The skew is the mean of k (k - 1) over all degrees k, divided by the square of the mean degree.
    In a graph with random neighbours, more than n / (2 skew) edges drawn at random join a large
    share of all n vertices. That is the threshold of percolation (Molloy, Reed 1995).
    """
    k = degrees.astype(np.float64)
    total = float(k.sum())
    return (float(k @ k) - total) * k.size / total**2 if total else 1.0


def usual_target(graph: DeviceGraph, launch: Launcher) -> float:
    """Return the number of edges per vertex that the first window should have by default.

    The first window has the lightest edges, which are solved first. The number depends on whether
    the graph is dense, and, except on CPUs, on the degrees of a sample of vertices. If the degrees
    are skewed, fewer edges are enough, and vertices without an edge do not count. The first call
    for a graph may wait for the device.
    """
    tuning = graph.device.policy
    dense = graph.average_degree >= tuning.dense_degree
    target = tuning.dense_filter_target if dense else _TARGET
    if tuning.work_group_size == 1:
        return target
    if _SAMPLED not in graph.plans:
        degrees = _some_degrees(graph, launch)
        with_edges = int(np.count_nonzero(degrees)) / max(degrees.size, 1)
        graph.plans[_SAMPLED] = skew(degrees), max(with_edges, 1 / _DEGREES)
    skewness, share_with_edges = graph.plans[_SAMPLED]
    if not graph.graph.is_symmetric:  # a vertex with an empty row may still have edges
        share_with_edges = (1 + share_with_edges) / 2
    shrinks = skewness >= _SKEWED and (graph.graph.is_symmetric or not dense)
    return target * (_SKEWED_SHARE * share_with_edges if shrinks else 1)


def _some_degrees(graph: DeviceGraph, launch: Launcher) -> Array:
    """Return the numbers of entries in the CSR rows of some random vertices.

    Evenly spaced vertices would be misleading, since the degrees of R-MAT graphs depend on the bits
    of the vertex numbers. The call waits for the device if the host does not have the rows.
    """
    n = graph.n_vertices
    rows = _drawn(_DEGREES, n) if n > _DEGREES else np.arange(n)
    if graph.graph.has_at_hand("indptr"):
        starts = graph.graph.indptr
        at_hand: Array = starts[1:][rows] - starts[rows]
        return at_hand
    places = np.concatenate((rows, rows + 1))
    first, last = _read_at(graph, "indptr", places, launch).reshape(2, -1)
    degrees: Array = last - first
    return degrees


@cache
def _fractions(count: int) -> Array:
    """Return `count` random numbers in [0, 1). They are the same in each call.

    The result is cached, since making a generator takes 15 us.
    """
    return np.random.default_rng(0).random(count)


def _drawn(count: int, bound: int) -> Array:
    """Return `count` random indices below `bound`, which are the same in each call."""
    drawn: Array = (_fractions(count) * bound).astype(np.intp)
    return drawn


def _read_at(graph: DeviceGraph, name: str, places: Array, launch: Launcher) -> Array:
    """Read the values of a graph's array `name` at the positions `places`.

    The call waits for the device if only the device has the array.
    """
    found: Array
    if graph.graph.has_at_hand(name):
        found = getattr(graph.graph, name)[places]
        return found
    word = graph.encoded.encoding.word if name == "weights" else np.dtype(np.uint32)
    return words_at(getattr(graph, name), word, places, launch)


def seem_equal(graph: DeviceGraph, launch: Launcher) -> bool:
    """Return whether nearly all weights of a graph seem to be equal, judged by a sample.

    The result is False for a graph that gets new weights in each round, because the present weights
    say nothing about the next ones. It is also False if lists with space for all edges, which
    graphs of equal weights need, would take more than a quarter of the device's memory. The first
    call for a graph may wait for the device.
    """
    lists = _LIST_BYTES * graph.edge_bound
    if graph.rows is not None or lists > _LIST_SHARE * graph.device.capabilities.global_memory:
        return False
    if _EQUAL not in graph.plans:
        slots = _drawn(_WEIGHTS, graph.n_slots)
        found = _read_at(graph, "weights", slots, launch)
        graph.plans[_EQUAL] = bool((found == found[0]).all())
    seem: bool = graph.plans[_EQUAL]
    return seem


def _target_of_equal(graph: DeviceGraph, launch: Launcher) -> float:
    """Return the number of edges per vertex in the first window, for a graph of equal weights.

    Windows are parts of the edges that are solved one after the other, usually ranges of weights.
    If all weights are equal, the first window has the edges of the first rows. Returns 0 if the
    graph is solved faster without windows. Windows are faster on devices other than CPUs, for large
    graphs in which the neighbours of the first rows are spread over the whole graph. The first call
    for a graph may wait for the device.
    """
    tuning, n, n_edges = graph.device.policy, graph.n_vertices, graph.edge_bound
    if tuning.work_group_size == 1 or n_edges < _EQUAL_TIMES * tuning.filter_edges:
        return 0.0
    target = usual_target(graph, launch)
    if graph.graph.is_symmetric:
        target *= _EQUAL_SHARE
    share = target * n / n_edges
    if share >= _MAX_SHARE:
        return 0.0
    if _FAR not in graph.plans:
        rows, slots = int(share * n), int(share * graph.n_slots)
        end = _read_at(graph, "indptr", np.array([rows], np.uint32), launch)[0]
        ends = _read_at(graph, "indices", _drawn(_NEIGHBOURS, max(slots, 1)), launch)
        beyond = float((ends >= rows).mean())
        graph.plans[_FAR] = end <= _HUBS * slots and beyond >= _ANYWHERE * (1 - share)
    return target if graph.plans[_FAR] else 0.0


def window_ends(
    graph: DeviceGraph,
    targets: tuple[float, ...] | None,
    launch: Launcher,
    *,
    samples: int,
    finer: bool = False,
) -> Ends:
    """Choose where windows of weights end, as positions in a sorted sample of `samples` keys.

    The result does not have the end of the last window, which ends with the last edge. `targets`
    says how many edges there should be up to the end of each window, as multiples of the number of
    vertices. If it is None, the defaults for the graph are used. With `finer`, there are more
    default windows than usual. The call may wait for the device, to read degrees and weights.
    """
    if targets is None:
        targets = ()
        if may_have_windows(graph, None):
            target_of = _target_of_equal if seem_equal(graph, launch) else usual_target
            usual = target_of(graph, launch)
            targets = tuple(usual * k for k in (_FINER if finer else (1.0,)) if usual)
    shares = [target * graph.n_vertices / max(graph.edge_bound, 1) for target in targets]
    return ends_of([share for share in shares if share < _MAX_SHARE], samples)


def ends_of(shares: list[float], samples: int) -> Ends:
    """Choose where windows end, given the share of all edges up to each end, in ascending order.

    `samples` is the number of keys in the sample. Each key is the least of k random CSR entries.
    Beginning with 1, k is doubled as long as the least share times k is below `_SMALL_SHARE`, but
    only while the greatest share times k does not exceed a half. With a larger k nearly all keys
    would be within the greatest share, and the few beyond it would say little about where it ends.

    The number of sampled keys within a window follows Poisson's distribution, with the mean
    ``expected``. A small share gets the rank ``expected + 3 sqrt(expected + 1)``, so that the
    window has fewer edges than its share for at most one seed in 250. If the mean is near 0, the
    window ends at the 4th least key, and its size has a relative spread of a half. If the mean is
    16, the rank is 29; the window then has 1.8 times its share on average, with a spread of a
    fifth.
    """
    draw_bits = 0
    while (
        shares
        and draw_bits < _MAX_DRAW_BITS
        and shares[0] * (1 << draw_bits) < _SMALL_SHARE
        and shares[-1] * (1 << draw_bits) <= 1 / 4
    ):
        draw_bits += 1
    ranks = {_rank(share, samples, draw_bits) for share in shares}
    return Ends(samples=samples, draw_bits=draw_bits, ranks=tuple(sorted(ranks)))


def _rank(share: float, samples: int, draw_bits: int) -> int:
    """Return the position, in a sorted sample of keys, of the key at which a window should end.

    A window is a range of weights, and keys are integers that sort as weights do. The window should
    have the fraction `share` of all edges. The sample has `samples` keys, each of them the least
    key of ``1 << draw_bits`` random CSR entries.
    """
    drawn = 1 - (1 - share) ** (1 << draw_bits) if draw_bits else share
    expected = drawn * samples
    if share < _SMALL_SHARE:
        expected += _SPREADS * sqrt(expected + 1)
    return min(int(expected), samples - 1)


def least_of_draws(keys: Array, draw_bits: int) -> tuple[Array, Array]:
    """Return the minimum of each group of ``1 << draw_bits`` adjacent keys, and its position.

    The position is the first index in `keys` at which the minimum of the group occurs. Both results
    are arrays with an element for each group.
    """
    draws = keys.reshape(-1, 1 << draw_bits)
    places = np.argmin(draws, axis=1) + (np.arange(len(draws)) << draw_bits)
    return keys[places], places
