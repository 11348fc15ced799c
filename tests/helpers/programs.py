"""Every program that a device can need: each file of ``cl/`` with each set of its macros.

A file whose text has keys of weights is built for all weights in both directions, and any other
file once. The tables here have the exceptions. The primitives take operators of the user, for which
some examples are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import TypeAlias, get_args

import numpy as np

from clmst.algorithms.bvh_boruvka.hierarchy import search_defines
from clmst.algorithms.dense.tiles import HAVE_SQUARES, tile_defines
from clmst.algorithms.dense.workspace import key_defines, one_group_defines
from clmst.algorithms.ecl import (
    EclOptions,
    populate_defines,
    round_defines,
    topology_defines,
)
from clmst.algorithms.edge_parallel import EdgeParallelOptions, Schedule, UnionFind
from clmst.algorithms.edge_parallel.solve import defines as sets_defines
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.filter_boruvka import cpu, workspace
from clmst.algorithms.pma.solve import defines as pma_defines
from clmst.algorithms.pma.solve import lanes_for
from clmst.algorithms.shared import contraction
from clmst.core.point_checks import BOXED
from clmst.core.weight_keys import WeightKind
from clmst.primitives import radix_chain, selection, sweeps
from clmst.primitives.element import NO_WORDS, WORD_BYTES, RecordWords
from clmst.primitives.function import Predicate
from clmst.primitives.histogram import LOCAL_BINS
from clmst.primitives.map import Map
from clmst.primitives.monoid import Monoid
from clmst.primitives.radix import KEY_KINDS, Key, Shape
from clmst.primitives.selection import Keep, Write
from clmst.primitives.sweeps import Segments, sweep_defines
from clmst.runtime import source
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import METRICS, metric_defines
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Prelude, Specialisation, specialise
from tests.helpers.metrics import points_by

Macros: TypeAlias = Mapping[str, int | bool]
Built: TypeAlias = "Macros | tuple[Prelude, Macros]"
Rule: TypeAlias = Callable[[Capabilities, Policy], Iterable[Built]]

# Widths and kinds of encoded weights (clmst.core.weight_keys.encode).
WEIGHTS: tuple[tuple[int, WeightKind], ...] = (
    *((bits, "unsigned") for bits in (8, 16, 32, 64)),
    *((bits, "signed") for bits in (8, 16, 32, 64)),
    *((bits, "float") for bits in (16, 32, 64)),
)
LEAST = [weight_defines(bits, kind, maximum=False) for bits, kind in WEIGHTS]
EVERY = [weight_defines(*one, maximum=maximum) for one in WEIGHTS for maximum in (False, True)]
LAYOUTS = tuple(product(EVERY, (False, True)))  # weights, and whether both directions are stored


def programs(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every program for a device, each once."""
    yield from dict.fromkeys(
        specialise(name, capabilities, tuning, one[0], **one[1])
        if isinstance(one, tuple)
        else specialise(name, capabilities, tuning, **one)
        for name in files()
        for one in RULES.get(name, _by_text(name))(capabilities, tuning)
    )


@cache
def files() -> tuple[str, ...]:
    """Return the files from which programs are made: all that no other file includes."""
    texts = {
        str(path.relative_to(source.root())): path.read_text(encoding="utf-8")
        for path in source.root().rglob("*.cl")
    }
    parts = {name for text in texts.values() for name in re.findall(r'#include "(.+)"', text)}
    return tuple(sorted(texts.keys() - parts))


def _by_text(name: str) -> Rule:
    has_keys = "WEIGHT_KIND" in source.compose(name)
    return lambda *_: EVERY if has_keys else [{}]


# ------------------------------------------------------------------------- algorithms


