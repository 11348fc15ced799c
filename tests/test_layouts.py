"""Layouts and sentinels that Python and kernels share: what both say is compared, name by name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from clmst.algorithms.filter_boruvka import plan
from clmst.algorithms.filter_boruvka.options import MAX_PHASES
from clmst.runtime import source

# A value in Python, by module and name, and the macro that it is, by kernel file and name.
SHARED = [
    ("core.sphere", "STEPS", "device/distance.cl", "GREAT_CIRCLE_STEPS"),
    ("runtime.device_matrix", "METRICS.euclidean.0", "device/distance.cl", "METRIC_EUCLIDEAN"),
    (
        "runtime.device_matrix",
        "METRICS.rounded-euclidean.0",
        "device/distance.cl",
        "METRIC_ROUNDED",
    ),
    (
        "runtime.device_matrix",
        "METRICS.great-circle.0",
        "device/distance.cl",
        "METRIC_GREAT_CIRCLE",
    ),
    ("runtime.device_graph", "_KINDS.unsigned", "device/weight_key.cl", "WEIGHT_UNSIGNED"),
    ("runtime.device_graph", "_KINDS.signed", "device/weight_key.cl", "WEIGHT_SIGNED"),
    ("runtime.device_graph", "_KINDS.float", "device/weight_key.cl", "WEIGHT_FLOAT"),
    ("runtime.specialisation", "_LANES_IMPL.local", "device/lanes.cl", "LANES_LOCAL"),
    ("runtime.specialisation", "_LANES_IMPL.khr", "device/lanes.cl", "LANES_KHR"),
    ("runtime.specialisation", "_LANES_IMPL.ptx", "device/lanes.cl", "LANES_PTX"),
    ("primitives.selection", "Keep.FLAGGED", "primitives/compact_rule.cl", "KEEP_FLAGGED"),
    ("primitives.selection", "Keep.HOLDING", "primitives/compact_rule.cl", "KEEP_HOLDING"),
    ("primitives.selection", "Keep.HEADS", "primitives/compact_rule.cl", "KEEP_HEADS"),
    ("primitives.selection", "Write.KEPT", "primitives/compact_rule.cl", "WRITE_KEPT"),
    ("primitives.selection", "Write.ALL", "primitives/compact_rule.cl", "WRITE_ALL"),
    ("primitives.selection", "Write.POSITIONS", "primitives/compact_rule.cl", "WRITE_POSITIONS"),
    ("primitives.selection", "_ROWS", "primitives/compact_masks.cl", "ROWS"),
    ("primitives.sweeps", "Segments.NONE", "primitives/scan_kind.cl", "SEGMENTS_NONE"),
    ("primitives.sweeps", "Segments.FLAGS", "primitives/scan_kind.cl", "SEGMENTS_FLAGS"),
    ("primitives.sweeps", "Segments.PACKED", "primitives/scan_kind.cl", "SEGMENTS_PACKED"),
    ("primitives.radix", "_BY_COUNTERS", "device/rank.cl", "RANK_COUNTERS"),
    ("primitives.radix", "_BY_BALLOTS", "device/rank.cl", "RANK_BALLOTS"),
    ("algorithms.filter_boruvka.plan", "_WINDOWS", "filter_boruvka/solve.cl", "STATE_WINDOWS"),
    ("algorithms.filter_boruvka.plan", "_OVERFLOW", "filter_boruvka/solve.cl", "STATE_OVERFLOW"),
    ("algorithms.filter_boruvka.plan", "_COUNTS", "filter_boruvka/solve.cl", "STATE_COUNTS"),
    ("algorithms.filter_boruvka.plan", "_STATE_WORDS", "filter_boruvka/solve.cl", "STATE_WORDS"),
    ("algorithms.filter_boruvka.plan", "SAMPLES", "filter_boruvka/sample.cl", "SAMPLES"),
    ("runtime.tuning", "_SAMPLES", "filter_boruvka/sample.cl", "SAMPLES"),
    ("algorithms.filter_boruvka.cpu", "_OVERFLOW", "filter_boruvka/cpu_list.cl", "STATE_OVERFLOW"),
    ("algorithms.filter_boruvka.cpu", "_STUCK", "filter_boruvka/cpu_list.cl", "STATE_STUCK"),
    (
        "algorithms.edge_parallel.solve",
        "_SETS.atomic-half",
        "edge_parallel/sets.cl",
        "SETS_HALVING",
    ),
    (
        "algorithms.edge_parallel.solve",
        "_SETS.atomic-full",
        "edge_parallel/sets.cl",
        "SETS_COMPRESSING",
    ),
    ("algorithms.edge_parallel.solve", "_SETS.locked", "edge_parallel/sets.cl", "SETS_LOCKED"),
    ("algorithms.edge_parallel.solve", "_LOCK_LOST", "device/lock.cl", "LOCK_LOST"),
    ("algorithms.k_core.core_numbers", "_LEFT", "k_core/state.cl", "ROUND_LEFT"),
    ("algorithms.k_core.core_numbers", "_BOUND", "k_core/state.cl", "ROUND_BOUND"),
    ("algorithms.k_core.core_numbers", "_ROUND_WORDS", "k_core/state.cl", "ROUND_WORDS"),
    ("algorithms.k_core.core_numbers", "_ROUNDS_KEPT", "k_core/state.cl", "ROUNDS_KEPT"),
    ("algorithms.k_core.core_numbers", "_BUSY_ROUNDS", "k_core/state.cl", "BUSY_ROUNDS"),
    ("algorithms.proof.tree", "_NO_FAULT", "proof/state.cl", "NO_FAULT"),
    ("algorithms.proof.tree", "_PENDING", "proof/state.cl", "STATE_PENDING"),
    ("algorithms.proof.tree", "_CLAIM", "proof/state.cl", "STATE_CLAIM"),
    ("algorithms.proof.tree", "_SLOT", "proof/state.cl", "STATE_SLOT"),
    ("algorithms.proof.tree", "_NODES", "proof/state.cl", "LEVEL_NODES"),
    ("algorithms.proof.tree", "_TOPS", "proof/state.cl", "LEVEL_TOPS"),
    ("algorithms.proof.tree", "_LEVEL_WORDS", "proof/state.cl", "LEVEL_WORDS"),
    ("algorithms.proof.prove", "_TILE", "proof/edges.cl", "EDGES_TILE"),
    (
        "algorithms.csr_validation.check",
        "_VERDICT_WORDS",
        "csr_validation/verdict.cl",
        "VERDICT_WORDS",
    ),
    ("algorithms.csr_validation.check", "_BELOW", "csr_validation/verdict.cl", "FAULT_BELOW"),
    (
        "algorithms.csr_validation.check",
        "_SLOTS_OF_ONE",
        "csr_validation/csr_validation.cl",
        "SLOTS_OF_ONE",
    ),
    (
        "algorithms.csr_validation.check",
        "_SLOTS_OF_MANY",
        "csr_validation/csr_validation.cl",
        "SLOTS_OF_MANY",
    ),
    ("algorithms.csr_validation.check", "_ORDER", "csr_validation/verdict.cl", "FAULT_ORDER"),
    *(
        (
            "algorithms.canonical_csr.arrange",
            f"_{name}",
            "canonical_csr/canonical_csr.cl",
            f"VERDICT_{name}",
        )
        for name in ("FAULTY", "LOOPS", "FALLS", "DROPPED", "LONG", "DISORDER")
    ),
    (
        "algorithms.canonical_csr.arrange",
        "_SLOTS_OF_ONE",
        "canonical_csr/canonical_csr.cl",
        "SLOTS_OF_ONE",
    ),
    ("algorithms.canonical_csr.arrange", "_SLOTS_OF_MANY", "device/rows.cl", "SLOT_RUN"),
    (
        "algorithms.equal_weights.solve",
        "_SOLVED",
        "equal_weights/equal_weights.cl",
        "STATUS_SOLVED",
    ),
    *(
        ("algorithms.equal_weights.solve", f"_{name}", "equal_weights/equal_weights.cl", name)
        for name in ("RESULT_WORDS", "WORDS_A_SLOT", "WORDS_A_VERTEX")
    ),
    ("algorithms.small_matrix.solve", "_SOLVED", "small_matrix/small_matrix.cl", "STATUS_SOLVED"),
    *(
        ("algorithms.small_matrix.solve", f"_{name}", "small_matrix/small_matrix.cl", name)
        for name in ("RESULT_WORDS", "WORDS_A_SLOT", "WORDS_A_VERTEX")
    ),
    ("algorithms.reweighting.repeated", "_NONE", "reweighting/repeated.cl", "NO_FAULT"),
    ("algorithms.reweighting.repeated", "_NONE", "reweighting/repeated.cl", "NO_SLOT"),
    (
        "algorithms.reweighting.sensitivity",
        "_NONE",
        "reweighting/sensitivity_classify.cl",
        "NO_WINNER",
    ),
    (
        "algorithms.reweighting.sensitivity",
        "_TREE",
        "reweighting/sensitivity_state.cl",
        "EDGE_IS_TREE",
    ),
    *(
        (
            "algorithms.reweighting.sensitivity",
            f"_OCTAVE_BITS.{bits}",
            "reweighting/sensitivity.cl",
            f"OCTAVE_BITS.{branch}",
        )
        for branch, bits in enumerate((16, 64, 32))
    ),
    (
        "algorithms.reweighting.sensitivity",
        "VECTOR",
        "reweighting/sensitivity.cl",
        "VECTOR_ITEMS.0",
    ),
    ("algorithms.k_core.core_numbers", "SERIAL_CAPACITY", "k_core/serial.cl", "SERIAL_QUEUE"),
    ("primitives.permute", "_CHUNKS_PER_ITEM", "primitives/permute.cl", "BATCH"),
    ("algorithms.pma.solve", "_NO_OWNER", "pma/pma.cl", "NO_OWNER"),
    ("algorithms.boruvka.solve", "_NO_CHOICE", "device/edge_list.cl", "NO_CHOICE"),
    ("algorithms.prim.trees", "_TAKE_STEPS", "prim/heap.cl", "HEAP_TAKE_STEPS"),
    ("algorithms.prim.trees", "_CURSOR_WORDS.heap", "prim/heap.cl", "HEAP_CURSOR_WORDS"),
    ("algorithms.prim.trees", "_CHOOSE_STEPS", "prim/array.cl", "ARRAY_CHOOSE_STEPS"),
]
# What Python gives to kernels when they are built, and OpenCL's own names.
GIVEN = {
    "MAX_PHASES": MAX_PHASES,
    "MAX_DEPTHS": plan._MAX_DEPTHS,
    "UINT_MAX": 2**32 - 1,
    "ULONG_MAX": 2**64 - 1,
}


def of_python(module: str, name: str) -> int:
    """Return a value by its name; behind points, attributes, keys or positions."""
    value: Any = import_module(f"clmst.{module}")
    for part in name.split("."):
        if isinstance(value, dict):
            value = value[part if part in value else int(part)]
        elif isinstance(value, tuple):
            value = value[int(part)]
        else:
            value = getattr(value, part)
    return int(value)


def of_kernel(file: str, name: str) -> int:
    """Return the value of a macro that is defined once in a kernel file.

    ``NAME.k`` is the k-th definition of one that has another value in each branch of an ``#if``.
    """
    name, _, branch = name.partition(".")
    root = Path(source.root())
    path = root / file if (root / file).exists() else root / "algorithms" / file
    macros = re.findall(
        r"^#define (\w+) +([^/\n]+)", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    definitions = [text for one, text in macros if one == name]
    assert branch or len(definitions) == 1, f"{file} does not define {name} once"
    known = {**dict(macros), name: definitions[int(branch or 0)]}

    def value(text: str) -> int:
        plain = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
        named = re.sub(
            r"\b[A-Z_]\w*\b",
            lambda found: str(GIVEN.get(found[0]) or value(known[found[0]])),
            plain,
        )
        return int(eval(named, {"__builtins__": {}}))

    return value(known[name])


@pytest.mark.parametrize(("module", "name", "file", "macro"), SHARED)
def test_python_and_kernels_say_the_same(module: str, name: str, file: str, macro: str) -> None:
    """Else the host reads other words than kernels write."""
    assert of_python(module, name) == of_kernel(file, macro)
