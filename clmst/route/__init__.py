"""The router: which way a forest is found, decided from facts alone.

Every function here is pure. It gets facts about an input and a device, and returns a :class:`Way`:
the name of a record, and the reason in words. Some choices depend on the data, such as whether all
weights are equal. Then the way names in `asks` the fact that is missing. The caller, who has the
data, reads that fact and asks again. So no fact is read that does not matter.

============ ==================================================================
"""

from __future__ import annotations

from clmst.route.complete import (
    in_one_work_group as in_one_work_group,
)
from clmst.route.complete import (
    keeps_hierarchy as keeps_hierarchy,
)
from clmst.route.complete import (
    way_of_complete as way_of_complete,
)
from clmst.route.complete import (
    way_of_core_distances as way_of_core_distances,
)
from clmst.route.facts import (
    DeviceFacts as DeviceFacts,
)
from clmst.route.facts import (
    Form as Form,
)
from clmst.route.facts import (
    PointFacts as PointFacts,
)
from clmst.route.facts import (
    SparseFacts as SparseFacts,
)
from clmst.route.facts import StreamFacts as StreamFacts
from clmst.route.facts import (
    Way as Way,
)
from clmst.route.limits import LIMITS as LIMITS
from clmst.route.limits import Limits as Limits
from clmst.route.limits import limits_table as limits_table
from clmst.route.primitives import in_one_pass as in_one_pass
from clmst.route.primitives import scanned_in_one_launch as scanned_in_one_launch
from clmst.route.primitives import selected_in_one_launch as selected_in_one_launch
from clmst.route.records import (
    BOXES as BOXES,
)
from clmst.route.records import (
    EQUAL as EQUAL,
)
from clmst.route.records import (
    HOST as HOST,
)
from clmst.route.records import PASSES as PASSES
from clmst.route.records import (
    PRIM_POINTS as PRIM_POINTS,
)
from clmst.route.records import (
    RECORDS as RECORDS,
)
from clmst.route.records import REDUCED as REDUCED
from clmst.route.records import REDUCED_ON_HOST as REDUCED_ON_HOST
from clmst.route.records import (
    ROWS as ROWS,
)
from clmst.route.records import (
    SMALL as SMALL,
)
from clmst.route.records import (
    STEPS as STEPS,
)
from clmst.route.records import (
    TILES as TILES,
)
from clmst.route.records import (
    TURNS as TURNS,
)
from clmst.route.repeated import checks_on_host as checks_on_host
from clmst.route.repeated import has_warm_starts as has_warm_starts
from clmst.route.repeated import looks_for_series as looks_for_series
from clmst.route.repeated import series_pays as series_pays
from clmst.route.repeated import warm_start_pays as warm_start_pays
from clmst.route.sparse import (
    converts_on_host as converts_on_host,
)
from clmst.route.sparse import (
    prefers_prim as prefers_prim,
)
from clmst.route.sparse import (
    way_of_sparse as way_of_sparse,
)
from clmst.route.streams import filters_on_host as filters_on_host
from clmst.route.streams import is_sparse_part as is_sparse_part
from clmst.route.streams import streams_instead as streams_instead
from clmst.route.streams import way_of_stream as way_of_stream
