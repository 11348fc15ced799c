"""Names of vertices: their numbers, and their form in error messages and in NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clmst.core import csr
from clmst.core.arguments import as_array, errors_as, shown
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.text_codes import codes_of_text
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_SLICE = 1 << 18  # the number of ends that a thread processes at a time
_DENSE = 8  # a table is used to rank numbers if their range is at most 8 times the number of ends


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """A column of names, which are stored as indices into the list `distinct` of different names.

    The list may also contain names that do not occur in the column. They are not vertices.
    """

    codes: Array  # int32: the index of the name of each row
    distinct: Sequence[Hashable]

    def split(self, n_rows: int) -> tuple[Names, Names]:
        """Divide the column into the first `n_rows` rows and all later ones.

        Both results share the list of different names.
        """
        first, second = self.codes[:n_rows], self.codes[n_rows:]
        return replace(self, codes=first), replace(self, codes=second)


Ends: TypeAlias = Array | Names  # a column of integers or of names
# A function of an integer array, which returns the index of each element's value among the distinct
# values, and the distinct values in any order.
Factorize: TypeAlias = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberedEdges:
    """Edges whose ends are numbered from 0 on, and the original name of each vertex."""

    u: Array
    v: Array
    n_vertices: int
    labels: Array | None  # int64 or object: the name of each vertex; None for numbers
    weights: Array | None = None  # None if all are 1

    def graph(self, kind: type[Graph], *, merge_parallel: bool = False) -> Graph:
        """Build the graph of these edges with the class `kind`.

        With `merge_parallel`, only the lightest of several parallel edges is kept.
        """
        graph = kind.from_edges(
            self.u, self.v, self.weights, self.n_vertices, merge_parallel=merge_parallel
        )
        return graph.replace_unchecked(vertex_labels=self.labels)

    def merged(self, kind: type[Graph]) -> Graph:
        """Build a graph from the numbered edges that a file contains.

        `kind` is the class of the result: Graph, or a subclass. Of several edges between the same
        two vertices only the lightest is kept. The names of the vertices in the file become the
        tuple `vertex_labels` of the graph.
        """
        labels = None if self.labels is None else tuple(self.labels.tolist())
        return self.graph(kind, merge_parallel=True).replace_unchecked(vertex_labels=labels)


def number(source: Ends, target: Ends, factorize: Factorize) -> NumberedEdges:
    """Give a number to each vertex that occurs as an end of an edge.

    `source` and `target` are the columns of ends. If they contain integers, the vertices are
    numbered in ascending order of these integers. Names are numbered in the order in which the rows
    contain them, the source before the target, as in NetworkX. `factorize` hashes the ends, which
    is faster than sorting them: O(m), and O(n log n) for the n vertices.
    """
    if isinstance(source, Names) or isinstance(target, Names):
        return _number_names(_as_names(source, factorize), _as_names(target, factorize))
    u, v, numbers = rank(source, target, factorize)
    n = numbers.size
    if n and int(numbers[-1]) >= 1 << 63:
        raise InvalidGraphError(f"an id is {numbers[-1]}; integer ids must be below 2**63")
    is_own_number = n == 0 or (int(numbers[0]), int(numbers[-1])) == (0, n - 1)
    labels = None if is_own_number else numbers.astype(np.int64, copy=False)
    return NumberedEdges(u=csr.as_uint32(u), v=csr.as_uint32(v), n_vertices=n, labels=labels)


def first_name(name: str, ends: Any) -> str | None:
    """Return the first of `ends`, the ends of edges, if it is a string, otherwise None.

    `name` is the name of the argument, for messages.
    """
    given = ends if type(ends) in (list, tuple) else as_array(name, ends, error=InvalidGraphError)
    if isinstance(given, np.ndarray) and (given.ndim != 1 or given.dtype.kind not in "UTO"):
        return None
    first = given[0] if len(given) else None
    return str.__str__(first) if isinstance(first, str) else None


def ends_of(name: str, ends: Any) -> Ends:
    """Read the ends of edges as a column of names if the first is a string, else of integers. O(m).

    `name` is the name of the argument, for messages. Raise InvalidGraphError unless all ends are
    strings, or all are integers.
    """
    if first_name(name, ends) is None:
        return csr.as_integers(name, ends)
    given = ends if type(ends) in (list, tuple) else as_array(name, ends)
    values = np.empty(len(given), object)
    values[:] = given
    found = codes_of_text(values)
    if found is None:
        at, one = next((at, one) for at, one in enumerate(values) if not isinstance(one, str))
        raise InvalidGraphError(
            f"{name}[{at}] is {shown(one)} beside names; all ends must be strings, or all integers"
        )
    return Names(codes=found[0].astype(np.int32, copy=False), distinct=found[1])


def _by_sorting(integers: Array) -> tuple[Array, Array]:
    """Return each integer's index among the distinct integers, and these integers, by sorting."""
    distinct, codes = np.unique(integers, return_inverse=True)
    return codes, distinct


