"""Words that were retired do not come back; beside each is what is said instead."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"

# Retired words, as patterns over whole words in any case, and what is said instead.
RETIRED = {
    r"guises?": "variant",
    r"stand[-_]ins?": "surrogate graph",
    r"crews?": "devices",
    r"contests?": "benchmark",
    r"entrants?": "contestant",
    r"adoptions?": "CSR validation",
    r"formations?": "executor",
    r"rivals?": "peers",
    r"likes": "mirror slots",
    r"strays?": "violations",
    r"bulges?": "sensitivity interval",
    r"one ahead": "prefetch",
    r"come by": "say what it is",
    r"the likes of": "name them",
    r"one behind the other": "in sequence",
    r"what is left": "the rest, the remaining graph",
    r"whoever": "name who",
    r"nobody": "no other, none; say what is not done",
    r"told": "say what it is",
    r"lone": "single work-item, isolated vertex, the shape of a CPU",
    r"rooms?": "capacity",
    r"noted": "stored; reference weights",
}

# Where a retired word is right: a file below the root, the word, and why.
ALLOWED = {
    ("clmst/bench/results.py", "contests?"): "a key in older files",
}

PLACES = ("clmst", "cl", "docs", "benchmarks", "examples", "tests/prove", "tests/misuse")
SUFFIXES = {".py", ".cl", ".md", ".ipynb"}

pytestmark = pytest.mark.skipif(not GLOSSARY.exists(), reason="installed without the pages")


@cache
def texts() -> dict[str, str]:
    """Return the texts of all files of prose and code by name, in lower case.

    Names in code are parted. An underscore or a capital within a name parts words, too: in_guise,
    StandIn.
    """
    return {
        path.relative_to(ROOT).as_posix(): re.sub(
            r"(?<=[a-z])(?=[A-Z])", "_", path.read_text(encoding="utf-8")
        ).lower()
        for place in PLACES
        for path in sorted((ROOT / place).rglob("*"))
        if path.suffix in SUFFIXES
    }


@pytest.mark.parametrize("word", RETIRED)
def test_retired_words_stay_away(word: str) -> None:
    # A pattern that begins with letters is found several times as fast as one that looks behind.
    pattern = re.compile(rf"{word}(?![a-z])")
    found = []
    for name, text in texts().items():
        if (name, word) in ALLOWED:
            continue
        found += [
            f"{name}:{1 + text.count(chr(10), 0, at.start())}"
            for at in pattern.finditer(text)
            if not re.match("[a-z]", text[at.start() - 1 : at.start()])
        ]
    assert not found, f"{word} was retired; say {RETIRED[word]}"


@pytest.mark.parametrize(("name", "word"), ALLOWED)
def test_what_is_allowed_is_needed(name: str, word: str) -> None:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", (ROOT / name).read_text(encoding="utf-8"))
    assert re.search(word, text, re.IGNORECASE)


def test_each_term_has_one_line() -> None:
    table = GLOSSARY.read_text(encoding="utf-8").split("## Retired words")[0]
    terms = [row.split("|")[1].strip() for row in table.splitlines() if row.startswith("| ")][1:]
    assert terms
    assert len(terms) == len(set(terms))
