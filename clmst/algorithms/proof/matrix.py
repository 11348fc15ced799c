"""Proof of a forest of a complete graph; host side of ``cl/algorithms/proof/matrix.cl``."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.proof.tree import NO_FAULT, SLOT, Tree, TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.primitives.sort import sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix

SOURCE = "algorithms/proof/matrix.cl"


def defines(matrix_defines: dict[str, int]) -> dict[str, int]:
    """Return the macros of SOURCE, given those of the weights' source."""
    return {name: value for name, value in matrix_defines.items() if name != "COMPLETE"}


class MatrixProof:
    """The claim of a forest of a complete graph of two vertices or more, and what proves it."""

    def __init__(self, forest: DeviceForest, builder: TreeBuilder) -> None:
        assert isinstance(forest.graph, DeviceMatrix)
        self.matrix, self.ends, self.builder = forest.graph, forest.edges, builder
        device = builder.launch.device
        macros = defines(self.matrix.defines(maximum=forest.maximum))
        self.program = device.program(SOURCE, **macros)
        word = np.uint64 if macros["WEIGHT_BITS"] == 64 else np.uint32
        self.keys = DeviceArray.empty(builder.k, word, device)
        self.numbers = DeviceArray.empty(builder.k, np.uint32, device)
        # Of points a double, of a matrix a weight.
        self.measure_bytes = 8 if "METRIC" in macros else macros["WEIGHT_BITS"] // 8

    def list_edges(self, builder: TreeBuilder) -> None:
        """Check the claim, and enqueue the list of its edges unless there is a fault; waits."""
        launch, k = builder.launch, builder.k
        for panel in self.matrix.panels:
            launch.for_each(
                self.program, "proof_matrix_list_keys", k, panel.cells, self.ends,
                self.keys, self.numbers, builder.state, builder.n, self.matrix.dimensions,
                panel.first, panel.n_rows, k,
            )  # fmt: skip
        if not builder.claim_is_right():
            return
        self.keys, self.numbers = sort_by_key(self.keys, self.numbers, launch=launch)
        launch.enqueue(
            self.program, "proof_matrix_list", builder.segments, self.ends,
            builder.ranks_of(self.numbers), builder.least, builder.records, builder.lengths, k,
            builder.stride,
        )  # fmt: skip

    def check_pairs(self, tree: Tree) -> bool:
        """Compare every pair with the forest; waits."""
        builder, n = self.builder, self.builder.n
        launch, device = builder.launch, builder.launch.device
        limits = device.allocate(self.measure_bytes * n)
        launch.for_each(
            self.program, "proof_matrix_find_limits", n, self.matrix.panels[0].cells,
            tree.reaches, self.keys, limits, n,
        )  # fmt: skip
        groups = launch.groups_for(n)
        greatest: Any = builder.state
        remaining: Any = builder.state
        if self.program.work_group_size == 1:
            greatest = device.allocate(4 * groups * tree.n_nodes)
            remaining = device.allocate(4 * groups * n)
        for panel in self.matrix.panels:
            launch.enqueue(
                self.program, "proof_matrix_check", groups, panel.cells, limits,
                tree.parents, tree.orders, self.keys, self.numbers, self.ends, greatest, remaining,
                tree.state, n, self.matrix.dimensions, panel.first, panel.n_rows, tree.n_nodes,
            )  # fmt: skip
        words = np.empty(SLOT + 1, np.uint32)
        launch.read(tree.state, words)
        return bool(words[SLOT] == NO_FAULT)
