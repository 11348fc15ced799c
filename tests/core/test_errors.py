"""Errors and warnings: each arrives in another process as it was raised."""

from __future__ import annotations

import importlib
import io
import pickle
import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import clmst
from clmst import ClmstError, Device

DEFINES_ONE = re.compile(r"^class \w+\(.*(Error|Warning)\b", re.MULTILINE)


def classes_below(root: type[Exception]) -> Iterator[type[Exception]]:
    """Yield a class and all classes that are made of it."""
    yield root
    for each in root.__subclasses__():
        yield from classes_below(each)


def every_class() -> list[type[Exception]]:
    """Return all errors and warnings of the package, wherever in it they are."""
    package = Path(clmst.__file__).parent
    for path in package.rglob("*.py"):
        if DEFINES_ONE.search(path.read_text(encoding="utf-8")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    found = {*classes_below(ClmstError), *classes_below(Warning)}
    ours = (each for each in found if each.__module__.partition(".")[0] == "clmst")
    return sorted(ours, key=lambda each: each.__name__)


EVERY = every_class()


def example(error: type[Exception], device: Device) -> Exception:
    """Return an error made of what its constructor takes, or of a message."""
    if error.__init__ is Exception.__init__ or not hasattr(error.__init__, "__code__"):
        return error("a fact; a rule")
    parameters = signature(error).parameters.values()
    return error(*(device if one.annotation == "Device" else f"{one.name}!" for one in parameters))


def pickled(raised: Exception, protocol: int, reducer: str) -> bytes:
    """Return an error as bytes, as Python makes them, or as Dask does, which asks tblib."""
    into = io.BytesIO()
    pickler = pickle.Pickler(into, protocol)
    pickler.dispatch_table = {}  # else whoever has imported Dask has it another way
    if reducer == "tblib":
        tblib = pytest.importorskip("tblib.pickling_support")
        pickler.dispatch_table = {type(raised): tblib.pickle_exception}
    pickler.dump(raised)
    return into.getvalue()


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.__name__)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
@pytest.mark.parametrize("reducer", ["python", "tblib"])
def test_errors_are_pickled(
    any_device: Device, error: type[Exception], protocol: int, reducer: str
) -> None:
    """As multiprocessing, Dask and Ray do: message, attributes and notes; but no device."""
    raised = example(error, any_device)
    raised.add_note("in partition 7")
    found = pickle.loads(pickled(raised, protocol, reducer))
    assert str(found) == str(raised)
    assert found.args == raised.args
    attributes: dict[str, Any] = vars(raised)
    kept = {name: value for name, value in attributes.items() if value is not any_device}
    assert vars(found) == kept
    if kept == attributes:
        assert type(found) is error
    else:  # what users know it as
        assert type(found).__name__ in clmst.__all__
        assert isinstance(raised, type(found))


def test_all_public_errors_are_pickled() -> None:
    """Else the test above would pass where it had found none."""
    public = {getattr(clmst, name) for name in clmst.__all__ if name.endswith(("Error", "Warning"))}
    assert len(public) > 10
    assert public < {*EVERY}
