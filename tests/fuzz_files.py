"""Thousands of damaged files for every reader: each one is read, or refused by one clear error.

    python -m tests.fuzz_files --rounds 5000 --seed 1

A damaged file is a good one with some bytes changed, taken out, repeated or put elsewhere, numbers
replaced by odd ones, or lines of another format put in; then perhaps compressed, and perhaps
damaged again. In a zip archive, a file of it may be damaged, and its checksum be right. Anything
but a graph or a ``FileFormatError`` that names the file counts as a failure; so does a file that
takes longer than SECONDS, or more than BYTES of memory.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import clmst
from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.io import FORMATS, Format, files, read_graph
from clmst.io.compression import CODECS, Codec

SECONDS = 20.0
BYTES = 1 << 31  # the limit on a compressed file's contents, and what is made of them

_ODD = (
    b"0 1 -1 1.5 1e400 nan inf -inf 0x1f 1_0 +5 99999999999999999999 18446744073709551615 "
    b"9223372036854775808 4294967295 4294967296 2147483648 x # % , ; \xff \xc3\x28 \0 1e18 \" '"
).split(b" ")
_LINES = (
    b"p sp 3 1\n",
    b"p sp 4294967295 4294967295\n",
    b"a 1 2 3\n",
    b"e 1 2\n",
    b"%%MatrixMarket matrix coordinate real general\n",
    b"3 3 1\n",
    b"SECTION Graph\n",
    b"Nodes 4000000000\n",
    b"END\nEOF\n",
    b"source,target,weight\n",
    b'"a","b",1\n',
    b"DIMENSION : 5\n",
    b"EDGE_WEIGHT_TYPE : EXPLICIT\n",
    b"NODE_COORD_SECTION\n",
    b"# Nodes: 5 Edges: 99\n",
    b"# clmst graph: 5 vertices and 4 edges\n",
    b"\n",
    b"\r",
    b"\xef\xbb\xbf",
)
_TSPLIB = (
    b"NAME : a\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
    b"1 0 0\n2 3.5 4\n3 1e1 8\n4 2 2\nEOF\n",
    b"DIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\n"
    b"EDGE_WEIGHT_SECTION\n1 2 3\nEOF\n",
)
_ODD_HEADERS = (
    b"(((((((((((((((((((((((((((((((((((",
    b"[" * 60,
    b"'''",
    b'"',
    b"{",
    b"}",
    b"\\",
    b"\n   1\n 2",
    b"'descr': '|O', ",
    b"'descr': '|S0', ",
    b"'descr': '|V0', ",
    b"'descr': '<M8[s]', ",
    b"'descr': '(2,2)<i4', ",
    b"'descr': [('a', '<i4')], ",
    b"'shape': (99999999999999999999,), ",
    b"'shape': (1099511627776,), ",
    b"'shape': (-1,), ",
    b"1e999",
    b"\xff\xfe",
    b"\0",
    b"-" * 40,
    b"#",
)
Damage = Callable[[random.Random, bytearray], None]


def samples(chosen: Format) -> list[bytes]:
    """Return good files of a format."""
    if chosen.name == "tsplib":
        return list(_TSPLIB)
    if chosen.name in _XML:
        return [_XML[chosen.name]]
    if chosen.writer is None:
        return []
    graphs = [
        clmst.Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 4], [5, 1, 2, 7]),
        clmst.generate("grid", rows=4, columns=5, seed=1),
    ]
    if chosen.name not in ("metis", "ecl"):
        graphs.append(clmst.Graph.from_edges([0, 7, 1], [1, 2, 9], [0.5, 1e-9, -3.25]))
    found = []
    for graph in graphs:
        stream = io.BytesIO()
        clmst.write_graph(graph, stream, format=chosen.name)
        found.append(stream.getvalue())
    return found


_XML = {
    "graphml": b"""<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double" />
  <graph edgedefault="undirected">
    <node id="0" /> <node id="7" /> <node id="a" />
    <edge source="0" target="7"> <data key="d0">2.5</data> </edge>
    <edge source="7" target="a"> <data key="d0">1</data> </edge>
  </graph>
</graphml>
""",
    "gexf": b"""<?xml version='1.0' encoding='utf-8'?>
<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft">
  <graph defaultedgetype="undirected" mode="static" name="">
    <nodes> <node id="0" label="0" /> <node id="7" label="7" /> </nodes>
    <edges> <edge source="0" target="7" id="0" weight="2.5" /> </edges>
  </graph>
