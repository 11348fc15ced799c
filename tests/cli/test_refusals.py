"""What each command refuses: a command line that means nothing, and what there is not."""

from __future__ import annotations

import gzip
import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from clmst.algorithms.registry import ALGORITHMS
from tests.cli.results import Run, assert_fails, assert_not_understood

POINT_FORMATS = "csv (.csv), tsv (.tsv .tab), parquet (.parquet .pq), tsplib (.tsp), npy (.npy)"

# Command lines that are refused with the usage, status 2; and words of the complaint.
MEANINGLESS = [
    ("dissolve", "'dissolve'"),
    ("bench --repeat 3", "--repeat 3 is below 9; this is allowed only with --quick"),
    ("bench --repeat 0", "--repeat"),
    ("bench --what times,speed", "'speed' is not one of times, ablation"),
    ("bench --peer cub", "'cub' is neither NAME=COMMAND nor one of scipy, networkx"),
    ("bench --peer a=b --peer a=c", "several peers are called a"),
    ("bench --peer 'clmst auto=b'", "this name belongs to clmst itself"),
    ("bench --peer-timeout 0", "--peer-timeout"),
    ("bench --vertices 1,x", "'x' is not a positive number"),
    ("bench --degrees 0", "'0' is not a positive number"),
    ("bench --resume", "--resume continues the file of --output"),
    ("bench --merge", "--merge has no files"),
    ("bench random-9-d2 --json out.json", "--output must name a file"),
    ("bench random-9-d2 --output -", "--json prints to stdout"),
    ("bench random-9-d2 --json --tables", "--json and --tables both write to stdout"),
    ("cluster points.npy -k 2 --height 1", "both say where to cut"),
    ("cluster points.npy --plot a.png --picture condensed-tree -k 2", "belongs to HDBSCAN"),
    ("cluster points.npy --plot a.html --picture condensed-tree", ".png, .svg or .pdf"),
    ("cluster points.csv --columns x,", "'x,' has an empty name"),
    ("solve points.csv --columns a,b,c,d", "has 4 names; it must be SOURCE,TARGET or"),
    ("bench --merge a.json --resume", "cannot be combined with --resume"),
    ("generate path --n many -o g.txt", "n is 'many'; it must be int"),
    ("generate circulant --n 9 --offsets '1;2' -o g.txt", "it must be comma-separated integers"),
    ("generate path --n 9 --weights heavy -o g.txt", "'heavy'"),
    ("generate path --n 9 --rows 3 -o g.txt", "--rows"),
    ("generate blob -o g.txt", "'blob'"),
    ("generate path -o g.txt", "'--n'"),
    ("generate path --n 3", "--output"),
    ("solve g.txt --fast", "--fast"),
    ("solve", "FILE"),
    (
        "solve points.npy",
        "both points, which --metric needs, and edges, which --stream reads; give",
    ),
    ("solve sample.txt --json -o -", "--output -"),
    ("solve sample.txt --device cpu --device gpu --profile", "--profile works with one"),
    ("solve sample.txt --device cpu --device gpu --repeat 2", "--repeat works with one"),
    ("solve sample.txt --device cpu --device gpu --stream", "--stream works with one"),
    (
        "solve edges.npy --stream --vertices 9 --profile",
        "--profile cannot be combined with a solve in",
    ),
    ("solve edges.npy --stream --vertices 9 --verify", "--verify cannot be combined with"),
    (
        "solve edges.npy --stream --vertices 9 --algorithm ecl",
        "--algorithm cannot be combined with",
    ),
    ("solve edges.npy --memory-limit 0", "'0' is not a size; write 500MB"),
    ("solve edges.npy --vertices 9", "--vertices is given without --stream"),
    ("solve sample.txt --stream --vertices 5", "the graph has 6"),
    ("verify sample.txt", "FOREST"),
    ("bench --algorithm kruskal -q", "no algorithm is called 'kruskal'"),
    ("generate path --n -3 -o g.txt", "n is -3"),
    ("generate complete --n 1000000 -o g.txt", "499999500000 edges"),
    ("generate path --n 3 -o g.txt --output-format gml", "'gml'"),
    ("generate path --n 3 -o g.txt --output-format gml", "dimacs"),
    (
        "generate path --n 3 -o g.graphml",
        "writes no graph in format graphml; the format must be one of dimacs",
    ),
    ("cluster points.csv --format gr", "no format of points 'gr'; there are csv (.csv)"),
    ("cluster sample.txt", "'.txt', which no format of points has; known are csv (.csv)"),
    ("cluster points.npy --metric no", "metric is 'no'"),
    ("cluster roads.gr", POINT_FORMATS),
    ("cluster roads.xyz", POINT_FORMATS),
    ("cluster points.csv --format dimacs", POINT_FORMATS),
    ("convert missing.gr out.tsp", "writes no graph in format tsplib"),
    ("convert missing.gr out.what", "'.what'"),
    ("solve none.gr --plot f.xyz", "f.xyz has the suffix '.xyz'"),
    ("solve none.gr -o f.gr", "writes no forest in format dimacs"),
    ("solve a.xyz", "'.xyz', which no format has; known are dimacs (.gr)"),
    ("solve sample.txt --algorithm magic", f"'auto', {', '.join(map(repr, ALGORITHMS))}"),
    ("solve sample.txt --without speed", "'speed'"),
    ("solve sample.txt --format gml", "no format 'gml'; there are dimacs (.gr)"),
    ("verify sample.txt points.json", "reads no forest in format json"),
    ("solve sample.txt --metric euclidean", "which no format of points has; known are csv (.csv)"),
    (
        "convert roads.graphml g.graphml",
        "writes no graph in format graphml; the format must be one of dimacs",
    ),
    ("generate path --n 3 -o g.xyz", "g.xyz has the suffix '.xyz'"),
    ("generate path --n 3 -o g.json", "writes no graph in format json"),
    ("solve sample.txt --output f.xyz", "f.xyz has the suffix '.xyz'"),
    (
        "cluster points.npy -k 2 --min-cluster-size 3",
        "--min-cluster-size belongs to HDBSCAN, but -k and",
    ),
    ("cluster points.npy --height 2 --min-samples 3", "--min-samples belongs to HDBSCAN"),
    ("cluster points.npy -k 2 --epsilon 0", "--cluster-selection-epsilon belongs to HDBSCAN"),
    ("cluster points.npy -k 2 --allow-single-cluster", "--allow-single-cluster belongs to HDBSCAN"),
    ("cluster points.npy --metric pdist", "metric is 'pdist'; it must be one of euclidean"),
    ("cluster points.npy --metric-param p", "'p' is not NAME=VALUE; write p=3"),
    ("cluster points.npy --metric-param p=x", "'p=x' is not NAME=VALUE"),
    ("cluster points.npy --algorithm kd_tree --metric cosine", "not a valid metric for algorithm"),
    ("cluster points.npy --plot a.xyz", "a.xyz has the suffix '.xyz'"),
    ("cluster points.npy --json -o -", "--json and --output - both write to stdout"),
    ("cluster points.npy -o points.npy", "points.npy is the file that is read; the output would"),
    ("cluster sample.gr --columns x", "no format of points has; known are csv (.csv)"),
    ("convert sample.txt sample.txt", "sample.txt is the file that is read; the output would"),
    (
        "convert points.npy g.txt",
        "clmst reads no graph in format npy; the format must be one of dimacs",
    ),
    (
        "convert sample.txt g.txt --columns a,b",
        "clmst names no columns in format edge-list; the format",
    ),
    ("solve sample.txt --metric no", "metric is 'no'; it must be one of"),
    ("solve sample.txt --option gamma=3", "gamma is an option of an algorithm, but the algorithm"),
    (
        "solve sample.txt --format json",
        "clmst reads no graph in format json; the format must be one of dimacs",
    ),
    ("solve sample.txt -o sample.txt", "sample.txt is the file that is read; the output would"),
    ("solve sample.txt -o ./sample.txt", "the file that is read; the output would replace it"),
    ("solve sample.txt -o link.txt", "link.txt is the file that is read, as sample.txt; the"),
    ("solve sample.txt -o hard.txt", "hard.txt is the file that is read, as sample.txt; the"),
    ("solve link.txt -o sample.txt", "sample.txt is the file that is read, as link.txt; the"),
    ("solve sample.txt --stream --checkpoint link.txt", "link.txt is the file that is read"),
    ("solve '*.npy' --stream -o edges.npz -o ./edges.npz", "edges.npz would be written twice"),
    ("solve edges.npy --stream --checkpoint edges.npy", "edges.npy is the file that is read"),
    ("solve sample.txt -o f.csv --plot f.png -o f.csv", "f.csv would be written twice"),
    ("verify sample.txt sample.txt --forest-format gml", "no format 'gml'; there are dimacs"),
]
# Command lines that ask for files, devices or contents that are not there: status 1.
IMPOSSIBLE = [
    ("bench rmat61 -q", "'rmat61'"),
    ("bench none.gr -q", "none.gr is not a file, and there is no surrogate graph"),
    ("bench --device 'no such device' -q", "no device matches"),
    ("bench random-4-d2 --what degree --degree-vertices 1 -q", "must be"),
    ("cluster points.csv", "column 'kind' has text, as 'a'; points are rows of numbers"),
    ("cluster points.csv --columns x,z", "0 columns are called 'z' among x,kind,y,w; there"),
    ("cluster points.npy --columns x", "the array has no fields; columns can be named only if"),
    ("cluster none.npy", "no such file: none.npy"),
    ("cluster damaged.npy", "damaged.npy: it is no whole .npy file"),
    ("cluster flat.npy", "flat.npy: it has an array of shape (4,)"),
    ("convert missing.gr out.gr", "no such file: missing.gr"),
    ("convert missing.gr none/out.gr", "none/out.gr cannot be written: there is no folder"),
    ("solve none.gr -o none/f.csv", "none/f.csv cannot be written"),
    ("solve none.gr --plot none/f.png", "none/f.png cannot be written"),
    ("cluster none.npy -o none/f.npy", "none/f.npy cannot be written"),
    ("solve points.csv --metric euclidean --columns x,kind,y,w", "column 'kind' has text"),
    ("solve headed.txt", "line 1: 'source' is not a vertex number; a table with a header row is"),
    ("solve semicolons.txt", "semicolons.txt: line 2: the edge has 1 fields; an edge has two"),
    ("solve latin.csv", "it must be UTF-8, and rows fit the header"),
    ("solve zipped.gr", "compressed only where its name ends in .gz"),
    ("solve none.gr", "no such file: none.gr"),
    ("solve folder.gr", "folder.gr is a directory"),
    ("solve .", ". is a folder; it must be a file (a stream takes folders"),
    ("solve damaged.npz", "damaged.npz: "),
    ("solve cut.gr.gz", "cut.gr.gz: cannot be decompressed"),
    ("solve nan.txt", "nan.txt: line 2: 'nan' is the weight of edge (1, 2)"),
    ("solve sample.txt --device abacus", "no device matches 'abacus'; there are: "),
    ("verify none.txt sample.txt", "no such file: none.txt"),
    ("verify sample.txt none.txt", "no such file: none.txt"),
    ("verify sample.txt damaged.npz", "damaged.npz: "),
    (
        "solve xy.csv",
        "xy.csv: the columns are 'x', 'y', which may be coordinates of points",
    ),
    ("solve blank.csv", "blank.csv: the file is empty; even a graph without vertices takes a h"),
    ("solve points.csv", "--columns source,target,weight; two names give every edge the weight 1"),
    ("solve roads.graphml", "no edge has the attribute 'weight', and the attributes are 'km'"),
    ("solve roads.graphml --columns from,to", "they are source and target in this format"),
    ("generate path --n 3 -o none/g.txt", "none/g.txt cannot be written"),
    ("generate path --n 3 -o folder.txt", "folder.txt is a directory"),
    ("solve sample.txt --output folder.txt", "folder.txt is a directory"),
    ("solve edges.npy --stream --vertices 5", "must be from 0 to below 5"),
]


