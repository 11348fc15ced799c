"""Good files in every format that clmst reads, which fuzz_files.py damages.

Most of them are written by hand, so that they contain what clmst's own writers do not write but
other programs do: comments, other headers, names of vertices, several layouts, and several types of
columns.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

import clmst
from clmst.io import FORMATS, Format

_TEXTS: dict[str, tuple[bytes, ...]] = {
    "dimacs": (
        b"c a comment\np sp 4 6\na 1 2 5\na 2 1 5\na 1 3 1\na 3 1 1\na 4 2 -7\na 2 4 -7\n",
        b"p edge 3 2\ne 1 2\ne 2 3\n",
        b"c PACE\np tw 4 3\n1 2\n2 3\nc in between\n3 4\n",
        b"p sp 5 3\r\na 1 2 0.5\r\na 1 2 1e-9\r\na 5 4 3\r\n",
        b"SECTION Graph\nNodes 3\nEdges 2\nE 1 2 3\nE 2 3 4\nEND\nEOF\n",
    ),
    "steinlib": (
        b'33D32945 STP File, STP Format Version 1.0\n\nSECTION Comment\nName "a"\nEND\n\n'
        b"SECTION Graph\nNodes 4\nEdges 3\nE 1 2 3\nE 2 3 4\nE 4 1 9\nEND\n\n"
        b"SECTION Terminals\nTerminals 1\nT 2\nEND\n\nEOF\n",
        b"section graph\nnodes 3\narcs 2\na 1 2 3.5\na 2 3 4\nend\n",
    ),
    "matrix-market": (
        b"%%MatrixMarket matrix coordinate real general\n% a\n%\n4 4 5\n1 1 2.5\n1 2 1\n2 1 3\n"
        b"4 3 -1e3\n3 4 nan\n",
        b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
        b"%%matrixmarket MATRIX coordinate Integer general\n3 3 2\n2 1 4\n3 2 18446744073709551\n",
        b"%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 1\n"
        b"2 1 18446744073709551615\n",
        b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
    ),
    "metis": (
        b"% a\n4 3\n2 3\n1 4\n1\n2\n",
        b"3 2 111 2\n7 1 1 2 5\n8 1 1 1 5 3 6\n9 1 1 2 6\n",
        b"4 2 010 1\n1 2\n1 1\n1 4\n1 3\n",
        b"3 1 1\n2 5\n1 5\n\n",
    ),
    "edge-list": (
        b"# Nodes: 3 Edges: 2\n0\t1\n1\t2\n",
        b"0 1 2.5\n1 2 -1\n\n7 2 1e9\n",
        b"5\n3\n0 1 3\n1 2 4\n4 4 0\n",
        b"% konect\n1 2 1 \n2 3 1 \n",
        b"3,4,1\n4,5,2\n9999999999,3,7\n",
        b"# clmst graph: 4 vertices and 2 edges as u v weight; an isolated vertex is u u 0\n"
        b"0 1 5\n1 2 6\n9 9 0\n",
    ),
    "csv": (
        b"source,target,weight\n0,1,2\n1,2,3\n",
        b'source,target,weight\n"Bern","Z\xc3\xbcrich",2.5\n"B,asel","Bern",3\n',
        b"\xef\xbb\xbfsource;target;weight\r\n0;1;2\r\n5;2;3\r\n",
        b",source,target,weight,name\n0,3,4,1.5,a\n1,4,5,,b\n",
        b"weight\tsource\ttarget\n1\t0\t1\n2\t1\t2\n",
        b"0,1,2.5\n1,2,3\n",
        b"source,target\n0,1\n2,1\n",
    ),
    "graphml": (
        b"""<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double" />
  <graph edgedefault="undirected">
    <node id="0" /> <node id="7" /> <node id="a" />
    <edge source="0" target="7"> <data key="d0">2.5</data> </edge>
    <edge source="7" target="a"> <data key="d0">1</data> </edge>
  </graph>
