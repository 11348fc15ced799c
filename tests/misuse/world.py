"""What valid calls need: a device, small graphs, files; and values that are made of these later."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst import io


class World:
    """The devices, graphs and files of one process; the files go with it."""

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="clmst-misuse-")

    @cached_property
    def device(self) -> clmst.Device:
        return clmst.get_device()

    @cached_property
    def other_device(self) -> clmst.Device:
        """Another context, on the same device if the machine has only one."""
        from clmst.runtime.discovery import enumerate_devices

        others = [one for one in enumerate_devices() if one.trial_failure is None]
        return others[-1]

    @cached_property
    def graph(self) -> clmst.Graph:
        return clmst.generate("grid", rows=4, columns=5)

    @cached_property
    def forest(self) -> clmst.Forest:
        return clmst.kruskal(self.graph)

    @cached_property
    def matrix(self) -> Any:
        return self.forest.to_scipy()

    @cached_property
    def device_graph(self) -> clmst.DeviceGraph:
        return clmst.to_device(self.graph, self.device)

    @cached_property
    def graph_file(self) -> Path:
        path = Path(self._folder.name) / "valid.gr"
        io.write_graph(self.graph, path)
        return path

    @cached_property
    def points_file(self) -> Path:
        path = Path(self._folder.name) / "valid.tsp"
        path.write_text(
            "NAME: a\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\n"
            "NODE_COORD_SECTION\n1 0 0\n2 0 3\n3 4 0\nEOF\n"
        )
        return path

    @cached_property
    def forest_file(self) -> Path:
        path = Path(self._folder.name) / "forest.npz"
        io.write_forest(self.forest, path)
        return path

    def on_device(self, values: Any) -> clmst.DeviceArray:
        return clmst.DeviceArray.from_host(values, self.device)

    def words(self, length: int = 8) -> clmst.DeviceArray:
        """Return unsigned integers below `length` on the device."""
        return self.on_device(np.arange(length, dtype=np.uint32))

    def flags(self, length: int = 8) -> clmst.DeviceArray:
        return self.on_device(np.arange(length, dtype=np.uint8) % 2)

    def empty(self, length: int = 8, dtype: Any = np.uint32) -> clmst.DeviceArray:
        return clmst.DeviceArray.empty(length, dtype, self.device)


class Later:
    """A value that is there once the world is: its attributes and calls are, too."""

    def __init__(self, of: Callable[[World], Any]) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Later:
        return Later(lambda world: getattr(self._of(world), name))

    def __call__(self, *args: Any, **named: Any) -> Later:
        return Later(lambda world: self._of(world)(*made(args, world), **made(named, world)))


def made(given: Any, world: World) -> Any:
    """Return a copy of a value in which all deferred parts are filled in.

    Lists and mappings are copied.
    """
    if isinstance(given, Later):
        return given._of(world)
    if type(given) is dict:
        return {name: made(value, world) for name, value in given.items()}
    if type(given) in (list, tuple):
        return type(given)(made(value, world) for value in given)
    return given


WORLD: Any = Later(lambda world: world)