def _points(*directions: bool) -> Iterator[dict[str, int]]:
    """Yield the macros of points: each metric in 3 dimensions, and each class of dimensions."""
    others: list[tuple[str, int, int]] = [("euclidean", d, 0) for d in (2, 3, 0)]
    others += [(name, 3, int(kind == "float")) for name, (_, _, kind) in METRICS.items()]
    for name, dimensions, core in (*others, ("rounded-euclidean", 2, 0)):
        _, bits, kind = METRICS[name]
        metric = metric_defines(points_by(np.ones((1, 2)), name))
        cells = {**metric, "DIMENSION_CLASS": dimensions, "CORE_DISTANCES": core}
        for maximum in directions:
            yield cells | weight_defines(bits, kind, maximum=maximum)


def _in_boxes(*, core: bool = True) -> Iterator[dict[str, int]]:
    """Yield the macros of points with a metric for which boxes give bounds."""
    bounding = {METRICS[name][0] for name in BOXED if name in METRICS}
    for one in _points(False):
        if one["METRIC"] in bounding and (core or not one["CORE_DISTANCES"]):
            yield {"COMPLETE": 1} | one


def _searches(_: Capabilities, tuning: Policy, *, core: bool = True) -> Iterator[dict[str, int]]:
    """Yield the macros of kernels that search for points."""
    return (one | search_defines(tuning) for one in _in_boxes(core=core))


def _tiles(what: str) -> Rule:
    """Return the rule for kernels of tiles. They do not take the metric of a sphere."""

    def rule(capabilities: Capabilities, tuning: Policy) -> Iterator[Macros]:
        for metric, core in product(METRICS, (False, True)):
            is_float = METRICS[metric][2] == "float"
            if metric == "great-circle" or (core and (what != "lightest" or not is_float)):
                continue
            if what == "nearest" and not is_float:
                continue
            points = points_by(np.ones((1, 2)), metric)
            defines = tile_defines(points, capabilities, tuning, core=core)
            yield defines
            if what != "pack" and metric in HAVE_SQUARES:
                yield defines | {"FILTER_PRODUCTS": 1}

    return rule


def _ecl(defines: Callable[[EclOptions, Policy], dict[str, int | bool]], *, by_data: bool) -> Rule:
    """Return the rule for a file of ecl: all weights, and the ablation with 32-bit weights."""

    def rule(_: Capabilities, tuning: Policy) -> Iterator[Macros]:
        usual = EclOptions()
        for weights, options in (
            *product(EVERY, [usual]),
            *((weight_defines(32, "unsigned", maximum=False), o) for _, o in usual.ablation()[1:]),
        ):
            if options.data_driven == by_data:
                yield {**weights, **defines(options, tuning)}

    return rule


def _union_find(capabilities: Capabilities, _: Policy) -> Iterator[Macros]:
    """Yield all weights with the default options, and a weight of each key width with others."""
    few = [weight_defines(bits, "unsigned", maximum=False) for bits in (32, 64)]
    others = [EdgeParallelOptions(union_find=name) for name in get_args(UnionFind)]
    others += [EdgeParallelOptions(schedule=name) for name in get_args(Schedule)[1:]]
    for options in others:
        for weights in EVERY if options == EdgeParallelOptions() else few:
            yield weights | sets_defines(options, capabilities.kind)


def _waiting(tuning: Policy) -> Iterable[tuple[dict[str, int], bool]]:
    """Return weights and layouts for launches whose work-groups wait, if the device uses them."""
    return LAYOUTS if tuning.resident_groups_per_compute_unit else ()


def _each(*rows: Macros) -> Rule:
    return lambda *_: rows


def _where(suits: Callable[[Policy], bool], *rows: Macros) -> Rule:
    return lambda _, tuning: rows if suits(tuning) else ()


def _is_alone(tuning: Policy) -> bool:
    return tuning.work_group_size == 1


def _has_groups(tuning: Policy) -> bool:
    return tuning.work_group_size > 1


_WIDTHS = _each(*({"WEIGHT_BITS": bits} for bits in (8, 16, 32, 64)))
_GENERATED = tuple(
    GeneratedEdges(
        n_vertices=10, n_edges=10, u="id", v="(id + hop[id]) % 10", weight=weight,
        weight_dtype=np.dtype(dtype), scalars={"factor": "u4"}, arrays={"hop": "u4"},
    )
    for dtype, weight in (("u4", "id * factor"), ("f4", "(float)id"), ("i8", "-(long)id"))
)  # fmt: skip

