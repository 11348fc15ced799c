"""Time `RepeatedSolver` on several devices: on each alone, and on all of them together.

Two strategies divide a solve among devices: "split" and "cores" (docs/several_devices.md). A round
is one solve with new weights.

    python -m benchmarks devices GRAPH... --device nvidia:0 --device nvidia:1

GRAPH is the name of a surrogate graph, a file, or a family of generated graphs with parameters, as
in random:n=100000,average_degree=64. The weights are new random floats in every round. The time of
a round is from an array of weights on the host to a forest on the host. A "prefetched" round is a
round of `solve_many`, which uploads the next weights while the present ones are solved. Before
anything is timed, the forest of every round is compared with the forest of the first device alone.
Contestants take turns. A ratio is the time of the best device alone divided by the time of several
devices. The second table shows one round of each strategy, device by device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.repeated import load
from benchmarks.runner import Row, Rows, Run, case, graphs_argument, means
from benchmarks.timing import seconds_of
from clmst.bench.harness import WrongResultError

ROUNDS = 3
STRATEGIES = ("split", "cores")
_STEPS = ("began_ms", "upload_ms", "solve_ms", "send_ms", "wait_ms")


def prepared(
    graph: clmst.Graph, devices: Sequence[clmst.Device]
) -> tuple[dict[str, clmst.RepeatedSolver], dict[str, float]]:
    """Make a solver for each device alone, and one for each strategy with all devices.

    Returns two dicts, whose keys are the names of the devices and strategies: the solvers, and the
    milliseconds that making each of them took.
    """
    makes: dict[str, dict[str, Any]] = {
        f"{number}: {device.name}": {"devices": device} for number, device in enumerate(devices)
    }
    makes |= {name: {"devices": [*devices], "strategy": name} for name in STRATEGIES}
    solvers: dict[str, clmst.RepeatedSolver] = {}
    taken = {}
    for name, options in makes.items():
        make = partial(clmst.RepeatedSolver, graph, **options)
        taken[name] = 1e3 * seconds_of(lambda: solvers.update({name: make()}))  # noqa: B023
    return solvers, taken


def check(name: str, solvers: dict[str, clmst.RepeatedSolver], given: list[np.ndarray]) -> None:
    """Raise WrongResultError unless all solvers find the forest of the first device in every round.

    `given` has the weights of each round, and `name` is the graph's name, for the message.
    """
    for weights in given:
        agreement = Agreement("the first device")
        for contestant, solver in solvers.items():
            if difference := agreement.difference(solver.solve(weights)):
                raise WrongResultError(f"{name}: {contestant}: {difference}")


def ways_of(
    title: str, solver: clmst.RepeatedSolver, given: list[np.ndarray]
) -> dict[str, Callable[[], object]]:
    """Return two functions to time, by name: one solves a single round, one calls `solve_many`.

    Both use `solver`. A round is one solve with new weights, and `given` has the weights of each
    round. The first function takes the next weights in each call. `title` is the name of the first
    and the beginning of the second name.
    """
    weights = cycle(given)
    return {
        title: lambda: solver.solve(next(weights)),
        f"{title}, prefetched": lambda: [*solver.solve_many(given)],
    }


def parts_of(graph: str, strategy: str, forest: clmst.Forest) -> Rows:
    """Yield a row of the table for each device, with its part of the work in one round.

    A round is one solve with new weights. `graph` and `strategy` are names for the table. `forest`
    is the result of the round, and its statistics say what each device has done.
    """
    for part in forest.stats.get("devices", ()):
        yield {
            "graph": graph, "strategy": strategy, "device": part["device"],
            "vertices": part["vertices"], "edges": part["edges"],
            "algorithms": ", ".join(part["algorithms"]),
            **{step: float(max(part[step], 0)) for step in _STEPS},
            "last pass ms": float(forest.stats["last_pass"]["ms"]),
        }  # fmt: skip


@case(graphs_argument(required=True), devices=(2, 64))
def main(run: Run, graphs: tuple[str, ...]) -> Rows:
    """Time solves with new weights on several devices: single ones, and many by `solve_many`."""
    rows: list[Row] = []
    works: list[Row | str] = []
    for argument in graphs:
        name, graph = Path(argument).name, load(argument)
        solvers, taken = prepared(graph, run.devices)
        m, rng = next(iter(solvers.values())).n_edges, np.random.default_rng(0)
        given = [rng.random(m, dtype=np.float32) for _ in range(ROUNDS)]
        check(name, solvers, given)
        ways: dict[str, Callable[[], object]] = {}
        for title, solver in solvers.items():
            ways |= ways_of(title, solver, given)
        times = run.turns(ways, warm_ups=0)
        for title in solvers:
            prefetched = f"{title}, prefetched"
            times[prefetched] = [ms / ROUNDS for ms in times[prefetched]]
        best = min((times[title] for title in [*solvers][: len(run.devices)]), key=run.of)
        row = {"graph": name, "n": graph.n_vertices, "edges": m, **times, "_prepare": taken}
        rows.append({"best alone": best} | {title: times[title] for title in STRATEGIES})
        chosen = {title: solvers[title].solve(given[0]) for title in STRATEGIES}
        yield row
        for title, forest in chosen.items():
            works += parts_of(name, title, forest)
        for solver in solvers.values():
            solver.close()
    yield from works
    yield means(run, rows, "best alone")
