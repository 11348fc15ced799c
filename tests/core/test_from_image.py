"""Images as graphs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.weight_keys import Array

random = np.random.default_rng(5)
GREY = random.integers(0, 256, (5, 7)).astype(np.uint8)


def edges_of(graph: clmst.Graph) -> dict[tuple[int, int], float]:
    u, v, weights, _ = graph.edges()
    return {(int(a), int(b)): float(w) for a, b, w in zip(u, v, weights, strict=True)}


def expected(values: Array, n_axes: int, connectivity: int) -> dict[tuple[int, int], float]:
    """Compare every pixel with every other one."""
    shape = values.shape[:n_axes]
    pixels = list(product(*map(range, shape)))
    found = {}
    for (i, a), (j, b) in product(enumerate(pixels), repeat=2):
        steps = np.abs(np.subtract(a, b))
        if i < j and steps.max() == 1 and np.count_nonzero(steps) <= connectivity:
            apart = values[a].astype(np.float64) - values[b].astype(np.float64)
            found[i, j] = float(np.sqrt(np.sum(apart**2)))
    return found


@pytest.mark.parametrize(
    ("values", "connectivity", "channel_axis", "dtype"),
    [
        (GREY, 1, None, "u1"),
        (GREY, 2, None, "u1"),
        (GREY > 99, 2, None, "u1"),
        (random.integers(-128, 128, (4, 6)).astype(np.int8), 1, None, "u1"),
        (random.normal(size=(6, 4)).astype(np.float32), 2, None, "f4"),
        (random.integers(0, 9, 11), 1, None, "u8"),
        (random.integers(0, 9, (3, 4, 2)).astype(np.uint16), 3, None, "u2"),
        (random.integers(0, 256, (5, 6, 3)).astype(np.uint8), 2, -1, "f8"),
        (random.integers(0, 256, (3, 5, 6)).astype(np.uint8), 1, 0, "f8"),
    ],
    ids=str,
)
def test_neighbours_and_their_distances(
    values: Array, connectivity: int, channel_axis: int | None, dtype: str
) -> None:
    graph = clmst.Graph.from_image(values, connectivity=connectivity, channel_axis=channel_axis)
    last = values if channel_axis is None else np.moveaxis(values, channel_axis, -1)
    n_axes = last.ndim - (channel_axis is not None)
    right = expected(last.astype(np.float64), n_axes, connectivity)
    found = edges_of(graph)
    assert found.keys() == right.keys()
    np.testing.assert_allclose([found[pair] for pair in right], list(right.values()), rtol=1e-6)
    assert graph.weights.dtype == dtype
    assert graph.n_vertices == np.prod(last.shape[:n_axes])


def test_pixels_outside_a_mask_have_no_edges() -> None:
    mask = random.random(GREY.shape) < 0.6
    inside = set(np.flatnonzero(mask).tolist())
    whole = edges_of(clmst.Graph.from_image(GREY))
    masked = edges_of(clmst.Graph.from_image(GREY, mask=mask))
    assert masked == {pair: w for pair, w in whole.items() if inside.issuperset(pair)}


def test_pixels_lie_where_they_are_drawn() -> None:
    coordinates = clmst.Graph.from_image(GREY).coordinates
    assert coordinates is not None
    assert coordinates[0].tolist() == [0, 0]
    assert coordinates[GREY.shape[1] + 2].tolist() == [2, -1]  # second row, third column


def test_one_pixel_is_a_graph_without_edges() -> None:
    assert clmst.Graph.from_image([[3]]).n_edges == 0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"image": np.zeros((0, 3))}, clmst.InvalidGraphError, r"has shape \(0, 3\)"),
        ({"image": 7}, clmst.InvalidGraphError, r"has shape \(\)"),
        ({"image": [["a"]]}, clmst.InvalidGraphError, "of dtype <U1; it must be of real numbers"),
        ({"image": [[1j]]}, clmst.InvalidGraphError, "of dtype complex128"),
        ({"image": [[0.0, np.nan]]}, clmst.InvalidGraphError, r"is nan at \(0, 1\)"),
        ({"image": GREY, "connectivity": 3}, clmst.InvalidArgumentError, "connectivity is 3"),
        ({"image": GREY, "channel_axis": 2}, clmst.InvalidArgumentError, "channel_axis is 2"),
        ({"image": GREY, "mask": GREY}, clmst.InvalidArgumentError, "an array of bool of shape"),
        ({"image": GREY, "mask": [True]}, clmst.InvalidArgumentError, r"of shape \(5, 7\)"),
    ],
    ids=str,
)
def test_bad_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        clmst.Graph.from_image(**arguments)


def test_what_looks_like_colours_is_warned_of() -> None:
    colours = random.integers(0, 256, (5, 6, 3)).astype(np.uint8)
    with pytest.warns(clmst.GraphWarning, match="channel_axis=-1"):
        clmst.Graph.from_image(colours)
