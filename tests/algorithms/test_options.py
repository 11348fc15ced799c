"""Options of all algorithms: they change no forest, name the algorithm, and refuse nonsense.

As text they say what was read.
"""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass, replace
from itertools import product
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest

from clmst import (
    BoruvkaOptions,
    Device,
    EclOptions,
    EdgeParallelOptions,
    FilterBoruvkaOptions,
    Graph,
    InvalidArgumentError,
    PmaOptions,
    PrimBoruvkaOptions,
    PrimOptions,
)
from clmst.algorithms.boruvka import Duplicates, Numbering
from clmst.algorithms.option_texts import option_names, options_of, read, texts_with, write
from clmst.algorithms.pma import Variant
from clmst.algorithms.prim import Components, Queue
from clmst.algorithms.registry import ALGORITHMS
from tests.faults.injection import inject
from tests.helpers.forests import assert_forests, parallel_edges, solve

QUEUES = get_args(Queue)
# Those of ecl, filter-boruvka and edge-parallel have tests of their own.
ALTERNATIVES = (
    *(BoruvkaOptions(numbering=a, duplicates=b)
      for a, b in product(get_args(Numbering), get_args(Duplicates))),
    *(PmaOptions(variant=a, remove_parallel=b, gamma=c)
      for a, b, c in product(get_args(Variant), (False, True), (None, 7))),
    *(PrimOptions(queue=a, components=b) for a, b in product(QUEUES, get_args(Components))),
    *(PrimBoruvkaOptions(rounds=a, prim=PrimOptions(queue=b))
      for a, b in product((0, 1, 2, 50, None), QUEUES)),
)  # fmt: skip


def name_of(options: Any) -> str:
    """Return options as a test's id."""
    if not hasattr(options, "__dataclass_fields__"):
        return str(options)
    words = [type(options).__name__.removesuffix("Options").lower()]
    return "-".join([*words, *(str(v) for v in asdict(options).values())])


def many_components(blocks: int = 40, size: int = 12) -> Graph:
    """Return components of several sizes with ties, loops and parallel edges, names shuffled."""
    rng = np.random.default_rng(6)
    n = blocks * size
    u = rng.integers(0, n, 5 * n)
    v = u // size * size + rng.integers(0, size, 5 * n)
    names = rng.permutation(n + 7)  # seven of them are isolated
    return Graph.from_edges(names[u], names[v], rng.integers(0, 9, u.size), n_vertices=n + 7)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=name_of)
