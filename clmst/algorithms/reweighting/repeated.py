"""Give a graph on a device new weights, round by round, while its edges stay.

A round is one solve with new weights. Each edge is stored once, so a solve needs one weight for
each edge. All data that depend only on the edges are uploaded beforehand. From the second solve on,
all buffers are already allocated. The kernels are in ``cl/algorithms/reweighting/repeated.cl``.
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

# Constants of the kernels (macros of cl/algorithms/reweighting/repeated.cl): the value for
# "nothing", and the number of words in which they report faults.
_NONE = 0xFFFFFFFF  # NO_FAULT, NO_SLOT
_FAULT_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceWeights:
    """Weights that kernels can use, in the order of edge ids or of CSR entries."""

    memory: Memory  # may be a host array that the device uses in place
    encoding: Encoding  # how the weights are stored as words
    is_checked: bool  # whether it is known that no weight is NaN
    stage: Buffer | None = None  # `memory`, if :meth:`ReweightedGraph.bring` took it from its pool
    is_lent: bool = False  # whether `memory` is the caller's array, which may change later

    @property
    def may_hold_nan(self) -> bool:
        """Whether the device still has to check the weights for NaN."""
        return is_float(self.encoding.stored) and not self.is_checked


class UploadBuffers:
    """A pool of upload buffers of one device, which several threads may use.

    A buffer is lent to one user at a time. If a solve fails before it puts its buffer back, the
    buffer returns to the device's memory pool when the last reference to it is gone.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: list[Buffer] = []
        self._in_use: set[int] = set()  # ids of the buffers that are in use
        self._lock = threading.Lock()
        forking.replace_locks(self, "_lock")

    def take(self, n_bytes: int) -> Buffer:
        """Return a buffer of at least `n_bytes` that no command is using.

        If the pool has none, a new buffer is allocated. The allocation waits for the device, since
        commands in its queue may still be using the memory that the new buffer gets.
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
        """Put the buffer `stage` back into the pool. No command may be using it.

        None is ignored, and a second call for the same buffer does nothing.
        """
        with self._lock:
            if stage is not None and id(stage) in self._in_use:
                self._in_use.remove(id(stage))
                self._free.append(stage)


class ReweightedGraph:
    """A graph, or a part of a graph, on a device, which gets new weights for each solve.

    If several devices share the graph, each has a part of its edges, and `number` is the number of
    the part. One thread at a time may use the object, and must hold the lock of the device. Only
    `bring` may be called while another thread uses the object.
    """

    def __init__(self, part: Part, device: Device, number: int = 0) -> None:
        self.part, self.device, self.number = part, device, number
        self.edges = edges = part.graph
        self._plans: dict[Hashable, Any] = {}
        self._planned_for: tuple[int, str] | None = None
        self._stages = UploadBuffers(device)
        self._own: Buffer | None = None  # a buffer of this object for weights by CSR entry
        self.present: DeviceWeights | None = None  # the current weights, by CSR entry
        # The following fields are for changes of some of the weights. A change is a list of
        # entries, each an edge and its new weight. Entries are numbered through all changes,
        # because the last one counts if several name the same edge. `_claims` has, for each edge,
        # the greatest number of an entry that names it. `_next_claim` is the first unused number.
        # `_slots` has the position of each edge in the CSR.
        self._claims: Memory | None = None
        self._next_claim = 1
        self._slots: Memory | None = None
        self._ids = None if edges.edge_ids is None else as_uint32(edges.edge_ids)
        uploaded = [edges.indptr, edges.indices, edges.rows]
        uploaded += [] if self._ids is None else [self._ids]
        self._indptr, self.indices, self.rows, *order = device.upload_all(*uploaded)
        # The edge id of each CSR entry. None if the position of an entry is its edge id.
        self.order = order[0] if order else None
        self.slots = None if part.slots is None else device.upload(part.slots)
        self._faults = device.allocate(4 * _FAULT_WORDS)
        self.clear_faults(Launcher(device, device.queue))

    # ------------------------------------------------------------------- weights

    @property
    def span(self) -> tuple[int, int]:
        """The range of edge ids, as (first, end), whose weights this part needs."""
        return self.part.first, self.part.last

    def bring(
        self, words: Array, encoding: Encoding, queue: Queue, *, is_checked: bool
    ) -> DeviceWeights:
        """Copy weights in the order of edge ids to the device, without waiting.

        `words` are the weights as words in this `encoding`, and `is_checked` says that none is NaN.
        Returns the weights on the device. If the device works in the host's memory, nothing is
        copied, and the caller must leave the array unchanged until the solve is done. Otherwise the
        caller may change the array at once. The copy may still be under way on return, and only
        commands in `queue` wait for it.
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
        """Give the graph new weights, in the order of edge ids, and return the graph to be solved.

        `given` are the weights on the device. Kernels are enqueued for what is still to be done.
        Weights that are not in the order of CSR entries are sorted. Weights in the caller's array
        are copied. Weights that were not checked are checked for NaN. O(m) for m edges.
        """
        self.forget()
        if not self._faults_are_clear:
            self.clear_faults(launch)
        n, program = self.edges.n_slots, self._program(given.encoding)
        by_slot = given
        if self.order is not None or given.is_lent:
            own = self.own_buffer(given.encoding)
            by_slot = replace(given, memory=own, stage=None, is_lent=False)
        if self.order is not None:
            launch.for_each(
                program, "repeated_order_weights", n, given.memory, self.order, own,
                self._faults, n,
            )  # fmt: skip
        elif given.is_lent:
            launch.for_each(program, "repeated_copy_weights", n, given.memory, own, self._faults, n)
        elif given.may_hold_nan:
            launch.for_each(program, "repeated_check_weights", n, given.memory, self._faults, n)
        self.present = by_slot
        return self.graph(launch)

    def graph(self, launch: Launcher) -> DeviceGraph:
        """Return the graph with the current weights.

        Buffers that earlier solves have left are dropped if the width or the kind of the weights
        has changed.
        """
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
            indices=self.indices,
            weights=memory,
            encoded=words_on_device(memory, encoding, self.edges.n_slots, launch),
            rows=self.rows,
            plans=self._plans,
        )

    def put_back(self, given: DeviceWeights) -> None:
        """Put the buffer of the weights `given` back into the pool of upload buffers.

        If they are the current weights, they keep their buffer. No command may be using the buffer.
        A second call does nothing.
        """
        if self.present is None or given.stage is not self.present.stage:
            self._stages.put_back(given.stage)

    def drop_plans(self) -> None:
        """Discard all data on the device that a failed solve may have left half written.

        These are the buffers that solves share, the numbers with which a change of weights marks
        the edges that it changes, and the faults that kernels have found in weights. The next solve
        makes them again.
        """
        self._plans.clear()
        self._claims, self._faults_are_clear = None, False

    def forget(self) -> None:
        """Forget the current weights, and put the buffer that has them back into the pool."""
        before, self.present = self.present, None
        if before is not None:
            self.put_back(before)

    # ------------------------------------------------------------------- changes

    def change(self, edges: DeviceArray, words: DeviceArray, launch: Launcher) -> DeviceGraph:
        """Enqueue the change of some of the current weights, and return the graph.

        Parameters
        ----------
        edges : DeviceArray of uint32
            The edges that change. If an edge occurs more than once, its last entry counts.
        words : DeviceArray
            The new weight of each of these edges, as a word in the encoding of the current weights.
        launch : Launcher

        Notes
        -----
        If an edge does not exist or a weight is NaN, nothing is changed, and :meth:`read_faults`
        reports it.
        """
        assert self.present is not None
        if not self._faults_are_clear:
            self.clear_faults(launch)
        n_edges, program = self.edges.n_input, self._program(self.present.encoding)
        count = edges.size
        weights = self.own_weights(launch)
        base = self._claim(count, launch)
        slots = self.slots_of_edges()
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
        """Enqueue the changes of weights in this part, given valid changes of the whole graph.

        Edge ``ids[i]`` gets the weight that the word ``words[i]`` stands for. Edges outside this
        part are ignored. Returns the changed part.
        """
        first, last = self.span
        mine = (ids >= first) & (ids < last)
        edges = DeviceArray.from_host((ids[mine] - first).astype(np.uint32), self.device)
        return self.change(edges, DeviceArray.from_host(words[mine], self.device), launch)

    def first_nan(self, launch: Launcher) -> int | None:
        """Return the id, in the whole graph, of the first edge whose weight is NaN, or None.

        The call waits for the device, unless the weights cannot be NaN.
        """
        if self.present is None or not self.present.may_hold_nan:
            return None
        nan, _ = self.read_faults(launch)
        return None if nan is None else nan + self.part.first

    def read_faults(self, launch: Launcher) -> tuple[int | None, int | None]:
        """Return the faults that kernels have found in weights and changes since the last call.

        The first result is the index of a weight that is NaN. The second is the index of a change
        whose edge does not exist. Each is None without a fault of that kind. The call waits for the
        device.
        """
        words = launch.read_words(self._faults, _FAULT_WORDS)
        nan, unknown = (None if word == _NONE else word for word in words)
        if nan is not None or unknown is not None:
            self.clear_faults(launch)
        return nan, unknown

    def clear_faults(self, launch: Launcher) -> None:
        """Enqueue the reset of the words in which kernels report faults."""
        self._faults_are_clear = False
        launch.fill(self._faults, _NONE, _FAULT_WORDS)
        self._faults_are_clear = True

    def widen(self, launch: Launcher) -> Encoding:
        """Convert the current weights back to the full width, and return the new encoding.

        Weights of 64 bits are stored in 32 bits if that is exact, but changed weights may not fit.
        The call waits for the device. O(m) for m edges. If the weights have their full width
        already, nothing is done.
        """
        assert self.present is not None
        given, narrow = self.present, self.present.encoding
        wide = Encoding(dtype=narrow.dtype, stored=narrow.dtype)
        if narrow != wide:
            weights = narrow.decode(self.graph(launch).encoded.words())
            self.forget()
            own = self.own_buffer(wide)
            if weights.size:
                launch.write(own, weights.view(wide.word))
            self.present = replace(given, memory=own, encoding=wide, stage=None)
        return wide

    @property
    def owns_weights(self) -> bool:
        """Whether the current weights are in this object's own buffer, not in the caller's."""
        return self.present is not None and self.present.memory is self._own

    def own_weights(self, launch: Launcher) -> Memory:
        """Return a buffer with the current weights that kernels may change.

        If the current buffer belongs to the caller, a copy of it is enqueued.
        """
        assert self.present is not None
        given = self.present
        if given.stage is None and given.memory is not self._own:
            own, n = self.own_buffer(given.encoding), self.edges.n_slots
            program = self._program(given.encoding)
            launch.for_each(program, "repeated_copy_weights", n, given.memory, own, self._faults, n)
            self.present = replace(given, memory=own)
        return self.present.memory

    def _claim(self, count: int, launch: Launcher) -> int:
        """Reserve `count` consecutive numbers for the entries of a change, and return the first.

        A change of weights is a list of edges and new weights, and may name an edge several times.
        Each entry of the list has a number and marks its edge with it, so that the last entry of
        the edge can be found. Numbers are not used again before all marks are cleared.
        """
        n_edges = self.edges.n_input
        if self._claims is None or self._next_claim + count > _NONE:
            claims = self._claims
            if claims is None:
                claims = self.device.allocate(4 * n_edges)
            self._claims = None  # until the marks are cleared
            launch.fill(claims, 0, n_edges)
            self._claims, self._next_claim = claims, 1
        first = self._next_claim
        self._next_claim += count
        return first

    def slots_of_edges(self) -> Memory | None:
        """Return a buffer with the CSR entry of each edge, by edge id.

        Returns None if the position of an entry in the CSR is its edge id.
        """
        if self._ids is not None and self._slots is None:
            self._slots_on_host = np.full(self.edges.n_input, _NONE, np.uint32)
            self._slots_on_host[self._ids] = np.arange(self._ids.size, dtype=np.uint32)
            self._slots = self.device.upload(self._slots_on_host)
        return self._slots

    # ------------------------------------------------------------------- buffers

    def _program(self, encoding: Encoding) -> Program:
        defines = weight_defines(8 * encoding.word.itemsize, encoding.kind, maximum=False)
        return self.device.program(SOURCE, **defines)

    def own_buffer(self, encoding: Encoding) -> Buffer:
        """Return this object's own buffer for weights in the order of CSR entries.

        It is large enough for weights in the given encoding.
        """
        n_bytes = self.edges.n_slots * encoding.word.itemsize
        if self._own is None or self._own.size < n_bytes:
            self._own = self.device.allocate(n_bytes)
        return self._own
