"""The public class for the forest of a graph whose edges are inserted and deleted: DynamicForest.

Checks of arguments, changes, results and files are in the other modules of this package.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_bool, check_dtype, check_integer, check_path, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.graph_checks import MAX_VERTICES
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.core.weight_keys import check_dtype as check_weight_dtype
from clmst.dynamic import forest_file, inputs, results
from clmst.dynamic.change import Change, Edit, carry_out
from clmst.dynamic.on_device import OnDevice
from clmst.dynamic.state import EdgeStore, State
from clmst.runtime import forking
from clmst.runtime.discovery import get_device


class DynamicForest:
    """The minimum spanning forest of a graph whose edges are inserted, deleted and updated.

    After every call the forest is the minimum spanning forest of the present edges. These are all
    edges that were inserted and have not been deleted. Each change returns which edges have entered
    and left the forest. The Notes say how much time a change takes.

    Every edge has an id, an int64. Ids ascend in the order in which edges are inserted, and are
    never used again. Edges are ordered as in every solve of clmst: by weight, lesser end, greater
    end, id. Therefore the forest does not depend on the order of the changes. It has the same edges
    as the forest that :func:`clmst.minimum_spanning_forest` computes for the graph of
    :meth:`to_graph`.

    Parameters
    ----------
    graph : int, or any graph on the host
        The number of vertices, for a forest that starts without edges, or a graph with the first
        edges. The id of an edge of a graph is its position in the input of the graph
        (``Graph.edges()[3]``). Self-loops, and edges that the graph has merged into a parallel
        edge, are not present. Vertices are numbers, from 0 on. If the graph has `vertex_labels`,
        the number of a vertex is the position of its label, and the labels are not kept.
    device : None, str, Device or pyopencl.CommandQueue
        The device that solves; see :func:`clmst.get_device`. With None it is the default device,
        and the host solves small graphs.
    weight_dtype : dtype, optional
        The dtype of the weights. By default it is the dtype of the graph's weights, or float64 if
        `graph` is a number. Weights of another dtype can be inserted if the conversion does not
        change them.

    Raises
    ------
    InvalidGraphError
        The graph is malformed, or the dtype is not supported for weights.
    InvalidArgumentError
        An argument has a wrong type, the conversion to `weight_dtype` would change a weight of the
        graph, or no device matches the name.
    UnsupportedDeviceError
        `device` is given, and no usable device was found.

    Notes
    -----
    For n vertices and m present edges:

    * An insert of k edges solves the edges of the forest and the new edges: at most n - 1 + k
      edges. Edges outside the forest that become lighter are solved in the same way as new ones.
    * Some changes cannot change the forest: edges outside the forest are deleted or become heavier,
      or edges of the forest become lighter. If k edges change in this way, nothing is solved, and
      the change takes O(k), or O(k log m) if some ids between them are missing.
    * If edges of the forest are deleted or become heavier, the other edges of the forest stay, and
      form trees. The trees are labelled in O(n), the edges between different trees are found in
      O(m), and only these edges are solved. If the forest loses more than 1 of 512 edges, all
      present edges are solved instead.
    * On a GPU, the edges of a large graph stay in the memory of the device, too, with clusters of
      the forest. A change contracts only the edges between clusters without an end of a changed
      edge, in O(n) and about O(k log n), and replaces lost edges in passes of O(m).

    Each edge takes 18 bytes and the bytes of its weight in the memory of the host. The arrays of
    the edges grow to twice their size when they are full. When more than half of the edges in them
    are deleted, the present edges are copied to shorter arrays. So the arrays take at most four
    times the bytes of the present edges. While they are copied, both copies exist. On a GPU, an
    edge takes 9 bytes and the bytes of its weight, and a vertex up to 76 bytes.

    If a call raises an error, the forest is in its state before the call. If Ctrl-C interrupts a
    call, the forest is in its state before the call, or in its state after the call if the change
    was complete already. Several threads may use a forest. Their calls run one at a time.

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
        batch = None
        if isinstance(graph, int | np.integer):
            n = check_integer("graph", graph, low=0, high=MAX_VERTICES)
            dtype = np.dtype(np.float64) if dtype is None else dtype
        else:
            listed = as_listed(graph)
            n = listed.n_vertices
            dtype = listed.weight_dtype if dtype is None else dtype
            batch = inputs.first_edges(listed, dtype)
        self._there = OnDevice(self._device)
        self._lock = threading.RLock()
        forking.replace_locks(self, "_lock")
        self._state = State(columns=EdgeStore.empty(0, dtype), n_vertices=n)
        if batch is not None:
            self._apply(Edit(batch=batch))

    @classmethod
    @lasting("loading a dynamic forest")
    def load(cls, path: Any, *, device: Any = None) -> DynamicForest:
        """Load a forest that :meth:`save` has written.

        Parameters
        ----------
        path : str or Path
            The file.
        device : None, str, Device or pyopencl.CommandQueue
            The same as in the constructor.

        Returns
        -------
        DynamicForest
            A forest with the vertices, edges, ids and :attr:`next_id` of the saved forest.

        Raises
        ------
        MissingFileError
            The file does not exist.
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
        """Write the present edges and the forest to a file, in place of any earlier content.

        The file takes 16 bytes and the bytes of the weight for each edge, and 8 bytes more for each
        edge of the forest. If the call raises an error, an earlier file is unchanged.

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

        Examples
        --------
        >>> import clmst, tempfile
        >>> forest = clmst.DynamicForest(3)
        >>> forest.insert([0, 1, 0], [1, 2, 2], [3.0, 1.0, 2.0]).ids
        array([0, 1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     forest.save(f"{folder}/three.forest")
        ...     again = clmst.DynamicForest.load(f"{folder}/three.forest")
        >>> again.ids, again.total_weight
        (array([0, 1, 2]), 3.0)
        """
        target: Path = check_path("path", path)
        with self._lock:
            forest_file.write(target, self._now())

    # ------------------------------------------------------------------------- changes

    @lasting("inserting edges into a forest")
    def insert(
        self, u: Any, v: Any = None, w: Any = None, *, one_by_one: bool = False,
        window: int | None = None,
    ) -> Change:  # fmt: skip
        """Insert edges, and perhaps delete those that leave a sliding window.

        Parameters
        ----------
        u, v : array of int, shape (k,)
            The two ends of each edge. Self-loops and parallel edges are allowed. Arrays may be on
            the device. Without `v`, the first argument contains all edges. It is then a tuple
            (u, v) or (u, v, w); a table with the columns "source", "target" and perhaps "weight" (a
            data frame, an Arrow table, or a mapping of arrays); the path of a file that
            :func:`clmst.read_graph` reads; or any other graph. The edges of a graph get new ids, in
            the order of their ids in the graph. If the graph or the file gives names to the
            vertices (``Graph.vertex_labels``), the names must be integers. They are then the
            vertices of this forest.
        w : array, shape (k,), optional
            The weights. By default all are 1.
        one_by_one : bool
            Insert one edge after the other, and return for each of them which edge leaves the
            forest (``Change.replaced``). The forest at the end does not depend on it.
        window : int, optional
            Keep only the most recent edges, in the same step: those whose ids are among the last
            `window` ids that have been given. All other edges are deleted. By default, and with
            None, no edge is deleted. If more edges are inserted than the window holds, the first of
            them get ids, and are never present.

        Returns
        -------
        Change
            Its `ids` are the ids of the new edges, in the order in which they were given, followed
            by the ids of the edges that have left the window.

        Raises
        ------
        InvalidGraphError
            The arrays have different lengths, an end is not a vertex, the name of a vertex is not
            an integer, or a weight is NaN.
        InvalidArgumentError
            A weight would change when it is converted to the dtype of the forest's weights,
            `window` is negative or is given together with `one_by_one`, or the forest is closed.

        Notes
        -----
        The call solves at most n - 1 + k edges. A window costs what :meth:`delete` does, too. With
        `one_by_one`, the host takes O(log n) expected time per edge, about 10 microseconds. The
        first call with `one_by_one` after any other change takes O(n log n) in addition, to build a
        data structure of about 150 bytes per vertex.

        Source: this data structure has the heaviest edge of every path of the forest, in a tree
        that is balanced by random priorities, as in treaps (R. Seidel and C. R. Aragon, "Randomized
        search trees", Algorithmica 16, 1996).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(3)
        >>> u, v, w = [0, 1, 0, 0], [1, 2, 2, 1], [3.0, 1.0, 2.0, 9.0]
        >>> forest.insert(u, v, w, one_by_one=True).replaced
        array([-1, -1,  0,  3])

        A window of three edges:

        >>> stream = clmst.DynamicForest(3)
        >>> for weights in ([3.0, 1.0], [2.0, 5.0]):
        ...     change = stream.insert([0, 1], [1, 2], weights, window=3)
        >>> stream.ids, change.ids
        (array([1, 2, 3]), array([2, 3, 0]))
        """
        check_bool("one_by_one", one_by_one)
        if window is not None:
            window = check_integer("window", window, low=0)
            if one_by_one:
                raise InvalidArgumentError(
                    "one_by_one and window are given; a call may do one of both, and expire() "
                    "deletes edges that have left a window"
                )
        with self._lock:
            state = self._now()
            batch = inputs.batch_of(u, v, w, state, self._device)
            if window is None:
                return self._apply(Edit(batch=batch, one_by_one=one_by_one))
            kept, gone = inputs.in_window(batch, window, state)
            change = self._apply(Edit(batch=kept, **gone))
            return replace(change, ids=np.concatenate((batch.ids, gone["ids"])))

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
            Its `entered` has the edges that have replaced deleted edges in the forest.

        Raises
        ------
        InvalidArgumentError
            An id is unknown, has been deleted before, or occurs twice (the message names the first
            wrong id), or the forest is closed.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.delete([1]).entered
        array([0])
        """
        with self._lock:
            deletion = inputs.deletion_of(ids, "ids", self._now(), self._device)
            return self._apply(Edit(**deletion))

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
            An id is unknown or has been deleted (the message names the first wrong id), there is
            not one weight for each id, a weight would change when it is converted to the dtype of
            the forest's weights, or the forest is closed.
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
            rows, weights = inputs.changes_of(ids, w, ("ids", "w"), self._now(), self._device)
            return self._apply(Edit(changed=rows, weights=weights))

    @lasting("changing a forest")
    def apply(self, *, insert: Any = None, delete: Any = None, update: Any = None) -> Change:
        """Insert, delete and update edges in one call, which is faster than a call for each.

        Parameters
        ----------
        insert : tuple, table, path or graph, optional
            New edges: anything that :meth:`insert` accepts as its first argument without `v`, for
            example (u, v) or (u, v, w).
        delete : array of int, optional
            The ids of edges to delete.
        update : tuple of two arrays, optional
            The ids of edges, and their new weights. No edge may be both deleted and updated.

        Returns
        -------
        Change

        Raises
        ------
        ClmstError
            Any error of :meth:`insert`, :meth:`delete` or :meth:`update`. If an edge is in both
            `delete` and `update`, the error is an InvalidArgumentError.

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.apply(insert=([0], [1], [0]), delete=[2], update=([1], [7])).ids
        array([3, 2, 1])
        """
        with self._lock:
            state = self._now()
            edit: dict[str, Any] = {}
            if insert is not None:
                edit["batch"] = inputs.batch_of(insert, None, None, state, self._device)
            if delete is not None:
                edit |= inputs.deletion_of(delete, "delete", state, self._device)
            if update is not None:
                if not isinstance(update, tuple | list) or len(update) != 2:
                    raise InvalidArgumentError(
                        f"update is {shown(update)}; it must be a pair, (ids, weights)"
                    )
                ids, w = update
                edit["changed"], edit["weights"] = inputs.changes_of(
                    ids, w, ("update[0]", "update[1]"), state, self._device
                )
            made = Edit(**edit)
            if (both := np.intersect1d(made.deleted, made.changed)).size:
                raise InvalidArgumentError(
                    f"edge {state.columns.ids[both[0]]} is to be deleted and updated; a call may "
                    "do one of both"
                )
            return self._apply(made)

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
        """Delete all edges whose id is less than `before`.

        For a sliding window over a stream of edges, ``insert(..., window=)`` does both in one step.

        Parameters
        ----------
        before : int
            The least id that is not deleted. It may be any integer from 0 to :attr:`next_id`.

        Returns
        -------
        Change
            Its `ids` has the deleted edges, in ascending order.

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
            return self._apply(Edit(**inputs.expired(before, state)))

    def close(self) -> None:
        """Free all memory. Any later call except `close` raises InvalidArgumentError."""
        with self._lock:
            self._state = None
            self._there.forget()

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
        """Number of present edges, including self-loops."""
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
        """Size of the edges in the host's memory in bytes, with unused space."""
        return self._now().columns.n_bytes

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """The ids of the present edges, in ascending order. Takes O(m)."""
        with self._lock:
            state = self._now()
            return state.columns.ids[state.present_rows()]

    @property
    def n_components(self) -> int:
        """Number of trees. Every isolated vertex is a tree."""
        state = self._now()
        return state.n_vertices - state.n_forest

    @property
    def total_weight(self) -> int | float:
        """Sum of the weights of the forest, exact for integers and correctly rounded for floats.

        The number equals `total_weight` of the :class:`Forest` that :meth:`snapshot` returns. The
        first access after a change takes O(n).
        """
        return self.snapshot().total_weight

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """The number of the tree of each vertex; see :attr:`Forest.labels`.

        The first access after a change takes O(n).
        """
        return self.snapshot().labels

    def edges(self, ids: Any = None) -> tuple[Array, Array, Array]:
        """Return the ends and weights of edges.

        Parameters
        ----------
        ids : array of int, shape (k,), optional
            The ids of the edges. The default is all present edges, in the order of :attr:`ids`.

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
            state = self._now()
            columns = state.columns
            if ids is None:
                rows = state.present_rows()
            else:
                rows = inputs.rows_of(ids, "ids", state, self._device)
            return columns.u[rows], columns.v[rows], columns.weights[rows]

    def to_graph(self) -> Graph:
        """Return the graph of the present edges, in the order of edge ids.

        Edge k of the graph is the edge with id ``ids[k]`` of this forest. The call takes O(m).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(3)
        >>> change = forest.insert([0, 1, 0], [1, 2, 2], [3.0, 1.0, 2.0])
        >>> change = forest.delete([0])
        >>> graph = forest.to_graph()
        >>> graph.n_edges, graph.weights.tolist()
        (2, [2.0, 1.0])
        >>> forest.ids
        array([1, 2])
        """
        with self._lock:
            u, v, w = self.edges()
            return Graph.from_edges(u, v, w, self.n_vertices)

    def snapshot(self) -> Forest:
        """Return the forest as a :class:`Forest`, which does not change in later calls.

        The `edge_ids` of the result are ids of this object, as int64. The first call after a change
        takes O(n).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.snapshot().edges.tolist()
        [[0, 2], [1, 2]]
        """
        with self._lock:
            return results.snapshot(self._now())

    def connected(self, u: Any, v: Any) -> Any:
        """Return whether vertices are in the same tree, for one or several pairs of vertices.

        Parameters
        ----------
        u, v : int, or array of int, shape (q,)
            Two vertices, or the two vertices of each of q pairs.

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
            x, y, is_one = inputs.pairs_of(u, v, self.n_vertices, self._device)
            labels = self.labels
            same = labels[x] == labels[y]
            return bool(same[0]) if is_one else same

    def path_maximum(self, u: Any, v: Any) -> Any:
        """Return the heaviest edge on the path of the forest between two vertices.

        Of several heaviest edges, it is the last one in the order of edges. The weight of this edge
        is the height at which single linkage joins the two vertices. On every path of the graph
        between them, the heaviest edge has at least this weight.

        Parameters
        ----------
        u, v : int, or array of int, shape (q,)
            Two vertices, or the two vertices of each of q pairs.

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
        The first call after a change takes O(n log n), and each pair of vertices O(log n).

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.path_maximum(0, 1)
        2
        """
        with self._lock:
            state = self._now()
            x, y, is_one = inputs.pairs_of(u, v, state.n_vertices, self._device)
            found = results.path_maxima(state, x, y)
            return int(found[0]) if is_one else found

    def linkage(self, *, join_components: bool = False) -> npt.NDArray[np.float64]:
        """Compute the single-linkage dendrogram; see :meth:`Forest.linkage`.

        Parameters
        ----------
        join_components : bool
            If there are several trees, join them at the end, at an infinite height. If it is False
            and there are several trees, the call raises an error.

        Returns
        -------
        ndarray of float64, shape (n - 1, 4)

        Examples
        --------
        >>> import clmst
        >>> forest = clmst.DynamicForest(clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2]))
        >>> forest.linkage()
        array([[1., 2., 1., 2.],
               [0., 3., 2., 3.]])
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
            The number of the cluster of each vertex, with a row for each of m heights.

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
            f"n_components={state.n_vertices - state.n_forest}, "
            f"weights={state.columns.weights.dtype})"
        )

    def __reduce__(self) -> Any:
        raise InvalidArgumentError(
            f"{self!r} has a lock and cannot be pickled; save() and load() go by a file"
        )

    # -------------------------------------------------------------------------- states

    def _now(self) -> State:
        """Return the present state. If a call was interrupted, its change is undone first.

        Raises InvalidArgumentError if the forest is closed.
        """
        with self._lock:
            state = self._state
            if state is None:
                raise InvalidArgumentError("the forest is closed; make or load another one")
            if state.undo is not None:
                state = self._state = state.restored()
            return state

    def _apply(self, edit: Edit) -> Change:
        """Carry out the change `edit`, which has been checked, and return what has changed.

        If an error or Ctrl-C stops it, the earlier state is restored at once, or by the next call
        of `_now`.
        """
        with self._lock:
            before = self._state = self._now().with_undo(edit.deleted, edit.changed)
            try:
                after, change = carry_out(before, edit, self._device, self._there)
                self._state = after.compacted()
            except BaseException:
                self._now()
                raise
            return change
