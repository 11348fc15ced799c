"""The router, which decides from facts alone how a forest is computed.

Every function here is pure: its result depends on its arguments only. A function that chooses how
to solve gets facts about an input and a device, and returns a :class:`Way`, which has the name of
the chosen way of solving and the reason in words. Some choices depend on the data, for example on
whether all weights are equal. If a fact about the data is needed and not known yet, the field
`asks` of the Way names it. The caller, who has the data, determines the fact and calls the function
again. So the data are read only if they matter.

============= =======================================================================
`limits`      the numbers that decide, each with its unit and what was measured
`facts`       the classes of facts and answers, and the evaluation of rules
`records`     the names of all ways, each with a description
`sparse`      graphs that list their edges
`steps`       graphs that are on a device: algorithms and their variants
`complete`    points and complete matrices: their trees, and core distances
`dendrogram`  how the edges of a forest are sorted and merged, and in how many launches
`streams`     streams of edges
`changes`     changes of a dynamic forest
`repeated`    rounds of one graph under changing weights
`first_calls` whether the host answers while the first kernels are built
`primitives`  the number of passes and launches of a scan, a selection or a sort
============= =======================================================================
"""

from __future__ import annotations

from clmst.route.changes import (
    keeps_trees,
    repeats_pass,
    shares_of_passes,
    stays_on_device,
    way_of_change,
)
from clmst.route.complete import (
    after,
    compares_boxes,
    computes_without_scipy,
    ends_comparison,
    grows_from_lists,
    in_one_launch,
    in_one_work_group,
    long_enough_for_products,
    passed_over_complete,
    passed_over_core_distances,
    searches_boxes,
    searches_globally,
    way_of_complete,
    way_of_core_distances,
    way_of_host,
)
from clmst.route.dendrogram import (
    condenses_in_one_launch,
    device_sorts,
    one_merges,
)
from clmst.route.facts import (
    DeviceFacts,
    Form,
    PointFacts,
    SparseFacts,
    StreamFacts,
    Way,
)
from clmst.route.first_calls import (
    host_compares_first,
    host_solves_first,
    way_while_built,
    way_while_opened,
)
from clmst.route.limits import (
    LIMITS,
    Limits,
    limits_table,
)
from clmst.route.primitives import (
    in_one_pass,
    scanned_in_one_launch,
    selected_in_one_launch,
)
from clmst.route.records import (
    BLOCKS,
    BOXES,
    DEVICES,
    EQUAL,
    HOST,
    KEPT,
    PARTITIONS,
    PASSES,
    PRIM_POINTS,
    RECORDS,
    REDUCED,
    REDUCED_ON_HOST,
    ROWS,
    SMALL,
    STEPS,
    TILES,
    TURNS,
    records_table,
)
from clmst.route.repeated import (
    ANEW,
    checks_on_host,
    has_warm_starts,
    looks_for_series,
    most_changes,
    most_kept_changes,
    rounds_without_keeping,
    series_pays,
    solves_round_alone,
    takes_rounds_alone,
    warm_start_pays,
    way_of_kept_round,
    way_of_round,
    way_of_round_anew,
)
from clmst.route.sparse import (
    converts_on_host,
    device_checks,
    device_orders,
    host_lists_complete,
    host_merges_parallel,
    passed_over,
    pays_for_networkx,
    way_of_sparse,
)
from clmst.route.steps import (
    launches_of_rounds,
    light_edges_first,
    passed_over_steps,
    prefers_prim,
    shape_of_rounds,
    way_of_steps,
)
from clmst.route.streams import (
    filters_on_host,
    is_sparse_part,
    streams_instead,
    way_of_stream,
)

__all__ = [
    "ANEW",
    "BLOCKS",
    "BOXES",
    "DEVICES",
    "EQUAL",
    "HOST",
    "KEPT",
    "LIMITS",
    "PARTITIONS",
    "PASSES",
    "PRIM_POINTS",
    "RECORDS",
    "REDUCED",
    "REDUCED_ON_HOST",
    "ROWS",
    "SMALL",
    "STEPS",
    "TILES",
    "TURNS",
    "DeviceFacts",
    "Form",
    "Limits",
    "PointFacts",
    "SparseFacts",
    "StreamFacts",
    "Way",
    "after",
    "checks_on_host",
    "compares_boxes",
    "computes_without_scipy",
    "condenses_in_one_launch",
    "converts_on_host",
    "device_checks",
    "device_orders",
    "device_sorts",
    "ends_comparison",
    "filters_on_host",
    "grows_from_lists",
    "has_warm_starts",
    "host_compares_first",
    "host_lists_complete",
    "host_merges_parallel",
    "host_solves_first",
    "in_one_launch",
    "in_one_pass",
    "in_one_work_group",
    "is_sparse_part",
    "keeps_trees",
    "launches_of_rounds",
    "light_edges_first",
    "limits_table",
    "long_enough_for_products",
    "looks_for_series",
    "most_changes",
    "most_kept_changes",
    "one_merges",
    "passed_over",
    "passed_over_complete",
    "passed_over_core_distances",
    "passed_over_steps",
    "pays_for_networkx",
    "prefers_prim",
    "records_table",
    "repeats_pass",
    "rounds_without_keeping",
    "scanned_in_one_launch",
    "searches_boxes",
    "searches_globally",
    "selected_in_one_launch",
    "series_pays",
    "shape_of_rounds",
    "shares_of_passes",
    "solves_round_alone",
    "stays_on_device",
    "streams_instead",
    "takes_rounds_alone",
    "warm_start_pays",
    "way_of_change",
    "way_of_complete",
    "way_of_core_distances",
    "way_of_host",
    "way_of_kept_round",
    "way_of_round",
    "way_of_round_anew",
    "way_of_sparse",
    "way_of_steps",
    "way_of_stream",
    "way_while_built",
    "way_while_opened",
]
