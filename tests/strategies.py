"""The one module of Hypothesis strategies: graphs of every shape, dtype and layout.

Structure (sizes, shape, dtype, kind of weights, layout) is drawn, and so shrinks; the bulk is
filled in by NumPy from a drawn seed, so that a graph of a hundred thousand edges costs no more
draws than one of three, and the same strategies drive host and device tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from clmst.core.graph import Graph

Array = npt.NDArray[Any]
Layout = Literal["edges", "symmetrised", "upper csr", "symmetric csr"]

WEIGHT_DTYPES = tuple(
    np.dtype(name)
    for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
)
LAYOUTS: tuple[Layout, ...] = ("edges", "symmetrised", "upper csr", "symmetric csr")


def register_profiles() -> None:
    """Register the profiles `quick`, `ci` (the same few examples every time) and `thorough`."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile(
        "ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=slow
    )
    settings.register_profile(
        "quick", derandomize=True, max_examples=10, deadline=None, suppress_health_check=slow
    )
    settings.register_profile(
        "thorough", max_examples=2000, deadline=None, suppress_health_check=slow
    )


# Of a test that runs on every variant of every device, the examples that each of them gets.
EXAMPLES_OF_A_VARIANT = 20


def examples(share: float) -> settings:
    """Return settings for a test whose number of examples is a share of the profile's."""
    return settings(max_examples=max(5, round(share * _profile().max_examples)))


