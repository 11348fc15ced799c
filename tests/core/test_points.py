"""Points: distances by definition, and what is refused."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from clmst import Graph, InvalidArgumentError, InvalidGraphError, Points
from clmst.core import pairs, powers, sphere
from clmst.core.graph_checks import MAX_VERTICES_OF_COMPLETE, check_complete_size


def test_pairs_stand_in_canonical_order() -> None:
    for n in (0, 1, 2, 7):
        u, v = np.triu_indices(n, 1)
        assert pairs.position(n, u, v).tolist() == list(range(pairs.count(n)))
        graph = pairs.graph_of(Graph, n, np.dtype(np.uint8), np.uint8)
        np.testing.assert_array_equal(graph.edges()[:3], (u, v, u))


def test_positions_of_pairs_need_more_than_32_bits() -> None:
    n = MAX_VERTICES_OF_COMPLETE
    last = pairs.position(n, np.array([n - 2], np.uint32), np.array([n - 1], np.uint32))
    assert last[0] == pairs.count(n) - 1 > 2**50


def test_rounded_distances_round_halves_up() -> None:
    points = Points([[0, 0], [0.5, 0], [1.5, 0], [4, 0]], "rounded-euclidean")
    graph = points.to_graph()
    assert graph.weights.dtype == np.int64
    assert graph.weights.tolist() == [1, 2, 4, 1, 4, 3]


def kilometres(one: np.ndarray, other: np.ndarray) -> float:
    """Return TSPLIB's GEO distance before it is made an integer."""

    def radians(x: float) -> float:
        return sphere.PI * (int(x) + 5.0 * (x - int(x)) / 3.0) / 180.0

    (a, b), (c, d) = (map(radians, point) for point in (one.tolist(), other.tolist()))
    q1, q2, q3 = math.cos(b - d), math.cos(a - c), math.cos(a + c)
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return sphere.RADIUS * math.acos(min(cosine, 1.0)) + 1.0


def test_great_circles_are_those_of_tsplib() -> None:
    """Antipodes, poles and neighbours among them."""
    rng = np.random.default_rng(8)
    near = [[51.03, 12.30], [51.03, 12.31], [51.04, 12.31]]
    special = [[90.0, 0], [-90.0, 0], [0, 0], [0, 180.0], [0, -180.0], [0, 0.01], *near]
    random = rng.integers([-89, -179], [90, 180], (200, 2)) + rng.integers(0, 60, (200, 2)) / 100
    coordinates = np.concatenate([special, random])
    graph = Points(coordinates, "great-circle").to_graph()
    u, v, weights, _ = graph.edges()
    by_formula = [kilometres(coordinates[i], coordinates[j]) for i, j in zip(u, v, strict=True)]
    clear = np.abs(np.array(by_formula) - np.rint(by_formula)) > 1e-6
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(weights[clear], np.floor(by_formula)[clear])
    assert np.abs(weights - by_formula).max() < 1.000001
    assert weights.max() <= sphere.STEPS


def test_sines_are_exact_to_the_last_bits() -> None:
    angles = np.linspace(-7, 7, 10_001)
    sine, cosine = sphere.sine_and_cosine(angles)
    assert np.abs(sine - np.sin(angles)).max() <= 2.0**-51
    assert np.abs(cosine - np.cos(angles)).max() <= 2.0**-51


def haversine(one: Any, other: Any) -> float:
    """Return the distance in kilometres by the usual formula."""
    (a, b), (c, d) = (np.radians(point) for point in (one, other))
    h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(min(math.sqrt(h), 1.0))


def test_haversine_is_of_decimal_degrees() -> None:
    """To a centimetre, and worse only near the other end of the earth."""
    rng = np.random.default_rng(9)
    special = [[90.0, 0], [-90, 0], [0, 0], [0, 180], [0, -180], [46.948, 7.447], [47.56, 7.59]]
    coordinates = np.concatenate([special, rng.uniform([-90, -180], [90, 180], (100, 2))])
    points = Points(coordinates, "haversine")
    u, v, weights, _ = points.to_graph().edges()
    expected = np.array(
        [haversine(coordinates[i], coordinates[j]) for i, j in zip(u, v, strict=True)]
    )
    error = np.abs(weights - expected)
    assert error[expected < 10_000].max() < 1e-5
    assert error[expected < 19_000].max() < 1e-4
    assert error.max() < 0.4
    assert points.weight_dtype == weights.dtype == np.float64
    (bern_to_basel,) = points.weights_of(np.array([5]), np.array([6]))
    assert bern_to_basel == pytest.approx(haversine(special[5], special[6]), abs=1e-5)


