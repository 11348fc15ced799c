"""Bounds on the loops of the host, so that a faulty device cannot keep it in a loop for ever.

Some loops on the host continue until the device reports that it is done. Each has a bound on its
rounds, levels or launches that no graph exceeds. Without a bound, a faulty device or driver could
keep the host in a loop for ever. With it, the solve ends with an error that says how far it has
come. Counts from which the size of a launch is computed have bounds of their own
(``Launcher.read_count``).
"""

from __future__ import annotations

from clmst.core.errors import DeviceError
from clmst.runtime.device import Device

MOST_ROUNDS = 33
"""Maximum number of rounds if each at least halves the vertices: 32, and a last one.

A graph has fewer than 2**32 vertices.
"""


def no_progress(algorithm: str, device: Device, rule: str, **state: int) -> DeviceError:
    """Return the DeviceError for a solve by `algorithm` that does not come to an end.

    `rule` says, for the message, which rule the device has broken. `state` has named counts that
    say how far the solve has come.
    """
    stood = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in state.items())
    return DeviceError(
        f"{algorithm} came to no end on {device.description}: it stood at {stood}; {rule}. The "
        "device or its driver is at fault, or clmst is: please report it"
    )


def check_rounds(algorithm: str, device: Device, done: int, **state: int) -> None:
    """Raise :class:`DeviceError` if `done`, the number of rounds so far, is the maximum already.

    The maximum follows from the rule that each round at least halves the number of vertices. The
    message names the algorithm and the counts in `state`.
    """
    if done >= MOST_ROUNDS:
        rule = f"every round at least halves the vertices, so there are {MOST_ROUNDS} at most"
        raise no_progress(algorithm, device, rule, round=done, **state)


def check_halved(
    algorithm: str, device: Device, done: int, *, vertices: tuple[int, int], edges: tuple[int, int]
) -> None:
    """Raise :class:`DeviceError` unless a round has halved the vertices and added no edges.

    `done` is the number of rounds so far, this one included. `vertices` and `edges` are the counts
    before and after this round. The error is also raised if there were too many rounds. The message
    names the algorithm.
    """
    if vertices[1] > vertices[0] // 2 or edges[1] > edges[0]:
        rule = "a round leaves half of the vertices at most, and no more edges than there were"
        raise no_progress(
            algorithm, device, rule, round=done, vertices_before=vertices[0], edges_before=edges[0],
            vertices=vertices[1], edges=edges[1],
        )  # fmt: skip
    check_rounds(algorithm, device, done, vertices=vertices[1], edges=edges[1])
