"""Generate the graphs of the benchmark ``landscape`` on the device: families by degree and size.

Each family has a function in OpenCL C that computes the ends of an edge from the edge's number.
Loops are left out, and duplicates are merged after a sort. The weight of an edge is a hash of its
ends, so both directions have the same weight. The number of vertices is a power of two. The
structured graphs of ``worst_case_graphs``, which are generated on the host, are further families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import isqrt, pi
from typing import Any

import numpy as np

import clmst
from benchmarks import worst_case_graphs
from clmst.primitives import (
    Map,
    Monoid,
    Predicate,
    compact,
    inclusive_scan,
    map,
    scatter,
    split,
    unique_by_key,
)
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

DEGREES = tuple(1 << k for k in range(1, 9))
LOG_VERTICES = tuple(range(12, 26))
LAYOUTS = ("both", "upper")
# The kinds of weights. A weight is made from the bits of a hash `h`. Each kind has the dtype of an
# unsigned word, the expression in OpenCL C that computes the word, and the dtype as which the word
# is read. Floats are between 1 and 2.
WEIGHTS: Mapping[str, tuple[str, str, str]] = {
    "int32": ("u4", "h >> 33", "i4"),
    "float32": ("u4", "0x3F800000 | (h >> 41)", "f4"),
    "float64": ("u8", "0x3FF0000000000000 | (h >> 12)", "f8"),
    "ten values": ("u4", "h % 10", "i4"),
    "one value": ("u4", "h & 0", "i4"),
}
_REWIRED = 0.1  # share of edges of a small world that lead to a random vertex
_FEW = 16  # a path or tree has one extra edge for this number of vertices
_STARS = 64  # number of stars in the family "stars"

_HASH = """
ulong hashed(ulong seed, ulong k) {
  ulong a = (k + seed) * 0x9E3779B97F4A7C15;
  ulong c = (a ^ (a >> 30)) * 0xBF58476D1CE4E5B9;
  ulong e = (c ^ (c >> 27)) * 0x94D049BB133111EB;
  return e ^ (e >> 31);
}
"""
# OpenCL C that computes edge k of a graph: a word with the lesser end in the upper bits and the
# greater end in the lower bits. The first "%s" is replaced by the statements of a family of graphs,
# which set the ends u and v. If one of these is not a vertex, the edge becomes a loop, and loops
# are dropped later. The function `renamed` is a bijection of the numbers of b bits, by which
# vertices get new numbers at random.
_PAIR = """
ulong renamed(ulong a, ulong b) {
  ulong mask = ((ulong)1 << b) - 1;
  ulong c = (a * 0x9E3779B97F4A7C15 + 0x632BE59B) & mask;
  ulong e = ((c ^ (c >> (b / 2))) * 0xBF58476D1CE4E5B9) & mask;
  ulong g = ((e ^ (e >> (b / 2))) * 0x94D049BB133111EB) & mask;
  return g ^ (g >> (b / 2));
}
ulong pair(ulong k, ulong at, ulong b, ulong h, ulong seed) {
  ulong n = (ulong)1 << b;
  ulong u = 0;
  ulong v = 0;
  %s
  ulong is_edge = u < n && v < n;
  u = is_edge ? u : n - 1;
  v = is_edge ? v : n - 1;
  %s
  return u == v ? n * n - 1 : min(u, v) << b | max(u, v);
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of random graphs, one for each average degree and each number 2**b of vertices."""

    # Statements in OpenCL C that set `u` and `v` to the ends of edge `k`. They may use these
    # variables:
    #   n      the number of vertices, which is 2**b
    #   b      the number of bits of a vertex
    #   h      half the average degree
    #   seed   the seed of the graph
    #   at     element ``k % count`` of `offsets`, a vector. It is packed into one word, with one
    #          byte for each component, which is 64 more than the component
    ends: str
    edges: Callable[[int, int], int] = lambda n, h: n * h  # number of edges drawn, from n and h
    # A function that returns, for h, the offsets from a vertex of a grid to its neighbours.
    offsets: Callable[[int], Sequence[tuple[int, ...]]] | None = None
    degrees: tuple[int, ...] = DEGREES
    is_renamed: bool = False  # whether vertices are numbered at random


# ------------------------------------------------------------------------------- families


@cache
def _stencil(dimensions: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Return the `count` shortest integer vectors with so many dimensions, in order of length.

    Of two opposite vectors only one is returned. The vectors are the offsets from a vertex of a
    grid to its neighbours.
    """
    reach = 4 + isqrt(count) if dimensions == 2 else 6
    every = product(range(-reach, reach + 1), repeat=dimensions)
    ahead = (one for one in every if one > (0,) * dimensions)
    return tuple(sorted(ahead, key=lambda one: (sum(x * x for x in one), one))[:count])


def _cells_within(h: int) -> Sequence[tuple[int, ...]]:
    """Return the offsets from a cell of a grid to all cells that may hold a neighbour of its point.

    Each cell holds one point, at a random place. Two points are neighbours if their distance is
    within a radius, which is chosen so that the average degree is 2 h.
    """
    reach = (2 * h / pi) ** 0.5 + 2**0.5
    return [one for one in _stencil(2, 4 * h + 24) if sum(x * x for x in one) <= reach**2]


_ON_A_GRID = """
  ulong c = (b + 1) / 2;
  ulong x = (u & (((ulong)1 << c) - 1)) + (at & 255) - 64;
  ulong y = (u >> c) + (at >> 8 & 255) - 64;
  v = x >> c == 0 && y >> (b - c) == 0 ? y << c | x : n;
"""
_GRID_2D = f"u = k / h; {_ON_A_GRID}"
_GRID_3D = """
  ulong c = (b + 2) / 3;
  ulong d = (b + 1) / 3;
  u = k / h;
  ulong x = (u & (((ulong)1 << c) - 1)) + (at & 255) - 64;
  ulong y = (u >> c & (((ulong)1 << d) - 1)) + (at >> 8 & 255) - 64;
  ulong z = (u >> (c + d)) + (at >> 16 & 255) - 64;
  v = x >> c == 0 && y >> d == 0 && z >> (b - c - d) == 0 ? (z << d | y) << c | x : n;
"""
# Random geometric graphs. Each vertex is a cell of a grid, with a point at a random place in the
# cell. Edge k is tried between the cell of vertex k / h and the cell at one of h offsets from it.
# It is an edge if the points of both cells are within the radius. The upper half of `at` has the
# square of the radius, in units of 1 / 2**16.
_GEOMETRIC = f"""
  u = k / h;
  {_ON_A_GRID}
  ulong p = hashed(seed, u);
  ulong q = hashed(seed, v);
  float dx = (float)(at & 255) - 64 + ((float)(q >> 40) - (float)(p >> 40)) / 16777216;
  float dy = (float)(at >> 8 & 255) - 64
      + ((float)(q & 0xFFFFFF) - (float)(p & 0xFFFFFF)) / 16777216;
  v = dx * dx + dy * dy <= (float)(at >> 32) / 65536 ? v : n;
"""
_SMALL_WORLD = f"""
  ulong r = hashed(seed, k);
  u = k / h;
  v = (r & 1023) < {int(_REWIRED * 1024)} ? (r >> 32) % n : (u + k % h + 1) % n;
"""
# Graphs by preferential attachment: each vertex brings h edges, which lead to vertices that already
# have many edges with a higher probability. The two ends of edge k have the numbers 2 k and 2 k +
# 1. End 2 k is vertex k / h, which brings the edge. End 2 k + 1 is a copy of a random end of the
# edges of earlier vertices. The h edges of vertex 0 are loops.
_PREFERENTIAL = "\n".join(
    ["ulong p = 2 * k + 1;"]
    + ["p = (p & 1) && p / 2 >= h ? hashed(seed, p / 2) % max(2 * h * (p / 2 / h), (ulong)1) : p;"]
    * 16
    + ["u = p / 2 / h;", "v = k / h;"]
)
_EXTRA = "ulong r = hashed(seed, k); u = (r >> 32) % n; v = (r & 0xFFFFFFFF) % n;"


def _with_extra(parent: str) -> str:
    """Return OpenCL C statements that set u and v to the ends of edge k of a random graph.

    The graph is a tree with extra edges. If k < n - 1, edge k joins vertex k + 1 to the vertex that
    the OpenCL C expression `parent` computes. All later edges join two random vertices.
    """
    return f"""{_EXTRA}
  u = k < n - 1 ? k + 1 : u;
  v = k < n - 1 ? {parent} : v;"""


def _rmat(a: float, b: float) -> str:
    """Return OpenCL C statements that set u and v to the ends of a random edge of an R-MAT graph.

    For each bit of the vertex numbers, one of the four quadrants of the adjacency matrix is drawn,
    with the probabilities `a`, `b`, `b` and 1 - a - 2 b.
    """
    levels, lines = LOG_VERTICES[-1], ["ulong q = 0;", "ulong d = 0;"]
    to_b, to_c, to_d = (int(p * 2**16) for p in (a, a + b, a + 2 * b))
    for level in range(levels):
        lines += [f"q = hashed(seed, 8 * k + {level // 4});"] if level % 4 == 0 else []
        lines += [f"d = q >> {16 * (level % 4)} & 0xFFFF;", f"u = u << 1 | (d >= {to_c});"]
        lines += [f"v = v << 1 | ((d >= {to_b}) ^ (d >= {to_c}) ^ (d >= {to_d}));"]
    return "\n".join([*lines, f"u = u >> ({levels} - b);", f"v = v >> ({levels} - b);"])


def _few_more(n: int, _: int) -> int:
    return n - 1 + n // _FEW


def _of_grid(ends: str, dimensions: int, least: int, *, is_renamed: bool = False) -> Family:
    return Family(
        ends=ends, is_renamed=is_renamed, offsets=lambda h: _stencil(dimensions, h),
        degrees=tuple(d for d in DEGREES if d >= least),
    )  # fmt: skip


def _of_hubs(stars: int) -> Family:
    """Return a family of graphs in which a few vertices, the hubs, have nearly all edges.

    A graph has a number of stars, `stars`. Each star has h hubs, where h is half the average
    degree. Every vertex that is not a hub is joined to all h hubs of one star, which is drawn at
    random. The hubs are the first vertices, and are joined in a path.
    """
    return Family(
        edges=lambda n, h: n * h + stars * h - 1,
        ends=f"""
  ulong s = {stars} * h;
  u = k < n * h ? k / h : k - n * h;
  v = k >= n * h ? u + 1 : u < s ? u : hashed(seed, u) % {stars} * h + k % h;""",
    )


FAMILIES: Mapping[str, Family] = {
    "random": Family(
        ends="ulong r = hashed(seed, k); u = r >> (64 - b); v = r & (n - 1);",
    ),
    "rmat 45": Family(ends=_rmat(0.45, 0.22)),
    "rmat 57, renamed": Family(ends=_rmat(0.57, 0.19), is_renamed=True),
    "rmat 70": Family(ends=_rmat(0.7, 0.12)),
    "grid 2d": _of_grid(_GRID_2D, 2, 4),
    "grid 2d, renamed": _of_grid(_GRID_2D, 2, 4, is_renamed=True),
    "grid 3d": _of_grid(_GRID_3D, 3, 8),
    "grid 3d, renamed": _of_grid(_GRID_3D, 3, 8, is_renamed=True),
    "geometric": Family(ends=_GEOMETRIC, offsets=_cells_within),
    "small world": Family(ends=_SMALL_WORLD),
    "preferential": Family(ends=_PREFERENTIAL),
    "path": Family(ends=_with_extra("k"), edges=_few_more, degrees=(2,)),
    "path, renamed": Family(ends=_with_extra("k"), edges=_few_more, degrees=(2,), is_renamed=True),
    "tree": Family(ends=_with_extra("r % (k + 1)"), edges=_few_more, degrees=(2,)),
    "deep tree, renamed": Family(
        ends=_with_extra("k - r % min(k + 1, (ulong)16)"),
        edges=_few_more, degrees=(2,), is_renamed=True,
    ),
    "cliques": Family(
        edges=lambda n, h: n * h + n // (2 * h + 1),
        ends="""
  ulong s = 2 * h + 1;
  u = k < n * h ? k / h : (k - n * h + 1) * s - 1;
  v = k < n * h ? u / s * s + (u % s + k % h + 1) % s : u + 1;""",
    ),
    "star": _of_hubs(1),
    "stars": _of_hubs(_STARS),
}  # fmt: skip
"""The families of random graphs, by name. The landscape draws from these and from STRUCTURED."""

STRUCTURED = {f"structured: {name}": make for name, make in worst_case_graphs.FAMILIES.items()}
"""Functions that make a structured graph with about the given number of edges, by family."""

# ------------------------------------------------------------------------------ the graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The parameters of one graph of the benchmark ``landscape``, which calls its graphs cells.

    The graphs of ``worst_case_graphs`` ignore `degree` and `weights`.
    """

    family: str
    degree: int  # average degree before duplicate edges are merged; 0 if structured
    log_size: int  # binary logarithm of the number of vertices, or of edges if structured
    weights: str  # a key of WEIGHTS
    layout: str  # one of LAYOUTS: whether both directions of each edge are stored

    @property
    def entries(self) -> int:
        """The approximate number of CSR entries of the graph, with both directions of each edge."""
        return (self.degree or 2) << self.log_size

    def made(self, seed: int, device: Device) -> DeviceGraph:
        """Generate the graph on a device, with random numbers that follow from `seed`."""
        if self.family in STRUCTURED:
            graph = STRUCTURED[self.family](1 << self.log_size).graph()
            graph = graph if self.layout == "upper" else graph.symmetrised()
            resident = clmst.to_device(graph, device)
            assert isinstance(resident, DeviceGraph)
            return resident
        seed = int(np.random.default_rng(seed).integers(1 << 62))
        words = _pairs(FAMILIES[self.family], self, seed, device)
        if self.layout == "both":
            words = _mirrored(words, self.log_size)
        return _of_words(words, self, seed)


def _mapped(
    values: DeviceArray, expression: str, result: str, preamble: str = "", **given: Any
) -> DeviceArray:
    """Evaluate an OpenCL C expression for each element of `values`, and return the results.

    `preamble` has the functions that the expression calls, and `result` is the dtype of the
    results. Keyword arguments are further arguments of the expression: arrays, or 64-bit integers.
    """
    arrays = {name: one.dtype for name, one in given.items() if isinstance(one, DeviceArray)}
    scalars = {name: "u8" for name in given if name not in arrays}
    function = Map(
        dtype=values.dtype, expression=expression, result=np.dtype(result), preamble=preamble,
        scalars=scalars, arrays=arrays,
    )  # fmt: skip
    return map(values, function(**given))


def _pairs(family: Family, cell: Cell, seed: int, device: Device) -> DeviceArray:
    """Generate the edges of a graph without loops and duplicates, as ascending 64-bit words.

    `cell` has the parameters of the graph, which belongs to `family`, and `seed` determines its
    random numbers. The lower `log_size` bits of a word have the greater end of the edge, and the
    bits above them have the lesser end.
    """
    h, n, b = cell.degree // 2, 1 << cell.log_size, cell.log_size
    offsets = [(0,)] if family.offsets is None else family.offsets(h)
    radius = round(cell.degree / pi * 2**16) << 32
    packed = [sum((x + 64) << (8 * k) for k, x in enumerate(one)) | radius for one in offsets]
    h = h if family.offsets is None else len(offsets)
    renamed = "u = renamed(u, b); v = renamed(v, b);" if family.is_renamed else ""
    words = _mapped(
        DeviceArray.empty(family.edges(n, h), np.uint64, device),
        "pair(i, offsets[i % count], b, h, seed)", "u8", _HASH + _PAIR % (family.ends, renamed),
        offsets=DeviceArray.from_host(np.array(packed, np.uint64), device),
        count=len(offsets), b=b, h=h, seed=seed,
    )  # fmt: skip
    words = split(words, key_bits=2 * b, out=words)
    found, count = unique_by_key(words)
    found = found[: int(count.to_host()[0])]
    last = found.size and int(_mapped(found, f"x == {n * n - 1}", "u1").to_host()[-1])
    return found[: found.size - last]  # loops are all the greatest word


def _mirrored(words: DeviceArray, b: int) -> DeviceArray:
    """Add the reverse direction of each edge to ascending words, and sort them again.

    A word has the first end of an edge above its lowest `b` bits, which have the second end.
    """
    both = _mapped(
        DeviceArray.empty(2 * words.size, np.uint64, words.device),
        "i < m ? words[i % m] : words[i % m] >> b | (words[i % m] & (((ulong)1 << b) - 1)) << b",
        "u8", words=words, m=words.size, b=b,
    )  # fmt: skip
    return split(both, key_bits=2 * b, out=both)


def _of_words(words: DeviceArray, cell: Cell, seed: int) -> DeviceGraph:
    """Build the CSR graph of a cell of the landscape from its entries, on the device.

    `words` has a 64-bit word for each entry in ascending order, with the row in the upper bits and
    the column in the lower bits. `cell` has the number of vertices and the kind of weights, and
    `seed` decides the random weights.
    """
    b, (word, expression, dtype) = cell.log_size, WEIGHTS[cell.weights]
    weigh = f"""{_HASH}
ulong weight(ulong w, ulong b, ulong seed) {{
  ulong u = w >> b;
  ulong v = w & (((ulong)1 << b) - 1);
  ulong h = hashed(seed + 1, min(u, v) << 32 | max(u, v));
  return {expression};
}}"""
    return DeviceGraph.from_arrays(
        _row_starts(words, b),
        _mapped(words, "x & (((ulong)1 << b) - 1)", "u4", b=b),
        _mapped(words, "weight(x, b, seed)", word, weigh, b=b, seed=seed).view(dtype),
        device=words.device,
    )


def _row_starts(words: DeviceArray, b: int) -> DeviceArray:
    """Return the CSR row starts for the entries of a matrix, which are ascending 64-bit words.

    A word has the row above its lowest `b` bits, which have the column.
    """
    rows = _mapped(words, "x >> b", "u4", b=b)
    ends = Predicate(
        dtype=np.dtype("u4"), expression="i + 1 == size || rows[min(i + 1, size - 1)] != x",
        scalars={"size": "u4"}, arrays={"rows": "u4"},
    )  # fmt: skip
    last, at, count = compact(
        rows, predicate=ends(size=rows.size, rows=rows), values=_mapped(rows, "i + 1", "u4")
    )
    k = int(count.to_host()[0])
    starts = DeviceArray.empty((1 << b) + 1, np.uint32, words.device)
    Launcher(words.device, words.device.queue).fill(starts.memory, 0, starts.size)
    scatter(at[:k], _mapped(last[:k], "x + 1", "u4"), starts)
    return inclusive_scan(starts, monoid=Monoid.maximum(np.uint32), out=starts)