def test_arcs_rise_strictly_with_chords() -> None:
    """So edges have the same order by either, ties too."""
    most = 2 * sphere.EARTH_RADIUS
    for first in (0, 10**6, most // 2, most - 100_000):
        arcs = sphere.kilometres(np.arange(first, min(first + 100_000, most) + 1))
        assert (np.diff(arcs) > 0).all()
    x = np.random.default_rng(1).integers(0, most, 10_000)
    expected = 2 * 6371.0088 * np.arcsin(x / most)
    np.testing.assert_allclose(sphere.kilometres(x), expected, rtol=1e-14)
    assert sphere.kilometres(np.array([most]))[0] == pytest.approx(6371.0088 * math.pi, rel=1e-15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[1.0, 2.0], [3.0, math.nan]],), "coordinate 1 of point 1 is NaN"),
        (([[1.0, -math.inf]],), "coordinate 1 of point 0 is -inf"),
        (([1.0, 2.0],), r"have shape \(2,\); it must be \(n, d\), d > 0"),
        ((np.zeros((3, 0)),), r"have shape \(3, 0\)"),
        (([["a", "b"]],), "must be real numbers"),
        (([[1, 2, 3], [0, 0, 0]], "cosine"), "all coordinates of point 1 are 0"),
        ((np.zeros((3, 3)), "great-circle"), r"shape \(3, 3\); great-circle takes \(n, 2\)"),
        ((np.zeros((3, 3)), "haversine"), r"haversine takes \(n, 2\)"),
        (([[0, 0], [90.1, 0]], "haversine"), "point 1 has the latitude 90.1; .* from -90 to 90"),
        (([[0, -361]], "haversine"), "point 0 has the longitude -361.0; .* from -360 to 360"),
        (([[0, 0], [3e9, 0]], "rounded-euclidean"), "must be below 2\\*\\*31"),
        (([[0, 0]], "taxi"), "metric is 'taxi'; it must be one of 'eucl"),
        ((np.eye(3), "euclidean", [1.0, -1, 0]), "core distance 1 is -1.0; none may be"),
        ((np.eye(3), "euclidean", [1.0, 2, math.nan]), "core distance 2 is nan"),
        ((np.eye(3), "manhattan", [1.0, 2]), r"shape \(2,\); .* one for each of 3 points"),
        ((np.eye(3), "cosine", ["a", "b", "c"]), "must be real numbers"),
        ((np.eye(3), "rounded-euclidean", [1.0, 2, 3]), "they go with 'euclidean'"),
    ],
)
def test_what_is_no_points(given: Any, message: str) -> None:
    with pytest.raises((InvalidGraphError, InvalidArgumentError), match=message):
        Points(*given)


