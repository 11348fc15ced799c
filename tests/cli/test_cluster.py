"""``clmst cluster``: tables of points to labels and pictures."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from clmst.cli.cluster import HdbscanOption, cluster
from clmst.cluster import HDBSCAN, single_linkage
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood, fed

X = np.random.default_rng(5).normal(np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0))


@pytest.fixture(params=[".npy", ".csv", "named.csv"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"points{request.param}"
    if path.suffix == ".npy":
        np.save(path, X)
    else:
        header = "x,y" if "named" in path.name else ""
        np.savetxt(path, X, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def test_labels_are_hdbscans(run: Run, table: Path, tmp_path: Path) -> None:
    expected = HDBSCAN(8, min_samples=3).fit_predict(X)
    given = ("cluster", table, "--min-cluster-size", 8, "--min-samples", 3)
    result = run(*given, "-o", "-")
    assert_fine(result)
    assert [int(line) for line in result.stdout.split()] == expected.tolist()
    result = run(*given, "-o", tmp_path / "labels.npy", "--json")
    summary = json.loads(result.stdout)
    assert (summary["points"], summary["clusters"]) == (60, expected.max() + 1)
    assert summary["sizes"] == np.bincount(expected[expected >= 0]).tolist()
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), expected)


def test_all_parameters_of_hdbscan_are_options(run: Run, table: Path) -> None:
    """The ones without effect are not."""
    named = {one.name for one in cluster.params if isinstance(one, HdbscanOption)}
    without_effect = {"leaf_size", "n_jobs", "copy"}
    # keywords of hdbscan, which are taken so that programs written for it run
    without_effect |= {
        "approx_min_span_tree", "branch_detection_data", "core_dist_n_jobs", "gen_min_span_tree",
        "match_reference_implementation", "memory", "p", "prediction_data",
    }  # fmt: skip
    others = {"metric", "metric_params", "device", "block_points"}  # single linkage has them, too
    assert named == {*signature(HDBSCAN).parameters} - without_effect - others
    model = HDBSCAN(
        4, 3, 0.1, 30, "minkowski", {"p": 3}, 1.5, "brute", cluster_selection_method="leaf",
        allow_single_cluster=True, store_centers="both", ties="simultaneous",
    ).fit(X)  # fmt: skip
    given = (
        "cluster", table, "--min-cluster-size", 4, "--min-samples", 3, "--epsilon", 0.1,
        "--max-cluster-size", 30, "--metric", "minkowski", "--metric-param", "p=3", "--alpha", 1.5,
        "--algorithm", "brute", "--cluster-selection-method", "leaf", "--allow-single-cluster",
        "--store-centers", "both", "--ties", "simultaneous",
    )  # fmt: skip
    result = run(*given, "-o", "-")
    assert_fine(result)
    assert [int(line) for line in result.stdout.split()] == model.labels_.tolist()
    summary = json.loads(run(*given, "--json").stdout)
    assert summary["centroids"] == model.centroids_.tolist()
    assert summary["medoids"] == model.medoids_.tolist()
    shown = run(*given).stderr
    assert "centroid" in shown
    assert ", ".join(f"{one:g}" for one in model.medoids_[0]) in shown


@pytest.mark.parametrize("method", [(), ("-k", 3), ("--height", 2.0)])
def test_several_files(run: Run, tmp_path: Path, method: tuple[object, ...]) -> None:
    """A folder and a pattern are one table, and blocks do not change the labels."""
    np.save(tmp_path / "all.npy", X.astype(np.float32))
    (tmp_path / "parts").mkdir()
    for k in range(3):
        np.save(tmp_path / "parts" / f"{k}.npy", X[20 * k : 20 * k + 20].astype(np.float32))
    expected = run("cluster", tmp_path / "all.npy", *method, "-o", "-").stdout
    for file in ("all.npy", "parts", "parts/*.npy"):
        for more in ((), ("--block-points", 15)):
            result = run("cluster", tmp_path / file, *method, *more, "-o", "-")
            assert_fine(result)
            assert result.stdout == expected
    picture = tmp_path / "clusters.svg"
    given = ("--block-points", 15, "--plot", picture, "--quiet")
    assert_fine(run("cluster", tmp_path / "parts", *method, *given))
    assert picture.stat().st_size
    inside = tmp_path / "parts" / "0.npy"
    result = run("cluster", tmp_path / "parts", "-o", inside)
    assert_not_understood(result, "0.npy is the file that is read")
    result = run("cluster", tmp_path / "parts", "--format", "npy")
    assert_not_understood(result, "is a folder or a pattern, of whose files the suffixes say")
    result = run("cluster", tmp_path / "*.parquet")
    assert_fails(result, "is no file that can be read in parts")


def test_a_matrix_of_distances_and_a_tsv_file(run: Run, tmp_path: Path) -> None:
    distances = cdist(X, X)
    np.save(tmp_path / "distances.npy", distances)
    np.savetxt(tmp_path / "points.tsv", X, delimiter="\t", header="x\ty", comments="")
    expected = HDBSCAN(8).fit_predict(X).tolist()
    for name, more in (("distances.npy", ("--metric", "precomputed")), ("points.tsv", ())):
        result = run("cluster", tmp_path / name, "--min-cluster-size", 8, *more, "-o", "-")
        assert_fine(result)
        assert [int(line) for line in result.stdout.split()] == expected


def test_single_linkage(run: Run, table: Path) -> None:
    height = float(single_linkage(X)[-2, 2])
    for cut in (("-k", 2), ("--height", height)):
        result = run("cluster", table, *cut, "-o", "-")
        assert_fine(result)
        assert len(set(result.stdout.split())) == 2


FLOWERS = ("x,species,y\n", *(f"{x!r},setosa,{y!r}\n" for x, y in X.tolist()))


def test_columns_of_a_table_with_text(run: Run, tmp_path: Path) -> None:
    """As a table of flowers with their species: the error is the way out."""
    (path := tmp_path / "iris.csv").write_text("".join(FLOWERS))
    refused = run("cluster", path)
    assert_fails(refused, "column 'species' has text, as 'setosa'", "(--columns) names those")
    columns = refused.stderr.split()[-1]
    assert columns == "x,y"
    result = run("cluster", path, "--columns", columns, "-o", "-")
    assert_fine(result)
    expected = HDBSCAN(5).fit_predict(X)
    assert [int(line) for line in result.stdout.split()] == expected.tolist()


@pytest.mark.parametrize("form", ["csv", "npy", "parquet"])
def test_points_from_stdin(tmp_path: Path, form: str) -> None:
    path = tmp_path / "points"
    if form == "csv":
        path.write_text("".join(FLOWERS))
    elif form == "npy":
        with path.open("wb") as file:
            np.save(file, X)
    else:
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame({"x": X[:, 0], "species": "setosa", "y": X[:, 1]})
        frame.to_parquet(path)
    named = () if form == "npy" else ("--columns", "x,y")
    result = fed(path.read_bytes(), "cluster", "-", "--format", form, *named, "-k", 3, "-o", "-")
    assert_fine(result)
    assert result.stdout.split() == [str(k // 20) for k in range(60)]


@pytest.mark.parametrize("picture", ["clusters", "dendrogram", "condensed-tree"])
def test_pictures(run: Run, tmp_path: Path, picture: str) -> None:
    np.save(tmp_path / "points.npy", X)
    plot = tmp_path / "out.png"
    result = run("cluster", tmp_path / "points.npy", "--plot", plot, "--picture", picture, "-q")
    assert_fine(result)
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("picture", ["clusters", "dendrogram"])
def test_pages_to_explore(run: Run, tmp_path: Path, picture: str) -> None:
    pytest.importorskip("plotly")
    np.save(tmp_path / "points.npy", X)
    plot = tmp_path / "out.html"
    assert_fine(run("cluster", tmp_path / "points.npy", "--plot", plot, "--picture", picture, "-q"))
    assert "Plotly.newPlot(" in plot.read_text(encoding="utf-8")
