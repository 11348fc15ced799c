"""Times one shape of kernels against another on a device, and checks the forests.

All shapes work in one context, so a graph is on the device once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import exp, log
from statistics import fmean

import numpy as np

from clmst import api
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.bench.harness import Contestant, Harness, WrongResultError
from clmst.core.errors import ClmstError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import refusal
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy

# The ratio of times from which on a candidate is not timed after the first repetition.
_HOPELESS = 1.5


class RefusedError(ClmstError):
    """The device does not run kernels of that shape; the message is in one line."""


class PolicyBenchmark:
    """A device, graphs that are on it, and the forests that these have.

    Every forest is checked, and who goes first alternates (`harness`). `algorithms` are what solves
    the graphs, in their order, each once; they are known once :meth:`establish` has returned.
    """

    def __init__(
        self,
        device: Device,
        graphs: Mapping[str, Graph],
        *,
        algorithm: str = "auto",
        repetitions: int = 7,
    ) -> None:
        self.algorithm = algorithm
        self.algorithms: tuple[str, ...] = ()
        self.harness = Harness(repetitions=repetitions, verification="every", order="alternate")
        self._device = device
        self._graphs = dict(graphs)
        self._slots: dict[str, Array] = {}  # the forest of each graph
        self._open()

    def _open(self) -> None:
        """Put the graphs on the device, in a context of their own."""
        self._base = self._device.twin()  # every forest is checked here anyway
        self._shaped: dict[Policy, dict[str, DeviceGraph]] = {}  # what each shape solves
        self._resident: dict[str, DeviceGraph] = {}  # what was there goes before more comes
        for name, graph in self._graphs.items():
            self._resident[name] = DeviceGraph.upload(graph, self._base)

    def establish(self, policy: Policy) -> None:
        """Solve every graph with kernels of a shape, prove the forests, and hold on to them."""
        solved_by: dict[str, None] = {}
        for name in self._graphs:
            forest = self._solve(name, policy)
            solved_by[forest.stats["algorithm"]] = None
            # An algorithm that wants both directions of edges makes them of a graph that has one.
            # That is no work to be timed, so it is done once.
            resident = forest.graph
            assert isinstance(resident, DeviceGraph)
            self._graphs[name] = resident.graph
            self._resident[name] = replace(resident, device=self._base, plans={}, derived={})
            forest.to_host().verify(self._graphs[name]).raise_if_invalid()
            self._slots[name] = _slots_of(forest)
        self.algorithms = tuple(solved_by)
        self._shaped.clear()

    def compare(self, candidate: Policy, incumbent: Policy) -> float:
        """Time a candidate against the incumbent, turn by turn; return the ratio of their times.

        It is the geometric mean over the graphs of the ratio of medians.
        A time is that of a solve from the first launch until the queue has finished, the graph on
        the device before and the forest after. Raises `RefusedError`, and `WrongResultError` where
        kernels of that shape gave another forest.
        """
        try:
            return self._timed(candidate, incumbent)
        except WrongResultError:
            raise
        except Exception as error:
            reason = refusal(error)
            if reason is None:
                raise
            self._open()  # after an error a context may be good for nothing more
            raise RefusedError(reason) from error
        finally:
            if candidate != incumbent:
                self._shaped.pop(candidate, None)

    def _timed(self, candidate: Policy, incumbent: Policy) -> float:
        policies = {"candidate": candidate, "incumbent": incumbent}
        pairs = [
            [
                self.harness.admit(self._contestant(who, name, policy))
                for who, policy in policies.items()
            ]
            for name in self._graphs
        ]
        ratio = 1.0
        for turn in range(self.harness.repetitions):
            for ours, theirs in pairs:
                self.harness.take_turn([theirs, ours], turn)
            ratio = exp(fmean(log(ours.median / theirs.median) for ours, theirs in pairs))
            if turn == 0 and ratio > _HOPELESS:
                break
        return ratio

    def _contestant(self, who: str, name: str, policy: Policy) -> Contestant[DeviceForest]:
        """Return the contestant that solves a graph with a policy and must give its forest."""
        right = self._slots[name]

        def difference(forest: DeviceForest) -> str:
            slots = _slots_of(forest)
            if np.array_equal(slots, right):
                return ""
            return f"another forest of {name}: {np.setxor1d(slots, right).size} edges differ"

        return Contestant(name=who, call=partial(self._solve, name, policy), difference=difference)

    def _solve(self, name: str, policy: Policy) -> DeviceForest:
        if policy not in self._shaped:
            device = self._base.beside(policy)
            self._shaped[policy] = {
                name: replace(graph, device=device, plans={}, derived={})
                for name, graph in self._resident.items()
            }
        graph = self._shaped[policy][name]
        return api.minimum_spanning_forest(graph, algorithm=self.algorithm, keep_on_device=True)


def _slots_of(forest: DeviceForest) -> Array:
    slots = np.empty(forest.n_edges, np.uint32)
    if slots.size and forest.slots is not None:
        device = forest.graph.device
        Launcher(device, device.queue).read(forest.slots, slots)
    return slots
