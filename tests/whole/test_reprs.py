"""Every public object is shown in one line, however large it is."""

from __future__ import annotations

import numpy as np

import clmst
from clmst.runtime.device import Device


def test_graphs_and_what_is_on_a_device_are_shown_in_one_line(any_device: Device) -> None:
    distances = np.ones((200, 200), np.float32)
    matrix, points = (
        clmst.DenseGraph(distances),
        clmst.Points(np.random.default_rng(1).random((99, 2))),
    )
    graph = clmst.generate("road", n=300, seed=1)
    on = any_device.description
    assert repr(matrix) == "DenseGraph(n_vertices=200, weights=float32)"
    assert repr(points) == "Points(99 x 2, metric='euclidean')"
    assert repr(clmst.to_device(matrix, any_device)) == f"DeviceMatrix({matrix!r}, on {on})"
    assert repr(clmst.to_device(graph, any_device)) == (
        f"DeviceGraph(n_vertices=300, n_slots={graph.n_slots}, weights=int32, on {on})"
    )


def test_points_with_core_distances_say_so() -> None:
    points = clmst.Points(np.zeros((3, 2)), core_distances=[1.0, 2.0, 3.0])
    assert repr(points) == "Points(3 x 2, metric='euclidean', with core distances)"


def test_devices_are_listed_without_their_self_tests() -> None:
    assert "Verdict" not in repr(clmst.devices())
    assert all(len(repr(listing)) < 300 for listing in clmst.devices())


def test_names_of_primitives_are_those_that_are_public() -> None:
    names = [name for name in dir(clmst.primitives) if not name.startswith("__")]
    assert names == sorted(clmst.primitives.__all__)
