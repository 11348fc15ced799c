"""Data frames and Arrow tables: labels are kept, and what is missing is named."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from tests.helpers.strategies import examples

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

ROWS = {
    "source": ["b", "a", "a", "d", "f"],
    "target": ["c", "c", "b", "e", "f"],
    "weight": [4, 3, 2, 1, 9],
}


def frame(**changes: Any) -> Any:
    return pd.DataFrame({**ROWS, **changes})


def of_frame(given: Any) -> Graph:
    return Graph.from_pandas(given)


def of_table(given: Any) -> Graph:
    return Graph.from_arrow(pa.Table.from_pandas(given))


def labels(graph: Graph) -> list[Any]:
    assert graph.vertex_labels is not None
    return list(graph.vertex_labels)


either_door = pytest.mark.parametrize("door", [of_frame, of_table])
Door = Callable[[Any], Graph]

# ----------------------------------------------------------------------------- ids


@either_door
def test_names_are_numbered_as_networkx_does(door: Door) -> None:
    """Rows in order, the source first; so equal weights give the tree of networkx's own graph."""
    graph = door(frame())
    other = Graph.from_networkx(nx.from_pandas_edgelist(frame(), edge_attr="weight"))
    assert labels(graph) == labels(other)
    assert graph.edges()[0].tolist() == other.edges()[0].tolist()
    assert labels(graph) == ["b", "c", "a", "d", "e", "f"]


@either_door
def test_a_forest_has_the_labels_and_rows_of_the_frame(door: Door, any_device: Device) -> None:
    given = frame(road=["r0", "r1", "r2", "r3", "r4"])
    forest = clmst.minimum_spanning_forest(door(given), device=any_device)
    for same in (given, pa.Table.from_pandas(given)):  # is taken as it is
        assert clmst.minimum_spanning_forest(same, device=any_device) == forest
        assert clmst.kruskal(same) == forest
        assert forest.verify(same)
    assert forest.total_weight == 6
    found = forest.to_pandas()
    assert found.columns.tolist() == ["source", "target", "weight", "edge_id"]
    taken = given.iloc[forest.edge_ids]
    assert taken.road.tolist() == ["r2", "r1", "r3"]
    assert found.weight.tolist() == taken.weight.tolist()
    pairs = [set(row) for row in zip(found.source, found.target, strict=True)]
    assert pairs == [set(row) for row in zip(taken.source, taken.target, strict=True)]
    assert forest.path("b", "c") == ["b", "a", "c"]


@either_door
@pytest.mark.parametrize("dtype", ["str", "object", "category", "more categories"])
def test_every_kind_of_names_is_the_same(door: Door, dtype: str) -> None:
    """Categories that do not occur in a row are not vertices."""
    kind = pd.CategoricalDtype([*"zyabcdefgh"]) if dtype == "more categories" else dtype
    graph = door(frame().astype({"source": kind, "target": kind}))
    assert labels(graph) == ["b", "c", "a", "d", "e", "f"]
    assert clmst.kruskal(graph) == clmst.kruskal(frame())


INTEGERS = ["int8", "uint8", "int16", "int64", "uint64", "Int32", "int64[pyarrow]"]


@either_door
@pytest.mark.parametrize("dtype", INTEGERS)
@examples(0.3)
@given(data=st.data())
def test_integers_are_numbered_in_rising_order(door: Door, dtype: str, data: st.DataObject) -> None:
    """Negative ids, and both ends of the dtype, have labels."""
    info = np.iinfo(dtype.lower().removesuffix("[pyarrow]"))
    low, top = int(info.min), min(int(info.max), 2**63 - 1)
    some = st.integers(low, top) | st.integers(0, 5) | st.sampled_from([low, low + 1, top])
    ids = np.array(data.draw(st.lists(st.tuples(some, some), max_size=20)), info.dtype)
    source, target = ids.reshape(-1, 2).T
    given = pd.DataFrame({"source": source, "target": target, "weight": np.ones(len(ids))})
    graph = door(given.astype({"source": dtype, "target": dtype}))
    distinct = np.unique(ids)
    assert graph.n_vertices == distinct.size
    if distinct.tolist() == list(range(distinct.size)):
        assert graph.vertex_labels is None
    else:
        assert labels(graph) == distinct.tolist()
    u, v, _, rows = graph.edges()
    ends = np.sort(ids.reshape(-1, 2), axis=1)[rows]
    assert np.array_equal(distinct[np.stack([u, v], 1).astype(int)], ends)


