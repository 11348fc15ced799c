"""The union of the forests of a graph's parts; host side of ``cl/algorithms/reweighting/union.cl``.

An edge that is in no forest of a part is the heaviest of a cycle there, and so of one in the whole
graph. Hence the forest of the whole graph is that of the union of the parts' forests, whatever the
parts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clmst.algorithms.reweighting.repeated import words_on_device
from clmst.algorithms.shared.device_forest import DeviceForest, ForestWeights
from clmst.algorithms.shared.read_back import gather_words
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, EncodedWeights, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Buffer, Queue
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.transfer import Transfer

SOURCE = "algorithms/reweighting/union.cl"


def _unavailable(_: Array | None) -> Array:
    """Raise: the weights are on several devices, none of which has all."""
    raise InvalidArgumentError(
        "the weights of the graph's edges are on several devices; only those of the forest's "
        "edges can be asked for"
    )


class Lists:
    """Memory for the forests of parts on a device: slots in the whole graph, and words of weight.

    Parameters
    ----------
    capacities : sequence of int
        The most edges that the forest of each part can have.
    device : Device
    """

    def __init__(self, capacities: Sequence[int], device: Device) -> None:
        self.device, self.capacities = device, tuple(capacities)
        ends = np.cumsum([0, *capacities]).tolist()
        self.begins: list[int] = ends[:-1]
        self.capacity: int = ends[-1]
        self.slots = device.allocate(4 * self.capacity)
        self.words: Buffer = device.allocate(4 * self.capacity)

    def widen(self, word: np.dtype[Any]) -> None:
        """Take words of another width; the present words are lost if these are wider."""
        if self.words.size < word.itemsize * self.capacity:
            self.words = self.device.allocate(word.itemsize * self.capacity)

    def list_forest(
        self,
        number: int,
        chosen: DeviceArray,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        k: int,
        numbers: Any,
        first: int,
    ) -> None:
        """Enqueue the listing of the forest of a part that is on this device.

        Parameters
        ----------
        number : int
            Of the list.
        chosen : DeviceArray of uint32
            The forest's slots in the part, rising.
        graph : DeviceGraph
            The part.
        launch : Launcher
        k : int
            How many they are.
        numbers : device buffer of uint32, or None
            The whole graph's slot of each slot of the part; None: they are consecutive.
        first : int
            The first of them, where they are.
        """
        word = graph.encoded.encoding.word
        launch.for_each(
            program(self.device, word), "union_list_forest", k, chosen, graph.weights,
            chosen if numbers is None else numbers, self.slots, self.words,
            int(numbers is not None), first, self.begins[number], k,
        )  # fmt: skip

    def read(self, number: int, slots: Array, words: Array, launch: Launcher) -> None:
        """Copy a list into host arrays of its length, and wait."""
        if slots.size:
            begin = self.begins[number]
            launch.read_all(
                Transfer(buffer=self.slots, array=slots, offset=4 * begin),
                Transfer(buffer=self.words, array=words, offset=words.itemsize * begin),
            )

    def receive(self, number: int, slots: Array, words: Array, queue: Queue) -> None:
        """Take a list from the host, by a queue that the calling thread alone has, and wait."""
        if slots.size:
            begin = self.begins[number]
            transfers = [
                Transfer(buffer=self.slots, array=slots, offset=4 * begin),
                Transfer(buffer=self.words, array=words, offset=words.itemsize * begin),
            ]
            self.device.staging.send(queue, transfers)
            queue.finish()


class Union:
    """The union of the forests of parts, round by round, on the device of the last pass.

    For one thread at a time, which has the device's lock; `lists` may receive what is not this
    device's meanwhile.

    Parameters
    ----------
    edges : Graph
        The whole graph, as of :func:`clmst.core.topology.edges_once`.
    capacities : sequence of int
        As of :class:`Lists`.
    device : Device
    """

    def __init__(self, edges: Graph, capacities: Sequence[int], device: Device) -> None:
        self.edges, self.device = edges, device
        self.lists = Lists(capacities, device)
        self._indptr, self._indices = device.upload_all(edges.indptr, edges.indices)
        self._lengths = np.zeros((len(capacities), 2), np.uint32)
        self._bounds = device.allocate(max(self._lengths.nbytes, 4))
        capacity = self.lists.capacity
        self._targets = device.allocate(4 * max(capacities, default=0))
        self._slots, self._columns = device.allocate(4 * capacity), device.allocate(4 * capacity)
        self._starts = device.allocate(4 * (edges.n_vertices + 1))
        self._words: Buffer = device.allocate(4 * capacity)

    def merge(self, lengths: Sequence[int], encoding: Encoding, launch: Launcher) -> DeviceGraph:
        """Enqueue the merge of all lists; return the graph of their edges.

        It is another graph in every round, so it keeps nothing for the next; its arrays serve the
        next one as well, though.
        """
        lists, word, n = self.lists, encoding.word, self.edges.n_vertices
        if self._words.size < word.itemsize * lists.capacity:
            self._words = self.device.allocate(word.itemsize * lists.capacity)
        bounds = np.column_stack((lists.begins, lengths)).astype(np.uint32)
        if lists.capacity and not np.array_equal(bounds, self._lengths):
            launch.write(self._bounds, np.ascontiguousarray(bounds))
            self._lengths = bounds
        kernels, k = program(self.device, word), sum(lengths)
        for number, length in enumerate(lengths):
            launch.for_each(
                kernels, "union_merge_list", length, lists.slots, lists.words,
                self._bounds, self._indices, self._targets, self._slots, self._words,
                self._columns, number, len(lengths),
            )  # fmt: skip
        launch.for_each(
            kernels, "union_find_rows", n + 1, self._indptr, self._slots, self._starts, n,
            k,
        )  # fmt: skip
        return DeviceGraph.unchecked(
            graph=_shape(n, k),
            device=self.device,
            indptr=self._starts,
            indices=self._columns,
            weights=self._words,
            encoded=words_on_device(self._words, encoding, k, launch),
        )

    def forest(self, found: DeviceForest, launch: Launcher) -> DeviceForest:
        """Return the forest of the union as one of the whole graph, with weights of its own."""
        assert isinstance(found.graph, DeviceGraph)
        assert found.slots is not None
        encoding, k = found.graph.encoded.encoding, found.n_edges
        slots = gather_words(self._slots, np.dtype(np.uint32), found.slots, k, launch)
        words = gather_words(self._words, encoding.word, found.slots, k, launch)
        launch.queue.finish()
        whole = DeviceGraph.unchecked(
            graph=self.edges,
            device=self.device,
            indptr=self._indptr,
            indices=self._indices,
            weights=None,
            encoded=EncodedWeights(encoding=encoding, source=_unavailable),
        )
        return DeviceForest(
            graph=whole,
            n_edges=k,
            slots=slots.memory,
            edges=found.edges,
            maximum=found.maximum,
            stats=found.stats,
            weights=ForestWeights(words=words, encoding=encoding),
        )


def program(device: Device, word: np.dtype[Any]) -> Program:
    """Return the kernels for words of a width, whatever they mean."""
    return device.program(SOURCE, WEIGHT_BITS=8 * word.itemsize)


def _shape(n_vertices: int, n_edges: int) -> Graph:
    """Return a graph of so many edges, each stored once, of which the host knows nothing else."""
    nothing = np.broadcast_to(np.uint32(0), max(n_vertices + 1, n_edges))
    return Graph.unchecked(
        indptr=nothing[: n_vertices + 1],
        indices=nothing[:n_edges],
        weights=np.broadcast_to(np.uint8(0), n_edges),
        is_symmetric=False,
        edge_ids=None,
        n_input=n_edges,
    )