def test_magnitudes_leave_zeros_out() -> None:
    """So coordinates of any size have distances, whatever stands beside them."""
    tiny = 2.0**-1022
    cases: list[tuple[Any, float]] = [
        (np.zeros((40_000, 2)), 0.0),
        ([[0.0, -0.0], [1e-300, 0.0]], 1e-300),
        ([[0.0, 5.0], [0.0, 2.0]], 3.0),
        ([[-tiny, 0.0], [0.0, 0.0]], tiny),
        ([[1e300, 0.0], [0.0, 0.0]], 1e300),
        (
            np.repeat([[0.0, 1e-250]], 40_000, axis=0) * (np.arange(40_000)[:, None] == 39_999),
            1e-250,
        ),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for coordinates, distance in cases:
            points = Points(coordinates)
            last = points.n_vertices - 1
            assert points.weights_of(np.array([0]), np.array([last])).tolist() == [distance]


@pytest.mark.parametrize(
    ("metric", "scipys"),
    [
        ("euclidean", "euclidean"),
        ("manhattan", "cityblock"),
        ("chebyshev", "chebyshev"),
        ("hamming", "hamming"),
        ("canberra", "canberra"),
        ("braycurtis", "braycurtis"),
    ],
)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_distances_are_scipys(metric: Any, scipys: Any, d: int) -> None:
    """Bit by bit: sums are taken one dimension after the other. Ids are places in ``pdist``."""
    coordinates = np.random.default_rng(d).normal(0, 100, (30, d))
    points = Points(coordinates, metric)
    graph = points.to_graph()
    assert graph.edge_ids is None
    assert graph.weights.dtype == points.weight_dtype == np.float64
    np.testing.assert_array_equal(graph.weights, pdist(coordinates, scipys))


@pytest.mark.parametrize("dtype", ["?", "i1", "f4", "f8"])
@pytest.mark.parametrize("d", [1, 2, 5, 31, 32, 33, 64, 300])
def test_shares_are_scipys(dtype: str, d: int) -> None:
    """Counts and their quotients are exact, with equal and unequal values, and rows of zeros."""
    rng = np.random.default_rng(d)
    coordinates = rng.integers(0, 2, (40, d)).astype(dtype)
    coordinates[:4] = 0
    points = Points(coordinates, "jaccard")
    scipys = pdist(coordinates != 0, "jaccard")
    np.testing.assert_array_equal(points.to_graph().weights, scipys)
    if dtype != "?":
        coordinates = (rng.integers(-1, 2, (40, d)) * 0.5).astype(dtype)
        coordinates[rng.random((40, d)) < 0.2] = -0.0
    for metric in ("hamming", "jaccard"):
        points = Points(coordinates, metric)
        given = coordinates != 0 if metric == "jaccard" else coordinates.astype(float)
        np.testing.assert_array_equal(points.to_graph().weights, pdist(given, metric))


def test_terms_of_zeros_count_nothing() -> None:
    for rows, distance in (
        ([[0, 0], [0, 0]], 0), ([[0, 1], [0, 2]], 1 / 3), ([[0, 0], [0, -2]], 1), ([[3], [-3]], 1),
    ):  # fmt: skip
        points = Points(rows, "canberra")
        assert points.weights_of(np.array([0]), np.array([1])).tolist() == [distance]


@pytest.mark.parametrize("p", [1.1, 1.5, 2.5, 3, 4, 7.3, 64])
def test_minkowski_distances_are_roots_of_their_definition(p: float) -> None:
    """The greatest doubles whose powers, by the stated operations, are at most the sums."""
    coordinates = np.random.default_rng(1).normal(size=(30, 5))
    points = Points(coordinates, "minkowski", p=p)
    u, v = np.triu_indices(30, 1)
    sums = np.zeros(u.size)
    for column in np.ldexp(coordinates, -points.exponent).T:
        sums += powers.power(np.abs(column[u] - column[v]), p)
    found = np.ldexp(points.weights_of(u, v), -points.exponent)
    assert (powers.power(found, p) <= sums).all()
    assert (powers.power(np.nextafter(found, np.inf), p) > sums).all()
    np.testing.assert_allclose(
        points.weights_of(u, v), pdist(coordinates, "minkowski", p=p), rtol=1e-13
    )


@pytest.mark.parametrize("p", [1.3, 2.5, 3, 10])
def test_powers_and_roots(p: float) -> None:
    """Beside exact fractions; neither of them falls, at any size."""
    bases = np.sort(np.exp(np.random.default_rng(2).uniform(-60, 60, 3000)))
    found = powers.power(bases, p)
    whole, fraction = powers.digits(p)
    for x, y in zip(bases[::300].tolist(), found[::300].tolist(), strict=True):
        exact = Decimal(x) ** Decimal(p)
        assert abs(Decimal(y) / exact - 1) < 2.0**-53 * (whole + 2 * fraction.bit_count() + 1)
    assert (np.diff(found) >= 0).all()
    roots = powers.root(np.append(found, [0.0, 1e-310, np.inf]), p)
    assert roots[-3:].tolist() == [0.0, 0.0, np.inf]
    assert (np.diff(roots[:-3]) >= 0).all()
    np.testing.assert_allclose(roots[:-3], bases, rtol=1e-15)


def test_points_in_a_row_of_near_ones_may_be_far_enough() -> None:
    """Each is near to another in one dimension, and none is near to another in all."""
    least = 2.0**-38
    coordinates = np.array([[0, 0.8], [0.7, 2.4], [1.4, 0], [2.1, 1.6]]) * least
    coordinates[:, 0] += 1
    points = Points(coordinates, "minkowski", p=50)
    assert points.weights_of(np.r_[0], np.r_[2])[0] > 0


def test_powers_with_a_name() -> None:
    for p, name in ((1, "manhattan"), (2.0, "euclidean"), (math.inf, "chebyshev")):
        points = Points(np.eye(3), "minkowski", p=p)
        assert (points.metric, points.p) == (name, None)
    assert repr(Points(np.eye(3), "minkowski", p=3)) == "Points(3 x 3, metric='minkowski', p=3)"
    assert Points([[0, 0], [0, 3]], "minkowski", p=3).weights_of(np.r_[0], np.r_[1]).tolist() == [
        3.0
    ]


def test_cosine_distances_are_scipys() -> None:
    """To rounding: SciPy divides by the product of both lengths, once."""
    coordinates = (
        np.random.default_rng(1).normal(size=(40, 6)) * np.logspace(-200, 200, 40)[:, None]
    )
    weights = Points(coordinates, "cosine").to_graph().weights
    near = Points(coordinates / np.abs(coordinates).max(axis=1, keepdims=True), "cosine")
    expected = pdist(near.coordinates, "cosine")
    np.testing.assert_allclose(weights, expected, rtol=0, atol=2e-15)
    assert Points([[1, 1], [3, 3]], "cosine").weights_of(np.r_[0], np.r_[1])[0] >= 0


def test_core_distances_are_the_least_weights() -> None:
    rng = np.random.default_rng(2)
    coordinates, core = rng.normal(size=(30, 3)), rng.random(30)
    weights = Points(coordinates, core_distances=core).to_graph().weights
    u, v = np.triu_indices(30, 1)
    expected = np.maximum(pdist(coordinates), np.maximum(core[u], core[v]))
    np.testing.assert_array_equal(weights, expected)


def test_too_many_points() -> None:
    with pytest.raises(InvalidGraphError, match="a complete graph may have up to 2"):
        check_complete_size(2**26)