def rank(u: Array, v: Array, factorize: Factorize = _by_sorting) -> tuple[Array, Array, Array]:
    """Renumber the vertices in `u` and `v` from 0 on, and keep their order.

    Return the new `u`, the new `v`, and the old number of each vertex. If every number from 0 to
    the greatest occurs, the ends are returned unchanged. `factorize` finds the distinct numbers if
    they are scattered. Raise InvalidGraphError if the numbers fit neither into int64 nor into
    uint64.
    """
    if u.size == 0:
        return u, v, np.zeros(0, np.int64)
    (low_u, high_u), (low_v, high_v) = csr.extremes(u), csr.extremes(v)
    least, greatest = min(low_u, low_v), max(high_u, high_v)
    common = np.dtype(np.int64 if greatest < 1 << 63 else np.uint64)
    if u.dtype != v.dtype:  # NumPy makes floats of int64 combined with uint64
        if least < 0 and common.kind == "u":
            raise InvalidGraphError(
                f"vertex numbers range from {least} to {greatest}; all must fit into int64, or all "
                "into uint64"
            )
        u, v = u.astype(common), v.astype(common)
    if greatest - least >= _DENSE * 2 * u.size + 1024:
        codes, distinct = factorize(np.concatenate([u, v]))
        order = np.argsort(distinct)
        ranks = np.empty(order.size, np.uint32)
        ranks[order] = np.arange(order.size, dtype=np.uint32)
        return ranks[codes[: u.size]], ranks[codes[u.size :]], distinct[order]
    if least:
        u, v = ((ends.astype(common) - common.type(least)).astype(np.int64) for ends in (u, v))
    occurs = np.zeros(greatest - least + 1, bool)

    def note(part: slice) -> None:
        # Several threads may write to one element, but all of them write the same value.
        occurs[u[part]] = occurs[v[part]] = True

    in_threads(note, slices(u.size, _SLICE))
    numbers = np.flatnonzero(occurs)
    if numbers.size < occurs.size:
        ranks = np.empty(occurs.size, np.uint32)
        ranks[numbers] = np.arange(numbers.size, dtype=np.uint32)
        u, v = _looked_up(ranks, u), _looked_up(ranks, v)
    return u, v, numbers.astype(common) + common.type(least) if least else numbers


def _looked_up(table: Array, at: Array) -> Array:
    """Return ``table[at]``, where `at` is an array of indices, using several threads."""
    found = np.empty(at.size, table.dtype)

    def look_up(part: slice) -> None:
        found[part] = table[at[part]]

    in_threads(look_up, slices(at.size, _SLICE))
    return found


def renumbered(u: Any, v: Any) -> tuple[Array, Array, tuple[Hashable, ...]]:
    """Give numbers from 0 on to the vertices that are ends of edges.

    `u` and `v` are the ends as names or any integers. Returns the new numbers of `u` and of `v`,
    and the former name or number of each vertex.
    """
    source, target = ends_of("u", u), ends_of("v", v)
    lengths = [
        ends.codes.size if isinstance(ends, Names) else ends.size for ends in (source, target)
    ]
    csr.check_lengths(*lengths)
    if isinstance(source, Names) and isinstance(target, Names):
        edges = _number_names(source, target)
        assert edges.labels is not None, "names are labels"
        return edges.u, edges.v, tuple(edges.labels.tolist())
    if isinstance(source, Names) or isinstance(target, Names):
        raise InvalidGraphError("one of u and v has names, the other numbers; both must have names")
    u, v, numbers = rank(source, target)
    return u, v, tuple(numbers.tolist())


