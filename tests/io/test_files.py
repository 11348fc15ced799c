"""Files from anywhere: opened, compressed in every way, replaced, and believed within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import threading
import zlib
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest

import clmst
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.io import FORMATS, files, read_graph, read_points, write_graph
from clmst.io.compression import CODECS, Codec
from clmst.io.files import DeclaredSizes
from tests.helpers.bounds import bounds
from tests.helpers.machine import with_memory
from tests.io.files import refuses, weight_by_edge


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "roads.gr"
    path.touch(mode=0)
    with pytest.raises(InvalidArgumentError, match="cannot be read: Permission denied"):
        read_graph(path)


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    """Readers go back to the start of a file; a pipe cannot."""
    path = tmp_path / "pipe.gr"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_text, args=["p sp 2 1\na 1 2 5\n"])
    feeder.start()
    assert read_graph(path).weights.tolist() == [5]
    feeder.join()


def test_writing_replaces_a_file_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    with files.writing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")

    def fail() -> None:
        with files.writing(path) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_the_usual_ones_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("new", "link"):
        with files.writing(tmp_path / name) as stream:
            stream.write(b"new")
        assert (tmp_path / name).stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_what_is_no_regular_file_is_written_to_and_not_replaced() -> None:
    with files.writing(Path(os.devnull)) as stream:
        stream.write(b"new")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.parametrize(
    ("name", "message"), [("no/a", "cannot be written: there is no folder"), ("", "is a directory")]
)
def test_what_cannot_be_written_to(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message), files.writing(tmp_path / name):
        pass


def test_what_a_pipe_gives_is_limited() -> None:
    assert files.read_whole(BytesIO(b"x" * 3 * 10**6)) == b"x" * 3 * 10**6
    message = "half of this machine's memory"
    with with_memory(10**6), pytest.raises(FileFormatError, match=message):
        files.read_whole(BytesIO(b"x" * 3 * 10**6))


ARCS = "".join(f"a {v} {v + 1} {v * v % 1009}\n" for v in range(1, 2000))
TEXT = f"p sp 2000 1999\n{ARCS}"
CODECS_HERE = [each for each in CODECS if each.suffix != ".zst" or find_spec("pyarrow")]
each_codec = pytest.mark.parametrize("codec", CODECS_HERE, ids=lambda each: each.suffix[1:])


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
    for suffix in (".gr", ".npz", ".csv", ".egr"):
        write_graph(graph, path := tmp_path / f"roads{suffix}{codec.suffix.upper()}")
        assert weight_by_edge(read_graph(path)) == weight_by_edge(graph)


@each_codec
def test_it_is_what_others_read(codec: Codec) -> None:
    """Equal contents make equal files."""
    modules: dict[str, Any] = {".gz": gzip, ".bz2": bz2, ".xz": lzma}
    data = compressed(codec)
    assert data == compressed(codec)
    if codec.suffix in modules:
        assert modules[codec.suffix].decompress(data) == TEXT.encode()
    else:
        assert data[:4] == b"\x28\xb5\x2f\xfd"  # Zstandard's own mark


@each_codec
def test_it_must_be_one_whole_file(tmp_path: Path, codec: Codec) -> None:
    """Not cut short, not compressed, damaged, or followed by something else."""
    data = compressed(codec)
    cuts = [data[:kept] for kept in (1, 10, 11, len(data) // 2, len(data) - 4, len(data) - 1)]
    spoilt = data[:20] + b"\xff\xff\xff" + data[23:]
    for wrong in (*cuts, TEXT.encode(), spoilt, data + b"more"):
        refuses(tmp_path, f".gr{codec.suffix}", wrong, "cannot be decompressed (")
        refuses(tmp_path, f".gr{codec.suffix}", wrong, f"must be one whole {codec.name} file")


@each_codec
def test_several_streams_are_one_file(tmp_path: Path, codec: Codec) -> None:
    """As parallel compressors write them; .xz files may also have zeros between."""
    half = TEXT.index("\n", len(TEXT) // 2) + 1
    parts = [compressed(codec, TEXT[:half]), compressed(codec, TEXT[half:])]
    padding = b"\0" * 8 if codec.suffix == ".xz" else b""
    assert read_graph(saved(tmp_path, codec, padding.join([*parts, b""]))).n_edges == 1999


@each_codec
def test_an_empty_one_is_empty(tmp_path: Path, codec: Codec) -> None:
    refuses(tmp_path, f".gr{codec.suffix}", compressed(codec, ""), "the file is empty")


@each_codec
def test_expansion_is_limited(tmp_path: Path, codec: Codec) -> None:
    """A few kilobytes may be gigabytes of zeros; what is usual passes."""
    path = saved(tmp_path, codec, compressed(codec, "c comment\n" * 10**5))
    assert path.stat().st_size * files.MAX_EXPANSION < files.FREE_EXPANSION
    with files.reading(path) as source:
        assert len(source.stream.read()) == 10**6
    rule = "there may be 10000, or 2 times as many"
    with bounds(expansion_free=10**4, expansion_times=2):
        for read in (
            lambda stream: stream.read(),
            lambda stream: [*iter(lambda: stream.read(10**4), b"")],
            lambda stream: [*iter(stream.readline, b"")],
        ):
            with pytest.raises(FileFormatError, match=rule), files.reading(path) as source:
                read(source.stream)
        with pytest.raises(FileFormatError, match="compressed bytes expand to"):
            read_graph(path)


def test_memory_that_an_xz_file_asks_for_is_limited(tmp_path: Path) -> None:
    """The head of its block, which follows the file's head, may name a dictionary of 4 GiB."""
    codec = next(each for each in CODECS if each.suffix == ".xz")
    data = bytearray(compressed(codec))
    end = 12 + 4 * data[12]
    at = data.index(b"\x21\x01", 12, end) + 2
    data[at] = 40
    data[end : end + 4] = zlib.crc32(data[12:end]).to_bytes(4, "little")
    with pytest.raises(FileFormatError, match="Memory usage limit exceeded"):
        read_graph(saved(tmp_path, codec, bytes(data)))


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
    with pytest.raises(InvalidArgumentError, match="must name it: dimacs"):
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


