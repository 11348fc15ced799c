"""Borůvka's algorithm on arrays that shrink in each round, with light edges solved first."""

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

# Maximum number of windows of a solve by the kernels for GPUs (MAX_PHASES of the kernels). A window
# is a range of the order of all edges by weight. Windows are solved one after the other.
MAX_PHASES = 4
# Maximum number of slots (CSR entries) of a graph that is solved in one launch, whose work-groups
# wait for one another. On an H200, with a limit eight times as high, solves of the nine largest
# benchmark graphs take 1.081 times as long.
RESIDENT_SLOTS = Constant("filter_boruvka.RESIDENT_SLOTS", 1 << 23)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterBoruvkaOptions:
    """Options of `filter-boruvka`: Borůvka's rounds on shrinking arrays, light edges first.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    shape : {"auto", "gpu", "cpu"}, default "auto"
        How the kernels divide their work. In the shape "gpu", many work-items share one list of
        edges, and find the lightest edge of each component by atomics. In the shape "cpu", a few
        work-items take long contiguous ranges, and each has a part of the edge list to itself. Both
        shapes run on every device.
        "auto" takes "cpu" if the work-groups of the device have one work-item and `launches` is
        "auto", else "gpu".
    targets : tuple of float, optional
        How the edges are divided into weight ranges, called windows, which are solved one after
        another. Each target is the number of edges up to the end of a window, as a multiple of the
        number of vertices; targets are positive and rise, and a last window takes the remaining
        edges. ``(1.0, 3.0)`` first takes about as many edges as there are vertices, then twice as
        many again, then the rest. With more windows, more of the heavy edges take part in no round,
        but each window takes another pass over the graph. ``()`` takes all edges at once. At most
        three targets can be given, except for ``shape="cpu"``. By default there is one target if
        the graph is large and its average degree is high enough, else none.
    launches : {"auto", "resident", "mixed", "separate"}, default "auto"
        How the steps of the shape "gpu" are divided into kernel launches. "resident" does the whole
        solve in one launch, whose work-groups wait for one another between steps. "mixed" first
        launches each step by itself, and then does the remaining rounds of a window in a single
        launch. "separate" launches each step by itself, and the host reads from the device once in
        each round. "auto" takes "resident" for small graphs and "mixed" for large ones if
        work-groups of the device may wait for one another, else "separate". If work-groups of a
        device have once waited too long, all later solves on it are "separate", whatever this
        option says.
    seed : int, default 0
        Seed of the random sample of weights from which the ends of the windows are taken, from 0 to
        2**32 - 1.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices or is out of range, or `launches` is given for
        ``shape="cpu"``.

    Notes
    -----
    With "resident" or "mixed", a solve raises :class:`~clmst.UnsupportedDeviceError` on a device
    whose compiler fails on kernels that wait, such as PoCL's.

    References
    ----------
    V. Osipov, P. Sanders, J. Singler, "The Filter-Kruskal Minimum Spanning Tree Algorithm", ALENEX
    '09, for the filter.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.FilterBoruvkaOptions(targets=(1.0,))
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    shape: Shape = "auto"
    targets: tuple[float, ...] | None = None
    launches: Launches = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check all options, and replace `targets` by a tuple of floats."""
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
                f"targets are {shown(targets)}; they must be positive and increasing"
            )
        check_whole_number(self, "seed", low=0, high=2**32 - 1)

    def as_tested(self) -> FilterBoruvkaOptions:
        """Return the options with which the self-test runs before a solve with these options.

        The same programs must be compiled for both. The seed and the ends of windows, which are
        ranges of weights, are only arguments of the kernels, so they get their defaults. Whether
        there is more than one window is kept, because a solve of one window in a single launch has
        a program of its own.
        """
        return replace(self, seed=0, targets=(1.0,) if self.targets else self.targets)

    def _numbers(self) -> tuple[float, ...]:
        """Return the targets as floats, or () if `targets` is None.

        A target is the number of edges up to the end of a window, as a multiple of the number of
        vertices. An integer above the greatest float becomes infinite, which stands for a window of
        all edges. Raises InvalidArgumentError unless the targets are numbers.
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
        """Return which kernels solve on a device with this policy: those for GPUs or for CPUs.

        `policy` has the device's settings of kernels, such as the size of a work-group.
        """
        if self.shape != "auto":
            return self.shape
        alone, given = policy.work_group_size == 1, self.launches != "auto"
        return route.shape_of_rounds(alone=alone, launches_given=given)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


# Maximum number of vertices. A link, the word that leads from a vertex towards its supervertex, has
# 30 bits for a number (LINK_NUMBER), and there may be as many supervertices as vertices.
MAX_VERTICES = 1 << 30


def launches_on(device: Device, n_slots: int, launches: Launches = "auto") -> UsualLaunches:
    """Choose how the steps of a solve by the kernels for GPUs are divided into launches.

    `n_slots` is the number of CSR entries of the graph, and `launches` is the option of
    :class:`FilterBoruvkaOptions`, which explains the results. If work-groups of this device may not
    wait for one another, the result is "separate". Otherwise it is `launches`, or, for "auto", what
    is faster for a graph of this size on this device.
    """
    policy = device.policy
    if not device.groups_may_wait:
        return "separate"
    if launches != "auto":
        return launches
    if not (policy.resident_groups_per_compute_unit and device.capabilities.has_device_fence):
        return "separate"
    return route.launches_of_rounds(n_slots, most_resident=RESIDENT_SLOTS.under(policy))


def _bytes_needed(policy: Policy) -> tuple[int, int]:
    """Return the maximum device memory of a solve, as bytes per vertex and bytes per edge.

    The numbers are for the kernels that a device uses by default: the kernels for CPUs if `policy`
    sets work-groups of one work-item, otherwise the kernels for GPUs.
    """
    # The result is a pair: the bytes of device memory for each vertex, and those for each edge.
    # With the kernels for GPUs, the lists of remaining edges may hold all edges. A forest that is
    # not copied to the host at once is stored three times: as positions in the CSR, as endpoints,
    # and packed. The numbers hold for weights of 64 bits, too.
    return (40, 22) if policy.work_group_size == 1 else (60, 34)


def _variant_of(graph: DeviceGraph) -> tuple[str, FilterBoruvkaOptions] | None:
    """Return which kernels solve a graph by default, and options that select these kernels.

    The kernels are named by a text such as "one launch". They have a self-test of their own, which
    is run with the options. Returns None if each step is a launch of its own, because the usual
    self-test covers these kernels.
    """
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
    """Return the name of some of the kernels, and options that select these kernels.

    The result is cached, because making the options takes microseconds, which would be a notable
    part of a small solve.
    """
    if name == "many launches":
        return name, FilterBoruvkaOptions(launches="mixed")
    # A target is the number of edges per vertex that the first window of weights should have. If a
    # target is given, a solve has two windows even on the small graphs of the self-test. To test
    # the kernels for a single window, no target is given.
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
