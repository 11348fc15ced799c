"""PMA: trees grown by Prim's algorithm as far as they get, all at once, then contracted; repeat.

Source: S. Nobari, T.-T. Cao, P. Karras, S. Bressan, "Scalable Parallel Minimum Spanning Forest
Computation", PPoPP '12. Partial Prim (its Algorithms 2 to 4) is ``cl/algorithms/pma/pma.cl``, which
says why the edges are the forest's; the contraction (Algorithm 5) is the one of
:mod:`clmst.algorithms.shared.contraction`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.pma import LEAST_GAMMA, PmaOptions
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.contraction import PAIR, Contraction, Level
from clmst.algorithms.shared.solution import Solution
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy

SOURCE = "algorithms/pma/pma.cl"

_NO_OWNER = 2**32 - 1
# Slots a vertex from which on a lane group goes through a row, where lanes can combine.
_LONG_ROWS = 8.0
# Edges between the same two vertices from which on all but the lightest go before the first level.
_MANY_PARALLEL = 64
# What average degrees choose gamma among.
_LEAST_CHOSEN, _MOST_CHOSEN = 8, 128
# Workers that a compute unit should have to itself: one, where work-groups are of one work-item;
# elsewhere enough to hide that each waits for memory most of the time.
_SERIAL_WORKERS, _WORKERS = 1, 16


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by PMA; see :class:`PmaOptions`.

    Which vertex gets into which tree is decided by who comes first, and so are the numbers of
    rounds, vertices and entries in the statistics; the forest is not.

    O(log n) levels, each with three read-backs at most. A level of n vertices and m edges takes
    O(m + n gamma) work to grow its trees where rows are sorted, O(gamma m) where they are not, and
    the sorts of its contraction. Ranking the edges beforehand is one radix sort; rows of the first
    level come sorted from it, whatever the variant. Device memory beside the graph: about 85 bytes
    an edge while edge lists are sorted, or, where that is more, 46 an edge and 28 a vertex while
    trees grow; 8 of those 28 are the lists of what trees are made of, gamma entries for each of
    n / gamma workers.
    """
    options = options_for("pma", PmaOptions, options)
    run = _PmaRun(Contraction(graph, launch, maximum=maximum), options)
    run.steps.contract_all("pma", run.first_level(), run.next_level)
    return Solution(graph=graph, in_forest=run.steps.in_forest, stats=run.stats())


def chosen_gamma(n: int, entries: int, device: Device) -> int:
    """Return how many vertices a tree has at most on a level of `n` vertices, if no one says.

    The denser a level, the larger: section 6.2 of the paper finds 5 to 8 best on graphs of degree
    2 to 6, and up to 200 on dense ones; docs/performance_log.md has ours. But no larger than
    leaves workers, n / gamma, for the whole device.
    """
    alone = device.policy.work_group_size == 1
    workers = device.capabilities.compute_units * (_SERIAL_WORKERS if alone else _WORKERS)
    wanted = min(4 * entries / n, n / workers, _MOST_CHOSEN)
    return int(max(wanted, _LEAST_CHOSEN))


def lanes_for(capabilities: Capabilities, tuning: Policy) -> int:
    """Return how many lanes a worker can have: 1 where those of a lane group cannot combine."""
    combine = capabilities.lanes != "local" and tuning.work_group_size > 1
    return capabilities.lane_width if combine else 1


def defines(*, lanes: int, rows_rise: bool) -> dict[str, int]:
    """Return the macros of `SOURCE`."""
    return {"WORKER_LANES": lanes, "ROWS_RISE": int(rows_rise)}


@dataclass(frozen=True, slots=True)
class Growth:
    """How the trees of a level were grown: at most `gamma` vertices each, by workers of `lanes`."""

    n: int
    entries: int
    gamma: int
    lanes: int
    rows_rise: bool


