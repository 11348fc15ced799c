"""Values that are made when they are first read, and kept.

Where two threads may both make a value and either is right, ``functools.cached_property`` does.
Here are the two other cases: a property of which there must be one only, and a field of a dataclass
that may be given as a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A descriptor that says how a value is made; instances keep it under a name of theirs."""

    _name: str

    @overload
    def __get__(self, instance: None, owner: type) -> _Lazy[T]: ...
    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> _Lazy[T] | T:
        return self._of_class() if instance is None else self._of(instance)

    def _of_class(self) -> _Lazy[T]:
        return self

    def _of(self, instance: Any) -> T:
        raise NotImplementedError


class LazyProperty(_Lazy[T]):
    """A cached property of an object with a `lock`, under which it is made: once, for all threads.

    Since Python 3.12 every thread that finds a ``functools.cached_property`` missing makes it. Of
    two queues, one thread would then keep what the others know nothing of. The lock must be
    reentrant, as one such property may need another.

    Parameters
    ----------
    make : callable
        Called with the object, its lock held. If it raises, the next read calls it again.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def _of(self, instance: Any) -> T:
        with instance.lock:
            made: dict[str, T] = instance.__dict__  # Python looks here first, from then on
            if self._name not in made:
                made[self._name] = self._make(instance)
            return made[self._name]


class LazyField(_Lazy[T]):
    """A field of a dataclass that may be given as a function without arguments.

    The function is called when the field is first read. Two threads that read it first at the same
    time may both call it.

    Parameters
    ----------
    check : callable, optional
        Called with what the function returned; raises if the field cannot be that.
    """

    def __init__(self, check: Callable[[Any], object] | None = None) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def _of_class(self) -> _Lazy[T]:
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
        instance.__dict__[self._name] = value
