"""Where the algorithms that filter cut the order of edges into windows, light ones first."""

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

# A sample's share above which a window is not worth its own phase.
_MAX_SHARE = 0.7
# A share below which a sample has too few of the window's keys: of 1024 it has 16. The number of
# edges up to the k-th least key spreads by 1 / sqrt(k) of itself, so by a quarter there.
_SMALL_SHARE = 1 / 64
# Slots that a sample is the least of, at most; they are read one by one.
_MAX_DRAW_BITS = 4
# How many spreads above its small share a window's rank lies. One that is too large costs what its
# few edges cost; one that is too small leaves hardly any component, and floods the next.
_SPREADS = 3.0
# Windows that take the place of one whose light edges joined too few vertices, as multiples of its
# target: each has so many edges that most of the next can be left out.
_FINER = (1.0, 3.0, 9.0)
# The light edges that go first, in multiples of the vertices, except in graphs that are dense
# (`dense_filter_target` of the policy). The same on an H200 and on two CPU cores, where no other of
# 0.75 to 4 was quicker by more than the same value in a second run (docs/performance_log.md).
_TARGET = 1.0
# Vertices whose degrees tell how skewed those of a graph are.
_DEGREES = 1024
# The skew of degrees from which on windows are this share of the usual ones, since edges of hubs
# join most vertices early: it is 0.5 to 1.35 in a sample of random graphs and grids. A dense graph
# that stores each edge once keeps the usual ones, which alone join vertices in its first round.
_SKEWED, _SKEWED_SHARE = 1.5, 0.6
_SAMPLED = "degrees"  # with a graph: their skew, and the share of vertices that have edges
# Slots whose weights tell whether nearly all are equal. A window of a graph like that has the edges
# of its first rows, since ids break ties: it joins the vertices there, and hardly any other ones,
# unless their neighbours lie anywhere.
_WEIGHTS = 64
_EQUAL = "equal"  # with a graph: whether they are
# How many slots of a window's rows tell where their neighbours lie; the share of neighbours beyond
# these rows, to that of vertices, from which on they lie anywhere; and how many times their share
# of all slots the rows may have, beyond which they are hubs and one round joins most of the graph.
_NEIGHBOURS, _ANYWHERE, _HUBS = 1024, 0.93, 2.0
_FAR = "far"  # with a graph: whether they lie anywhere
# How many times `filter_edges` pay for a window of equal weights, and what the target of a graph
# that stores both directions is multiplied with.
_EQUAL_TIMES, _EQUAL_SHARE = 6, 0.5
# Bytes an edge of the worklists that hold all edges, and the device's share that they may take.
_LIST_BYTES, _LIST_SHARE = 32, 1 / 4
# What tells that they did: a round of the last window leaves so large a share of its edges, and so
# many edges a supervertex. In random graphs it leaves less than half.
_SLOW_SHARE, _SLOW_DEGREE = 0.9, 8
# What tells so before any round: the share of all edges that is left for the last window.
_LARGE_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where windows end: at ranks in a sample of keys.

    Each key of the sample is the least of ``1 << draw_bits`` random slots of its own equal part of
    all slots: so a sample of the same size tells smaller shares apart.
    """

    samples: int  # keys in the sample
    draw_bits: int
    ranks: tuple[int, ...]  # of all windows but the last, rising; 0 is the least key

    @property
    def largest_share(self) -> float:
        """The largest window's share of all edges, as the sample has it; the last left out."""
        above = 1 - np.array([0, *self.ranks]) / self.samples
        return float(np.max(-np.diff(above ** (1 / (1 << self.draw_bits)))))


def contracts_slowly(edges: tuple[int, int], n_vertices: int) -> bool:
    """Return whether a round hardly took any edge out, so that more windows would pay.

    Every further round would go through nearly all edges again, and there may be log2 n of them:
    where supervertices merge by twos along light edges that the windows before do not have. `edges`
    are those before the first round of the last window, and after it.
    """
    before, after = edges
    return after >= max(_SLOW_SHARE * before, _SLOW_DEGREE * n_vertices, 1)


def last_window_too_large(edges: int, n_vertices: int, n_edges: int) -> bool:
    """Return whether the last window keeps so many of all edges that more windows would pay.

    In random graphs it keeps a fifth: the others lie within components.
    """
    return edges >= max(_LARGE_SHARE * n_edges, _SLOW_DEGREE * n_vertices, 1)


