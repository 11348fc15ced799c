"""Other weights for a graph whose edges stay.

Host side of ``cl/algorithms/reweighting/repeated.cl``.

Edges are stored once, so a solve takes a word of weight for each. What follows from the edges alone
is on the device before, and so are all buffers from the second solve on.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clmst.algorithms.shared.solution import words_on_device
from clmst.core.csr import as_uint32
from clmst.core.partition import Part
from clmst.core.weight_keys import Array, Encoding, is_float
from clmst.runtime import forking
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, weight_defines
from clmst.runtime.handles import Buffer, Memory, Queue
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.transfer import Transfer

SOURCE = "algorithms/reweighting/repeated.cl"

# Of repeated.cl.
_NONE = 0xFFFFFFFF  # NO_FAULT, NO_SLOT
_FAULT_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceWeights:
    """Weights, by edge or by slot, where kernels get at them."""

    memory: Memory  # or a host array that the device works on in place
    encoding: Encoding
    is_checked: bool  # whether it is known that none of them is NaN
    stage: Buffer | None = None  # the memory, if :meth:`ReweightedGraph.bring` has chosen it
    is_lent: bool = False  # whether it is a host array of the caller's, to be given back

    @property
    def may_hold_nan(self) -> bool:
        """Whether the host has to read them."""
        return is_float(self.encoding.stored) and not self.is_checked


class UploadBuffers:
    """Buffers of one device that are used again and again, by any thread.

    A buffer in use has one user. If a round fails before it gives its buffer back, the buffer
    returns to the pool with its last reference.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: list[Buffer] = []
        self._in_use: set[int] = set()  # by what they are
        self._lock = threading.Lock()
        forking.replace_locks(self, "_lock")

    def take(self, n_bytes: int) -> Buffer:
        """Return a buffer that nothing is under way to or from.

        One that is new comes from the pool, where commands of the queue may still be under way to
        it.
        """
        with self._lock:
            while self._free:
                stage = self._free.pop()
                if stage.size >= n_bytes:
                    self._in_use.add(id(stage))
                    return stage
        with self._device.lock:
            self._device.queue.finish()
            stage = self._device.allocate(n_bytes)
        with self._lock:
            self._in_use.add(id(stage))
        return stage

    def put_back(self, stage: Buffer | None) -> None:
        """Return an idle buffer, once."""
        with self._lock:
            if stage is not None and id(stage) in self._in_use:
                self._in_use.remove(id(stage))
                self._free.append(stage)


