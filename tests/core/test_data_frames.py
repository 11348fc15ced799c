"""Data frames and Arrow tables: labels are kept, and what is missing is named."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
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
from tests.strategies import examples

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
    """Categories that no row has are no vertices."""
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
    """Ids near 10**9 are labels, not sizes: no array is as long as the greatest of them."""
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
            InvalidGraphError, match=r"as a matrix has; .*columns=\(source, target,"
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
        ({"weight": [4, 3, 2, Decimal(1), 2]}, r"column 'weight' is Decimal\('[14]'\), and its"),
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
    """It is no null there; a frame of pandas makes nulls of both."""
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


def test_rows_of_another_table() -> None:
    forest = clmst.kruskal(frame())
    with pytest.raises(InvalidArgumentError, match="has 2 rows, and the forest has the edge id 3"):
        forest.rows(frame()[:2])
    for wrong in (5, [1, 2], np.array(3), "rows"):
        with pytest.raises(InvalidArgumentError, match="it must be a data frame, an Arrow"):
            forest.rows(wrong)
