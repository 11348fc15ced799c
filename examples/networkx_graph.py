"""The minimum spanning tree of a NetworkX graph. The nodes of the tree keep their names.

Prints::

    Bern - Basel: 95
    Bern - Geneva: 158
    Bern - Zurich: 125
    378 km of cable
"""

from __future__ import annotations

import networkx as nx

import clmst

DISTANCES = [
    ("Bern", "Basel", 95),
    ("Bern", "Geneva", 158),
    ("Bern", "Zurich", 125),
    ("Basel", "Zurich", 130),
    ("Geneva", "Zurich", 280),
]


def main() -> None:
    """Connect four towns with the least cable."""
    towns = nx.Graph()
    towns.add_weighted_edges_from(DISTANCES)
    tree = clmst.minimum_spanning_forest(towns).to_networkx()
    for first, second, kilometres in DISTANCES:
        if tree.has_edge(first, second):
            print(f"{first} - {second}: {kilometres}")
    print(f"{int(tree.size(weight='weight'))} km of cable")


if __name__ == "__main__":
    main()
