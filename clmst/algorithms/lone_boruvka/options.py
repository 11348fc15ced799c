"""What can be chosen about lone-boruvka."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.algorithms.shared.windows import check_windows, checked_targets


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneBoruvkaOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    targets : tuple of float, optional
        Upper ends of the windows of edges that go one after the other, as numbers of edges in
        multiples of the number of vertices, rising; a last window takes the rest. ``()``: all edges
        at once. None: what the device's tuning has, where the average degree is high enough.
    seed : int
        Of the sample of weights that sets the ends of windows.
    """

    targets: tuple[float, ...] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        check_windows(checked_targets(self.targets) or (), self.seed)
