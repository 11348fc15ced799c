"""ECL-MST: Kruskal's and Borůvka's algorithms unified.

Source: SC '23 (see ``clmst/algorithms/ecl/solve.py``); the options are section 5.3's optimisations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from clmst.algorithms.shared.algorithm_record import (
    AlgorithmRecord,
    check_real_number,
    check_switches,
    check_whole_number,
)
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.policy import Constant

if TYPE_CHECKING:
    from clmst.runtime.policy import Policy

MAX_SAMPLES = 2**20

# Rows of more slots are cut into pieces of this size, one for each lane group. On an H200, 64 slots
# take 0.976 of the time in the mean of fifteen graphs, but 1.2 on copapers; 256 take 1.042.
HUB_ROW = Constant("ecl.HUB_ROW", 128)
# Rows that a work-item which is alone takes from each tile of a graph. On two CPU cores, under
# Intel's runtime and PoCL, 128 rows take 1.031 and 1.062 of the time, 512 take 1.088 and 1.001.
_ROWS_ALONE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EclOptions:
    """The optimisations of the paper's section 5.3, each with its replacement when off.

    They change how long a solve takes, never its result.

    Attributes
    ----------
    atomic_guards : bool
        Look before an atomic minimum. Off: always do it.
    hybrid_parallelism : bool
        Rows of 4 or more slots go to a group of lanes. Off: every row to one work-item.
    filter : bool
        At average degree >= 4, light edges first; the heavy ones only if they still join two sets.
        Off: all edges at once.
    implicit_path_compression : bool
        Worklists have representatives. Off: they have vertices, and finds halve their paths.
    single_direction : bool
        Each edge is taken from its upper slot. Off: from both slots.
    tuples : bool
        Worklists are arrays of 4-tuples. Off: four arrays.
    data_driven : bool
        Rounds go over worklists. Off: over all edges of the graph.
    edge_centric : bool
        A work-item takes an edge. Off: a vertex with all its edges (needs ``data_driven=False``:
        worklists are made of edges).
    filter_factor : float
        How many times as many light slots as vertices the filter aims at, 2 to 4: the factor c of
        the paper's section 3.2, which finds 2 to 4 good. Both directions of an edge count, as in
        its code, so 3 is its section 5.4's three, and one and a half edges a vertex.
    seed : int
        Seed of the sample of weights that sets the filter's threshold.
    samples : int
        Size of that sample, 1 to 2**20. The paper takes 20; more cost nothing measurable and miss
        the target less. Where the target is below a 64th of all edges, each is the least of
        several.
    """

    atomic_guards: bool = True
    hybrid_parallelism: bool = True
    filter: bool = True
    implicit_path_compression: bool = True
    single_direction: bool = True
    tuples: bool = True
    data_driven: bool = True
    edge_centric: bool = True
    filter_factor: float = 3.0
    seed: int = 0
    samples: int = 1024

    def __post_init__(self) -> None:
        check_switches(self, *(one.name for one in fields(self) if isinstance(one.default, bool)))
        if self.data_driven and not self.edge_centric:
            raise InvalidArgumentError(
                "edge_centric is off but data_driven is on; worklists are made of edges, so "
                "vertex-centric work needs data_driven=False"
            )
        check_real_number(self, "filter_factor", low=2, high=4)
        check_whole_number(self, "samples", low=1, high=MAX_SAMPLES)
        check_whole_number(self, "seed", low=0)

    def as_tested(self) -> EclOptions:
        """Return the options of the self-test: the programs follow from the macros below alone.

        The filter sets the range of weights that kernels take as arguments. ``populate.cl`` and
        ``ecl.cl`` serve data-driven solves, ``topology.cl`` the others.
        """
        if self.data_driven:
            return EclOptions(
                atomic_guards=self.atomic_guards, hybrid_parallelism=self.hybrid_parallelism,
                implicit_path_compression=self.implicit_path_compression,
                single_direction=self.single_direction, tuples=self.tuples,
            )  # fmt: skip
        return replace(self, filter=True, filter_factor=3.0, seed=0, samples=1024)

    @classmethod
    def ablation(cls, **common: Any) -> list[tuple[str, EclOptions]]:
        """Return the nine steps of the paper's Table 5: each takes one more optimisation away."""
        steps = [("ECL-MST", cls(**common))]
        for title, switch in (
            ("No Atomic Guards", "atomic_guards"),
            ("Thread-Based", "hybrid_parallelism"),
            ("No Filter", "filter"),
            ("No Impl. Path Compr.", "implicit_path_compression"),
            ("Both Edge Dir.", "single_direction"),
            ("No Tuples", "tuples"),
            ("Topology-Driven", "data_driven"),
            ("Vertex-Centric", "edge_centric"),
        ):
            steps.append((title, replace(steps[-1][1], **{switch: False})))
        return steps


def check_for_edges_once(options: object, fact: str) -> None:
    """Raise if options are for edges that are stored in both directions; `fact` tells the form."""
    if isinstance(options, EclOptions) and not options.single_direction:
        raise InvalidArgumentError(
            f"EclOptions(single_direction=False) is for both directions of edges; {fact}"
        )


def round_defines(options: EclOptions, tuning: Policy) -> dict[str, int | bool]:
    """Return the macros of ``ecl.cl`` beside those of the device and of the weights."""
    return {
        "ATOMIC_GUARDS": options.atomic_guards,
        "EDGES_PER_ITEM": tuning.edges_per_item,
        "IMPLICIT_COMPRESSION": options.implicit_path_compression,
        "WORKLIST_TUPLES": options.tuples,
    }


def populate_defines(options: EclOptions, tuning: Policy) -> dict[str, int | bool]:
    """Return the macros of ``ecl/populate.cl`` beside those of the device and of the weights."""
    defines: dict[str, int | bool] = {
        "ATOMIC_GUARDS": options.atomic_guards,
        "SINGLE_DIRECTION": options.single_direction,
        "ROWS_PER_ITEM": rows_per_item(tuning),
        "STAGE_CAPACITY": tuning.stage_capacity,
        "HUB_ROW": HUB_ROW.under(tuning),
        "HYBRID_ROWS": options.hybrid_parallelism,
        "IMPLICIT_COMPRESSION": options.implicit_path_compression,
        "WORKLIST_TUPLES": options.tuples,
    }
    if not options.hybrid_parallelism:
        defines["LANES_IMPL"] = 0  # work-items on rows of their own do not run in step
    return defines


def rows_per_item(tuning: Policy) -> int:
    """Return the rows that a work-item takes from each tile of a graph."""
    return _ROWS_ALONE if tuning.work_group_size == 1 else 1


def topology_defines(options: EclOptions) -> dict[str, int | bool]:
    """Return the macros of ``ecl/topology.cl`` beside those of the device and of the weights."""
    return {
        "ATOMIC_GUARDS": options.atomic_guards,
        "SINGLE_DIRECTION": options.single_direction,
        "EDGE_CENTRIC": options.edge_centric,
    }


RECORD = AlgorithmRecord(
    name="ecl",
    options=EclOptions,
    purpose="ECL-MST: edge worklists, deterministic reservations, one filter",
    good_for="graphs of more than 2\\*\\*30 vertices; every optimisation can be switched off",
    rank=40,
    bytes_needed=(20, 34),
    takes_any_graph=True,
)
