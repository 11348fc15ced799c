"""Values that are computed at the first read, and kept.

If two threads may both compute a value and either result is right, ``functools.cached_property`` is
enough. This module has the two other cases: a property that must be computed only once, and a field
of a dataclass that may be a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A descriptor with the function of a value; instances keep the value under their own name."""

    _name: str

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Self | T:
        return self._of_class() if instance is None else self._of(instance)

    def _of_class(self) -> Self:
        return self

    def _of(self, instance: Any) -> T:
        raise NotImplementedError


class LazyProperty(_Lazy[T]):
    """A cached property of an object with a `lock`: computed under it, once for all threads.

    Since Python 3.12 every thread that finds a ``functools.cached_property`` missing computes it.
    Two threads could then have two different queues. The lock must be reentrant, as one such
    property may need another. If the function raises, the next read calls it again.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def _of(self, instance: Any) -> T:
        with instance.lock:
            made: dict[str, T] = instance.__dict__  # from then on Python reads this first
            if self._name not in made:
                made[self._name] = self._make(instance)
            return made[self._name]

    def made(self, instance: Any) -> T | None:
        """Return the value if it has been computed, else None."""
        value: T | None = instance.__dict__.get(self._name)
        return value

    def forget(self, instance: Any) -> None:
        """Let the next read compute the value again."""
        instance.__dict__.pop(self._name, None)


class LazyField(_Lazy[T]):
    """A field of a dataclass that may be given as a function without arguments.

    The function is called when the field is first read. Two threads that read it first at the same
    time may both call it. A `check` is given the value, and raises if it is illegal.
    """

    def __init__(self, check: Callable[[Any], object] | None = None) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def _of_class(self) -> Self:
        raise AttributeError(self._name)  # so the field has no default

    def _of(self, instance: Any) -> T:
        value = instance.__dict__[self._name]
        if callable(value):
            value = value()
            if self._check is not None:
                self._check(value)
            instance.__dict__[self._name] = value
        made: T = value
        return made

    def __set__(self, instance: Any, value: T | Callable[[], T]) -> None:
        if self._check is not None and not callable(value):
            self._check(value)
        instance.__dict__[self._name] = value


def known(instance: object, name: str) -> Any:
    """Return the value of a :class:`LazyField`, or None if it is still a function."""
    value = vars(instance)[f"_{name}"]
    return None if callable(value) else value
