"""All strategies of Hypothesis: graphs of every shape, dtype and layout.

The structure (sizes, shape, dtype, kind of weights, layout) is drawn, and therefore shrinks. The
rest follows from a drawn seed, by the shapes and weights of the proof by volume (`tests.prove`), so
that a graph of a hundred thousand edges does not cost more draws than a graph of three.
"""

from __future__ import annotations

import os
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
from tests.prove import shapes, weights
from tests.prove.draws import Draws
from tests.prove.sample import csr_of

Array = npt.NDArray[Any]
Layout = Literal["edges", "symmetrised", "upper csr", "symmetric csr"]

WEIGHT_DTYPES = tuple(
    np.dtype(name)
    for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
)
LAYOUTS: tuple[Layout, ...] = ("edges", "symmetrised", "upper csr", "symmetric csr")

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
EXHAUSTIVE = PROFILE in ("exhaustive", "thorough")

# Dtypes of the weights of random graphs, in tests that build several programs for each dtype. The
# standard run, and shorter ones, draw one dtype of each width of keys; other tests take each dtype.
DRAWN_DTYPES = WEIGHT_DTYPES if EXHAUSTIVE else tuple(np.dtype(name) for name in ("u1", "f4", "f8"))


def register_profiles() -> None:
    """Register how many examples tests with random ones take.

    `quick`, `ci` (the standard run) and `exhaustive` (with `run.py test --all`) draw the same
    examples in every run, `thorough` draws others each time.
    """
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    for name, number in (("quick", 10), ("ci", 20), ("exhaustive", 60)):
        settings.register_profile(
            name,
            derandomize=True,
            max_examples=number,
            deadline=None,
            suppress_health_check=slow,
        )
    settings.register_profile(
        "thorough", max_examples=2000, deadline=None, suppress_health_check=slow
    )


# Minimum share of the examples for each variant in a test that runs on every variant of a device.
SHARE_OF_A_VARIANT = 1 / 3


def examples(share: float) -> settings:
    """Return settings with a fraction of the profile's number of examples."""
    return settings(max_examples=max(5, round(share * _profile().max_examples)))


def share_examples(test: Callable[..., object], n_variants: int) -> None:
    """Divide the examples of a test among variants of devices, unless it sets their number."""
    every = _profile().max_examples
    least = max(6, round(every * SHARE_OF_A_VARIANT))
    if getattr(test, "is_hypothesis_test", False):
        with suppress(InvalidArgument):  # the test has settings of its own
            settings(max_examples=max(least, every // max(n_variants, 1)))(test)


def draw_examples_for(test: Callable[..., object], variant: str) -> None:
    """Let each variant of a device have different examples, which are the same in every run.

    Otherwise all variants would get the same examples, and a test fewer different ones in total.
    """
    if getattr(test, "is_hypothesis_test", False) and _profile().derandomize:
        seed(crc32(variant.encode()))(test)


def _profile() -> settings:
    assert settings.default is not None
    return settings.default


class EdgeArrays(NamedTuple):
    """A graph as a caller has it: `n` vertices, and arrays of endpoints and weights."""

    n: int
    u: Array
    v: Array
    w: Array

    def graph(self, layout: Layout = "edges") -> Graph:
        """Return the graph. `layout` says by which function and in which form it is made."""
        if layout == "edges":
            return Graph.from_edges(self.u, self.v, self.w, n_vertices=self.n)
        if layout == "symmetrised":
            return self.graph().symmetrised()
        return Graph.from_csr(*self.csr(symmetric=layout == "symmetric csr"))

    def csr(self, *, symmetric: bool) -> tuple[Array, Array, Array]:
        """Return (indptr, indices, weights) with sorted rows, parallel edges in input order."""
        return csr_of(self, symmetric=symmetric)[1:]

    def canonical(self) -> list[tuple[int, int, int]]:
        """Return (u, v, position) of each edge in canonical order, by definition."""
        ends = zip(self.u.tolist(), self.v.tolist(), strict=True)
        return sorted((min(e), max(e), k) for k, e in enumerate(ends) if e[0] != e[1])


# ------------------------------------------------------------------------- weights


def special_weights(dtype: np.dtype[Any]) -> Array:
    """Return the weights of a dtype that are easiest to get wrong, such as -0.0 beside 0.0."""
    found = weights.extremes(dtype)
    return np.unique(found) if dtype.kind == "u" else found


@st.composite
def weight_arrays(
    draw: st.DrawFn, m: int, dtypes: Sequence[np.dtype[Any]] = WEIGHT_DTYPES
) -> Array:
    """Draw `m` weights: with few or many ties, special values, or any bits; sometimes sorted."""
    dtype = draw(st.sampled_from(dtypes))
    found = draw(st.sampled_from([*weights.RANDOM.values()]))(_draws(draw), m, dtype)
    arrange = draw(st.sampled_from(["as drawn", "rising", "falling"]))
    if arrange != "as drawn":
        found = np.sort(found)[:: 1 if arrange == "rising" else -1]
    return np.ascontiguousarray(found)


# -------------------------------------------------------------------------- shapes


_SHAPES = [*(shapes.RANDOM | shapes.STRUCTURED).values()]


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
        Upper bound of the number of edges.
    dtypes : sequence of dtype
        Possible dtypes of the weights.
    """
    n = draw(_sizes(min_vertices, max_vertices))
    m = draw(_sizes(0, max_edges))
    draws = _draws(draw)
    u, v = (ends[:m] for ends in draw(st.sampled_from(_SHAPES))(draws, n, m)[1:])
    w = draw(weight_arrays(u.size, dtypes))
    if draw(st.booleans()):  # vertex numbers, the order of edges and directions do not matter
        rename, order = draws.permutation(n), draws.permutation(u.size)
        flip = draws.integers(2, u.size).astype(bool)
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
    """Draw a :class:`Graph`, stored in one of `layouts`. See :func:`edge_arrays` for all else."""
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
    """Draw a size, evenly and seldom a tiny one. ``integers`` would be zero half of the time."""
    steps = np.linspace(least, most, num=min(most - least, 100) + 1).astype(int).tolist()
    return st.sampled_from(steps + steps[len(steps) // 3 :])


def _draws(draw: st.DrawFn) -> Draws:
    return Draws(draw(st.integers(0, 2**32 - 1)))
