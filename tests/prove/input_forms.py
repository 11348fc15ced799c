"""The forms in which a sample is given to the library, and what its edge ids mean in each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import clmst
from clmst.core.from_scipy import SparseFormat
from clmst.core.weight_keys import Array
from tests.prove.draws import Draws
from tests.prove.sample import Sample, csr_of


@dataclass(frozen=True, eq=False)
class Given:
    """What is handed to a solve."""

    graph: Any
    ids: Array | None = None  # the caller's id of each edge of the sample, where that is known
    # Rows, columns and weights of a matrix, in the order that ids count: an id must name an entry
    # of its edge's ends and weight.
    entries: tuple[Array, Array, Array] | None = None
    keeps_dtype: bool = True  # whether the forest's weights have the dtype of the sample's

    def wrong_ids(self, found: Any, sample: Sample, right: Array) -> str | None:
        """Return the error in the edge ids of a forest whose edges and weights are right."""
        ids = found.edge_ids
        if self.keeps_dtype and found.weights.dtype != sample.w.dtype:
            return f"weights have dtype {found.weights.dtype}; it must be {sample.w.dtype}"
        if self.ids is not None:
            if not np.array_equal(ids, self.ids[right]):
                return f"edge ids are {ids.tolist()}; they must be {self.ids[right].tolist()}"
        elif self.entries is not None:
            rows, columns, weights = (part[ids] for part in self.entries)
            ends = np.column_stack((np.minimum(rows, columns), np.maximum(rows, columns)))
            if not np.array_equal(ends, found.edges) or not np.array_equal(weights, found.weights):
                return f"edge ids are {ids.tolist()}, which are other entries of the matrix"
        return None


InputForm = Callable[[Sample, Draws, Any], Given]


# ------------------------------------------------------------------------- edge arrays


def edge_arrays(sample: Sample, draws: Draws, _device: Any) -> Given:
    """Each edge once, as the caller has them; endpoints of several dtypes."""
    dtype = draws.choice([np.int64, np.int32, np.uint32, np.uint64])
    u, v = sample.u.astype(dtype), sample.v.astype(dtype)
    graph = clmst.Graph.from_edges(u, v, sample.w, n_vertices=sample.n)
    return Given(graph, ids=np.arange(sample.m))


def both_directions(sample: Sample, draws: Draws, device: Any) -> Given:
    """The same with both directions stored."""
    given = edge_arrays(sample, draws, device)
    return Given(given.graph.symmetrised(), ids=given.ids)


def on_device(sample: Sample, draws: Draws, device: Any) -> Given:
    """Put on the device beforehand."""
    input_form = both_directions if draws.one_in(2) else edge_arrays
    given = input_form(sample, draws, device)
    return Given(clmst.to_device(given.graph, device), ids=given.ids)


def sorted_csr(sample: Sample, draws: Draws, _device: Any) -> Given:
    """The three arrays of a CSR with sorted rows: upper triangle, or both directions."""
    symmetric = draws.one_in(2)
    rows, indptr, columns, weights = csr_of(sample, symmetric=symmetric)
    graph = clmst.Graph.from_csr(indptr, columns, weights)
    return Given(graph, entries=(rows, columns, weights))


# ------------------------------------------------------------------------------- SciPy


def scipy_csr(sample: Sample, draws: Draws, _device: Any) -> Given:
    """A CSR array: one triangle or both; sorted; parallel edges as entries of their own."""
    rows, indptr, columns, weights = csr_of(sample, symmetric=draws.one_in(2))
    make = draws.choice([sparse.csr_array, sparse.csr_matrix])
    shape = (sample.n, sample.n)
    indices = columns.astype(np.int32)
    matrix = make((weights, indices, indptr.astype(np.int32)), shape=shape)
    return Given(matrix, entries=(rows, columns, weights))


def scipy_any(sample: Sample, draws: Draws, _device: Any) -> Given:
    """A simple graph in any format: either triangle, both, or a mixture with unequal weights."""
    u, v, w = sample.low, sample.high, sample.w
    stored = draws.choice(["upper", "lower", "as drawn", "both", "some both, one heavier"])
    if stored == "lower":
        u, v = v, u
    elif stored == "as drawn":
        u, v = sample.u, sample.v
    elif stored != "upper":
        away = np.flatnonzero(u != v)
        others = w[away]
        if stored != "both":
            away = away[draws.integers(2, away.size).astype(bool)]
            others = np.maximum(w[away], draws.pick(w, away.size))
        u, v = np.concatenate([u, v[away]]), np.concatenate([v, u[away]])
        w = np.concatenate([w, others])
    order = draws.permutation(u.size)
    matrix = sparse.coo_array((w[order], (u[order], v[order])), shape=(sample.n, sample.n))
    formats: list[SparseFormat] = ["coo", "csc", "csr"]
    formats = [*formats * 3, "lil", "dok"]
    # Zeros of DIA and BSR are padding; DIA has a diagonal for every distance.
    if w.size and np.all(w) and 0 < sample.n <= 100:
        formats += ["bsr", "dia"]
    chosen: Any = matrix.asformat(draws.choice(formats))
    rows = chosen.tocsr()
    if chosen.format == "bsr":
        rows.eliminate_zeros()
    lengths = np.diff(rows.indptr)
    entries = (np.repeat(np.arange(sample.n), lengths), rows.indices, rows.data)
    return Given(chosen, entries=entries)


# ---------------------------------------------------------------------------- NetworkX


def networkx(sample: Sample, draws: Draws, _device: Any) -> Given:
    """A NetworkX graph or multigraph whose vertices have names."""
    nx = _networkx()
    graph = nx.Graph() if sample.is_simple and draws.one_in(2) else nx.MultiGraph()
    names = list(range(sample.n)) if draws.one_in(2) else [f"v{k}" for k in range(sample.n)]
    graph.add_nodes_from(names)
    edges = zip(sample.u.tolist(), sample.v.tolist(), sample.w.tolist(), strict=True)
    for index, (u, v, w) in enumerate(edges):
        graph.add_edge(names[u], names[v], weight=w, index=index)
    ids = np.zeros(sample.m, np.int64)
    ids[[index for _, _, index in graph.edges(data="index")]] = np.arange(sample.m)
    return Given(graph, ids=ids, keeps_dtype=False)


@cache
def _networkx() -> Any:
    try:
        import networkx as nx
    except ImportError:
        return None
    return nx


# --------------------------------------------------------------------- complete graphs


def dense_graph(sample: Sample, draws: Draws, device: Any) -> Given:
    """A complete graph as a symmetric matrix: an array, a DenseGraph, or on the device."""
    matrix = _matrix(sample)
    kind = draws.choice(["array", "DenseGraph", "Fortran order", "on device"])
    graph: Any = matrix
    if kind == "DenseGraph":
        graph = clmst.DenseGraph(matrix)
    elif kind == "Fortran order":
        graph = np.asfortranarray(matrix)
    elif kind == "on device":
        graph = clmst.to_device(clmst.DenseGraph(matrix), device)
    return Given(graph, ids=_condensed(sample))


def masked(sample: Sample, _draws: Draws, _device: Any) -> Given:
    """A simple graph as a masked array."""
    mask = np.ones((sample.n, sample.n), bool)
    mask[sample.low, sample.high] = mask[sample.high, sample.low] = False
    return Given(np.ma.MaskedArray(_matrix(sample), mask=mask), ids=_condensed(sample))


def _matrix(sample: Sample) -> Array:
    matrix = np.zeros((sample.n, sample.n), sample.w.dtype)
    matrix[sample.low, sample.high] = matrix[sample.high, sample.low] = sample.w
    return matrix


def _condensed(sample: Sample) -> Array:
    """Return the index of each edge in SciPy's condensed form. Loops are left out."""
    u, v = sample.low, sample.high
    indices: Array = u * (2 * sample.n - u - 1) // 2 + (v - u - 1)
    return indices


