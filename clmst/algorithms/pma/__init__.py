"""PMA: trees grown in parallel by Prim's algorithm, then contracted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import (
    AlgorithmRecord,
    check_alternatives,
    check_switches,
    check_whole_number,
)

Variant: TypeAlias = Literal["min", "sort", "hybrid"]
Workers: TypeAlias = Literal["auto", "items", "lanes"]

LEAST_GAMMA = 2  # a tree of one vertex chooses no edge


@dataclass(frozen=True, slots=True, kw_only=True)
class PmaOptions:
    """Options of `pma`, which grows many trees at once by Prim's algorithm and contracts them.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    variant : {"min", "sort", "hybrid"}, default "sort"
        How a tree finds the lightest edge that leads out of it. In "min", it searches each row for
        its lightest edge and moves this edge to the front of the row, where it is used until it no
        longer leads out of the tree. In "sort", the rows are sorted by weight on every level, and a
        tree goes through each row once. "hybrid" is "min" on the first level and "sort" on all
        others. The rows of the first level are sorted in any case.
    gamma : int, optional
        Maximum number of vertices of a tree, 2 or more. About n / gamma work-items (or groups of
        work-items) grow trees at the same time, so a larger value means fewer levels and less
        parallelism. By default it is chosen on each level from the average degree. In the paper, 5
        to 8 is best for degrees from 2 to 6, and up to 200 for dense graphs.
    remove_parallel : bool, default True
        Whether only the lightest of several edges between two supervertices is kept after a
        contraction. If off, all stay. On the first level parallel edges are removed only if 64 or
        more join the same two vertices somewhere.
    workers : {"auto", "items", "lanes"}, default "auto"
        What grows a tree: one work-item ("items"), or a group of work-items that run in lockstep
        and go through a row together ("lanes"). "auto" takes groups on levels with long rows, if
        work-items of the device can run in lockstep, else single work-items.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices or is out of range.

    Notes
    -----
    With ``workers="lanes"``, a solve raises :class:`~clmst.InvalidArgumentError` on a device whose
    lanes cannot work together.

    References
    ----------
    S. Nobari, T.-T. Cao, P. Karras, S. Bressan, "Scalable Parallel Minimum Spanning Forest
    Computation", PPoPP '12.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.PmaOptions(variant="min", gamma=8)
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    variant: Variant = "sort"
    gamma: int | None = None
    remove_parallel: bool = True
    workers: Workers = "auto"

    def __post_init__(self) -> None:
        check_alternatives(self, variant=Variant, workers=Workers)
        if self.gamma is not None:
            check_whole_number(self, "gamma", low=LEAST_GAMMA)
        check_switches(self, "remove_parallel")

    def as_tested(self) -> PmaOptions:
        """Return the options with which the self-test runs before a solve with these options.

        The same programs must be compiled for both. The maximum size of a tree, `gamma`, is only an
        argument of the kernels, so it gets its default.
        """
        return replace(self, gamma=None)


RECORD = AlgorithmRecord(
    name="pma",
    options=PmaOptions,
    purpose="many Partial Prim trees at once, united, again",
    good_for="to compare",
    rank=70,
    bytes_needed=(0, 83),
)
