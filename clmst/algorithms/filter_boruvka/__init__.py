"""Borůvka's rounds on ever smaller arrays, light edges first."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

if TYPE_CHECKING:
    from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
    from clmst.runtime.device import Device
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy

UsualLaunches: TypeAlias = Literal["resident", "mixed", "separate"]

# Links hold 30 bits of a supervertex (LINK_NUMBER), of which there may be as many as vertices.
MAX_VERTICES = 1 << 30


def usual_launches(device: Device, n_slots: int) -> UsualLaunches:
    """Return how a graph is launched in the shape of a GPU where options do not say it."""
    policy = device.policy
    if not (
        policy.resident_groups_per_compute_unit
        and device.groups_may_wait
        and device.capabilities.has_device_fence
    ):
        return "separate"
    return "resident" if n_slots <= policy.resident_slots else "mixed"


def _bytes_needed(policy: Policy) -> tuple[int, int]:
    """Return what a solve takes in the device's own shape."""
    # In the shape of a GPU worklists may hold all edges. A forest that does not come to the host at
    # once is there three times, as slots, as endpoints, and packed; with weights of 64 bits, too.
    return (40, 22) if policy.work_group_size == 1 else (60, 34)


def _variant_of(graph: DeviceGraph) -> tuple[str, FilterBoruvkaOptions] | None:
    """Return which programs solve a graph where work-groups may wait for one another."""
    launches = usual_launches(graph.device, graph.n_slots)
    if launches == "separate":
        return None
    if launches == "mixed":
        return _variant("many launches")
    from clmst.algorithms.shared.windows import may_have_windows

    return _variant("one launch" if may_have_windows(graph, None) else "one launch, one window")


@cache
def _variant(
    name: Literal["many launches", "one launch", "one launch, one window"],
) -> tuple[str, FilterBoruvkaOptions]:
    """Return a variant and its options: made once, since a small solve notices microseconds."""
    from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions

    if name == "many launches":
        return name, FilterBoruvkaOptions(launches="mixed")
    # As the usual windows are, but for all graphs, or for none.
    return name, FilterBoruvkaOptions(targets=(1.0,) if name == "one launch" else ())


RECORD = AlgorithmRecord(
    name="filter-boruvka",
    purpose="Borůvka's rounds on arrays that shrink, light edges first; in two shapes",
    good_for="GPUs and CPUs; the quickest on all large sparse graphs measured",
    rank=20,
    most_vertices=lambda _: MAX_VERTICES,
    bytes_needed=_bytes_needed,
    takes_any_graph=True,
    variant_of=_variant_of,
    former_names={"lone-boruvka": {"shape": "cpu"}},
)
