"""Run the notebooks of examples/notebooks, and write their outputs into the notebook files.

    python -m benchmarks notebooks [--only NAME]

Each notebook runs in an empty folder. Its outputs and pictures are then written into its file, so
that readers see them before they run anything. The file also gets a hash of its code. The tests
compare the hash, and so find a notebook whose code was changed and not run again.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from PIL import Image

from benchmarks.runner import Reported

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NAMES = tuple(path.stem for path in sorted(FOLDER.glob("*.ipynb")))
COLOURS = 256  # maximum number of colours of a picture
LONGEST = 300  # maximum number of seconds for a cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def read(name: str) -> dict[str, Any]:
    """Return the content of a notebook's file."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return content


def hash_of(cells: Sequence[dict[str, Any]]) -> str:
    """Return a hash of the text of all cells with code."""
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def outputs_of(name: str, **environment: str) -> list[list[dict[str, Any]]]:
    """Run a notebook in an empty folder, and return the outputs of each of its cells with code.

    The outputs are in the form that a notebook's file stores. `environment` holds environment
    variables for the process of the notebook, in addition to the variables of this process. Raises
    nbclient's CellExecutionError if a cell raises an error.
    """
    import nbclient

    nbformat: Any = import_module("nbformat")  # whose functions have no types
    notebook = nbformat.reads(json.dumps(read(name)), 4)  # which joins the lines of each cell
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = nbclient.NotebookClient(notebook, timeout=LONGEST, resources=resources)
        # CLMST_PROGRESS=0 switches off the messages about long work.
        client.execute(env=os.environ | {"CLMST_PROGRESS": "0"} | environment)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [_joined([_kept(one) for one in cell.outputs]) for cell in code]


def run(name: str) -> None:
    """Run a notebook in an empty folder, and write its outputs into its file.

    Raises nbclient's CellExecutionError if a cell raises an error. The file is then not changed.
    """
    content, found = read(name), outputs_of(name)
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, found, strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, outputs
    content["metadata"] = METADATA | {"clmst": {"outputs_of": hash_of(content["cells"])}}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the texts that one cell has printed in several parts.

    Each of `outputs` is an output in the form that a notebook's file stores. The places at which
    the text is divided depend on timing, so without this the file would change in each run.
    """
    joined: list[dict[str, Any]] = []
    for one in outputs:
        last = joined[-1] if joined else {}
        if one["output_type"] == "stream" and last.get("name") == one["name"]:
            last["text"] = _lines("".join([*last["text"], *one["text"]]))
        else:
            joined.append(one)
    return joined


def _kept(output: Any) -> dict[str, Any]:
    """Return an output of a cell in the form that the file stores.

    Texts become lists of lines, and pictures get few colours, so that they are small.
    """
    kept: dict[str, Any] = json.loads(json.dumps(output))
    if kept["output_type"] == "stream":
        kept["text"] = _lines(kept["text"])
    for kind, value in kept.get("data", {}).items():
        kept["data"][kind] = _smaller(value) if kind == "image/png" else _lines(value)
    if "metadata" in kept:  # the size on a screen, say
        kept["metadata"] = {}
    return kept


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _smaller(picture: str) -> str:
    """Reduce the colours of a PNG picture, which is given and returned in base64."""
    with Image.open(io.BytesIO(base64.b64decode(picture))) as given:
        white = Image.new("RGBA", given.size, "white")
        flat = Image.alpha_composite(white, given.convert("RGBA")).convert("RGB")
    file = io.BytesIO()
    flat.quantize(COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


@click.command(cls=Reported)
@click.option("--only", type=click.Choice(NAMES), help="One notebook, not all.")
def main(only: str | None) -> None:
    """Run the notebooks, and write their outputs into the notebook files."""
    for name in [only] if only else NAMES:
        run(name)
        print(FOLDER / f"{name}.ipynb")