class _PmaRun:
    """One solve, and the statistics of its levels."""

    def __init__(self, steps: Contraction, options: PmaOptions) -> None:
        self.steps, self.options = steps, options
        self.most_lanes = lanes_for(steps.device.capabilities, steps.device.policy)
        if options.workers == "lanes" and self.most_lanes == 1:
            raise InvalidArgumentError(
                f"workers is 'lanes'; {steps.device.description} has no lanes that combine, or "
                "work-groups of one work-item"
            )
        self.history: list[Growth] = []

    def stats(self) -> dict[str, Any]:
        return {
            "rounds": len(self.history),
            "vertices": [growth.n for growth in self.history],
            "entries": [growth.entries for growth in self.history],
            "variant": self.options.variant,
            "gammas": [growth.gamma for growth in self.history],
            "lanes": [growth.lanes for growth in self.history],
        }

    def first_level(self) -> Level | None:
        """Make the first level; of parallel edges only the lightest, if there are many anywhere.

        A tree that has both ends of such edges goes through all of them, one worker alone. Where
        there are fewer, a row has that many for each of the gamma vertices of a tree at most.
        """
        if not self.options.remove_parallel:
            return self.steps.first_level()
        level = self.steps.first_level(parallel=_MANY_PARALLEL)
        if level is None or not self.steps.has_parallel:
            return level
        return self.steps.sort_rows(self.steps.remove_duplicates(level), by_rank=True)

    def next_level(self, level: Level) -> Level | None:
        """Grow trees, and contract them; None if no edge remains."""
        growth = self._plan(level)
        self.history.append(growth)
        following = self.steps.contract(level, grow_trees(self.steps, level, growth)[1])
        if following is None:
            return None
        rise = self.options.variant != "min"
        if not self.options.remove_parallel:
            return self.steps.sort_rows(following, by_rank=rise)
        following = self.steps.remove_duplicates(following)
        return self.steps.sort_rows(following, by_rank=True) if rise else following

    def _plan(self, level: Level) -> Growth:
        gamma = self.options.gamma
        if gamma is None:
            gamma = chosen_gamma(level.n, level.entries, self.steps.device)
        is_first, degree = not self.history, level.entries / level.n
        workers, variant = self.options.workers, self.options.variant
        by_lanes = workers == "lanes" or (workers == "auto" and degree >= _LONG_ROWS)
        return Growth(
            n=level.n,
            entries=level.entries,
            gamma=max(min(int(gamma), level.n), LEAST_GAMMA),
            lanes=self.most_lanes if by_lanes else 1,
            rows_rise=variant == "sort" or (variant == "hybrid" and not is_first),
        )


def grow_trees(steps: Contraction, level: Level, growth: Growth) -> tuple[DeviceArray, DeviceArray]:
    """Algorithm 2, by n / gamma workers. Return the root of every vertex's tree, and its choice."""
    launch, new, n = steps.launch, steps.new, level.n
    program = steps.device.program(
        SOURCE, **defines(lanes=growth.lanes, rows_rise=growth.rows_rise)
    )
    rows, edges = new(2 * n, np.uint32), new(level.entries, PAIR)
    with launch.phase("list rows"):
        launch.fill(rows.memory, 0, 2 * n)
        launch.for_each(
            program, "pma_list_rows", level.entries, level.pairs, level.ranks, rows,
            edges, level.entries, level.bits,
        )  # fmt: skip
    n_workers = max(n // growth.gamma, 1)
    owners, chosen = new(n, np.uint32), new(n, PAIR)
    members = new(n_workers * growth.gamma, PAIR)  # a vertex and a position each
    with launch.phase("grow trees"):
        launch.fill(owners.memory, _NO_OWNER, n)
        at_once = program.work_group_size // growth.lanes
        launch.enqueue(
            program, "pma_grow_trees", launch.groups_for(-(-n_workers // at_once)),
            rows, edges, owners, members, chosen, n, n_workers, growth.gamma,
        )  # fmt: skip
    return owners, chosen
