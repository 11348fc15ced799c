"""A complete graph on a device: a matrix of weights, or points whose distances are the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from clmst.core import powers
from clmst.core.arguments import (
    check_bool,
    check_choice,
    check_dict,
    check_integer,
    check_kind,
    check_text,
    shown,
)
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, OutOfDeviceMemoryError
from clmst.core.lazy import LazyField, known
from clmst.core.points import Points
from clmst.core.weight_keys import WEIGHT_KINDS, Array, WeightKind, encode
from clmst.runtime import failures
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_memory import check_capacity
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer

CompleteGraph: TypeAlias = DenseGraph | Points

# For each metric: the value of the macro METRIC in cl/device/distance.cl, the width of a weight in
# bits, and the kind of number that a weight is.
METRICS: dict[str, tuple[int, int, WeightKind]] = {
    "euclidean": (1, 64, "float"),
    "rounded-euclidean": (2, 32, "unsigned"),
    "great-circle": (3, 32, "unsigned"),
    "manhattan": (4, 64, "float"),
    "chebyshev": (5, 64, "float"),
    "cosine": (6, 64, "float"),
    "minkowski": (7, 64, "float"),
    "hamming": (8, 64, "float"),
    "jaccard": (9, 64, "float"),
    "canberra": (10, 64, "float"),
    "braycurtis": (11, 64, "float"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Consecutive rows of a matrix in one buffer."""

    first: int  # the number, in the whole matrix, of the first row of the panel
    n_rows: int
    cells: Memory  # the cells, row by row, or for points all coordinates

    def __post_init__(self) -> None:
        """Raise unless `first` and `n_rows` are integers of at least 0."""
        check_integer("first", self.first, low=0)
        check_integer("n_rows", self.n_rows, low=0)


