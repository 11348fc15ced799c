"""The public class for a graph whose edges come and go: DynamicForest."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import csr
from clmst.core.arguments import (
    as_array,
    check_bool,
    check_dtype,
    check_integer,
    check_path,
    check_row,
    unchecked,
)
from clmst.core.canonical import stable_order, upper_from_edges
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.graph_checks import MAX_VERTICES, check_size, check_weights
from clmst.core.long_work import lasting
from clmst.core.paths import Hierarchy
from clmst.core.tables import arrays_of, names_of
from clmst.core.weight_keys import Array, as_weights, convert, first_nan
from clmst.core.weight_keys import check_dtype as check_weight_dtype
from clmst.dynamic import forest_file
from clmst.dynamic.one_by_one import OneByOne
from clmst.dynamic.solves import joined, reconnected
from clmst.dynamic.state import Columns, State
from clmst.runtime import forking
from clmst.runtime.array import DeviceArray
from clmst.runtime.discovery import default_device, get_device

_NO_EDGES = np.zeros(0, np.int64)
# The name under which a state keeps the structure that takes edges one by one.
_ONE_BY_ONE = "one by one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an operation of a :class:`DynamicForest` has changed.

    Attributes
    ----------
    ids : ndarray of int64, shape (k,)
        The edges of the call: the new ids of inserted edges, in the order in which the edges were
        given, or the ids that were deleted or updated. A call of :meth:`DynamicForest.apply` has
        the inserted ones, then the deleted ones, then the updated ones.
    entered : ndarray of int64
        The ids of the edges that are in the forest now and were not before, in ascending order.
    left : ndarray of int64
        The ids of the edges that were in the forest and are not now, in ascending order, deleted
        ones among them.
    replaced : ndarray of int64, shape (k,), or None
        Only for edges that were inserted one by one: for each of them, the id of the edge that left
        the forest when it was inserted. It is the edge's own id if the edge did not enter the
        forest, and -1 if it connected two trees, so that no edge left.
    """

    ids: npt.NDArray[np.int64]
    entered: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    replaced: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """The checked edges of an insert: their ends, the lesser one first, and their weights."""

    u: Array
    v: Array
    weights: Array