</gexf>
""",
}


# ------------------------------------------------------------------------------- damages


def _change_bytes(draw: random.Random, data: bytearray) -> None:
    for _ in range(draw.randint(1, 4)):
        if data:
            data[draw.randrange(len(data))] = draw.randrange(256)


def _cut(draw: random.Random, data: bytearray) -> None:
    at = draw.randint(0, len(data))
    del data[at : at + draw.choice((1, 2, 5, len(data)))]


def _repeat(draw: random.Random, data: bytearray) -> None:
    at = draw.randint(0, len(data))
    part = bytes(data[at : at + draw.randint(1, 60)])
    data[at:at] = part * draw.choice((1, 2, 300))


def _replace_number(draw: random.Random, data: bytearray) -> None:
    words = bytes(data).split(b" ")
    words[draw.randrange(len(words))] = draw.choice(_ODD)
    data[:] = b" ".join(words)


def _put_line(draw: random.Random, data: bytearray) -> None:
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    at = draw.choice([0, len(data), *ends])
    data[at:at] = draw.choice(_LINES)


def _swap_lines(draw: random.Random, data: bytearray) -> None:
    lines = bytes(data).split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _other_ends(draw: random.Random, data: bytearray) -> None:
    data[:] = bytes(data).replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"")))


def _odd_header(draw: random.Random, data: bytearray) -> None:
    """Overwrite a part of the header of an array in NumPy's format, which is a line of Python."""
    for _ in range(draw.randint(1, 3)):
        at, text = draw.randint(8, 118), draw.choice(_ODD_HEADERS)
        data[at : at + len(text)] = text


def _damage_member(draw: random.Random, data: bytearray) -> None:
    """Damage a file of a zip archive; else a checksum tells, and its contents are not looked at."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    name = draw.choice(sorted(members))
    draw.choice((_change_bytes, _cut, _repeat, *[_odd_header] * 3))(draw, members[name])
    stream, kind = io.BytesIO(), draw.choice(_ZIP_KINDS)
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for each, contents in members.items():
            archive.writestr(each, bytes(contents))
    data[:] = stream.getvalue()


_ZIP_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
DAMAGES: tuple[Damage, ...] = (
    _change_bytes,
    _cut,
    _repeat,
    _replace_number,
    _put_line,
    _swap_lines,
    _other_ends,
)


def damaged(draw: random.Random, good: list[bytes]) -> tuple[bytes, Codec | None]:
    """Return the bytes of a damaged file, and how it is compressed."""
    data = bytearray(draw.choice(good))
    if draw.random() < 0.5:
        _damage_member(draw, data)
    for _ in range(draw.randint(0, 3)):
        draw.choice(DAMAGES)(draw, data)
    codec = draw.choice(CODECS) if draw.random() < 0.25 else None
    if codec is not None:
        stream = io.BytesIO()
        with codec.writer(stream) as writer:
            writer.write(bytes(data))
        data = bytearray(stream.getvalue())
        if draw.random() < 0.5:
            draw.choice((_change_bytes, _cut, _repeat))(draw, data)
    return bytes(data), codec


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


def outcome(path: Path, chosen: Format, read: Callable[..., Graph] = read_graph) -> str:
    """Return "read", "refused", or what went wrong."""
    start = time.monotonic()
    try:
        graph = read(path, format=chosen.name)
        if graph.n_vertices:
            clmst.kruskal(graph)
        result = "read"
    except FileFormatError as error:
        named = str(error).startswith(f"{path}: ") and "\n" not in str(error)
        result = "refused" if named else f"an error that does not name the file: {error}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        result = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    return result if seconds < SECONDS else f"{result}, after {seconds:.0f} s"


def fuzz(
    rounds: int, seed: int, folder: Path, *, formats: Iterable[Format] = FORMATS,
    read: Callable[..., Graph] = read_graph,
) -> dict[str, dict[str, int]]:  # fmt: skip
    """Read damaged files of formats; return how often each reader read or refused one."""
    counted: dict[str, dict[str, int]] = {}
    for chosen in formats:
        good = samples(chosen)
        if not good:
            continue
        draw = random.Random(f"{seed} {chosen.name}")
        counts: Counter[str] = Counter()
        for _ in range(rounds):
            data, codec = damaged(draw, good)
            path = folder / f"damaged{chosen.suffixes[0]}{codec.suffix if codec else ''}"
            path.write_bytes(data)
            result = outcome(path, chosen, read)
            if result not in ("read", "refused"):
                kept = folder / f"failure{sum(counts.values())}{''.join(path.suffixes)}"
                kept.write_bytes(data)
                print(f"{chosen.name}: {kept}: {result}", file=sys.stderr)
                result = "failed"
            counts[result] += 1
        counted[chosen.name] = dict(counts)
    return counted


def explode(
    folder: Path, *, formats: Iterable[Format] = FORMATS, codecs: Iterable[Codec] = CODECS
) -> dict[str, int]:
    """Read compressed files that expand beyond the limit; each has to be refused."""
    counts: Counter[str] = Counter()
    for codec in codecs:
        for name, data in bombs(codec):
            for chosen in (each for each in formats if each.reader):
                path = folder / f"bomb{chosen.suffixes[0]}{codec.suffix}"
                path.write_bytes(data)
                result = outcome(path, chosen)
                if result != "refused":
                    print(f"{path.name}, {name}, {len(data)} bytes: {result}", file=sys.stderr)
                counts["refused" if result == "refused" else "failed"] += 1
    return dict(counts)


def main() -> None:
    """Fuzz every reader; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2000, help="damaged files of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bombs", action="store_true", help="files that expand beyond the limit")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clmst-fuzz-"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counted = fuzz(options.rounds, options.seed, folder)
    if options.bombs:
        counted["bombs"] = explode(folder)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(json.dumps({"readers": counted, "memory": grown}, indent=2))
    sys.exit(any("failed" in counts for counts in counted.values()) or grown > BYTES)


if __name__ == "__main__":
    main()
