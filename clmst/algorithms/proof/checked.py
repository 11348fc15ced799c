"""Forests that are proved before anybody gets them: on the device where that is quicker."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

from clmst.algorithms import families
from clmst.algorithms.proof import prove as proof
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import (
    DeviceWarning,
    InvalidForestError,
    KernelBuildError,
    OutOfDeviceMemoryError,
)
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def checked(forest: DeviceForest, launch: Launcher) -> DeviceForest:
    """Return a forest that has been proved, with the proof's figures in ``stats["proof"]``; waits.

    The caller has the lock of the device. Raises InvalidForestError if the forest is not the one,
    which names the first edge that shows it.
    """
    began = time.perf_counter()
    refusal, is_refuted = _refusal(forest), False
    if refusal is None:
        try:
            found = proof.prove(forest, launch)
        except (OutOfDeviceMemoryError, KernelBuildError) as error:
            refusal = str(error).splitlines()[0]
        else:
            if found.ok:
                by = launch.device.description
                return _with_proof(forest, began, where="device", by=by, levels=found.levels)
            refusal, is_refuted = "the device took the forest for wrong", True
    _prove_on_host(forest, _host_graph(forest))  # which says what is wrong
    if is_refuted:
        warnings.warn(
            f"{launch.device.description} took a forest for wrong that the host has proved right; "
            "proofs of this device cannot be relied on",
            DeviceWarning,
            stacklevel=4,
        )
    return _with_proof(forest, began, where="host", by="the host", reason=refusal)


def checked_on_host(forest: DeviceForest, graph: Graph, reason: str) -> DeviceForest:
    """Return a forest that the host has proved to be that of `graph`; as :func:`checked`."""
    began = time.perf_counter()
    _prove_on_host(forest, graph)
    return _with_proof(forest, began, where="host", by="the host", reason=reason)


def _prove_on_host(forest: DeviceForest, graph: Graph | DenseGraph | Points) -> None:
    """Raise :class:`InvalidForestError` unless the host proves a forest of a graph."""
    from clmst.core.verify import verify  # SciPy's graph routines, which most solves do not need

    outcome = verify(graph, forest.to_host(look_up=True))
    if not outcome:
        try:
            outcome.raise_if_invalid()
        except InvalidForestError as error:
            message = f"the forest that {_maker(forest)} gave is wrong: {error}"
            raise InvalidForestError(message) from None


def _host_graph(forest: DeviceForest) -> Graph | DenseGraph | Points:
    """Return the host's graph of a forest, with the weights that the device has."""
    graph = forest.graph
    if not isinstance(graph, DeviceGraph):
        return graph.graph
    if forest.weights is None:
        return graph.graph
    weights = graph.encoded.encoding.decode(graph.encoded.words())
    return graph.graph.replace_unchecked(weights=weights)


def _maker(forest: DeviceForest) -> str:
    """Return what solved a forest."""
    stats = forest.stats
    return f"{stats.get('algorithm', 'the solver')} on {stats.get('device', 'the device')}"


def _refusal(forest: DeviceForest) -> str | None:
    """Return why the device does not prove a forest; None if it does."""
    if forest.graph.n_vertices > proof.MAX_VERTICES:
        return f"the graph has more than {proof.MAX_VERTICES} vertices"
    reason = families.proof_refusal(forest.graph, maximum=forest.maximum)
    return (
        None if reason is None else f"the device has not passed the self-test of proofs: {reason}"
    )


def _with_proof(forest: DeviceForest, began: float, **figures: Any) -> DeviceForest:
    """Return a forest with how it was proved, and how long that took."""
    ms = 1e3 * (time.perf_counter() - began)
    known: Mapping[str, Any] = {name: value for name, value in figures.items() if value is not None}
    return forest.with_stats({**forest.stats, "proof": {**known, "ms": ms}})
