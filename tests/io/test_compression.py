"""Compressed files of every kind: whole, damaged, and such that expand without end."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clmst
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.io import compression, files, read_graph, read_points, write_graph
from clmst.io.compression import CODECS, Codec
from tests.io.files import weight_by_edge

pytest.importorskip("pyarrow")

ARCS = "".join(f"a {v} {v + 1} {v * v % 1009}\n" for v in range(1, 2000))
TEXT = f"p sp 2000 1999\n{ARCS}"
each_codec = pytest.mark.parametrize("codec", CODECS, ids=lambda each: each.suffix[1:])


def compressed(codec: Codec, text: str = TEXT) -> bytes:
    stream = io.BytesIO()
    with codec.writer(stream) as writer:
        writer.write(text.encode())
    return stream.getvalue()


def saved(folder: Path, codec: Codec, data: bytes, name: str = "roads.gr") -> Path:
    path = folder / f"{name}{codec.suffix}"
    path.write_bytes(data)
    return path


@each_codec
def test_a_graph_comes_back(tmp_path: Path, codec: Codec) -> None:
    graph = clmst.generate("road", n=500, seed=1)
    for suffix in (".gr", ".npz", ".csv", ".parquet", ".egr"):
        write_graph(graph, path := tmp_path / f"roads{suffix}{codec.suffix.upper()}")
        assert weight_by_edge(read_graph(path)) == weight_by_edge(graph)


@each_codec
def test_equal_contents_make_equal_files(codec: Codec) -> None:
    assert compressed(codec) == compressed(codec)


@each_codec
def test_it_is_what_others_read(codec: Codec) -> None:
    readers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".xz": lzma.decompress,
    }
    data = compressed(codec)
    if codec.suffix in readers:
        assert readers[codec.suffix](data) == TEXT.encode()
    else:
        assert data[:4] == b"\x28\xb5\x2f\xfd"  # Zstandard's own mark


@each_codec
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut short"),
        pytest.param(lambda data: data[:-4], id="cut at its end"),
        pytest.param(lambda data: TEXT.encode(), id="not compressed"),
        pytest.param(lambda data: data[:20] + b"\xff\xff\xff" + data[23:], id="damaged"),
        pytest.param(lambda data: data + b"more", id="followed by something else"),
    ],
)
def test_it_must_be_one_whole_file(
    tmp_path: Path, codec: Codec, damage: Callable[[bytes], bytes]
) -> None:
    path = saved(tmp_path, codec, damage(compressed(codec)))
    with pytest.raises(FileFormatError) as failure:
        read_graph(path)
    assert str(failure.value).startswith(f"{path}: cannot be decompressed (")
    assert str(failure.value).endswith(f"in {codec.suffix} must be one whole {codec.name} file")


@each_codec
def test_several_streams_are_one_file(tmp_path: Path, codec: Codec) -> None:
    """As parallel compressors write them; .xz files may also have zeros between."""
    half = TEXT.index("\n", len(TEXT) // 2) + 1
    parts = [compressed(codec, TEXT[:half]), compressed(codec, TEXT[half:])]
    padding = b"\0" * 8 if codec.suffix == ".xz" else b""
    assert read_graph(saved(tmp_path, codec, padding.join([*parts, b""]))).n_edges == 1999


@each_codec
def test_an_empty_one_is_empty(tmp_path: Path, codec: Codec) -> None:
    with pytest.raises(FileFormatError, match="the file is empty"):
        read_graph(saved(tmp_path, codec, compressed(codec, "")))


@each_codec
def test_expansion_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: Codec
) -> None:
    path = saved(tmp_path, codec, compressed(codec, "c comment\n" * 10**5))
    monkeypatch.setattr(files, "FREE_EXPANSION", 10**4)
    monkeypatch.setattr(files, "MAX_EXPANSION", 2)
    with pytest.raises(FileFormatError, match="compressed bytes expand to"):
        read_graph(path)


def test_memory_that_an_xz_file_asks_for_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its head may name a dictionary of 4 GiB."""
    codec = next(each for each in CODECS if each.suffix == ".xz")
    monkeypatch.setattr(compression, "XZ_MEMORY", 1 << 20)
    with pytest.raises(FileFormatError, match="Memory usage limit exceeded"):
        read_graph(saved(tmp_path, codec, compressed(codec)))


@each_codec
def test_any_byte_can_be_gone_to(tmp_path: Path, codec: Codec) -> None:
    with files.reading(saved(tmp_path, codec, compressed(codec))) as source:
        stream = source.stream
        assert stream.read().decode() == TEXT
        for at in (5000, 100, 0, len(TEXT), 7):
            stream.seek(at)
            assert stream.read(9).decode() == TEXT[at : at + 9]
        assert stream.tell() == 16


# ---------------------------------------------------------------------- open files


@each_codec
def test_an_open_file_is_known_by_its_name(tmp_path: Path, codec: Codec) -> None:
    with saved(tmp_path, codec, compressed(codec)).open("rb") as file:
        assert read_graph(file).n_edges == 1999
        assert not file.closed


def test_an_open_file_without_a_name_needs_a_format() -> None:
    stream = io.BytesIO(TEXT.encode())
    with pytest.raises(InvalidArgumentError, match="the format must be named: dimacs"):
        read_graph(stream)
    assert read_graph(stream, format="dimacs").n_edges == 1999
    with pytest.raises(FileFormatError, match=r"^the stream: the file is empty"):
        read_graph(stream, format="dimacs")
    bad = io.BytesIO(b"p sp 2 1\na 1 3 1\n")
    with pytest.raises(FileFormatError, match=r"^the stream: line 2: '3' is not a vertex number"):
        read_graph(bad, format="dimacs")


def test_an_open_file_is_written_to() -> None:
    graph = clmst.Graph.from_edges([0, 1], [1, 2], [5, 6])
    stream = io.BytesIO(b"")
    write_graph(graph, stream, format="dimacs")
    assert stream.getvalue().startswith(b"p sp 3 4\na 1 2 5\n")
    points = io.BytesIO(
        b"DIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\nEOF\n"
    )
    assert read_points(points, format="tsplib").n_vertices == 2


@pytest.mark.parametrize("stream", [io.StringIO("p sp 0 0\n"), io.TextIOWrapper(io.BytesIO())])
def test_text_is_no_binary_file(stream: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="a file of text; it must be binary"):
        read_graph(stream, format="dimacs")


def test_what_gives_no_bytes_is_refused() -> None:
    class Odd:
        def read(self, size: int) -> str:
            return "text"[:size]

    odd: Any = Odd()
    with pytest.raises(InvalidArgumentError, match="the stream gives str; it must give bytes"):
        read_graph(odd, format="dimacs")
