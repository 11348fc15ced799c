"""What a case may be of beside a solve: streams, proofs, core numbers, dendrograms, points.

Each subject compares what a device gives with what plain Python, NumPy or the oracle give.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import clmst
from clmst.algorithms.dendrogram.merge import rising_order
from clmst.algorithms.edge_stream.passes import bytes_of_row, bytes_of_vertex
from clmst.algorithms.proof.self_test import of_graph
from clmst.core.point_checks import BOXED
from clmst.core.weight_keys import Array
from clmst.runtime.kernel_family import difference
from clmst.runtime.launcher import Launcher
from clmst.scale import sinks
from tests.helpers.cores import core_numbers
from tests.prove import oracle
from tests.prove.all_pairs import cluster_difference, tree_difference
from tests.prove.draws import Draws
from tests.prove.oracle import Expected
from tests.prove.plain import labels_at, merges
from tests.prove.sample import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a subject is given."""

    sample: Sample
    draws: Draws
    device: Any
    expected: Expected  # the oracle's forest of the sample
    maximum: bool
    form: str  # one of the subject's


Compare = Callable[[Task], str | None]


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject."""

    compare: Compare  # returns what is wrong, or None
    forms: tuple[str, ...]  # ways in which its input may come


# ---------------------------------------------------------------------------- streams

_MOST_CHUNKS = 6
BY_PASSES = "by passes"


def _stream(task: Task) -> str | None:
    """Chunks of any length; with a memory limit that leaves space for a few edges, or for none."""
    sample, draws, expected = task.sample, task.draws, task.expected
    limit = None
    if task.form != "chunks":
        rows = 1 << draws.below(5) if task.form == BY_PASSES else 64 << draws.below(4)
        a_row = bytes_of_row(sample.w.dtype) + sinks.bytes_of_row(sample.w.dtype)
        limit = max(sample.n, 1) * bytes_of_vertex(sample.w.dtype) + rows * a_row
        limit *= 1 if task.form == BY_PASSES else 4
    cuts = np.sort(draws.integers(sample.m + 1, draws.below(_MOST_CHUNKS)))
    parts = np.split(np.arange(sample.m), cuts)
    chunks = [(sample.u[part], sample.v[part], sample.w[part]) for part in parts]
    if task.form == "chunks" and draws.one_in(3):  # in any order, with ids of their own
        chunks = draws.shuffled([(*chunk, part) for chunk, part in zip(chunks, parts, strict=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clmst.StreamedWarning)
        found = clmst.stream_minimum_spanning_forest(
            chunks, sample.n, device=task.device, memory_limit=limit, maximum=task.maximum
        )
    if not np.array_equal(found.edge_ids, expected.ids):
        return f"edge ids are {found.edge_ids.tolist()}; they must be {expected.ids.tolist()}"
    return oracle.difference(found, expected, sample.n, labels=draws.one_in(8))


# ----------------------------------------------------------------------------- proofs


def _proof(task: Task) -> str | None:
    """The one right claim must pass, and no other one, as a self-test makes them."""
    plain = task.sample.graph()
    graph = plain.symmetrised() if task.form == "both directions" else plain
    u, v, w, _ids = graph.edges()
    listed = clmst.Graph.from_edges(u, v, w, n_vertices=graph.n_vertices)
    right = graph.edge_slots[clmst.kruskal(listed, maximum=task.maximum).edge_ids]
    resident = clmst.to_device(graph, task.device)
    with task.device.lock:
        for claim in of_graph(resident, right, maximum=task.maximum, exchanges=1):
            if wrong := difference(*claim):
                return f"the proof of {claim[0]}: {wrong}"
    return None


# ----------------------------------------------------------------------- core numbers


def _cores(task: Task) -> str | None:
    sample, form = task.sample, task.form
    graph: Any = sample.graph()
    if form != "edge arrays":
        graph = graph.symmetrised()
    if form == "on device":
        graph = clmst.to_device(graph, task.device)
    found = clmst.core_numbers(graph, device=task.device)
    right = core_numbers(sample.n, sample.u, sample.v)
    if not np.array_equal(found, right):
        return f"core numbers are {found.tolist()}; they must be {right.tolist()}"
    return None


# ------------------------------------------------------------------------ dendrograms


def _dendrogram(task: Task) -> str | None:
    """Dendrogram, order of edges and cuts of the oracle's forest."""
    sample, draws, device = task.sample, task.draws, task.device
    forest = clmst.kruskal(sample.graph())
    launch = Launcher(device, device.queue)
    order = rising_order(forest.weights, launch, by_device=True).to_host()
    right = np.argsort(forest.weights, kind="stable")
    if not np.array_equal(order, right):
        return f"the order of edges is {order.tolist()}; it must be {right.tolist()}"
    found = forest.linkage(join_components=True, device=device)
    expected = merges(forest).linkage()
    if not np.array_equal(found, expected):
        row = np.flatnonzero((found != expected).any(axis=1))[0]
        return f"merge {row} is {found[row].tolist()}; it must be {expected[row].tolist()}"
    if not forest.weights.size:
        return None
    height = forest.weights[draws.below(forest.weights.size)].item()
    labels, cut = labels_at(forest, forest.weights <= height), forest.cut(height=height)
    if not np.array_equal(cut, labels):
        return f"the cut at {height} is {cut.tolist()}; it must be {labels.tolist()}"
    return None


# ----------------------------------------------------------------------------- points


def _points(task: Task) -> str | None:
    """Tree, core distances, and clusters by HDBSCAN; the host compares all pairs."""
    sample, draws, device, form = task.sample, task.draws, task.device, task.form
    points, n = sample.points(), sample.n
    if n < 2:
        return None
    has_bvh = points.metric in BOXED
    if form == "hierarchy of boxes" and has_bvh:
        core = draws.integers(4, n) / 8 if draws.one_in(3) else None
        if wrong := tree_difference(replace(points, core_distances=core), device):
            return wrong
    else:
        given = clmst.to_device(points, device) if form == "on device" else points
        found = clmst.minimum_spanning_forest(given, device=device)
        if differs := oracle.difference(found, task.expected, n, labels=False):
            return differs
    wrong = cluster_difference(
        points,
        device,
        _all_pairs(sample),
        min_samples=1 + draws.below(min(n, 9)),
        min_cluster_size=2 + draws.below(6),
        cluster_selection_method=draws.choice(("eom", "leaf")),
        allow_single_cluster=draws.one_in(2),
    )
    return wrong or None


def _all_pairs(sample: Sample) -> Array:
    distances = np.zeros((sample.n, sample.n))
    distances[sample.u, sample.v] = distances[sample.v, sample.u] = sample.w
    return distances


GRAPHS = {
    "streams": Subject(_stream, ("chunks", BY_PASSES, BY_PASSES, "within a limit")),
    "proofs": Subject(_proof, ("edge arrays", "both directions")),
    "cores": Subject(_cores, ("edge arrays", "both directions", "on device")),
    "dendrograms": Subject(_dendrogram, ("edge arrays",)),
    "points": Subject(_points, ("points", "on device", "hierarchy of boxes")),
}
