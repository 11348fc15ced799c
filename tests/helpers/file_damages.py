"""Damage files as may happen on their way to a reader, or as an attacker may do.

A damage is a function that takes a random generator and the bytes of a file, which it changes in
place. :func:`swept` yields the damages that can be listed: a cut at each byte, and each byte wrong.
"""

from __future__ import annotations

import codecs
import io
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from clmst.io.compression import CODECS, Codec
from tests.helpers.file_samples import members

Damage: TypeAlias = Callable[[random.Random, bytearray], None]

_WORDS = (
    b"0 1 -1 1.5 1e400 nan inf -inf 0x1f 1_0 +5 99999999999999999999 18446744073709551615 "
    b"9223372036854775808 4294967295 4294967296 2147483648 x # % , ; \xff \xc3\x28 \0 1e18 \" ' "
    b"- + . e 1e 1.e5 1,5 1e-400 -0 -0.0 00 1d3 NULL None NA N/A true 1/2 0b1 \xef\xbc\x91 "
    b"\xc2\xa0 "
    b"\xe2\x88\x92\x35 a e E p c % c1 ; :"
).split(b" ")
_LINES = (
    b"p sp 3 1\n", b"p sp 4294967295 4294967295\n", b"a 1 2 3\n", b"a\n", b"e 1 2\n", b"E\n",
    b"%%MatrixMarket matrix coordinate real general\n", b"3 3 1\n", b"SECTION Graph\n",
    b"Nodes 4000000000\n", b"END\nEOF\n", b"source,target,weight\n", b'"a","b",1\n',
    b"DIMENSION : 5\n", b"DIMENSION : 60000\n", b"EDGE_WEIGHT_TYPE : EXPLICIT\n",
    b"NODE_COORD_SECTION\n", b"# Nodes: 5 Edges: 99\n", b"# clmst graph: 5 vertices and 4 edges\n",
    b"\n", b"\r", b",\n", b",,\n", b";\n", b" \t\n", b"\xef\xbb\xbf", b"\x1a", b"\x0c", b"\x1c",
    b'"',
    b'"\n', b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaa'>]>\n", b"&a;", b"<edge/>", b"]]>",
)  # fmt: skip
_ENCODINGS = (
    "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp1252", "cp037",
    "utf-8-sig",
)  # fmt: skip
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE)
_DESCRIPTIONS = (
    "'|O'", "'|S0'", "'|V0'", "'<M8[s]'", "'<m8'", "'(2,2)<i4'", "[('a', '<i4')]", "'<U3'", "'>U3'",
    "'<U1'", "'|S3'", "'|S12'", "'<c16'", "'<g'", "'|b1'", "'>i4'", "'<u2'", "'|i1'", "'<f2'",
    "'<f4'", "'<U4294967296'", "'<U2147483648'", "'<U536870912'", "'<U-1'", "'|V8'", "''", "'<'",
    "('<f8', (2,))", "[('a', '<i4'), ('a', '<f8')]", "[('', '<i4')]", "'<f8,<i4'", "None", "0",
    "[]",
    "'|T'", "'StringDType()'", "[('a', '|O')]", "'<M8[0s]'", "'<M8[999999999999s]'", "'>V3'",
)  # fmt: skip
_SHAPES = (
    "()", "(1,)", "(2,)", "(3,)", "(0,)", "(2, 2)", "(-1,)", "(99999999999999999999,)",
    "(1099511627776,)", "(2.5,)", "('a',)", "(4294967296, 4294967296)", "(True,)", "3", "None",
    "(1,) * 65", "(9223372036854775807,)", "(1, 1, 1, 1, 1, 1)",
)  # fmt: skip
_ODD_HEADERS = (
    b"(" * 40, b"[" * 60, b"'''", b'"', b"{", b"}", b"\\", b"\n   1\n 2", b"'descr': '|O', ",
    b"'shape': (99999999999999999999,), ", b"1e999", b"\xff\xfe", b"\0", b"-" * 40, b"#", b"\t",
    b"L",
)  # fmt: skip


# ------------------------------------------------------------------------------ bytes


def _change_bytes(draw: random.Random, data: bytearray) -> None:
    for _ in range(draw.randint(1, 4)):
        if data:
            data[draw.randrange(len(data))] = draw.randrange(256)


def _flip_bit(draw: random.Random, data: bytearray) -> None:
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _cut(draw: random.Random, data: bytearray) -> None:
    at = draw.randint(0, len(data))
    del data[at : at + draw.choice((1, 2, 5, len(data)))]


