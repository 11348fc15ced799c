"""The examples in docstrings print what they say, and sections have their underlines."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "clmst").rglob("*.py")
    if ">>> " in path.read_text()
)
MISSING = ("MissingDependencyError", "ModuleNotFoundError")  # a library that is not installed


def test_there_are_examples() -> None:
    assert len(MODULES) > 60


def test_titles_of_sections_have_a_line_of_their_own() -> None:
    """Otherwise the title of a section and its text are one paragraph."""
    joined = re.compile(r"^ *[A-Z][A-Za-z ]+ -{3,}", re.MULTILINE)
    assert joined.search("    Notes ----- The device")
    assert not joined.search("Notes\n-----\n")
    assert [p.name for p in (ROOT / "clmst").rglob("*.py") if joined.search(p.read_text())] == []


# Examples that compile all programs of a device. In the standard run, tests/test_warming.py calls
# `warm` as this example does.
COMPILE_EVERYTHING = ("clmst.warming",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] if name in COMPILE_EVERYTHING else [])
        for name in MODULES
    ],
)
def test_examples_print_what_they_say(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed = []
    for example in doctest.DocTestFinder(exclude_empty=True).find(import_module(name)):
        said: list[str] = []
        if runner.run(example, out=said.append).failed:
            failed.append("".join(said))
    if failed and all(any(one in text for one in MISSING) for text in failed):
        pytest.skip("a library is not installed")
    assert failed == []