def test_what_the_callers_file_raises_passes() -> None:
    error = OSError(5, "the line is dead")

    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            raise error

    for chosen in FORMATS:
        for name, read in (("reader", read_graph), ("rows_reader", read_points)):
            if getattr(chosen, name):
                with pytest.raises(OSError, match="the line is dead") as caught:
                    read(cast(Any, Broken()), format=chosen.name)
                assert caught.value is error


@pytest.mark.parametrize("suffix", ["", *[each.suffix for each in CODECS_HERE]])
def test_a_file_that_the_system_cannot_read_is_named(tmp_path: Path, suffix: str) -> None:
    """No process can read the first byte of its memory: there is none."""
    for chosen in FORMATS:
        path = tmp_path / f"file{chosen.suffixes[0]}{suffix}"
        path.symlink_to("/proc/self/mem")
        for name, read in (("reader", read_graph), ("rows_reader", read_points)):
            if getattr(chosen, name):
                with pytest.raises(InvalidArgumentError, match="cannot be read: Input/output err"):
                    read(path)


def test_utf_16_is_named(tmp_path: Path) -> None:
    """It is what Windows PowerShell writes."""
    for order in ("utf-16-le", "utf-16-be"):
        text = "\ufeff0 1 5\r\n".encode(order)
        refuses(tmp_path, ".txt", text, "it is UTF-16 text, as Windows PowerShell writes; save")


def test_what_gives_no_bytes_is_refused() -> None:
    class Odd:
        def read(self, size: int) -> str:
            return "text"[:size]

    odd: Any = Odd()
    with pytest.raises(InvalidArgumentError, match="the stream gives str; it must give bytes"):
        read_graph(odd, format="dimacs")


# --------------------------------------------------------------------------- sizes of headers


MOST = "there may be 4294967294 vertices and 4294967295 edges"
MEMORY = "this machine has 1024 MiB of memory"


@pytest.mark.parametrize(
    ("n", "m", "memory", "file_bytes", "message"),
    [
        (2**32 - 1, 0, None, None, MOST),
        (0, 2**32, None, None, MOST),
        (10**60, 1, None, None, MOST),
        (100_000_000, 0, 1 << 30, None, MEMORY),
        (2, 50_000_000, 1 << 30, None, MEMORY),
        (2**26, 0, None, 2**20 - 1, "in a file of 1048575 bytes"),
        (4, 7, 1 << 30, None, None),
        (2**32 - 2, 2**32 - 1, None, None, None),
        (2**24, 0, None, 1, None),
        (2**26, 0, None, 2**20, None),
    ],
)
def test_sizes_that_a_header_may_declare(
    n: int, m: int, memory: int | None, file_bytes: int | None, message: str | None
) -> None:
    """Where memory is unknown, only the limits of graphs and of the file count."""
    words = f"00{n}", str(m)
    with with_memory(memory):
        if message is None:
            declared = DeclaredSizes.parse(*words, line=1, file_bytes=file_bytes)
            assert declared == DeclaredSizes(n_vertices=n, n_edges=m)
            return
        with pytest.raises(FileFormatError, match=f"^line 3: the header declares .*{message}"):
            DeclaredSizes.parse(*words, line=3, file_bytes=file_bytes)


@pytest.mark.parametrize("word", ["-1", "x", "1.5", "1e3", "²", "٣", "+4", ""])
def test_counts_are_plain_numbers(word: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(f"line 1: the header says {word!r}")):
        DeclaredSizes.parse(word, "1", line=1)


@pytest.mark.parametrize("suffix", [".gr", ".stp", ".mtx", ".graph", ".tsp", ".txt"])
def test_vertices_of_a_header_are_bounded_by_the_file(tmp_path: Path, suffix: str) -> None:
    """A line of text must not make gigabytes: vertices without an edge take none."""
    n = 10**9
    header = {
        ".gr": f"p sp {n} 0\n",
        ".stp": f"33D32945 STP File\nSECTION Graph\nNodes {n}\nEdges 0\nEND\nEOF\n",
        ".mtx": f"%%MatrixMarket matrix coordinate real general\n{n} {n} 0\n",
        ".graph": f"{n} 0\n",
        ".tsp": f"TYPE : TSP\nDIMENSION : {n}\nEDGE_WEIGHT_TYPE : EUC_2D\nEOF\n",
        ".txt": f"{n}\n0\n",
    }[suffix]
    for name, data in ((suffix, header.encode()), (f"{suffix}.gz", gzip.compress(header.encode()))):
        refuses(tmp_path, name, data, "16777216 vertices, or 64 for each byte")
