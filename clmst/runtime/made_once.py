"""Properties that are made when first needed, once, whoever else needs them at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """A cached property of an object with a `lock`, under which it is made.

    Since Python 3.12 a ``functools.cached_property`` is made by every thread that finds it missing,
    and of two queues or pools one thread keeps what the others know nothing of. The lock must be
    reentrant, as one such property may need another.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> MadeOnce[T]: ...
    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> MadeOnce[T] | T:
        if instance is None:
            return self
        with instance.lock:
            made: dict[str, T] = instance.__dict__  # looked up before this is, from then on
            if self._name not in made:
                made[self._name] = self._make(instance)
            return made[self._name]
