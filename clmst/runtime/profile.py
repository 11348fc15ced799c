"""Per-kernel times, on request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from clmst.runtime.handles import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """Launches of one kernel and the device time they took, in milliseconds."""

    launches: int
    milliseconds: float


@dataclass(slots=True)
class Profile:
    """Collects the events of a solve; the times are known once its queue has finished."""

    _events: list[tuple[str, str | None, Event]] = field(default_factory=list)

    def add(self, name: str, event: Event, phase: str | None = None) -> None:
        """Record an event of the kernel or transfer `name`, and its phase."""
        self._events.append((name, phase, event))

    def summary(self) -> dict[str, KernelTime]:
        """Return launches and device time by name, the longest first."""
        times = _totals((name, event) for name, _, event in self._events)
        return dict(sorted(times.items(), key=lambda item: -item[1].milliseconds))

    def phases(self) -> dict[str, KernelTime]:
        """Return launches and device time by phase, in the order in which phases began."""
        return _totals((phase, event) for _, phase, event in self._events if phase is not None)

    def span(self) -> tuple[float, float] | None:
        """Return when the first event started and the last ended, in seconds of the device."""
        times = [(event.profile.start, event.profile.end) for _, _, event in self._events]
        if not times:
            return None
        return 1e-9 * min(start for start, _ in times), 1e-9 * max(end for _, end in times)


def _totals(events: Iterable[tuple[str, Event]]) -> dict[str, KernelTime]:
    totals: dict[str, KernelTime] = {}
    for name, event in events:
        before = totals.get(name, KernelTime(launches=0, milliseconds=0.0))
        spent = (event.profile.end - event.profile.start) * 1e-6
        totals[name] = KernelTime(
            launches=before.launches + 1, milliseconds=before.milliseconds + spent
        )
    return totals
