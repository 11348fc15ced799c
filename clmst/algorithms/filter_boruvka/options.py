"""What can be chosen about filter-boruvka."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.options import check_alternatives
from clmst.algorithms.shared.windows import check_windows, checked_targets
from clmst.core.errors import InvalidArgumentError

Launches: TypeAlias = Literal["auto", "resident", "mixed", "separate"]

# Windows of edges that a solve can have (MAX_PHASES of the kernels).
MAX_PHASES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterBoruvkaOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    targets : tuple of float, optional
        Upper ends of the windows of edges that go one after the other, as numbers of edges in
        multiples of the number of vertices, rising; a last window takes the rest. ``()``: all edges
        at once. None: what the device's tuning has, where the average degree is high enough.
    launches : {"auto", "resident", "mixed", "separate"}
        "resident": the whole solve in one launch of work-groups that wait for one another. "mixed":
        a launch a step first, what is left of a phase in one. "separate": a launch a step, and one
        read-back a round. "auto": the first two by the size of the graph, on devices whose tuning
        says that work-groups may wait; else the last. A device whose compiler fails on kernels that
        wait (PoCL) refuses the first two by :class:`~clmst.UnsupportedDeviceError`.
    seed : int
        Of the sample of weights that sets the ends of windows.
    """

    targets: tuple[float, ...] | None = None
    launches: Launches = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        check_alternatives(self, launches=Launches)
        targets = checked_targets(self.targets) or ()
        if len(targets) >= MAX_PHASES:
            raise InvalidArgumentError(
                f"there are {len(targets)} targets; at most {MAX_PHASES - 1} can be given"
            )
        check_windows(targets, self.seed)