@pytest.fixture
def files(sample: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of what there is in the working folder: a graph, edges, and a folder."""
    monkeypatch.chdir(sample.parent)
    (sample.parent / "folder.txt").mkdir()
    edges = np.zeros(20, [("source", "u4"), ("target", "u4"), ("weight", "f4")])
    edges["target"] = np.arange(20) % 9
    np.save("edges.npy", edges)
    np.save("points.npy", np.eye(3))
    np.save("flat.npy", np.arange(4.0))
    Path("damaged.npy").write_bytes(b"\x93NUMPY\x01")
    Path("damaged.npz").write_bytes(b"0 1 4\n")
    Path("cut.gr.gz").write_bytes(gzip.compress(b"p sp 2 1\na 1 2 3\n", mtime=0)[:-9])
    Path("nan.txt").write_text("0 1 0.5\n1 2 nan\n")
    Path("headed.txt").write_text("source\ttarget\n0\t1\n")
    Path("semicolons.txt").write_text("# u;v;w\n0;1;2\n")
    Path("latin.csv").write_text("source,target,weight\nBern,Genève,3\n", encoding="latin-1")
    Path("link.txt").symlink_to("sample.txt")
    os.link("sample.txt", "hard.txt")
    Path("zipped.gr").write_bytes(gzip.compress(b"p sp 2 1\na 1 2 3\n", mtime=0))
    Path("points.json").write_text("{}")
    Path("folder.gr").mkdir()
    Path("xy.csv").write_text("x,y\n1,2\n3,4\n")
    Path("blank.csv").write_text("\n")
    Path("points.csv").write_text("x,kind,y,w\n1,a,2,1\n3,b,4,1\n")
    Path("roads.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="edge" '
        'attr.name="km" attr.type="double"/><graph edgedefault="undirected"><node id="a"/>'
        '<node id="b"/><edge source="a" target="b"><data key="d">2</data></edge></graph></graphml>'
    )
    return {path.name for path in sample.parent.iterdir()}


@pytest.mark.parametrize(("command", "complaint"), MEANINGLESS)
def test_what_means_nothing(run: Run, files: set[str], command: str, complaint: str) -> None:
    assert_not_understood(run(*shlex.split(command)), complaint)
    assert {path.name for path in Path().iterdir()} == files


@pytest.mark.parametrize(("command", "complaint"), IMPOSSIBLE)
def test_what_there_is_not(run: Run, files: set[str], command: str, complaint: str) -> None:
    result = run(*shlex.split(command))
    assert_fails(result, complaint)
    assert result.stdout == ""
    assert {path.name for path in Path().iterdir()} == files
