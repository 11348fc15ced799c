"""Values that a call gets anew from the world in which it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.misuse.world import World


class Later:
    """A value that is there once the world is: its attributes and calls are, too."""

    def __init__(self, of: Callable[[World], Any]) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Later:
        return Later(lambda world: getattr(self._of(world), name))

    def __call__(self, *args: Any, **named: Any) -> Later:
        return Later(lambda world: self._of(world)(*made(args, world), **made(named, world)))


def made(given: Any, world: World) -> Any:
    """Return a value with all that comes later put in place; lists and mappings are new ones."""
    if isinstance(given, Later):
        return given._of(world)
    if type(given) is dict:
        return {name: made(value, world) for name, value in given.items()}
    if type(given) in (list, tuple):
        return type(given)(made(value, world) for value in given)
    return given


WORLD: Any = Later(lambda world: world)
