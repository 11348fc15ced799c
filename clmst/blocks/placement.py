"""Solves by blocks on the devices that a caller names, or on a device that is too small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clmst.blocks.options import FEWEST, BlockOptions
from clmst.blocks.solve import DividedPoints, check_points
from clmst.blocks.tasks import Workers
from clmst.core.arguments import shown
from clmst.core.errors import (
    InvalidArgumentError,
    OutOfDeviceMemoryError,
    StreamedWarning,
    warn_of_fallback,
)
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.runtime.device import Device
from clmst.runtime.device_parts import check_one_of, named_devices
from clmst.runtime.device_threads import named_failures, together
from clmst.runtime.discovery import get_device

# A function that computes the tree of points on a device. Its second argument is the device, or
# None for the default device.
OnDevice = Callable[[Points, Any], Any]

# A device that cannot hold n points gets blocks of n / 8 points. It solves two blocks at a time,
# which are a quarter of all points. If these do not fit either, it gets blocks of n / 64 points.
# Every pair of blocks is solved, and 64 blocks already have 2,016 pairs, so a call with smaller
# blocks could take days. The caller can still ask for smaller blocks by `block_points`.
_DIVISORS = (8, 64)


def forest_by_blocks(
    graph: Any, block_points: Any, *, device: Any, devices: Any, solve: OnDevice,
    unsuitable: Mapping[str, Any],
) -> Forest:  # fmt: skip
    """Compute the minimum spanning tree of points block by block.

    `block_points`, `device` and `devices` are arguments of :func:`clmst.minimum_spanning_forest`.
    `solve` computes the tree of a block on a device. `unsuitable` has further arguments of the call
    that differ from their defaults and contradict a solve by blocks. InvalidArgumentError is raised
    for the first of them, and if `graph` is not Points of the host.
    """
    check_one_of(device, devices)
    options = BlockOptions.of(block_points)
    check_points(graph)
    for name, value in unsuitable.items():
        raise InvalidArgumentError(
            f"{name} is {shown(value)}, and block_points is given; a solve by blocks finds the "
            "minimum spanning tree on the host, by the algorithm that is the fastest for a block"
        )
    found: list[Any] = [device] if devices is None else list(named_devices(devices))
    divided = DividedPoints.of(graph, options)
    return tree_of_divided(divided, graph, workers_on(found), solve=solve)


def forest_in_small_blocks(points: Points, device: Any, *, solve: OnDevice, reason: str) -> Forest:
    """Compute the minimum spanning tree of points that do not fit the memory of a device.

    There are about 8 blocks, or 64 if 8 do not fit. `solve` computes the tree of a block on a
    device. `reason` says why the points do not fit. Gives a StreamedWarning for each size of
    blocks. Raises OutOfDeviceMemoryError, which begins with `reason`, if blocks of neither size
    fit.
    """
    why = reason
    for divisor in _DIVISORS:
        n_points = max(points.n_vertices // divisor, FEWEST)
        get_device(device).release_memory()
        warn_of_fallback(
            f"the points are solved in blocks of {n_points}, since they do not fit: {why}",
            StreamedWarning,
        )
        try:
            divided = DividedPoints.of(points, BlockOptions(n_points=n_points))
            return tree_of_divided(divided, points, workers_on([device]), solve=solve)
        except OutOfDeviceMemoryError as error:
            why = str(error)
    raise OutOfDeviceMemoryError(f"{reason}, and blocks of {n_points} do not fit either: {why}")


def workers_on(devices: Sequence[Device | None]) -> Workers:
    """Return devices of this process as workers: a thread for each device, at the same time.

    None stands for the default device, and is then the only one.
    """

    def call(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Call a function with each tuple of arguments, of which the last is the device."""
        if len(arguments) < 2:
            return [function(*one) for one in arguments]
        named: list[Any] = [device for *_, device in arguments]
        with named_failures(named):
            return together(named, lambda k: function(*arguments[k]))

    return Workers(at_once=len(devices), call=call, devices=devices)


def tree_of_divided(
    divided: DividedPoints, points: Points, workers: Workers, *, solve: OnDevice
) -> Forest:
    """Compute the tree of divided points. This process finds the tree among the edges of all tasks.

    `points` are the points that were divided, with the core distances that the tree is to have.
    `solve` computes the tree of a block on a device.
    """
    return divided.tree(
        points.core_distances, lambda blocks: workers.run(solve, blocks),
        at_once=workers.at_once, device=workers.devices[0],
    )  # fmt: skip
