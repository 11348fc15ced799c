"""Graphs of the benchmark, by name or file, generated on demand and cached.

An input is a surrogate (a generated graph that stands for a paper's graph), a random graph of an
experiment, or a file of the user. All contestants get it in one form: the symmetric CSR of a graph
without loops and parallel edges, in which the id of an edge is the index of its CSR entry (slot).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmst.core.atomic_file import make_folder
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.machine import physical_memory
from clmst.generators import surrogates
from clmst.generators.surrogates import SurrogateGraph
from clmst.io import FORMATS, read_graph, write_graph
from clmst.io.compression import CODECS, codec_of

if TYPE_CHECKING:
    from clmst.runtime.device import Device

GROUPS = ("small", "large", "all")
# Maximum number of slots of a graph in the group "small". A CPU solves a graph of this size in less
# than a second.
SMALL_SLOTS = 8_000_000

# The greatest memory that a benchmark of a graph takes, in bytes for each slot (CSR entry) and each
# vertex. It was measured with `ecl` and `boruvka`. The memory of the host also has a SciPy matrix
# and a forest.
_DEVICE_BYTES = 48
_HOST_BYTES = 24
_USABLE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A graph that can be loaded or generated."""

    name: str  # the name in results
    load: Callable[[], Graph]
    ecl_file: Callable[[], Path]  # returns the path of an ECL file of the graph, for peers
    total_weight: int | float | None = None  # of the forest, or None if it is not on record
    facts: dict[str, Any] = field(default_factory=dict)  # other facts for the results


def choose(names: Iterable[str], device: Device, cache: Path) -> tuple[list[Input], list[str]]:
    """Return the graphs of a benchmark, given names of surrogate graphs, of groups, or of files.

    A surrogate graph is generated in place of a real one that cannot be distributed, and kept in
    the folder `cache`. Each graph is returned once, even if several names mean it. Without names,
    the graphs are the group "small" on a CPU, and all surrogate graphs on GPUs and accelerators.
    Graphs that do not fit into the memory of the device or of the host are then left out, and the
    second result has their names. Raises :class:`InvalidArgumentError` if a name is unknown, or if
    two different graphs have the same name.
    """
    left_out: list[str] = []
    names = list(names)
    if not names:
        group = _group("small" if device.capabilities.kind == "cpu" else "all")
        left_out = [one.name for one in group if not _fits(one, device)]
        names = [one.name for one in group if one.name not in left_out]
    chosen: dict[str, Input] = {}
    for name in names:
        for one in _meant(name, cache):
            if one.name in chosen and one.facts != chosen[one.name].facts:
                raise InvalidArgumentError(
                    f"two graphs are called {one.name}; results go by name, so rename a file"
                )
            chosen[one.name] = one
    return list(chosen.values()), left_out


def real_file(name: str) -> Path | None:
    """Return the file of a paper's original graph, or None if the file is missing.

    The file is called `name` with the suffix of a format that clmst reads, such as
    ``USA-road-d.NY.gr.gz`` or ``soc-LiveJournal1.txt``. It must be in the folder that the
    environment variable ``CLMST_GRAPHS`` names or, if this is not set, in the current folder.
    """
    folder = Path(os.environ.get("CLMST_GRAPHS", "."))
    suffixes = [suffix for one in FORMATS if one.reader is not None for suffix in one.suffixes]
    compressed = ("", *(one.suffix for one in CODECS))
    files = (folder / f"{name}{suffix}{more}" for suffix in suffixes for more in compressed)
    return next((file for file in files if file.is_file()), None)


def is_small(one: SurrogateGraph) -> bool:
    """Return whether a surrogate graph belongs to the group "small".

    A surrogate is a generated graph that stands for a graph of a paper.
    """
    return one.n_slots <= SMALL_SLOTS


def random_graph(n: int, degree: int, cache: Path) -> Input:
    """Return the input for a uniform random graph with `n` vertices and average degree `degree`.

    The graph is generated when it is first loaded, and kept in the folder `cache`.
    """
    made = _of_surrogate(surrogates.random(n, degree), cache)
    return replace(made, facts={**made.facts, "n": n, "degree": degree})


def _meant(name: str, cache: Path) -> list[Input]:
    """Return the graphs that one name means, which are several for the name of a group.

    Generated graphs are kept in the folder `cache`. Raises :class:`InvalidArgumentError` if the
    name is unknown.
    """
    if name in GROUPS:
        return [_of_surrogate(one, cache) for one in _group(name)]
    if Path(name).is_file():
        return [_of_file(Path(name), cache)]
    is_of_a_paper = any(name == one.stands_for for one in surrogates.SURROGATES.values())
    if is_of_a_paper and (file := real_file(name)) is not None:
        return [_of_file(file, cache)]
    try:
        return [_of_surrogate(surrogates.find(name), cache)]
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"{name} is not a file, and {error}; or one of the groups {', '.join(GROUPS)}"
        ) from error


def _group(name: str) -> list[SurrogateGraph]:
    wanted = {"small": (True,), "large": (False,), "all": (True, False)}[name]
    return [one for one in surrogates.SURROGATES.values() if is_small(one) in wanted]


def _of_surrogate(one: SurrogateGraph, cache: Path) -> Input:
    return Input(
        name=one.name,
        load=lambda: in_common_form(one.load(cache)),
        ecl_file=lambda: one.cached(cache),
        total_weight=one.total_weight,
        facts={"stands_for": one.stands_for, "description": one.description},
    )


def _of_file(path: Path, cache: Path) -> Input:
    name = (path if codec_of(path) is None else path.with_suffix("")).stem

    def ecl_file() -> Path:
        if path.suffix == ".egr":
            return path
        status = path.stat()
        copy = cache / f"{name}-{status.st_size}-{status.st_mtime_ns}.egr"
        if not copy.exists():
            make_folder(cache)
            write_graph(read_graph(path), copy)
        return copy

    return Input(
        name=name,
        load=lambda: in_common_form(read_graph(path)),
        ecl_file=ecl_file,
        facts={"file": str(path)},
    )


def in_common_form(graph: Graph) -> Graph:
    """Return the graph as a symmetric CSR without vertex labels.

    The id of an edge is the index of its CSR entry (slot).
    """
    graph = graph.symmetrised()
    return graph.replace_unchecked(edge_ids=None, n_input=graph.n_slots, vertex_labels=None)


def _fits(one: SurrogateGraph, device: Device) -> bool:
    items = one.n_slots + one.n_vertices
    on_device = device.capabilities.global_memory * _USABLE
    on_host = (physical_memory() or math.inf) * _USABLE  # unknown outside POSIX
    return _DEVICE_BYTES * items <= on_device and _HOST_BYTES * items <= on_host
