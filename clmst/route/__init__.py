"""The router: which way a forest is found, decided from facts alone.

Every function here is pure. It gets facts about an input and a device, and returns a :class:`Way`:
the name of a record, and the reason in words. Some choices depend on the data, such as whether all
weights are equal. Then the way names in `asks` the fact that is missing. The caller, who has the
data, reads that fact and asks again. So no fact is read that does not matter.

============= =======================================================================
`limits`      the numbers that decide, each with its unit and what was measured
`facts`       what the router is told, and the form of its answer
`records`     the names of the ways, each with what it stands for
`sparse`      graphs that list their edges
`complete`    points and complete matrices
`dendrograms` dendrograms of forests
============= =======================================================================
"""

from __future__ import annotations

from clmst.route.complete import (
    in_one_work_group as in_one_work_group,
)
from clmst.route.complete import (
    may_take_products as may_take_products,
)
from clmst.route.complete import (
    takes_all_rounds_in_one_launch as takes_all_rounds_in_one_launch,
)
from clmst.route.complete import (
    way_of_complete as way_of_complete,
)
from clmst.route.complete import (
    way_of_core_distances as way_of_core_distances,
)
from clmst.route.dendrograms import (
    condenses_in_one_launch as condenses_in_one_launch,
)
from clmst.route.dendrograms import (
    merges_serially as merges_serially,
)
from clmst.route.dendrograms import (
    sorts_on_device as sorts_on_device,
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
from clmst.route.facts import (
    Way as Way,
)
from clmst.route.limits import LIMITS as LIMITS
from clmst.route.limits import Limits as Limits
from clmst.route.limits import limits_table as limits_table
from clmst.route.records import (
    BOXES as BOXES,
)
from clmst.route.records import (
    EQUAL as EQUAL,
)
from clmst.route.records import (
    HOST as HOST,
)
from clmst.route.records import (
    PRIM_POINTS as PRIM_POINTS,
)
from clmst.route.records import (
    RECORDS as RECORDS,
)
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
from clmst.route.sparse import (
    converts_on_host as converts_on_host,
)
from clmst.route.sparse import (
    prefers_prim as prefers_prim,
)
from clmst.route.sparse import (
    way_of_sparse as way_of_sparse,
)