_ALGORITHMS: dict[str, Rule] = {
    "changes/changes": _each(*EVERY),
    "changes/rounds": _each(*EVERY),
    "changes/weights": _each(*EVERY),
    "bvh_boruvka/build": _each({}),
    "bvh_boruvka/bvh_boruvka": _searches,
    "bvh_boruvka/searches": _searches,
    "bvh_boruvka/neighbours": lambda c, tuning: (
        one | {"NEIGHBOURS": capacity} | listed
        for one in _searches(c, tuning)
        for capacity in (8, 32)
        for listed in (({}, {"LISTED": 0}) if _is_alone(tuning) else ({},))
    ),
    "bvh_boruvka/prim": lambda _, tuning: _in_boxes() if _is_alone(tuning) else (),
    "canonical_csr/canonical_csr": _each(*LEAST),
    "csr_validation/csr_validation": _each(*LEAST),
    "dendrogram/chains": _where(_has_groups, {}),
    "dendrogram/contract": _where(_has_groups, {}),
    "dense/dense": lambda *_: (
        *({"COMPLETE": 1} | one for one in (*EVERY, *_points(False, True))),
        *(key_defines(wide=wide) for wide in (False, True)),
    ),
    "dense/core": lambda *_: (
        {"COMPLETE": 1} | one
        for one in _points(False)
        if one["WEIGHT_BITS"] == 64 and not one["CORE_DISTANCES"]
    ),
    "dense/one_group": lambda c, tuning: (
        {"COMPLETE": 1} | one | one_group_defines(c, tuning)
        for one in (*EVERY, *_points(False, True))
    ),
    "dense/lightest": _tiles("lightest"),
    "dense/nearest": _tiles("nearest"),
    "dense/pack": _tiles("pack"),
    "ecl/ecl": _ecl(round_defines, by_data=True),
    "ecl/populate": _ecl(populate_defines, by_data=True),
    "ecl/topology": _ecl(lambda options, _: topology_defines(options), by_data=False),
    "edge_parallel/edge_parallel": _union_find,
    "edge_stream/generate": lambda *_: ((one.prelude, one.defines) for one in _GENERATED),
    "equal_weights/equal_weights": _where(_is_alone, {}),
    "filter_boruvka/cpu": _each(*map(cpu.defines, EVERY)),
    "filter_boruvka/cpu_first": _each(*map(cpu.defines, EVERY)),
    "filter_boruvka/filter_boruvka": lambda _, tuning: (
        weights | workspace.defines(tuning, symmetric=both, wide=weights["WEIGHT_BITS"] == 64)
        for weights, both in LAYOUTS
    ),
    "filter_boruvka/finish": lambda _, tuning: (
        weights | workspace.finish_defines(tuning, symmetric=both)
        for weights, both in _waiting(tuning)
    ),
    "filter_boruvka/resident": lambda _, tuning: (
        weights | workspace.resident_defines(tuning, symmetric=both, one_window=one)
        for (weights, both), one in product(_waiting(tuning), (False, True))
    ),
    "k_core/peel": _where(_has_groups, {}),
    "k_core/serial": _where(_is_alone, {}),
    "parts/parts": _WIDTHS,
    "pma/pma": lambda c, tuning: (
        pma_defines(lanes=lanes, rows_rise=rise)
        for lanes, rise in product({1, lanes_for(c, tuning)}, (False, True))
    ),
    "prim/mirror": _WIDTHS,
    "proof/matrix": lambda *_: (*EVERY, *_points(False, True)),
    "reweighting/repeated": _each(*LEAST),
    "reweighting/sensitivity_classify": _each({}),
    "reweighting/series": _each({}),
    "shared/contraction": _each(*(one | contraction.DEFINES for one in LEAST)),
    "shared/forest": _WIDTHS,
    "small_matrix/small_matrix": _where(_is_alone, *EVERY),
}

