"""Draw docstrings, comments and paragraphs at random, for a reader who grades how clear they are.

    python -m benchmarks.quiz --seed 7 --docstrings 10 --comments 3 --paragraphs 3

The reader has not seen the code. For each numbered text they write one of three grades: A is clear
at once, B is clear after a second reading, C is not understood. CONTRIBUTING.md says how a reviewer
uses the texts, and ``benchmarks/quiz.json`` has the grades so far.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click

_ROOT = Path(__file__).parents[1]
_PYTHON = ("clmst", "benchmarks")
# Comments that are not drawn, because they are not for readers: those for tools, and lines of
# dashes.
_NO_WORDS = re.compile(r"#\s*(fmt:|noqa|type:|isort:|pragma|[-=]{3})|//\s*[-=]{3}")


def docstrings() -> Iterator[str]:
    """Yield every docstring, preceded by the name and the parameters of its function or class."""
    for path in _files(".py", *_PYTHON):
        module = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ):
                continue
            text = ast.get_docstring(node)
            if text:
                yield f"{module}: {_signature(node)}\n\n{text}"


def _signature(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{node.name}({ast.unparse(node.args)}){returned}"
    return "the module"


def comments() -> Iterator[str]:
    """Yield every block of comments of Python and OpenCL C, with the two lines of code after it."""
    for path in (*_files(".py", *_PYTHON), *_files(".cl", "cl")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        marks = _commented(text) if path.suffix == ".py" else _commented_in_c(lines)
        name, block = path.relative_to(_ROOT), list[int]()
        for number in (*marks, -1):
            if block and number != block[-1] + 1:
                after = block[-1] + 1
                yield f"{name}\n\n" + "\n".join(lines[block[0] : min(after + 2, len(lines))])
                block = []
            block.append(number)


def _commented(text: str) -> list[int]:
    """Return the indices of the lines of a Python text that contain only a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        one.start[0] - 1
        for one in tokens
        if one.type == tokenize.COMMENT
        and one.line.lstrip().startswith("#")
        and not _NO_WORDS.match(one.string)
    ]


def _commented_in_c(lines: list[str]) -> list[int]:
    return [
        number
        for number, line in enumerate(lines)
        if line.lstrip().startswith("//") and not _NO_WORDS.match(line.lstrip())
    ]


def paragraphs() -> Iterator[str]:
    """Yield every paragraph of the pages, with the page and the heading above it."""
    for path in (_ROOT / "README.md", *_files(".md", "docs")):
        heading, is_code = "", False
        for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            was_code, is_code = is_code, is_code ^ bool(len(re.findall("^ *```", block, re.M)) % 2)
            title, _, below = block.partition("\n") if block.startswith("#") else ("", "", block)
            heading = title.strip("# ") or heading
            if not (was_code or is_code) and re.match(r"(?!```)[\w`*†(]", below):
                yield f"{path.relative_to(_ROOT)}, {heading}\n\n{below.strip()}"


def _files(suffix: str, *folders: str) -> list[Path]:
    return [path for one in folders for path in sorted((_ROOT / one).rglob(f"*{suffix}"))]


@click.command()
@click.option("--seed", type=int, required=True, help="Seed of the draw. Take a new one each time.")
@click.option("--docstrings", "n_docstrings", default=10, show_default=True)
@click.option("--comments", "n_comments", default=3, show_default=True)
@click.option("--paragraphs", "n_paragraphs", default=3, show_default=True)
def main(seed: int, n_docstrings: int, n_comments: int, n_paragraphs: int) -> None:
    """Print texts that are drawn at random, numbered."""
    draw = random.Random(seed)
    kinds = (
        ("docstring", docstrings, n_docstrings),
        ("comment", comments, n_comments),
        ("paragraph", paragraphs, n_paragraphs),
    )
    for kind, every, count in kinds:
        for number, text in enumerate(draw.sample(list(every()), count), 1):
            click.echo(f"===== {kind} {number} =====\n{text}\n")


if __name__ == "__main__":
    main()
