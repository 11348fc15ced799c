"""The experiments over all graphs: what to measure, in which order, and what to skip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from clmst.algorithms.ecl import EclOptions
from clmst.algorithms.option_texts import read
from clmst.algorithms.registry import ALGORITHMS
from clmst.bench import inputs
from clmst.bench.agreement import Reference, establish
from clmst.bench.contestants import (
    SolveContestant,
    as_matrix,
    ask_peer,
    finding_forest,
    new_identity,
    release,
    solving,
    take_turns,
)
from clmst.bench.harness import first_line
from clmst.bench.inputs import Input
from clmst.bench.results import (
    SCOPES,
    Key,
    Measurement,
    Results,
    Scope,
    identity,
    machine_facts,
)
from clmst.bench.settings import Settings
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph

# Average degree of the random graphs of growing size, and their sizes by kind of device.
SCALING_DEGREE = 8
SCALING_VERTICES = {"cpu": tuple(2**k for k in range(12, 19, 2))}
SCALING_VERTICES_ELSEWHERE = tuple(2**k for k in range(14, 25, 2))
# Number of vertices of the graphs whose degree is varied. Vineet et al. (HPG '09) use a million.
DEGREE_VERTICES = {"cpu": 2**16}
DEGREE_VERTICES_ELSEWHERE = 2**20
# The number of sampled weights from which ECL-MST sets the threshold of its filter, according to
# its paper (SC '23).
PAPER_SAMPLES = 20

_OF_ECL = ("ablation", "seeds")  # experiments that compare variants of `ecl`, without peers
_STUDIES = ("scaling", "degree")  # experiments with random graphs; all others use the chosen graphs

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A graph in each of the forms in which compared programs take it, and its right forest."""

    resident: DeviceGraph
    matrix: Any
    reference: Reference


# A function that makes a contestant for a graph.
_Maker: TypeAlias = Callable[[_Loaded], SolveContestant]


def _by(text: str, scope: Scope, of: _Loaded) -> SolveContestant:
    """Make a contestant from a text such as "pma gamma=64", an algorithm with or without options.

    `scope` says what its time covers. `of` is the graph to solve, already loaded.
    """
    name, options = read(text)
    if scope == "solve":
        return solving(of.resident, name, f"clmst {text}", options)
    source = of.resident if scope == "forest" else of.matrix
    return finding_forest(source, of.resident, name, f"clmst {text}", options)


