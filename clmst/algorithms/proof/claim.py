"""The claim that some slots of a graph are its forest; host side of ``proof_claim.cl``."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.proof.tree import TreeBuilder
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.primitives.sort import sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph

SOURCE = "algorithms/proof/claim.cl"


class Claim:
    """What a forest of a DeviceGraph claims.

    Where weights have 64 bits, it has the sorted keys of the edges once they are listed.
    """

    def __init__(self, forest: DeviceForest) -> None:
        assert isinstance(forest.graph, DeviceGraph)
        self.forest, self.graph = forest, forest.graph
        self.weights = self.graph.weight_defines(maximum=forest.maximum)
        self.keys: Any = None

    @property
    def is_wide(self) -> bool:
        """Whether edges are compared by ranks."""
        return self.weights["WEIGHT_BITS"] == 64

    def list_edges(self, builder: TreeBuilder) -> None:
        """Enqueue the check of the claim, and the list of its edges."""
        forest, graph, launch, own = self.forest, self.graph, builder.launch, self.forest.weights
        program = launch.device.program(SOURCE, **self.weights)
        ranks = self._ranks(builder) if self.is_wide else builder.state
        launch.enqueue(
            program, "proof_claim_list", builder.segments, graph.indptr, graph.indices,
            graph.weights, forest.slots, forest.edges, ranks, own.words if own else builder.state,
            builder.least, builder.records, builder.lengths, builder.state, builder.n,
            graph.n_slots, builder.k, builder.stride, int(bool(own)),
        )  # fmt: skip

    def _ranks(self, builder: TreeBuilder) -> DeviceArray:
        """Return the ranks of the claimed edges by (key, slot), from 1 on."""
        launch, k = builder.launch, builder.k
        program = launch.device.program(SOURCE, **self.weights)
        keys = DeviceArray.empty(k, np.uint64, launch.device)
        numbers = DeviceArray.empty(k, np.uint32, launch.device)
        launch.for_each(
            program, "proof_claim_list_keys", k, self.graph.weights, self.forest.slots,
            keys, numbers, self.graph.n_slots, k,
        )  # fmt: skip
        keys, numbers = sort_by_key(keys, numbers, launch=launch)
        self.keys = keys.memory
        return builder.ranks_of(numbers)