def test_every_alternative(device: Device, options: Any) -> None:
    """Alternatives change how long a solve takes, never its result."""
    graph = many_components() if "Prim" in type(options).__name__ else parallel_edges()
    assert_forests(graph, device, options=options)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_options_are_of_one_algorithm(
    any_device: Device, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name it where nobody else does; others are refused before anything is launched."""
    kind, graph = ALGORITHMS[name].options, parallel_edges(n=30, m=90)
    assert solve(graph, any_device, options=kind()).stats["algorithm"] == name
    other = EclOptions() if name != "ecl" else PrimOptions()
    inject(monkeypatch, "kernel").let_fail(error=AssertionError("a kernel was launched"))
    for wrong in (other, {"filter": False}, name, 3, kind):
        with pytest.raises(InvalidArgumentError, match=f"'{name}' takes an? {kind.__name__}$"):
            solve(graph, any_device, algorithm=name, options=wrong)


# Of each class: a field, a value, and what it must be.
REFUSED: dict[type, list[tuple[str, Any, str]]] = {
    BoruvkaOptions: [
        ("numbering", "sort", "one of 'scan', 'split'"),
        ("duplicates", "drop", "one of 'auto', 'minimum', 'split', 'keep'"),
    ],
    EclOptions: [
        ("seed", np.array(3), "an integer"),
        ("seed", np.array([3]), "an integer"),
        ("samples", np.array(20), "an integer"),
        ("filter_factor", np.array(2.5), "a number"),
        ("filter", np.array(True), "True or False"),
        ("samples", 0, "1 to 1048576"),
        ("samples", -3, "1 to 1048576"),
        ("filter", 1, "True or False"),
    ],
    EdgeParallelOptions: [
        ("union_find", "none", "one of 'atomic-half', 'atomic-full', 'locked'"),
        ("schedule", "auto", "one of 'tiles', 'static', 'dynamic', 'guided'"),
    ],
    FilterBoruvkaOptions: [
        ("shape", "tpu", "one of 'auto', 'gpu', 'cpu'"),
        ("launches", "all", "one of 'auto', 'resident', 'mixed', 'separate'"),
        ("seed", np.array(3), "an integer"),
        ("seed", -1, "0 to 4294967295"),
        ("seed", 1 << 32, "0 to 4294967295"),
    ],
    PmaOptions: [
        ("variant", "heap", "one of 'min', 'sort', 'hybrid'"),
        ("workers", "warps", "one of 'auto', 'items', 'lanes'"),
        ("gamma", np.array(7), "an integer"),
        ("gamma", 1, "at least 2"),
        ("gamma", 2.5, "an integer"),
        ("gamma", True, "an integer"),
        ("remove_parallel", "no", "True or False"),
    ],
    PrimOptions: [
        ("queue", "stack", "one of 'auto', 'heap', 'array'"),
        ("components", "all", "one of 'auto', 'apart', 'together'"),
    ],
    PrimBoruvkaOptions: [
        ("rounds", np.array(3), "an integer"),
        ("rounds", 1.5, "an integer"),
        ("rounds", True, "an integer"),
    ],
}
ODD: list[tuple[type, dict[str, Any], str]] = [
    (EclOptions, {"seed": -1}, "seed is -1; it must not be negative"),
    (EclOptions, {"edge_centric": False}, "edge_centric is off but data_driven is on; worklists "),
    (FilterBoruvkaOptions, {"shape": "cpu", "launches": "mixed"},
     "launches is 'mixed' and shape is 'cpu'; only the shape 'gpu' has several kinds of launches"),
    (FilterBoruvkaOptions, {"targets": (1, 2, 3, 4)},
     "there are 4 targets; at most 3 can be given, unless shape is 'cpu'"),
    *((FilterBoruvkaOptions, {"targets": wrong, "shape": shape},
       f"targets are {wrong}; they must be positive and increasing")
      for wrong in ((1.0, 1.0), (2.0, 1.0), (0.0,), (-1.0,), (float("nan"),))
      for shape in ("auto", "cpu")),
    *((FilterBoruvkaOptions, {"targets": wrong}, f"targets are {wrong!r}; they must be a tuple")
      for wrong in ("12", 1.0, (True,), (None,))),
    (PrimBoruvkaOptions, {"rounds": -1}, "rounds is -1; it must not be negative"),
]  # fmt: skip


def said_of(value: object) -> str:
    """Return the end of the message about an array in place of an integer."""
    is_whole = isinstance(value, np.ndarray) and value.dtype.kind == "i"
    return ", an array" if is_whole else ""


@pytest.mark.parametrize(
    ("kind", "arguments", "words"),
    [(kind, {name: value}, f"{name} is {value!r}{said_of(value)}; it must be {rule}")
     for kind, wrongs in REFUSED.items() for name, value, rule in wrongs] + ODD,
)  # fmt: skip
def test_options_that_mean_nothing(kind: Any, arguments: dict[str, Any], words: str) -> None:
    """However they are made, they are refused by the fact and the rule."""
    for make, given in ((kind, ()), (replace, (kind(),))):
        with pytest.raises(InvalidArgumentError) as caught:
            make(*given, **arguments)
        assert str(caught.value).startswith(words)


# Classes of options as a caller without a type checker sees them.
UNTYPED: Any = SimpleNamespace(
    filter=FilterBoruvkaOptions, ecl=EclOptions, pma=PmaOptions, prim=PrimBoruvkaOptions
)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (UNTYPED.filter(
            shape=np.str_("cpu"), seed=np.uint8(3), targets=[np.float32(0.5), np.int64(2)]),
         FilterBoruvkaOptions(shape="cpu", seed=3, targets=(0.5, 2.0))),
        (FilterBoruvkaOptions(targets=(10**400,)), FilterBoruvkaOptions(targets=(np.inf,))),
        (UNTYPED.ecl(filter=np.False_, filter_factor=np.float64(2.5), samples=np.int64(9)),
         EclOptions(filter=False, filter_factor=2.5, samples=9)),
        (UNTYPED.pma(variant=np.str_("min"), gamma=np.int32(9), remove_parallel=np.True_),
         PmaOptions(variant="min", gamma=9)),
        (UNTYPED.prim(rounds=np.int8(2)), PrimBoruvkaOptions(rounds=2)),
    ],
    ids=name_of,
)  # fmt: skip
def test_numbers_of_numpy_are_pythons(given: Any, meant: Any) -> None:
    """Options that mean the same are equal, and say the same of themselves."""
    assert (given, repr(given), hash(given)) == (meant, repr(meant), hash(meant))


# ------------------------------------------------------------------------- options as text

SAME = {
    "pma variant=min gamma=64": PmaOptions(variant="min", gamma=64),
    "ecl filter=false filter_factor=2.5 samples=20": EclOptions(
        filter=False, filter_factor=2.5, samples=20
    ),
    "filter-boruvka targets=0.5,2.0": FilterBoruvkaOptions(targets=(0.5, 2.0)),
    "prim-boruvka rounds=2 prim.queue=heap": PrimBoruvkaOptions(
        rounds=2, prim=PrimOptions(queue="heap")
    ),
}


@pytest.mark.parametrize("text", SAME)
def test_text_is_read_and_written(text: str) -> None:
    """Results keep contestants as texts, of which a resumed run must make the same ones."""
    name, options = read(text)
    assert (name, options) == (text.split(maxsplit=1)[0], SAME[text])
    assert write(name, options) == text
    assert write(name, type(options)()) == name
    assert read("auto") == ("auto", None)


def test_words_of_a_value() -> None:
    assert options_of("pma", ["gamma=none"]) == PmaOptions()
    assert options_of("pma", ["remove-parallel = no"]) == PmaOptions(remove_parallel=False)
    assert options_of("pma", []) is None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_has_a_name(name: str) -> None:
    """What Python takes, a text can set."""
    names = [one.partition(".")[0] for one in option_names(name)]
    assert [*dict.fromkeys(names)] == [one.name for one in fields(ALGORITHMS[name].options)]
    assert not any(
        is_dataclass(one.default) for one in fields(ALGORITHMS[name].options)
    )  # whose parts would be left out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("pma gama=64", "there is no option 'gama'; pma takes variant, gamma, remove_parallel"),
        ("pma gamma", "an option is 'gamma'; it must be NAME=VALUE"),
        ("pma gamma=x", "gamma is 'x'; it must be an integer"),
        ("ecl filter=perhaps", "filter is 'perhaps'; it must be True or False"),
        ("ecl filter_factor=5", "filter_factor is 5.0; it must be 2 to 4"),
        ("prim-boruvka prim.queue=stack", "queue is 'stack'"),
        ("auto gamma=64", "the algorithm is 'auto'"),
        ("magic gamma=64", "no algorithm is called 'magic'"),
        ("", "no algorithm is called ''"),
    ],
)
def test_text_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=complaint):
        read(text)


def test_options_go_to_those_that_have_them() -> None:
    """An algorithm's own text is stronger; what none of them takes is refused."""
    texts = ["gamma=64", "samples=20"]
    found = texts_with(["auto", "pma", "pma gamma=8", "ecl", "pma gamma=64"], texts)
    assert found == ("auto", "pma gamma=64", "pma gamma=8", "ecl samples=20")
    complaint = "no option 'samples'; auto takes none; pma takes variant"
    with pytest.raises(InvalidArgumentError, match=complaint):
        texts_with(["auto", "pma"], texts)
