"""PMA: many trees grow at once by Prim's algorithm and are contracted, again and again.

Source: S. Nobari, T.-T. Cao, P. Karras, S. Bressan, "Scalable Parallel Minimum Spanning Forest
Computation", PPoPP '12. Partial Prim (its Algorithms 2 to 4) is ``cl/algorithms/pma/pma.cl``, which
proves that the chosen edges are in the forest. The contraction (Algorithm 5) is in
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
# A solve has several levels, each of which grows trees and then contracts the graph. If the CSR
# rows of a level's graph have at least this number of entries on average, several work-items (a
# lane group) go through each row together. Otherwise, or if the device has no lane groups, a single
# work-item goes through a row.
_LONG_ROWS = 8.0
# If any two vertices are joined by at least this number of parallel edges, the solve begins by
# removing parallel edges.
_MANY_PARALLEL = 64
# A solve contracts the graph several times. By default `gamma`, the maximum number of vertices of a
# tree, is chosen anew for each contracted graph from its average degree. These are the minimum and
# the maximum of the values that may be chosen.
_LEAST_CHOSEN, _MOST_CHOSEN = 8, 128
# Minimum numbers of workers for each compute unit. A worker is a work-item or a group of them, and
# grows one tree at a time. _SERIAL_WORKERS is for work-groups with one work-item. With _WORKERS,
# there are so many that others can run while one waits for memory.
_SERIAL_WORKERS, _WORKERS = 1, 16


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by PMA; see :class:`PmaOptions` for `options`. None means the defaults.

    `maximum` asks for the maximum spanning forest. A vertex belongs to the tree of the worker that
    reaches it first. So the numbers of rounds, vertices and entries in the statistics may differ
    from run to run. The forest does not differ.

    There are O(log n) levels. On each, trees grow and are contracted, and the host reads from the
    device at most three times. On a level of n vertices and m edges, growing the trees takes O(m +
    n gamma) work if rows are sorted, and O(gamma m) if they are not. The contraction also sorts the
    edges. A radix sort ranks the edges once, before the first level. It also sorts the rows of the
    first level, whatever the option `variant` says.

    A solve needs device memory in addition to the graph. While edge lists are sorted, it needs
    about 85 bytes for each edge. While trees grow, it needs 46 bytes for each edge and 28 for each
    vertex. Of these 28 bytes, 8 are for the lists of the trees' members, which have gamma entries
    for each of n / gamma workers.
    """
    options = options_for("pma", PmaOptions, options)
    run = _PmaRun(Contraction(graph, launch, maximum=maximum), options)
    run.steps.contract_all("pma", run.first_level(), run.next_level)
    return Solution(graph=graph, in_forest=run.steps.in_forest, stats=run.stats())


def chosen_gamma(n: int, entries: int, device: Device) -> int:
    """Choose gamma, the maximum number of vertices of a tree, for a level of `n` vertices.

    Gamma grows with the average degree, which is ``entries / n``, where `entries` counts both
    directions of each edge. Section 6.2 of the paper finds 5 to 8 best on graphs of degree 2 to 6,
    and up to 200 on dense ones. Gamma is limited so that n / gamma workers, each of which grows one
    tree at a time, keep the whole device busy.
    """
    alone = device.policy.work_group_size == 1
    workers = device.capabilities.compute_units * (_SERIAL_WORKERS if alone else _WORKERS)
    wanted = min(4 * entries / n, n / workers, _MOST_CHOSEN)
    return int(max(wanted, _LEAST_CHOSEN))


def lanes_for(capabilities: Capabilities, tuning: Policy) -> int:
    """Return the maximum number of work-items that can grow one tree together.

    These work-items are the lanes of a sub-group. `capabilities` and `tuning` are the properties
    and the settings of the device. The number is 1 if clmst does not use sub-groups on the device,
    or if its work-groups have one work-item.
    """
    combine = capabilities.lanes != "local" and tuning.work_group_size > 1
    return capabilities.lane_width if combine else 1


def defines(*, lanes: int, rows_rise: bool) -> dict[str, int]:
    """Return the macros with which the kernels in `SOURCE` are compiled.

    `lanes` is the number of work-items that grow a tree together. `rows_rise` is True if the rows
    are sorted by weight.
    """
    return {"WORKER_LANES": lanes, "ROWS_RISE": int(rows_rise)}


@dataclass(frozen=True, slots=True)
class Growth:
    """The parameters by which the trees of a level, the graph after a contraction, are grown.

    A level is the graph after some contractions. The level has `n` vertices and `entries` directed
    edges. A tree has at most `gamma` vertices. A worker, which grows one tree after another,
    consists of `lanes` work-items of a sub-group, or of a single work-item if `lanes` is 1.
    `rows_rise` says whether rows are sorted by weight.
    """

    n: int
    entries: int
    gamma: int
    lanes: int
    rows_rise: bool


class _PmaRun:
    """One solve by PMA, with statistics of each level, which is the graph after a contraction."""

    def __init__(self, steps: Contraction, options: PmaOptions) -> None:
        self.steps, self.options = steps, options
        self.most_lanes = lanes_for(steps.device.capabilities, steps.device.policy)
        if options.workers == "lanes" and self.most_lanes == 1:
            raise InvalidArgumentError(
                f"workers is 'lanes'; {steps.device.description} lacks lanes that combine "
                "values, or runs work-groups of one work-item, so workers must be another one"
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
        """Make the list of edges of the first level, or return None for a graph without edges.

        Parallel edges are removed first if any two vertices are joined by _MANY_PARALLEL edges or
        more. Otherwise a tree might contain both ends of many parallel edges, which the worker that
        grows it would have to skip one by one. With fewer parallel edges, a worker skips less than
        gamma * _MANY_PARALLEL edges in a row, where gamma is the maximum number of vertices of a
        tree.
        """
        if not self.options.remove_parallel:
            return self.steps.first_level()
        level = self.steps.first_level(parallel=_MANY_PARALLEL)
        if level is None or not self.steps.has_parallel:
            return level
        return self.steps.sort_rows(self.steps.remove_duplicates(level), by_rank=True)

    def next_level(self, level: Level) -> Level | None:
        """Grow trees on a level, contract each to a vertex, and return the remaining graph.

        A level is the graph after some contractions, and the remaining graph is the next level. The
        result is None if no edge remains.
        """
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
    """Grow many trees by Prim's algorithm (Algorithm 2 of PMA), without waiting for the device.

    `steps` has the launcher and the memory. `level` is the graph on which the trees grow, and
    `growth` says how they grow. There are n / gamma workers, where gamma is the maximum size of a
    tree. A worker is a work-item, or several work-items of a sub-group.

    Returns
    -------
    owners : DeviceArray of uint32, shape (n,)
        The root of the tree of each vertex.
    chosen : DeviceArray of uint64, shape (n,)
        The edge that each vertex has chosen, as ``cl/device/edge_list.cl`` describes it.
    """
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
    members = new(n_workers * growth.gamma, PAIR)  # each element is a vertex and a position
    with launch.phase("grow trees"):
        launch.fill(owners.memory, _NO_OWNER, n)
        at_once = program.work_group_size // growth.lanes
        launch.enqueue(
            program, "pma_grow_trees", launch.groups_for(-(-n_workers // at_once)),
            rows, edges, owners, members, chosen, n, n_workers, growth.gamma,
        )  # fmt: skip
    return owners, chosen