def _repeat(draw: random.Random, data: bytearray) -> None:
    at = draw.randint(0, len(data))
    part = bytes(data[at : at + draw.randint(1, 60)])
    data[at:at] = part * draw.choice((1, 2, 300))


def _write_number(draw: random.Random, data: bytearray) -> None:
    """Overwrite 1 to 8 bytes with an extreme binary number."""
    if len(data) > 8:
        at, width = draw.randrange(len(data) - 8), draw.choice((1, 2, 4, 8))
        number = draw.choice((0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 62, len(data), 255))
        order = draw.choice(("little", "big"))
        word = (number % (1 << 8 * width)).to_bytes(width, order)  # type: ignore[arg-type]
        data[at : at + width] = word


def _damage_end(draw: random.Random, data: bytearray) -> None:
    """Damage the last bytes, where Parquet has its footer and zip its list of files."""
    at = max(0, len(data) - draw.choice((8, 22, 100, 400)))
    end = data[at:]
    draw.choice((_change_bytes, _flip_bit, _cut, _write_number))(draw, end)
    data[at:] = end


# ------------------------------------------------------------------------------ text


def _replace_word(draw: random.Random, data: bytearray) -> None:
    words, separator = _split(draw, data)
    words[draw.randrange(len(words))] = draw.choice(_WORDS)
    data[:] = separator.join(words)


def _swap_words(draw: random.Random, data: bytearray) -> None:
    words, separator = _split(draw, data)
    one, other = draw.randrange(len(words)), draw.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    data[:] = separator.join(words)


def _drop_word(draw: random.Random, data: bytearray) -> None:
    words, separator = _split(draw, data)
    del words[draw.randrange(len(words))]
    data[:] = separator.join(words)


def _split(draw: random.Random, data: bytearray) -> tuple[list[bytes], bytes]:
    found = [one for one in (b" ", b",", b"\n", b"\t", b'"', b"<") if one in data]
    separator = draw.choice(found or [b" "])
    return bytes(data).split(separator), separator


def _put_line(draw: random.Random, data: bytearray) -> None:
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    at = draw.choice([0, len(data), *ends])
    data[at:at] = draw.choice(_LINES)


def _swap_lines(draw: random.Random, data: bytearray) -> None:
    lines = bytes(data).split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _drop_or_double_line(draw: random.Random, data: bytearray) -> None:
    lines = bytes(data).split(b"\n")
    at = draw.randrange(len(lines))
    lines[at : at + 1] = [lines[at]] * draw.choice((0, 2, 50))
    data[:] = b"\n".join(lines)


def _other_ends(draw: random.Random, data: bytearray) -> None:
    new = draw.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\x0b", b""))
    data[:] = bytes(data).replace(b"\n", new)


def _other_spaces(draw: random.Random, data: bytearray) -> None:
    old = draw.choice((b" ", b",", b"\t", b";"))
    new = draw.choice((b"  ", b"\t", b",", b";", b", ", b"\xc2\xa0", b""))
    data[:] = bytes(data).replace(old, new)


def _other_encoding(draw: random.Random, data: bytearray) -> None:
    text = bytes(data).decode("utf-8", "replace")
    data[:] = text.encode(draw.choice(_ENCODINGS), "replace")


def _put_mark(draw: random.Random, data: bytearray) -> None:
    data[0:0] = draw.choice(_BOMS) * draw.choice((1, 1, 2))


# ------------------------------------------------------------------- NumPy, zip, compression


def odd_header(draw: random.Random, data: bytearray) -> None:
    """Damage the header of an array in NumPy's format, which is a line of Python.

    The header is overwritten in part, or replaced by one with another dtype and shape. In the
    second case the array usually gets the length that the header says, so that only the values can
    be wrong.
    """
    if draw.random() < 0.4:
        for _ in range(draw.randint(1, 3)):
            at, odd = draw.randint(0, 118), draw.choice(_ODD_HEADERS)
            data[at : at + len(odd)] = odd
        return
    if data[:6] != b"\x93NUMPY" or len(data) < 10:
        return
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    kind, shape = draw.choice(_DESCRIPTIONS), draw.choice(_SHAPES)
    order = draw.choice(("False", "False", "True", "0", "None"))
    text = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}"
    line = text.encode().ljust(117) + b"\n"
    body = bytes(data[begin:])
    if draw.random() < 0.8:
        body = _of_length(body, kind, shape)
    version = draw.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\0\0"))
    size = struct.pack("<H" if version < b"\2" else "<I", len(line))
    data[:] = b"\x93NUMPY" + version + size + line + body


