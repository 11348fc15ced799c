"""Time rounds of a random graph, all weights new or few of them, beside one-shot solves.

    python -m benchmarks few_changes --device intel
    python -m benchmarks few_changes --device nvidia --edges 3.6e6 --edges 18e6 --share 1e-5

Graphs of 10,000, 300,000 and 3,000,000 edges of degree 4 and 16 are solved with weights of int32,
float32 and float64, from arrays of the host to a forest on the host, by turns:

* by `minimum_spanning_forest` of a symmetric SciPy matrix, and of lists of edges;
* by a `RepeatedSolver` whose weights are all new in each round;
* by one of which a share of the weights changes in each round, given by `solve` and by `update`.

Ratios are to the quicker one of the two one-shot solves. Before anything is timed, the forests of
all ways are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.dynamic import random_edges, random_weights
from benchmarks.repeated import Reweighted
from benchmarks.runner import Row, Rows, Run, case
from clmst.bench.harness import WrongResultError

_EDGES, _DEGREES, _DTYPES = (1e4, 3e5, 3e6), (4, 16), ("int32", "float32", "float64")
_MATRIX, _LISTS = "matrix", "lists"
_NEW, _SOLVE, _UPDATE = "all new", "solve, share", "update, share"


class Ways:
    """The ways of solving one random graph whose weights change from call to call."""

    def __init__(self, m: int, degree: int, share: float, dtype: str, device: Any) -> None:
        rng, kind = np.random.default_rng(m + degree), np.dtype(dtype)
        u, v, w = random_edges(rng, max(2 * m // degree, 2), m, kind)
        graph = clmst.Graph.from_edges(u, v, w, int(max(u.max(), v.max())) + 1)
        self.reweighted, self.device = Reweighted(graph), device
        self.n, self.m = graph.n_vertices, self.reweighted.own.size
        before, after = (random_weights(rng, self.m, kind) for _ in range(2))
        self.ids = np.sort(rng.choice(self.m, max(int(share * self.m), 1), replace=False))
        changed = before.copy()
        changed[self.ids] = after[self.ids]
        self.weights = before, after  # all differ
        self.near = before, changed  # a share of them differs
        self.matrices = [self.reweighted.matrix(one) for one in self.weights]
        self.ends = graph.edges()[:2]
        self.solvers = [self._solver(before) for _ in range(3)]

    def _solver(self, weights: Any) -> clmst.RepeatedSolver:
        solver = clmst.RepeatedSolver(self.reweighted.graph, device=self.device)
        solver.solve(weights)
        return solver

    def each(self) -> dict[str, Callable[[int], clmst.Forest]]:
        """Return each way of solving by its name, as a function of 0 or 1.

        The number says which of two sets of weights is solved. Rounds take them by turns.
        """
        new, some, updated = self.solvers

        def of_lists(k: int) -> clmst.Forest:
            graph = clmst.Graph.from_edges(*self.ends, self.weights[k], self.n)
            return clmst.minimum_spanning_forest(graph, device=self.device)

        return {
            _MATRIX: lambda k: clmst.minimum_spanning_forest(self.matrices[k], device=self.device),
            _LISTS: of_lists,
            _NEW: lambda k: new.solve(self.weights[k]),
            _SOLVE: lambda k: some.solve(self.near[k]),
            _UPDATE: lambda k: updated.update(self.ids, self.near[k][self.ids]),
        }

    def check(self) -> None:
        """Raise WrongResultError unless all ways find the same forests."""
        ways = self.each()
        for names, weights in (((_LISTS, _NEW), self.weights), ((_SOLVE, _UPDATE), self.near)):
            for k in (1, 0):
                matrix = self.reweighted.matrix(weights[k])
                expected = clmst.minimum_spanning_forest(matrix, device=self.device)
                agreement = Agreement(_MATRIX, expected, by="edges")
                for name in names:
                    if difference := agreement.difference(ways[name](k)):
                        raise WrongResultError(f"{name}: {difference}")

    def calls(self) -> dict[str, Callable[[], clmst.Forest]]:
        """Return the ways by name, as functions that go through the rounds of even and odd number.

        A round is one solve with new weights.
        """

        def in_turn(way: Callable[[int], clmst.Forest]) -> Callable[[], clmst.Forest]:
            rounds = cycle((1, 0))
            return lambda: way(next(rounds))

        return {name: in_turn(way) for name, way in self.each().items()}


def rows_of(
    run: Run, sizes: tuple[float, ...], dtypes: tuple[str, ...], share: float
) -> Iterator[Row]:
    """Yield a row for each graph and dtype of weights."""
    for m in sizes or _EDGES:
        for degree in _DEGREES:
            for dtype in dtypes or _DTYPES:
                ways = Ways(int(m), degree, share, dtype, run.device)
                ways.check()
                times = run.turns(ways.calls())
                row: Row = {"edges": ways.m, "degree": degree, "weights": dtype, **times}
                least = min(run.of(times[name]) for name in (_MATRIX, _LISTS))
                for name in (_NEW, _SOLVE, _UPDATE):
                    row[f"{name} / one-shot"] = run.of(times[name]) / least
                yield row
                for solver in ways.solvers:
                    solver.close()


@case(
    click.option("--edges", type=float, multiple=True, help="Numbers of edges."),
    click.option("--dtype", "dtypes", multiple=True, help="Dtypes of weights."),
    click.option("--share", type=click.FloatRange(0, 1), default=0.01, show_default=True),
    repetitions=21,
)
def main(run: Run, edges: tuple[float, ...], dtypes: tuple[str, ...], share: float) -> Rows:
    """Time rounds with new weights beside one-shot solves."""
    yield from rows_of(run, edges, dtypes, share)
