"""Parts of a graph on devices, and the weights that come to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.core.errors import DeviceError
from clmst.core.graph import Graph
from clmst.core.partition import Part
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated.weights import StagedWeights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


class Piece:
    """A part of a graph on a device, with a number among all pieces."""

    def __init__(self, number: int, part: Part, device: Device) -> None:
        self.number, self.part, self.device = number, part, device
        self.rounds = ReweightedGraph(part.graph, device)
        self.slots = None if part.slots is None else device.upload(part.slots)

    @property
    def span(self) -> tuple[int, int]:
        """Which weights of the whole graph it takes."""
        return self.part.first, self.part.last

    def take(self, staged: StagedWeights, launch: Launcher) -> DeviceGraph:
        """Enqueue what makes staged weights those of the next round; return its graph."""
        return self.rounds.take(staged.parts[self.number], launch)

    def change(self, ids: Array, words: Array, launch: Launcher) -> DeviceGraph:
        """Enqueue the change of its weights among some of the whole graph; return its graph."""
        first, last = self.span
        mine = (ids >= first) & (ids < last)
        edges = DeviceArray.from_host((ids[mine] - first).astype(np.uint32), self.device)
        return self.rounds.change(edges, DeviceArray.from_host(words[mine], self.device), launch)

    def first_nan(self, launch: Launcher) -> int | None:
        """Return the first weight of the whole graph that was found to be NaN; waits."""
        given = self.rounds.present
        if given is None or not given.may_hold_nan:
            return None
        nan = self.rounds.read_faults(launch).nan
        return None if nan is None else nan + self.part.first


def bring(staged: StagedWeights, pieces: Sequence[Piece], queue: Queue) -> None:
    """Upload the weights of a device's pieces that are not there yet; equal ranges once."""
    found = {piece.span: staged.parts[piece.number] for piece in pieces
             if piece.number in staged.parts}  # fmt: skip
    for piece in pieces:
        if piece.span not in found:
            found[piece.span] = staged.upload(piece.span, piece.rounds, queue)
        staged.parts[piece.number] = found[piece.span]


class PieceExecutor:
    """The part of an executor that has weights: on one device, or on several.

    The edges are as of :func:`clmst.core.topology.edges_once`; the pieces of a device follow one
    another. `guard` makes the context manager that translates a device's errors.
    """

    edges: Graph
    pieces: Sequence[Piece]
    guard: Callable[..., AbstractContextManager[None]]

    @property
    def encoding(self) -> Encoding | None:
        """How the present weights are encoded; None if there are none."""
        found = [piece.rounds.present for piece in self.pieces]
        present = [given for given in found if given is not None]
        return present[0].encoding if present and len(present) == len(found) else None

    @property
    def devices(self) -> list[Device]:
        """The devices of the pieces, each once."""
        return list(dict.fromkeys(piece.device for piece in self.pieces))

    def release(self, staged: StagedWeights) -> None:
        """Free the memory of weights that are no longer needed."""
        parts, staged.parts = staged.parts, {}
        for piece in self.pieces:
            if piece.number in parts:
                piece.rounds.put_back(parts[piece.number])

    def forget(self) -> None:
        """Drop the present weights."""
        for piece in self.pieces:
            piece.rounds.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round from all devices; 0 for those on no device."""
        weights: Array | None = None
        for piece in self.pieces:
            device, part, rounds = piece.device, piece.part, piece.rounds
            with device.lock, self.guard(device):
                if rounds.present is None:
                    raise DeviceError("the weights may be half changed; they must be given again")
                words = rounds.graph(Launcher(device, device.queue)).encoded.words()
                if weights is None:
                    weights = np.zeros(self.edges.n_input, rounds.present.encoding.dtype)
                ids = part.graph.edge_ids
                indices = slice(*piece.span) if ids is None else ids + part.first
                weights[indices] = rounds.present.encoding.decode(words)
        assert weights is not None, "there is a piece at least"
        return weights
