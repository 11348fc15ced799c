"""Build the CSR of a graph on a device, with its edges in canonical order.

The caller's arrays are copied to the device unchanged. The device sorts the edges by their pairs of
ends. The CSR that it builds equals the one that the host would build (``core/canonical.py``). The
kernels are in ``cl/algorithms/canonical_csr/canonical_csr.cl``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.families import CANONICAL_CSR
from clmst.algorithms.shared.self_test_cases import APART, PACKED, RANKS
from clmst.algorithms.shared.solution import new_flags
from clmst.core.deferred_graph import EdgeList
from clmst.core.weight_keys import Array, Encoding
from clmst.primitives.monoid import Monoid
from clmst.primitives.permute import number, scatter
from clmst.primitives.radix import Key, sort_over
from clmst.primitives.scan import inclusive_scan
from clmst.primitives.selection import positions_of
from clmst.primitives.sort import argsort, bits_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, graph_on_device, weight_defines
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Memory
from clmst.runtime.kernel_family import Case, case_of
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/canonical_csr/canonical_csr.cl"

# The verdict is a few words of device memory to which the kernels of canonical_csr.cl write what
# they find out about a list of edges or a matrix. These are the indices of its words:
#   _FAULTY     1 if an end is not a vertex
#   _LOOPS      number of self-loops
#   _FALLS      1 if the edges are not sorted
#   _DROPPED    number of edges that lighter parallel edges replace
#   _LONG       1 if more edges are parallel than a work-item compares
#   _DISORDER   1 if the ids of some parallel edges do not ascend
_FAULTY, _LOOPS, _FALLS, _DROPPED, _LONG, _DISORDER = range(6)
_VERDICT_WORDS = 6
_SLOTS_OF_ONE, _SLOTS_OF_MANY = 4096, 32

_WORD, _LONG_WORD = np.dtype(np.uint32), np.dtype(np.uint64)
_RANKS = Encoding(dtype=_WORD, stored=_WORD)
_GREATEST = Monoid.maximum(np.uint32)


def put_edges(edges: EdgeList, device: Device, **attributes: Any) -> DeviceGraph | None:
    """Upload a list of edges to a device, and build the CSR of the graph there.

    Parameters
    ----------
    edges : EdgeList
        The edges of the graph, in host memory.
    device : Device
        The device whose memory the graph gets.
    **attributes
        The `vertex_labels` and `coordinates` of the graph.

    Returns
    -------
    DeviceGraph or None
        None if the host has to order the edges. The host orders them if there are few edges, if an
        end is not a vertex because the caller has changed the array, if very many edges are
        parallel, or if the device is not trusted.
    """
    encoding = Encoding(dtype=edges.weights.dtype, stored=edges.weights.dtype)
    case = _case(encoding, edges.n_vertices, edges.size)
    if not route.device_orders(edges.size) or not is_trusted(device, case):
        return None
    u, v = _ends_alike(edges)
    weights = np.ascontiguousarray(edges.weights)
    with device.lock, Guard(device):
        ends_u, ends_v, words = uploaded(device, u, v, weights)
        work = Arrangement(edges.n_vertices, words, encoding)
        work.pair_edges(ends_u, ends_v)
        return _kept(work.graph(lightest=edges.merge_parallel, **attributes))


def paired_slots(resident: DeviceGraph, *, by_entry: bool) -> Arrangement | None:
    """Begin to sort the edges of a valid matrix on a device into canonical order, without waiting.

    `resident` is the matrix. Pass the result to :func:`put_slots`. By default, edges of equal
    weight are ordered by their ends. With `by_entry`, they are ordered by the positions of their
    entries in the matrix, and each weight of the new graph is the rank of the entry in that order.
    Returns None if the host has to order the matrix, because the matrix is small, its weights are
    not supported, or the device has failed the self-test.
    """
    encoding, device, size = resident.encoded.encoding, resident.device, resident.n_slots
    stored = encoding.stored
    if not route.device_orders(size):
        return None
    if by_entry:
        if stored == np.float16 or not is_trusted(device, case_of(stored, variant=RANKS)):
            return None
        encoding = _RANKS
    if not is_trusted(device, _case(encoding, resident.n_vertices, size)):
        return None
    weights = _array(device, resident.weights, stored, size)
    weights = ranks_of(weights) if by_entry else weights
    work = Arrangement(resident.n_vertices, weights, encoding)
    work.pair_slots(resident)
    return work


def put_slots(work: Arrangement) -> DeviceGraph | None:
    """Build the graph of a matrix that :func:`paired_slots` has begun to order, and wait for it.

    Each edge is stored once in the graph. If the two directions of an edge have different weights,
    the edge gets the lesser one. `work` may hold the only reference to the memory of the matrix,
    which is then freed before the graph is built. Returns None if the host has to build the graph,
    because a run of parallel edges is too long for the kernel.
    """
    return _kept(work.graph(lightest=True))


def _kept(graph: DeviceGraph | None) -> DeviceGraph | None:
    """Wait until no kernel reads the caller's own arrays any more, and return `graph`.

    On some devices kernels read arrays of the host in place. The caller may change the arrays after
    this call. If `graph` is None, the result is None.
    """
    if graph is not None and graph.device.capabilities.host_arrays != "copied":
        graph.device.queue.finish()
    return graph


def ranks_of(weights: DeviceArray) -> DeviceArray:
    """Compute the position of each weight in the order by (weight, index), without waiting.

    These positions, called ranks, are distinct even if weights are equal.
    """
    keys = weights.view(np.uint8) if weights.dtype.kind == "b" else weights
    launch = Launcher(weights.device, weights.device.queue)
    numbers, ranks = (DeviceArray.unchecked(keys.size, _WORD, keys.device) for _ in range(2))
    number(launch, numbers)
    return scatter(numbers, argsort(keys, launch=launch), ranks, launch=launch)


class Arrangement:
    """The edges of a graph on a device, while the device sorts them into canonical order.

    `n` is the number of vertices, and `encoding` says how the `weights` are stored. Each edge has a
    sort key, which consists of its two ends, and a position in the caller's order. If key and
    position fit into `word_bits` bits together, they are stored in one word. Otherwise the
    positions are in an array of their own.
    """

    def __init__(
        self, n: int, weights: DeviceArray, encoding: Encoding, *, word_bits: int = 64
    ) -> None:
        device = weights.device
        self._n, self._m, self._weights, self._encoding = n, weights.size, weights, encoding
        self._launch, self._bits = Launcher(device, device.queue), bits_of(n)
        bits = 8 * encoding.word.itemsize
        defines = weight_defines(bits, encoding.kind, maximum=False)
        self._program = device.program(SOURCE, **defines)
        self._words = DeviceArray.unchecked(self._m, _LONG_WORD, device)
        self._number_bits = _number_bits(n, self._m, word_bits)
        self._numbers = None
        if not self._number_bits:
            self._numbers = DeviceArray.unchecked(self._m, _WORD, device)
        self._verdict = DeviceArray.unchecked(_VERDICT_WORDS, _WORD, device)
        self._launch.fill(self._verdict.memory, 0, _VERDICT_WORDS)
        self._is_list = self._is_sorted = False
        self._found = [0] * _VERDICT_WORDS
        self._matrix: DeviceGraph | None = None  # kept alive while kernels read it

    def pair_edges(self, u: DeviceArray, v: DeviceArray, order: DeviceArray | None = None) -> None:
        """Enqueue the computation of sort keys for the edges (u[i], v[i]).

        The ends are integers of 32 or 64 bits. `order` lists the edges, as uint32, in the order
        that parallel edges are to have. None means the order in which they are given. The array
        `order` is overwritten later.
        """
        if order is not None:
            self._numbers, self._number_bits = order, 0
        self._launch.for_each(
            self._program, "canonical_csr_pair_edges", self._m, u, v, self._words, self._numbers,
            self._verdict, self._n, self._m, self._bits, self._number_bits,
            int(u.dtype.itemsize == 8), int(order is not None),
        )  # fmt: skip
        self._is_list = True  # only a list can have faults, or be in order already

    def pair_slots(self, matrix: DeviceGraph) -> None:
        """Enqueue the computation of sort keys for the entries of a matrix, which is a CSR."""
        size = self._program.work_group_size
        slots = _SLOTS_OF_ONE if size == 1 else _SLOTS_OF_MANY * size
        groups = self._launch.groups_for(-(-self._m // slots))
        self._launch.enqueue(
            self._program, "canonical_csr_pair_slots", groups, matrix.indptr, matrix.indices,
            self._words, self._numbers, self._verdict, self._n, self._m, self._bits,
            self._number_bits,
        )  # fmt: skip
        self._matrix = matrix

    def sort(self) -> bool:
        """Sort the edges stably by their pairs of ends. Returns False if an end is not a vertex.

        A list of edges that is in order already is not sorted again. To find this out for a list,
        the call waits for the device. For a matrix it does not wait.
        """
        self._is_sorted = True
        if self._is_list:
            self._found = self._read()
            if self._found[_FAULTY] or not self._found[_FALLS]:
                return not self._found[_FAULTY]
        key = Key(start_bit=self._number_bits, bits=2 * self._bits)
        self._words, self._numbers = sort_over(key, self._words, self._numbers, self._launch)
        return True

    def is_in_order_of(self, ids: DeviceArray) -> bool:
        """Return whether parallel edges, which :meth:`sort` has made neighbours, have rising ids.

        The call waits for the device.

        Parameters
        ----------
        ids : DeviceArray of uint64, shape (m,)
            The id of the edge at each position.
        """
        self._launch.for_each(
            self._program, "canonical_csr_find_disorder", self._m, self._words, self._numbers,
            ids, self._verdict, self._m, self._number_bits,
        )  # fmt: skip
        return not self._read()[_DISORDER]

    def graph(self, *, lightest: bool, **attributes: Any) -> DeviceGraph | None:
        """Make the graph of the edges, which are sorted first unless that has been done.

        With `lightest`, only the lightest of parallel edges is kept, and the call waits for the
        device. `attributes` are further attributes of the graph. Returns None if an end is not a
        vertex, or if a run of parallel edges is too long to be compared on the device.
        """
        launch, m = self._launch, self._m
        if not self._is_sorted and not self.sort():
            return None
        stays, weights = None, self._gather(m)
        self._weights = weights
        if lightest:
            stays = new_flags(m, launch.device)
            launch.for_each(
                self._program, "canonical_csr_mark_lightest", m, self._words, weights, stays,
                self._verdict, m, self._bits, self._number_bits,
            )  # fmt: skip
            self._found, self._matrix = self._read(), None
            if self._found[_LONG]:
                return None
        assert lightest or self._is_list, "slots of a matrix have to be merged"
        m -= self._found[_LOOPS] + self._found[_DROPPED]
        places = None
        if stays is not None and self._found[_DROPPED]:
            places, _ = positions_of(stays, at_most=m, launch=launch)
        return self._listed(m, places, attributes)

    def _gather(self, m: int, places: DeviceArray | None = None) -> DeviceArray:
        """Enqueue a copy of `m` weights in the order of the sorted edges, and return the new array.

        With `places`, the result has the weights of the edges at these positions of the sorted
        edges. None means the first `m` edges. The new array has memory for all edges, because then
        the pool of buffers can reuse the memory of the sort keys for it.
        """
        gathered = DeviceArray.unchecked(self._m, self._weights.dtype, self._launch.device)
        words = self._words if places is None else None
        self._launch.for_each(
            self._program, "canonical_csr_gather", m, words, self._numbers, places, self._weights,
            gathered, m, self._number_bits,
        )  # fmt: skip
        return gathered[:m]

    def _listed(
        self, m: int, places: DeviceArray | None, attributes: dict[str, Any]
    ) -> DeviceGraph:
        """Enqueue the kernels that build the CSR of `m` sorted edges, and return the graph.

        With `places`, the graph has the edges at these positions of the sorted edges. None means
        the first `m` edges. `attributes` are further attributes of the graph.
        """
        launch, device, n = self._launch, self._launch.device, self._n
        indices = DeviceArray.unchecked(m, _WORD, device)
        indptr = DeviceArray.unchecked(n + 1, _WORD, device)
        numbers = self._numbers if places is None else None  # if not None, they are the ids
        ids = DeviceArray.unchecked(m, _WORD, device) if numbers is None else numbers[:m]
        launch.fill(indptr.memory, 0, n + 1)
        launch.for_each(
            self._program, "canonical_csr_list", m, self._words, self._numbers, places, indices,
            ids if numbers is None else None, indptr, m, self._bits, self._number_bits,
        )  # fmt: skip
        del self._words
        weights = self._weights[:m] if places is None else self._gather(m, places)
        inclusive_scan(indptr, monoid=_GREATEST, out=indptr, launch=launch)
        return graph_on_device(
            indptr, indices, weights, is_symmetric=False, encoding=self._encoding,
            edge_ids=ids, n_input=self._m, **attributes,
        )  # fmt: skip

    def _read(self) -> list[int]:
        return self._launch.read_words(self._verdict.memory, _VERDICT_WORDS)


def is_trusted(device: Device, case: Case) -> bool:
    """Return whether a device has passed the self-test of the kernels that sort edges.

    `case` says which of these kernels are meant. If the device has not passed, the host sorts.
    """
    return device.trust.refusal(CANONICAL_CSR, case) is None


def _case(encoding: Encoding, n: int, m: int) -> Case:
    """Return the self-test case for kernels that sort `m` edges of `n` vertices.

    A case says which kernels are tested. They depend on `encoding`, which says how weights are
    stored, and on whether the key and the position of an edge fit into one word.
    """
    return case_of(encoding.stored, variant=PACKED if _number_bits(n, m) else APART)


def _number_bits(n: int, m: int, word_bits: int = 64) -> int:
    """Return the bits that an edge's position takes in a word that also has the edge's sort key.

    The sort key consists of the two ends of the edge. There are `n` vertices and `m` edges. The
    result is 0 if the position and the key do not fit into `word_bits` bits together.
    """
    bits = bits_of(m)
    return bits if 2 * bits_of(n) + bits <= word_bits else 0


def uploaded(device: Device, *arrays: Array) -> list[DeviceArray]:
    """Put arrays of the host on a device. The copies may still be under way on return.

    If the device works in the host's memory, nothing is copied.
    """
    memories = device.upload_all(*arrays, wait=False)
    return [
        _array(device, memory, array.dtype, array.size)
        for memory, array in zip(memories, arrays, strict=True)
    ]


def _array(device: Device, memory: Memory, dtype: np.dtype[Any], size: int) -> DeviceArray:
    return DeviceArray(device=device, dtype=dtype, size=size, memory=memory, base=memory, offset=0)


def _ends_alike(edges: EdgeList) -> tuple[Array, Array]:
    """Return both arrays of ends of a list of edges as contiguous integers of the same width.

    The width is 32 or 64 bits. An array that has the width already is not copied. The device reads
    ends of 32 bits as unsigned, so a negative end would look like a large vertex number. Signed
    ends therefore stay at 32 bits only if all vertex numbers fit into 31 bits.
    """
    ends = edges.u, edges.v
    is_narrow = all(
        one.dtype.itemsize <= 4 and (one.dtype.kind == "u" or edges.n_vertices <= 1 << 31)
        for one in ends
    )
    n_bytes = 4 if is_narrow else 8
    u, v = (np.ascontiguousarray(one, np.dtype(f"{one.dtype.kind}{n_bytes}")) for one in ends)
    return u, v
