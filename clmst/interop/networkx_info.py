"""The description of clmst that NetworkX reads whenever it is imported.

This module imports no other module of clmst, so that reading it takes little time.
"""

from __future__ import annotations

from typing import Any

_DEVICE = {
    "device : None, str or clmst.Device, optional": (
        "The device that solves, as of ``clmst.get_device``; by default that of "
        "``nx.config.backends.clmst.device``, else the best one."
    )
}
_TREE = (
    "On an OpenCL device; the same tree as of Kruskal's algorithm in NetworkX, equal weights "
    "included. 'prim' and 'boruvka' need weights that all differ."
)
_EDGES = (
    "On an OpenCL device; the same edges, in the same order, as of Kruskal's algorithm in "
    "NetworkX. 'prim' and 'boruvka' are left to NetworkX."
)
_DOCS = {
    "minimum_spanning_tree": _TREE,
    "maximum_spanning_tree": _TREE,
    "minimum_spanning_edges": _EDGES,
    "maximum_spanning_edges": _EDGES,
    "core_number": "On an OpenCL device, by peeling level by level.",
}


def get_info() -> dict[str, Any]:
    """Return the description of the backend. NetworkX calls it through an entry point."""
    return {
        "backend_name": "clmst",
        "project": "clmst",
        "package": "clmst",
        "short_summary": "Minimum spanning trees and core numbers on any OpenCL device.",
        "default_config": {"device": None},
        "functions": {
            name: {"additional_docs": text, "additional_parameters": _DEVICE}
            for name, text in _DOCS.items()
        },
    }
