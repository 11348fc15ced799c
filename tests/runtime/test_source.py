"""Kernel sources: every file once, and the compiler's messages on the real files and lines."""

from __future__ import annotations

import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clmst import KernelBuildError
from clmst.runtime import program, source
from clmst.runtime.specialisation import Specialisation
from tests.helpers.kernel_sources import sources_in
from tests.helpers.variants import Variant, variants

FILES = sorted(str(path.relative_to(source.root())) for path in source.root().rglob("*.cl"))
MARKER = re.compile(r'#line (\d+) "cl/(.+)"')


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """Put an empty folder in place of ``cl/``."""
    with sources_in(tmp_path):
        yield tmp_path


def write(tree: Path, name: str, *lines: str) -> None:
    path = tree / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_markers_are_right(name: str) -> None:
    """Every line must be the line of the file that the markers say, once, and none be missing."""
    reported: dict[str, dict[int, str]] = {}
    begun, number = list[str](), 0
    for line in source.compose(name).splitlines():
        if match := MARKER.match(line):
            number, file = int(match[1]), match[2]
            begun += [file] if number == 1 else []
        else:
            assert number not in reported.setdefault(file, {})
            reported[file][number] = line
            number += 1
    assert begun[0] == name
    assert sorted(begun) == sorted(reported)
    for file, lines in reported.items():
        real = (source.root() / file).read_text(encoding="utf-8").splitlines()
        expected = {k: line for k, line in enumerate(real, 1) if not line.startswith("#include")}
        assert lines == expected


def test_circle_of_includes_ends(tree: Path) -> None:
    write(tree, "a.cl", '#include "b.cl"', "a")
    write(tree, "b.cl", '#include "a.cl"', "b")
    assert [x for x in source.compose("a.cl").splitlines() if x[0] != "#"] == ["b", "a"]


@pytest.mark.parametrize(
    "variant", [v for v in variants() if "-" not in v.name], ids=lambda v: v.name
)
@pytest.mark.parametrize("place", ["top", "included", "after the include"])
def test_compilers_name_the_real_line(tree: Path, variant: Variant, place: str) -> None:
    fault = "kernel void faulty(global uint *a) { a[0] = undeclared_thing; }"
    lines = {at: fault if at == place else "" for at in ("top", "included", "after the include")}
    write(tree, "device/deep.cl", "", "// a comment", lines["included"])
    write(tree, "top.cl", lines["top"], '#include "device/deep.cl"', "", lines["after the include"])
    where = {"top": "top.cl:1", "included": "device/deep.cl:3", "after the include": "top.cl:4"}
    with pytest.raises(KernelBuildError) as caught:
        program.build(
            variant.device.context, variant.device.cl_device, Specialisation.of("top.cl", {})
        )
    assert f"cl/{where[place]}:" in caught.value.log
    assert "undeclared_thing" in caught.value.log


def test_locations_of_a_compiler_that_counts_the_whole_text() -> None:
    """NVIDIA's calls all of it <kernel>, and takes no notice of #line."""
    top, deep = '#line {} "cl/top.cl"'.format, '#line 1 "cl/deep.cl"'
    text = "\n".join(['#line 1 "mine"', "// a", top(1), "", deep, "x", top(3), "y"])
    log = "<kernel>:2:1: error: a\n<kernel>:6:2: error: x\n  ^\n<kernel>:8:3: error: y"
    assert source.name_places(log, text) == (
        "mine:1:1: error: a\ncl/deep.cl:1:2: error: x\n  ^\ncl/top.cl:3:3: error: y"
    )
    assert source.name_places("<kernel>:1:9: what", "what") == "<kernel>:1:9: what"


@pytest.mark.parametrize("places", [["cl"], ["clmst/cl"], ["cl", "clmst/cl"]])
def test_root_in_a_clone_and_in_an_installed_package(places: list[str], tmp_path: Path) -> None:
    """A wheel holds the sources inside the package; those win over any folder beside it."""
    for place in places:
        (tmp_path / place / "device").mkdir(parents=True)
    assert installed(tmp_path)["root"]() == tmp_path / places[-1]


def test_root_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="kernel sources of clmst are missing"):
        installed(tmp_path)["root"]()


def installed(folder: Path) -> dict[str, Any]:
    """Return the contents of a copy of the module, made in a package in a folder."""
    copy = folder / "clmst" / "runtime" / "source.py"
    copy.parent.mkdir(parents=True)
    return runpy.run_path(str(shutil.copy(source.__file__, copy)))
