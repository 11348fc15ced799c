"""Tokens and numbers of texts: found wherever blocks are cut, and read exactly or refused."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io import text as text_module
from clmst.io.numbers import GrowingArray, integers, numbers
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


INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)


def block_of(words: list[str]) -> tuple[Block, Array]:
    block = Block(raw="\n".join(words).encode("latin-1"))
    assert block.starts.size == len(words)
    return block, np.arange(len(words))


@given(st.lists(INT64, min_size=1) | st.lists(UINT64, min_size=1))
@example([0])
@example([-(2**63), 2**63 - 1, 10**18 - 1, 10**18])
@example([2**64 - 1, 0])
def test_integers_are_exact(values: list[int]) -> None:
    read = integers(*block_of([str(value) for value in values]), "is wrong")
    assert read.tolist() == values
    assert read.dtype == (np.uint64 if max(values) >= 2**63 else np.int64)


@pytest.mark.parametrize(
    ("word", "value"),
    [("+7", 7), ("-0", 0), ("007", 7), ("-" + "0" * 30 + "12", -12), ("0" * 25, 0)],
)
def test_signs_and_leading_zeros(word: str, value: int) -> None:
    read = integers(*block_of(["1", word, "2"]), "is wrong")
    assert read.tolist() == [1, value, 2]


@pytest.mark.parametrize(
    "word",
    ["-", "+", "--1", "1-", "1.0", "x", "1_0", "0x1", ":", "/", "18446744073709551616", "9" * 5000,
     "-9223372036854775809", "1234567890123456789x", "+-1234567890123456789012"],
)  # fmt: skip
def test_what_is_no_integer_is_named(word: str) -> None:
    for words in (["1", word, "2"], ["1", word], [word]):
        with pytest.raises(FileFormatError, match=rf"line {1 + words.index(word)}: .* is wrong"):
            integers(*block_of(words), "is wrong")


@pytest.mark.parametrize("values", [[2**63, -1], [-1, 5, 2**64 - 1]])
def test_integers_that_no_one_type_holds_are_refused(values: list[int]) -> None:
    words = [str(value) for value in values]
    with pytest.raises(FileFormatError, match="does not fit into 64 bits"):
        numbers(*block_of(words))


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@example([0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf])
def test_floats_are_exact(values: list[float]) -> None:
    read = numbers(*block_of([repr(value) for value in values]))
    assert read.tobytes() == np.array(values).tobytes()


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12), min_size=1))
def test_decimals_are_correctly_rounded(values: list[object]) -> None:
    read = numbers(*block_of([f"{value:f}" for value in values]))
    assert read.tolist() == [float(Fraction(f"{value:f}")) for value in values]


def test_one_float_makes_all_of_them_floats() -> None:
    assert numbers(*block_of(["1", "2"])).dtype == np.int64
    assert numbers(*block_of(["1", "2.0"])).dtype == np.float64
    assert numbers(*block_of(["1", "1e3"])).tolist() == [1.0, 1000.0]


@pytest.mark.parametrize(
    "word", ["x", "1.5.2", "1_000.5", "0x1p3", "1e", "--1.5", "1,5", "é", "²", "5\x85", "\xa05"]
)
def test_what_is_no_number_is_named(word: str) -> None:
    block, tokens = block_of(["1.5", word])
    with pytest.raises(FileFormatError, match=r"line 2: .* is not a number"):
        numbers(block, tokens)


@pytest.mark.parametrize("word", ["1e309", "-1e309", "1e99999"])
def test_floats_beyond_the_range_are_no_infinities(word: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(f"{word!r} is beyond the range")):
        numbers(*block_of(["1.5", word, "inf"]))


# ------------------------------------------------------------------ growing arrays

_PARTS = st.one_of(
    st.lists(st.integers(-9, 9), max_size=5).map(lambda values: np.array(values, np.int64)),
    st.lists(st.integers(0, (1 << 64) - 1), max_size=5).map(lambda v: np.array(v, np.uint64)),
    st.lists(st.floats(-9, 9), max_size=5).map(lambda values: np.array(values, np.float64)),
)


def grown(parts: list[Array]) -> Array:
    array = GrowingArray()
    for part in parts:
        array.append(part)
    return array.take()


@given(st.lists(_PARTS, min_size=1, max_size=5))
@example([np.array([-1]), np.array([(1 << 64) - 1], np.uint64)])
def test_a_growing_array_holds_its_parts(parts: list[Array]) -> None:
    """NumPy joins int64 and uint64 as float64."""
    values = [number for part in parts for number in part.tolist()]
    if any(part.dtype.kind == "f" for part in parts):
        assert grown(parts).tolist() == list(map(float, values))
    elif min(values, default=0) < 0 and max(values) >= 1 << 63:
        with pytest.raises(FileFormatError, match="all must fit into int64, or all into uint64"):
            grown(parts)
    else:
        assert grown(parts).tolist() == values


def test_it_grows_by_many_parts_and_becomes_wider() -> None:
    parts: list[Array] = [np.arange(k, dtype=np.uint32) for k in range(300)]
    assert grown(parts).tolist() == np.concatenate(parts).tolist()
    assert grown(parts).dtype == np.uint32
    assert grown([*parts, np.array([1 << 40])])[-1] == 1 << 40