def _of_length(body: bytes, kind: str, shape: str) -> bytes:
    """Return a body with the length that a header says, if that is possible."""
    try:
        cells = 1
        for extent in eval(shape):
            cells *= int(extent)
        size = cells * np.dtype(eval(kind)).itemsize
    except Exception:
        return body
    return (body * (size // max(1, len(body)) + 1))[:size] if 0 <= size < 1 << 16 else body


def _damage_member(draw: random.Random, data: bytearray) -> None:
    """Damage a file inside a zip archive.

    A damage of the archive itself would be found by a checksum, before the contents are read.
    """
    held = members(bytes(data))
    if not held:
        if data[:6] == b"\x93NUMPY":
            odd_header(draw, data)
        return
    contents = {name: bytearray(one) for name, one in held.items()}
    name = draw.choice(sorted(contents))
    what = draw.random()
    if what < 0.1:
        del contents[name]
    elif what < 0.2:
        other = draw.choice(["a.npy", "format.npy", "row.npy", "../x", "indptr", "\xe9"])
        contents[other] = contents.pop(name)
    elif what < 0.3:
        contents[name] = contents[draw.choice(sorted(contents))]
    else:
        draw.choice((_change_bytes, _cut, _repeat, _write_number, *[odd_header] * 4))(
            draw, contents[name]
        )
    stream, kind = io.BytesIO(), draw.choice(_ZIP_KINDS)
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for each, one in contents.items():
            archive.writestr(each, bytes(one))
    data[:] = stream.getvalue()


_ZIP_KINDS = (
    *[zipfile.ZIP_STORED] * 60, *[zipfile.ZIP_DEFLATED] * 20, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA,
)  # fmt: skip
_OF_BYTES: tuple[Damage, ...] = (
    _change_bytes, _flip_bit, _cut, _repeat, _write_number, _damage_end,
)  # fmt: skip
_OF_TEXT: tuple[Damage, ...] = (
    _replace_word, _replace_word, _swap_words, _drop_word, _put_line, _swap_lines,
    _drop_or_double_line, _other_ends, _other_spaces, _other_encoding, _put_mark,
)  # fmt: skip
_BINARY = frozenset({"npz", "npy", "parquet", "ecl"})


def damaged(
    draw: random.Random, good: tuple[bytes, ...], format_name: str, *, may_compress: bool = True
) -> tuple[bytes, Codec | None]:
    """Return the bytes of a damaged file, and the compression that its name will state."""
    data = bytearray(draw.choice(good))
    if format_name in _BINARY:
        if draw.random() < 0.5:
            _damage_member(draw, data)
        kinds = _OF_BYTES * 3 + _OF_TEXT
    else:
        kinds = _OF_BYTES + _OF_TEXT * 2
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        draw.choice(kinds)(draw, data)
    codec = draw.choice(_CODECS) if may_compress and draw.random() < 0.15 else None
    return (bytes(data) if codec is None else _container(draw, bytes(data), codec)), codec


# The codecs to draw from, xz less often, since it is slow.
_CODECS = [one for one in CODECS for _ in range(1 if one.suffix == ".xz" else 4)]


def _container(draw: random.Random, data: bytes, codec: Codec) -> bytes:
    """Compress bytes: correctly, damaged, as several streams, or with another compression."""
    made = draw.choice(_CODECS) if draw.random() < 0.1 else codec
    at = draw.randint(0, len(data)) if draw.random() < 0.2 else len(data)
    whole = bytearray(_compressed(made, data[:at]))
    if at < len(data):
        whole += _compressed(made, data[at:])
    if draw.random() < 0.1:
        whole += draw.choice((b"\0", b"\0" * 512, b"x", b"\n", bytes(whole)))
    if draw.random() < 0.4:
        draw.choice(_OF_BYTES)(draw, whole)
    return bytes(whole)


def _compressed(codec: Codec, data: bytes) -> bytes:
    stream = io.BytesIO()
    with codec.writer(stream) as writer:
        writer.write(data)
    return stream.getvalue()


def swept(data: bytes, most: int = 200) -> Iterator[bytes]:
    """Yield a file cut at each byte, without each byte, and with each byte wrong in four ways.

    Of a longer file, only `most` bytes at equal distances and the last bytes are changed.
    """
    step = max(1, len(data) // most)
    for at in (*range(0, len(data), step), *range(max(0, len(data) - step * 8), len(data))):
        yield data[:at]
        yield data[:at] + data[at + 1 :]
        for wrong in (0, 0xFF, data[at] ^ 1, ord(" ")):
            yield data[:at] + bytes([wrong]) + data[at + 1 :]