</graphml>
""",
        b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="edge" attr.name="weight" attr.type="int"><default>4</default></key>
  <key id="b" for="node" attr.name="seen" attr.type="boolean" />
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="b">true</data></node> <node id="n1"/> <node id="n\xc3\xa9"/>
    <edge id="e" source="n0" target="n1"/>
    <edge source="n1" target="n0"><data key="k">9</data></edge>
    <edge source="n1" target="n\xc3\xa9" directed="true"/>
  </graph>
</graphml>
""",
    ),
    "gexf": (
        b"""<?xml version='1.0' encoding='utf-8'?>
<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft">
  <graph defaultedgetype="undirected" mode="static" name="">
    <nodes> <node id="0" label="0" /> <node id="7" label="7" /> </nodes>
    <edges> <edge source="0" target="7" id="0" weight="2.5" /> </edges>
  </graph>
</gexf>
""",
        b"""<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
  <graph mode="dynamic" defaultedgetype="directed" timeformat="date">
    <attributes class="edge"><attribute id="0" title="km" type="float"/></attributes>
    <nodes><node id="a" label="A" start="2009-03-01"/><node id="b" label="B"/></nodes>
    <edges><edge id="0" source="a" target="b" start="2009-03-01" end="2009-03-10">
      <attvalues><attvalue for="0" value="1.5"/></attvalues></edge></edges>
  </graph>
</gexf>
""",
    ),
    "tsplib": (
        b"NAME : a\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
        b"1 0 0\n2 3.5 4\n3 1e1 8\n4 2 2\nEOF\n",
        b"DIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\n"
        b"EDGE_WEIGHT_SECTION\n1 2 3\nEOF\n",
        b"NAME: b\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: GEO\nNODE_COORD_SECTION\n"
        b"1 46.30 7.26\n2 -33.55 151.12\n3 0 179.59\nEOF\n",
        b"DIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_3D\nNODE_COORD_SECTION\n1 0 0 1\n2 3 4 5\n",
        b"DIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : LOWER_DIAG_ROW\n"
        b"DISPLAY_DATA_TYPE : TWOD_DISPLAY\nEDGE_WEIGHT_SECTION\n0\n1 0\n2 3 0\n"
        b"DISPLAY_DATA_SECTION\n1 2 3\nEOF\n",
    ),
}  # fmt: skip
_POINT_TABLES = (
    b"x,y\n0.5,1\n2,3e2\n-1,nan\n",
    b"\xef\xbb\xbfx;y;name\r\n0.5;1;a\r\n2;;b\r\n",
    b'"length","width"\n1,2\n3,4\n',
    b"1.5,2\n# a comment\n3,4\n",
    b"1\t2\t3\n4\t5\t6\n",
)


@cache
def graphs(chosen: Format) -> tuple[bytes, ...]:
    """Return good files of a format that hold graphs, by hand and by clmst's writer."""
    found = list(_TEXTS.get(chosen.name, ()))
    if chosen.name == "tsv":
        found += [one.replace(b",", b"\t") for one in _TEXTS["csv"]]
    if chosen.name == "npz":
        found += _matrices()
    if chosen.name == "parquet":
        found += _tables()
    if chosen.writer is not None:
        found += _written(chosen)
    return tuple(found)


@cache
def points(chosen: Format) -> tuple[bytes, ...]:
    """Return good files of a format that hold points."""
    if chosen.name in ("csv", "tsv"):
        return _POINT_TABLES
    if chosen.name == "npy":
        return tuple(_arrays())
    return tuple(_point_tables()) if chosen.name == "parquet" else _TEXTS[chosen.name]


@cache
def forests(chosen: Format) -> tuple[bytes, ...]:
    """Return files of a format that hold the forest of :func:`parent`, as clmst writes them."""
    forest, stream = clmst.kruskal(parent()), io.BytesIO()
    clmst.write_forest(forest, stream, format=chosen.name)
    return (stream.getvalue(),)


@cache
def streams(chosen: Format) -> tuple[bytes, ...]:
    """Return files of edges that a stream reads: Parquet, and structured arrays."""
    if chosen.name == "parquet":
        return tuple(_tables())
    kinds = [("source", "i8"), ("target", "i8"), ("weight", "f4")]
    rows = np.array([(0, 1, 2.5), (1, 2, 3)], kinds)
    names = rows.astype([("source", "U1"), ("target", "S2"), ("weight", "f4")])
    return _saved(rows), _saved(rows[["source", "target"]]), _saved(names)


@cache
def parent() -> clmst.Graph:
    """Return the graph to which the forests belong."""
    return clmst.Graph.from_edges([0, 0, 1, 3, 2], [1, 2, 2, 4, 3], [5, 1, 2, 7, 3])