class ReweightedGraph:
    """A part of a graph on a device that gets other weights round by round.

    It has a `number` among all parts. It is for one thread at a time, which has the device's lock;
    only `bring` may be called while another thread solves.
    """

    def __init__(self, part: Part, device: Device, number: int = 0) -> None:
        self.part, self.device, self.number = part, device, number
        self.edges = edges = part.graph
        self._plans: dict[Hashable, Any] = {}
        self._planned_for: tuple[int, str] | None = None
        self._stages = UploadBuffers(device)
        self._own: Buffer | None = None  # a buffer for weights by slot
        self.present: DeviceWeights | None = None  # the weights of the last round, by slot
        # Of changes: who claims each edge, the first number not used yet, the slot of each edge.
        self._claims: Memory | None = None
        self._next_claim = 1
        self._slots: Memory | None = None
        self._ids = None if edges.edge_ids is None else as_uint32(edges.edge_ids)
        uploaded = [edges.indptr, edges.indices, edges.rows]
        uploaded += [] if self._ids is None else [self._ids]
        self._indptr, self._indices, self._rows, *order = device.upload_all(*uploaded)
        self._order = order[0] if order else None
        self.slots = None if part.slots is None else device.upload(part.slots)
        self._faults = device.allocate(4 * _FAULT_WORDS)
        self.clear_faults(Launcher(device, device.queue))

    # ------------------------------------------------------------------- weights

    @property
    def span(self) -> tuple[int, int]:
        """The range of the whole graph's weights that it takes."""
        return self.part.first, self.part.last

    def bring(
        self, words: Array, encoding: Encoding, queue: Queue, *, is_checked: bool
    ) -> DeviceWeights:
        """Bring words by edge to the device.

        What a device works on in place is not copied; leave it as it is until the solve is done.
        Elsewhere the copy may still be under way, for which `queue` alone waits by itself; the
        array is the caller's again all the same.
        """
        if self.device.capabilities.host_arrays != "copied" or not words.nbytes:
            memory = self.device.upload(words)
            return DeviceWeights(
                memory=memory, encoding=encoding, is_checked=is_checked, is_lent=True
            )
        stage = self._stages.take(words.nbytes)
        self.device.staging.send(queue, [Transfer(buffer=stage, array=words)])
        return DeviceWeights(memory=stage, encoding=encoding, is_checked=is_checked, stage=stage)

    def take(self, given: DeviceWeights, launch: Launcher) -> DeviceGraph:
        """Enqueue what makes weights by edge those of the next round; return its graph. O(m)."""
        self.forget()
        if not self._faults_are_clear:
            self.clear_faults(launch)
        n, program = self.edges.n_slots, self._program(given.encoding)
        by_slot = given
        if self._order is not None or given.is_lent:
            own = self._own_buffer(given.encoding)
            by_slot = replace(given, memory=own, stage=None, is_lent=False)
        if self._order is not None:
            launch.for_each(
                program, "repeated_order_weights", n, given.memory, self._order, own,
                self._faults, n,
            )  # fmt: skip
        elif given.is_lent:
            launch.for_each(program, "repeated_copy_weights", n, given.memory, own, self._faults, n)
        elif given.may_hold_nan:
            launch.for_each(program, "repeated_check_weights", n, given.memory, self._faults, n)
        self.present = by_slot
        return self.graph(launch)

    def graph(self, launch: Launcher) -> DeviceGraph:
        """Return the graph with its present weights."""
        assert self.present is not None
        memory, encoding = self.present.memory, self.present.encoding
        words = (encoding.word.itemsize, encoding.kind)
        if words != self._planned_for:
            self._plans.clear()
            self._planned_for = words
        return DeviceGraph.unchecked(
            graph=self.edges,
            device=self.device,
            indptr=self._indptr,
            indices=self._indices,
            weights=memory,
            encoded=words_on_device(memory, encoding, self.edges.n_slots, launch),
            rows=self._rows,
            plans=self._plans,
        )

    def put_back(self, given: DeviceWeights) -> None:
        """Take back the stage of weights, which nothing is under way to or from, if it has one.

        Not yet if they are the present weights; and only once.
        """
        if self.present is None or given.stage is not self.present.stage:
            self._stages.put_back(given.stage)

    def drop_plans(self) -> None:
        """Make plans anew in the next round: the state of one that failed is unknown.

        The same holds for claims of edges, and for what was found wrong with weights.
        """
        self._plans.clear()
        self._claims, self._faults_are_clear = None, False

    def forget(self) -> None:
        """Forget the present weights."""
        before, self.present = self.present, None
        if before is not None:
            self.put_back(before)

    # ------------------------------------------------------------------- changes

    def change(self, edges: DeviceArray, words: DeviceArray, launch: Launcher) -> DeviceGraph:
        """Enqueue the change of some of the present weights, the last entry of an edge winning.

        The words are like the present ones, one for each of the edges, which are uint32. Nothing is
        changed if there is a fault.
        """
        assert self.present is not None
        if not self._faults_are_clear:
            self.clear_faults(launch)
        n_edges, program = self.edges.n_input, self._program(self.present.encoding)
        count = edges.size
        weights = self._own_weights(program, launch)
        base = self._claim(count, launch)
        slots = self._slots_of_edges()
        launch.for_each(
            program, "repeated_claim_edges", count, edges, words, self._claims,
            self._faults, base, count, n_edges,
        )  # fmt: skip
        launch.for_each(
            program, "repeated_change_weights", count, edges, words, self._claims,
            self._faults, self._claims if slots is None else slots, weights, base, count,
            int(slots is not None),
        )  # fmt: skip
        return self.graph(launch)

    def change_among(self, ids: Array, words: Array, launch: Launcher) -> DeviceGraph:
        """Enqueue the change of its weights among some of the whole graph's, which are right."""
        first, last = self.span
        mine = (ids >= first) & (ids < last)
        edges = DeviceArray.from_host((ids[mine] - first).astype(np.uint32), self.device)
        return self.change(edges, DeviceArray.from_host(words[mine], self.device), launch)

    def first_nan(self, launch: Launcher) -> int | None:
        """Return the first weight of the whole graph that was found to be NaN; waits."""
        if self.present is None or not self.present.may_hold_nan:
            return None
        nan, _ = self.read_faults(launch)
        return None if nan is None else nan + self.part.first

    def read_faults(self, launch: Launcher) -> tuple[int | None, int | None]:
        """Return the index of a NaN and of an unknown edge found since the last time; waits."""
        words = launch.read_words(self._faults, _FAULT_WORDS)
        nan, unknown = (None if word == _NONE else word for word in words)
        if nan is not None or unknown is not None:
            self.clear_faults(launch)
        return nan, unknown

    def clear_faults(self, launch: Launcher) -> None:
        """Enqueue the reset of faults."""
        self._faults_are_clear = False
        launch.fill(self._faults, _NONE, _FAULT_WORDS)
        self._faults_are_clear = True

    def widen(self, launch: Launcher) -> Encoding:
        """Widen the present words to the weights themselves; return their encoding. O(m), waits.

        Nothing is done where they are that already.
        """
        assert self.present is not None
        given, narrow = self.present, self.present.encoding
        wide = Encoding(dtype=narrow.dtype, stored=narrow.dtype)
        if narrow != wide:
            weights = narrow.decode(self.graph(launch).encoded.words())
            self.forget()
            own = self._own_buffer(wide)
            if weights.size:
                launch.write(own, weights.view(wide.word))
            self.present = replace(given, memory=own, encoding=wide, stage=None)
        return wide

    def _own_weights(self, program: Program, launch: Launcher) -> Memory:
        """Return the buffer of the present weights, a copy if it is the caller's."""
        assert self.present is not None
        given = self.present
        if given.stage is None and given.memory is not self._own:
            own, n = self._own_buffer(given.encoding), self.edges.n_slots
            launch.for_each(program, "repeated_copy_weights", n, given.memory, own, self._faults, n)
            self.present = replace(given, memory=own)
        return self.present.memory

    def _claim(self, count: int, launch: Launcher) -> int:
        """Return the first of `count` numbers that no change has claimed edges with."""
        n_edges = self.edges.n_input
        if self._claims is None or self._next_claim + count > _NONE:
            claims = self._claims
            if claims is None:
                claims = self.device.allocate(4 * n_edges)
            self._claims = None  # until they are cleared
            launch.fill(claims, 0, n_edges)
            self._claims, self._next_claim = claims, 1
        first = self._next_claim
        self._next_claim += count
        return first

    def _slots_of_edges(self) -> Memory | None:
        """Return a buffer with the slot of each edge, or None where edges are slots."""
        if self._ids is not None and self._slots is None:
            self._slots_on_host = np.full(self.edges.n_input, _NONE, np.uint32)
            self._slots_on_host[self._ids] = np.arange(self._ids.size, dtype=np.uint32)
            self._slots = self.device.upload(self._slots_on_host)
        return self._slots

    # ------------------------------------------------------------------- buffers

    def _program(self, encoding: Encoding) -> Program:
        defines = weight_defines(8 * encoding.word.itemsize, encoding.kind, maximum=False)
        return self.device.program(SOURCE, **defines)

    def _own_buffer(self, encoding: Encoding) -> Buffer:
        n_bytes = self.edges.n_slots * encoding.word.itemsize
        if self._own is None or self._own.size < n_bytes:
            self._own = self.device.allocate(n_bytes)
        return self._own
