"""The order in which somebody else's engine reduces partitions: lanes, in rounds.

A lane is a few partitions, one after the other: each step takes the forest of the steps before and
filters its own partition by it, as a stream does. The lanes of a round run side by side, one for
each worker. Then their forests are merged as a tree, and the lanes of the next round all begin with
the forest of everything so far. Where workers share one device, there is one lane for all of them,
and they take its rounds in turns.

A worker that is lost takes its lane's results with it. An engine drops results that no task needs
any more, and would have to begin at the first partition. So the first step of each lane is also
given the forest that the round before began with, of which it makes no use: until this round's
lanes have begun, the engine keeps that forest, on each worker that had a lane. Then a round is all
that can be lost. A single lane whose worker is always the same has one round, since all would be
lost with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clmst.core.arguments import check_integer

_MOST_ROUNDS = 3  # the more rounds, the less is lost with a worker, and the more merges there are
_LEAST_STEPS = 8  # of a lane: a merge costs as much as a few steps


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneStep:
    """One partition of a lane, and how many are `to_come` in the lane."""

    number: int
    to_come: int
    round: int = 0
    lane: int = 0


def in_rounds(
    parts: Sequence[Any],
    n_lanes: int,
    split_every: int,
    *,
    take: Callable[[Any, LaneStep, Any, Any], Any],
    merge: Callable[[list[Any]], Any],
    lane_of: Callable[[Sequence[int]], Any] | None = None,
    outlives: bool = False,
) -> Any:
    """Return a handle of the forest of all parts, given handles of these; None if there are none.

    `n_lanes` steps may run side by side, and `split_every` forests are merged at a time. `take`
    gets a part, its step, the handle of the forest before it or None, and a handle that is only to
    be kept, or None; `merge` handles of several forests. `lane_of` makes one part of partitions by
    their numbers, where a worker takes those of a lane in one step, and nothing waits behind it.
    `outlives`: what a round has found outlives the worker of a single lane.
    """
    now = kept = None
    for number_of_round, lanes in enumerate(rounds(len(parts), n_lanes, outlives=outlives)):
        ends = []
        for lane, numbers in enumerate(lanes):
            steps = [(number, parts[number]) for number in numbers]
            if lane_of is not None:
                steps = [(numbers[0], lane_of(numbers))]
            end = now
            for at, (number, part) in enumerate(steps):
                step = LaneStep(
                    number=number, to_come=len(steps) - 1 - at, round=number_of_round, lane=lane
                )
                end = take(part, step, end, None if at else kept)
            ends.append(end)
        is_merged = lane_of is not None and len(ends) == 1  # a merge also reduces what waits
        while len(ends) > 1 or not is_merged:
            groups = [ends[k : k + split_every] for k in range(0, len(ends), split_every)]
            ends, is_merged = [merge(group) for group in groups], True
        now, kept = ends[0], now
    return now


def rounds(n_parts: int, n_lanes: int, *, outlives: bool = False) -> list[list[range]]:
    """Return the numbers of the partitions of each lane, for each round.

    Lanes take the partitions of their round by turns: an engine that reads them in order then
    has work for all lanes at once.
    """
    found = []
    n_rounds = max(1, min(_MOST_ROUNDS, n_parts // (_LEAST_STEPS * n_lanes)))
    if n_lanes == 1 and not outlives:
        n_rounds = 1  # a worker that is lost takes everything with it
    steps = -(-n_parts // (n_rounds * n_lanes))
    for first in range(0, n_parts, max(1, steps * n_lanes)):
        last = min(first + steps * n_lanes, n_parts)
        lanes = [range(lane, last, n_lanes) for lane in range(first, min(first + n_lanes, last))]
        found.append(lanes)
    return found


def check_split(split_every: Any) -> int:
    """Return how many forests are merged at a time, or raise."""
    return check_integer("split_every", split_every, low=2)
