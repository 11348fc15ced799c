"""Per-kernel times, on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """Launches of one kernel and the device time they took, in milliseconds."""

    launches: int
    milliseconds: float


@dataclass(slots=True)
class Profile:
    """Collects the events of a solve; the times are known once its queue has finished."""

    _events: list[tuple[str, Any]] = field(default_factory=list)

    def add(self, name: str, event: Any) -> None:
        """Note an event of the kernel or transfer `name`."""
        self._events.append((name, event))

    def summary(self) -> dict[str, KernelTime]:
        """Return launches and device time by name, the longest first."""
        totals: dict[str, tuple[int, float]] = {}
        for name, event in self._events:
            launches, spent = totals.get(name, (0, 0.0))
            milliseconds = (event.profile.end - event.profile.start) * 1e-6
            totals[name] = (launches + 1, spent + milliseconds)
        ranked = sorted(totals.items(), key=lambda item: -item[1][1])
        return {
            name: KernelTime(launches=launches, milliseconds=spent)
            for name, (launches, spent) in ranked
        }