@either_door
def test_one_column_of_names_and_one_of_integers(door: Door) -> None:
    """Two kinds of vertices: 1 and "1" are not the same."""
    graph = door(frame(target=[1, 2, 2, 1, 10**12], source=["1", "2", "1", "2", "1"]))
    assert labels(graph) == ["1", 1, "2", 2, 10**12]


@either_door
def test_ids_far_apart_are_quick(door: Door) -> None:
    """Ids near 10**9 become labels, so no array needs as many entries as the greatest id."""
    ids = np.random.default_rng(1).integers(10**9, 2 * 10**9, (2, 300_000))
    given = pd.DataFrame({"source": ids[0], "target": ids[1], "weight": np.arange(300_000)})
    graph = door(given)
    assert graph.n_vertices == np.unique(ids).size < 600_001
    assert graph.indptr.nbytes < 3 << 20


@either_door
def test_a_frame_without_rows(door: Door) -> None:
    graph = door(frame().iloc[:0])
    assert (graph.n_vertices, graph.n_edges) == (0, 0)
    assert len(clmst.kruskal(graph).to_pandas()) == 0
    graph = door(pd.DataFrame({"source": [], "target": [], "weight": []}, dtype=object))
    assert (graph.n_vertices, graph.n_edges) == (0, 0)


# ------------------------------------------------------------------------------ weights


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool", "Int64", "float[pyarrow]"])
def test_weights_keep_their_dtype(dtype: str) -> None:
    given = frame().astype({"weight": dtype})
    expected = {"Int64": "int64", "float[pyarrow]": "float32"}.get(dtype, dtype)
    assert of_frame(given).weights.dtype == expected
    assert of_table(given).weights.dtype == expected


def test_columns_are_chosen_by_name() -> None:
    given = frame().set_axis(["from", "to", 0], axis=1)
    graph = Graph.from_pandas(given, columns=("from", "to", 0))
    assert sorted(graph.edges()[2].tolist()) == [1, 2, 3, 4]
    assert Graph.from_pandas(given, columns=("from", "to")).weights.tolist() == [1] * 4
    forest = clmst.kruskal(graph)
    names = forest.to_pandas(columns=("from", "to", "cost"), edge_id="row").columns.tolist()
    assert names == ["from", "to", "cost", "row"]
    named = forest.to_pandas(columns=("from", "to")).columns.tolist()
    assert named == ["from", "to", "weight", "edge_id"]
    with pytest.raises(InvalidArgumentError, match="the columns are 'a', 'a', 'weight', 'edge_id'"):
        forest.to_pandas(columns=("a", "a"))
    with pytest.raises(InvalidArgumentError, match="columns are 5; they must be two or three"):
        forest.to_pandas(columns=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"edge_id is \[\]; it must be the name"):
        forest.to_pandas(edge_id=[])  # type: ignore[arg-type]


def test_a_matrix_is_no_frame_of_edges() -> None:
    """A correlation matrix of three columns would do as edges, too."""
    matrix = pd.DataFrame(np.arange(9).reshape(3, 3), [*"abc"], [*"abc"])
    for square in (matrix, matrix.set_axis(range(3)).set_axis(range(3), axis=1)):
        with pytest.raises(
            InvalidGraphError, match=r"so it looks like a matrix; .*columns=\(source, target,"
        ):
            clmst.kruskal(square)
    named = Graph.from_pandas(matrix, columns=("a", "b", "c"))
    assert clmst.kruskal(named).n_vertices == 6


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: Graph.from_pandas(frame(), "from", "to"), "'from', 'to'"),  # type: ignore[call-arg]
        (lambda: Graph.from_pandas(frame(), weight=None), "weight"),  # type: ignore[call-arg]
        (lambda: Graph.from_arrow(pa.table({}), source="a", target="b"), "source, target"),  # type: ignore[call-arg]
        (lambda: clmst.kruskal(frame()).to_pandas("from"), "'from'"),  # type: ignore[call-arg]
    ],
)
def test_names_of_earlier_versions(call: Callable[[], object], given: str) -> None:
    """Columns had an argument each."""
    message = rf"was given {given}; .*: columns=\(source, target, weight\), or the first two"
    with pytest.raises(InvalidArgumentError, match=message):
        call()


def test_labels_that_are_tuples_stay_so() -> None:
    G = nx.grid_2d_graph(2, 3)
    assert clmst.kruskal(G).to_pandas().source.tolist()[0] == (0, 0)