def _written(chosen: Format) -> Iterator[bytes]:
    made = [parent(), clmst.generate("grid", rows=4, columns=5, seed=1)]
    if chosen.name not in ("metis", "ecl"):
        made.append(clmst.Graph.from_edges([0, 7, 1], [1, 2, 9], [0.5, 1e-9, -3.25]))
        made.append(clmst.Graph.from_edges([], [], n_vertices=0))
    for graph in made:
        stream = io.BytesIO()
        clmst.write_graph(graph, stream, format=chosen.name)
        yield stream.getvalue()


def _matrices() -> Iterator[bytes]:
    """Yield archives of each layout that SciPy saves, compressed or not, and an older one."""
    matrix = np.array([[0, 2.5, 0, 1], [2.5, 0, 3, 0], [0, 3, 0, 0], [1, 0, 0, 0]])
    for k, layout in enumerate(("csr", "csc", "coo", "dia", "bsr")):
        for dtype in ("f8", "f4", "i2", "?"):
            stream = io.BytesIO()
            made = getattr(sparse, f"{layout}_array")(matrix.astype(dtype))
            sparse.save_npz(stream, made, compressed=bool(k % 2))
            yield stream.getvalue()
    arrays: dict[str, Any] = {
        "format": np.array("coo"), "shape": np.array([3, 3]), "row": np.array([0, 1]),
        "col": np.array([1, 2]), "data": np.array([1.5, 2.5]), "more": np.arange(3),
    }  # fmt: skip
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    yield stream.getvalue()


def _saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _arrays() -> Iterator[bytes]:
    """Yield ``.npy`` files of points."""
    rows = np.array([[0.5, 1], [2, 3e2], [-1, np.nan]])
    for array in (rows, rows.astype("f4"), np.asfortranarray(rows), rows[:2].astype("i8")):
        yield _saved(array)
    yield _saved(rows[:2].astype(">f8"))
    yield _saved(np.array([(0.5, 1, b"a"), (2, 3, b"b")], [("x", "f8"), ("y", "i4"), ("n", "S3")]))


def _tables() -> Iterator[bytes]:
    """Yield Parquet files of edges: several types, compressions, row groups and missing values."""
    import pyarrow as pa

    ends = {"source": [0, 1, 5, 2], "target": [1, 2, 0, 5]}
    names = {"source": ["a", "b", "\xe9", "a"], "target": ["b", "c", "a", "\xe9"]}
    weights = pa.array([1.5, -2, 3, 1e300])
    yield _parquet({**ends, "weight": weights})
    yield _parquet({**names, "weight": weights}, compression="snappy", row_group_size=2)
    yield _parquet({**ends, "weight": pa.array([1, None, 3, 4])}, compression="zstd")
    yield _parquet({**ends, "weight": pa.array(np.array([1, 2, 3, 4], np.float16))}, version="2.6")
    yield _parquet(ends, compression="gzip", use_dictionary=False)
    coded = {name: pa.array(column).dictionary_encode() for name, column in names.items()}
    yield _parquet({**coded, "weight": pa.array([1, 2, 3, 4], pa.uint64())})
    yield _parquet({**ends, "weight": pa.array([[1], [2, 3], [], [4]])}, data_page_version="2.0")
    odd = {"source": pa.array([0, 1], pa.int8()), "target": pa.array([1, 2], pa.uint16())}
    yield _parquet({**odd, "weight": pa.array([1, 2], pa.timestamp("us"))}, compression="brotli")


def _point_tables() -> Iterator[bytes]:
    import pyarrow as pa

    yield _parquet({"x": [0.5, 1.0, None], "y": pa.array([1, 2, 3], pa.int32())})
    yield _parquet({"x": [0.5, 1.0], "name": ["a", "b"]}, compression="lz4")
    yield _parquet({"vector": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))})
    yield _parquet({"vector": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}, row_group_size=1)


def _parquet(columns: dict[str, Any], **written: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, **written)
    return stream.getvalue()


def members(data: bytes) -> dict[str, bytes] | None:
    """Return the files of a zip archive by name, or None if it is damaged or not an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return None


GRAPHS = tuple(each for each in FORMATS if each.reader)
POINTS = tuple(each for each in FORMATS if each.rows_reader or each.points_reader)
FORESTS = tuple(each for each in FORMATS if each.forest_reader)
STREAMS = tuple(each for each in FORMATS if each.name in ("npy", "parquet"))
