"""Compression of files, chosen by the end of the file's name.

gzip, bzip2 and xz are in Python's standard library. Zstandard is there from Python 3.14 on. In
earlier versions pyarrow does it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, cast

from clmst.core.arguments import is_of_system
from clmst.core.errors import FileFormatError, optional_import

_PIECE_BYTES = 1 << 18
_GZIP_LEVEL = 6  # Python's default, 9, takes three times as long and saves one per cent of space
# Memory that decompressing an .xz file may take. A file declares the memory that it needs: 65 MiB
# after `xz -9`.
XZ_MEMORY = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """A method of compression: the suffix of its files, and functions that wrap a stream.

    The object that `reader` returns has ``read(n)``, which gives up to n decompressed bytes, and
    b"" at the end. The object that `writer` returns compresses what is written to it. All bytes are
    in the stream once that object is closed.
    """

    suffix: str
    name: str  # for messages
    reader: Callable[[BinaryIO], Any]
    writer: Callable[[BinaryIO], Any]

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Replace errors of the decoder inside the ``with`` by :class:`FileFormatError`.

        Yields None. Errors of the operating system, as when a disk fails, are raised unchanged.
        """
        try:
            yield
        except FileFormatError:
            raise
        # The decoders of bzip2 and pyarrow raise OSError for damaged data.
        except (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError) as error:
            if is_of_system(error):
                raise
            said = " ".join(str(error).split()) or type(error).__name__
            raise FileFormatError(
                f"cannot be decompressed ({said}); a file whose name ends in {self.suffix} must be "
                f"one whole {self.name} file"
            ) from error


class _Streams:
    """A reader of a compressed file that consists of one or more compressed streams.

    Python's own readers of bzip2 and xz files treat whatever follows the last stream as the end of
    the file, even if it is not compressed data. This reader raises FileFormatError instead.
    """

    def __init__(self, file: BinaryIO, new: Callable[[], Any], padding: bytes = b"") -> None:
        self._file, self._new, self._padding = file, new, padding
        self._decoder = new()

    def read(self, size: int) -> bytes:
        while True:
            if self._decoder.eof:
                rest = self._decoder.unused_data
                while not (rest := rest.lstrip(self._padding) if self._padding else rest):
                    if not (rest := self._file.read(_PIECE_BYTES)):
                        return b""
                self._decoder = self._new()
                data = rest
            elif self._decoder.needs_input:
                data = self._file.read(_PIECE_BYTES)
                if not data:
                    raise EOFError("the file ends before the compressed data does")
            else:
                data = b""
            if found := self._decoder.decompress(data, size):
                return cast(bytes, found)


def _zstd(file: BinaryIO, mode: str) -> Any:
    """Return an object that reads the Zstandard file `file` if `mode` is "r", or writes it for "w".

    It uses Python's own module if there is one, and otherwise pyarrow.
    """
    if find_spec("compression"):
        zstd: Any = optional_import("compression.zstd", extra="frames")
        return _Streams(file, zstd.ZstdDecompressor) if mode == "r" else zstd.ZstdFile(file, "wb")
    pyarrow = optional_import("pyarrow", extra="frames")
    streams = {"r": pyarrow.CompressedInputStream, "w": pyarrow.CompressedOutputStream}
    return streams[mode](pyarrow.PythonFile(_Unclosed(file), mode=mode), "zstd")


class _Unclosed(io.RawIOBase):
    """A wrapper around a file that keeps it open when a stream that uses the wrapper is closed."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def write(self, data: Any) -> int:
        return self._file.write(data)


CODECS: tuple[Codec, ...] = (
    Codec(
        suffix=".gz",
        name="gzip",
        reader=lambda file: gzip.GzipFile(fileobj=file),
        # The header has neither name nor time, so equal contents make equal files.
        writer=lambda file: gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0),
    ),
    Codec(
        suffix=".bz2",
        name="bzip2",
        reader=lambda file: _Streams(file, bz2.BZ2Decompressor),
        writer=partial(bz2.BZ2File, mode="wb"),
    ),
    Codec(
        suffix=".xz",
        name="xz",
        reader=lambda file: _Streams(
            file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY), b"\0"
        ),
        writer=partial(lzma.LZMAFile, mode="wb"),
    ),
    Codec(
        suffix=".zst",
        name="Zstandard",
        reader=partial(_zstd, mode="r"),
        writer=partial(_zstd, mode="w"),
    ),
)


def codec_of(path: Path) -> Codec | None:
    """Return the codec for the suffix of `path`, or None if the file is not compressed."""
    suffix = path.suffix.lower()
    return next((one for one in CODECS if one.suffix == suffix), None)
