"""The device memory that algorithms need, for the error that says that there is too little."""

from __future__ import annotations

from clmst.algorithms.registry import ALGORITHMS
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import gigabytes
from clmst.runtime.policy import Policy


def bytes_needed(algorithm: str, policy: Policy, n_vertices: int, n_edges: int) -> int | None:
    """Return about how many bytes a solve needs at its peak, beside the graph itself.

    None if the algorithm does not say so; "dense" counts cells and has its own error. What records
    say is measured anew by tests/algorithms/test_memory_needs.py.
    """
    needs = ALGORITHMS[algorithm].bytes_needed
    needs = needs(policy) if callable(needs) else needs
    return None if needs is None else needs[0] * n_vertices + needs[1] * n_edges


def with_needs(
    error: OutOfDeviceMemoryError, graph: DeviceGraph, algorithm: str
) -> OutOfDeviceMemoryError:
    """Return an error that also says what the whole solve needs, and what would fit."""
    n, m = graph.n_vertices, graph.edge_bound
    policy = graph.device.policy
    needed = bytes_needed(algorithm, policy, n, m)
    if needed is None:
        return error
    word = graph.encoded.encoding.word.itemsize
    stored = 4 * (n + 1) + (4 + word) * graph.n_slots
    memory = graph.device.capabilities.global_memory
    facts = [
        str(error),
        f"{algorithm!r} needs about {gigabytes(needed)} for {n} vertices and {m} edges, beside "
        f"{gigabytes(stored)} for the graph",
    ]
    if needed + stored > memory:
        facts.append(
            f"a graph of this average degree fits with up to {m * memory // (needed + stored)} "
            "edges or so"
        )
    offered = [name for name, record in ALGORITHMS.items() if record.takes_any_graph]
    needs = {name: bytes_needed(name, policy, n, m) for name in offered}
    least, name = min((need, name) for name, need in needs.items() if need is not None)
    if least < needed:
        facts.append(f"{name!r} needs least, about {gigabytes(least)}")
    return OutOfDeviceMemoryError("; ".join(facts))
