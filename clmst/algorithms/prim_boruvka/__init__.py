"""A few rounds of Borůvka's algorithm, and then Prim's algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clmst.algorithms.prim import PrimOptions
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimBoruvkaOptions:
    """Options of `prim-boruvka`: a few rounds of Borůvka's algorithm, then Prim's.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    rounds : int, optional
        Number of Borůvka's rounds before Prim's algorithm, 0 or more. Each round at least halves
        the number of vertices, with the whole device at work; Prim's algorithm then needs one
        work-item for each component. By default it is log2(log2 n), rounded up, which makes O(m log
        log n) work in all.
    prim : PrimOptions
        Options of Prim's algorithm, which solves the remaining graph.

    Raises
    ------
    InvalidArgumentError
        A value has the wrong type or is out of range.

    References
    ----------
    Y. Sun, K. Skadron, "Prefix Scan and Minimum Spanning Tree with OpenCL", 2013, section 6 (future
    work).

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.PrimBoruvkaOptions(rounds=1, prim=clmst.PrimOptions(queue="heap"))
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    rounds: int | None = None
    prim: PrimOptions = field(default_factory=PrimOptions)

    def __post_init__(self) -> None:
        from clmst.core.arguments import check_kind

        check_kind("prim", self.prim, PrimOptions)
        if self.rounds is not None:
            check_whole_number(self, "rounds", low=0)

    def as_tested(self) -> PrimBoruvkaOptions:
        """Return the options with which a self-test compiles the same programs as these options.

        The number of `rounds` does not affect the programs, because the host counts rounds. So it
        gets its default.
        """
        return replace(self, rounds=None)


RECORD = AlgorithmRecord(
    name="prim-boruvka",
    options=PrimBoruvkaOptions,
    purpose="Borůvka's first log log n rounds, then `prim`",
    good_for="to compare",
    rank=50,
    bytes_needed=(0, 85),
)
