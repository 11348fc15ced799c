"""The minimum spanning tree of a SciPy matrix.

Prints::

    total weight 6
    edge 0 - 2, weight 1
    edge 1 - 2, weight 2
    edge 2 - 3, weight 3
"""

from __future__ import annotations

from scipy import sparse

import clmst


def main() -> None:
    """Solve a graph of four vertices, and show its tree."""
    matrix = sparse.coo_array(([4, 1, 2, 6, 3], ([0, 0, 1, 1, 2], [1, 2, 2, 3, 3])), shape=(4, 4))
    forest = clmst.minimum_spanning_forest(matrix)
    print(f"total weight {forest.total_weight}")
    for (u, v), weight in zip(forest.edges, forest.weights, strict=True):
        print(f"edge {u} - {v}, weight {weight}")


if __name__ == "__main__":
    main()
