"""Pack points in device memory, in the layout for kernels that compare points tile by tile.

A tile is a rectangle of the matrix of all distances, some rows and 128 columns, which a work-group
computes together. The kernels that pack are in ``cl/algorithms/dense/pack.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.dense import Filter
from clmst.algorithms.families import tiles_refusal
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.points import Points
from clmst.core.quotients import DIVIDED
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import METRICS, DeviceMatrix, gigabytes, metric_defines
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

SOURCE = "algorithms/dense/pack.cl"

# The size of a tile: some rows and some columns of the matrix, which a work-group compares with
# each other (macros of cl/algorithms/dense/tile.cl).
#   TILE_COLUMNS   columns of a tile
#   _CHUNK         coordinates that are taken at a time (CHUNK)
#   _ROWS_ALONE    rows of a tile (TILE_ROWS) for work-groups with one work-item
TILE_COLUMNS, _CHUNK, _ROWS_ALONE = 128, 16, 64
_WORK_GROUP = 256
# Maximum number of registers of a work-item. With this limit two work-groups fit on a
# multiprocessor of NVIDIA's GPUs at the same time (benchmarks/log.md).
_REGISTERS = 128
# Number of work-groups per compute unit in a launch over tiles. Each work-group takes one tile
# after the other. On NVIDIA's GPUs two of them run at a time, and the third begins when one has
# ended.
_GROUPS_PER_UNIT = 3
# How a tile (some rows and columns of the matrix) is divided among work-items. A work-item computes
# 8 columns of _OWN_ROWS rows on NVIDIA's GPUs, and of _FEW_OWN_ROWS rows on other devices, which
# have fewer registers. _LANES_A_ROW work-items share each row of the tile.
_OWN_ROWS, _FEW_OWN_ROWS, _LANES_A_ROW = 8, 4, 16
# Before tile kernels compute inner products, a center is subtracted from all points. The center is
# the median of this number of sampled points.
_SAMPLE = 64
# Tile kernels can estimate distances from inner products, which is fast but less accurate. The
# estimates only serve to rule out pairs. A sample of points, as rows and columns, decides whether
# they are accurate enough for that.
#   _SAMPLED_COLUMNS   number of sampled columns
#   _COLUMNS_A_ROW     number of sampled columns for each sampled row
#   _MOST_AS_NEAR      maximum average number of columns that seem as near to a row as its nearest
#                      column because of rounding
_SAMPLED_COLUMNS, _COLUMNS_A_ROW, _MOST_AS_NEAR = 128, 8, 2.0
_PRODUCTS = "FILTER_PRODUCTS"
# Keys of the dict `DeviceMatrix.forms`, which keeps data for later solves of the same points. Under
# _PACKED are the points as :class:`PackedPoints`. Under _SEPARATED is a bool: whether inner
# products are accurate enough to tell the nearest points apart.
_PACKED, _SEPARATED = "packed points", "products separate"
HAVE_SQUARES = ("euclidean", "cosine", "rounded-euclidean")


def gains_by_products(matrix: DeviceMatrix) -> bool:
    """Return whether it is faster to estimate distances from products of coordinates.

    Tile kernels first estimate distances in float32 (``cl/algorithms/dense/filter.cl``). For the
    metrics in HAVE_SQUARES, a squared distance can be estimated as x·x + y·y - 2 x·y. This is
    faster if there are enough points and dimensions; :mod:`clmst.route` has the limits. This
    function does not check whether the estimates are accurate enough for the points of `matrix`.
    """
    points, alone = _points_of(matrix), matrix.device.policy.work_group_size == 1
    is_long = route.long_enough_for_products(points.n_vertices, points.dimensions, alone=alone)
    return points.compared_as in HAVE_SQUARES and is_long


def refusal(matrix: DeviceMatrix, *, neighbours: bool = False, by: Filter = "auto") -> str | None:
    """Return the reason against tile kernels on a device, or None if it is trusted with them.

    Tile kernels compare all pairs of points, one rectangle of the distance matrix after the other.
    A device is trusted if it has passed their self-test. `matrix` has the points. `by` is the
    option `filter` of :class:`clmst.DenseOptions`, which says how distances are estimated. With
    "auto", the kernels that estimate them from products are tested first if they may be used,
    because the other kernels are then seldom needed. `neighbours` asks for core distances instead
    of spanning trees.
    """
    reason = None
    if by == "products" or (by == "auto" and gains_by_products(matrix)):
        reason = tiles_refusal(matrix, neighbours=neighbours, products=True)
        if reason is None or by == "products":
            return reason
    return tiles_refusal(matrix, neighbours=neighbours)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPoints:
    """Points on a device: in float64 row by row, and in float32 in two layouts for tile kernels.

    A tile kernel computes the distances of some points to 128 others at a time. ``pack.cl``
    computes both float32 layouts.
    """

    device: Device
    defines: dict[str, int]  # macros of the tile kernels; they do not depend on n or d
    n: int  # number of points
    d: int  # number of coordinates
    padded: int  # number of coordinates in a float32 row: d, rounded up
    rows: Memory  # float64, shape (n * d,); may be memory of the host that the device reads
    center: Memory  # float64, shape (d,); may be memory of the host that the device reads
    singles: DeviceArray  # float32: one point after the other, read for the rows of tiles
    packs: DeviceArray  # float32: 16 points interleaved, read for the columns of tiles
    halves: DeviceArray  # float32: half the squared norm of each point
    scaling: DeviceArray  # uint32, shape (2,): see filter.cl

    @classmethod
    def of(
        cls,
        matrix: DeviceMatrix,
        launch: Launcher,
        *,
        neighbours: bool = False,
        by: Filter = "auto",
    ) -> PackedPoints:
        """Upload and pack the points of a matrix, unless an earlier call has done so.

        The packed points are kept with the matrix, and serve spanning trees as well as core
        distances. `neighbours` says that they are needed for core distances. `by` is the option
        `filter` of :class:`clmst.DenseOptions`. Raises OutOfDeviceMemoryError, before anything is
        allocated, if the points do not fit.
        """
        forms = matrix.forms
        if _PACKED not in forms:
            forms[_PACKED] = cls._upload(matrix, launch)
        packed: PackedPoints = forms[_PACKED]
        metric = _points_of(matrix).compared_as
        if by == "auto" and gains_by_products(matrix):
            trusted = tiles_refusal(matrix, neighbours=neighbours, products=True) is None
            if trusted and _SEPARATED not in forms:
                forms[_SEPARATED] = packed._separates(_points_of(matrix), launch)
            if trusted and (
                forms[_SEPARATED] or tiles_refusal(matrix, neighbours=neighbours) is not None
            ):
                by = "products"
        by_products = by == "products" and metric in HAVE_SQUARES
        defines = {"CORE_DISTANCES": int(matrix.has_core_distances and not neighbours)}
        return replace(
            packed, defines=packed.defines | defines | ({_PRODUCTS: 1} if by_products else {})
        )

    @classmethod
    def _upload(cls, matrix: DeviceMatrix, launch: Launcher) -> PackedPoints:
        """Upload the points of `matrix` and enqueue the kernels that pack the points."""
        points, device = _points_of(matrix), matrix.device
        n, d = points.n_vertices, points.dimensions
        padded, n_padded = _CHUNK * ceil(d / _CHUNK), TILE_COLUMNS * ceil(n / TILE_COLUMNS)
        _check_memory(device, n, d, n_padded * padded)
        rows = rows_of(points)
        on_device, middle = device.upload_all(rows.ravel(), _center_of(rows))
        packed = cls(
            device=device,
            defines=tile_defines(points, device.capabilities, device.policy, core=False),
            n=n,
            d=d,
            padded=padded,
            rows=on_device,
            center=middle,
            singles=DeviceArray.empty(n_padded * padded, np.float32, device),
            packs=DeviceArray.empty(n_padded * padded, np.float32, device),
            halves=DeviceArray.empty(n_padded, np.float32, device),
            scaling=DeviceArray.empty(2, np.uint32, device),
        )
        program, scaling = packed.pack_program, packed.scaling
        launch.fill(scaling.memory, 0, 2)
        launch.for_each(program, "dense_pack_find_scale", n * d, on_device, middle, scaling, n, d)
        launch.for_each(
            program, "dense_pack_points", n_padded * padded, on_device, middle, scaling,
            packed.singles, packed.packs, n, d, n_padded, padded,
        )  # fmt: skip
        launch.for_each(
            program, "dense_pack_find_norm", n_padded, packed.packs, packed.halves, scaling,
            n_padded, d, padded,
        )  # fmt: skip
        return packed

    @property
    def pack_program(self) -> Program:
        """The compiled program of ``pack.cl``, which does not depend on core distances."""
        defines = {name: value for name, value in self.defines.items() if name != _PRODUCTS}
        return self.device.program(SOURCE, **(defines | {"CORE_DISTANCES": 0}))

    @property
    def by(self) -> Literal["differences", "products"]:
        """How distances are estimated in float32: see `filter` of :class:`clmst.DenseOptions`."""
        return "products" if _PRODUCTS in self.defines else "differences"

    def _separates(self, points: Points, launch: Launcher) -> bool:
        """Return whether distances from products of coordinates are accurate enough for the points.

        ``filter.cl`` proves a bound on the error of a distance that is computed from products. For
        each point of a sample, the function counts the other points that, within this error, may be
        as near as the nearest one. If the average count is small, the distances are accurate
        enough. The call waits for the device.
        """
        rows, words = rows_of(points), np.empty(2, np.uint32)
        center = _center_of(rows)
        launch.read(self.scaling.memory, words)
        scale = np.ldexp(1.0, min(1022 - int(words[0]), 1000))
        absolute = 6 * (self.d + 4) * 2.0**-24 * float(words[1:].view(np.float32)[0]) ** 2
        columns = (_spread(rows, _SAMPLED_COLUMNS) - center) * scale
        some = columns[::_COLUMNS_A_ROW]
        # This product is computed by einsum, because the threads of a BLAS would keep cores busy
        # for milliseconds, and a CPU device needs these cores.
        between = np.einsum("ik,jk->ij", some, columns)
        squares = (columns**2).sum(1) + (some**2).sum(1)[:, None] - 2 * between
        squares[np.arange(len(some)), np.arange(len(some)) * _COLUMNS_A_ROW] = np.inf
        as_near = squares <= squares.min(1)[:, None] + 3 * absolute
        return bool(as_near.sum(1).mean() <= _MOST_AS_NEAR)

    def tiles_of(self, program: Program, n_rows: int) -> int:
        """Return the number of tiles that cover `n_rows` rows of the matrix of distances.

        A tile is a rectangle of that matrix. The number of its rows follows from the work-group
        size of `program`.
        """
        size, own = program.work_group_size, self.defines["OWN_ROWS"]
        return ceil(n_rows / (_ROWS_ALONE if size == 1 else size // _LANES_A_ROW * own))

    @property
    def groups_at_once(self) -> int:
        """Maximum number of work-groups that compare points, tile by tile, in one launch.

        It is three for each compute unit.
        """
        return self.device.capabilities.compute_units * _GROUPS_PER_UNIT


def tile_defines(
    points: Points, capabilities: Capabilities, tuning: Policy, *, core: bool
) -> dict[str, int]:
    """Return the preprocessor macros with which the tile kernels are compiled for a device.

    `capabilities` and `tuning` are the properties and the settings of the device; `tuning` has the
    size of a work-group. `points` have the metric. `core` is True if kernels compare mutual
    reachability distances, which take core distances into account.
    """
    _, bits, kind = METRICS[points.compared_as]
    return {
        **metric_defines(points),
        "CORE_DISTANCES": int(core),
        "WG_SIZE": min(tuning.work_group_size, _WORK_GROUP),
        "MAX_REGISTERS": _REGISTERS,
        "OWN_ROWS": _OWN_ROWS if capabilities.lanes == "ptx" else _FEW_OWN_ROWS,
        **weight_defines(bits, kind, maximum=False),
    }


def _points_of(matrix: DeviceMatrix) -> Points:
    points = matrix.graph
    assert isinstance(points, Points), "a matrix is stored"
    return points


def _center_of(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the median of a sample of the points in `rows`, for each coordinate."""
    center: npt.NDArray[np.float64] = np.median(_spread(rows, _SAMPLE), axis=0)
    return center