class DynamicForest:
    """The minimum spanning forest of a graph whose edges come, go, and change their weights.

    The forest is kept up to date by every call. A change costs the solve of a small part of the
    graph, not of the whole graph: see Notes.

    Every edge has an id, an int64. Ids ascend in the order in which edges are inserted, and are
    never used again. Edges are ordered as in every solve of clmst: by weight, lesser end, greater
    end, id. Therefore the forest does not depend on the history of the edges: it is, edge for edge,
    the forest that :func:`clmst.minimum_spanning_forest` computes of :meth:`to_graph`, the present
    edges in the order of their ids.

    Parameters
    ----------
    graph : int, or any graph on the host
        The number of vertices of a graph without edges, or the first edges. The id of an edge of a
        graph is its position in the input of the graph (``Graph.edges()[3]``). Self-loops, and
        edges that the graph has merged into a parallel edge, are not present. Vertices are numbers;
        names of vertices are not kept.
    device : None, str, Device or pyopencl.CommandQueue
        The device that solves; see :func:`clmst.get_device`. With None the host solves small parts.
    weight_dtype : dtype, optional
        The dtype of the weights. By default that of the graph, and float64 without a graph. Weights
        of any other dtype can be inserted if this dtype holds their values exactly.

    Raises
    ------
    InvalidGraphError
        The graph is malformed, or the dtype is not supported for weights.
    InvalidArgumentError
        An argument has a wrong type, `weight_dtype` does not hold a weight of the graph exactly, or
        no device matches the name.
    UnsupportedDeviceError
        `device` is given, and no usable device was found.

    Notes
    -----
    For n vertices and m present edges:

    * An insert of k edges solves the edges of the forest and the new edges: at most n - 1 + k
      edges. Edges that become lighter and are not in the forest are solved like new ones.
    * A deletion of edges that are not in the forest, and a weight that rises there, or falls in
      the forest, only change the store: O(k log m).
    * If edges of the forest are deleted or become heavier, the trees that remain are labelled in
      O(n), one pass over all edges finds those between different trees in O(m), and only these
      edges are solved.

    The edges are stored in the memory of the host, in 17 bytes and the weight for each edge. The
    edges of the forest take 8 bytes more each. Storage grows to twice its size when it is full, and
    is compacted when more than half of the edges in it are deleted. So it takes at most four times
    the bytes of the present edges, and while it is copied, both copies exist.

    If a call raises an error, or is interrupted by Ctrl-C, the forest is in its state before the
    call. Several threads may use it. Their calls run one at a time.

    Examples
    --------
    >>> import clmst
    >>> forest = clmst.DynamicForest(3)
    >>> forest.insert([0, 1, 0], [1, 2, 2], [3.0, 1.0, 2.0]).entered
    array([1, 2])
    >>> forest.delete([2])
    Change(ids=array([2]), entered=array([0]), left=array([2]), replaced=None)
    >>> forest.total_weight
    4.0
    """

    _state: State | None

    @lasting("preparing a dynamic forest")
    def __init__(self, graph: Any, *, device: Any = None, weight_dtype: Any = None) -> None:
        self._device = None if device is None else get_device(device)
        dtype = None if weight_dtype is None else check_dtype("weight_dtype", weight_dtype)
        if dtype is not None:
            check_weight_dtype(dtype)
            dtype = dtype.newbyteorder("=")
        batch, ids, n_ids = None, _NO_EDGES, 0
        if isinstance(graph, int | np.integer):
            n = check_integer("graph", graph, low=0, high=MAX_VERTICES)
            dtype = np.dtype(np.float64) if dtype is None else dtype
        else:
            listed = as_listed(graph)
            n = listed.n_vertices
            dtype = listed.weight_dtype if dtype is None else dtype
            batch, ids = _by_id(listed, dtype)
            n_ids = listed.n_input
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")
        self._state = State(columns=Columns.empty(0, dtype), n_vertices=n)
        if batch is not None:
            self._applied(batch=batch, ids=ids, next_id=n_ids)

    @classmethod
    @lasting("loading a dynamic forest")
    def load(cls, path: Any, *, device: Any = None) -> DynamicForest:
        """Load a forest that :meth:`save` has written.

        Parameters
        ----------
        path : str or Path
            The file.
        device : None, str, Device or pyopencl.CommandQueue
            As in the constructor.

        Returns
        -------
        DynamicForest
            A forest with the same edges, ids and vertices. The next insert continues the ids.

        Raises
        ------
        MissingFileError
            There is no such file.
        FileFormatError
            The file is damaged, has been written by a newer version, or is of another kind.
        InvalidArgumentError
            The file cannot be read, or no device matches the name.

        Examples
        --------
        >>> import clmst, tempfile
        >>> forest = clmst.DynamicForest(3)
        >>> forest.insert([0, 1], [1, 2], [3.0, 1.0]).ids
        array([0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     forest.save(f"{folder}/three.forest")
        ...     clmst.DynamicForest.load(f"{folder}/three.forest").total_weight
        4.0
        """
        state = forest_file.read(check_path("path", path))
        forest = cls(state.n_vertices, device=device, weight_dtype=state.columns.weights.dtype)
        forest._state = state
        return forest

    def save(self, path: Any) -> None:
        """Write the present edges and their forest to a file, in place of its earlier content.

        The file takes 16 bytes and the weight for each edge, and 8 bytes for each edge of the
        forest. If the call raises, an earlier file is unchanged.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        InvalidArgumentError
            The file cannot be created, or the forest is closed.
        FileWriteError
            The disk is full or fails.
        """
        target: Path = check_path("path", path)
        with self._lock:
            forest_file.write(target, self._now())

    # ------------------------------------------------------------------------- changes

    @lasting("inserting edges into a forest")
    def insert(self, u: Any, v: Any = None, w: Any = None, *, one_by_one: bool = False) -> Change:
        """Insert edges.

        Parameters
        ----------
        u, v : array of int, shape (k,)
            The two ends of each edge. Self-loops and parallel edges are allowed. Arrays may be on
            the device. Without `v`, the first argument contains all edges: a table with the columns
            "source", "target" and perhaps "weight" (a data frame, an Arrow table, a mapping of
            arrays), a tuple (u, v) or (u, v, w), the path of a file that :func:`clmst.read_graph`
            reads, or any other graph, whose edges get ids in the order of their ids there.
        w : array, shape (k,), optional
            The weights. By default all are 1.
        one_by_one : bool
            Insert one edge after the other, and say for each which edge leaves the forest
            (``Change.replaced``). The forest at the end is the same.

        Returns
        -------
        Change
            Its `ids` are the ids of the new edges, in the order in which they were given.

        Raises
        ------
        InvalidGraphError
            The arrays have different lengths, an end is not a vertex, or a weight is NaN.
        InvalidArgumentError
            The dtype of the forest's weights does not hold a weight exactly, or the forest is
            closed.

        Notes
        -----
        It solves at most n - 1 + k edges. With `one_by_one`, the host takes O(log n) expected time
        per edge, some 10 microseconds, and O(n log n) for the first such call after any other
        change. The structure then takes some 150 bytes per vertex.

        Source: the structure of `one_by_one` keeps the bottleneck of every path in a tree that is
        balanced by random priorities, as in treaps (R. Seidel and C. R. Aragon, "Randomized search
        trees", Algorithmica 16, 1996).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(3)
        >>> u, v, w = [0, 1, 0, 0], [1, 2, 2, 1], [3.0, 1.0, 2.0, 9.0]
        >>> forest.insert(u, v, w, one_by_one=True).replaced
        array([-1, -1,  0,  3])
        """
        check_bool("one_by_one", one_by_one)
        with self._lock:
            state = self._now()
            batch = self._batch(u, v, w, state)
            return self._applied(batch=batch, one_by_one=one_by_one)

    @lasting("deleting edges of a forest")
    def delete(self, ids: Any) -> Change:
        """Delete edges.

        Parameters
        ----------
        ids : array of int, shape (k,)
            The ids of the edges, in any order.

        Returns
        -------
        Change
            Its `entered` are the edges that have replaced deleted ones in the forest.

        Raises
        ------
        InvalidArgumentError
            An id is unknown, has been deleted before, or occurs twice (the message names the first
            such id), or the forest is closed.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.delete([1]).entered
        array([0])
        """
        with self._lock:
            rows = self._rows(ids, "ids", distinct=True)
            return self._applied(deleted=rows)

    @lasting("updating edges of a forest")
    def update(self, ids: Any, w: Any) -> Change:
        """Change the weights of edges.

        Parameters
        ----------
        ids : array of int, shape (k,)
            The ids of the edges. If an id occurs several times, its last weight counts.
        w : array, shape (k,)
            The new weights. Some may rise and others fall.

        Returns
        -------
        Change

        Raises
        ------
        InvalidArgumentError
            An id is unknown or has been deleted (the message names the first such id), there is not
            one weight for each id, the dtype of the forest's weights does not hold a weight
            exactly, or the forest is closed.
        InvalidGraphError
            A weight is NaN.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> change = forest.update([0, 1], [2, 5])
        >>> change.entered, change.left, forest.total_weight
        (array([0]), array([1]), 4)
        """
        with self._lock:
            return self._applied(changed=self._changes(ids, w, "ids", "w"))

    @lasting("changing a forest")
    def apply(self, *, insert: Any = None, delete: Any = None, update: Any = None) -> Change:
        """Insert, delete and update edges in one step, which is quicker than one after the other.

        Parameters
        ----------
        insert : tuple, table, path or graph, optional
            New edges, as the first argument of :meth:`insert` gives them: (u, v) or (u, v, w), for
            example.
        delete : array of int, optional
            The ids of edges to delete.
        update : tuple of two arrays, optional
            The ids of other edges, and their new weights.

        Returns
        -------
        Change

        Raises
        ------
        ClmstError
            Any error of :meth:`insert`, :meth:`delete` and :meth:`update`. It is
            InvalidArgumentError if an edge is to be deleted and updated.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.apply(insert=([0], [1], [0]), delete=[2], update=([1], [7])).ids
        array([3, 2, 1])
        """
        with self._lock:
            state = self._now()
            batch = None if insert is None else self._batch(insert, None, None, state)
            deleted = self._rows([] if delete is None else delete, "delete", distinct=True)
            if update is None:
                update = ([], [])
            if not isinstance(update, tuple | list) or len(update) != 2:
                raise InvalidArgumentError("update is not a pair; it must be (ids, weights)")
            changed = self._changes(*update, "update[0]", "update[1]")
            if (both := np.intersect1d(deleted, changed[0])).size:
                raise InvalidArgumentError(
                    f"edge {state.columns.ids[both[0]]} is to be deleted and updated; it may be "
                    "one of both"
                )
            return self._applied(batch=batch, deleted=deleted, changed=changed)

    def insert_vertices(self, k: int) -> int:
        """Add isolated vertices.

        Parameters
        ----------
        k : int
            The number of new vertices.

        Returns
        -------
        int
            The number of the first new vertex. The others follow it.

        Raises
        ------
        InvalidArgumentError
            `k` is negative, there would be more than 2**32 - 2 vertices, or the forest is closed.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(3)
        >>> forest.insert_vertices(2), forest.n_vertices
        (3, 5)
        """
        with self._lock:
            state = self._now()
            n = state.n_vertices
            k = check_integer("k", k, low=0, high=MAX_VERTICES - n)
            self._state = replace(state, n_vertices=n + k, known={})
            return n

    @lasting("expiring edges of a forest")
    def expire(self, *, before: int) -> Change:
        """Delete all edges whose id is less than `before`: the window slides.

        Parameters
        ----------
        before : int
            The first id that stays. It may be any integer up to :attr:`next_id`.

        Returns
        -------
        Change
            Its `ids` are the deleted edges, in ascending order.

        Raises
        ------
        InvalidArgumentError
            `before` is not an integer, is negative, or is greater than :attr:`next_id`; or the
            forest is closed.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.expire(before=2).ids, forest.n_edges
        (array([0, 1]), 1)
        """
        with self._lock:
            state = self._now()
            before = check_integer("before", before, low=0, high=state.next_id)
            end = int(np.searchsorted(state.columns.ids[: state.n_rows], before))
            return self._applied(deleted=state.present_rows(end))

    def close(self) -> None:
        """Free all memory. Any later call raises InvalidArgumentError, except this one."""
        with self._lock:
            self._state = None

    def __enter__(self) -> DynamicForest:
        self._now()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------------- results

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._now().n_vertices

    @property
    def n_edges(self) -> int:
        """Number of present edges, self-loops included."""
        return self._now().n_present

    @property
    def next_id(self) -> int:
        """The id that the next inserted edge gets."""
        return self._now().next_id

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        return self._now().columns.weights.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the edges and of the forest in the host's memory, free space included."""
        state = self._now()
        return state.columns.n_bytes + state.forest.nbytes

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """The ids of the present edges, in ascending order. O(m)."""
        with self._lock:
            state = self._now()
            return state.columns.ids[state.present_rows()]

    @property
    def n_components(self) -> int:
        """Number of trees. Every isolated vertex is a tree."""
        state = self._now()
        return state.n_vertices - state.forest.size

    @property
    def total_weight(self) -> int | float:
        """Sum of the weights of the forest, exact for integers and correctly rounded for floats.

        It is the `total_weight` of a :class:`Forest`. O(n) the first time after a change.
        """
        return self.snapshot().total_weight

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The tree of each vertex, as in :attr:`Forest.labels`. O(n) the first time."""
        return self.snapshot().labels

    def edges(self, ids: Any = None) -> tuple[Array, Array, Array]:
        """Return the ends and weights of edges.

        Parameters
        ----------
        ids : array of int, shape (k,), optional
            The edges. By default all present edges, in the order of :attr:`ids`.

        Returns
        -------
        u, v, w : ndarray, shape (k,)
            The lesser end, the greater end and the weight of each edge.

        Raises
        ------
        InvalidArgumentError
            An id is unknown or has been deleted, or the forest is closed.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 2, 0], [1, 1, 2], [3, 1, 2]))
        >>> u, v, w = forest.edges([2, 1])
        >>> u.tolist(), v.tolist(), w.tolist()
        ([0, 1], [2, 2], [2, 1])
        """
        with self._lock:
            columns = self._now().columns
            rows = self._now().present_rows() if ids is None else self._rows(ids, "ids")
            return columns.u[rows], columns.v[rows], columns.weights[rows]

    def to_graph(self) -> Graph:
        """Return the graph of the present edges, in the order of their ids. O(m).

        Edge k of the graph is the edge ``ids[k]``.
        """
        with self._lock:
            u, v, w = self.edges()
            return Graph.from_edges(u, v, w, self.n_vertices)

    def snapshot(self) -> Forest:
        """Return the forest as an ordinary :class:`Forest`, which later changes leave alone.

        Its `edge_ids` are ids of this object, as int64. O(n) the first time after a change.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.snapshot().edges.tolist()
        [[0, 2], [1, 2]]
        """
        with self._lock:
            state = self._now()
            if (known := state.known.get("snapshot")) is None:
                known = state.known["snapshot"] = _snapshot(state)
            found: Forest = known
            return found

    def connected(self, u: Any, v: Any) -> Any:
        """Return whether vertices are in the same tree.

        Parameters
        ----------
        u, v : int, or array of int, shape (q,)
            Vertices.

        Returns
        -------
        bool or ndarray of bool, shape (q,)

        Raises
        ------
        InvalidGraphError
            A number is not a vertex, or the arrays have different lengths.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0], [1], n_vertices=3))
        >>> forest.connected(0, 1), forest.connected([0, 1], [1, 2]).tolist()
        (True, [True, False])
        """
        with self._lock:
            x, y, is_one = self._pairs(u, v)
            labels = self.labels
            same = labels[x] == labels[y]
            return bool(same[0]) if is_one else same

    def path_maximum(self, u: Any, v: Any) -> Any:
        """Return the last edge, in the order of edges, on the path between vertices.

        Its weight is the height at which single linkage joins the two vertices. No path of the
        graph between them has a lighter heaviest edge.

        Parameters
        ----------
        u, v : int, or array of int, shape (q,)
            Vertices.

        Returns
        -------
        int or ndarray of int64, shape (q,)
            The id of the edge; :meth:`edges` returns its weight. It is -1 if the vertices are not
            connected, or are the same vertex.

        Raises
        ------
        InvalidGraphError
            A number is not a vertex, or the arrays have different lengths.

        Notes
        -----
        The first call after a change takes O(n log n). A pair of vertices then takes O(log n).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.path_maximum(0, 1)
        2
        """
        with self._lock:
            x, y, is_one = self._pairs(u, v)
            state = self._now()
            if (known := state.known.get("paths")) is None:
                known = state.known["paths"] = _paths(state)
            ids, hierarchy = known
            labels = self.labels
            found = np.full(x.size, -1, np.int64)
            asked = np.flatnonzero((labels[x] == labels[y]) & (x != y))
            if asked.size:
                found[asked] = ids[hierarchy.last_ranks(x[asked], y[asked])]
            return int(found[0]) if is_one else found

    def linkage(self, *, join_components: bool = False) -> npt.NDArray[np.float64]:
        """Compute the single-linkage dendrogram; see :meth:`Forest.linkage`.

        Parameters
        ----------
        join_components : bool
            If there are several trees, join them at the end, at an infinite height. By default
            several trees are an error.

        Returns
        -------
        ndarray of float64, shape (n - 1, 4)
        """
        return self.snapshot().linkage(join_components=join_components, device=self._device)

    def cut(self, *, height: Any = None, k: Any = None) -> npt.NDArray[np.int32]:
        """Cut the forest into clusters at one or several heights, or into `k` clusters.

        Parameters
        ----------
        height, k
            The same as in :meth:`Forest.cut`. Give one of them.

        Returns
        -------
        ndarray of int32, shape (n,) or (m, n)
            The cluster of each vertex.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.cut(height=1)
        array([0, 1, 1], dtype=int32)
        """
        return self.snapshot().cut(height=height, k=k)

    def __repr__(self) -> str:
        state = self._state
        if state is None:
            return "DynamicForest(closed)"
        return (
            f"DynamicForest(n_vertices={state.n_vertices}, n_edges={state.n_present}, "
            f"n_components={state.n_vertices - state.forest.size}, "
            f"weights={state.columns.weights.dtype})"
        )

    def __reduce__(self) -> Any:
        raise InvalidArgumentError(
            f"{self!r} has a lock and cannot be pickled; save() and load() go by a file"
        )

    # ----------------------------------------------------------------------- arguments

    def _now(self) -> State:
        """Return the present state, after an interrupted operation has been undone.

        Raise InvalidArgumentError if the forest is closed.
        """
        with self._lock:
            state = self._state
            if state is None:
                raise InvalidArgumentError("the forest is closed; make or load another one")
            if state.undo is not None:
                state = self._state = state.restored()
            return state

    def _on_host(self, values: Any) -> Any:
        """Copy an array of the device to the host. Anything else is returned itself."""
        if values is None or isinstance(values, np.ndarray | list | tuple | int):
            return values
        device = default_device() if self._device is None else self._device
        array = None if device is None else DeviceArray.in_context(values, device)
        return values if array is None else array.to_host()

    def _batch(self, u: Any, v: Any, w: Any, state: State) -> _Batch:
        """Return the checked edges of an insert."""
        dtype = state.columns.weights.dtype
        if v is None:
            if w is not None:
                raise InvalidArgumentError("w is given without v; give both ends of the edges")
            if isinstance(u, str | Path):
                u = Graph.read(u)
            if isinstance(u, tuple | list) or names_of(u) is not None:
                u, v, w, ids = arrays_of(u, None, None, "edges")
                if ids is not None:
                    raise InvalidArgumentError("edges have ids; a new edge gets its id here")
            else:
                listed = as_listed(u)
                if listed.n_vertices > state.n_vertices:
                    raise InvalidGraphError(
                        f"the graph has {listed.n_vertices} vertices for {state.n_vertices} of the "
                        "forest; insert_vertices makes more"
                    )
                return _by_id(listed, dtype)[0]
        u, v = csr.check_pairs(self._on_host(u), self._on_host(v))
        csr.check_range(u, state.n_vertices, "u")
        csr.check_range(v, state.n_vertices, "v")
        w = np.ones(u.size, np.uint8) if w is None else as_weights(self._on_host(w))
        if w.shape != u.shape:
            raise InvalidGraphError(
                f"u and v have {u.size} entries but w has shape {w.shape}; there must be one "
                "weight an edge"
            )
        check_weights(w, lambda e: (int(u[e]), int(v[e])))
        check_size(state.n_vertices, state.n_rows + u.size)
        return _batch_of(u, v, _converted(w, dtype, "w"))

    def _rows(self, ids: Any, name: str, *, distinct: bool = False) -> npt.NDArray[np.int64]:
        """Return the rows of the edges with the given ids, in the order of the ids.

        Raise InvalidArgumentError if an id is not present, or, with `distinct`, occurs twice.
        """
        state = self._now()
        given = as_array(name, self._on_host(ids))
        if given.size == 0:
            given = np.zeros(given.shape, np.int64)  # NumPy makes an empty list float64
        check_row(name, given, error=InvalidArgumentError)
        rows, wrong = state.rows_of(given)
        if wrong is not None:
            number = int(given[wrong])
            was = "was deleted" if 0 <= number < state.next_id else "is unknown"
            raise InvalidArgumentError(
                f"{name}[{wrong}] is {number}, an edge that {was}; ids must be of present edges"
            )
        if distinct and rows.size > 1:
            order = np.argsort(rows, kind="stable")
            again = order[1:][rows[order[1:]] == rows[order[:-1]]]
            if again.size:
                at = int(again.min())
                raise InvalidArgumentError(
                    f"{name}[{at}] is {int(given[at])}, which occurs before; each id may occur once"
                )
        return rows

    def _changes(self, ids: Any, w: Any, of_ids: str, of_weights: str) -> tuple[Array, Array]:
        """Return the rows of changed edges, each once and in ascending order, and their weights."""
        rows = self._rows(ids, of_ids)
        dtype = self._now().columns.weights.dtype
        values = as_weights(self._on_host(w))
        if values.size == 0:
            values = values.astype(dtype)  # NumPy makes an empty list float64
        if values.shape != rows.shape:
            raise InvalidArgumentError(
                f"{of_weights} has shape {values.shape} for {rows.size} ids; there must be one "
                "weight for each"
            )
        if (nan := first_nan(values)) is not None:
            edge = int(self._now().columns.ids[rows[nan]])
            raise InvalidGraphError(
                f"{of_weights}[{nan}], the weight of edge {edge}, is NaN; weights must be ordered"
            )
        values = _converted(values, dtype, of_weights)
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
        last = np.ones(rows.size, np.bool_)
        last[:-1] = rows[1:] != rows[:-1]
        return rows[last], values[last]

    def _pairs(self, u: Any, v: Any) -> tuple[Array, Array, bool]:
        """Return two arrays of vertices, and whether the caller gave two single vertices."""
        is_one = np.ndim(u) == 0 and np.ndim(v) == 0
        u, v = self._on_host(u), self._on_host(v)
        x, y = csr.check_pairs(np.atleast_1d(u), np.atleast_1d(v)) if is_one else (
            csr.check_pairs(u, v)
        )  # fmt: skip
        n = self._now().n_vertices
        csr.check_range(x, n, "u")
        csr.check_range(y, n, "v")
        return x, y, is_one

    # ---------------------------------------------------------------------- operations

    def _applied(
        self,
        *,
        batch: _Batch | None = None,
        ids: Array | None = None,
        next_id: int | None = None,
        deleted: Array = _NO_EDGES,
        changed: tuple[Array, Array] | None = None,
        one_by_one: bool = False,
    ) -> Change:
        """Delete rows, change weights of rows, and insert a batch, in one step.

        `ids` are the ids of the batch; by default the next ones.
        """
        with self._lock:
            before = self._now()
            rows, weights = (_NO_EDGES, _NO_EDGES) if changed is None else changed
            old = before.columns.weights[rows]
            # From here on the columns change in place, and the note allows to undo that.
            self._state = before.noting(np.concatenate((deleted, rows)))
            try:
                found, change = self._next(
                    before, batch, ids, next_id, deleted, (rows, old, weights),
                    one_by_one=one_by_one,
                )  # fmt: skip
                self._state = found
            except BaseException:
                self._now()
                raise
            self._state = found.compacted()
            return change

    def _next(
        self, before: State, batch: _Batch | None, ids: Array | None, next_id: int | None,
        deleted: Array, changed: tuple[Array, Array, Array], *, one_by_one: bool,
    ) -> tuple[State, Change]:  # fmt: skip
        """Write a change to the columns, and return the state after it, and what has changed."""
        rows, old, weights = changed
        columns, n, device = before.columns, before.n_vertices, self._device
        columns.present[deleted] = False
        columns.weights[rows] = weights
        inside = before.is_in_forest(rows)
        risen, fallen = rows[inside & (weights > old)], rows[~inside & (weights < old)]
        lost = np.concatenate((deleted[before.is_in_forest(deleted)], risen))
        forest, stats = before.forest, before.stats
        takes_one_by_one: OneByOne | None = None
        known = before.known.pop(_ONE_BY_ONE, None)  # popped, because it changes in place, too
        if not (deleted.size or rows.size):
            takes_one_by_one = known
        if lost.size:
            forest = np.setdiff1d(forest, lost, assume_unique=True)
            entering, found = reconnected(columns, n, forest, before.n_rows, fallen, device)
            forest, stats = _merged(forest, entering), stats if found is None else found
        n_new = 0 if batch is None else batch.u.size
        added = np.arange(before.n_rows, before.n_rows + n_new)
        new_ids = np.arange(before.next_id, before.next_id + n_new) if ids is None else ids
        if batch is not None:
            columns = before.with_space(n_new)
            space = slice(before.n_rows, before.n_rows + n_new)
            columns.u[space], columns.v[space] = batch.u, batch.v
            columns.weights[space], columns.ids[space] = batch.weights, new_ids
            columns.present[space] = True
        replaced = None
        if one_by_one:
            if takes_one_by_one is None or takes_one_by_one.n_vertices != n:
                takes_one_by_one = OneByOne(n)
                for edge in _orders(columns, forest):
                    takes_one_by_one.add(edge)
            forest, replaced = _added_one_by_one(takes_one_by_one, columns, forest, added)
        else:
            new = np.concatenate((fallen, added[columns.u[added] != columns.v[added]]))
            if new.size:
                takes_one_by_one = None
                forest, stats = joined(columns, n, forest, new, device)
        state = State(
            columns=columns, n_vertices=n, n_rows=before.n_rows + n_new,
            n_present=before.n_present + n_new - deleted.size,
            next_id=before.next_id + n_new if next_id is None else next_id,
            forest=forest, stats=stats,
        )  # fmt: skip
        if takes_one_by_one is not None:
            state.known[_ONE_BY_ONE] = takes_one_by_one
        entered = np.setdiff1d(forest, before.forest, assume_unique=True)
        left = np.setdiff1d(before.forest, forest, assume_unique=True)
        change = Change(
            ids=np.concatenate((new_ids, columns.ids[deleted], columns.ids[rows])),
            entered=columns.ids[entered], left=columns.ids[left], replaced=replaced,
        )  # fmt: skip
        return state, change


def _by_id(graph: Graph, dtype: np.dtype[Any]) -> tuple[_Batch, npt.NDArray[np.int64]]:
    """Return the edges of a graph in the order of their ids, and these ids."""
    u, v, weights, ids = graph.edges()
    order = np.argsort(ids, kind="stable")
    weights = _converted(weights[order], dtype, "weights")
    return _batch_of(u[order], v[order], weights), ids[order].astype(np.int64)


def _batch_of(u: Array, v: Array, weights: Array) -> _Batch:
    """Return a batch of edges whose ends may be in any order."""
    lesser, greater = np.minimum(u, v).astype(np.uint32), np.maximum(u, v).astype(np.uint32)
    return _Batch(u=lesser, v=greater, weights=weights)


def _converted(weights: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Convert weights to the dtype of a forest's weights.

    Raise InvalidArgumentError if the dtype does not hold a weight exactly.
    """
    converted, wrong = convert(weights, dtype)
    if wrong is not None:
        raise InvalidArgumentError(
            f"{name}[{wrong}] is {weights[wrong]}, which {dtype}, the dtype of the forest's "
            "weights, does not hold exactly; weight_dtype= of the constructor sets another one"
        )
    return converted


