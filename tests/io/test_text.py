"""Finding lines and tokens, however the file is cut into blocks."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.io import text as text_module
from clmst.io.text import Block, blocks

_TEXTS = st.text(alphabet="ab1-.# \t\r\n", min_size=1, max_size=80).map(str.encode)


def lines_of(parts: list[Block]) -> list[tuple[int, list[str]]]:
    """Return (line number, tokens) of every line."""
    return [
        (block.first_line + line, block.words(line))
        for block in parts
        for line in range(block.n_lines)
    ]


@given(_TEXTS)
def test_scan_splits_as_python_does(text: bytes) -> None:
    lines = text.split(b"\n")
    expected = [line.decode().split() for line in (lines if lines[-1] else lines[:-1])]
    block = Block(raw=text)
    assert [words for _, words in lines_of([block])] == expected
    assert block.initials().tolist() == [ord(words[0][0]) if words else 0 for words in expected]


@given(_TEXTS, st.data())
def test_an_extract_has_the_tokens_that_are_asked_for(text: bytes, data: st.DataObject) -> None:
    block = Block(raw=text)
    words = text.decode().split()
    taken = [k for k in range(len(words)) if data.draw(st.booleans())]
    found = block.extract(np.array(taken, np.int64))
    assert found.decode().split() == [words[k] for k in taken]


@given(_TEXTS, st.integers(1, 12))
def test_blocks_do_not_depend_on_where_they_are_cut(text: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "BLOCK_BYTES", size)
        small = lines_of(list(blocks(BytesIO(text))))
    assert small == lines_of([Block(raw=text)])


def test_a_byte_order_mark_is_no_token() -> None:
    (block,) = blocks(BytesIO(b"\xef\xbb\xbf1 2\n"))
    assert block.words(0) == ["1", "2"]


def test_commas_separate_where_the_format_says_so() -> None:
    (plain,) = blocks(BytesIO(b"1,2"))
    (commas,) = blocks(BytesIO(b"1,2 ,\t3"), commas=True)
    assert plain.words(0) == ["1,2"]
    assert commas.words(0) == ["1", "2", "3"]


@pytest.mark.parametrize("line", ["1,,2", ",1,2", "1,2,", "1, ,2", "1,2,\r", " ,1", "1,\t"])
def test_an_empty_field_is_refused(line: str) -> None:
    """A missing endpoint would make the weight one."""
    for text in (f"0,1,5\n{line}\n3,4,5\n", f"0,1,5\n{line}"):
        with pytest.raises(FileFormatError, match="line 2: a field is empty"):
            lines_of(list(blocks(BytesIO(text.encode()), commas=True)))


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(FileFormatError, match="it must be a text file"):
        list(blocks(BytesIO(b"1 2\n\0\0\0\0\n")))


def test_errors_name_line_and_token() -> None:
    block = Block(raw=b"1 2\n\n  3 oops 5\n" + b"x" * 100, first_line=11)
    assert str(block.token_error(3, "is odd")) == "line 13: 'oops' is odd"
    assert re.fullmatch(r"line 14: 'x{40}\.\.\.' is odd", str(block.token_error(5, "is odd")))