# ----------------------------------------------------------------------------- bad input


@either_door
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ["b", None, "a", "d", "f"]}, "row 1 of column 'source' is missing"),
        ({"target": ["b", "x", "a", "d", np.nan]}, "row 4 of column 'target' is missing"),
        ({"source": [1, 2, np.nan, 4, 5]}, "row 2 of column 'source' is missing"),
        ({"source": pd.array([1, None, 3, 4, 5])}, "row 1 of column 'source' is missing"),
        ({"source": pd.Categorical(["b", "a", None, "d", "f"])}, "row 2 of column 'source'"),
        ({"source": [1.5, 2, 3, 4, 5]}, "column 'source' has the type (float64|double); ids must"),
        (
            {"weight": [4, 3, None, 1, 2]},
            r"row 2 of column 'weight', the weight of edge \('a', 'b'\), is missing",
        ),
        ({"weight": pd.array([4, 3, None, 1, 2])}, "row 2 of column 'weight', the weight of edge"),
        ({"weight": [*"abcde"]}, "row 0 of column 'weight' is 'a', and its type .*(str|obj)"),
        ({"weight": pd.to_datetime([0] * 5)}, "row 0 of column 'weight' is .*datetime64"),
        ({"weight": [[1], [2], [3], [4], [5]]}, r"row 0 of column 'weight' is .*1.*, and its type"),
        ({"source": [[1]] * 5}, r"cannot be hashed|ids must be"),
        ({"source": [{"a": 1}] * 5}, r"cannot be hashed|ids must be"),
        (
            {"source": np.full(5, 2**64 - 1, np.uint64), "target": range(5)},
            f"an id is {2**64 - 1}; .*below 2\\*\\*63",
        ),
    ],
)
def test_bad_columns(door: Door, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        door(frame(**changes))


@either_door
def test_columns_that_are_not_there(door: Door) -> None:
    for lacking, listed in (
        (frame().drop(columns="source"), "'target', 'weight'"),
        (frame().rename(columns={"weight": "cost"}), "'source', 'target', 'cost'"),
        (frame()[["source"]], "'source'"),
    ):
        message = rf"the columns are {listed}; source, target .* or be named: .* of Graph.from_[ap]"
        with pytest.raises(InvalidGraphError, match=message):
            door(lacking)
    assert door(frame().drop(columns="weight")).weights.tolist() == [1] * 4


def test_a_weight_of_an_arrow_table_that_is_nan() -> None:
    """There it is not a null. A frame of pandas makes nulls of both."""
    table = pa.table({"source": [0, 1], "target": [1, 2], "weight": [1.0, float("nan")]})
    message = r"row 1 of column 'weight', the weight of edge \(1, 2\), is missing"
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_arrow(table)


def test_a_column_that_is_there_twice() -> None:
    twice = frame().set_axis(["source", "target", "target"], axis=1)
    with pytest.raises(InvalidGraphError, match="2 columns are called 'target'"):
        Graph.from_pandas(twice)
    table = pa.Table.from_arrays(
        [pa.array([1]), pa.array([2]), pa.array([2])], ["source", "a", "a"]
    )
    with pytest.raises(InvalidGraphError, match="2 columns are called 'a'"):
        Graph.from_arrow(table, columns=("source", "a"))


def test_each_door_tells_of_the_other() -> None:
    with pytest.raises(InvalidGraphError, match=r"a Table of pyarrow; .*from_arrow takes it"):
        Graph.from_pandas(pa.Table.from_pandas(frame()))
    frames = pytest.importorskip("dask.dataframe").from_pandas(frame(), npartitions=1)
    with pytest.raises(InvalidGraphError, match=r"a DataFrame of dask; .*clmst.dask.* takes it"):
        clmst.minimum_spanning_forest(frames)
    with pytest.raises(InvalidGraphError, match="from_arrow was given ndarray; it takes an Arrow"):
        Graph.from_arrow(np.zeros(3))
    with pytest.raises(InvalidGraphError, match=r"ChunkedArray.*table"):
        Graph.from_arrow(pa.chunked_array([[1, 2]]))


# ------------------------------------------------------------------------ other frames


def test_polars_frames_come_in_by_arrow() -> None:
    polars = pytest.importorskip("polars")
    given = polars.DataFrame(ROWS)
    assert clmst.kruskal(given) == clmst.kruskal(frame())
    kinds = given.with_columns(polars.col("source").cast(polars.Categorical))
    assert clmst.kruskal(kinds) == clmst.kruskal(frame())
    with pytest.raises(InvalidGraphError, match="row 1 of column 'source' is missing"):
        clmst.kruskal(polars.DataFrame({**ROWS, "source": ["a", None, "b", "c", "d"]}))
    with pytest.raises(InvalidGraphError, match=r"the weight of edge \('a', 'c'\), is missing"):
        clmst.kruskal(polars.DataFrame({**ROWS, "weight": [1.0, float("nan"), 2.0, 3.0, 4.0]}))


def test_a_lazy_frame_is_named() -> None:
    """Its rows do not exist before it is collected."""
    polars = pytest.importorskip("polars")
    lazy, message = polars.DataFrame(ROWS).lazy(), r"LazyFrame, .*give (frame|table).collect\(\)"
    with pytest.raises(InvalidGraphError, match=message):
        clmst.kruskal(lazy)
    with pytest.raises(InvalidGraphError, match=message):
        clmst.kruskal(lazy, columns=("source", "target"))
    with pytest.raises(InvalidArgumentError, match=message):
        clmst.kruskal(frame()).rows(lazy)


def test_forests_as_other_tables() -> None:
    forest = clmst.kruskal(frame())
    assert forest.to_arrow().to_pydict() == forest.to_pandas().to_dict("list")
    named = forest.to_arrow(columns=("from", "to", "cost"), edge_id="row")
    assert named.column_names == ["from", "to", "cost", "row"]
    of_both = clmst.kruskal(frame(source=[1, 2, 3, 4, 5]))
    with pytest.raises(InvalidArgumentError, match=r"pyarrow refuses .* to_pandas\(\) takes"):
        of_both.to_arrow()
    with pytest.raises(InvalidArgumentError, match="a column is called 5; the names of columns of"):
        forest.to_arrow(columns=(5, 6))  # type: ignore[arg-type]


def test_a_forest_as_a_polars_frame() -> None:
    forest = clmst.kruskal(frame())
    polars = pytest.importorskip("polars")
    assert isinstance(forest.to_polars(), polars.DataFrame)
    assert forest.to_polars().to_dict(as_series=False) == forest.to_pandas().to_dict("list")
    assert forest.rows(polars.DataFrame(ROWS))["weight"].to_list() == forest.weights.tolist()


class Relation:
    """Gives its rows as an Arrow stream, and by nothing else, as a relation of DuckDB does."""

    shape = (5, 3)

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def test_relations() -> None:
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    forest = clmst.kruskal(frame())
    relations: list[Any] = [(Relation(table), Relation(table.take([4, 3, 2, 1, 0])))]
    if find_spec("duckdb"):
        read = import_module("duckdb").from_arrow(table)
        relations.append((read, read.order("weight")))
    for right, other in relations:
        assert clmst.kruskal(right) == forest
        assert forest.rows(right)["weight"].to_pylist() == forest.weights.tolist()
        with pytest.raises(InvalidArgumentError, match=r"^row \d of the table is edge"):
            forest.rows(other)


@pytest.mark.parametrize("n_pieces", [1, 3, 400])
@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_names_in_many_pieces(kind: str, n_pieces: int) -> None:
    """Each piece has a dictionary of its own; time does not grow with pieces times names."""
    rng = np.random.default_rng(2)
    ends = rng.integers(0, 30_000, (2, 40_000))
    text = np.char.add("town ", ends.astype(str))
    whole = {"source": text[0].astype(object), "target": text[1].astype(object)}
    bounds = np.linspace(0, 40_000, n_pieces + 1).astype(int)

    def column(values: Any) -> Any:
        pieces = [pa.array(values[a:b]) for a, b in pairwise(bounds)]
        if kind == "dictionary":
            pieces = [piece.dictionary_encode() for piece in pieces]
        elif kind == "large_string":
            pieces = [piece.cast(pa.large_string()) for piece in pieces]
        return pa.chunked_array(pieces)

    table = pa.table({name: column(values) for name, values in whole.items()})
    began = perf_counter()
    found = Graph.from_arrow(table)
    seconds = perf_counter() - began
    right = Graph.from_pandas(pd.DataFrame(whole))
    assert labels(found) == labels(right)
    assert found.edges()[0].tolist() == right.edges()[0].tolist()
    assert seconds < 20  # 400 dictionaries compared with one another took minutes


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1.5", "-2.25", "0.1", "3", "7"], pa.decimal128(38, 3), [1.5, -2.25, 0.1, 3, 7]),
        (["1", "-2", str(2**63 - 1), "3", "4"], pa.decimal128(38, 0), [1, -2, 2**63 - 1, 3, 4]),
        (["0.3", "0.7", "1.1", "2.3", "4.9"], pa.decimal256(50, 1), [0.3, 0.7, 1.1, 2.3, 4.9]),
        (["1e-25", "2e-25", "3e-25", "0", "1"], pa.decimal128(38, 30), [1e-25, 2e-25, 3e-25, 0, 1]),
    ],
)  # fmt: skip
def test_decimal_weights(values: list[str], kind: Any, expected: list[Any]) -> None:
    """Each is the nearest double, or the integer: DuckDB has them for sums and literals."""
    table = pa.table(ROWS).drop_columns("weight")
    column = pa.array([Decimal(one) for one in ["9", *values]], kind)[1:]  # which has an offset
    graph = Graph.from_arrow(table.append_column("weight", column))
    given = Graph.from_edges(*(graph.edges()[:2]), n_vertices=graph.n_vertices)
    assert given.n_vertices == graph.n_vertices
    assert sorted(graph.edges()[2].tolist()) == sorted(expected[:4])  # the last one is a loop
    assert graph.weights.dtype == ("int64" if kind.scale == 0 else "float64")
    forest = clmst.kruskal(graph)
    assert forest.rows(table.append_column("weight", column)).num_rows == forest.n_edges


