"""Each notebook of examples/notebooks runs from an empty folder, and makes its pictures.

They are kept with their outputs, so that a reader sees the pictures before running anything.
``python -m benchmarks notebooks`` runs them and keeps the outputs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks import notebooks
from benchmarks.notebooks import hash_of

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# How many pictures of Matplotlib each makes.
PICTURES = {
    "a_graph_that_changes": 3,
    "embeddings_to_clusters": 3,
    "image_segments": 2,
    "road_network": 2,
    "stream_of_parquet": 2,
    "tree_of_correlations": 2,
    "your_own_kernel": 2,
}
# What the standard run takes; all of them run before a release.
IN_STANDARD_RUN = ("your_own_kernel",)
# Those that show what needs an OpenCL device. Without one, the others have the same outputs; the
# standard run takes one of them.
ON_A_DEVICE = ("stream_of_parquet", "your_own_kernel")
IN_STANDARD_RUN_ON_THE_HOST = "tree_of_correlations"
LONGEST = 300  # seconds, on a machine that does other things; alone on two cores it is a minute

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="installed without the examples")
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_all_are_known() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(PICTURES)
    assert {*IN_STANDARD_RUN} < {*PICTURES}


@every_notebook
def test_it_is_kept_with_its_outputs(path: Path) -> None:
    """The outputs are of these cells, in this order; the last cell shows something."""
    content = json.loads(path.read_text(encoding="utf-8"))
    first, *_, last = cells = content["cells"]
    assert first["cell_type"] == "markdown"
    assert "".join(first["source"]).startswith("# ")
    assert "pip install 'clmst[" in "".join(first["source"])
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    again = f"run: python -m benchmarks notebooks --only {path.stem}"
    assert content["metadata"]["clmst"]["outputs_of"] == hash_of(cells), again
    outputs = [one for cell in code for one in cell["outputs"]]
    assert (
        len([one for one in outputs if "image/png" in one.get("data", {})]) == PICTURES[path.stem]
    )
    assert not [one for one in outputs if one.get("name") == "stderr"]
    assert last["cell_type"] == "code"
    assert last["outputs"]
    assert path.stat().st_size < 600_000


@pytest.mark.slow  # the first pass runs it once; `run.py check` and the lowest versions do not
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem in IN_STANDARD_RUN else pytest.mark.exhaustive)
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_it_runs_and_shows_its_pictures(path: Path, tmp_path: Path) -> None:
    nbformat, nbclient = (pytest.importorskip(name) for name in ("nbformat", "nbclient"))
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, 4)
    start = time.perf_counter()
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=LONGEST, resources=folder).execute()
    assert time.perf_counter() - start < LONGEST
    outputs: list[Any] = [one for cell in notebook.cells for one in cell.get("outputs", ())]
    pictures = [one for one in outputs if "image/png" in one.get("data", {})]
    assert len(pictures) == PICTURES[path.stem]
    assert all(len(one.data["image/png"]) > 10_000 for one in pictures)  # not a blank sheet
    said = [one.text for one in outputs if one.output_type == "stream" and one.name == "stderr"]
    assert not [text for text in said if "Warning" in text]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            marks=[] if path.stem == IN_STANDARD_RUN_ON_THE_HOST else pytest.mark.exhaustive,
        )
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_it_shows_the_same_without_opencl(path: Path, tmp_path: Path) -> None:
    """Every text that a notebook shows, or an error that says why.

    Pictures are left out, because their sizes depend on the version of Matplotlib. One warning says
    that the host computes.
    """
    nbclient = pytest.importorskip("nbclient")
    for name in ("nbformat", "ipykernel", "sklearn"):
        pytest.importorskip(name)
    environment = {"OCL_ICD_VENDORS": str(tmp_path), "CLMST_CACHE": str(tmp_path / "cache"),
                   "CLMST_DEVICE": "", "PYTHONPATH": str(FOLDER.parents[1])}  # fmt: skip
    if path.stem in ON_A_DEVICE:
        with pytest.raises(nbclient.exceptions.CellExecutionError) as raised:
            notebooks.outputs_of(path.stem, **environment)
        assert raised.value.ename == "UnsupportedDeviceError"
        assert "no OpenCL device was found" in raised.value.evalue
        return
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell["outputs"] for cell in content["cells"] if cell["cell_type"] == "code"]
    found = notebooks.outputs_of(path.stem, **environment)
    assert [texts(cell) for cell in found] == [texts(cell) for cell in kept]
    said = [one["text"] for cell in found for one in cell if one.get("name") == "stderr"]
    assert "".join("".join(text) for text in said).count("DeviceWarning: no OpenCL device") == 1
    assert len(said) == 1


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """Return the texts of a cell's outputs, without pictures and without those that warn."""
    shown = [
        one
        for one in outputs
        if one.get("name") != "stderr" and "image/png" not in one.get("data", ())
    ]
    return ["".join(one["text"] if "text" in one else one["data"]["text/plain"]) for one in shown]


def test_outputs_are_written_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run changes nothing, so that a change of the file is a change of what it shows."""
    for name in ("nbformat", "nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(name)
    sources = (
        "import sys\nprint(1)\nsys.stdout.flush()\nprint(2)",
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    )
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{k}", "source": [text], "execution_count": None}
        | {"metadata": {}, "outputs": []}
        for k, text in enumerate(sources)
    ]
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    path = tmp_path / "small.ipynb"
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")
    notebooks.run("small")
    first = path.read_text(encoding="utf-8")
    printed, drawn = (cell["outputs"] for cell in json.loads(first)["cells"])
    assert printed == [{"name": "stdout", "output_type": "stream", "text": ["1\n", "2\n"]}]
    assert "image/png" in drawn[0]["data"]
    notebooks.run("small")
    assert path.read_text(encoding="utf-8") == first
