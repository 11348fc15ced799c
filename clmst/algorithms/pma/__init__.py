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
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    variant : {"min", "sort", "hybrid"}
        How a tree finds the lightest edge that leads out of it. "min": each row's by going through
        the row, and it is moved to the front, where it is found until it leads out no more. "sort":
        rows are sorted by weight on every level; each row is gone through once, and the position
        reached is remembered. "hybrid": "min" on the first level, "sort" on all others. Rows of
        the first level are sorted in any case.
    gamma : int, optional
        Vertices that a tree has at most, 2 or more; of n vertices n / gamma workers grow trees.
        Chosen from each level's average degree when left out.
    remove_parallel : bool
        Keep only the lightest of several edges between two supervertices; otherwise all stay. On
        the first level that is done if 64 edges or more join the same two vertices somewhere.
    workers : {"auto", "items", "lanes"}
        What grows a tree: a work-item, or a lane group, which goes through a row together. "auto":
        lane groups on levels with long rows, where the device has such; else work-items.

    Raises
    ------
    InvalidArgumentError
        A value that is none of these.
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
        """Return the options of the self-test: gamma is an argument of the kernels."""
        return replace(self, gamma=None)


RECORD = AlgorithmRecord(
    name="pma",
    options=PmaOptions,
    purpose="many Partial Prim trees at once, united, again",
    good_for="to compare",
    rank=70,
    bytes_needed=(0, 83),
)