def test_decimal_numbers_are_the_nearest_doubles() -> None:
    """A pyarrow cast is off by one in the last digit for some of them."""
    units = np.random.default_rng(3).integers(-(10**15) + 1, 10**15, 3000)
    for scale in (0, 1, 7, 15, 22, 30):
        values = [Decimal(int(one)).scaleb(-scale) for one in units]
        column = pa.array(values, pa.decimal128(38, scale))
        table = pa.table({"source": range(3000), "target": range(1, 3001), "weight": column})
        found = Graph.from_arrow(table)
        ids = found.edges()[3]
        assert found.edges()[2].tolist() == [float(values[k]) for k in ids]


@pytest.mark.parametrize(
    ("value", "kind"),
    [("1234567890123456.7", pa.decimal128(38, 1)), ("1e19", pa.decimal128(38, 0))],
)
def test_decimal_weights_that_would_be_rounded(value: str, kind: Any) -> None:
    table = pa.table(ROWS).drop_columns("weight")
    column = pa.array([Decimal(one) for one in (1, 2, value, 3, 4)], kind)
    with pytest.raises(InvalidGraphError, match=r"row 2 .*; a decimal weight .*AS DOUBLE\) in SQL"):
        Graph.from_arrow(table.append_column("weight", column))


@pytest.mark.parametrize("take", [
    clmst.minimum_spanning_forest, clmst.maximum_spanning_forest, clmst.kruskal, clmst.to_device,
])  # fmt: skip
def test_columns_where_a_frame_is_solved(take: Callable[..., Any], any_device: Device) -> None:
    given = frame().rename(columns={"source": "from", "target": "to", "weight": "km"})
    given = given.assign(note="")
    options: Any = {} if take is clmst.kruskal else {"device": any_device}
    right = Graph.from_pandas(given, columns=("from", "to", "km"))
    for table in (given, pa.Table.from_pandas(given)):
        found = take(table, columns=("from", "to", "km"), **options)
        if take is clmst.to_device:
            assert found.graph.weights.tolist() == right.weights.tolist()
        else:
            assert found == take(right, **options)
            assert bool(found.verify(table, columns=("from", "to", "km")))
    for graph, more, message in (
        (given, {"weight": "km"}, "weight is 'km' and columns are .* third name"),
        (np.zeros((2, 2)), {}, "a ndarray has no columns; leave them out"),
        (nx.Graph(), {}, "a Graph has no columns; leave them out"),
        (given, {"columns": 5}, "columns are 5; they must be two or three names"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            take(graph, **{"columns": ("from", "to", "km"), **options, **more})


def test_a_table_of_several_chunks() -> None:
    """Dictionaries of chunks differ, which must not mix up names."""
    whole = pa.Table.from_pandas(frame().astype({"source": "category", "target": "category"}))
    parts = pa.concat_tables([pa.Table.from_pandas(frame().iloc[k : k + 2]) for k in (0, 2, 4)])
    assert parts.column("source").num_chunks == 3
    split = pa.table({name: parts[name].dictionary_encode() for name in ("source", "target")})
    split = split.append_column("weight", parts["weight"])
    assert clmst.kruskal(parts) == clmst.kruskal(whole) == clmst.kruskal(split)


# ------------------------------------------------------------------------ rows of a forest


@pytest.mark.parametrize("index", [None, [5, 5, 4, 0, 1], [*"edcba"]])
def test_rows_are_taken_by_position(index: Any) -> None:
    given = frame(road=[*"abcde"])
    given.index = given.index if index is None else index
    forest = clmst.kruskal(Graph.from_pandas(given, columns=("source", "target", "weight")))
    assert forest.rows(given).road.tolist() == ["c", "b", "d"]
    assert forest.rows(given).weight.tolist() == forest.weights.tolist()
    table = pa.Table.from_pandas(given)
    assert forest.rows(table)["road"].to_pylist() == ["c", "b", "d"]
    records = given.to_records(index=False)
    assert forest.rows(records)["road"].tolist() == ["c", "b", "d"]


def test_rows_of_a_table_in_another_order_are_refused() -> None:
    """Such a table has as many rows, but they contain other edges."""
    given = frame()
    forest = clmst.kruskal(given)
    for other in (given.sort_values("weight"), given.assign(target=[*"abcde"])):
        for table in (other, pa.Table.from_pandas(other), other.to_records(index=False)):
            with pytest.raises(InvalidArgumentError, match=r"^row \d of the table is edge \("):
                forest.rows(table)
    with pytest.raises(InvalidArgumentError, match="0 columns are called 'from'"):
        forest.rows(given, columns=("from", "to"))
    bare = given.rename(columns={"source": "from", "target": "to"}).assign(note="")
    with pytest.raises(InvalidArgumentError, match=r"no two of the columns 'from', .* hold the e"):
        forest.rows(bare.iloc[::-1])
    with pytest.raises(InvalidArgumentError, match="no names of columns; leave it out"):
        forest.rows(np.zeros((5, 3)), columns=("source", "target"))


def test_rows_with_other_weights_are_refused() -> None:
    """Parallel edges have the same ends, so weights alone tell them apart."""
    given = pd.DataFrame({"source": [0, 0], "target": [1, 1], "weight": [7, 2], "km": [1, 2]})
    forest = clmst.kruskal(given)
    message = "row 1 of the table has the weight 7 in column 'weight', and the edge of the forest 2"
    for other in (given[::-1].drop(columns="km"), pa.Table.from_pandas(given[::-1])):
        with pytest.raises(InvalidArgumentError, match=message):
            forest.rows(other, columns=("source", "target", "weight"))
    with pytest.raises(InvalidArgumentError, match=message):
        forest.rows(given[::-1].drop(columns="km"))
    assert forest.rows(given[::-1], columns=("source", "target")).weight.tolist() == [7]
    assert clmst.kruskal(given, weight="km").rows(given).km.tolist() == [1]
    assert clmst.kruskal(given, weight=None).rows(given).weight.tolist() == [7]


def test_rows_by_columns_of_any_name() -> None:
    given = frame().rename(columns={"source": "from", "target": "to", "weight": "km"})
    given = given.assign(road=[*"vwxyz"])
    forest = clmst.kruskal(Graph.from_pandas(given, columns=("from", "to", "km")))
    for table in (given, pa.Table.from_pandas(given), given.to_records(index=False)):
        for columns in (None, ("from", "to"), ("to", "from", "km")):
            taken = forest.rows(table, columns=columns)["km"]
            assert [int(str(one)) for one in taken] == forest.weights.tolist()
    u, v, w = (np.array(ROWS[name]) for name in ROWS)
    of_arrays: Any = np.rec.fromarrays  # whose types want names of a list only beside formats
    records = of_arrays([u.astype("S1"), v.astype("S1"), w], names="a,b,c")
    assert forest.rows(records)["c"].tolist() == forest.weights.tolist()
    assert forest.rows(np.arange(5)).tolist() == forest.edge_ids.tolist()


def test_rows_of_another_table() -> None:
    forest = clmst.kruskal(frame())
    with pytest.raises(InvalidArgumentError, match="has 2 rows, and the forest has the edge id 3"):
        forest.rows(frame()[:2])
    for wrong in (5, [1, 2], np.array(3), "rows"):
        with pytest.raises(InvalidArgumentError, match="it must be a data frame, an Arrow"):
            forest.rows(wrong)