def _of_ecl(name: str, options: EclOptions, loaded: _Loaded, **more: int) -> SolveContestant:
    return solving(loaded.resident, "ecl", name, options, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A run of ``clmst bench`` on one device."""

    device: Device
    settings: Settings
    # The results to which measurements are added. A contestant that already has times in the
    # results is not measured again.
    results: Results
    tell: Tell  # called with a line on each step

    @property
    def machine(self) -> str:
        """The identity of this machine in the results."""
        return identity(machine_facts(self.device))

    def run(self, chosen: Sequence[Input]) -> None:
        """Run all experiments on the graphs in `chosen`.

        A graph is loaded once for all experiments that use it.
        """
        # The list of all work is made first, so that impossible sizes raise an error before
        # anything is measured.
        wanted = self.settings.experiments
        work: list[tuple[list[str], Sequence[Input]]] = [
            ([one for one in wanted if one not in _STUDIES], chosen),
            *(([one], self._random_graphs(one)) for one in _STUDIES if one in wanted),
        ]
        for experiments, graphs in work:
            self._refuse_to_mix(experiments, graphs)
        self.results.add_machine(self.machine, machine_facts(self.device))
        for experiments, graphs in work:
            for each in graphs:
                self._measure(each, experiments)

    # ----------------------------------------------------- what was measured before

    def _due(self, experiments: Sequence[str], graph: str) -> list[str]:
        """Return the experiments, among those given, whose results for a graph are not complete."""
        repetitions = self.settings.repetitions
        return [
            one for one in experiments if not self.results.have(self._keys(one, graph), repetitions)
        ]

    def _refuse_to_mix(self, experiments: Sequence[str], graphs: Sequence[Input]) -> None:
        """Raise InvalidArgumentError if a peer must be timed again, but is not part of this run.

        A peer is an outside program. All times of an experiment on a graph must come from the same
        run. So if anything is measured again, all earlier contestants must be.
        """
        named = {peer.name for peer in self.settings.peers}
        for each in graphs:
            for experiment in self._due(experiments, each.name):
                for one in self._earlier(experiment, each.name):
                    if not one.ours and one.contestant not in named:
                        raise InvalidArgumentError(
                            f"the results hold times of the peer {one.contestant!r} on "
                            f"{each.name}, and that graph is measured again with all "
                            "contestants; give the peer with its command again, or name another "
                            "file of results"
                        )

    def _earlier(self, experiment: str, graph: str) -> list[Measurement]:
        """Return the earlier measurements of an experiment on a graph, on this machine."""
        wanted = (self.machine, experiment, graph)
        measurements = self.results.measurements
        return [one for key, one in measurements.items() if key[:3] == wanted]

    def _widened(self, experiment: str, graph: str) -> Suite:
        """Return a copy of this suite that also times the contestants of earlier runs again.

        These are all contestants that the results already have for `experiment` and `graph`. They
        are timed again because only times of the same run are comparable. They come first, so that
        ratios still refer to the same contestant.
        """
        earlier = [one for one in self._earlier(experiment, graph) if one.ours]
        names = (one.contestant.removeprefix("clmst ") for one in earlier)
        known = (name for name in names if name.split()[0] in ("auto", *ALGORITHMS))
        seeds = [one.details["seed"] + 1 for one in earlier if "seed" in one.details]
        settings = replace(
            self.settings,
            algorithms=tuple(dict.fromkeys((*known, *self.settings.algorithms))),
            transfers=self.settings.transfers or any(one.scope == "transfers" for one in earlier),
            seeds=max(self.settings.seeds, *seeds, 0),
        )
        return replace(self, settings=settings)

    # ------------------------------------------------------------------ graphs

    def _random_graphs(self, experiment: str) -> list[Input]:
        settings, kind = self.settings, self.device.capabilities.kind
        if experiment == "scaling":
            sizes = settings.vertices or SCALING_VERTICES.get(kind, SCALING_VERTICES_ELSEWHERE)
            pairs = [(n, SCALING_DEGREE) for n in sizes]
        else:
            n = settings.degree_vertices or DEGREE_VERTICES.get(kind, DEGREE_VERTICES_ELSEWHERE)
            pairs = [(n, degree) for degree in settings.degrees]
        return [inputs.random_graph(n, degree, settings.cache) for n, degree in pairs]

    def _measure(self, each: Input, experiments: Sequence[str]) -> None:
        """Run the experiments that are not finished yet on the graph `each`.

        Failures are kept in the results.
        """
        due = self._due(experiments, each.name)
        for experiment in set(experiments) - set(due):
            self.tell(f"{each.name}: {experiment}: measured already")
        if not due:
            return
        self.tell(f"{each.name}: loading")
        suites = {one: self._widened(one, each.name) for one in due}
        try:
            loaded = self._load(each, transfers=any(s.settings.transfers for s in suites.values()))
        except Exception as error:
            # A file may be broken, or a device full or gone. Other graphs may still succeed.
            release(self.device)
            self.tell(f"{each.name}: {first_line(error)}")
            for experiment in due:
                self.results.add(self._failed(experiment, each.name, first_line(error)))
            return
        for experiment in due:
            self.tell(f"{each.name}: {experiment}")
            self.results.add_benchmark(suites[experiment]._run(experiment, each, loaded))
        del loaded
        release(self.device)

    def _load(self, each: Input, *, transfers: bool) -> _Loaded:
        graph = each.load()
        resident = DeviceGraph.upload(graph, self.device)
        reference = establish(graph, resident, each.total_weight)
        self.results.add_graph(each.name, _facts(each, graph, reference))
        matrix = as_matrix(graph) if transfers else None
        return _Loaded(resident=resident, matrix=matrix, reference=reference)

    # ------------------------------------------------------------- experiments

    def _run(self, experiment: str, each: Input, loaded: _Loaded) -> list[Measurement]:
        reference, repetitions = loaded.reference, self.settings.repetitions
        make = self._maker(experiment, each.name, benchmark=new_identity())
        plan = self._plan(experiment)
        peers = [
            partial(
                ask_peer, peer, each.ecl_file, reference, make, repetitions,
                time_limit=self.settings.peer_seconds,
            )
            for peer in (() if experiment in _OF_ECL else self.settings.peers)
        ]  # fmt: skip
        contestants = [maker(loaded) for maker in plan.values() if maker is not None]
        return take_turns(
            self.device, contestants, reference, make, repetitions, peers=peers,
            keep=self.results.add,
        )  # fmt: skip

    def _plan(self, experiment: str) -> dict[tuple[str, Scope], _Maker | None]:
        """Return all contestants of an experiment: functions that make them, by name and scope.

        Peers, which are outside programs, have None in place of a function.
        """
        if experiment == "ablation":
            return {
                (title, "solve"): partial(_of_ecl, title, options)
                for title, options in EclOptions.ablation()
            }
        if experiment == "seeds":
            return {
                (name := f"{samples} samples, seed {seed}", "solve"): partial(
                    _of_ecl, name, EclOptions(samples=samples, seed=seed), samples=samples,
                    seed=seed,
                )
                for samples in (EclOptions().samples, PAPER_SAMPLES)
                for seed in range(self.settings.seeds)
            }  # fmt: skip
        plan: dict[tuple[str, Scope], _Maker | None] = {
            (f"clmst {name}", scope): partial(_by, name, scope)
            for name in self.settings.algorithms
            for scope in SCOPES
            if scope != "transfers" or self.settings.transfers
        }
        return plan | {(peer.name, "solve"): None for peer in self.settings.peers}

    # ----------------------------------------------------------------- results

    def _maker(self, experiment: str, graph: str, **more: Any) -> Callable[..., Measurement]:
        machine = self.machine
        return partial(Measurement, machine=machine, experiment=experiment, graph=graph, **more)

    def _keys(self, experiment: str, graph: str) -> list[Key]:
        machine = self.machine
        return [(machine, experiment, graph, *one) for one in self._plan(experiment)]

    def _failed(self, experiment: str, graph: str, remark: str) -> list[Measurement]:
        """Return a failed measurement for each contestant of an experiment on a graph.

        A contestant is an algorithm or program that the experiment times.

        `remark` says why the experiment has failed.
        """
        make = self._maker(experiment, graph, status="failed", remark=remark)
        return [
            make(contestant=name, scope=scope, ours=maker is not None)
            for (name, scope), maker in self._plan(experiment).items()
        ]


def _facts(each: Input, graph: Graph, reference: Reference) -> dict[str, Any]:
    """Return the facts about a graph that are stored with the results, as a value for JSON.

    `each` is the input from which the graph was loaded, and `reference` is the right forest.
    """
    weight = reference.total_weight
    return {
        **each.facts, "n_vertices": graph.n_vertices, "n_slots": graph.n_slots,
        "n_edges": graph.n_edges, "weights": str(graph.weights.dtype),
        "n_forest_edges": int(reference.slots.size),
        "total_weight": weight if abs(weight) < float("inf") else str(weight),
        "known_by": reference.how,
    }  # fmt: skip
