"""Every specialisation of every kernel that a device can get: what must build everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from clmst.algorithms.adoption import check as adoption
from clmst.algorithms.boruvka import solve as boruvka
from clmst.algorithms.dense import plan as dense_plan
from clmst.algorithms.ecl import solve as ecl
from clmst.algorithms.ecl.options import (
    EclOptions,
    populate_defines,
    round_defines,
    topology_defines,
)
from clmst.algorithms.edge_parallel import solve as edge_parallel
from clmst.algorithms.edge_parallel.options import EdgeParallelOptions, UnionFind
from clmst.algorithms.filter_boruvka import plan as filter_boruvka_plan
from clmst.algorithms.k_core import core_numbers as k_core
from clmst.algorithms.lone_boruvka import solve as lone_boruvka
from clmst.algorithms.pma import solve as pma
from clmst.algorithms.prim import mirror as prim_mirror
from clmst.algorithms.prim import trees as prim_trees
from clmst.algorithms.prim_boruvka import solve as prim_boruvka
from clmst.algorithms.proof import claim as proof_claim
from clmst.algorithms.proof import matrix as proof_matrix
from clmst.algorithms.proof import prove as proof
from clmst.algorithms.proof import tree as proof_tree
from clmst.algorithms.reweighting import band, chains, repeated, union
from clmst.algorithms.shared import contraction, solution
from clmst.core.weight_keys import WeightKind
from clmst.primitives import catalogue
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import doubles_defines
from clmst.runtime.policy import Policy
from clmst.runtime.program import Specialisation, specialise

# Widths and kinds that encoded weights come in (clmst.core.weight_keys.encode).
WEIGHTS: tuple[tuple[int, WeightKind], ...] = (
    *((bits, "unsigned") for bits in (8, 16, 32, 64)),
    *((bits, "signed") for bits in (8, 16, 32, 64)),
    *((bits, "float") for bits in (16, 32, 64)),
)


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device: all weights, and the ablation on 32-bit ones."""
    yield from catalogue.specialisations(capabilities, tuning)
    for source in (
        "device/trial.cl",
        "device/fill.cl",
        band.SETTLE_SOURCE,
        boruvka.SOURCE,
        boruvka.SPLIT_SOURCE,
        chains.SOURCE,
        k_core.SOURCE,
        k_core.MIRROR_SOURCE,
        k_core.LONE_SOURCE if tuning.work_group_size == 1 else k_core.PEEL_SOURCE,
        prim_boruvka.SOURCE,
        prim_trees.COMPONENTS_SOURCE,
        proof_tree.SOURCE,
    ):
        yield specialise(source, capabilities, tuning)
    for bits in sorted({bits for bits, _ in WEIGHTS}):
        yield specialise(solution.SOURCE, capabilities, tuning, WEIGHT_BITS=bits)
        yield specialise(union.SOURCE, capabilities, tuning, WEIGHT_BITS=bits)
        yield specialise(prim_mirror.SOURCE, capabilities, tuning, **prim_mirror.defines(bits))
    for lanes, rows_rise in product({1, pma.lanes_for(capabilities, tuning)}, (False, True)):
        defines = pma.defines(lanes=lanes, rows_rise=rows_rise)
        yield specialise(pma.SOURCE, capabilities, tuning, **defines)
    for (bits, kind), maximum in product(WEIGHTS, (False, True)):
        weights = weight_defines(bits, kind, maximum=maximum)
        yield from _ecl(EclOptions(), weights, capabilities, tuning)
        yield specialise(prim_trees.SOURCE, capabilities, tuning, **weights)
        yield specialise(band.SOURCE, capabilities, tuning, **weights)
        yield specialise(proof_claim.SOURCE, capabilities, tuning, **weights)
        yield specialise(proof.EDGES_SOURCE, capabilities, tuning, **weights)
        yield specialise(proof_matrix.SOURCE, capabilities, tuning, **weights)
        if not maximum:
            yield specialise(adoption.SOURCE, capabilities, tuning, **weights)
            yield specialise(repeated.SOURCE, capabilities, tuning, **weights)
            if tuning.work_group_size == 1:
                yield specialise(adoption.LONE_SOURCE, capabilities, tuning, **weights)
            # One kernel of it looks at weights.
            yield specialise(
                contraction.SOURCE, capabilities, tuning, **weights, **contraction.DEFINES
            )
        lone = lone_boruvka.defines(weights)
        yield specialise(lone_boruvka.SOURCE, capabilities, tuning, **lone)
        yield specialise(lone_boruvka.FIRST_SOURCE, capabilities, tuning, **lone)
        yield specialise(dense_plan.BUILD_SOURCE, capabilities, tuning, **weights)
        yield specialise(dense_plan.SOURCE, capabilities, tuning, **weights, COMPLETE=1)
        for symmetric in (False, True):
            yield from _filter_boruvka(weights, capabilities, tuning, symmetric=symmetric)
    yield from _dense(capabilities, tuning)
    yield from _edge_parallel(capabilities, tuning)
    weights = weight_defines(32, "unsigned", maximum=False)
    told = set(_ecl(EclOptions(), weights, capabilities, tuning))
    for _, options in EclOptions.ablation()[1:]:  # some differ only where lanes combine
        for one in _ecl(options, weights, capabilities, tuning):
            if one not in told:
                told.add(one)
                yield one


