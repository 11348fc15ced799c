"""Every public entry with a valid call of it: solving, graphs, results, files, devices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyopencl.array as cl_array

import clmst
from clmst import generators, io
from clmst import primitives as p
from clmst.algorithms.registry import ALGORITHMS
from tests.misuse.look_alikes import LooksLikeIgraph, LooksLikeRustworkx
from tests.misuse.world import WORLD as W
from tests.misuse.world import Later, World, made

Call = tuple[Callable[..., Any], dict[str, Any]]
# A name, what is called, and valid arguments, each by its name; values of `Later` come anew.
Valid = tuple[str, Any, dict[str, Any] | Later]


class Entry(NamedTuple):
    """A public call: `make` returns it anew with valid arguments, each by its name."""

    name: str
    make: Callable[[World], Call]


def entries() -> list[Entry]:
    """Return every public entry."""
    from tests.misuse import entries_of_primitives

    groups = (_solving, _clusters, _streams, _graphs, _other_libraries, _results, _arrays, _options,
              _files, _repeated, _dynamic, _devices,
              _generators, entries_of_primitives.every)  # fmt: skip
    return [
        Entry(name, partial(_made, name, function, given))
        for group in groups
        for name, function, given in group()
    ]


# Arguments that are left out: either these or what is given; and private ones.
_LEFT_OUT = {
    "read_graph": {"columns"},  # which its file does not have
    "segmented_reduce, flags": {"offsets"},
    "segmented_reduce, offsets": {"flags"},
    "compact, flags": {"predicate"},
    "compact, predicate": {"flags"},
    "partition, flags": {"predicate"},
    "partition, predicate": {"flags"},
    "Graph.from_edges": {"relabel"},
    "Device": {"_trusted", "_optimised"},
}


def _made(name: str, function: Any, given: Any, world: World) -> Call:
    """Return a call with what is given, and all other arguments at their defaults."""
    call = made(function, world)
    usual = {}
    is_own = call.__module__.startswith("clmst") and not is_dataclass(call)
    if is_own or hasattr(call, "__signature__"):
        usual = {
            one.name: one.default
            for one in inspect.signature(call).parameters.values()
            if one.default is not one.empty and one.name not in _LEFT_OUT.get(name, ())
        }
    return call, usual | made(given, world)


def used(kind: Any, use: Callable[[World, Any], Any]) -> Later:
    """Return a call that makes an object, and uses it: what it took may be of use only then."""

    def of(world: World) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            return use(world, kind(**given))

        call.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
        return call

    return Later(of)


def fields_of(record: Any) -> Later:
    """Return the attributes of a record, as its constructor takes them."""

    def of(world: World) -> dict[str, Any]:
        found = made(record, world)
        return {field.name: getattr(found, field.name) for field in fields(found) if field.init}

    return Later(of)


def _solve(_: World, graph: Any) -> Any:
    return clmst.minimum_spanning_forest(graph)


def _solve_by_blocks(_: World, options: clmst.BlockOptions) -> Any:
    points = clmst.Points(np.zeros((3, 2)))
    return clmst.minimum_spanning_forest(points, block_points=options)


def _solving() -> Iterator[Valid]:
    graph = dict(graph=W.graph)
    for solve in (clmst.minimum_spanning_forest, clmst.maximum_spanning_forest):
        yield solve.__name__, solve, graph
    seeds = Later(lambda w: np.resize([1] + [0] * 9, w.forest.n_vertices))
    segments = dict(graph=W.forest, seeds=seeds)
    yield "seeded_segmentation", clmst.seeded_segmentation, segments
    yield "csgraph", clmst.csgraph.minimum_spanning_tree, dict(csgraph=W.matrix)
    yield "to_device", clmst.to_device, graph
    yield "core_distances", clmst.core_distances, dict(points=np.zeros((3, 2)), min_samples=2)
    in_blocks = dict(points=np.zeros((9, 2)), min_samples=2, devices=[W.device], block_points=4)
    yield "core_distances, in blocks", clmst.core_distances, in_blocks
    yield "core_numbers", clmst.core_numbers, graph
    yield "kruskal", clmst.kruskal, graph
    yield "verify", clmst.verify, dict(**graph, forest=W.forest)

    def pair(w: World) -> list[clmst.Device]:
        other = w.other_device
        is_same = other.cl_device == w.device.cl_device
        return [w.device, other.forcing_off("lanes") if is_same else other]

    def solve_parts(graph: Any, devices: Any, verify: Any) -> Any:
        return clmst.minimum_spanning_forest(graph, devices=devices, verify=verify)

    parts: Any = Later(lambda w: clmst.to_devices(w.graph, pair(w)))
    yield "to_devices", clmst.to_devices, dict(**graph, devices=[W.device])
    on_pair = dict(graph=W.graph, devices=Later(pair), verify=False)
    yield "several devices", solve_parts, on_pair
    yield "parts", solve_parts, dict(graph=parts, devices=None, verify=False)
    yield "DeviceParts.of_graphs", clmst.DeviceParts.of_graphs, dict(parts=parts.parts)
    yield "DeviceParts", used(clmst.DeviceParts, _solve), fields_of(parts)


def _clusters() -> Iterator[Valid]:
    cluster = clmst.cluster
    X, eight = np.eye(4), np.repeat(np.eye(2), 4, axis=0)
    single = used(cluster.SingleLinkage, lambda _, model: model.fit(X))
    density = used(cluster.HDBSCAN, lambda _, model: model.fit(eight))
    lists = dict(X=X, neighbours=np.array([[1], [0], [3], [2]]))
    yield "cluster.single_linkage", cluster.single_linkage, lists
    yield "cluster.neighbour_forest", cluster.neighbour_forest, lists
    yield "cluster.SingleLinkage", single, dict(connectivity=np.ones((4, 4)))
    apart = dict(n_clusters=None, distance_threshold=0.5)
    yield "cluster.SingleLinkage, apart", single, apart
    yield "cluster.SingleLinkage.fit", cluster.SingleLinkage().fit, dict(X=X)
    yield "cluster.HDBSCAN", density, dict(
        min_cluster_size=3, min_samples=2, cluster_selection_epsilon=0.1, max_cluster_size=7,
        alpha=1.5, allow_single_cluster=True, store_centers="both",
        ties="simultaneous", cluster_selection_epsilon_max=2.0, cluster_selection_persistence=0.1,
        approx_min_span_tree=True, gen_min_span_tree=True, prediction_data=True,
    )  # fmt: skip
    yield "cluster.HDBSCAN.fit", cluster.HDBSCAN(3).fit, dict(X=eight, sample_weight=np.arange(8))
    leaves = used(cluster.PersistentLeaves, lambda _, model: model.fit(eight))
    yield "cluster.PersistentLeaves", leaves, dict(
        min_samples=2, min_size=3, max_size=7, persistence="distance", ties="sequential",
    )  # fmt: skip
    fit = cluster.PersistentLeaves(2).fit
    yield "cluster.PersistentLeaves.fit", fit, dict(X=eight, sample_weight=np.arange(8))
    layered: Any = Later(lambda _: cluster.PersistentLeaves(2).fit(eight))
    yield "cluster.PersistentLeaves.layers", layered.layers, dict(n=1)
    fitted: Any = Later(lambda _: cluster.HDBSCAN(min_cluster_size=3).fit(eight))
    cut = dict(cut_distance=0.5, min_cluster_size=2)
    yield "cluster.HDBSCAN.dbscan_clustering", fitted.dbscan_clustering, cut
    new = dict(clusterer=fitted, points_to_predict=eight)
    yield "cluster.HDBSCAN.predict", fitted.predict, dict(X=eight)
    yield "cluster.membership_vector", cluster.membership_vector, dict(**new, top_k=1)
    every = cluster.all_points_membership_vectors
    yield "cluster.all_points_membership_vectors", every, dict(clusterer=fitted, top_k=1)
    put = dict(**new, return_connecting_points=True)
    yield "cluster.approximate_predict", cluster.approximate_predict, put
    yield "cluster.approximate_predict_scores", cluster.approximate_predict_scores, new
    scored = dict(X=eight, labels=np.repeat([0, 1], 4), d=2, per_cluster_scores=True)
    yield "cluster.validity_index", cluster.validity_index, scored


def _streams() -> Iterator[Valid]:
    chunk = ([0, 1], [1, 2], np.array([3, 4]))
    common = dict(n_vertices=3, memory_limit=1 << 20, columns=("u", "v", "w"))
    yield "stream_minimum_spanning_forest", clmst.stream_minimum_spanning_forest, dict(
        **common, chunks=[chunk], checkpoint=W.graph_file.with_name("checkpoint"),
        on_progress=print, n_edges=2,
    )  # fmt: skip
    many = dict(**common, edges=[chunk, chunk], split_every=2)
    yield "dask", clmst.dask.minimum_spanning_forest, many
    model, points = clmst.cluster.HDBSCAN(2, block_points=4), np.arange(16.0).reshape(8, 2)
    yield "dask.cluster", clmst.dask.cluster, dict(model=model, X=points)

    def solve(world: World, edges: Any) -> Any:
        return clmst.stream_minimum_spanning_forest(edges(hop=1), device=world.device)

    ring: dict[str, Any] = dict(n_vertices=5, n_edges=5, u="id", v="(id + hop) % 5", weight="id",
                                weight_dtype="u4", scalars={"hop": "u4"})  # fmt: skip
    yield "GeneratedEdges", used(clmst.GeneratedEdges, solve), ring
    edges = clmst.GeneratedEdges(**ring)
    yield "GeneratedEdges.__call__", edges.__call__, dict(hop=1)
    some = dict(first=1, count=2, device=W.device)
    yield "GeneratedEdges.edges", edges(hop=1).edges, some
    yield (
        "StreamProgress",
        clmst.StreamProgress,
        dict(edges=2, n_edges=2, edges_now=2, forest_edges=2, reductions=1, seconds=1.0),
    )
    done = dict(step="trees of blocks", done=1, n_tasks=2, n_dropped=0, seconds=1.0)
    yield "BlockProgress", clmst.BlockProgress, done
    of_blocks = used(clmst.BlockOptions, _solve_by_blocks)
    folder = W.graph_file.with_name("tasks")
    yield "BlockOptions", of_blocks, dict(n_points=2, checkpoint=folder, on_progress=print)


def _relabelled(**given: Any) -> clmst.Graph:
    return clmst.Graph.from_edges([5, 5, 9], [9, 7, 7], [1, 2, 3], **given)


def _use_replaced(world: World) -> Callable[..., Any]:
    """Return a call that changes an attribute of a graph and solves it."""

    def use(**changes: Any) -> Any:
        graph = world.graph.replace(**changes)
        repr(graph)
        return clmst.minimum_spanning_forest(graph).to_networkx()

    return use


def _graphs() -> Iterator[Valid]:
    graph, zeros, w3 = clmst.Graph, np.zeros((3, 2)), [2, 3, 4]
    columns = dict(columns=("source", "target", "weight"))
    yield "Graph.from_scipy", graph.from_scipy, dict(A=W.matrix)
    rows = dict(indptr=[0, 2, 3, 3], indices=[1, 2, 2], weights=w3)
    yield "Graph.from_csr", graph.from_csr, rows
    yield (
        "Graph.from_edges",
        graph.from_edges,
        dict(u=[0, 0, 1], v=[1, 2, 2], w=w3, n_vertices=3, coordinates=zeros),
    )
    yield "Graph.from_edges, relabelled", _relabelled, dict(relabel=True)
    yield "Graph.from_masked", graph.from_masked, dict(matrix=np.ma.ones((3, 3)))
    yield "Graph.from_networkx", graph.from_networkx, dict(G=W.forest.to_networkx())
    yield "Graph.from_pandas", graph.from_pandas, dict(frame=W.forest.to_pandas(), **columns)
    yield "Graph.from_arrow", graph.from_arrow, dict(table=W.forest.to_pandas(), **columns)
    yield "Graph.from_image", graph.from_image, dict(image=np.eye(4))
    yield "Graph.read", graph.read, dict(path=W.graph_file)
    for field in ("indptr", "indices", "weights", "is_symmetric", "edge_ids", "n_input",
                  "vertex_labels", "coordinates"):  # fmt: skip
        yield "Graph.replace", Later(_use_replaced), {field: getattr(W.graph, field)}
    yield "Graph", graph, fields_of(W.graph)
    dense, points = clmst.DenseGraph(np.ones((3, 3))), clmst.Points(zeros)
    one_edge = dict(u=np.r_[0], v=np.r_[1])
    yield "DenseGraph", clmst.DenseGraph, dict(weights=np.ones((3, 3)))
    yield "DenseGraph.weights_of", dense.weights_of, one_edge
    yield "Points", clmst.Points, dict(coordinates=zeros, metric="euclidean")
    yield "Points.weights_of", points.weights_of, one_edge


def _other_libraries() -> Iterator[Valid]:
    """Both as objects of their shape; any object may be an edge's data or a vertex's name."""
    edges, weights, three = [(0, 1), (0, 2), (1, 2)], [2.0, 3.0, 4.0], [0, 1, 2]

    def igraph(*, weight: Any = 2.0, name: Any = "a", **given: Any) -> clmst.Graph:
        has = {"edges": edges, "weights": [weight] * 3, "names": [name] * 3, "n": 3, **given}
        return clmst.Graph.from_igraph(LooksLikeIgraph(**has))

    def rustworkx(*, datum: Any = 2.0, **given: Any) -> clmst.Graph:
        has = {"edges": edges, "data": [datum] * 3, **given}
        return clmst.Graph.from_rustworkx(LooksLikeRustworkx(**has))

    of_igraph: Any = Later(lambda _: LooksLikeIgraph(edges, weights, n=3))
    of_rustworkx: Any = Later(
        lambda _: LooksLikeRustworkx(edges, weights, nodes=three, edge_indices=three)
    )
    yield "Graph.from_igraph", clmst.Graph.from_igraph, dict(G=of_igraph)
    given = dict(G=of_rustworkx, weight_fn=lambda x: x)
    yield "Graph.from_rustworkx", clmst.Graph.from_rustworkx, given
    has = dict(edges=edges, weight=2.0, name="a", n=3, directed=False)
    yield "Graph.from_igraph, what it has", igraph, has
    has = dict(edges=edges, datum=2, nodes=three, edge_indices=three)
    yield "Graph.from_rustworkx, what it has", rustworkx, has


def _device_forest(world: World) -> clmst.DeviceForest:
    return clmst.minimum_spanning_forest(world.device_graph, keep_on_device=True)


def _use_forest(world: World, forest: clmst.Forest) -> Any:
    repr(forest)
    forest.verify(world.graph)
    return forest.to_scipy(), forest.to_networkx(), forest.labels


def _use_verification(_: World, found: clmst.Verification) -> Any:
    with suppress(clmst.InvalidForestError):
        found.raise_if_invalid()
    return bool(found)


def _csr_arrays(world: World) -> dict[str, Any]:
    """Return the arguments of DeviceGraph.from_arrays."""
    graph, device = world.graph, world.device
    parts = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    arrays = {name: clmst.DeviceArray.from_host(part, device) for name, part in parts.items()}
    return arrays | {"device": device}


def _results() -> Iterator[Valid]:
    forest = W.forest
    yield "Forest", used(clmst.Forest, _use_forest), fields_of(forest)
    yield "Forest.to_networkx", forest.to_networkx, dict(weight="weight")
    yield "Forest.to_pandas", forest.to_pandas, dict(columns=("a", "b", "c"), edge_id="d")
    yield "Forest.to_arrow", forest.to_arrow, dict(columns=("a", "b", "c"), edge_id="d")
    if find_spec("polars"):
        yield "Forest.to_polars", forest.to_polars, dict(columns=("a", "b", "c"), edge_id="d")
    yield "Forest.linkage", forest.linkage, {}
    yield "Forest.dendrogram_to_networkx", forest.dendrogram_to_networkx, {}
    yield "Forest.cut", forest.cut, dict(height=2)
    yield "Forest.cut, into components", forest.cut, dict(k=2)
    yield "Forest.path", forest.path, dict(u=0, v=1)
    yield "Forest.verify", forest.verify, dict(graph=W.graph)
    table = Later(lambda w: np.zeros((w.graph.n_input, 2)))
    yield "Forest.rows", forest.rows, dict(table=table)
    names = ("source", "target", "weight")
    edges = Later(lambda w: clmst.kruskal(w.graph).to_pandas())
    of_rows: Any = Later(lambda w: clmst.kruskal(clmst.kruskal(w.graph).to_pandas()))
    yield "Forest.rows, of a frame", of_rows.rows, dict(table=edges, columns=names)
    yield "kruskal, of a frame", clmst.kruskal, dict(graph=edges, columns=names)
    resident: Any = Later(_device_forest)
    to_host = used(clmst.DeviceForest, lambda _, forest: forest.to_host())
    yield "DeviceForest", to_host, fields_of(resident)
    yield "DeviceForest.with_stats", resident.with_stats, dict(stats={"a": 1})
    yield "DeviceGraph", used(clmst.DeviceGraph, _solve), fields_of(W.device_graph)
    upload = dict(graph=W.graph, device=W.device)
    yield "DeviceGraph.upload", clmst.DeviceGraph.upload, upload
    yield "DeviceGraph.from_arrays", clmst.DeviceGraph.from_arrays, Later(_csr_arrays)
    yield "DeviceGraph.weight_defines", W.device_graph.weight_defines, dict(maximum=False)
    points = clmst.Points(np.zeros((3, 2)))
    matrix: Any = Later(lambda w: clmst.to_device(points, w.device))
    yield "DeviceMatrix.upload", clmst.DeviceMatrix.upload, dict(graph=points, device=W.device)
    yield "DeviceMatrix", used(clmst.DeviceMatrix, _solve), fields_of(matrix)
    yield "DeviceMatrix.defines", matrix.defines, dict(maximum=False)
    verified = used(clmst.Verification, _use_verification)
    yield "Verification", verified, dict(problems=("a",), n_problems=1)


def _array_fields(world: World) -> dict[str, Any]:
    array = world.words()
    return {one.name: getattr(array, one.name) for one in fields(array) if one.init}


def _use_device_array(_: World, array: clmst.DeviceArray) -> Any:
    return repr(array), len(array), array.to_host(), p.reduce(array)


def _sliced(world: World) -> Callable[..., Any]:
    return lambda start, stop, step: world.words()[start:stop:step]


def _arrays() -> Iterator[Valid]:
    array, words = clmst.DeviceArray, W.words()
    theirs = Later(lambda w: cl_array.to_device(w.device.queue, np.ones(3)))
    yield "DeviceArray", used(array, _use_device_array), Later(_array_fields)
    yield "DeviceArray.empty", array.empty, dict(size=4, dtype="u4")
    yield "DeviceArray.from_host", array.from_host, dict(values=[1, 2])
    yield "DeviceArray.from_pyopencl", array.from_pyopencl, dict(array=theirs, device=W.device)
    yield "DeviceArray.to_pyopencl", words.to_pyopencl, dict(queue=W.device.queue)
    yield "DeviceArray.in_context", array.in_context, dict(values=words, device=W.device)
    yield "DeviceArray.write", words.write, dict(values=np.zeros(8, np.uint32))
    item = Later(lambda w: w.words().__getitem__)
    yield "DeviceArray.__getitem__", item, dict(key=slice(0, 2))
    yield "DeviceArray slice", Later(_sliced), dict(start=0, stop=2, step=1)
    yield "DeviceArray.view", words.view, dict(dtype=np.int32)
    yield "DeviceArray.is_at", words.is_at, dict(other=words)
    yield "DeviceArray.overlaps", words.overlaps, dict(other=words)


def _options() -> Iterator[Valid]:
    for algorithm, record in ALGORITHMS.items():
        kind = record.options

        def solve(world: World, options: Any, algorithm: str = algorithm) -> Any:
            how: Any = {"algorithm": algorithm, "options": options}
            return clmst.minimum_spanning_forest(world.device_graph, **how)

        yield kind.__name__, used(kind, solve), fields_of(kind())
    yield "EclOptions.ablation", clmst.EclOptions.ablation, dict(seed=0, samples=9)


def _table_of(world: World) -> Path:
    """Return a CSV file, which is written anew."""
    path = Path(world.graph_file).with_name("table.csv")
    clmst.write_graph(world.graph, path)
    return path


def _files() -> Iterator[Valid]:
    yield "read_graph", clmst.read_graph, dict(path=W.graph_file)
    yield (
        "read_graph, columns",
        clmst.read_graph,
        dict(path=Later(_table_of), format="csv", columns=("source", "target", "weight")),
    )
    yield "read_points", clmst.read_points, dict(path=W.points_file, mapped=False)
    yield "read_forest", io.read_forest, dict(graph=W.graph, path=W.forest_file)
    for suffix in ("gr", "mtx", "graph", "egr", "npz", "txt", "stp"):
        given = dict(graph=W.graph, path=Path(f"written.{suffix}"))
        yield f"write_graph .{suffix}", clmst.write_graph, given
    for suffix in ("npz", "mtx", "txt", "json"):
        given = dict(forest=W.forest, path=Path(f"written.{suffix}"))
        yield f"write_forest .{suffix}", clmst.write_forest, given


def _use_solver(_: World, solver: clmst.RepeatedSolver) -> Any:
    return solver.solve(np.ones(solver.n_edges, np.int32))


def _solver(world: World) -> clmst.RepeatedSolver:
    solver = clmst.RepeatedSolver(world.graph, devices=world.device)
    solver.solve(np.arange(solver.n_edges, dtype=np.int32))
    return solver


def _every_round(world: World) -> Callable[..., Any]:
    return lambda **given: list(_solver(world).solve_many(**given))


def _repeated() -> Iterator[Valid]:
    solver: Any = Later(_solver)
    of_points: Any = Later(
        lambda w: clmst.RepeatedSolver(clmst.Points(np.eye(5, 2)), devices=w.device)
    )
    of_matrix: Any = Later(lambda w: clmst.RepeatedSolver(w.matrix, devices=w.device))
    solved = used(clmst.RepeatedSolver, _use_solver)
    weights = np.ones(31, np.int32)
    yield "RepeatedSolver", clmst.RepeatedSolver, dict(graph=W.graph)
    yield "RepeatedSolver, solved", solved, dict(graph=W.graph)
    yield "RepeatedSolver.solve", solver.solve, dict(weights=weights)
    yield "RepeatedSolver.solve of points", of_points.solve, dict(weights=np.eye(5, 2))
    yield "RepeatedSolver.update", solver.update, dict(edge_ids=[0, 1], weights=[5, 6])
    yield (
        "RepeatedSolver.solve_many",
        Later(_every_round),
        dict(weights=[weights], keep_on_device=False, verify=False, progress=lambda *_: None),
    )
    one_round = Later(lambda w: lambda one: list(_solver(w).solve_many([one])))
    yield "RepeatedSolver.solve_many, one of", one_round, dict(one=weights)
    yield "RepeatedSolver.weights_of", of_matrix.weights_of, dict(matrix=W.matrix)


def _forest_of_edges(world: World) -> clmst.DynamicForest:
    return clmst.DynamicForest(world.graph, device=world.device, weight_dtype=np.float64)


def _saved_forest(world: World) -> Path:
    """Return the file of a dynamic forest, which is written anew."""
    path = Path(world.graph_file).with_name("saved.forest")
    _forest_of_edges(world).save(path)
    return path


def _insert_into(_: World, forest: clmst.DynamicForest) -> Any:
    return forest.insert([0], [1], [2])


def _dynamic() -> Iterator[Valid]:
    forest: Any = Later(_forest_of_edges)
    used_after = used(clmst.DynamicForest, _insert_into)
    yield "DynamicForest", clmst.DynamicForest, dict(graph=5, weight_dtype=np.float32)
    ids = np.arange(2)
    yield "Change", clmst.Change, dict(ids=ids, entered=ids, left=ids[:0], replaced=None)
    yield "DynamicForest, used", used_after, dict(graph=W.graph)
    yield "DynamicForest.insert", forest.insert, dict(u=[0, 1], v=[1, 2], w=[3, 4])
    yield "DynamicForest.insert, window", forest.insert, dict(u=[0], v=[1], w=[3], window=20)
    yield "DynamicForest.insert, tuple", forest.insert, dict(u=([0, 1], [1, 2], [3, 4]))
    yield "DynamicForest.delete", forest.delete, dict(ids=[0, 1])
    yield "DynamicForest.update", forest.update, dict(ids=[0, 1], w=[3, 4])
    changes = dict(insert=([0], [1], [5]), delete=[0], update=([1], [4]))
    yield "DynamicForest.apply", forest.apply, changes
    yield "DynamicForest.insert_vertices", forest.insert_vertices, dict(k=2)
    yield "DynamicForest.expire", forest.expire, dict(before=3)
    yield "DynamicForest.edges", forest.edges, dict(ids=[0, 1])
    yield "DynamicForest.connected", forest.connected, dict(u=[0, 1], v=[1, 2])
    yield "DynamicForest.path_maximum", forest.path_maximum, dict(u=[0, 1], v=[1, 2])
    yield "DynamicForest.linkage", forest.linkage, dict(join_components=True)
    yield "DynamicForest.cut", forest.cut, dict(height=2)
    yield "DynamicForest.save", forest.save, dict(path=Path("written.forest"))
    saved = Later(_saved_forest)
    yield "DynamicForest.load", clmst.DynamicForest.load, dict(path=saved)


def _warm(_: World) -> Callable[..., Any]:
    """Return ``clmst.warm`` without its calls, which would take minutes."""

    def call(**given: Any) -> Any:
        with (
            patch("clmst.warming.calls_of", lambda _: iter(())),
            patch("clmst.runtime.ahead.specialisations", lambda *_: []),
        ):
            return clmst.warm(**given)

    call.__signature__ = inspect.signature(clmst.warm)  # type: ignore[attr-defined]
    return call


def _devices() -> Iterator[Valid]:
    device, tuning = W.device, dict(tuning=W.device.policy)
    yield "get_device", clmst.get_device, {}
    yield "show_versions", clmst.show_versions, {"as_json": True}
    yield "warm", Later(_warm), dict(what="graphs", device=device)
    yield (
        "Warmed",
        clmst.Warmed,
        dict(device=device, n_built=1, n_ready=2, refused=(), seconds=0.5),
    )
    opened = dict(cl_device=device.cl_device, queue=device.queue, **tuning)
    yield "Device", clmst.Device, opened
    forced = Later(lambda w: lambda **given: w.device.forcing_off(*given.values()))
    yield "Device.forcing_off", forced, dict(name="lanes")
    yield "Device.with_policy", device.with_policy, tuning
    yield "Device.allocate", device.allocate, dict(n_bytes=64)
    yield "Device.upload", device.upload, dict(array=np.ones(3))
    uploaded = Later(lambda w: lambda array, wait: w.device.upload_all(array, wait=wait))
    yield "Device.upload_all", uploaded, dict(array=np.ones(3), wait=True)
    built = Later(
        lambda w: (
            lambda source_name, prelude, define: w.device.program(
                source_name, prelude, RECORD_WORDS=define
            )
        )
    )
    source = dict(source_name="primitives/permute.cl", prelude=None, define=1)
    yield "Device.program", built, source


def _generators() -> Iterator[Valid]:
    valid: dict[str, dict[str, int]] = {
        "grid": {"rows": 3, "columns": 4},
        "road": {"n": 40},
        "rmat": {"scale": 4},
        "kronecker": {"scale": 4},
        "clustered": {"n": 30, "clusters": 3, "cluster_size": 5},
        **{name: {"n": 30} for name in ("random", "delaunay", "preferential")},
        **{name: {"n": 9} for name in ("path", "star", "complete")},
    }
    for name, family in generators.FAMILIES.items():
        needed: dict[str, Any] = valid.get(name) or {
            one.name: (1, 2) if one.type is tuple else 9
            for one in family.parameters
            if one.required
        }
        yield f"generators.{name}", family.function, needed
    yield "generate", clmst.generate, dict(kind="path", n=9)
