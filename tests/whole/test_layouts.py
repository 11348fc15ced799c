"""Layouts and sentinels that Python and kernels share: what both say is compared, name by name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from clmst.algorithms.filter_boruvka import MAX_PHASES, workspace
from clmst.runtime import source

# By module and kernel file: the name of a value in Python, and the macro that it is.
TABLE = {
    ("core.sphere", "device/distance.cl"): "STEPS=GREAT_CIRCLE_STEPS",
    ("runtime.device_matrix", "device/distance.cl"): (
        "METRICS.euclidean.0=METRIC_EUCLIDEAN METRICS.rounded-euclidean.0=METRIC_ROUNDED "
        "METRICS.great-circle.0=METRIC_GREAT_CIRCLE"
    ),
    ("runtime.device_graph", "device/weight_key.cl"): (
        "_KINDS.unsigned=WEIGHT_UNSIGNED _KINDS.signed=WEIGHT_SIGNED _KINDS.float=WEIGHT_FLOAT"
    ),
    ("runtime.specialisation", "device/lanes.cl"): (
        "_LANES_IMPL.local=LANES_LOCAL _LANES_IMPL.khr=LANES_KHR _LANES_IMPL.ptx=LANES_PTX"
    ),
    ("primitives.selection", "primitives/compact_rule.cl"): (
        "Keep.FLAGGED=KEEP_FLAGGED Keep.HOLDING=KEEP_HOLDING Keep.HEADS=KEEP_HEADS "
        "Write.KEPT=WRITE_KEPT Write.ALL=WRITE_ALL Write.POSITIONS=WRITE_POSITIONS"
    ),
    ("primitives.selection", "primitives/compact_masks.cl"): "_ROWS=ROWS",
    ("primitives.sweeps", "primitives/scan_kind.cl"): (
        "Segments.NONE=SEGMENTS_NONE Segments.FLAGS=SEGMENTS_FLAGS Segments.PACKED=SEGMENTS_PACKED"
    ),
    ("primitives.radix", "device/rank.cl"): "_BY_COUNTERS=RANK_COUNTERS _BY_BALLOTS=RANK_BALLOTS",
    ("algorithms.filter_boruvka.workspace", "filter_boruvka/solve.cl"): (
        "_GAVE_UP=STATE_GAVE_UP _WINDOWS=STATE_WINDOWS _OVERFLOW=STATE_OVERFLOW "
        "_REFUSED=STATE_REFUSED _COUNTS=STATE_COUNTS STATE_WORDS=STATE_WORDS"
    ),
    ("algorithms.filter_boruvka.workspace", "filter_boruvka/sample.cl"): "SAMPLES=SAMPLES",
    ("algorithms.filter_boruvka.cpu", "filter_boruvka/cpu_list.cl"): (
        "_OVERFLOW=STATE_OVERFLOW _STUCK=STATE_STUCK"
    ),
    ("algorithms.edge_parallel.solve", "edge_parallel/edge_parallel.cl"): (
        "_SETS.atomic-half=SETS_HALVING _SETS.atomic-full=SETS_COMPRESSING _SETS.locked=SETS_LOCKED"
    ),
    ("algorithms.edge_parallel.solve", "device/lock.cl"): "_LOCK_LOST=LOCK_LOST",
    ("algorithms.k_core.core_numbers", "k_core/state.cl"): (
        "_LEFT=ROUND_LEFT _BOUND=ROUND_BOUND _ROUND_WORDS=ROUND_WORDS _ROUNDS_KEPT=ROUNDS_KEPT "
        "_BUSY_ROUNDS=BUSY_ROUNDS"
    ),
    ("algorithms.proof.tree", "proof/state.cl"): (
        "_NO_FAULT=NO_FAULT _PENDING=STATE_PENDING _CLAIM=STATE_CLAIM _SLOT=STATE_SLOT "
        "_NODES=LEVEL_NODES _TOPS=LEVEL_TOPS _LEVEL_WORDS=LEVEL_WORDS"
    ),
    ("algorithms.proof.prove", "proof/edges.cl"): "_TILE=EDGES_TILE",
    ("algorithms.csr_validation.check", "device/verdict.cl"): (
        "_VERDICT_WORDS=VERDICT_WORDS _BELOW=FAULT_BELOW _ORDER=FAULT_ORDER"
    ),
    ("algorithms.csr_validation.check", "csr_validation/csr_validation.cl"): (
        "_SLOTS_OF_ONE=SLOTS_OF_ONE _SLOTS_OF_MANY=SLOTS_OF_MANY"
    ),
    ("algorithms.canonical_csr.arrange", "canonical_csr/canonical_csr.cl"): (
        "_FAULTY=VERDICT_FAULTY _LOOPS=VERDICT_LOOPS _FALLS=VERDICT_FALLS "
        "_DROPPED=VERDICT_DROPPED _LONG=VERDICT_LONG _DISORDER=VERDICT_DISORDER "
        "_SLOTS_OF_ONE=SLOTS_OF_ONE"
    ),
    ("algorithms.canonical_csr.arrange", "device/rows.cl"): "_SLOTS_OF_MANY=SLOT_RUN",
    ("algorithms.equal_weights.solve", "equal_weights/equal_weights.cl"): (
        "_SOLVED=STATUS_SOLVED _RESULT_WORDS=RESULT_WORDS _WORDS_A_SLOT=WORDS_A_SLOT "
        "_WORDS_A_VERTEX=WORDS_A_VERTEX"
    ),
    ("algorithms.small_matrix.solve", "small_matrix/small_matrix.cl"): (
        "_SOLVED=STATUS_SOLVED _RESULT_WORDS=RESULT_WORDS _WORDS_A_SLOT=WORDS_A_SLOT "
        "_WORDS_A_VERTEX=WORDS_A_VERTEX"
    ),
    ("algorithms.reweighting.repeated", "reweighting/repeated.cl"): "_NONE=NO_FAULT _NONE=NO_SLOT",
    ("algorithms.reweighting.sensitivity", "reweighting/sensitivity_classify.cl"): (
        "_NONE=NO_WINNER"
    ),
    ("algorithms.reweighting.sensitivity", "reweighting/sensitivity_state.cl"): (
        "_TREE=EDGE_IS_TREE"
    ),
    ("algorithms.reweighting.sensitivity", "reweighting/sensitivity.cl"): (
        "_OCTAVE_BITS.16=OCTAVE_BITS.0 _OCTAVE_BITS.64=OCTAVE_BITS.1 "
        "_OCTAVE_BITS.32=OCTAVE_BITS.2 VECTOR=VECTOR_ITEMS.0"
    ),
    ("algorithms.k_core.core_numbers", "k_core/serial.cl"): "SERIAL_CAPACITY=SERIAL_QUEUE",
    ("primitives.permute", "primitives/permute.cl"): "_CHUNKS_PER_ITEM=BATCH",
    ("algorithms.pma.solve", "pma/pma.cl"): "_NO_OWNER=NO_OWNER",
    ("algorithms.boruvka.solve", "device/edge_list.cl"): "_NO_CHOICE=NO_CHOICE",
    ("algorithms.prim.solve", "prim/heap.cl"): (
        "_TAKE_STEPS=HEAP_TAKE_STEPS _CURSOR_WORDS.heap=HEAP_CURSOR_WORDS"
    ),
    ("algorithms.prim.solve", "prim/array.cl"): "_CHOOSE_STEPS=ARRAY_CHOOSE_STEPS",
}
SHARED = [
    (module, *pair.split("="), file)
    for (module, file), pairs in TABLE.items()
    for pair in pairs.split()
]
# What Python gives to kernels when they are built, and OpenCL's own names.
GIVEN = {
    "MAX_PHASES": MAX_PHASES,
    "MAX_DEPTHS": workspace._MAX_DEPTHS,
    "UINT_MAX": 2**32 - 1,
    "ULONG_MAX": 2**64 - 1,
}


def of_python(module: str, name: str) -> int:
    """Return a value by its name, which may end in attributes, keys or positions."""
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


@pytest.mark.parametrize(("module", "name", "macro", "file"), SHARED)
def test_python_and_kernels_say_the_same(module: str, name: str, macro: str, file: str) -> None:
    """Else the host reads other words than kernels write."""
    assert of_python(module, name) == of_kernel(file, macro)