def may_have_windows(graph: DeviceGraph, targets: tuple[float, ...] | None) -> bool:
    """Return whether light edges may go first: if there are targets, or the graph is large."""
    if targets is not None:
        return len(targets) > 0
    tuning, degree = graph.device.policy, graph.average_degree
    return route.light_edges_first(
        degree, graph.edge_bound, filter_degree=tuning.filter_degree,
        dense_degree=tuning.dense_degree, filter_edges=tuning.filter_edges,
    )  # fmt: skip


def skew(degrees: Array) -> float:
    """Return the mean of k (k - 1) over degrees k, in squares of their mean; 1 if all are 0.

    Edges drawn at random join a share of all n vertices once they are more than n / (2 skew), if
    neighbours are as good as random: the threshold of percolation (Molloy, Reed 1995).
    """
    k = degrees.astype(np.float64)
    total = float(k.sum())
    return (float(k @ k) - total) * k.size / total**2 if total else 1.0


def usual_target(graph: DeviceGraph, launch: Launcher) -> float:
    """Return how many edges a vertex the first window is to have; waits the first time.

    The degrees of some vertices tell it: where they are skewed, fewer edges are enough, and
    vertices without an edge do not count. On CPUs, whose windows were found without either, the
    target is the same for all graphs of a density.
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
    if not graph.graph.is_symmetric:  # an empty row may be the greater end of an edge
        share_with_edges = (1 + share_with_edges) / 2
    shrinks = skewness >= _SKEWED and (graph.graph.is_symmetric or not dense)
    return target * (_SKEWED_SHARE * share_with_edges if shrinks else 1)


def _some_degrees(graph: DeviceGraph, launch: Launcher) -> Array:
    """Return how many slots the rows of some vertices have, which are drawn at random.

    Evenly spaced ones would not do: degrees of R-MAT graphs follow the bits of vertices.
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
    """Return random numbers in [0, 1), the same ones each time: a generator takes 15 us to make."""
    return np.random.default_rng(0).random(count)


def _drawn(count: int, bound: int) -> Array:
    """Return random numbers below `bound`, of NumPy's own type of indices."""
    drawn: Array = (_fractions(count) * bound).astype(np.intp)
    return drawn


def _read_at(graph: DeviceGraph, name: str, places: Array, launch: Launcher) -> Array:
    """Return what an array of a graph has in some places; waits if only the device has it."""
    found: Array
    if graph.graph.has_at_hand(name):
        found = getattr(graph.graph, name)[places]
        return found
    word = graph.encoded.encoding.word if name == "weights" else np.dtype(np.uint32)
    return words_at(getattr(graph, name), word, places, launch)


def seem_equal(graph: DeviceGraph, launch: Launcher) -> bool:
    """Return whether nearly all weights of a graph seem to be equal; waits the first time.

    Those of a graph that gets new weights, and has `rows`, say nothing of the next ones.
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
    """Return the first window's target where all weights seem to be equal; 0: no window pays.

    It pays on devices other than CPUs, in large graphs whose first rows have neighbours anywhere.
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
    """Return the ends in a sample of so many keys of all windows but the last.

    `targets` are how many edges a vertex the windows up to each end are to have; None: what is
    usual for the graph. `finer` asks for more windows than usual.
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
    """Return the ends of windows that have rising shares of all edges up to them.

    Draws are doubled until the least share, times the draws, is `_SMALL_SHARE`; but not where the
    greatest share would come above a half that way, since nearly all keys would lie in it then, and
    those beyond it would say little about where it ends.

    A sample with `expected` keys in a window has as many as Poisson's distribution says. A small
    share's rank is ``expected + 3 sqrt(expected + 1)``: the window has fewer edges than its share
    for one seed in 250 at most, whatever is expected. It ends at the 4th least key or above, which
    spreads by a half where next to none is expected. Where 16 are, it is the 29th: the window has
    1.8 times its share on average, and spreads by a fifth.
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
    """Return the rank that a window of such a share ends at."""
    drawn = 1 - (1 - share) ** (1 << draw_bits) if draw_bits else share
    expected = drawn * samples
    if share < _SMALL_SHARE:
        expected += _SPREADS * sqrt(expected + 1)
    return min(int(expected), samples - 1)


def least_of_draws(keys: Array, draw_bits: int) -> tuple[Array, Array]:
    """Return the least of every ``1 << draw_bits`` keys side by side, and its first place."""
    draws = keys.reshape(-1, 1 << draw_bits)
    places = np.argmin(draws, axis=1) + (np.arange(len(draws)) << draw_bits)
    return keys[places], places
