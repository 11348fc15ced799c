"""A graph and its forests stay on the device. A forest is copied to the host only on request.

Prints::

    19999 edges in the tree
    minimum 2058023, maximum larger: True
"""

from __future__ import annotations

import clmst


def main() -> None:
    """Upload a road network once, and find its minimum and its maximum spanning tree."""
    roads = clmst.generate("road", n=20_000, seed=1)
    resident = clmst.to_device(roads)
    least = clmst.minimum_spanning_forest(resident, keep_on_device=True)
    most = clmst.maximum_spanning_forest(resident, keep_on_device=True)
    print(f"{least.n_edges} edges in the tree")
    total = least.to_host().total_weight
    print(f"minimum {total}, maximum larger: {most.to_host().total_weight > total}")


if __name__ == "__main__":
    main()
