"""Docstrings do not use some phrases that make a reader guess what is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("clmst", "benchmarks")

# Refused phrases, as patterns in any case, and the rule that a docstring with the phrase breaks. A
# space in a pattern stands for any white space, because a phrase may go on in the next line.
REFUSED = {
    r"\AReturn (what|how|where|why)\b": "begin with the job, or name the value that is returned",
    r"; waits": "say in a sentence of its own that the call waits",
    r"\bsuch\b(?! as)": "repeat the noun, with what sets it apart",
    r"\bthe same[.,]": "name what is equal, or say what does not change",
    r"\b(that|those) of\b": "repeat the noun",
    r"As of :func:`": "say it here, instead of referring to another function",
}

# A docstring for each pattern, which the pattern refuses.
BAD = {
    r"\AReturn (what|how|where|why)\b": "Return what a sequence has.",
    r"; waits": "Copy the edges to the host; waits.",
    r"\bsuch\b(?! as)": "Return labels.\n\n    Raises an error unless they are such.\n    ",
    r"\bthe same[.,]": "Solve in parts. The forest is the\n    same.",
    r"\b(that|those) of\b": "Count the edges and those\n    of the host.",
    r"As of :func:`": "As of :func:`random`.",
}

pytestmark = pytest.mark.skipif(
    not all((ROOT / place).is_dir() for place in PLACES), reason="installed without the sources"
)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the first line number and the text of every docstring in the source of a module."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(first := node.body[0], ast.Expr)
            and isinstance(text := first.value, ast.Constant)
            and isinstance(text.value, str)
        ):
            yield text.lineno, text.value


def hits(name: str, source: str) -> Iterator[str]:
    """Yield a message for each refused phrase: the file, the line, the phrase and the rule."""
    for line, text in docstrings(source):
        for pattern, rule in REFUSED.items():
            for at in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
                place = f"{name}:{line + text.count(chr(10), 0, at.start())}"
                yield f"{place}: {' '.join(at.group().split())!r}: {rule}"


def test_docstrings_have_no_refused_phrase() -> None:
    found = [
        message
        for place in PLACES
        for path in sorted((ROOT / place).rglob("*.py"))
        for message in hits(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("pattern", REFUSED)
def test_each_pattern_refuses_its_bad_docstring(pattern: str) -> None:
    source = f'class Some:\n    """Some."""\n\n    async def f():\n        """{BAD[pattern]}"""\n'
    (message,) = hits("some.py", source)
    assert message.startswith("some.py:")
    assert message.endswith(REFUSED[pattern])


def test_a_message_names_the_line_and_the_words() -> None:
    source = '"""Solve.\n\nThe forest is the\nsame.\n"""\n'
    assert list(hits("some.py", source)) == [
        "some.py:3: 'the same.': name what is equal, or say what does not change"
    ]


def test_other_words_and_other_texts_pass() -> None:
    """Strings and comments are not docstrings. "Such as" and "the same kind" name what is meant."""
    source = '"""Formats such as CSV, of the same kind."""\n\nname = "that of"  # such\n'
    assert list(hits("some.py", source)) == []
