"""Calls that work in several threads, each again and again with its right result."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import numpy as np
from scipy import sparse

import clmst
from clmst.core.graph import Graph
from clmst.core.matrix_checks import check_symmetric
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import StagingShape
from clmst.scale import partitions
from clmst.scale.partition_pieces import FileLane
from clmst.scale.partitions import PartitionJob
from clmst.scale.schedule import LaneStep
from tests.faults.subjects import Check, forest, graph, reweighted, weights
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest

_N, _ROWS = 300, 6000  # of streams


def _edges() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, _N, (2, _ROWS))
    return u, v, rng.integers(0, 99, _ROWS).astype("f4")


def _expected() -> clmst.Forest:
    return clmst.kruskal(Graph.from_edges(*_edges(), n_vertices=_N))


def _host_rows(device: Device) -> Check:
    """Return streams of chunks of the host's rows."""
    expected, stream = _expected(), clmst.stream_minimum_spanning_forest
    chunks = list(zip(*(np.split(one, 4) for one in _edges()), strict=True))
    return lambda: assert_same_forest(
        stream(iter(chunks), _N, device=device, memory_limit=80_000), expected
    )


def _files(device: Device) -> Check:
    """Return streams of files, which threads read ahead."""
    folder, expected = tempfile.TemporaryDirectory(prefix="clmst-interrupts-"), _expected()
    _write_parts(Path(folder.name))

    def run(folder: tempfile.TemporaryDirectory[str] = folder) -> None:
        assert_same_forest(
            clmst.stream_minimum_spanning_forest(folder.name, _N, device=device), expected
        )

    return run


def _write_parts(folder: Path) -> list[str]:
    """Write the edges as files of four parts; return their paths."""
    u, v, w = _edges()
    rows = np.empty(_ROWS, [("u", u.dtype), ("v", v.dtype), ("w", w.dtype)])
    rows["u"], rows["v"], rows["w"] = u, v, w
    for number, part in enumerate(np.split(rows, 4)):
        np.save(folder / f"{number}.npy", part)
    return [str(path) for path in sorted(folder.iterdir())]


def _partitions(device: Device) -> Check:
    """Return the functions that Dask and Ray call, for partitions in memory and in files."""
    folder, expected = tempfile.TemporaryDirectory(prefix="clmst-interrupts-"), _expected()
    paths = _write_parts(Path(folder.name))
    parts = list(zip(*(np.split(one, 2) for one in _edges()), strict=True))
    job = PartitionJob(
        n_vertices=_N, columns=None, edge_id=None, device=device,
        memory_limit=None, maximum=False,
    )  # fmt: skip

    def run(folder: tempfile.TemporaryDirectory[str] = folder) -> None:
        found = None
        for number, part in enumerate(parts):
            step = LaneStep(number=number, to_come=1 - number, round=number, lane=0)
            found = partitions.take_partition(part, step, job, before=found)
        assert found is not None, folder
        assert_same_forest(
            partitions.finish(partitions.merge([found], job), job, "a test"), expected
        )
        lane = FileLane(numbers=(0, 1, 2, 3), paths=tuple(paths))
        step = LaneStep(number=3, to_come=0, round=0, lane=0)
        read = partitions.take_partition(lane, step, job)
        assert_same_forest(partitions.finish(read, job, "a test"), expected)

    return run


def _transfers(device: Device) -> Check:
    """Return copies to a device and back that go through pinned memory, by several threads."""
    device = with_capabilities(device, host_arrays="copied")
    n_bytes = StagingShape().from_bytes + 12_345
    values = np.random.default_rng(6).integers(0, 256, n_bytes).astype(np.uint8)
    found = np.empty_like(values)

    def run() -> None:
        memory = device.upload(values)
        found.fill(0)
        Launcher(device, device.queue).read(memory, found)
        assert np.array_equal(found, values)

    return run


def _host(_: Device) -> Check:
    """Return work of all cores of the host: a matrix is checked, a forest is proved."""
    rng = np.random.default_rng(9)
    square = rng.integers(1, 99, (400, 400)).astype("f4")
    square = np.minimum(square, square.T)
    u, v = rng.integers(0, 500, (2, 600_000))
    many = Graph.from_edges(u, v, rng.integers(0, 9, u.size).astype("u1"), n_vertices=500)
    proved = clmst.kruskal(many)

    def run() -> None:
        check_symmetric(square)
        proved.verify(many)

    return run


def _graph_reads(device: Device) -> Check:
    """Return reads of one graph's lazy properties by several threads at once, then a solve."""
    rng = np.random.default_rng(3)
    matrix = sparse.coo_array((weights(1), rng.integers(0, 400, (2, 1500))), shape=(420, 420))
    expected = clmst.kruskal(Graph.from_scipy(matrix))
    asked: SimpleQueue[tuple[Graph, SimpleQueue[int]]] = SimpleQueue()

    def read() -> None:
        while True:
            one, answers = asked.get()
            answers.put(_total(one))

    for _ in range(2):
        threading.Thread(target=read, daemon=True).start()

    def run() -> None:
        one, answers = Graph.from_scipy(matrix), SimpleQueue[int]()
        asked.put((one, answers))
        asked.put((one, answers))
        total = _total(one)
        assert_same_forest(clmst.minimum_spanning_forest(one, device=device), expected)
        assert [answers.get(), answers.get()] == [total, total]

    return run


def _total(one: Graph) -> int:
    return int(one.rows.sum() + one.edge_slots.sum() + one.n_edges)


def _several(device: Device) -> Check:
    """Return solves on two devices at once: rounds, and the parts of one graph."""
    devices = [device, _another(device)]
    solver = clmst.RepeatedSolver(graph(), devices=devices, strategy="split")

    def run() -> None:
        assert_same_forest(solver.solve(weights(1)), forest(1))
        for seed, one in zip((1, 2), solver.solve_many(map(weights, (1, 2))), strict=True):
            assert_same_forest(one, forest(seed))
        parts = clmst.to_devices(reweighted(weights(2)), devices)
        assert_same_forest(clmst.minimum_spanning_forest(parts), forest(2))

    return run


def _another(device: Device) -> Device:
    """Return a device of another driver if there is one, else the same one as another object."""
    for entry in clmst.devices():
        if entry.usable and entry.device.platform != device.platform:
            return entry.device
    return device.forcing_off("lanes")


def _clusters(device: Device) -> Check:
    from clmst import cluster

    points = np.random.default_rng(2).random((150, 2))
    model = cluster.HDBSCAN(min_cluster_size=5, device=device)
    expected = model.fit(points).labels_.copy()
    return lambda: np.testing.assert_array_equal(model.fit(points).labels_, expected)


THREADED: dict[str, Callable[[Device], Check]] = {
    "host-rows": _host_rows,
    "files": _files,
    "partitions": _partitions,
    "transfers": _transfers,
    "host": _host,
    "graph-reads": _graph_reads,
    "several": _several,
    "clusters": _clusters,
}
