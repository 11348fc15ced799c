"""Borůvka's rounds on ever smaller arrays, light edges first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from clmst import route
from clmst.algorithms.shared.algorithm_record import (
    AlgorithmRecord,
    check_alternatives,
    check_whole_number,
    set_option,
)
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.policy import Constant

if TYPE_CHECKING:
    from clmst.runtime.device import Device
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy

Launches: TypeAlias = Literal["auto", "resident", "mixed", "separate"]
UsualLaunches: TypeAlias = Literal["resident", "mixed", "separate"]
Shape: TypeAlias = Literal["auto", "gpu", "cpu"]

# Windows of edges that a solve in the shape of a GPU can have (MAX_PHASES of the kernels).
MAX_PHASES = 4
# Slots up to which a graph is solved in one launch of work-groups that wait for one another. On an
# H200, eight times as many take 1.081 of the time on the nine largest benchmark graphs.
RESIDENT_SLOTS = Constant("filter_boruvka.RESIDENT_SLOTS", 1 << 23)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterBoruvkaOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    shape : {"auto", "gpu", "cpu"}
        "gpu": worklists that many work-items share, and reservations by atomics. "cpu": long
        contiguous ranges for a few work-items, each with a segment of the edge list to itself.
        "auto": "cpu" where the work-groups of the device are of one work-item and `launches` is
        "auto", else "gpu". Both shapes run on every device.
    targets : tuple of float, optional
        Upper ends of the windows of edges that go one after the other, as numbers of edges in
        multiples of the number of vertices, rising; a last window takes the rest. At most three,
        but for ``shape="cpu"``. ``()``: all edges at once. None: what the device's policy has,
        where the average degree is high enough.
    launches : {"auto", "resident", "mixed", "separate"}
        Of the shape "gpu". "resident": the whole solve in one launch of work-groups that wait for
        one another. "mixed": a launch a step first, the remaining rounds of a phase in one.
        "separate": a launch a step, and one read-back a round. "auto": the first two by the size
        of the graph, on devices whose policy says that work-groups may wait; else the last. A
        device whose compiler fails on kernels that wait (PoCL) refuses the first two by
        :class:`~clmst.UnsupportedDeviceError`.
    seed : int
        Of the sample of weights that sets the ends of windows.
    """

    shape: Shape = "auto"
    targets: tuple[float, ...] | None = None
    launches: Launches = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        from clmst.core.arguments import shown

        check_alternatives(self, shape=Shape, launches=Launches)
        targets = self._numbers()
        set_option(self, "targets", None if self.targets is None else targets)
        if self.shape == "cpu":
            if self.launches != "auto":
                raise InvalidArgumentError(
                    f"launches is {self.launches!r} and shape is 'cpu'; only the shape 'gpu' has "
                    "several kinds of launches"
                )
        elif len(targets) >= MAX_PHASES:
            raise InvalidArgumentError(
                f"there are {len(targets)} targets; at most {MAX_PHASES - 1} can be given, unless "
                "shape is 'cpu'"
            )
        if any(not low < high for low, high in zip((0.0, *targets), targets, strict=False)):
            raise InvalidArgumentError(
                f"targets are {shown(targets)}; they must be positive and rise"
            )
        check_whole_number(self, "seed", low=0, high=2**32 - 1)

    def as_tested(self) -> FilterBoruvkaOptions:
        """Return the options of the self-test: the seed and the ends of windows are arguments.

        Solves of one window alone, in a single launch, have a program of their own.
        """
        return replace(self, seed=0, targets=(1.0,) if self.targets else self.targets)

    def _numbers(self) -> tuple[float, ...]:
        """Return the targets as floats, none if the device chooses; raise unless they are numbers.

        An integer that is too large for a float is infinite, as a window of all edges is.
        """
        import numpy as np

        from clmst.core.arguments import shown

        targets = () if self.targets is None else self.targets
        if isinstance(targets, list | tuple) and all(
            isinstance(one, int | float | np.integer | np.floating) and not isinstance(one, bool)
            for one in targets
        ):
            return tuple(map(_as_float, targets))
        raise InvalidArgumentError(f"targets are {shown(targets)}; they must be a tuple of numbers")

    def shape_under(self, policy: Policy) -> Literal["gpu", "cpu"]:
        """Return the shape of solves on a device of such a policy."""
        if self.shape != "auto":
            return self.shape
        alone, given = policy.work_group_size == 1, self.launches != "auto"
        return route.shape_of_rounds(alone=alone, launches_given=given)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


# Links hold 30 bits of a supervertex (LINK_NUMBER), of which there may be as many as vertices.
MAX_VERTICES = 1 << 30


def launches_on(device: Device, n_slots: int, launches: Launches = "auto") -> UsualLaunches:
    """Return how a graph of so many slots is launched in the shape of a GPU, by the option."""
    policy = device.policy
    if not device.groups_may_wait:
        return "separate"
    if launches != "auto":
        return launches
    if not (policy.resident_groups_per_compute_unit and device.capabilities.has_device_fence):
        return "separate"
    return route.launches_of_rounds(n_slots, most_resident=RESIDENT_SLOTS.under(policy))


def _bytes_needed(policy: Policy) -> tuple[int, int]:
    """Return what a solve takes in the device's own shape."""
    # In the shape of a GPU worklists may hold all edges. A forest that does not come to the host at
    # once is there three times, as slots, as endpoints, and packed; with weights of 64 bits, too.
    return (40, 22) if policy.work_group_size == 1 else (60, 34)


def _variant_of(graph: DeviceGraph) -> tuple[str, FilterBoruvkaOptions] | None:
    """Return which programs solve a graph where work-groups may wait for one another."""
    launches = launches_on(graph.device, graph.n_slots)
    if launches == "separate":
        return None
    if launches == "mixed":
        return _variant("many launches")
    from clmst.algorithms.shared.windows import may_have_windows

    return _variant("one launch" if may_have_windows(graph, None) else "one launch, one window")


@cache
def _variant(
    name: Literal["many launches", "one launch", "one launch, one window"],
) -> tuple[str, FilterBoruvkaOptions]:
    """Return a variant and its options: made once, since a small solve notices microseconds."""
    if name == "many launches":
        return name, FilterBoruvkaOptions(launches="mixed")
    # As the usual windows are, but for all graphs, or for none.
    return name, FilterBoruvkaOptions(targets=(1.0,) if name == "one launch" else ())


RECORD = AlgorithmRecord(
    name="filter-boruvka",
    options=FilterBoruvkaOptions,
    purpose="Borůvka's rounds on arrays that shrink, light edges first; in two shapes",
    good_for="GPUs and CPUs; the quickest on all large sparse graphs measured",
    rank=20,
    most_vertices=lambda _: MAX_VERTICES,
    bytes_needed=_bytes_needed,
    takes_any_graph=True,
    variant_of=_variant_of,
)