def _spread(rows: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    """Return `count` rows at even distances in the array, or all rows if there are fewer."""
    return rows[:: max(len(rows) // count, 1)][:count]


def rows_of(points: Points) -> npt.NDArray[np.float64]:
    """Return the coordinates from which distances are computed, float64, one row per point.

    They differ from the caller's coordinates in two cases: if the metric needs other coordinates,
    as "cosine" needs points of length 1 and "jaccard" words of bits, and if coordinates had to be
    scaled because squares of them would overflow or underflow.
    """
    has_planes = points.compared_as == "cosine" or points.metric in DIVIDED
    are_planes = not has_planes and not points.exponent
    if not are_planes or points.coordinates.shape[1] != points.dimensions:
        return np.ascontiguousarray(points.planes.T)
    rows: npt.NDArray[np.float64] = np.ascontiguousarray(points.coordinates, np.float64)
    return rows


def _check_memory(device: Device, n: int, d: int, n_singles: int) -> None:
    """Raise OutOfDeviceMemoryError if a device cannot hold points as :class:`PackedPoints`.

    There are `n` points of `d` dimensions. Their coordinates are stored once in float64, and twice
    in float32: as `singles`, for the rows of tiles, and as `packs`, for the columns of tiles.
    `n_singles` is the number of float32 values, padding included, in each of these two arrays.
    """
    needed, has = 8 * n * d + 8 * n_singles, device.capabilities
    largest = max(8 * n * d, 4 * n_singles)
    if needed > has.global_memory or largest > has.max_allocation:
        raise OutOfDeviceMemoryError(
            f"{n} points of {d} dimensions need {gigabytes(needed)}; {device.description} has "
            f"{gigabytes(has.global_memory)} in all, and allocates at most "
            f"{gigabytes(has.max_allocation)} in one piece"
        )