# ------------------------------------------------------------------------- primitives

# An operator that is neither commutative nor on scalars.
_MATRIX_PRODUCT = Monoid(
    dtype=np.dtype([(name, np.uint32) for name in ("a", "b", "c", "d")]),
    combine="(uint4)(a.x * b.x + a.y * b.z, a.x * b.y + a.y * b.w,"
    " a.z * b.x + a.w * b.z, a.z * b.y + a.w * b.w)",
    identity="(uint4)(1, 0, 0, 1)",
    name="matrix product",
)
# A record with fields of several types, 12 bytes stored in 16, and one field across two words.
_EDGE = np.dtype([("rank", np.uint16), ("weight", np.float32), ("u", np.int32), ("v", np.int16)])
_LIGHTEST = Monoid(
    dtype=_EDGE,
    combine="b.weight < a.weight || (b.weight == a.weight && b.u < a.u) ? b : a",
    identity="record(0, INFINITY, INT_MAX, 0)",
    commutative=True,
    exact=True,
    name="lightest edge",
)
_LIGHT = Predicate(
    dtype=_EDGE, expression="x.weight < limit && x.u != x.v", scalars={"limit": "f4"},
    name="light edge",
)  # fmt: skip
_BELOW = Predicate(
    dtype=np.dtype("u4"), expression="x < limit || chosen[i] != 0", scalars={"limit": "u4"},
    arrays={"chosen": "u1"}, name="below a limit",
)  # fmt: skip
_MAPS = (
    Map(dtype=np.dtype("u1"), result=np.dtype("u2"), expression="x + i"),
    Map(
        dtype=np.dtype("f4"), expression="x * share + other[i]", scalars={"share": "f4"},
        arrays={"other": "f4"},
    ),
    Map(
        dtype=_EDGE, result=np.dtype([("key", "f4"), ("edge", "u4")]),
        expression="result(-x.weight, min(i, other[i].late))",
        arrays={"other": np.dtype([("early", "i1"), ("late", "u4")])},
    ),
)  # fmt: skip
_EVEN = Map(
    dtype=np.dtype("f4"), result=np.dtype("u4"), expression="(uint)((x - least) * scale)",
    scalars={"least": "f4", "scale": "f4"},
)  # fmt: skip
_SCALARS = (np.uint32, np.int32, np.float32, np.uint64, np.int64, np.uint8, np.int16, np.float64)
_SUM = Monoid.sum(np.uint32)


def _scans(capabilities: Capabilities) -> Iterator[tuple[int, Monoid, Segments, bool]]:
    """Yield monoids with forms of segments. Exclusive and inclusive scans alternate."""
    monoids = [Monoid.sum(one) for one in _SCALARS[: None if capabilities.doubles else -1]]
    monoids += [Monoid.minimum(np.uint64), Monoid.minimum_by_key(np.float32), _MATRIX_PRODUCT]
    monoids += [_LIGHTEST]
    for (k, monoid), ways in product(enumerate(monoids), Segments):
        if ways != Segments.PACKED or monoid.dtype.kind == "u":
            yield k, monoid, ways, (k + ways) % 2 == 0


def _scan_chain(capabilities: Capabilities, tuning: Policy) -> Iterator[Built]:
    for k, monoid, ways, exclusive in _scans(capabilities):
        one = sweeps.chain_defines(
            capabilities, tuning, item_bytes=monoid.held_bytes, segments=ways,
            exclusive=exclusive,
        )  # fmt: skip
        if one["WG_SIZE"] > 1 and monoid.exact and (k % 3 == 0 or monoid is _LIGHTEST):
            yield monoid.prelude, one


