"""Every public entry with a valid call of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyopencl.array as cl_array

import clmst
from clmst import drawing, generators, io
from clmst import primitives as p
from clmst.algorithms import ALGORITHMS
from clmst.points import condensed
from tests.misuse.look_alikes import LooksLikeIgraph, LooksLikeRustworkx
from tests.misuse.world import World

Call = tuple[Callable[..., Any], dict[str, Any]]


class Entry(NamedTuple):
    """A public call: `make` returns it anew with valid arguments, each by its name."""

    name: str
    make: Callable[[World], Call]


def entries() -> list[Entry]:
    """Return every public entry."""
    groups = (_solving, _graphs, _results, _records, _options, _files, _repeated, _devices)
    parts = (*groups, _generators, _operators, _scans, _selections, _moves, _maps, _drawing)
    return [Entry(name, make) for part in parts for name, make in part()]


def _solving() -> Iterator[tuple[str, Callable[[World], Call]]]:
    common: dict[str, Any] = {
        "algorithm": "auto", "device": None, "devices": None, "options": None,
        "keep_on_device": False, "profile": False, "verify": False, "symmetrize": False,
        "weight": "weight",
    }  # fmt: skip
    for solve in (clmst.minimum_spanning_forest, clmst.maximum_spanning_forest):
        yield (
            solve.__name__,
            partial(lambda solve, w: (solve, {"graph": w.graph, **common}), solve),
        )
    seeds = np.array([1] + [0] * 9)
    yield (
        "seeded_segmentation",
        lambda w: (
            clmst.seeded_segmentation,
            {"graph": w.forest, "seeds": np.resize(seeds, w.forest.n_vertices), "device": None},
        ),
    )
    drop_in = clmst.csgraph.minimum_spanning_tree
    yield "csgraph", lambda w: (drop_in, {"csgraph": w.matrix, "overwrite": False})
    either: dict[str, Any] = {"symmetrize": False}
    named = {**either, "weight": "weight"}
    yield from _clustering()
    yield from _density()
    yield "to_device", lambda w: (clmst.to_device, {"graph": w.graph, "device": None, **named})
    yield from _parts(either)
    yield from _streams()
    yield (
        "core_distances",
        lambda _: (
            clmst.core_distances,
            {"points": np.zeros((3, 2)), "min_samples": 2, "device": None},
        ),
    )
    yield (
        "core_numbers",
        lambda w: (clmst.core_numbers, {"graph": w.graph, "device": None, **either}),
    )
    yield "kruskal", lambda w: (clmst.kruskal, {"graph": w.graph, "maximum": False, **named})
    yield "verify", lambda w: (clmst.verify, {"graph": w.graph, "forest": w.forest, **named})


def _parts(either: dict[str, Any]) -> Iterator[tuple[str, Callable[[World], Call]]]:
    def pair(w: World) -> list[clmst.Device]:
        other = w.other_device
        is_same = other.cl_device == w.device.cl_device
        return [w.device, other.forcing_off("lanes") if is_same else other]

    def made(w: World) -> clmst.DeviceParts:
        return clmst.to_devices(w.graph, pair(w))

    def use(**attributes: Any) -> Any:
        return clmst.minimum_spanning_forest(clmst.DeviceParts(**attributes))

    yield (
        "to_devices",
        lambda w: (clmst.to_devices, {"graph": w.graph, "devices": [w.device], **either}),
    )

    def solve(graph: Any, devices: Any, verify: Any) -> Any:
        return clmst.minimum_spanning_forest(graph, devices=devices, verify=verify)

    either_way = {"verify": False}
    yield "several devices", lambda w: (solve, {"graph": w.graph, "devices": pair(w), **either_way})
    yield "parts", lambda w: (solve, {"graph": made(w), "devices": None, **either_way})
    yield (
        "DeviceParts.of_graphs",
        lambda w: (clmst.DeviceParts.of_graphs, {"parts": made(w).parts}),
    )
    yield "DeviceParts", lambda w: (use, _fields_of(made(w)))


def _clustering() -> Iterator[tuple[str, Callable[[World], Call]]]:
    given = {"X": np.eye(4), "metric": "euclidean", "metric_params": None, "device": None}

    def fit(kind: Any, X: Any, **parameters: Any) -> Any:
        return kind(**parameters).fit(X)

    lists = {"neighbours": np.array([[1], [0], [3], [2]]), "join": "connected"}
    yield (
        "cluster.single_linkage",
        lambda _: (clmst.cluster.single_linkage, given | lists | {"join_components": False}),
    )
    yield "cluster.neighbour_forest", lambda _: (clmst.cluster.neighbour_forest, given | lists)
    many = {"n_clusters": 2, "distance_threshold": None, "connectivity": np.ones((4, 4))}
    yield (
        "cluster.SingleLinkage",
        lambda _: (partial(fit, clmst.cluster.SingleLinkage), given | many),
    )
    apart = {"n_clusters": None, "distance_threshold": 0.5, "connectivity": None}
    yield (
        "cluster.SingleLinkage, apart",
        lambda _: (partial(fit, clmst.cluster.SingleLinkage), given | apart),
    )


def _density() -> Iterator[tuple[str, Callable[[World], Call]]]:
    eight = np.repeat(np.eye(2), 4, axis=0)

    def fit(X: Any, **parameters: Any) -> Any:
        return clmst.cluster.HDBSCAN(**parameters).fit(X)

    given = {
        "min_cluster_size": 3, "min_samples": 2, "cluster_selection_epsilon": 0.1,
        "max_cluster_size": 7, "metric": "euclidean", "metric_params": None, "alpha": 1.5,
        "algorithm": "auto", "leaf_size": 40, "n_jobs": None, "cluster_selection_method": "eom",
        "allow_single_cluster": True, "store_centers": "both", "copy": True, "device": None,
    }  # fmt: skip
    yield "cluster.HDBSCAN", lambda _: (fit, {"X": eight, **given})
    model = clmst.cluster.HDBSCAN(min_cluster_size=3)
    cut = {"cut_distance": 0.5, "min_cluster_size": 2}
    yield (
        "cluster.HDBSCAN.dbscan_clustering",
        lambda _: (model.fit(eight).dbscan_clustering, cut),
    )


def _relabelled(**given: Any) -> clmst.Graph:
    return clmst.Graph.from_edges([5, 5, 9], [9, 7, 7], [1, 2, 3], **given)


def _graphs() -> Iterator[tuple[str, Callable[[World], Call]]]:
    u, v, w3 = [0, 0, 1], [1, 2, 2], [2, 3, 4]
    yield "Graph.from_scipy", lambda w: (clmst.Graph.from_scipy, {"A": w.matrix})
    yield (
        "Graph.from_csr",
        lambda _: (
            clmst.Graph.from_csr,
            {"indptr": [0, 2, 3, 3], "indices": [1, 2, 2], "weights": w3},
        ),
    )
    yield (
        "Graph.from_edges",
        lambda _: (
            clmst.Graph.from_edges,
            {
                "u": u, "v": v, "w": w3, "n_vertices": 3, "merge_parallel": False,
                "coordinates": np.zeros((3, 2)),
            },
        ),
    )  # fmt: skip
    yield "Graph.from_edges, relabelled", lambda _: (_relabelled, {"relabel": True})
    yield (
        "Graph.from_masked",
        lambda _: (clmst.Graph.from_masked, {"matrix": np.ma.ones((3, 3)), "symmetrize": False}),
    )
    yield (
        "Graph.from_networkx",
        lambda w: (
            clmst.Graph.from_networkx,
            {"G": w.forest.to_networkx(), "weight": "weight"},
        ),
    )
    yield from _graphs_of_other_libraries()
    columns = {"columns": ("source", "target", "weight")}
    yield (
        "Graph.from_pandas",
        lambda w: (clmst.Graph.from_pandas, {"frame": w.forest.to_pandas(), **columns}),
    )
    image = {"image": np.eye(4), "connectivity": 1, "channel_axis": None, "mask": None}
    yield "Graph.from_image", lambda _: (clmst.Graph.from_image, image)
    yield (
        "Graph.from_arrow",
        lambda w: (clmst.Graph.from_arrow, {"table": w.forest.to_pandas(), **columns}),
    )
    yield (
        "Graph.read",
        lambda w: (clmst.Graph.read, {"path": w.graph_file, "format": None, "columns": None}),
    )
    for field in ("indptr", "indices", "weights", "is_symmetric", "edge_ids", "n_input",
                  "vertex_labels", "coordinates"):  # fmt: skip
        yield (
            "Graph.replace",
            partial(lambda field, w: (_use_replaced(w), {field: getattr(w.graph, field)}), field),
        )
    yield "Graph", lambda w: (clmst.Graph, _fields_of(w.graph))
    yield "DenseGraph", lambda _: (clmst.DenseGraph, {"weights": np.ones((3, 3))})
    dense = clmst.DenseGraph(np.ones((3, 3)))
    yield "DenseGraph.weights_of", lambda _: (dense.weights_of, {"u": np.r_[0], "v": np.r_[1]})
    yield (
        "Points",
        lambda _: (clmst.Points, {"coordinates": np.zeros((3, 2)), "metric": "euclidean"}),
    )
    points = clmst.Points(np.zeros((3, 2)))
    yield "Points.weights_of", lambda _: (points.weights_of, {"u": np.r_[0], "v": np.r_[1]})


def _graphs_of_other_libraries() -> Iterator[tuple[str, Callable[[World], Call]]]:
    """Both as objects of their shape; any object may be an edge's data or a vertex's name."""
    edges = [(0, 1), (0, 2), (1, 2)]

    def igraph(*, weight: Any = 2.0, name: Any = "a", **given: Any) -> clmst.Graph:
        has = {"edges": edges, "weights": [weight] * 3, "names": [name] * 3, "n": 3, **given}
        return clmst.Graph.from_igraph(LooksLikeIgraph(**has))

    def rustworkx(*, datum: Any = 2.0, **given: Any) -> clmst.Graph:
        has = {"edges": edges, "data": [datum] * 3, **given}
        return clmst.Graph.from_rustworkx(LooksLikeRustworkx(**has))

    weights, three = [2.0, 3.0, 4.0], [0, 1, 2]
    yield (
        "Graph.from_igraph",
        lambda _: (
            clmst.Graph.from_igraph,
            {"G": LooksLikeIgraph(edges, weights, n=3), "weight": "weight"},
        ),
    )
    yield (
        "Graph.from_rustworkx",
        lambda _: (
            clmst.Graph.from_rustworkx,
            {
                "G": LooksLikeRustworkx(edges, weights, nodes=three, edge_indices=three),
                "weight_fn": lambda x: x,
            },
        ),
    )
    yield (
        "Graph.from_igraph, what it has",
        lambda _: (igraph, {"edges": edges, "weight": 2.0, "name": "a", "n": 3, "directed": False}),
    )
    yield (
        "Graph.from_rustworkx, what it has",
        lambda _: (rustworkx, {"edges": edges, "datum": 2, "nodes": three, "edge_indices": three}),
    )


def _fields_of(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record) if field.init}


def _use_replaced(world: World) -> Callable[..., Any]:
    """Return a call that changes an attribute of a graph and solves it."""

    def use(**changes: Any) -> Any:
        graph = world.graph.replace(**changes)
        repr(graph)
        forest = clmst.minimum_spanning_forest(graph)
        return forest.to_networkx()

    return use


def _results() -> Iterator[tuple[str, Callable[[World], Call]]]:
    yield "Forest", lambda w: (_use_forest(w), _fields_of(w.forest))
    yield "Forest.to_networkx", lambda w: (w.forest.to_networkx, {"weight": "weight"})
    yield (
        "Forest.to_pandas",
        lambda w: (
            w.forest.to_pandas,
            {"columns": ("a", "b", "c"), "edge_id": "d"},
        ),
    )
    yield (
        "Forest.linkage",
        lambda w: (w.forest.linkage, {"join_components": False, "device": None}),
    )
    yield (
        "Forest.dendrogram_to_networkx",
        lambda w: (w.forest.dendrogram_to_networkx, {"join_components": False, "device": None}),
    )
    yield "Forest.cut", lambda w: (w.forest.cut, {"height": 2, "k": None})
    yield "Forest.cut, so many", lambda w: (w.forest.cut, {"height": None, "k": 2})
    yield "Forest.path", lambda w: (w.forest.path, {"u": 0, "v": 1})
    claim = {"symmetrize": False, "weight": "weight"}
    yield "Forest.verify", lambda w: (w.forest.verify, {"graph": w.graph, **claim})
    yield "Forest.rows", lambda w: (w.forest.rows, {"table": np.zeros((w.graph.n_input, 2))})
    yield (
        "DeviceForest",
        lambda w: (_use_device_forest, _fields_of(_device_forest(w))),
    )
    yield (
        "DeviceForest.with_stats",
        lambda w: (_device_forest(w).with_stats, {"stats": {"a": 1}}),
    )
    yield "DeviceGraph", lambda w: (_use_device_graph, _fields_of(w.device_graph))
    yield (
        "DeviceGraph.upload",
        lambda w: (
            clmst.DeviceGraph.upload,
            {"graph": w.graph, "device": w.device, "wait": True},
        ),
    )
    yield (
        "DeviceGraph.from_arrays",
        lambda w: (clmst.DeviceGraph.from_arrays, _csr_arrays(w)),
    )
    yield (
        "DeviceGraph.weight_defines",
        lambda w: (w.device_graph.weight_defines, {"maximum": False}),
    )
    points = clmst.Points(np.zeros((3, 2)))
    yield (
        "DeviceMatrix.upload",
        lambda w: (clmst.DeviceMatrix.upload, {"graph": points, "device": w.device}),
    )
    yield (
        "DeviceMatrix",
        lambda w: (_use_device_graph, _fields_of(clmst.to_device(points, w.device))),
    )
    yield (
        "DeviceMatrix.defines",
        lambda w: (clmst.to_device(points, w.device).defines, {"maximum": False}),
    )
    yield "Verification", lambda _: (_use_verification, {"problems": ("a",), "n_problems": 1})


def _streams() -> Iterator[tuple[str, Any]]:
    """Yield what streams edges."""
    chunk = ([0, 1], [1, 2], np.array([3, 4]))
    yield (
        "stream_minimum_spanning_forest",
        lambda w: (
            clmst.stream_minimum_spanning_forest,
            {
                "chunks": [chunk], "n_vertices": 3, "device": None, "memory_limit": 1 << 20,
                "checkpoint": w.graph_file.with_name("checkpoint"), "on_progress": print,
                "maximum": False, "n_edges": 2, "columns": ("u", "v", "w"),
            },
        ),
    )  # fmt: skip
    yield (
        "dask",
        lambda _: (
            clmst.dask.minimum_spanning_forest,
            {
                "edges": [chunk, chunk], "n_vertices": 3, "columns": ("u", "v", "w"),
                "edge_id": None, "device": None, "memory_limit": 1 << 20, "maximum": False,
                "split_every": 2,
            },
        ),
    )  # fmt: skip
    ring: dict[str, Any] = {
        "n_vertices": 5, "n_edges": 5, "u": "id", "v": "(id + hop) % 5", "weight": "id",
        "weight_dtype": "u4",
    }  # fmt: skip
    yield (
        "GeneratedEdges",
        lambda w: (
            lambda **given: clmst.stream_minimum_spanning_forest(
                clmst.GeneratedEdges(**given)(hop=1), device=w.device
            ),
            {**ring, "preamble": "", "name": "ring", "scalars": {"hop": "u4"}, "arrays": {}},
        ),
    )
    edges = clmst.GeneratedEdges(**ring, scalars={"hop": "u4"})
    yield "GeneratedEdges.__call__", lambda _: (edges.__call__, {"hop": 1})
    yield (
        "GeneratedEdges.edges",
        lambda w: (edges(hop=1).edges, {"first": 1, "count": 2, "device": w.device}),
    )
    counts = {"edges": 2, "n_edges": 2, "edges_now": 2, "forest_edges": 2, "reductions": 1}
    yield "StreamProgress", lambda _: (clmst.StreamProgress, {**counts, "seconds": 1.0})


def _csr_arrays(world: World) -> dict[str, Any]:
    """Return the arguments of DeviceGraph.from_arrays."""
    graph, device = world.graph, world.device
    parts = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    arrays = {name: clmst.DeviceArray.from_host(part, device) for name, part in parts.items()}
    return arrays | {"device": device}


def _device_forest(world: World) -> clmst.DeviceForest:
    return clmst.minimum_spanning_forest(world.device_graph, keep_on_device=True)


def _use_forest(world: World) -> Callable[..., Any]:
    def use(**attributes: Any) -> Any:
        forest = clmst.Forest(**attributes)
        repr(forest)
        forest.verify(world.graph)
        return forest.to_scipy(), forest.to_networkx(), forest.labels

    return use


def _use_device_forest(**attributes: Any) -> Any:
    return clmst.DeviceForest(**attributes).to_host()


def _use_device_graph(**attributes: Any) -> Any:
    kind = clmst.DeviceMatrix if "panels" in attributes else clmst.DeviceGraph
    return clmst.minimum_spanning_forest(kind(**attributes))


def _use_verification(**attributes: Any) -> Any:
    found = clmst.Verification(**attributes)
    with suppress(clmst.InvalidForestError):
        found.raise_if_invalid()
    return bool(found)


def _records() -> Iterator[tuple[str, Callable[[World], Call]]]:
    array = clmst.DeviceArray
    yield "DeviceArray", lambda w: (_use_device_array, _array_fields(w))
    yield "DeviceArray.empty", lambda _: (array.empty, {"size": 4, "dtype": "u4", "device": None})
    yield "DeviceArray.from_host", lambda _: (array.from_host, {"values": [1, 2], "device": None})
    yield (
        "DeviceArray.from_pyopencl",
        lambda w: (
            array.from_pyopencl,
            {"array": cl_array.to_device(w.device.queue, np.ones(3)), "device": w.device},
        ),
    )
    yield (
        "DeviceArray.to_pyopencl",
        lambda w: (w.words().to_pyopencl, {"queue": w.device.queue}),
    )
    yield (
        "DeviceArray.in_context",
        lambda w: (array.in_context, {"values": w.words(), "device": w.device}),
    )
    yield (
        "DeviceArray.write",
        lambda w: (w.words().write, {"values": np.zeros(8, np.uint32)}),
    )
    yield "DeviceArray.__getitem__", lambda w: (w.words().__getitem__, {"key": slice(0, 2)})
    yield (
        "DeviceArray slice",
        lambda w: (
            lambda start, stop, step: w.words()[start:stop:step],
            {"start": 0, "stop": 2, "step": 1},
        ),
    )
    yield "DeviceArray.view", lambda w: (w.words().view, {"dtype": np.int32})
    yield "DeviceArray.is_at", lambda w: (w.words().is_at, {"other": w.words()})
    yield "DeviceArray.overlaps", lambda w: (w.words().overlaps, {"other": w.words()})


def _array_fields(world: World) -> dict[str, Any]:
    array = world.words()
    return {name: getattr(array, name) for name in array.__slots__}


def _use_device_array(**attributes: Any) -> Any:
    array = clmst.DeviceArray(**attributes)
    return repr(array), len(array), array.to_host(), p.reduce(array)


def _options() -> Iterator[tuple[str, Callable[[World], Call]]]:
    for algorithm, record in ALGORITHMS.items():
        kind = record.options_class
        yield (
            kind.__name__,
            partial(
                lambda kind, name, w: (_use_options(w, kind, name), _fields_of(kind())),
                kind,
                algorithm,
            ),
        )
    yield "EclOptions.ablation", lambda _: (clmst.EclOptions.ablation, {"seed": 0, "samples": 9})


def _use_options(world: World, kind: type, algorithm: str) -> Callable[..., Any]:
    return lambda **attributes: clmst.minimum_spanning_forest(
        world.device_graph, algorithm=algorithm, options=kind(**attributes)
    )


def _files() -> Iterator[tuple[str, Callable[[World], Call]]]:
    yield "read_graph", lambda w: (clmst.read_graph, {"path": w.graph_file, "format": None})
    yield (
        "read_graph, columns",
        lambda w: (
            clmst.read_graph,
            {"path": _table_of(w), "format": "csv", "columns": ("source", "target", "weight")},
        ),
    )
    yield (
        "read_points",
        lambda w: (clmst.read_points, {"path": w.points_file, "format": None, "metric": None}),
    )
    yield (
        "read_forest",
        lambda w: (
            io.read_forest,
            {"path": w.forest_file, "graph": w.graph, "format": None, "symmetrize": False},
        ),
    )
    for suffix in ("gr", "mtx", "graph", "egr", "npz", "txt", "stp"):
        yield (
            f"write_graph .{suffix}",
            partial(
                lambda path, w: (
                    clmst.write_graph,
                    {"graph": w.graph, "path": path, "format": None, "symmetrize": False},
                ),
                Path(f"written.{suffix}"),
            ),
        )
    for suffix in ("npz", "mtx", "txt", "json"):
        yield (
            f"write_forest .{suffix}",
            partial(
                lambda path, w: (
                    clmst.write_forest,
                    {"forest": w.forest, "path": path, "format": None},
                ),
                Path(f"written.{suffix}"),
            ),
        )


def _table_of(world: World) -> Path:
    """Return a CSV file, which is written anew."""
    path = Path(world.graph_file).with_name("table.csv")
    clmst.write_graph(world.graph, path)
    return path


def _repeated() -> Iterator[tuple[str, Callable[[World], Call]]]:
    yield (
        "RepeatedSolver",
        lambda w: (
            clmst.RepeatedSolver,
            {
                "graph": w.graph, "devices": None, "strategy": "auto", "maximum": False,
                "algorithm": "auto", "options": None, "warm_start": True, "symmetrize": False,
            },
        ),
    )  # fmt: skip
    yield (
        "RepeatedSolver, solved",
        lambda w: (
            _solved_by,
            {"graph": w.graph, "maximum": False, "algorithm": "auto", "options": None},
        ),
    )
    switches = {"keep_on_device": False, "profile": False, "verify": False}
    weights = np.ones(31, np.int32)
    yield (
        "RepeatedSolver.solve",
        lambda w: (_solver(w).solve, {"weights": weights, **switches}),
    )
    yield (
        "RepeatedSolver.solve of points",
        lambda w: (_solver_of_points(w).solve, {"weights": np.eye(5, 2), **switches}),
    )
    yield (
        "RepeatedSolver.update",
        lambda w: (_solver(w).update, {"edge_ids": [0, 1], "weights": [5, 6], **switches}),
    )
    yield (
        "RepeatedSolver.solve_many",
        lambda w: (
            lambda **given: list(_solver(w).solve_many(**given)),
            {
                "weights": [weights],
                "keep_on_device": False,
                "verify": False,
                "progress": lambda *_: None,
            },
        ),
    )
    yield (
        "RepeatedSolver.solve_many, one of",
        lambda w: (lambda one: list(_solver(w).solve_many([one])), {"one": weights}),
    )
    yield "RepeatedSolver.weights_of", lambda w: (_solver_of_matrix(w).weights_of, {
        "matrix": w.matrix, "symmetrize": False
    })  # fmt: skip


def _solved_by(**given: Any) -> clmst.Forest:
    """Solve by a new solver: what it took may be of use in a round only."""
    solver = clmst.RepeatedSolver(**given)
    return solver.solve(np.ones(solver.n_edges, np.int32))


def _solver_of_points(world: World) -> clmst.RepeatedSolver:
    return clmst.RepeatedSolver(clmst.Points(np.eye(5, 2)), devices=world.device)


def _solver(world: World) -> clmst.RepeatedSolver:
    solver = clmst.RepeatedSolver(world.graph, devices=world.device)
    solver.solve(np.arange(solver.n_edges, dtype=np.int32))
    return solver


def _solver_of_matrix(world: World) -> clmst.RepeatedSolver:
    return clmst.RepeatedSolver(world.matrix, devices=world.device)


def _devices() -> Iterator[tuple[str, Callable[[World], Call]]]:
    yield "get_device", lambda _: (clmst.get_device, {"device": None})
    yield (
        "Device",
        lambda w: (
            clmst.Device,
            {
                "cl_device": w.device.cl_device, "queue": w.device.queue, "without": (),
                "tuning": w.device.policy,
            },
        ),
    )  # fmt: skip
    yield (
        "Device.forcing_off",
        lambda w: (
            lambda **given: w.device.forcing_off(*given.values()),
            {"name": "lanes"},
        ),
    )
    yield "Device.with_policy", lambda w: (w.device.with_policy, {"tuning": w.device.policy})
    yield "Device.beside", lambda w: (w.device.beside, {"tuning": w.device.policy})
    yield "Device.allocate", lambda w: (w.device.allocate, {"n_bytes": 64})
    yield "Device.upload", lambda w: (w.device.upload, {"array": np.ones(3)})
    yield (
        "Device.upload_all",
        lambda w: (
            lambda array, wait: w.device.upload_all(array, wait=wait),
            {"array": np.ones(3), "wait": True},
        ),
    )
    yield (
        "Device.program",
        lambda w: (
            lambda source_name, prelude, define: w.device.program(
                source_name, prelude, RECORD_WORDS=define
            ),
            {"source_name": "primitives/permute.cl", "prelude": None, "define": 1},
        ),
    )


def _generators() -> Iterator[tuple[str, Callable[[World], Call]]]:
    valid = {
        "grid": {"rows": 3, "columns": 4},
        "road": {"n": 40},
        "random": {"n": 30},
        "rmat": {"scale": 4},
        "kronecker": {"scale": 4},
        "clustered": {"n": 30, "clusters": 3, "cluster_size": 5},
        "delaunay": {"n": 30},
        "preferential": {"n": 30},
        "path": {"n": 9},
        "star": {"n": 9},
        "complete": {"n": 9},
    }
    for name, family in generators.FAMILIES.items():
        known: dict[str, int] = valid.get(name, {})
        needed: dict[str, Any] = {q.name: q.default for q in family.parameters if not q.required}
        for q in family.parameters:
            if q.required and not known:
                needed[q.name] = (1, 2) if q.type is tuple else 9
        needed |= known
        yield (
            f"generators.{name}",
            partial(lambda make, given, _: (make, dict(given)), family.function, needed),
        )
    yield "generate", lambda _: (clmst.generate, {"kind": "path", "n": 9})


def _operators() -> Iterator[tuple[str, Callable[[World], Call]]]:
    yield (
        "Monoid",
        lambda w: (
            _use_monoid(w),
            {
                "dtype": "u4", "combine": "a + b", "identity": "0", "commutative": True,
                "preamble": "", "name": "sum",
            },
        ),
    )  # fmt: skip
    for name in ("sum", "product", "minimum", "maximum", "bitwise_and", "bitwise_or",
                 "bitwise_xor", "minimum_by_key"):  # fmt: skip
        make = getattr(p.Monoid, name)
        argument = "key" if name == "minimum_by_key" else "dtype"
        yield (
            f"Monoid.{name}",
            partial(lambda make, argument, _: (make, {argument: "u4"}), make, argument),
        )
    yield (
        "Predicate",
        lambda w: (
            _use_predicate(w),
            {
                "dtype": "u4", "expression": "x > 1", "preamble": "", "name": "large",
                "scalars": {}, "arrays": {},
            },
        ),
    )  # fmt: skip
    yield (
        "Predicate.__call__",
        lambda w: (
            _call_predicate(w),
            {"limit": 3, "table": w.words()},
        ),
    )
    yield (
        "Map",
        lambda w: (
            lambda **given: p.map(w.words(), p.Map(**given)).to_host(),
            {
                "dtype": "u4", "result": "u2", "expression": "x + 1", "preamble": "",
                "name": "next", "scalars": {}, "arrays": {},
            },
        ),
    )  # fmt: skip
    yield (
        "pair_of",
        lambda _: (p.pair_of, {"first": "u4", "second": "f4", "names": ("key", "index")}),
    )


def _use_monoid(world: World) -> Callable[..., Any]:
    return lambda **given: p.reduce(world.words(), monoid=p.Monoid(**given)).to_host()


def _use_predicate(world: World) -> Callable[..., Any]:
    def use(**given: Any) -> Any:
        return p.compact(world.words(), predicate=p.Predicate(**given))[1].to_host()

    return use


def _call_predicate(world: World) -> Callable[..., Any]:
    rule = p.Predicate(
        dtype=np.dtype("u4"), expression="x < limit || table[i] > limit",
        scalars={"limit": "u4"}, arrays={"table": "u4"},
    )  # fmt: skip
    return lambda **given: p.compact(world.words(), predicate=rule(**given))[1].to_host()


def _launcher(world: World) -> Any:
    from clmst.runtime.launcher import Launcher

    return Launcher(world.device, world.device.queue)


def _scans() -> Iterator[tuple[str, Callable[[World], Call]]]:
    def common(w: World) -> dict[str, Any]:
        return {"values": w.words(), "monoid": p.Monoid.sum("u4"), "out": w.empty()}

    def ends(w: World, strategy: str = "parallel") -> dict[str, Any]:
        return {"strategy": strategy, "launch": _launcher(w)}

    yield "reduce", lambda w: (p.reduce, common(w) | ends(w))
    for scan in (p.exclusive_scan, p.inclusive_scan):
        yield (
            scan.__name__,
            partial(
                lambda scan, w: (
                    scan,
                    common(w) | {"total": w.empty(1)} | ends(w, "reduce-then-scan"),
                ),
                scan,
            ),
        )
    yield (
        "segmented_scan",
        lambda w: (
            p.segmented_scan,
            common(w) | {"flags": w.flags(), "exclusive": False} | ends(w),
        ),
    )
    yield (
        "segmented_reduce, flags",
        lambda w: (
            p.segmented_reduce,
            common(w) | {"flags": w.flags()} | ends(w),
        ),
    )
    yield (
        "segmented_reduce, offsets",
        lambda w: (
            p.segmented_reduce,
            common(w) | {"offsets": w.words(9)} | ends(w),
        ),
    )
    yield (
        "head_flags",
        lambda w: (
            p.head_flags,
            {"offsets": w.words(9), "length": 8, "out": w.empty(8, "u1"), "launch": _launcher(w)},
        ),
    )
    yield (
        "end_flags",
        lambda w: (
            p.end_flags,
            {"flags": w.flags(), "out": w.empty(8, "u1"), "launch": _launcher(w)},
        ),
    )


def _selections() -> Iterator[tuple[str, Callable[[World], Call]]]:
    def outputs(w: World) -> dict[str, Any]:
        return {"out": w.empty(), "count": w.empty(1), "strategy": "parallel",
                "launch": _launcher(w)}  # fmt: skip

    def values(w: World) -> dict[str, Any]:
        return {"values": w.words(), "values_out": w.empty()}

    large = p.Predicate(dtype=np.dtype("u4"), expression="x > 1")
    for select in (p.compact, p.partition):
        most = {"at_most": 8} if select is p.compact else {}
        for how in ("flags", "predicate"):
            yield (
                f"{select.__name__}, {how}",
                partial(
                    lambda select, how, most, w: (
                        select,
                        {"records": w.words(), how: w.flags() if how == "flags" else large}
                        | (values(w) | outputs(w) | most),
                    ),
                    select,
                    how,
                    most,
                ),
            )
    yield "positions", lambda w: (p.positions, {"flags": w.flags(), "at_most": 8} | outputs(w))
    yield (
        "unique_by_key",
        lambda w: (
            p.unique_by_key,
            {"keys": w.words(), "at_most": 8} | values(w) | outputs(w),
        ),
    )


def _moves() -> Iterator[tuple[str, Callable[[World], Call]]]:
    def ends(w: World) -> dict[str, Any]:
        return {"strategy": "parallel", "launch": _launcher(w)}

    for move in (p.gather, p.scatter):
        yield (
            move.__name__,
            partial(
                lambda move, w: (
                    move,
                    {
                        "values": w.words(),
                        "indices": w.words(),
                        "out": w.empty(),
                        "launch": _launcher(w),
                    },
                ),
                move,
            ),
        )
    yield "split", lambda w: (
        p.split,
        {
            "records": w.words(), "key_bits": 3, "start_bit": 0, "values": w.words(),
            "out": w.empty(), "values_out": w.empty(), **ends(w),
        },
    )  # fmt: skip
    yield (
        "sort",
        lambda w: (
            p.sort,
            {"keys": w.words(), "descending": False, "out": w.empty(), **ends(w)},
        ),
    )
    yield "sort_by_key", lambda w: (
        p.sort_by_key,
        {
            "keys": w.words(), "values": w.words(), "key_bits": 3, "start_bit": 0,
            "descending": False, "keys_out": w.empty(), "values_out": w.empty(), **ends(w),
        },
    )  # fmt: skip


def _maps() -> Iterator[tuple[str, Callable[[World], Call]]]:
    next_one = p.Map(dtype=np.dtype("u4"), expression="x + 1")

    def ends(w: World) -> dict[str, Any]:
        return {"out": w.empty(), "strategy": "parallel", "launch": _launcher(w)}

    yield "map", lambda w: (p.map, {"values": w.words(), "function": next_one, **ends(w)})
    yield (
        "histogram",
        lambda w: (
            p.histogram,
            {"values": w.words(), "n_bins": 8, "bin_of": next_one, **ends(w)},
        ),
    )
    yield (
        "argsort",
        lambda w: (p.argsort, {"keys": w.words(), "descending": False, **ends(w)}),
    )


def _drawing() -> Iterator[tuple[str, Callable[[World], Call]]]:
    common = {"path": "drawn.png", "title": "a", "max_edges": 10, "symmetrize": False}
    yield (
        "draw_forest",
        lambda w: (
            drawing.draw_forest,
            {"graph": w.graph, "forest": w.forest, **common},
        ),
    )
    yield "draw_change", lambda w: (
        drawing.draw_change,
        {
            "graph": w.graph, "before": w.forest, "after": w.forest, **common,
            "window": (0.0, -3.0, 3.0, 0.0),
        },
    )  # fmt: skip
    line = np.array([[0, 1, 1, 2], [2, 3, 2, 3]], float)
    three = {"labels": np.array([0, 0, 1]), "path": "clusters.png", "title": "a"}
    yield "draw_dendrogram", lambda _: (drawing.draw_dendrogram, {"linkage": line, **three})
    forest = clmst.kruskal(clmst.Graph.from_edges([0, 2], [2, 1], [1, 2]))
    map_of = {"points": np.eye(3)[:, :2], "forest": forest, **three}
    yield "draw_clusters", lambda _: (drawing.draw_clusters, map_of)
    tree = np.array([(2, 0, 1.0, 1), (2, 1, 2.0, 1)], condensed.ROW)
    shown = {"tree": tree, "path": "tree.png", "selected": [2], "title": "a"}
    yield "draw_condensed_tree", lambda _: (drawing.draw_condensed_tree, shown)
    yield "layout", lambda w: (drawing.layout, {"graph": w.graph, "symmetrize": False})
