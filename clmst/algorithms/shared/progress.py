"""Bounds on loops that go on until the device says that it is done.

Every such loop on the host has a number of rounds, levels or launches that no graph needs more of.
A device that does not do what kernels say, by a fault of its own or of its driver, could have the
host go round for ever, or hand it counts that lead kernels beyond the end of arrays. Instead the
solve ends with an error that says where it stood.
"""

from __future__ import annotations

from clmst.core.errors import DeviceError
from clmst.runtime.device import Device

MOST_ROUNDS = 33
"""Rounds that at least halve the vertices that have edges: of fewer than 2**32, and one to see."""


def no_progress(algorithm: str, device: Device, rule: str, **state: int) -> DeviceError:
    """Return the error for a solve that does not come to its end.

    `rule` is what holds on a device that does what kernels say, `state` where the solve stood.
    """
    stood = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in state.items())
    return DeviceError(
        f"{algorithm} came to no end on {device.description}: it stood at {stood}; {rule}. The "
        "device or its driver is at fault, or clmst is: please report it"
    )


def check_rounds(algorithm: str, device: Device, done: int, **state: int) -> None:
    """Raise :class:`DeviceError` before one round too many, if each at least halves vertices."""
    if done >= MOST_ROUNDS:
        rule = f"every round at least halves the vertices, so there are {MOST_ROUNDS} at most"
        raise no_progress(algorithm, device, rule, round=done, **state)


def check_halved(
    algorithm: str, device: Device, done: int, *, vertices: tuple[int, int], edges: tuple[int, int]
) -> None:
    """Raise :class:`DeviceError` unless a round has halved vertices, and made no edges.

    `done` counts this round, too; `vertices` and `edges` are before it and after it.
    """
    if vertices[1] > vertices[0] // 2 or edges[1] > edges[0]:
        rule = "a round leaves half of the vertices at most, and no more edges than there were"
        raise no_progress(
            algorithm, device, rule, round=done, vertices_before=vertices[0], edges_before=edges[0],
            vertices=vertices[1], edges=edges[1],
        )  # fmt: skip
    check_rounds(algorithm, device, done, vertices=vertices[1], edges=edges[1])
