"""Decide whether the host does the work of a first call while kernels are being built."""

from __future__ import annotations

from clmst.route.facts import Way
from clmst.route.limits import LIMITS
from clmst.route.records import HOST


def way_while_opened() -> Way:
    """Return the answer that the host computes while the default device is first opened."""
    return Way(HOST, "the default device is being opened and tried for the first time")


def way_while_built(device: str, n_left: int | None) -> Way:
    """Return the answer that the host computes while kernels of a device are built.

    `device` is the description of the device, and `n_left` the number of programs that are not
    built yet, or None if the number is not known.
    """
    left = "" if n_left is None else f" ({n_left} program{'s' * (n_left != 1)} left)"
    return Way(HOST, f"the kernels for {device} are being built{left}")


def host_solves_first(n_entries: int) -> bool:
    """Return whether the host solves a graph while the kernels for it are built.

    `n_entries` is the number of edges or matrix entries that the graph stores. The result is True
    if the host solves a graph of this size in less time than it takes to build the kernels.
    """
    return n_entries <= LIMITS.first_entries


def host_compares_first(n_points: int) -> bool:
    """Return whether the host compares points while the kernels for them are built.

    This is about `n_points` points, or about a matrix of distances with so many rows.
    """
    return n_points <= LIMITS.first_points
