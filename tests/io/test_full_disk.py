"""A disk that is full at any moment: one clear error, and no file half written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.processes import printed

# Writes with a limit on the size of files, which fails as a full disk does.
LIMITED = """
import json, resource, signal, sys
import clmst
from pathlib import Path
from clmst.bench.results import write_json
from clmst.generators.surrogates import SurrogateGraph

folder = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
graph = clmst.generate("random", n=300, seed=1)
forest = clmst.kruskal(graph)
both = graph.symmetrised()
surrogate = SurrogateGraph(
    name="surrogate", stands_for="", n_vertices=300, n_slots=both.n_slots, total_weight=None,
    description="", recipe=lambda: both)

def draw(path):
    from clmst.drawing import draw_forest
    draw_forest(graph, forest, path)

outputs = {
    **{f"graph{end}": lambda path: clmst.write_graph(graph, path)
       for end in (".gr", ".mtx", ".npz", ".egr", ".gr.gz", ".txt")},
    **{f"forest{end}": lambda path: clmst.write_forest(forest, path)
       for end in (".txt", ".mtx", ".npz")},
    "results.json": lambda path: write_json(path, {"measurements": list(range(2000))}),
    "surrogate.egr": lambda path: surrogate.cached(path.parent),
    "picture.png": draw,
}
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
draw(folder / "warm.svg")  # Matplotlib writes a cache of fonts when it is first used
(folder / "warm.svg").unlink()
found = []
for name, write in outputs.items():
    path = folder / name
    for limit in (1, 1000):
        for old in (b"old", None):
            path.unlink(missing_ok=True)
            if old is not None:
                path.write_bytes(old)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
            try:
                write(path)
                said = "nothing"
            except clmst.ClmstError as error:
                said = str(error)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            left = {one.name: one.read_bytes() for one in folder.iterdir()}
            found.append((name, said, left == ({} if old is None else {name: old})))
    path.unlink(missing_ok=True)
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files there have no limit on their size")
def test_a_full_disk(tmp_path: Path) -> None:
    """The old file stays as it is, and nothing else is left; nor is there half a new one."""
    found = printed("-c", LIMITED, str(tmp_path))
    assert len(found) == 12 * 4
    for name, said, is_as_before in found:
        assert is_as_before, name
        assert f"{name} was not written: " in said
        assert "what was there before is unchanged" in said
        assert "\n" not in said
