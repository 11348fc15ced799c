"""Time the algorithm `dense` beside `filter-boruvka` and SciPy, on dense and on sparse graphs.

    python -m benchmarks dense complete [--largest N]
    python -m benchmarks dense density [--vertices N] [--plot FILE]

``complete`` repeats Table 4 of Ma and Wan: complete graphs with n vertices, where n doubles from
512 on. ``density`` repeats their Table 5 and Figure 8: n vertices, where each pair is an edge with
probability p. Graphs are random, and weights are random integers of 30 bits. The graph is on the
device before a solve begins, and the time ends when the endpoints of the forest are on the device.
`dense` needs the adjacency matrix. It is timed with the matrix that an earlier solve has left, and
with a matrix that each solve builds from the CSR of the graph. SciPy's minimum_spanning_tree of the
upper triangle is timed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks.agreement import Agreement
from benchmarks.plots import lines
from benchmarks.runner import Cases, Row, Rows, Run, Way, case, sizes_up_to, solving
from benchmarks.timing import seconds_of
from clmst.bench.canvas import legend_below, panels
from clmst.bench.harness import WrongResultError
from clmst.runtime.device_graph import DeviceGraph

MATRIX, BUILT, EDGES, SCIPY = "dense", "dense, matrix built", "filter-boruvka", "SciPy"
PROBABILITIES = (0.01, 0.02, 0.05, *(k / 10 for k in range(1, 11)))
LARGEST = click.option("--largest", type=click.IntRange(512), default=16384, show_default=True)
VERTICES = click.option("--vertices", type=click.IntRange(16), default=16384, show_default=True)

# A function that takes a graph and the devices of a run. It returns the functions to time, by their
# names in the table.
Ways = Callable[[clmst.Graph, Sequence[clmst.Device]], Mapping[str, Way]]
# A function that solves a graph, compares the result with the given forest, and returns the time of
# the solve in milliseconds.
Once = Callable[[clmst.Graph, clmst.Forest], float]


def random_rows(n: int, probability: float = 1.0) -> clmst.Graph:
    """Return a random symmetric graph: each pair of vertices is an edge with `probability`.

    It has `n` vertices, and random integers of 30 bits as weights.
    """
    seed = n if probability == 1 else round(1e6 * probability)
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 32, n * n, np.uint32)
    words >>= 2
    weights = words.view(np.int32).reshape(n, n)
    mirror(weights)
    chosen = np.ones((n, n), bool)
    if probability < 1:
        for row in chosen:
            np.less(rng.random(n, np.float32), probability, out=row)
        mirror(chosen)
    np.fill_diagonal(chosen, False)
    lengths = np.count_nonzero(chosen, axis=1)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    indices = np.concatenate([np.flatnonzero(row).astype(np.uint32) for row in chosen])
    return clmst.Graph.unchecked(  # checks would take longer than all of this
        indptr=indptr, indices=indices, weights=weights[chosen], is_symmetric=True, edge_ids=None,
        n_input=indices.size,
    )  # fmt: skip


def mirror(matrix: np.ndarray) -> None:
    """Copy the upper triangle of a square matrix to the lower one, in place.

    It is copied in square blocks that are small enough for the cache.
    """
    n, side = len(matrix), 512
    for low in range(0, n, side):
        block = matrix[low : low + side, low : low + side]
        block[...] = np.triu(block) + np.triu(block, 1).T
        for high in range(low + side, n, side):
            beyond = matrix[low : low + side, high : high + side]
            matrix[high : high + side, low : low + side] = beyond.T


def matrix_of(graph: clmst.Graph) -> np.ndarray:
    """Return the matrix of a complete graph, with zeros on the diagonal."""
    n = graph.n_vertices
    matrix = np.zeros((n, n), graph.weights.dtype)
    matrix[~np.eye(n, dtype=bool)] = graph.weights
    return matrix


def edges_once(graph: clmst.Graph) -> clmst.Graph:
    """Return a symmetric graph with each of its edges stored once."""
    return clmst.Graph.from_edges(*graph.edges()[:3], n_vertices=graph.n_vertices)


# ----------------------------------------------------------------------- measurement


def by_fresh_matrix(graph: DeviceGraph) -> Way:
    """Return a function that solves a graph by `dense`, and builds its matrix anew in each call."""

    def solve() -> clmst.DeviceForest:
        for key in [("dense", maximum) for maximum in (False, True)]:
            graph.derived.pop(key, None)
        return clmst.minimum_spanning_forest(graph, algorithm="dense", keep_on_device=True)

    return solve


PROBABILITY = click.option(
    "--probability", "probabilities", type=click.FloatRange(0, 1, min_open=True), multiple=True,
    default=PROBABILITIES, show_default=True, help="That a pair is an edge; again for more.",
)  # fmt: skip


def solved(
    run: Run, sizes: Sequence[int], probabilities: Sequence[float], ways_of: Ways,
    once: Mapping[str, Once] | None = None,
) -> Iterator[Row]:  # fmt: skip
    """Time several ways of solving random graphs, and yield a row for each size and density.

    `sizes` are numbers of vertices. Each pair of vertices is an edge with one of `probabilities`.
    The functions that `ways_of` returns for a graph are timed in turns. The functions in `once` are
    slow. Each is called a single time per graph, and returns its own milliseconds.
    """
    for n in sizes:
        for probability in probabilities:
            graph = random_rows(n, probability)
            ways, agreement = ways_of(graph, run.devices), Agreement("the first", by="edges")
            times = run.turns(ways, agreement.difference)
            assert agreement.forest is not None
            for name, solve in (once or {}).items():
                times[name] = [solve(graph, agreement.forest)]
            yield {"n": n, "p": probability, "edges": graph.n_slots // 2, **times}
            del ways
            for device in run.devices:
                device.release_memory()


def scipy_ms(graph: clmst.Graph, forest: clmst.Forest) -> float:
    """Time SciPy's minimum_spanning_tree of the upper triangle once, and return the milliseconds.

    Raises :class:`WrongResultError` if the total weight of its tree is not the weight of `forest`.
    """
    indices, indptr = graph.indices.view(np.int32), graph.indptr.view(np.int32)
    rows = sparse.csr_array((graph.weights + 1, indices, indptr))  # for SciPy a zero is not an edge
    upper = sparse.triu(rows, format="csr")
    trees: list[sparse.csr_array] = []
    seconds = seconds_of(lambda: trees.append(minimum_spanning_tree(upper)))
    if int((trees[0].data.astype(np.int64) - 1).sum()) != forest.total_weight:
        raise WrongResultError("SciPy's tree has another weight: a bug in clmst")
    return 1e3 * seconds


def stored_or_listed(graph: clmst.Graph, devices: Sequence[clmst.Device]) -> Mapping[str, Way]:
    """Return two functions, by name, that solve a complete graph as a matrix and as edges.

    They use the first of `devices`.
    """
    device = devices[0]
    rows = clmst.to_device(graph, device)
    stored = clmst.to_device(clmst.DenseGraph(matrix_of(graph)), device)
    return {
        EDGES: solving(rows, EDGES),
        MATRIX: lambda: clmst.minimum_spanning_forest(stored, keep_on_device=True),
    }


def kept_or_built(graph: clmst.Graph, devices: Sequence[clmst.Device]) -> Mapping[str, Way]:
    """Return three functions, by name, that solve a graph on the first of `devices`.

    They solve it by `dense` with the matrix of an earlier solve, by `dense` with a new matrix in
    each call, and by `filter-boruvka`, which takes no matrix.
    """
    rows, other = clmst.to_device(graph, devices[0]), clmst.to_device(graph, devices[0])
    return {
        MATRIX: solving(rows, "dense"),
        BUILT: by_fresh_matrix(other),
        EDGES: solving(rows, EDGES),
    }


def crossover(run: Run, rows: Sequence[Row], name: str, beside: str = EDGES) -> float | None:
    """Return the density from which on the contestant `name` is faster than `beside`.

    `rows` have the times of both. Returns None if it is slower at the maximum density. Between two
    measured densities, the logarithm of the ratio is taken as linear. If the contestant is always
    faster, the minimum density is returned.
    """
    gains = [np.log(run.ratio(row, beside, name)) for row in rows]
    slower = [k for k, gain in enumerate(gains) if gain <= 0]
    if not slower:
        return float(rows[0]["p"])
    last = slower[-1]
    if last + 1 == len(rows):
        return None
    share = gains[last] / (gains[last] - gains[last + 1])
    low, high = rows[last]["p"], rows[last + 1]["p"]
    return float(low + share * (high - low))


def over_densities(
    run: Run, sizes: tuple[int, Sequence[float]], ways: Ways, names: Sequence[str], beside: str
) -> Rows:
    """Time solves of random graphs of several densities, and yield a row for each density.

    `sizes` is a pair of the number of vertices and the densities. `ways` returns the functions to
    time, by name. At the end, a text for each of `names` says from which density on this function
    is faster than the function `beside`.
    """
    rows: list[Row] = []
    for row in solved(run, sizes[:1], sorted(sizes[1]), ways):
        rows.append(row)
        yield row
    for name in names:
        at = crossover(run, rows, name, beside)
        said = "nowhere" if at is None else f"from p = {at:.2g} on"
        yield f"{name} is faster than {beside} {said}"


def draw(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw times by density, as in the paper's Figure 8."""
    title = f"Random graphs of {rows[0]['n']:,} vertices as matrices, {device}"
    with panels(file, 1, (7, 4.2), title=title) as (panel,):
        lines(panel, rows, "p")
        panel.set_xlabel("probability that a pair is an edge")
        panel.set_ylabel("milliseconds")
        panel.set_ylim(bottom=0)
        legend_below(panel)


@click.group(cls=Cases)
def main() -> None:
    """Time `dense`, which goes over an adjacency matrix, beside other algorithms."""


@main.add_command
@case(LARGEST)
def complete(run: Run, largest: int) -> Rows:
    """Time complete graphs of 512 vertices and more (Table 4 of Ma and Wan)."""
    return solved(run, sizes_up_to(largest), [1.0], stored_or_listed, {SCIPY: scipy_ms})


@main.add_command
@case(VERTICES, PROBABILITY, draw=draw)
def density(run: Run, vertices: int, probabilities: tuple[float, ...]) -> Rows:
    """Time graphs by density, and find from which density on `dense` is faster.

    This is Table 5 of Ma and Wan.
    """
    return over_densities(run, (vertices, probabilities), kept_or_built, (MATRIX, BUILT), EDGES)
