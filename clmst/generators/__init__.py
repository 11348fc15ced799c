"""Families of generated graphs, each with a name, parameters and a seed.

The same parameters give the same graph everywhere. It does not depend on the platform, the version
of NumPy, or any global state, because every random number is a hash of the seed and a counter. The
graphs are simple: they have neither self-loops nor parallel edges. Their edge ids are 0, 1, 2, ...
in canonical order.

Surrogates of the graphs that papers measure are in :mod:`clmst.generators.surrogates`.

>>> from clmst import generators
>>> generators.generate("grid", rows=2, columns=3, weights="equal")
Graph(n_vertices=6, n_edges=7, weights=int32)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from clmst.core.arguments import from_text, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.generators.classic import (
    caveman,
    circulant,
    cliques,
    complete,
    delaunay,
    grid,
    path,
    star,
)
from clmst.generators.edges import WeightChoice
from clmst.generators.random_graphs import clustered, kronecker, preferential, random, rmat
from clmst.generators.road_map import road
from clmst.generators.small_worlds import ssca2, watts_strogatz

__all__ = [
    "FAMILIES", "Family", "Parameter", "WeightChoice", "caveman", "circulant", "cliques",
    "clustered", "complete", "delaunay", "generate", "grid", "kronecker", "path", "preferential",
    "random", "rmat", "road", "ssca2", "star", "watts_strogatz",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A keyword parameter of a graph family.

    Attributes
    ----------
    name : str
        The keyword of the family's function.
    type : type
        int, float, bool, str, or tuple for a sequence of int.
    default : int, float, bool, str, tuple or None
        The default value. It is None if `required`.
    required : bool
        Whether the parameter must be given, as the function does not have a default for it.
    help : str
        A description in one or two sentences.
    choices : tuple of str
        All legal values of a parameter that has only a few. Empty for all other parameters.

    Examples
    --------
    >>> from clmst.generators import FAMILIES
    >>> FAMILIES["star"].parameters[0].help
    'Number of vertices, including the hub.'
    """

    name: str
    type: type
    default: Any
    required: bool
    help: str
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> Any:
        """Convert a text to a value of the parameter's type. A sequence is written as ``1,2,5``.

        Raises
        ------
        InvalidArgumentError
            The text is not a value of the type.

        Examples
        --------
        >>> from clmst.generators import FAMILIES
        >>> FAMILIES["star"].parameters[0].parse("100")
        100
        """
        try:
            return from_text(text, tuple[int, ...] if self.type is tuple else self.type)
        except ValueError:
            wanted = "comma-separated integers" if self.type is tuple else self.type.__name__
            raise InvalidArgumentError(f"{self.name} is {text!r}; it must be {wanted}") from None


# The help texts for two parameters that nearly all families have. The docstrings of the families do
# not describe them, but refer to :func:`generate`.
_COMMON_HELP = {
    "weights": "How edges are weighted.",
    "seed": "What all randomness follows from.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A named family of graphs. Calling it generates a graph.

    Attributes
    ----------
    name : str
        Name of the family and of its function.
    function : callable
        Takes the parameters as keywords and returns a graph. It must not have side effects.
    description : str
        A description in one line.
    parameters : tuple of Parameter
        The parameters, in the order of the function's signature.

    Examples
    --------
    >>> from clmst.generators import FAMILIES
    >>> FAMILIES["path"](n=4)
    Graph(n_vertices=4, n_edges=3, weights=int32)
    """

    name: str
    function: Callable[..., Graph]
    description: str
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, function: Callable[..., Graph]) -> Family:
        """Make a family from a function that generates its graphs.

        The parameters and their help texts are taken from the signature, the annotations and the
        docstring of the function.
        """
        text = inspect.getdoc(function) or ""
        hints = get_type_hints(function)
        helps = _COMMON_HELP | _parameter_help(text)
        return cls(
            name=function.__name__,
            function=function,
            description=text.partition("\n")[0],
            parameters=tuple(
                _parameter(entry, hints[name], helps.get(name, ""))
                for name, entry in inspect.signature(function).parameters.items()
            ),
        )

    def __call__(self, **parameters: Any) -> Graph:
        """Generate a graph with the given parameters.

        Raises
        ------
        InvalidArgumentError
            A parameter is unknown, missing or illegal.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise InvalidArgumentError(
                    f"{self.name} has no parameter {name!r}; it takes {', '.join(known)}"
                )
        missing = [p.name for p in known.values() if p.required and p.name not in parameters]
        if missing:
            raise InvalidArgumentError(
                f"{self.name} needs {' and '.join(missing)}; a parameter without a default must "
                "be given"
            )
        return self.function(**parameters)


def _parameter(entry: inspect.Parameter, hint: Any, help_text: str) -> Parameter:
    required = entry.default is inspect.Parameter.empty
    is_choice = get_origin(hint) is Literal
    is_sequence = get_origin(hint) is Sequence
    return Parameter(
        name=entry.name, type=str if is_choice else tuple if is_sequence else hint,
        default=None if required else entry.default, required=required, help=help_text,
        choices=get_args(hint) if is_choice else (),
    )  # fmt: skip


def _parameter_help(text: str) -> dict[str, str]:
    """Return the description of each parameter in the NumPy-style docstring `text`, by name."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    if section is None:
        return {}
    entries = re.findall(r"^(\w[\w, ]*) : .*\n((?: +.*\n?)+)", section[1], re.MULTILINE)
    return {name: " ".join(prose.split()) for names, prose in entries for name in names.split(", ")}


_FUNCTIONS = (
    grid, road, random, rmat, kronecker, clustered, delaunay, preferential, cliques, path, star,
    complete, circulant, caveman, watts_strogatz, ssca2,
)  # fmt: skip
FAMILIES: Mapping[str, Family] = MappingProxyType({
    one.__name__: Family.of(one) for one in _FUNCTIONS
})  # fmt: skip
"""All families of graphs, by name."""


@lasting("generating a graph")
def generate(kind: str, **parameters: Any) -> Graph:
    """Generate a graph of a named family.

    Parameters
    ----------
    kind : str
        A key of :data:`FAMILIES`.
    **parameters
        The parameters of the family. ``FAMILIES[kind].parameters`` lists them, and the function of
        the same name documents them. Nearly all families take two: `weights`, one of the values
        below, and `seed`, a non-negative integer that determines all randomness.

    Returns
    -------
    Graph
        The same graph for the same arguments, on every platform.

    Raises
    ------
    InvalidArgumentError
        The family is unknown, or a parameter is unknown, missing or illegal.

    Notes
    -----
    Values of `weights`:

    * ``"int"``, the default: 1 + hash(u, v) mod n, as int32. The hash is symmetric in u and v;
    * ``"float"``: uniform in [0, 1), as float64;
    * ``"equal"``: 1, as int32. Every spanning forest is minimum, and the order of edge ids decides;
    * ``"rising"``: 1, 2, 3, ... in canonical order, as int64;
    * ``"ruler"``: 1 + the number of trailing zero bits of 1, 2, 3, ..., as int32. On a path this is
      the worst case of Borůvka's algorithm.

    Examples
    --------
    >>> from clmst.generators import generate
    >>> generate("random", n=1000, average_degree=6, weights="float")
    Graph(n_vertices=1000, n_edges=3000, weights=float64)
    """
    if not isinstance(kind, str) or str.__str__(kind) not in FAMILIES:
        raise InvalidArgumentError(
            f"there is no graph family {shown(kind)}; it must be one of {', '.join(FAMILIES)}"
        )
    return FAMILIES[kind](**parameters)