def share_examples(test: Callable[..., object], n_variants: int) -> None:
    """Divide the examples of a test among variants of devices, if it has no number of its own."""
    every = _profile().max_examples
    least = min(every, EXAMPLES_OF_A_VARIANT)
    if getattr(test, "is_hypothesis_test", False):
        with suppress(InvalidArgument):  # it has settings of its own
            settings(max_examples=max(least, every // max(n_variants, 1)))(test)


def draw_examples_for(test: Callable[..., object], variant: str) -> None:
    """Let a variant of a device have examples of its own, the same ones in every run.

    Else each variant would get the same ones, and a test fewer different ones in all.
    """
    if getattr(test, "is_hypothesis_test", False) and _profile().derandomize:
        seed(crc32(variant.encode()))(test)


def _profile() -> settings:
    assert settings.default is not None
    return settings.default


class EdgeArrays(NamedTuple):
    """A graph as a caller has it: `n` vertices and arrays of endpoints and weights."""

    n: int
    u: Array
    v: Array
    w: Array

    def graph(self, layout: Layout = "edges") -> Graph:
        """Return the graph; `layout` says by which door it comes in."""
        if layout == "edges":
            return Graph.from_edges(self.u, self.v, self.w, n_vertices=self.n)
        if layout == "symmetrised":
            return self.graph().symmetrised()
        return Graph.from_csr(*self.csr(symmetric=layout == "symmetric csr"))

    def csr(self, *, symmetric: bool) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) with sorted rows, parallel edges in input order."""
        low, high = np.minimum(self.u, self.v), np.maximum(self.u, self.v)
        rows, columns, weights = low, high, self.w
        if symmetric:
            mirrored = low != high
            rows = np.concatenate([low, high[mirrored]])
            columns = np.concatenate([high, low[mirrored]])
            weights = np.concatenate([self.w, self.w[mirrored]])
        order = np.lexsort((columns, rows))
        indptr = np.searchsorted(rows[order], np.arange(self.n + 1))
        return indptr, columns[order], weights[order]

    def canonical(self) -> list[tuple[int, int, int]]:
        """Return (u, v, position) of each edge in canonical order, by definition."""
        ends = zip(self.u.tolist(), self.v.tolist(), strict=True)
        return sorted((min(e), max(e), k) for k, e in enumerate(ends) if e[0] != e[1])


# ------------------------------------------------------------------------- weights


def special_weights(dtype: np.dtype[Any]) -> Array:
    """Return the weights of `dtype` that are easiest to get wrong, -0.0 beside 0.0."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.unique(np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype))
    finfo = np.finfo(dtype)
    tiny, least = finfo.smallest_normal, finfo.smallest_subnormal
    positive = np.array([0, least, tiny - least, tiny, 1, 1 + finfo.eps, finfo.max, np.inf], dtype)
    return np.concatenate([-positive[::-1], positive])


def _any_weights(rng: np.random.Generator, m: int, dtype: np.dtype[Any]) -> Array:
    """Return `m` weights of any bit pattern but NaN."""
    if dtype.kind == "b":
        return rng.integers(0, 2, m).astype(bool)
    weights = np.frombuffer(rng.bytes(m * dtype.itemsize), dtype)
    return weights if dtype.kind != "f" else np.where(np.isnan(weights), dtype.type(0), weights)


def _small_weights(rng: np.random.Generator, m: int, dtype: np.dtype[Any]) -> Array:
    """Return `m` small integers, negative ones too where there are any."""
    return rng.integers(-5 if dtype.kind in "if" else 0, 6, m).astype(dtype)


def _special_weights(rng: np.random.Generator, m: int, dtype: np.dtype[Any]) -> Array:
    return rng.choice(special_weights(dtype), m)


def _tied_weights(rng: np.random.Generator, m: int, dtype: np.dtype[Any]) -> Array:
    """Return `m` weights of which nearly all tie."""
    return rng.choice(_any_weights(rng, 2, dtype), m)


def _equal_weights(rng: np.random.Generator, m: int, dtype: np.dtype[Any]) -> Array:
    return np.repeat(_any_weights(rng, 1, dtype), m)


_WEIGHTS = (_small_weights, _tied_weights, _equal_weights, _special_weights, _any_weights)


@st.composite
def weight_arrays(
    draw: st.DrawFn, m: int, dtypes: Sequence[np.dtype[Any]] = WEIGHT_DTYPES
) -> Array:
    """Draw `m` weights: few or many ties, special values, any bits; sorted now and then."""
    dtype = draw(st.sampled_from(dtypes))
    weights = draw(st.sampled_from(_WEIGHTS))(_rng(draw), m, dtype)
    arrange = draw(st.sampled_from(["as drawn", "rising", "falling"]))
    if arrange != "as drawn":
        weights = np.sort(weights)[:: 1 if arrange == "rising" else -1]
    return np.ascontiguousarray(weights)


# -------------------------------------------------------------------------- shapes


def _random(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Endpoints at random: self-loops, parallel edges and isolated vertices among them."""
    if n == 0:
        m = 0
    return rng.integers(0, max(n, 1), m), rng.integers(0, max(n, 1), m)


def _path(_rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Return a path; with rising weights it is the longest chain of hooks."""
    k = min(max(n - 1, 0), m)
    return np.arange(k), np.arange(1, k + 1)


def _cycle(_rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    u = np.arange(min(n, m))
    return u, (u + 1) % max(n, 1)


def _star(_rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Return a star: one vertex that everyone hooks to, and one long row."""
    k = min(max(n - 1, 0), m)
    return np.zeros(k, np.int64), np.arange(1, k + 1)


def _complete(_rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Return all pairs of as many vertices as `m` edges allow."""
    k = min(n, int((1 + np.sqrt(1 + 8 * m)) / 2))
    u, v = np.triu_indices(k, 1)
    return u, v


def _two_components(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Return a random graph on the even and one on the odd vertices."""
    u, v = _random(rng, n // 2, m)
    side = rng.integers(0, 2, u.size)
    return 2 * u + side, 2 * v + side


def _parallel(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Return edges between the first three vertices only: nearly all of them parallel."""
    return _random(rng, min(n, 3), m)


def _loops(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    u, _ = _random(rng, n, m)
    return u, u


Shape = Callable[[np.random.Generator, int, int], tuple[Array, Array]]
_SHAPES: tuple[Shape, ...] = (
    _random,
    _path,
    _cycle,
    _star,
    _complete,
    _two_components,
    _parallel,
    _loops,
)


@st.composite
def edge_arrays(
    draw: st.DrawFn,
    *,
    min_vertices: int = 0,
    max_vertices: int = 12,
    max_edges: int = 40,
    dtypes: Sequence[np.dtype[Any]] = WEIGHT_DTYPES,
) -> EdgeArrays:
    """Draw a graph as arrays of edges.

    Parameters
    ----------
    min_vertices, max_vertices : int
        Bounds of the number of vertices.
    max_edges : int
        Bound of the number of edges.
    dtypes : sequence of dtype
        Of the weights.
    """
    n = draw(_sizes(min_vertices, max_vertices))
    m = draw(_sizes(0, max_edges))
    rng = _rng(draw)
    u, v = draw(st.sampled_from(_SHAPES))(rng, n, m)
    w = draw(weight_arrays(u.size, dtypes))
    if draw(st.booleans()):  # names of vertices, order of edges and directions mean nothing
        rename, order = rng.permutation(n), rng.permutation(u.size)
        flip = rng.integers(0, 2, u.size).astype(bool)
        u, v = np.where(flip, v, u), np.where(flip, u, v)
        u, v, w = rename[u][order], rename[v][order], w[order]
    return EdgeArrays(n, u, v, w)


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    min_vertices: int = 0,
    max_vertices: int = 12,
    max_edges: int = 40,
    dtypes: Sequence[np.dtype[Any]] = WEIGHT_DTYPES,
    layouts: Sequence[Layout] = LAYOUTS,
) -> Graph:
    """Draw a :class:`Graph`; `layouts` are the ways it may be stored, the rest as edge_arrays."""
    edges = draw(
        edge_arrays(
            min_vertices=min_vertices,
            max_vertices=max_vertices,
            max_edges=max_edges,
            dtypes=dtypes,
        )
    )
    return edges.graph(draw(st.sampled_from(layouts)))


def _sizes(least: int, most: int) -> st.SearchStrategy[int]:
    """Draw a size, seldom a tiny one; evenly, since ``integers`` is zero half of the time."""
    steps = np.linspace(least, most, num=min(most - least, 100) + 1).astype(int).tolist()
    return st.sampled_from(steps + steps[len(steps) // 3 :])


def _rng(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
