"""clmst: minimum spanning forests on any OpenCL device, the same forest everywhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clmst import cluster, csgraph, dask, primitives, ray
    from clmst import drawing as drawing
    from clmst import generators as generators
    from clmst import io as io
    from clmst.algorithms.boruvka.options import BoruvkaOptions
    from clmst.algorithms.dense.options import DenseOptions
    from clmst.algorithms.ecl.options import EclOptions
    from clmst.algorithms.edge_parallel.options import EdgeParallelOptions
    from clmst.algorithms.edge_stream.generated import GeneratedEdges
    from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
    from clmst.algorithms.filter_boruvka.options import LoneBoruvkaOptions as LoneBoruvkaOptions
    from clmst.algorithms.pma.options import PmaOptions
    from clmst.algorithms.prim.options import PrimOptions
    from clmst.algorithms.prim_boruvka.options import PrimBoruvkaOptions
    from clmst.algorithms.shared.device_forest import DeviceForest
    from clmst.api import (
        maximum_spanning_forest,
        minimum_spanning_forest,
        to_device,
    )
    from clmst.core.dense_graph import DenseGraph
    from clmst.core.errors import (
        CacheWarning,
        ClmstError,
        DeviceError,
        DeviceLostError,
        DeviceWarning,
        FileFormatError,
        FileWriteError,
        GraphWarning,
        InvalidArgumentError,
        InvalidForestError,
        InvalidGraphError,
        KernelBuildError,
        MissingDependencyError,
        MissingFileError,
        NotFittedError,
        OutOfDeviceMemoryError,
        StreamedWarning,
        UnsupportedDeviceError,
    )
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph
    from clmst.core.kruskal import kruskal
    from clmst.core.points import Points
    from clmst.core.verify import Verification, verify
    from clmst.generators import generate
    from clmst.io import read_forest, read_graph, read_points, write_forest, write_graph
    from clmst.peeling import core_numbers
    from clmst.points.core_distances import core_distances
    from clmst.repeated.solver import RepeatedSolver
    from clmst.runtime.array import DeviceArray
    from clmst.runtime.device import Device
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.device_matrix import DeviceMatrix
    from clmst.runtime.device_parts import DeviceParts
    from clmst.runtime.discovery import devices, get_device
    from clmst.scale.parts import to_devices
    from clmst.scale.result import StreamProgress
    from clmst.scale.stream import stream_minimum_spanning_forest
    from clmst.segmentation import seeded_segmentation
    from clmst.versions import show_versions

__version__ = "0.1.0"

# Where each public name lives. Modules are imported when a name of theirs is first used, so that
# `import clmst` is quick and needs no OpenCL.
_HOMES = {
    "clmst.algorithms.boruvka.options": ("BoruvkaOptions",),
    "clmst.algorithms.dense.options": ("DenseOptions",),
    "clmst.algorithms.ecl.options": ("EclOptions",),
    "clmst.algorithms.edge_parallel.options": ("EdgeParallelOptions",),
    "clmst.algorithms.edge_stream.generated": ("GeneratedEdges",),
    "clmst.algorithms.filter_boruvka.options": ("FilterBoruvkaOptions",),
    "clmst.algorithms.pma.options": ("PmaOptions",),
    "clmst.algorithms.prim_boruvka.options": ("PrimBoruvkaOptions",),
    "clmst.algorithms.prim.options": ("PrimOptions",),
    "clmst.algorithms.shared.device_forest": ("DeviceForest",),
    "clmst.api": (
        "maximum_spanning_forest",
        "minimum_spanning_forest",
        "to_device",
    ),
    "clmst.core.dense_graph": ("DenseGraph",),
    "clmst.core.errors": (
        "CacheWarning",
        "ClmstError",
        "DeviceError",
        "DeviceLostError",
        "DeviceWarning",
        "FileFormatError",
        "FileWriteError",
        "GraphWarning",
        "InvalidArgumentError",
        "InvalidForestError",
        "InvalidGraphError",
        "KernelBuildError",
        "MissingDependencyError",
        "MissingFileError",
        "NotFittedError",
        "OutOfDeviceMemoryError",
        "StreamedWarning",
        "UnsupportedDeviceError",
    ),
    "clmst.core.forest": ("Forest",),
    "clmst.core.graph": ("Graph",),
    "clmst.core.kruskal": ("kruskal",),
    "clmst.core.points": ("Points",),
    "clmst.core.verify": ("Verification", "verify"),
    "clmst.generators": ("generate",),
    "clmst.io": ("read_forest", "read_graph", "read_points", "write_forest", "write_graph"),
    "clmst.peeling": ("core_numbers",),
    "clmst.points.core_distances": ("core_distances",),
    "clmst.repeated.solver": ("RepeatedSolver",),
    "clmst.runtime.array": ("DeviceArray",),
    "clmst.runtime.device": ("Device",),
    "clmst.runtime.device_graph": ("DeviceGraph",),
    "clmst.runtime.device_matrix": ("DeviceMatrix",),
    "clmst.runtime.device_parts": ("DeviceParts",),
    "clmst.runtime.discovery": ("devices", "get_device"),
    "clmst.scale.parts": ("to_devices",),
    "clmst.scale.result": ("StreamProgress",),
    "clmst.scale.stream": ("stream_minimum_spanning_forest",),
    "clmst.segmentation": ("seeded_segmentation",),
    "clmst.versions": ("show_versions",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("cluster", "csgraph", "dask", "primitives", "ray")  # public by themselves
_ALSO = ("drawing", "generators", "io")  # modules of which some names are here, too
# Names that go with the next version.
_FORMER_HOME_OF = {"LoneBoruvkaOptions": "clmst.algorithms.filter_boruvka.options"}

__all__ = [
    "BoruvkaOptions",
    "CacheWarning",
    "ClmstError",
    "DenseGraph",
    "DenseOptions",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceForest",
    "DeviceGraph",
    "DeviceLostError",
    "DeviceMatrix",
    "DeviceParts",
    "DeviceWarning",
    "EclOptions",
    "EdgeParallelOptions",
    "FileFormatError",
    "FileWriteError",
    "FilterBoruvkaOptions",
    "Forest",
    "GeneratedEdges",
    "Graph",
    "GraphWarning",
    "InvalidArgumentError",
    "InvalidForestError",
    "InvalidGraphError",
    "KernelBuildError",
    "MissingDependencyError",
    "MissingFileError",
    "NotFittedError",
    "OutOfDeviceMemoryError",
    "PmaOptions",
    "Points",
    "PrimBoruvkaOptions",
    "PrimOptions",
    "RepeatedSolver",
    "StreamProgress",
    "StreamedWarning",
    "UnsupportedDeviceError",
    "Verification",
    "__version__",
    "cluster",
    "core_distances",
    "core_numbers",
    "csgraph",
    "dask",
    "devices",
    "generate",
    "get_device",
    "kruskal",
    "maximum_spanning_forest",
    "minimum_spanning_forest",
    "primitives",
    "ray",
    "read_forest",
    "read_graph",
    "read_points",
    "seeded_segmentation",
    "show_versions",
    "stream_minimum_spanning_forest",
    "to_device",
    "to_devices",
    "verify",
    "write_forest",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    if name in (*_MODULES, *_ALSO):
        return import_module(f"clmst.{name}")
    home = _HOME_OF.get(name) or _FORMER_HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'clmst' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ALSO, *(name for name in globals() if name.startswith("__"))})
