"""ECL-MST: Kruskal's and Borůvka's algorithms unified.

Source: the paper on ECL-MST, SC '23 (``clmst/algorithms/ecl/solve.py`` has the full reference). The
options are the optimisations of section 5.3 of the paper.
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

# Rows with more slots (CSR entries) than this are cut into pieces of this length, each for one
# group of work-items that run in lockstep. Measured on an H200: with 64, a solve takes 0.976 times
# as long on average over fifteen graphs, but 1.2 times as long on the graph copapers. With 256, it
# takes 1.042 times as long on average.
HUB_ROW = Constant("ecl.HUB_ROW", 128)
# Number of CSR rows that a work-item takes at a time if its work-group has one work-item. Measured
# on two CPU cores: with 128 rows, a solve takes 1.031 times as long under Intel's runtime and 1.062
# times as long under PoCL. With 512 rows, it takes 1.088 and 1.001 times as long.
_ROWS_ALONE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EclOptions:
    """Options of `ecl`: the optimisations of ECL-MST, each of which can be switched off.

    The options change how long a solve takes, never its result. All are on by default. Table 5 of
    the paper shows how much each gains, by switching off one after another; :meth:`ablation` gives
    these steps.

    Parameters
    ----------
    atomic_guards : bool, default True
        Whether a work-item reads a value before it lowers it by an atomic minimum, and leaves out
        the atomic if the value is low enough already. If off, every minimum is an atomic.
    hybrid_parallelism : bool, default True
        Whether several work-items that run in lockstep share each CSR row of 4 or more entries. If
        off, one work-item takes each row, however long the row is.
    filter : bool, default True
        Whether light edges are solved first in graphs with an average degree of 4 or more. Heavy
        edges are then considered only if they still join two components. If off, all edges are
        solved together.
    implicit_path_compression : bool, default True
        Whether worklists store the representatives of the two components that an edge joins. If
        off, they store its vertices, and each search for a representative halves its path.
    single_direction : bool, default True
        Whether each edge is taken from only one of its two CSR entries. If off, it is taken from
        both, so a graph that stores each edge once is first copied with both directions.
    tuples : bool, default True
        Whether a worklist is one array of 4-tuples. If off, it is four arrays.
    data_driven : bool, default True
        Whether rounds go over worklists of the remaining edges. If off, each round goes over all
        edges of the graph.
    edge_centric : bool, default True
        Whether a work-item takes an edge. If off, it takes a vertex with all its edges, which
        requires ``data_driven=False``, since worklists consist of edges.
    filter_factor : float, default 3.0
        How many CSR entries for each vertex should be light, from 2 to 4. It is c in section 3.2 of
        the paper, which recommends this range. With a larger factor, more edges are solved in the
        first pass, which solves light edges, and fewer in the second. Both directions of an edge
        count, as in the paper's code, so 3 means one and a half edges for each vertex.
    seed : int, default 0
        Seed of the random sample of weights that sets the limit between light and heavy edges; 0 or
        more.
    samples : int, default 1024
        Size of that sample, from 1 to 2**20. With a larger sample, the number of light edges is
        nearer to what `filter_factor` requests. The paper uses 20, but a larger sample does not
        take measurably longer. If less than 1/64 of all edges should be light, each weight in the
        sample is the least of several random ones.

    Raises
    ------
    InvalidArgumentError
        A value has the wrong type or is out of range, or `edge_centric` is off while `data_driven`
        is on.

    References
    ----------
    A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs",
    SC '23.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.EclOptions(filter=False)
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
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
        """Return the options with which the self-test runs before a solve with these options.

        Options that become macros of the kernels are kept, so that the same programs are compiled.
        All others get their defaults, because they only change arguments of the kernels, such as
        the range of weights. ``populate.cl`` and ``ecl.cl`` are used if `data_driven` is on,
        ``topology.cl`` if it is off.
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
        """Return the nine steps of the paper's Table 5, each with one more optimisation off.

        Parameters
        ----------
        **common
            Options that all steps share, such as ``seed=1``.

        Returns
        -------
        list of (str, EclOptions)
            The title of each step in the table, and its options.
        """
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
    """Raise InvalidArgumentError if the options need edges that are stored in both directions.

    Call it for a graph that stores each edge once. `fact` is the second half of the error message,
    and says in which form the graph is.
    """
    if isinstance(options, EclOptions) and not options.single_direction:
        raise InvalidArgumentError(
            f"EclOptions(single_direction=False) is for both directions of edges; {fact}"
        )


def round_defines(options: EclOptions, tuning: Policy) -> dict[str, int | bool]:
    """Return the macros for ``ecl/ecl.cl``, the kernels of all rounds.

    The macros follow from the options and from `tuning`, which has the device's settings of
    kernels, such as the number of edges that a work-item takes. The macros that depend on the
    device and on the dtype of the weights are added elsewhere.
    """
    return {
        "ATOMIC_GUARDS": options.atomic_guards,
        "EDGES_PER_ITEM": tuning.edges_per_item,
        "IMPLICIT_COMPRESSION": options.implicit_path_compression,
        "WORKLIST_TUPLES": options.tuples,
    }


def populate_defines(options: EclOptions, tuning: Policy) -> dict[str, int | bool]:
    """Return the macros for ``ecl/populate.cl``, the kernels that fill the first worklist of edges.

    The macros follow from the options and from `tuning`, which has the device's settings of
    kernels, such as the size of a work-group. The macros that depend on the device and on the dtype
    of the weights are added elsewhere.
    """
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
        defines["LANES_IMPL"] = 0  # since work-items with rows of their own diverge
    return defines


def rows_per_item(tuning: Policy) -> int:
    """Return the number of CSR rows that a work-item takes when the first list of edges is filled.

    `tuning` has the device's settings of kernels, such as the size of a work-group.
    """
    return _ROWS_ALONE if tuning.work_group_size == 1 else 1


def topology_defines(options: EclOptions) -> dict[str, int | bool]:
    """Return the macros that the options set for ``ecl/topology.cl``.

    These kernels go over all edges in each round, instead of a worklist of the remaining edges. The
    macros that depend on the device and on the dtype of the weights are added elsewhere.
    """
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
