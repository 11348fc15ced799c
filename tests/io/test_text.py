"""Tokens and numbers of texts: found wherever blocks are cut, and read exactly or refused."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io.text import GrowingArray, blocks, numbers, word_counts, word_error, words_of
from tests.helpers.bounds import bounds
from tests.io.files import refuses

_TEXTS = st.text(alphabet="ab1-.# \t\r\n", min_size=1, max_size=80).map(str.encode)


@given(_TEXTS, st.integers(1, 12))
def test_blocks_do_not_depend_on_where_they_are_cut(text: bytes, size: int) -> None:
    with bounds(text_block=size):
        small = list(blocks(BytesIO(text)))
    assert b"".join(block for _, block in small) == text
    for line, block in small:
        lines = block.removesuffix(b"\n").split(b"\n")
        assert text.split(b"\n")[line - 1 :][: len(lines)] == lines


@given(st.lists(_TEXTS.map(lambda text: text.replace(b"\n", b" ")), min_size=1))
def test_words_are_counted_as_python_splits(lines: list[bytes]) -> None:
    assert word_counts(lines).tolist() == [len(words_of(line)) for line in lines]


def test_a_byte_order_mark_is_no_text_and_zeros_are_refused() -> None:
    assert list(blocks(BytesIO(b"\xef\xbb\xbf1 2\n"))) == [(1, b"1 2\n")]
    with pytest.raises(FileFormatError, match="it must be a text file"):
        list(blocks(BytesIO(b"1 2\n\0\0\0\0\n")))


@pytest.mark.parametrize("line", ["1,,2", ",1,2", "1,2,", "1, ,2", "1,2,\r", " ,1", "1,\t"])
def test_an_empty_field_is_refused(tmp_path: Path, line: str) -> None:
    """The weight must not be taken for an endpoint that is missing."""
    for text in (f"0,1,5\n{line}\n3,4,5\n", f"0,1,5\n{line}"):
        refuses(tmp_path, ".txt", text, "line 2: a field is empty")


@pytest.mark.parametrize("separator", ["\x1c", "\x1d", "\x1e", "\x1f"])
@pytest.mark.parametrize("size", [8, 1 << 20])
def test_only_usual_white_space_separates_words(tmp_path: Path, separator: str, size: int) -> None:
    """For NumPy these characters are white space, too."""
    text = f"p sp 3 2\na 1 2 5\n{separator}a 2 3 4\n"
    with bounds(text_block=size):
        refuses(tmp_path, ".gr", text, f"line 3: {separator + 'a'!r} is not a kind of line")
    assert numbers([b"1 2"], [1]).tolist() == [1, 2]
    with pytest.raises(FileFormatError, match="line 7"):
        numbers([f"1{separator}2.5".encode()], [7])
    with pytest.raises(FileFormatError, match="line 7"):
        numbers([f"1 {separator}2.5".encode()], [7])


def test_errors_name_line_and_word() -> None:
    assert str(word_error((13, "oops"), "is odd")) == "line 13: 'oops' is odd"
    assert re.fullmatch(r"line 14: 'x{40}\.\.\.' is odd", str(word_error((14, "x" * 99), "is odd")))


INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)


def read(words: list[str], no_integer: str = "") -> Array:
    """Read a word a line."""
    lines = [word.encode("latin-1") for word in words]
    return numbers(lines, range(1, len(lines) + 1), no_integer)


@given(st.lists(INT64, min_size=1) | st.lists(UINT64, min_size=1))
@example([0])
@example([-(2**63), 2**63 - 1, 10**18 - 1, 10**18])
@example([2**64 - 1, 0])
def test_integers_are_exact(values: list[int]) -> None:
    found = read([str(value) for value in values], "is wrong")
    assert found.tolist() == values
    assert found.dtype == (np.uint64 if max(values) >= 2**63 else np.int64)


@pytest.mark.parametrize(
    ("word", "value"),
    [("+7", 7), ("-0", 0), ("007", 7), ("-" + "0" * 30 + "12", -12), ("0" * 25, 0)],
)
def test_signs_and_leading_zeros(word: str, value: int) -> None:
    assert read(["1", word, "2"], "is wrong").tolist() == [1, value, 2]


@pytest.mark.parametrize(
    "word",
    ["-", "+", "--1", "1-", "1.0", "x", "1_0", "0x1", ":", "/", "18446744073709551616", "9" * 5000,
     "-9223372036854775809", "1234567890123456789x", "+-1234567890123456789012"],
)  # fmt: skip
def test_what_is_no_integer_is_named(word: str) -> None:
    for words in (["1", word, "2"], ["1", word], [word]):
        with pytest.raises(FileFormatError, match=rf"line {1 + words.index(word)}: .* is wrong"):
            read(words, "is wrong")


@pytest.mark.parametrize("values", [[2**63, -1], [-1, 5, 2**64 - 1]])
def test_integers_that_no_one_type_holds_are_refused(values: list[int]) -> None:
    with pytest.raises(FileFormatError, match="does not fit into 64 bits"):
        read([str(value) for value in values])


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@example([0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf])
def test_floats_are_exact(values: list[float]) -> None:
    found = read([repr(value) for value in values])
    assert found.tobytes() == np.array(values).tobytes()


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12), min_size=1))
def test_decimals_are_correctly_rounded(values: list[object]) -> None:
    found = read([f"{value:f}" for value in values])
    assert found.tolist() == [float(Fraction(f"{value:f}")) for value in values]


def test_one_float_makes_all_of_them_floats() -> None:
    assert read(["1", "2"]).dtype == np.int64
    assert read(["1", "2.0"]).dtype == np.float64
    assert read(["1", "1e3"]).tolist() == [1.0, 1000.0]


@pytest.mark.parametrize(
    "word", ["x", "1.5.2", "1_000.5", "0x1p3", "1e", "--1.5", "1,5", "é", "²", "5\x85", "\xa05"]
)
def test_what_is_no_number_is_named(word: str) -> None:
    with pytest.raises(FileFormatError, match=r"line 2: .* is not a number"):
        read(["1.5", word])


@pytest.mark.parametrize("word", ["1e309", "-1e309", "1e99999"])
def test_floats_beyond_the_range_are_no_infinities(word: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(f"{word!r} is beyond the range")):
        read(["1.5", word, "inf"])


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