def points(sample: Sample, draws: Draws, device: Any) -> Given:
    """Points: on the host or the device, whose distances are not stored."""
    given: Any = sample.points()
    graph = clmst.to_device(given, device) if draws.one_in(3) else given
    return Given(graph, ids=np.arange(sample.m))


def points_as_edges(sample: Sample, _draws: Draws, _device: Any) -> Given:
    """Points, every pair of which is listed."""
    return Given(sample.points().to_graph(), ids=np.arange(sample.m))


# ------------------------------------------------------------------------------- files


def file(sample: Sample, draws: Draws, _device: Any) -> Given:
    """Written to a file and read again: npz keeps entries, an edge list is merged."""
    graph = sample.graph()
    suffix = draws.choice([".npz", ".mtx", ".txt"] if sample.w.dtype.kind in "iu" else [".npz"])
    with tempfile.TemporaryDirectory(prefix="clmst-prove-") as folder:
        path = Path(folder) / f"graph{suffix}"
        clmst.write_graph(graph, path)
        return Given(clmst.Graph.read(path), keeps_dtype=False)


# --------------------------------------------------------------------------- which ones


def applicable(sample: Sample, algorithm: str) -> list[tuple[str, InputForm]]:
    """Return the ways that a sample can go, the usual ones several times."""
    narrow = sample.w.dtype != np.float16  # SciPy lacks sparse matrices of those
    # Python's numbers become int64 or float64: with other dtypes, a process would build twice as
    # many programs.
    plain = sample.w.dtype in (np.int32, np.int64, np.float64, np.bool_)
    complete = algorithm in ("auto", "dense") and sample.is_complete and sample.n > 0
    input_forms: list[tuple[str, InputForm]] = [("edge arrays", edge_arrays)]
    input_forms += [("both directions", both_directions)]
    input_forms += [("CSR arrays", sorted_csr), ("on device", on_device)]
    if narrow:
        input_forms += [("SciPy CSR", scipy_csr)]
    input_forms *= 2
    if narrow and sample.is_simple:
        input_forms += [("SciPy", scipy_any)] * 2
    if plain and sample.m <= 400 and _networkx() is not None:
        input_forms += [("NetworkX", networkx)]
    if sample.is_simple and sample.n <= 100:
        input_forms += [("masked array", masked)]
    if plain and sample.is_simple and 0 < sample.m <= 400 and sample.w.dtype != np.bool_:
        input_forms += [("file", file)]
    if complete:
        input_forms += [("matrix", dense_graph)] * 10
    if sample.coordinates is not None:
        input_forms += [("points as edges", points_as_edges)] * 5
        if algorithm in ("auto", "dense"):
            input_forms += [("points", points)] * 15
    return input_forms
