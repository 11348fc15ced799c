"""The order in which Dask or Ray (the engine) computes the forest of a partitioned table of edges.

A lane is a sequence of partitions that are processed one after the other. Each step of a lane takes
one partition, and gets the forest of the earlier steps, by which it filters the edges of its own
partition. The lanes of a round run at the same time, one on each worker. At the end of the round,
their forests are merged pairwise to one, and all lanes of the next round begin with the forest of
all partitions so far. If the workers share one device, there is one lane for all of them, and they
take its steps in turns.

If a worker is lost, the results of its lane are lost with it. An engine drops every result that no
later task needs, so it would have to begin again at the first partition. Therefore the first step
of each lane also gets, as an argument that it does not use, the forest with which the round before
began. The engine then keeps this forest until the lanes of the round have begun, and at most one
round has to be repeated. A single lane that always runs on the same worker has only one round,
because everything would be lost with that worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clmst.core.arguments import check_integer

# Partitions of the edges are solved on the workers of a cluster, in at most this number of rounds.
# In a round, each lane (a sequence of tasks) adds one partition after the other to its forest. At
# the end of the round, the forests of all lanes are merged. With more rounds, less work is lost
# when a worker is lost, but there are more merges.
_MOST_ROUNDS = 3
_LEAST_STEPS = 8  # minimum steps of a lane, since a merge costs as much as a few steps


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneStep:
    """One step of a lane, which is a sequence of partitions that are added to one forest in turn.

    `number` is the number of the partition, and `to_come` how many partitions of the lane follow.
    Lanes that run at the same time form a round. `round` is the number of the round, and `lane` the
    number of the lane in the round.
    """

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
    """Submit all tasks to Dask or Ray, and return a handle of the forest of all partitions.

    A handle is the engine's object for a result that may not be computed yet, such as a delayed
    value. Nothing blocks here unless `take` or `merge` does.

    Parameters
    ----------
    parts : sequence
        The handles of all partitions, by partition number.
    n_lanes : int
        Number of lanes that may run at the same time. A lane is a sequence of partitions that are
        added to one forest, one after the other.
    split_every : int
        Maximum number of forests that one task merges.
    take : callable
        Gets a partition, its LaneStep, the handle of the forest so far (or None), and a handle that
        the engine only has to keep (or None). Returns the handle of the new forest.
    merge : callable
        Gets a list of handles of forests, and returns the handle of the merged forest.
    lane_of : callable, optional
        Gets the partition numbers of a lane, and returns one object for all of them. A worker then
        takes the whole lane in one step, after which all edges are reduced to a forest.
    outlives : bool
        Whether the results of a round survive the loss of the worker of a single lane.

    Returns
    -------
    handle or None
        None without partitions.
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
        # With a single forest there is nothing to merge. But a worker may still have edges that are
        # not reduced to their forest, and a merge also does that.
        is_merged = lane_of is not None and len(ends) == 1
        while len(ends) > 1 or not is_merged:
            groups = [ends[k : k + split_every] for k in range(0, len(ends), split_every)]
            ends, is_merged = [merge(group) for group in groups], True
        now, kept = ends[0], now
    return now


def rounds(n_parts: int, n_lanes: int, *, outlives: bool = False) -> list[list[range]]:
    """Divide `n_parts` partitions among rounds, and among the `n_lanes` lanes of each round.

    Return a list of rounds. A round is a list of lanes, and a lane is a range of partition numbers.
    Consecutive partitions go to different lanes, so that an engine that reads partitions in order
    soon has work for all lanes. `outlives` has the meaning that it has in `in_rounds`.
    """
    found = []
    n_rounds = max(1, min(_MOST_ROUNDS, n_parts // (_LEAST_STEPS * n_lanes)))
    if n_lanes == 1 and not outlives:
        n_rounds = 1  # more are useless: the results of all rounds are lost with the only worker
    steps = -(-n_parts // (n_rounds * n_lanes))
    for first in range(0, n_parts, max(1, steps * n_lanes)):
        last = min(first + steps * n_lanes, n_parts)
        lanes = [range(lane, last, n_lanes) for lane in range(first, min(first + n_lanes, last))]
        found.append(lanes)
    return found


def check_split(split_every: Any) -> int:
    """Return `split_every` as an int. Raise InvalidArgumentError unless it is at least 2."""
    return check_integer("split_every", split_every, low=2)