def _merged(one: Array, other: Array) -> npt.NDArray[np.int64]:
    """Merge two ascending arrays of rows."""
    rows = np.concatenate((one, other))
    rows.sort(kind="stable")  # quick, because both parts are sorted
    return rows


def _orders(columns: Columns, rows: Array) -> list[Any]:
    """Return (weight, lesser end, greater end, row) of each row, which is the order of edges."""
    parts = (columns.weights[rows], columns.u[rows], columns.v[rows], rows)
    return list(zip(*(part.tolist() for part in parts), strict=True))


def _added_one_by_one(
    into: OneByOne, columns: Columns, forest: Array, added: Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Add rows to the structure, and return the rows of the new forest, and which ids left when."""
    gone = [-1] * added.size
    for step, edge in enumerate(_orders(columns, added)):
        if (one := into.add(edge)) is not None:
            gone[step] = one[3]
    left = np.array(gone, np.int64)
    is_none = left < 0
    rows = np.setdiff1d(_merged(forest, added), left[~is_none], assume_unique=True)
    replaced = np.where(is_none, -1, columns.ids[left])
    return rows, replaced


def _snapshot(state: State) -> Forest:
    """Build the :class:`Forest` of a state, whose edges are in canonical order."""
    columns, rows = state.columns, state.forest
    u, v = columns.u[rows], columns.v[rows]
    order = upper_from_edges(state.n_vertices, u, v).positions
    edges = np.empty((rows.size, 2), np.int32 if state.n_vertices <= 1 << 31 else np.int64)
    edges[:, 0], edges[:, 1] = u[order], v[order]
    rows = rows[order]
    return unchecked(
        Forest, n_vertices=state.n_vertices, _edges=edges, weights=columns.weights[rows],
        _edge_ids=columns.ids[rows], maximum=False, stats=dict(state.stats), vertex_labels=None,
    )  # fmt: skip


def _paths(state: State) -> tuple[npt.NDArray[np.int64], Hierarchy]:
    """Return the ids of the forest's edges in their order, and the structure for their paths."""
    forest = state.known.get("snapshot") or _snapshot(state)
    order = stable_order(forest.weights)
    u, v = forest.edges[order].T
    return forest.edge_ids[order], Hierarchy(state.n_vertices, u, v)
