"""Windows of the order of edges, light ones first: where the algorithms that filter cut it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from clmst.core.arguments import check_integer, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array

if TYPE_CHECKING:  # options need this, which load no OpenCL
    from clmst.runtime.device_graph import DeviceGraph

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
# The second of two windows that graphs of many edges get, as a multiple of the first one's target.
_SECOND = 3.0
# It costs one more pass over the slots, and is skipped where a sample has so small a share of edges
# that join components, by whether both directions are stored: in skewed graphs it has a few
# percent, in random ones a half and more.
_LITTLE_SHARE = {True: 0.33, False: 0.15}
# What tells that they did: a round of the last window leaves so large a share of its edges, and so
# many edges a supervertex. In random graphs it leaves less than half.
_STUBBORN_SHARE, _STUBBORN_DEGREE = 0.9, 8
# What tells so before any round: the share of all edges that is left for the last window.
_FLOODED_SHARE = 0.75


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


def checked_targets(targets: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Return the targets as numbers, or raise unless they are such, or None."""
    if targets is None:
        return None
    if isinstance(targets, list | tuple) and all(
        isinstance(one, int | float | np.integer | np.floating) and not isinstance(one, bool)
        for one in targets
    ):
        return tuple(targets)
    raise InvalidArgumentError(f"targets are {shown(targets)}; they must be a tuple of numbers")


def check_windows(targets: tuple[float, ...], seed: int) -> None:
    """Raise unless windows can end at such targets, and a sample be drawn with the seed."""
    if any(not low < high for low, high in zip((0.0, *targets), targets, strict=False)):
        raise InvalidArgumentError(f"targets are {shown(targets)}; they must be positive and rise")
    check_integer("seed", seed, low=0, high=2**32 - 1)


def contracts_slowly(edges: tuple[int, int], n_vertices: int) -> bool:
    """Return whether a round hardly took any edge out, so that more windows would pay.

    Every further round would go through nearly all edges again, and there may be log2 n of them:
    where supervertices merge by twos along light edges that the windows before do not have. `edges`
    are those before the first round of the last window, and after it.
    """
    before, after = edges
    return after >= max(_STUBBORN_SHARE * before, _STUBBORN_DEGREE * n_vertices, 1)


def last_range_too_large(edges: int, n_vertices: int, n_edges: int) -> bool:
    """Return whether the last window keeps so many of all edges that more windows would pay.

    In random graphs it keeps a fifth: the others lie within components.
    """
    return edges >= max(_FLOODED_SHARE * n_edges, _STUBBORN_DEGREE * n_vertices, 1)


def skips_second(joining_share: float, *, symmetric: bool) -> bool:
    """Return whether the last window may come right behind the first.

    It may by the share of all edges that join two components of the first window's forest.
    """
    return joining_share < _LITTLE_SHARE[symmetric]


def may_have_windows(graph: DeviceGraph, targets: tuple[float, ...] | None) -> bool:
    """Return whether light edges may go first: whether there is a target, given or usual."""
    if targets is None:
        return graph.average_degree >= graph.device.policy.filter_degree
    return len(targets) > 0


def window_ends(
    graph: DeviceGraph,
    targets: tuple[float, ...] | None,
    *,
    usual: float,
    samples: int,
    finer: bool = False,
    has_second: bool = False,
) -> Ends:
    """Return the ends in a sample of so many keys of all windows but the last.

    `targets` are how many edges a vertex the windows up to each end are to have; None: `usual`,
    where the average degree is what the device filters from, else one window. `finer` asks for more
    windows than usual, `has_second` for a second one besides (:func:`skips_second`).
    """
    if targets is None:
        filters = may_have_windows(graph, targets)
        multiples = _FINER if finer else (1.0, _SECOND) if has_second else (1.0,)
        targets = tuple(usual * k for k in multiples) if filters else ()
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