def _check_panels(panels: Any) -> None:
    for panel in check_kind("panels", panels, tuple):
        check_kind("a panel", panel, Panel)


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceMatrix:
    """A complete graph on a device, for any number of solves, as :func:`to_device` creates it.

    Attributes
    ----------
    graph : DenseGraph or Points
        The graph on the host.
    device : Device
        The device that has the matrix or the points.
    panels : tuple of Panel
        The rows of the matrix. For points it is one panel with the coordinates, which is uploaded
        when it is first read. Algorithms that compare the coordinates of points row by row, as in
        many dimensions, do not read it.
    bits, kind : int, str
        The width of a weight in bits, and the kind of number from which its sort key is computed.
    plans : dict
        Memory and data that algorithms keep for the next solve.
    forms : dict
        Data that algorithms have derived from the coordinates of points alone, and keep for the
        next solve. The same points with other core distances share this dictionary.
    core : DeviceArray, optional
        Core distances that the device has computed and the host has not read. Like the coordinates
        in :attr:`Points.planes`, they are divided by a power of two, so that the squares of very
        large or very small coordinates stay in the range of doubles. The power is 1 for all other
        coordinates.

    Examples
    --------
    >>> import clmst
    >>> stored = clmst.to_device(clmst.Points([[0, 0], [0, 3], [4, 3], [4, 0]]))
    >>> stored.n_vertices
    4
    >>> clmst.minimum_spanning_forest(stored).total_weight
    10.0
    """

    graph: CompleteGraph
    device: Device
    panels: LazyField[tuple[Panel, ...]] = LazyField(_check_panels)
    bits: int
    kind: WeightKind
    plans: dict[Any, Any]
    forms: dict[Any, Any] = field(default_factory=dict)
    core: DeviceArray | None = None

    def __post_init__(self) -> None:
        """Check that the panels, which are buffers, hold every row once and are large enough.

        The cells in them are not checked.
        """
        check_kind("device", self.device, Device)
        graph, bits = _checked_graph(self.graph), self.bits
        if isinstance(graph, Points):
            stored: tuple[int, str] = METRICS[graph.compared_as][1:]
            n_bytes = sum(part.nbytes for part in _parts(graph))
        else:
            width = 8 * graph.weight_dtype.itemsize
            stored = (
                32 if bits == 32 < width else width,
                check_choice("kind", self.kind, tuple(WEIGHT_KINDS)),
            )
            n_bytes = 0
        if (check_integer("bits", bits), check_text("kind", self.kind)) != stored:
            raise InvalidArgumentError(
                f"bits and kind are {bits} and {self.kind!r}; of this graph they must be "
                f"{stored[0]} and {stored[1]!r}"
            )
        check_dict("plans", self.plans)
        check_dict("forms", self.forms)
        if self.core is not None:
            check_kind("core", self.core, DeviceArray)
        if (panels := known(self, "panels")) is None:
            return
        row = 0
        for panel in panels:
            row += panel.n_rows if panel.first == row else self.n_vertices + 1
            needed = n_bytes or panel.n_rows * self.n_vertices * bits // 8
            check_capacity("a panel's cells", panel.cells, needed, self.device)
        if row != self.n_vertices:
            raise InvalidArgumentError(
                f"the panels must hold each of the {self.n_vertices} rows exactly once, and do not"
            )

    def __repr__(self) -> str:
        return f"DeviceMatrix({self.graph!r}, on {self.device.description})"

    @classmethod
    def upload(cls, graph: CompleteGraph, device: Device) -> DeviceMatrix:
        """Copy `graph` to `device`, or use it in place if the device works in the host's memory.

        Raises
        ------
        OutOfDeviceMemoryError
            The matrix, or the coordinates of the points, do not fit the device. The message gives
            the bytes needed and available. The check comes before any kernel is built.
        """
        check_kind("device", device, Device)
        n = _checked_graph(graph).n_vertices
        if isinstance(graph, Points):
            _, bits, kind = METRICS[graph.compared_as]
            _check_coordinates(graph, device)
            panels: Any = partial(_upload_points, graph, device)
        else:
            encoded = encode(graph.weights.ravel())
            bits, kind = 8 * encoded.bits.dtype.itemsize, encoded.kind
            panels = _upload(encoded.bits.reshape(n, n), device)
        return cls(graph=graph, device=device, panels=panels, bits=bits, kind=kind, plans={})

    def with_core_distances(self, core: Array | DeviceArray) -> DeviceMatrix:
        """Return this graph of points with core distances, so that mutual reachability is solved.

        Coordinates that are on the device already are reused.

        Raises InvalidArgumentError if the graph is a matrix.

        Parameters
        ----------
        core : ndarray or DeviceArray of float64, shape (n,)
            One distance per point. The values of a DeviceArray must be divided by a power of two,
            as :attr:`core` describes. They are not checked.
        """
        if not isinstance(self.graph, Points):
            raise InvalidArgumentError("the matrix has no points; only points have core distances")
        points, on_device = self.graph, None
        if isinstance(core, DeviceArray):
            on_device = core
        else:
            points = points.with_core_distances(core)
        planes = known(self, "panels")
        panels: Any = partial(_upload_points, points, self.device, planes, on_device)
        return replace(self, graph=points, core=on_device, panels=panels, plans={})

    @property
    def has_core_distances(self) -> bool:
        """Whether weights are mutual reachability distances."""
        graph = self.graph
        on_host = isinstance(graph, Points) and graph.core_distances is not None
        return on_host or self.core is not None

    def core_on_device(self) -> Memory | None:
        """Return the core distances in the device's memory, or None if there are none.

        They are divided by the same power of two as the coordinates in :attr:`Points.planes`.
        """
        if self.core is not None:
            return self.core.memory
        core = self.graph.divided_core if isinstance(self.graph, Points) else None
        return None if core is None else self.device.upload(core)

    def graph_on_host(self) -> CompleteGraph:
        """Return the graph on the host, after reading core distances that only the device has."""
        if self.core is None:
            return self.graph
        assert isinstance(self.graph, Points)
        return self.graph.with_core_distances(self.graph.multiplied(self.core.to_host()))

    @property
    def caches(self) -> list[dict[Any, Any]]:
        """The dictionaries that must be emptied when a solve fails."""
        return [self.plans, self.forms]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.graph.n_vertices

    @property
    def dimensions(self) -> int:
        """Number of coordinates of a point as stored on the device, or 0 for a matrix."""
        return self.graph.dimensions if isinstance(self.graph, Points) else 0

    def check_memory(self) -> None:
        """Raise :class:`DeviceLostError` if the buffers were lost when the device failed."""
        for panel in known(self, "panels") or ():  # None before the panels are first read
            failures.check_memory(self.device, panel.cells)

    def defines(self, *, maximum: bool) -> dict[str, int]:
        """Return the macros that select how kernels read or compute weights.

        `maximum` says whether a maximum spanning forest is wanted.
        """
        check_bool("maximum", maximum)
        source = {"COMPLETE": 1}
        if isinstance(self.graph, Points):
            source |= {
                **metric_defines(self.graph),
                "DIMENSION_CLASS": dimension_class(self.dimensions),
                "CORE_DISTANCES": int(self.has_core_distances),
            }
        return source | weight_defines(self.bits, self.kind, maximum=maximum)


def metric_defines(points: Points) -> dict[str, int]:
    """Return the macros of cl/device/distance.cl and power.cl that select the metric of points."""
    defines = {"METRIC": METRICS[points.compared_as][0]}
    if points.p is not None:
        whole, fraction = powers.digits(points.p)
        defines |= {
            "POWER_WHOLE": whole,
            "POWER_FRACTION_HIGH": fraction >> 32,
            "POWER_FRACTION_LOW": fraction & 0xFFFFFFFF,
        }
    return defines


def _check_coordinates(points: Points, device: Device) -> None:
    """Raise OutOfDeviceMemoryError unless the device can hold the coordinates of the points."""
    n, d, has = points.n_vertices, points.dimensions, device.capabilities
    needed = 8 * n * d
    if needed > min(has.global_memory, has.max_allocation):
        raise OutOfDeviceMemoryError(
            f"{n} points of {d} dimensions need {gigabytes(needed)} for their coordinates alone; "
            f"{device.description} has {gigabytes(has.global_memory)} in all, and allocates at "
            f"most {gigabytes(has.max_allocation)} in one piece"
        )


