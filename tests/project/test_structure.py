"""``benchmarks.structure``: what it counts, on a clone of a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import clmst
from benchmarks import structure, way_of_a_solve

FILES = {
    "clmst/__init__.py": "class Alone: ...\nclass Used: ...\nclass Often: ...\n",
    "clmst/pack/__init__.py": "",
    "clmst/pack/top.py": (
        '"""Top."""\n\nfrom clmst import Often, Used\nfrom clmst.pack import middle\n'
    ),
    "clmst/pack/middle.py": (
        "from typing import TYPE_CHECKING\n"
        "from clmst import Often\n"
        "from clmst.pack.low import one\n"
        "if TYPE_CHECKING:\n"
        "    from clmst.pack import top\n"
    ),
    "clmst/pack/low.py": (
        'def one():\n    """Return one.\n\n    Always.\n    """\n    # so\n    return 1\n'
    ),
    "cl/pack/low.cl": "// One.\n/* Two\n   three. */\nint one();\n",
    "cl/pack/other.cl": "int two();\n",
    "tests/pack/test_low.py": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_lines_by_package(root: Path) -> None:
    """The table would else count a docstring as code, or a file twice."""
    low = structure.lines_of(root / "clmst/pack/low.py")
    assert low == {"total": 7, "blank": 1, "docstrings": 3, "comments": 1, "code": 2, "imports": 0}
    kernel = structure.lines_of(root / "cl/pack/low.cl")
    assert kernel == {"total": 4, "blank": 0, "comments": 3, "code": 1}
    found = structure.packages(root)
    assert {name: (count["files"], count["total"]) for name, count in found.items()} == {
        "cl/pack": (2, 5),
        "clmst/*.py": (1, 3),
        "clmst/pack": (4, 16),
        "product": (7, 24),
        "product, .cl": (2, 5),
        "product, .py": (5, 19),
        "tests": (1, 0),
    }
    assert found["clmst/pack"]["imports"] == 6
    versions: list[dict[str, Any]] = [{"packages": {}}, {"packages": found}]
    assert "| clmst/pack | 0 > 4 | 0 > 16 | 0 > 3 | 0 > 4 | " in structure.table(versions)


def test_classes_are_counted_by_where_they_are_named(root: Path) -> None:
    found = structure.classes(root)
    assert {what: [name.split()[-1] for name in names] for what, names in found.items()} == {
        "all": ["Alone", "Used", "Often"],
        "named nowhere else": ["Alone"],
        "named in one other file": ["Used"],
    }


def test_floors_are_the_longest_chain_of_imports(root: Path) -> None:
    """An import for types alone does not count, although it would close a cycle here."""
    assert structure.floors(root, "pack") == [
        "clmst.pack.top",
        "clmst.pack.middle",
        "clmst.pack.low",
    ]


def test_the_path_of_a_solve() -> None:
    path = structure.solve_path(structure.HERE, 50, "ecl")
    assert path["files"][0] == "api.py"
    assert {"inputs.py", "algorithms/ecl/solve.py"} <= set(path["files"])
    assert path["back"] < path["doors"] == len(path["edges"])


@pytest.fixture(scope="module")
def traced() -> dict[str, Any]:
    if not any(one.device.capabilities.kind == "cpu" for one in clmst.devices() if one.usable):
        pytest.skip("the picture is of a solve on a CPU")
    return way_of_a_solve.traced()


def test_the_picture_shows_the_files_that_a_solve_goes_through(traced: dict[str, Any]) -> None:
    """Where this fails, ``python -m benchmarks.way_of_a_solve`` draws the picture anew."""
    drawn: list[list[str]] = []
    for text in ElementTree.parse(way_of_a_solve.PICTURE).iter("{http://www.w3.org/2000/svg}text"):
        if text.get("class") == "files":
            drawn[-1] += "".join(text.itertext()).split()
        elif text.get("class") is None:
            drawn.append([])
    assert drawn == way_of_a_solve.files_by_part(traced)


def test_the_page_of_sizes_has_the_count_of_the_picture(traced: dict[str, Any]) -> None:
    """Both its count of all files, and that without the parts that every solve has."""
    page = way_of_a_solve.PICTURE.parents[1] / "code_size.md"
    files = way_of_a_solve.files_by_part(traced)
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"| {sum(map(len, files[:6]))} on a CPU," in text
    assert f"`core`, `runtime` and `route` {sum(map(len, files))}," in text


def test_calls_of_a_solve_go_down_only(traced: dict[str, Any]) -> None:
    """A part that calls one above it would be a layer that is none."""
    assert len(way_of_a_solve.PARTS) <= 9
    up = [
        (one, other)
        for one, other in traced["edges"]
        if way_of_a_solve.part_of(other) < way_of_a_solve.part_of(one)
    ]
    assert up == []


def test_a_file_of_no_part_is_refused() -> None:
    assert way_of_a_solve.PARTS[way_of_a_solve.part_of("algorithms/ecl/solve.py")].name == (
        "algorithm"
    )
    with pytest.raises(LookupError, match=r"repeated/session\.py"):
        way_of_a_solve.part_of("repeated/session.py")
