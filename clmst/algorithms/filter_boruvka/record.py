"""What the rest of clmst has to know of filter-boruvka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmst.algorithms.filter_boruvka import links
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

if TYPE_CHECKING:
    from clmst.runtime.policy import Policy


def _bytes_needed(policy: Policy) -> tuple[int, int]:
    """Return what a solve takes in the device's own shape."""
    # In the shape of a GPU (47, 33) where light edges are as few as it expects.
    return (40, 22) if policy.work_group_size == 1 else (78, 64)


RECORD = AlgorithmRecord(
    name="filter-boruvka",
    folder="clmst.algorithms.filter_boruvka",
    options="FilterBoruvkaOptions",
    purpose="Borůvka's rounds on arrays that shrink, light edges first; in two shapes",
    good_for="GPUs and CPUs; the quickest on all large sparse graphs measured",
    rank=20,
    most_vertices=links.most_vertices,
    bytes_needed=_bytes_needed,
    takes_any_graph=True,
    former_names={"lone-boruvka": {"shape": "cpu"}},
)
