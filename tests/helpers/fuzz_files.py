"""Fuzz every reader with damaged files: each file is read, or refused with one clear error.

    python -m tests.helpers.fuzz_files --rounds 100000 --seed 1 --processes 2

file_samples.py has the good files, and file_damages.py the damages. A door is a way for files to
enter clmst: as graphs, points, forests, or streams. Anything but a result or a ``FileFormatError``
that names the file counts as a failure. The following are failures, too: a file that takes longer
than SECONDS of processor time, gives a warning that is not clmst's own, or kills the process; a
text that is read differently in small blocks, or by pyarrow, than as a whole by NumPy; and a batch
of files that makes the process grow by more than BYTES.

Each batch of BATCH files is read in a separate process. The file that it is reading is on disk at
that time, so a file that kills the process is kept.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst.core.errors import FileFormatError, InvalidForestError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.io import Format, files, read_forest, read_graph, read_points
from clmst.io.compression import CODECS, Codec
from clmst.scale.source import EdgeSource
from tests.helpers import file_samples
from tests.helpers.bounds import bounds
from tests.helpers.file_damages import damaged, swept

SECONDS = 20.0
BYTES = 1 << 31  # the limit for the contents of a compressed file, and what a reader makes of them
BATCH = 1000
_BATCH_SECONDS = 1800.0
_TEXTS = ("dimacs", "steinlib", "matrix-market", "metis", "edge-list", "csv", "tsv")

Read = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A way in for files: the formats that it takes, good files of each, and the reader."""

    name: str
    formats: tuple[Format, ...]
    samples: Callable[[Format], tuple[bytes, ...]]
    read: Read


def _read_stream(path: Path, *, format: str) -> int:  # noqa: A002 - as of the other readers
    """Read all edges of a file as a stream does, and return their number."""
    source = EdgeSource.checked(path, n_vertices=None)
    return sum(piece.with_arrays(0).checked(source.n_vertices).size for piece in source.pieces())


def _read_forest(path: Path, *, format: str) -> clmst.Forest:  # noqa: A002
    return read_forest(path, file_samples.parent(), format=format)


def _read_columns(path: Path, *, format: str) -> Graph:  # noqa: A002
    return read_graph(path, format=format, columns=("source", "target", "weight"))


_EVERY_DOOR = (
    Door(
        name="graphs", formats=file_samples.GRAPHS, samples=file_samples.graphs, read=read_graph
    ),
    Door(
        name="points", formats=file_samples.POINTS, samples=file_samples.points, read=read_points
    ),
    Door(
        name="forests", formats=file_samples.FORESTS, samples=file_samples.forests,
        read=_read_forest,
    ),
    Door(
        name="streams", formats=file_samples.STREAMS, samples=file_samples.streams,
        read=_read_stream,
    ),
    Door(
        name="columns", formats=tuple(one for one in file_samples.GRAPHS if one.table_reader),
        samples=file_samples.graphs, read=_read_columns,
    ),
)  # fmt: skip
DOORS = tuple(
    Door(name=one.name, formats=tuple(each for each in one.formats if each.name != "json"),
         samples=one.samples, read=one.read)
    for one in _EVERY_DOOR
)  # fmt: skip