def _as_names(ends: Ends, factorize: Factorize) -> Names:
    """Convert a column of ends of edges to :class:`Names`, also if they are integers.

    `factorize` is a function that finds the distinct integers.
    """
    if isinstance(ends, Names):
        return ends
    codes, distinct = factorize(ends)
    return Names(codes=codes, distinct=distinct.tolist())


def _number_names(source: Names, target: Names) -> NumberedEdges:
    """Give numbers to the names of both columns, in the order in which the rows contain them.

    In each row, the source comes before the target.
    """
    if source.distinct is target.distinct:
        names = source.distinct
        ends = [source.codes.astype(np.uint32), target.codes.astype(np.uint32)]
    else:
        names, ends = _common_names(source, target)
    in_turn = np.column_stack(ends).ravel()
    first = np.full(len(names), in_turn.size)  # the position in `in_turn` where a name is first
    first[in_turn[::-1]] = np.arange(in_turn.size)[::-1]
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < in_turn.size))]
    ranks = np.zeros(len(names), np.uint32)
    ranks[order] = np.arange(order.size, dtype=np.uint32)
    every = np.empty(len(names), object)
    every[:] = names
    return NumberedEdges(
        u=ranks[ends[0]], v=ranks[ends[1]], n_vertices=order.size, labels=every[order]
    )


def _common_names(source: Names, target: Names) -> tuple[list[Hashable], list[Array]]:
    """Return the distinct names of both columns together, and two arrays of indices into them.

    The arrays have the index of the name of each row's source and of its target.
    """
    known: dict[Hashable, int] = {}
    ends = []
    for column in (source, target):
        try:
            common = [known.setdefault(name, len(known)) for name in column.distinct]
        except TypeError as error:
            raise InvalidGraphError(
                f"an id cannot be hashed ({shown(error)}); ids must be integers, strings or other "
                "hashable values"
            ) from error
        ends.append(np.array(common, np.uint32)[column.codes] if common else column.codes)
    return list(known), ends


# ------------------------------------------------------------------- labels


def label_of(labels: Any, vertex: int) -> str:
    """Return the text of a vertex for error messages: its label, or its number without labels.

    `labels` is None if the vertices do not have labels.
    """
    if labels is None:
        return str(vertex)
    name = labels[vertex]
    return shown(name.item() if isinstance(name, np.generic) else name)


def hashable_labels(labels: Any, n_vertices: int) -> Sequence[Hashable]:
    """Return the labels of vertices in a form that NetworkX accepts. O(n).

    Raise InvalidArgumentError unless they are hashable and distinct.
    """
    if labels is None:
        return range(n_vertices)
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    names = [as_tuple(name) for name in listed]
    with errors_as(lambda error: InvalidArgumentError(
        f"a vertex label is not hashable ({shown(error)}); NetworkX takes hashable ones"
    )):  # fmt: skip
        n_distinct = len(set(names))
    if n_distinct != n_vertices:
        raise InvalidArgumentError(
            f"{n_vertices} vertices have {n_distinct} different labels; NetworkX would merge those "
            "that share one, so all must differ"
        )
    return names


def as_tuple(name: Any) -> Any:
    """Convert a list or an array, and any nested ones, to a tuple.

    A `name` of any other type is returned unchanged.
    """
    if isinstance(name, np.ndarray):
        name = name.tolist()
    return tuple(map(as_tuple, name)) if isinstance(name, list) else name


def integer_labels(labels: Sequence[Hashable] | None) -> Array | None:
    """Return vertex labels as int64 if all are non-negative integers, else None."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.ndim == 1:
        in_range = labels.size == 0 or 0 <= int(labels.min()) <= int(labels.max()) < 1 << 63
        return labels.astype(np.int64) if in_range else None
    if labels is None or not all(type(x) is int or isinstance(x, np.integer) for x in labels):
        return None
    array = np.array(labels, dtype=object)
    if array.size and not 0 <= array.min() <= array.max() < 1 << 63:
        return None
    return array.astype(np.int64)


def named(labels: Any, vertices: Array) -> Array:
    """Return the labels of `vertices` as an array, or `vertices` itself if `labels` is None.

    `labels` has the label of every vertex of the graph.
    """
    if labels is None:
        return vertices
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        names: Array = labels[vertices]
        return names
    each = np.empty(len(labels), object)
    each[:] = list(labels)
    taken: Array = each[vertices]
    return taken