def dimension_class(dimensions: int) -> int:
    """Return the number of dimensions for which kernels of points are built, or 0.

    Kernels are built for 2 and for 3 dimensions. The result is 0 for any other number, which these
    kernels get as an argument. It is the value of the macro DIMENSION_CLASS in
    cl/device/distance.cl.
    """
    return dimensions if dimensions in (2, 3) else 0


def _checked_graph(graph: Any) -> CompleteGraph:
    if not isinstance(graph, DenseGraph | Points):
        raise InvalidArgumentError(f"graph is {shown(graph)}; it must be a DenseGraph or Points")
    return graph


def _parts(points: Points) -> tuple[Array, ...]:
    """Return the two arrays of points that kernels read, in the order in which a buffer has them.

    The first holds the coordinates. The second holds the core distances, or `Points.steps` if the
    points lack core distances.
    """
    core = points.divided_core
    return (points.planes, points.steps if core is None else core)


def make_panels(
    n: int, item_bytes: int, device: Device, make: Callable[[int, int], Any]
) -> tuple[Panel, ...]:
    """Divide the rows of an n x n matrix into panels, each of which fits into one buffer.

    A cell of the matrix has `item_bytes` bytes. ``make(first, last)`` creates the buffer of the
    rows first to last - 1. Raises OutOfDeviceMemoryError if the matrix is larger than the device's
    memory, or if one row is larger than the largest allocation.
    """
    row_bytes, has = n * item_bytes, device.capabilities
    needed = n * row_bytes
    if needed > has.global_memory or row_bytes > has.max_allocation:
        raise OutOfDeviceMemoryError(
            f"a matrix of {n} x {n} cells of {item_bytes} bytes needs {gigabytes(needed)}; "
            f"{device.description} has {gigabytes(has.global_memory)} in all, so 'dense' takes at "
            f"most {most_vertices(device, item_bytes)} vertices there"
        )
    at_once = max(min(n, has.max_allocation // max(row_bytes, 1)), 1)
    bounds = [(first, min(first + at_once, n)) for first in range(0, n, at_once)]
    return tuple(Panel(first=a, n_rows=b - a, cells=make(a, b)) for a, b in bounds)


def most_vertices(device: Device, item_bytes: int = 4) -> int:
    """Return the maximum number n for which an n x n matrix fits into the memory of a device.

    A cell of the matrix has `item_bytes` bytes.
    """
    has = device.capabilities
    most = int(np.sqrt(np.float64(has.global_memory // item_bytes)))
    return min(most, has.max_allocation // item_bytes)


def gigabytes(n_bytes: int) -> str:
    """Format a number of bytes in GiB, followed by the exact number."""
    return f"{n_bytes / 2**30:,.1f} GiB ({n_bytes} bytes)"


def _upload_points(
    points: Points, device: Device, known_planes: tuple[Panel, ...] | None = None,
    core: DeviceArray | None = None,
) -> tuple[Panel, ...]:  # fmt: skip
    """Put points into one buffer: all first coordinates, then all second ones, and so on.

    The second array of :func:`_parts` follows them. If the device has the coordinates already,
    `known_planes` holds them in its first panel. If it has the core distances already, `core` is
    their array. Arrays that the device has are copied on it. None means that the host has them.
    """
    n = points.n_vertices
    planes, others = (part.ravel() for part in _parts(points))
    nothing_is_there = known_planes is None and core is None
    if device.capabilities.host_arrays != "copied" or nothing_is_there:
        others = others if core is None else core.to_host()
        doubles = np.concatenate((planes, others)) if others.size else planes
        return (Panel(first=0, n_rows=n, cells=device.upload(doubles)),)
    sources: tuple[tuple[Array, Memory | None, int], ...] = (
        (planes, known_planes[0].cells if known_planes else None, planes.nbytes),
        (others, None, others.nbytes) if core is None else (others, core.memory, core.nbytes),
    )
    cells = device.allocate(sum(n_bytes for *_, n_bytes in sources))
    launch, offset = Launcher(device, device.queue), 0
    with device.lock, failures.Guard(device):
        for array, on_device, n_bytes in sources:
            if on_device is not None:
                launch.copy(on_device, cells, n_bytes, offset)
            elif n_bytes:
                piece = Transfer(buffer=cells, array=array, offset=offset)
                device.send([piece], wait=False)
            offset += n_bytes
    return (Panel(first=0, n_rows=n, cells=cells),)


def _upload(cells: Array, device: Device) -> tuple[Panel, ...]:
    """Upload a matrix as panels, which are buffers with some consecutive rows each.

    If the device works in the host's memory, the array `cells` is used in place.
    """
    n = cells.shape[0]
    if device.capabilities.host_arrays != "copied":
        return (Panel(first=0, n_rows=n, cells=device.upload(cells.ravel())),)

    def upload(first: int, last: int) -> Any:
        return device.upload(cells[first:last].ravel())

    return make_panels(n, cells.dtype.itemsize, device, upload)