def bombs(codec: Codec) -> Iterator[tuple[str, bytes]]:
    """Yield small compressed files that expand beyond the limit: comments, one line, zeros."""
    for name, piece in (("comments", b"c x\n"), ("a line", b"1"), ("zeros", b"\0")):
        stream = io.BytesIO()
        with codec.writer(stream) as writer:
            block = piece * ((1 << 20) // len(piece))
            for _ in range(files.FREE_EXPANSION // len(block) + 2):
                writer.write(block)
        yield name, stream.getvalue()


# ------------------------------------------------------------------------------- outcomes


def outcome(path: Path, chosen: Format, read: Read = read_graph) -> str:
    """Read a file. Returns "read", "refused", or a description of the failure."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for category in (RuntimeWarning, DeprecationWarning, FutureWarning, ResourceWarning):
                warnings.simplefilter("error", category)
            found = read(path, format=chosen.name)
            if isinstance(found, Graph) and 0 < found.n_vertices <= 1000:
                clmst.kruskal(found)
        result = "read"
    except (FileFormatError, InvalidForestError) as error:
        named = str(path) in str(error) and "\n" not in str(error)
        result = "refused" if named else f"an error that does not name the file: {error}"
    except InvalidGraphError as error:
        # Errors about the whole stream, such as too many vertices, do not name a file.
        begins = ("the stream", "the graph")
        is_named = path.name in str(error) or str(error).startswith(begins)
        result = "refused" if is_named and read is _read_stream else f"no error of a file: {error}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        result = f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    return result if seconds < SECONDS else f"{result}, after {seconds:.0f} s"


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def compared(path: Path, chosen: Format, block: int) -> str:
    """Compare reading in small blocks, with pyarrow if possible, with reading as a whole.

    Returns "read" or "refused" if both agree, otherwise a description of the difference.
    """
    with bounds(arrow_from=1 << 62):
        plain = _tried(path, chosen)
    with bounds(arrow_from=0, text_block=block):
        other = _tried(path, chosen)
    if _same(plain, other):
        return "read" if isinstance(plain, Graph) else "refused"
    return f"read otherwise in blocks of {block} bytes: {plain!r} and {other!r}"


def _tried(path: Path, chosen: Format) -> Graph | str:
    try:
        return read_graph(path, format=chosen.name)
    except FileFormatError as error:
        return str(error)


def _same(one: Graph | str, other: Graph | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    if one.n_vertices != other.n_vertices or _labels(one) != _labels(other):
        return False
    pairs = zip(one.edges()[:3], other.edges()[:3], strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def _labels(graph: Graph) -> list[Any]:
    return [] if graph.vertex_labels is None else list(graph.vertex_labels)


def fuzz(
    rounds: int, seed: int, folder: Path, *, formats: Iterable[Format] | None = None,
    read: Read | None = None, doors: Iterable[Door] = DOORS,
) -> dict[str, dict[str, int]]:  # fmt: skip
    """Read damaged files at each door. Returns the counts of outcomes by door and format."""
    wanted = None if formats is None else [one.name for one in formats]
    counted: dict[str, dict[str, int]] = {}
    for door in doors:
        for chosen in door.formats:
            if wanted is None or chosen.name in wanted:
                drawn = _drawn(door, chosen, seed)
                counts = _batch(
                    door, chosen, islice(drawn, rounds), seed=seed, folder=folder, read=read
                )
                counted[f"{door.name} {chosen.name}"] = dict(counts)
    return counted


def _drawn(door: Door, chosen: Format, seed: int) -> Iterator[tuple[bytes, Codec | None]]:
    draw, good = random.Random(f"{seed} {door.name} {chosen.name}"), door.samples(chosen)
    while True:
        yield damaged(draw, good, chosen.name, may_compress=door.name != "streams")


def _some(door: Door, chosen: Format, seed: int, size: int) -> Iterator[tuple[bytes, Codec | None]]:
    return islice(_drawn(door, chosen, seed), size)


def _batch(
    door: Door, chosen: Format, made: Iterable[tuple[bytes, Codec | None]], *, seed: int,
    folder: Path, read: Read | None = None,
) -> Counter[str]:  # fmt: skip
    """Read some files, each of which is at one path while it is read. Files that fail are kept."""
    counts: Counter[str] = Counter()
    before = _most_memory()
    for k, (data, codec) in enumerate(made):
        suffix = chosen.suffixes[k % len(chosen.suffixes)] + (codec.suffix if codec else "")
        path = folder / f"damaged{suffix}"
        path.write_bytes(data)
        result = outcome(path, chosen, read or door.read)
        if result in ("read", "refused") and k % 8 == 0 and not read:
            is_text = door.name == "graphs" and chosen.name in _TEXTS and codec is None
            result = compared(path, chosen, 3 + k // 8 % 40) if is_text else result
        if result not in ("read", "refused"):
            kept = folder / f"failure-{door.name}-{chosen.name}-{seed}-{k}{suffix}"
            kept.write_bytes(data)
            print(f"{door.name} {chosen.name}: {kept}: {result}", file=sys.stderr, flush=True)
            result = "failed"
        counts[result] += 1
        path.unlink()
    if (grown := _most_memory() - before) > BYTES:
        print(f"{door.name} {chosen.name}, seed {seed}: takes {grown >> 20} MiB", file=sys.stderr)
        counts["failed"] += 1
    return counts


def explode(
    folder: Path, *, formats: Iterable[Format] = file_samples.GRAPHS,
    codecs: Iterable[Codec] = CODECS,
) -> dict[str, int]:  # fmt: skip
    """Read compressed files that expand beyond the limit. Each must be refused."""
    counts: Counter[str] = Counter()
    for codec in codecs:
        for name, data in bombs(codec):
            for chosen in formats:
                path = folder / f"bomb{chosen.suffixes[0]}{codec.suffix}"
                path.write_bytes(data)
                result = outcome(path, chosen)
                if result != "refused":
                    print(f"{path.name}, {name}, {len(data)} bytes: {result}", file=sys.stderr)
                counts["refused" if result == "refused" else "failed"] += 1
    return dict(counts)


# ------------------------------------------------------------------------- many processes


def in_a_process(
    kept: Path, make: Callable[[], Iterable[tuple[bytes, Codec | None]]], door: Door,
    chosen: Format, seed: int,
) -> tuple[str, Counter[str]]:  # fmt: skip
    """Read a batch in a separate process. A file that kills the process, or hangs, is kept."""
    folder = Path(tempfile.mkdtemp(prefix="clmst-fuzz-"))
    ours, theirs = _FORK.Pipe(duplex=False)
    child = _FORK.Process(
        target=lambda: theirs.send(_batch(door, chosen, make(), seed=seed, folder=folder)),
        daemon=True,
    )
    child.start()
    theirs.close()
    is_over = ours.poll(_BATCH_SECONDS)
    counts: Counter[str] = Counter()
    with suppress(EOFError):  # the process has died
        counts = ours.recv() if is_over else counts
    if not counts:
        child.kill()
    child.join()
    for path in folder.iterdir():
        is_failure = path.name.startswith("failure")
        begin = "" if is_failure else f"killed-{door.name}-{chosen.name}-{seed}-"
        shutil.move(path, kept / f"{begin}{path.name}")
    folder.rmdir()
    if not counts:
        how = f"ended by {child.exitcode}" if is_over else "hangs"
        print(f"{door.name} {chosen.name}, seed {seed}: {how}", file=sys.stderr, flush=True)
        counts["failed"] += 1
    return f"{door.name} {chosen.name}", counts


_FORK = multiprocessing.get_context("fork")


def _sweeps(door: Door, chosen: Format) -> Iterator[tuple[bytes, None]]:
    for data in door.samples(chosen):
        yield from ((one, None) for one in swept(data))


Job = Callable[[Path], tuple[str, Counter[str]]]


def _jobs(rounds: int, seed: int, wanted: list[str], *, sweeps: bool) -> Iterator[Job]:
    """Yield the batches of every format at every door, in turns."""
    ways = [
        (door, chosen) for door in DOORS for chosen in door.formats
        if not wanted or chosen.name in wanted or f"{door.name} {chosen.name}" in wanted
    ]  # fmt: skip
    if sweeps:
        for door, chosen in ways:
            make: Callable[[], Any] = partial(_sweeps, door, chosen)
            yield partial(in_a_process, make=make, door=door, chosen=chosen, seed=0)
    for first in range(0, rounds, BATCH):
        size = min(BATCH, rounds - first)
        for door, chosen in ways:
            number = seed + first // BATCH
            make = partial(_some, door, chosen, number, size)
            yield partial(in_a_process, make=make, door=door, chosen=chosen, seed=number)


def many(jobs: Iterable[Job], n_processes: int, kept: Path) -> Mapping[str, Any]:
    """Run batches, several at a time, and print the number of files after each."""
    counted: dict[str, Counter[str]] = {}
    began, n_files = time.monotonic(), 0
    with ThreadPoolExecutor(n_processes) as pool:
        for name, counts in pool.map(lambda job: job(kept), jobs):
            counted.setdefault(name, Counter()).update(counts)
            n_files += counts.total()
            failed = sum(each["failed"] for each in counted.values())
            seconds = time.monotonic() - began
            so_far = f"{seconds:7.0f} s {n_files:9,} files, {failed} failed"
            print(f"{so_far}, {name}: {dict(counts)}", flush=True)
    return {name: dict(each) for name, each in counted.items()}


def main() -> None:
    """Fuzz every reader. The exit status is 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2000, help="damaged files of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", nargs="*", default=[], help="as dimacs, or 'points csv'")
    parser.add_argument("--sweeps", action="store_true", help="each byte of each good file wrong")
    parser.add_argument("--bombs", action="store_true", help="files that expand beyond the limit")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    kept = Path(tempfile.mkdtemp(prefix="clmst-fuzz-kept-"))
    print(f"files that fail are kept in {kept}", flush=True)
    # Slow imports are done once here, not in each batch.
    for name in ("pandas", "pyarrow.csv", "pyarrow.parquet", "networkx"):
        import_module(name)
    jobs = _jobs(options.rounds, options.seed, options.formats, sweeps=options.sweeps)
    counted = dict(many(jobs, options.processes, kept))
    if options.bombs:
        counted["bombs"] = explode(kept)
    print(json.dumps(counted, indent=2))
    sys.exit(any("failed" in counts for counts in counted.values()))


if __name__ == "__main__":
    main()
