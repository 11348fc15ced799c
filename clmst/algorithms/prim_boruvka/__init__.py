"""A few rounds of Borůvka's algorithm, then Prim's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clmst.algorithms.prim import PrimOptions
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimBoruvkaOptions:
    """What changes how long a solve takes, never its result.

    Attributes
    ----------
    rounds : int, optional
        Borůvka's rounds before Prim's algorithm: 0 and more. When left out, log2(log2 n) rounded
        up, with which the whole takes O(m log log n) work.
    prim : PrimOptions
        How the rest is done.
    """

    rounds: int | None = None
    prim: PrimOptions = field(default_factory=PrimOptions)

    def __post_init__(self) -> None:
        from clmst.core.arguments import check_kind

        check_kind("prim", self.prim, PrimOptions)
        if self.rounds is not None:
            check_whole_number(self, "rounds", low=0)

    def as_tested(self) -> PrimBoruvkaOptions:
        """Return the options of the self-test: rounds are counted by the host."""
        return replace(self, rounds=None)


RECORD = AlgorithmRecord(
    name="prim-boruvka",
    options=PrimBoruvkaOptions,
    purpose="Borůvka's first log log n rounds, then `prim`",
    good_for="to compare",
    rank=50,
    bytes_needed=(0, 85),
)
