"""Edges that a device generates from their ids.

The kernels are in ``cl/algorithms/edge_stream/generate.cl``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.core import weight_keys
from clmst.core.arguments import check_dtype, check_integer
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph_checks import MAX_VERTICES
from clmst.primitives.element import ElementTypes, check_supported
from clmst.primitives.expression import check_expression, check_functions, check_title
from clmst.primitives.function import Parametric
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.specialisation import Prelude

SOURCE = "algorithms/edge_stream/generate.cl"

ID = "id"
# Maximum number of edges that are generated together. On CPUs this number of edges fits the caches.
CHUNK = {"cpu": 1 << 18, "gpu": 1 << 26, "accelerator": 1 << 24}
_MOST_EDGES = 1 << 63  # because ids are int64
_MOST_AT_ONCE = (1 << 32) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedEdges(Parametric):
    """A graph whose edges a device generates, each from its id alone, by expressions in OpenCL C.

    An edge is stored only if it may be in the forest, so a graph may have many more edges than any
    memory holds. :func:`clmst.stream_minimum_spanning_forest` solves the graph. If the expressions
    have arguments, call the object with them first, as in the example.

    Attributes
    ----------
    n_vertices : int
        Number of vertices, at most 2**32 - 2.
    n_edges : int
        Number of edges, less than 2**63. The ids of the edges are 0 to n_edges - 1.
    u, v : str
        Expressions for the two ends of an edge. Their values must be integers from 0 to less than
        `n_vertices`; either end may be the greater one. The expressions can use the edge's `id` (a
        ``ulong``) and the names of the arguments. Equal ends make a self-loop, which is in no
        forest.
    weight : str
        Expression for the weight of an edge. Its value is converted to `weight_dtype` as in C, and
        must not be NaN.
    weight_dtype : numpy.dtype
        Dtype of the weights: (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64.
    preamble : str
        Definitions of functions that the expressions call, in OpenCL C. The body of each consists
        of declarations, assignments and a return.
    name : str
        Name of the graph in errors and in compilers' messages.
    scalars : mapping of str to dtype
        The names of arguments that are numbers, and their dtypes.
    arrays : mapping of str to dtype
        The names of arguments that are arrays on the device, and the dtypes of their elements. The
        expressions read ``name[index]``. The caller must guarantee that each index is less than the
        length of the array. Otherwise the kernel reads other memory or crashes.
    given : mapping of str to object
        The arguments with which the object was called, or an empty mapping before that.
    prelude : Prelude
        The OpenCL C text that is compiled before the kernel file: the preamble, and a macro for
        each expression.

    Raises
    ------
    InvalidArgumentError
        A text breaks the grammar of :mod:`clmst.primitives.expression`, kernels cannot use the
        dtype of the weights, or a number is out of range.

    Notes
    -----
    The expressions must give the same edge for an id each time, because an edge is generated again
    whenever it is needed. Integers are exact on every device. For floating-point weights, use only
    operations that IEEE 754 rounds in one way: sums, products and conversions. Division and
    functions such as ``sin`` may differ between devices, and the forests would differ with them.

    Examples
    --------
    A random graph, whose ends and weights are computed by the finaliser of SplitMix64:

    >>> import clmst
    >>> edges = clmst.GeneratedEdges(
    ...     n_vertices=1000,
    ...     n_edges=100_000,
    ...     preamble=\"\"\"
    ... ulong mixed(ulong x) {
    ...   x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    ...   x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    ...   return x ^ (x >> 31);
    ... }
    ... \"\"\",
    ...     u="mixed(3 * id + seed) % 1000",
    ...     v="mixed(3 * id + seed + 1) % 1000",
    ...     weight="mixed(3 * id + seed + 2) >> 40",
    ...     weight_dtype="uint32",
    ...     scalars={"seed": "uint64"},
    ... )
    >>> forest = clmst.stream_minimum_spanning_forest(edges(seed=7))
    >>> forest.n_edges, forest.stats["edges"]
    (999, 100000)
    """

    n_vertices: int
    n_edges: int
    u: str
    v: str
    weight: str
    weight_dtype: np.dtype[Any]
    preamble: str = ""
    name: str = "generated edges"
    prelude: Prelude = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_to = object.__setattr__
        n = check_integer("n_vertices", self.n_vertices, low=0, high=MAX_VERTICES)
        set_to(self, "n_vertices", n)
        m = check_integer("n_edges", self.n_edges, low=0, high=_MOST_EDGES - 1)
        set_to(self, "n_edges", m)
        dtype = check_dtype("weight_dtype", self.weight_dtype)
        if dtype.names or weight_keys.weight_kind_or_none(dtype) is None:
            raise InvalidArgumentError(
                f"weight_dtype is {dtype}; weights are numbers, not vectors of them"
            )
        types = ElementTypes()
        macros = {"EDGE_WEIGHT_TYPE": types.of(dtype, "Weight")}
        set_to(self, "weight_dtype", dtype)
        functions = check_functions("preamble", self.preamble)
        set_to(self, "preamble", functions.text)
        self._check_arguments({ID, *functions.values})
        names = dict.fromkeys((ID, *self.scalars))
        for what in ("u", "v", "weight"):
            read = check_expression(what, getattr(self, what), names, functions, arrays=self.arrays)
            set_to(self, what, read.text)
            macros[f"EDGE_{what.upper()}"] = f"({read.code})"
        set_to(self, "name", check_title("name", self.name))
        macros |= self._arguments_macro(types)
        set_to(
            self,
            "prelude",
            Prelude.of(self.name, functions.code, functions.values, macros, types.definitions),
        )

    @property
    def defines(self) -> dict[str, int]:
        """The macros of the kernel file SOURCE, with their values."""
        return {"WEIGHT_BITS": 8 * self.weight_dtype.itemsize}

    @property
    def checksums(self) -> tuple[int, int, int, int]:
        """CRC-32 of the expressions, of the scalars and of the arrays, and the number of edges.

        The arrays are read from the device, which blocks.
        """
        texts = zlib.crc32(self.prelude.text.encode())
        scalars = zlib.crc32(b"".join(self.given[name].tobytes() for name in self.scalars))
        arrays = 0
        for name in self.arrays:
            arrays = zlib.crc32(self.given[name].to_host().view(np.uint8).data, arrays)
        return texts, scalars, arrays, self.n_edges

    def check_for(self, device: Device) -> None:
        """Raise InvalidArgumentError unless a device can generate the edges.

        All arguments of the expressions must be given, and arrays must be on the device.
        """
        self.check_given()
        for dtype in (self.weight_dtype, *self.scalars.values(), *self.arrays.values()):
            check_supported(dtype, device)
        for name in self.arrays:
            if self.given[name].device.context != device.context:
                raise InvalidArgumentError(
                    f"{name} is on {self.given[name].device.description}; it must be on "
                    f"{device.description}, which generates the edges"
                )

    def generate(self, chunk: EdgeChunk, launch: Launcher) -> None:
        """Enqueue the kernel that generates the edges of a chunk.

        A chunk is a part of the stream of edges. The ids of the edges are consecutive from the
        chunk's first id on.
        """
        program = launch.device.program(SOURCE, self.prelude, **self.defines)
        m = chunk.size
        launch.for_each(
            program, "edge_stream_generate_edges", m, chunk.u, chunk.v, chunk.weights, m,
            np.uint64(chunk.first_id), *self.kernel_arguments,
        )  # fmt: skip

    def edges(
        self, first: int = 0, count: int | None = None, *, device: Any = None
    ) -> tuple[weight_keys.Array, weight_keys.Array, weight_keys.Array]:
        """Generate some edges and return them as arrays of the host.

        The call waits for the device.

        Parameters
        ----------
        first : int
            The id of the first edge.
        count : int, optional
            Number of edges, at most 2**32 - 1; by default all from `first` on.
        device : None, str, Device or pyopencl.CommandQueue
            See :func:`clmst.get_device`.

        Returns
        -------
        u, v : ndarray of uint32, shape (count,)
            The ends of the edges.
        weights : ndarray of `weight_dtype`, shape (count,)

        Raises
        ------
        InvalidArgumentError
            `first` or `count` is out of range, or arguments of the expressions are missing.
        KernelBuildError
            An expression does not compile. The message contains the compiler's log.

        Notes
        -----
        Ends are not checked here. An end that is not a vertex is returned unchanged, or as 2**32 -
        1 if it has more than 32 bits. O(count).
        """
        first = check_integer("first", first, low=0, high=self.n_edges)
        rest = self.n_edges - first
        most = min(rest, _MOST_AT_ONCE)
        count = check_integer("count", rest if count is None else count, low=0, high=most)
        found = get_device(device)
        self.check_for(found)
        with found.lock, Guard(found):
            launch = Launcher(found, found.queue)
            chunk = self.new_chunk(first, count, found)
            self.generate(chunk, launch)
            u, v, weights = (array.to_host() for array in (chunk.u, chunk.v, chunk.weights))
        return u, v, weights

    def new_chunk(self, first: int, count: int, device: Device) -> EdgeChunk:
        """Allocate the arrays for a chunk of `count` edges from the id `first` on.

        A chunk is a part of the stream of edges. The arrays' contents are undefined.
        """
        word = np.dtype(np.uint32)
        return EdgeChunk(
            u=DeviceArray.unchecked(count, word, device),
            v=DeviceArray.unchecked(count, word, device),
            weights=DeviceArray.unchecked(count, self.weight_dtype, device),
            first_id=first,
        )

    def fault_at(self, chunk: EdgeChunk, at: int, launch: Launcher) -> InvalidGraphError:
        """Return the error for the invalid edge at position `at` of a chunk.

        A chunk is a part of the stream of edges. The call waits for the device. Either an end is
        not a vertex, or the weight is NaN.
        """
        for name, array in (("u", chunk.u), ("v", chunk.v)):
            (end,) = launch.read_words(array.memory, 1, first=at)
            if end >= self.n_vertices:
                shown_end = "no number of 32 bits" if end == _MOST_AT_ONCE else str(end)
                return InvalidGraphError(
                    f"{name} of the generated edge {chunk.first_id + at} is {shown_end}; it must "
                    f"be from 0 to below {self.n_vertices}"
                )
        return weight_keys.nan_error(f"the generated edge {chunk.first_id + at}")
