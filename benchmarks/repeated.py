"""Time `RepeatedSolver` beside one-shot solves, for a graph whose weights change.

    python -m benchmarks repeated GRAPH... [--share 0.05]

GRAPH is the name of a surrogate graph, ``clustered``, or a file. A round is one solve with new
weights, which are a random permutation of the graph's own weights. In a "near" round, each weight
differs from the graph's own by a random share of up to 5 %.

Four calls are timed with weights and forests on the host:

* `minimum_spanning_forest` of a SciPy matrix that already has the permuted weights (one-shot);
* `solve` of an array of permuted weights, without a warm start;
* `update` of a share of the weights, without a warm start;
* `solve` of near weights, by a solver that has solved similar weights before. It can reuse what
  those rounds have decided (a warm start).

With weights and forests on the device, the public call for the graph with its own weights is timed
beside `solve`. Before anything is timed, the forest of every round is compared with the one-shot
forest. Making the solver is timed once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.runner import Rows, Run, case, graphs_argument
from benchmarks.timing import seconds_of
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import WrongResultError
from clmst.bench.inputs import real_file
from clmst.core import canonical
from clmst.core.threads import in_threads, slices
from clmst.generators import FAMILIES, surrogates

CLUSTERED = "clustered"
_SLOTS = 1 << 20  # CSR entries whose weights a thread copies at a time


def load(name: str) -> clmst.Graph:
    """Load or generate a graph, and return it with both directions of each edge stored.

    `name` is the name of a graph, a family with parameters such as ``clustered:n=5000``, or a file.
    """
    return as_it_comes(name).symmetrised()


def as_it_comes(name: str) -> clmst.Graph:
    """Load or generate a graph, and return it as it is stored or generated.

    `name` is the name of a graph, a family with parameters such as ``clustered:n=5000``, or a file.
    """
    if (file := real_file(name)) is not None:
        return clmst.Graph.read(file)
    if Path(name).is_file():
        return clmst.Graph.read(name)
    family, _, listed = name.partition(":")
    if family in FAMILIES:
        known = {one.name: one for one in FAMILIES[family].parameters}
        given = (part.partition("=")[::2] for part in filter(None, listed.split(",")))
        return clmst.generate(family, **{key: known[key].parse(value) for key, value in given})
    return surrogates.find(name).load()


class Reweighted:
    """A graph for rounds with new weights, with functions that make the weights of a round.

    The graph has no loops, and stores both directions of each edge.

    Attributes
    ----------
    graph : Graph
        The symmetric graph.
    own : ndarray, shape (m,)
        The original weights, one for each edge in canonical order.
    """

    def __init__(self, graph: clmst.Graph) -> None:
        u, v, self.own, _ = graph.edges()
        both = canonical.mirror(graph.n_vertices, u, v)
        self._edges = both.positions  # the edge of each slot
        self.graph = graph.replace_unchecked(
            indptr=both.indptr, indices=both.indices, weights=self._by_slot(self.own),
            is_symmetric=True, edge_ids=None, n_input=both.indices.size,
        )  # fmt: skip
        self._permuted = np.random.default_rng(0).permutation(self.own)

    def _by_slot(self, weights: np.ndarray) -> np.ndarray:
        found = np.empty(self._edges.size, weights.dtype)

        def take(some: slice) -> None:
            found[some] = weights.take(self._edges[some])

        in_threads(take, slices(found.size, _SLOTS))
        return found

    def matrix(self, weights: np.ndarray) -> Any:
        """Return the SciPy matrix with given weights, one for each edge in canonical order."""
        return as_matrix(self.graph.replace_unchecked(weights=self._by_slot(weights)))

    def permuted(self, number: int) -> np.ndarray:
        """Return one of many permutations of the graph's own weights, chosen by `number`.

        Each permutation is one fixed random permutation, rotated by a random distance.
        """
        turned = np.random.default_rng(number).integers(max(self.own.size, 1))
        return np.roll(self._permuted, turned)

    def near(self, share: float, number: int) -> np.ndarray:
        """Return the graph's own weights, each changed at random by at most the fraction `share`.

        `number` is the seed of the random numbers.
        """
        by = np.random.default_rng(number).uniform(-share, share, self.own.size)
        return (self.own * (1 + by)).astype(self.own.dtype)


ROUNDS = 3
NEAR_BY = 0.05
ONE_SHOT, SOLVE, UPDATE, NEAR = "one-shot", "solve", "update", "solve, near"
RESIDENT, ON_DEVICE, NEAR_THERE = "one-shot, resident", "solve, on the device", "near, there"
BESIDE = dict.fromkeys((SOLVE, UPDATE, NEAR), ONE_SHOT)
BESIDE |= dict.fromkeys((ON_DEVICE, NEAR_THERE), RESIDENT)

Round = Callable[[int], object]


def in_turn(solve: Round) -> Callable[[], object]:
    """Return a function that calls `solve` with the next round's number in each call.

    A round is one solve with new weights. After the last round, the function begins again with
    round 0.
    """
    rounds = cycle(range(ROUNDS))
    return lambda: solve(next(rounds))


def check_rounds(name: str, reweighted: Reweighted, solver: Any, every: list[Any]) -> None:
    """Raise WrongResultError unless a solver finds the right forest for the weights of each round.

    A round is one solve with new weights. The right forest is the result of a solve that keeps
    nothing of earlier rounds. `name` is the name of the graph. `every` has two arrays for each
    round: its weights on the host and on the device. The solver is called with both.
    """
    for weights, there in every:
        expected = clmst.minimum_spanning_forest(reweighted.matrix(weights), device=there.device)
        agreement = Agreement("the one-shot solve", expected, by="edges")
        for given in (weights, there):
            if difference := agreement.difference(solver.solve(given)):
                raise WrongResultError(f"{name}: {difference}")


@case(
    graphs_argument(required=True),
    click.option("--share", type=click.FloatRange(0, 1), default=0.05, help="Of edges changed."),
)
def main(run: Run, graphs: tuple[str, ...], share: float) -> Rows:
    """Time solves of graphs whose weights change.

    Ratios are to the time of a solve that keeps nothing for later solves.
    """
    device = run.device
    for name in graphs:
        reweighted = Reweighted(load(name))
        made: list[clmst.RepeatedSolver] = []
        make = partial(clmst.RepeatedSolver, reweighted.graph, devices=device, warm_start=False)
        prepare = 1e3 * seconds_of(lambda: made.append(make()))  # noqa: B023
        warm = clmst.RepeatedSolver(reweighted.graph, devices=device)
        warm.solve(reweighted.own)
        given = [reweighted.permuted(k) for k in range(ROUNDS)]
        near = [reweighted.near(NEAR_BY, k) for k in range(ROUNDS)]
        stored, stored_near = (
            [clmst.DeviceArray.from_host(weights, device) for weights in every]
            for every in (given, near)
        )
        check_rounds(name, reweighted, made[0], [*zip(given, stored, strict=True)])
        check_rounds(name, reweighted, warm, [*zip(near, stored_near, strict=True)])
        ways = _ways(run, reweighted, share, (made[0], given, stored), (warm, near, stored_near))
        times = run.turns(
            {title: in_turn(solve) for title, solve in ways.items()},
            wait=device.queue.finish, warm_ups=0,
        )  # fmt: skip
        row = {"graph": Path(name).name, "n": reweighted.graph.n_vertices, "edges": made[0].n_edges}
        row |= {"prepare": prepare, **times}
        yield row | {f"{one} / it": 1 / run.ratio(row, BESIDE[one], one) for one in BESIDE}
        for solver in (*made, warm):
            solver.close()
        device.release_memory()


def _ways(
    run: Run, reweighted: Reweighted, share: float, cold: tuple[Any, Any, Any],
    hot: tuple[Any, Any, Any],
) -> dict[str, Round]:  # fmt: skip
    """Return the functions to time, by name. Each is called with a number k and solves round k.

    `share` is the share of weights that the method `update` changes in a round. `cold` and `hot`
    are tuples of a solver, its weights for each round on the host, and the same weights on the
    device. The solver of `cold` solves every round from the start. The solver of `hot` gets weights
    that are near to the weights of earlier rounds, whose results it reuses (a warm start).
    """
    device, (solver, given, stored), (warm, near, stored_near) = run.device, cold, hot
    resident = clmst.to_device(reweighted.graph, device)
    matrices = [reweighted.matrix(weights) for weights in given]
    m = solver.n_edges
    some = np.sort(np.random.default_rng(0).choice(m, int(share * m), replace=False))
    changes = [weights[some] for weights in given]
    return {
        ONE_SHOT: lambda k: clmst.minimum_spanning_forest(matrices[k], device=device),
        SOLVE: lambda k: solver.solve(given[k]),
        UPDATE: lambda k: solver.update(some, changes[k]),
        NEAR: lambda k: warm.solve(near[k]),
        RESIDENT: lambda k: clmst.minimum_spanning_forest(resident, keep_on_device=True),
        ON_DEVICE: lambda k: solver.solve(stored[k], keep_on_device=True),
        NEAR_THERE: lambda k: warm.solve(stored_near[k], keep_on_device=True),
    }