def _ecl(
    options: EclOptions, weights: dict[str, int], capabilities: Capabilities, tuning: Policy
) -> Iterator[Specialisation]:
    parts: dict[str, dict[str, int | bool]] = {
        ecl.SOURCE: round_defines(options, tuning),
        ecl.POPULATE_SOURCE: populate_defines(options, tuning),
    }
    if not options.data_driven:
        parts = {ecl.TOPOLOGY_SOURCE: topology_defines(options)}
    for source, defines in parts.items():
        yield specialise(source, capabilities, tuning, **(weights | defines))


def _filter_boruvka(
    weights: dict[str, int], capabilities: Capabilities, tuning: Policy, *, symmetric: bool
) -> Iterator[Specialisation]:
    defines = weights | filter_boruvka_plan.defines(tuning, symmetric=symmetric)
    yield specialise(filter_boruvka_plan.SOURCE, capabilities, tuning, **defines)
    if tuning.resident_groups_per_compute_unit > 0:  # else only where somebody asks for it by name
        defines = weights | filter_boruvka_plan.resident_defines(tuning, symmetric=symmetric)
        yield specialise(filter_boruvka_plan.RESIDENT_SOURCE, capabilities, tuning, **defines)


def _edge_parallel(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield all weights by the usual sets, and the other sets on one of each width of words."""
    for (bits, kind), maximum in product(WEIGHTS, (False, True)):
        for union_find in get_args(UnionFind):
            if union_find == EdgeParallelOptions().union_find or (
                (bits, kind, maximum) in ((32, "unsigned", False), (64, "unsigned", False))
            ):
                defines = weight_defines(bits, kind, maximum=maximum)
                defines |= edge_parallel.defines(union_find, capabilities.kind)
                yield specialise(edge_parallel.SOURCE, capabilities, tuning, **defines)


def _dense(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield what matrices in which pairs are missing get, and points."""
    for wide in (False, True):
        defines = dense_plan.key_defines(wide=wide)
        yield specialise(dense_plan.SOURCE, capabilities, tuning, **defines)
    if not capabilities.doubles:
        return
    for (metric, dimensions, bits, kind), maximum in product(doubles_defines(), (False, True)):
        defines = {"METRIC": metric, "DIMENSIONS": dimensions, "COMPLETE": 1}
        defines |= weight_defines(bits, kind, maximum=maximum)
        yield specialise(dense_plan.SOURCE, capabilities, tuning, **defines)
        cells = proof_matrix.defines(defines)
        yield specialise(proof_matrix.SOURCE, capabilities, tuning, **cells)