def _selections(*, chained: bool) -> Rule:
    sizes = (
        *((RecordWords(w), RecordWords(v)) for w, v in ((1, 0), (1, 1), (2, 4), (3, 16), (16, 3))),
        (RecordWords(1, 1), RecordWords(1, 2)),
        (RecordWords(3, 2), NO_WORDS),
    )

    def rule(capabilities: Capabilities, tuning: Policy) -> Iterator[Built]:
        more = selection.chain_defines(capabilities, tuning)
        for keep, write, (record, value) in product(Keep, Write, sizes):
            if write == Write.POSITIONS and (keep != Keep.FLAGGED or (record, value) != sizes[0]):
                continue  # only with flags and without values
            if write == Write.ALL and (keep == Keep.HEADS or chained):
                continue  # not used
            predicate = {1: _BELOW, 3: _LIGHT}.get(record.count)
            if keep == Keep.HOLDING and (predicate is None or record.unit < WORD_BYTES):
                continue  # the predicates take one word, or three
            if chained and (more["WG_SIZE"] == 1 or record.count > 3):
                continue
            defines = selection.selection_defines(
                keep, write, record=record, value=value,
                bytes_per_item=selection.bytes_per_item(tuning),
            )  # fmt: skip
            defines |= more if chained else {}
            if keep == Keep.HOLDING and predicate is not None:
                yield predicate.prelude, defines
            else:
                yield defines

    return rule


def _across(bits: int) -> Key:
    """Return a key of some bits that is a field of a record, across two or three words."""
    kind = KEY_KINDS[1 if bits == 16 else 2]
    return Key(start_bit=0, bits=bits, width=bits, number_bit=24, kind=kind, descending=bits == 32)


def _splits(*, chained: bool) -> Rule:
    sizes = [*product((1, 2, 3, 4), (0, 1, 2)), (5, 3), (8, 0), (16, 0), (1, 16)]
    numbers = [
        Key(start_bit=0, bits=32, kind=kind, descending=descending)
        for kind, descending in product(KEY_KINDS, (False, True))
    ]

    def rule(capabilities: Capabilities, tuning: Policy) -> Iterator[Built]:
        for words, value_words in sizes:
            shape = Shape.choose(capabilities, tuning, max(words, value_words))
            keys = numbers if words <= 2 and value_words <= 1 else numbers[:1]
            within = [_across(bits) for bits in (16, 32, 64)] if words == 4 else []
            for key in [*keys, *within]:
                if not chained:
                    yield shape.defines(key, words, value_words)
                    continue
                if shape.is_serial or words > radix_chain.MOST_WORDS:
                    continue
                if key == numbers[0] or words == 2 or key in within:
                    yield radix_chain.chain_defines(shape, key, (words, value_words), tuning)

    return rule


_RECORDS = (
    *map(RecordWords, (1, 2, 3, 4, 16)), RecordWords(1, 1), RecordWords(3, 1), RecordWords(1, 2),
)  # fmt: skip
_PRIMITIVES: dict[str, Rule] = {
    "compact": _selections(chained=False),
    "compact_chain": _selections(chained=True),
    "histogram": lambda *_: [(_EVEN.prelude, {"LOCAL_BINS": LOCAL_BINS})],
    "map": lambda *_: [(one.prelude, {}) for one in _MAPS],
    "permute": _each(*(one.defines("RECORD") for one in _RECORDS)),
    "scan": lambda c, tuning: (
        (one.prelude, sweep_defines(tuning, segments=ways, exclusive=exclusive))
        for _, one, ways, exclusive in _scans(c)
    ),
    "scan_chain": _scan_chain,
    "scan_propagate": lambda _, tuning: [
        (one.prelude, sweep_defines(tuning, segments=Segments.NONE, exclusive=True))
        for one in (_SUM, _MATRIX_PRODUCT, _LIGHTEST)
    ],
    "segments": lambda *_: [(one.prelude, {}) for one in (_SUM, _MATRIX_PRODUCT, _LIGHTEST)],
    "split": _splits(chained=False),
    "split_chain": _splits(chained=True),
    "widen": _each(*({"RECORD_BYTES": size} for size in (1, 2, 3, 6, 15))),
}
RULES = {f"algorithms/{name}.cl": rule for name, rule in _ALGORITHMS.items()}
RULES |= {f"primitives/{name}.cl": rule for name, rule in _PRIMITIVES.items()}
