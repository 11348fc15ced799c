"""The graphs that a search times its candidates on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators import FAMILIES, generate
from clmst.io import read_graph
from clmst.runtime.capabilities import Capabilities

# Vertices of the generated graphs on a CPU, where a solve then takes some hundredths of a second;
# other devices get more, but leave three quarters of their memory free.
_VERTICES = 1 << 16
_MOST_TIMES_MORE = 32
# Vertices of a graph that "auto" solves by "prim" on CPUs (prim_vertices of a policy).
_SMALL = 2048
# Edges a vertex of the densest one, and bytes an edge that a solve takes, the graph included.
_DENSITY = 16
_BYTES_PER_EDGE = 64


# What generates or reads each graph, by its name as the user gave it, or family and parameters.
Makers: TypeAlias = Mapping[str, Callable[[], Graph]]


def standard(capabilities: Capabilities) -> Makers:
    """Return generated graphs of a size that suits a device.

    They differ in what shapes a solve: rows of four slots, of sixteen, of very uneven length, and
    chains of short ones. On CPUs there is a small one, too, for which "auto" has another algorithm.
    """
    n = _VERTICES * _times_more(capabilities)
    side = round((4 * n) ** 0.5)
    makers = [
        _generated("grid", rows=side, columns=side),
        _generated("random", n=2 * n, average_degree=16.0),
        _generated("rmat", scale=n.bit_length() - 1, edge_factor=_DENSITY),
        _generated("road", n=4 * n),
    ]
    if capabilities.kind == "cpu":
        makers.append(_generated("random", n=_SMALL, average_degree=8.0))
    return dict(makers)


def named(texts: Sequence[str]) -> Makers:
    """Return the graphs that texts name: files, or families as in ``grid:rows=500,columns=800``."""
    return dict(map(_named, texts))


def _times_more(capabilities: Capabilities) -> int:
    if capabilities.kind == "cpu":
        return 1
    times, available = 1, capabilities.global_memory // 4
    needed = 2 * _VERTICES * _DENSITY * _BYTES_PER_EDGE
    while times < _MOST_TIMES_MORE and needed * 2 * times <= available:
        times *= 2
    return times


def _generated(kind: str, **parameters: Any) -> tuple[str, Callable[[], Graph]]:
    listed = ",".join(f"{name}={value}" for name, value in parameters.items())
    return f"{kind}:{listed}" if listed else kind, partial(generate, kind, **parameters)


def _named(text: str) -> tuple[str, Callable[[], Graph]]:
    path = Path(text)
    if path.is_file():
        return text, partial(read_graph, path)
    kind, _, listed = text.partition(":")
    if kind not in FAMILIES:
        raise InvalidArgumentError(
            f"{text} is neither a file nor a graph family; families are {', '.join(FAMILIES)}, "
            "with parameters as in grid:rows=500,columns=800"
        )
    known = {parameter.name: parameter for parameter in FAMILIES[kind].parameters}
    given: dict[str, Any] = {}
    for part in filter(None, listed.split(",")):
        name, equals, value = part.partition("=")
        if name not in known or not equals:
            raise InvalidArgumentError(
                f"{text} has the part {part!r}; {kind} takes {', '.join(known)}, each as NAME=VALUE"
            )
        given[name] = known[name].parse(value)
    missing = [p.name for p in known.values() if p.required and p.name not in given]
    if missing:
        raise InvalidArgumentError(
            f"{text} does not give {', '.join(missing)}; {kind} needs it, as in "
            f"{kind}:{','.join(f'{name}=...' for name in missing)}"
        )
    return _generated(kind, **given)
