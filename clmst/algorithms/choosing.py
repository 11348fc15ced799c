"""Which algorithm a name and options mean on a device."""

from __future__ import annotations

from typing import Any

from clmst.algorithms import earned
from clmst.algorithms.auto import in_order, quickest
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import Solve
from clmst.core.arguments import check_choice, shown
from clmst.core.graph_checks import MAX_VERTICES
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph


def check_name(name: str) -> None:
    """Raise :class:`InvalidArgumentError` unless an algorithm has that name; "auto" is one."""
    fact = f"no algorithm is called {shown(name)}; there are"
    check_choice("algorithm", name, ("auto", *ALGORITHMS), fact=fact)


def choose(
    name: str,
    device: Device,
    graph: DeviceGraph | None = None,
    *,
    options: Any = None,
    maximum: bool = False,
) -> tuple[str, Solve]:
    """Return the algorithm that `name` means, by its own name, and what solves by it.

    An algorithm that is to solve a graph has earned the device, or is tested now.

    Parameters
    ----------
    name : str
        A name in `ALGORITHMS`, or "auto": the one whose options are given, else the quickest that
        the device is trusted with (:mod:`clmst.algorithms.auto`).
    device : Device
    graph : DeviceGraph, optional
        What is to be solved; a large sparse graph when left out, of which only the name is wanted.
    options : object, optional
        The options of an algorithm.
    maximum : bool
        Whether a maximum spanning forest is wanted.

    Raises
    ------
    InvalidArgumentError
        Nothing has that name; lists the names there are.
    UnsupportedDeviceError
        The device is not trusted with the algorithm, or with none that "auto" could be.
    """
    check_name(name)
    of_options = None if options is None else _chosen_by(options)
    if name == "auto" and of_options is not None:
        name = of_options
    if name == "auto":
        if graph is None or device.trust.given:
            name = quickest(device, graph)
        else:
            name = earned.first_trusted(graph, in_order(device, graph), maximum=maximum)
    elif graph is not None and (options is None or of_options is not None):
        earned.require(name, graph, maximum=maximum, options=options)
    return name, ALGORITHMS[name].solve


def _chosen_by(options: object) -> str | None:
    """Return the name of the algorithm whose options these are."""
    for record in ALGORITHMS.values():
        if record.is_chosen_by(options):
            return record.name
    return None


def most_vertices(name: str, device: Device) -> int:
    """Return how many vertices an algorithm takes on a device, if 32 bits hold a weight's key.

    A graph of more is refused with an error, before anything is solved.
    """
    limit = ALGORITHMS[name].most_vertices
    return MAX_VERTICES if limit is None else limit(device)
