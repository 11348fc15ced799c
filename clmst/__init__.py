"""Minimum spanning forests on any OpenCL device, with the same result on every device.

The main functions are :func:`minimum_spanning_forest`, which solves a graph once, and
:class:`RepeatedSolver`, which solves the same edges again under other weights. :mod:`clmst.cluster`
has HDBSCAN and single linkage.

Examples
--------
>>> import clmst, scipy.sparse
>>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
>>> clmst.minimum_spanning_forest(A).total_weight
5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # These imports are only for type checkers, to which "name as name" marks a name as re-exported.
    # isort is off because it would write one import statement per name.
    # isort: off
    from clmst import (
        cluster as cluster,
        csgraph as csgraph,
        dask as dask,
        drawing as drawing,
        generators as generators,
        io as io,
        primitives as primitives,
        ray as ray,
    )
    from clmst.algorithms.boruvka import BoruvkaOptions as BoruvkaOptions
    from clmst.algorithms.dense import DenseOptions as DenseOptions
    from clmst.algorithms.ecl import EclOptions as EclOptions
    from clmst.algorithms.edge_parallel import EdgeParallelOptions as EdgeParallelOptions
    from clmst.algorithms.edge_stream.generated import GeneratedEdges as GeneratedEdges
    from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions as FilterBoruvkaOptions
    from clmst.algorithms.pma import PmaOptions as PmaOptions
    from clmst.algorithms.prim import PrimOptions as PrimOptions
    from clmst.algorithms.prim_boruvka import PrimBoruvkaOptions as PrimBoruvkaOptions
    from clmst.algorithms.shared.device_forest import DeviceForest as DeviceForest
    from clmst.api import (
        maximum_spanning_forest as maximum_spanning_forest,
        minimum_spanning_forest as minimum_spanning_forest,
        to_device as to_device,
    )
    from clmst.blocks.options import BlockOptions as BlockOptions, BlockProgress as BlockProgress
    from clmst.core.dense_graph import DenseGraph as DenseGraph
    from clmst.core.errors import (
        CacheWarning as CacheWarning,
        ClmstError as ClmstError,
        DeviceError as DeviceError,
        DeviceLostError as DeviceLostError,
        DeviceWarning as DeviceWarning,
        FileFormatError as FileFormatError,
        FileWriteError as FileWriteError,
        GraphWarning as GraphWarning,
        InvalidArgumentError as InvalidArgumentError,
        InvalidForestError as InvalidForestError,
        InvalidGraphError as InvalidGraphError,
        KernelBuildError as KernelBuildError,
        MissingDependencyError as MissingDependencyError,
        MissingFileError as MissingFileError,
        NotFittedError as NotFittedError,
        OutOfDeviceMemoryError as OutOfDeviceMemoryError,
        StreamedWarning as StreamedWarning,
        UnsupportedDeviceError as UnsupportedDeviceError,
    )
    from clmst.core.forest import Forest as Forest
    from clmst.core.graph import Graph as Graph
    from clmst.core.kruskal import kruskal as kruskal
    from clmst.core.points import Points as Points
    from clmst.core.verification import Verification as Verification
    from clmst.core.verify import verify as verify
    from clmst.dynamic.change import Change as Change
    from clmst.dynamic.forest import DynamicForest as DynamicForest
    from clmst.generators import generate as generate
    from clmst.io import (
        read_forest as read_forest,
        read_graph as read_graph,
        read_points as read_points,
        write_forest as write_forest,
        write_graph as write_graph,
    )
    from clmst.peeling import core_numbers as core_numbers
    from clmst.points.core_distances import core_distances as core_distances
    from clmst.repeated.solver import RepeatedSolver as RepeatedSolver
    from clmst.runtime.array import DeviceArray as DeviceArray
    from clmst.runtime.device import Device as Device
    from clmst.runtime.device_graph import DeviceGraph as DeviceGraph
    from clmst.runtime.device_matrix import DeviceMatrix as DeviceMatrix
    from clmst.runtime.device_parts import DeviceParts as DeviceParts
    from clmst.runtime.discovery import devices as devices, get_device as get_device
    from clmst.scale.parts import to_devices as to_devices
    from clmst.scale.result import StreamProgress as StreamProgress
    from clmst.scale.stream import stream_minimum_spanning_forest as stream_minimum_spanning_forest
    from clmst.segmentation import seeded_segmentation as seeded_segmentation
    from clmst.versions import show_versions as show_versions
    from clmst.warming import Warmed as Warmed, warm as warm

__version__ = "0.1.0"

# The module that defines each public name. A module is imported when one of its names is first
# used, so `import clmst` is quick and needs no OpenCL.
_HOMES = {
    "clmst.algorithms.boruvka": ("BoruvkaOptions",),
    "clmst.algorithms.dense": ("DenseOptions",),
    "clmst.algorithms.ecl": ("EclOptions",),
    "clmst.algorithms.edge_parallel": ("EdgeParallelOptions",),
    "clmst.algorithms.edge_stream.generated": ("GeneratedEdges",),
    "clmst.algorithms.filter_boruvka": ("FilterBoruvkaOptions",),
    "clmst.algorithms.pma": ("PmaOptions",),
    "clmst.algorithms.prim_boruvka": ("PrimBoruvkaOptions",),
    "clmst.algorithms.prim": ("PrimOptions",),
    "clmst.algorithms.shared.device_forest": ("DeviceForest",),
    "clmst.api": (
        "maximum_spanning_forest",
        "minimum_spanning_forest",
        "to_device",
    ),
    "clmst.blocks.options": ("BlockOptions", "BlockProgress"),
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
    "clmst.core.verification": ("Verification",),
    "clmst.core.verify": ("verify",),
    "clmst.dynamic.change": ("Change",),
    "clmst.dynamic.forest": ("DynamicForest",),
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
    "clmst.warming": ("Warmed", "warm"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("cluster", "csgraph", "dask", "primitives", "ray")  # public modules
_ALSO = ("drawing", "generators", "io")  # public modules, some of whose names are in clmst too

_PUBLIC = (*_HOME_OF, "__version__", *_MODULES)

if not TYPE_CHECKING:  # type checkers read the imports above instead
    __all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Import a public name, or a public module, when it is first read from the package."""
    if name in (*_MODULES, *_ALSO):
        return import_module(f"clmst.{name}")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'clmst' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, including those that have not been imported yet."""
    return sorted({*_PUBLIC, *_ALSO, *(name for name in globals() if name.startswith("__"))})
