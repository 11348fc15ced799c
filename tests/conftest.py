"""What every test may use."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Hashable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from clmst.runtime import binary_cache
from clmst.runtime.device import Device
from clmst.runtime.file_lock import locked
from tests.helpers.bounds import bounds, in_force
from tests.helpers.caches import use_own_cache
from tests.helpers.sampling import (
    VALUES_ALONE,
    by_test,
    covering,
    leave_out,
    rows_of,
    values_of,
)
from tests.helpers.strategies import (
    PROFILE,
    draw_examples_for,
    register_profiles,
    share_examples,
)
from tests.helpers.unoptimised import compile_quickly
from tests.helpers.variants import (
    Variant,
    first_optimised,
    takes_first_cases_only,
    takes_part,
    variants_elsewhere,
)
from tests.helpers.wrong_families import WrongFamilies, wrong_families

MOST_KEPT = 2**27  # bytes that the pool of a variant may keep from one test to the next
LASTING_AFTER = 100  # tests, after each of which objects are taken for lasting ones

_finished = itertools.count(1)  # tests in this process

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

_PREFIX = "clmst-tests-"  # of the folder with the cache of these tests, among temporary files
_DEAD_AFTER = 3600.0  # seconds after which an unlocked folder belongs to tests that were killed


def _cache() -> tempfile.TemporaryDirectory[str]:
    """Create the cache of these tests, and remove those of tests that were killed.

    Tests hold a lock on a file in their folder for as long as they run.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            is_old = left.stat().st_mtime < time.time() - _DEAD_AFTER
            if is_old and (lock := locked(left / "lock")) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)
    cache = tempfile.TemporaryDirectory(prefix=_PREFIX)
    locked(Path(cache.name, "lock"))
    return cache


# What a user has in the cache must not decide what is tested.
_CACHE = _cache()
_BINARIES = binary_cache.folder()
os.environ["CLMST_CACHE"] = _CACHE.name
# But what has been compiled once need not be again, by no process of the tests.
_BINARIES.mkdir(parents=True, exist_ok=True)
binary_cache.folder().symlink_to(_BINARIES)

# A device solves, also the first time: tests of the host's first answers say so themselves.
os.environ.setdefault("CLMST_HELPERS", "0")

# At each build Intel's runtime reads its settings, which it looks for in the current folder, then
# beside its library. It finds that one in the list of all mapped memory, and in a process of many
# tests the list has thousands of lines, five for each kernel of PoCL. A build takes 0.15 s more.
_SETTINGS, _NEARBY = Path(sys.prefix, "lib", "cl.cfg"), Path("cl.cfg")
if _SETTINGS.exists() and not _NEARBY.exists():
    with suppress(OSError):  # another process was quicker, or the folder is read-only
        _NEARBY.unlink(missing_ok=True)  # of an environment that is gone
        _NEARBY.symlink_to(_SETTINGS)

compile_quickly()
register_profiles()
settings.load_profile(PROFILE)


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """Fail a test that leaves other settings or bounds of clmst to those after it."""
    before = _own_settings(), in_force()
    yield
    assert (_own_settings(), in_force()) == before


def _own_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("CLMST_")}


@pytest.fixture
def in_steps() -> Iterator[None]:
    """Let small graphs go the way of large ones, which does not end after one launch."""
    small = dict.fromkeys(("small_slots", "small_slots_in_any_order", "small_edges"), 0)
    with bounds(**small, slots_on_host=0, equal_slots=0):
        yield


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WrongFamilies]:
    """Let a test say which families of kernels are refused."""
    use_own_cache(monkeypatch, tmp_path)
    with wrong_families() as made:
        yield made


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real graphs with published answers; tests that need them skip where they are not."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real graphs is not beside this checkout")
    return SHARED_DATA


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `device` on every usable device in its variants."""
    if "device" in metafunc.fixturenames:
        in_suite = _has_every_variant(metafunc.module)
        tested = first_optimised() if in_suite else variants_elsewhere()
        params = [pytest.param(v.device, id=v.name) for v in tested]
        share_examples(metafunc.function, len(params))
        metafunc.parametrize("device", params or [pytest.param(None, marks=_no_device())])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with tests that take long, lest one of several processes be left with them."""
    repeated = _cases_after_the_first(items)
    config.hook.pytest_deselected(items=[item for item in items if item in repeated])
    items[:] = [item for item in items if item not in repeated]
    _sample(items)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def _sample(items: list[pytest.Item]) -> None:
    """Mark what the standard run leaves out, by the rules of `tests.helpers.sampling`."""
    for cases in by_test(items):
        in_suite = _has_every_variant(cases[0].module)
        name = cases[0].nodeid.partition("[")[0]
        used = [_device_of(one) for one in cases]
        taken = [
            one
            for one, device in zip(cases, used, strict=True)
            if device is None or takes_part(device, name, in_suite=in_suite)
        ] or cases
        mark = None if VALUES_ALONE else cases[0].get_closest_marker("covering")
        if mark is not None:
            taken = covering(taken, _values_and_facts, *mark.args)
        elif VALUES_ALONE or not in_suite:
            taken = covering(taken, rows_of)
        leave_out(cases, taken)


def _values_and_facts(case: pytest.Function) -> dict[str, Hashable]:
    """Return the values of a case by parameter, and three facts about its device.

    The facts are named like parameters: `platform`, the name of the driver's platform;
    `work_groups`, which is "many" if a work-group has many work-items and otherwise "one"; and
    `without`, the names of the capabilities that are forced off.
    """
    found, device = values_of(case), _device_of(case)
    if device is not None:
        found["platform"] = device.platform
        found["work_groups"] = "many" if device.policy.work_group_size > 1 else "one"
        found["without"] = device.without
    return found


def _cases_after_the_first(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases that a variant leaves out because it took another one of the same test."""
    taken, left_out = set[tuple[object, str]](), set[pytest.Item]()
    for item in items:
        used = _device_of(item)
        if used is None or not takes_first_cases_only(used):
            continue
        if isinstance(item, pytest.Function) and _has_every_variant(item.module):
            continue
        case = (used, item.nodeid.partition("[")[0])
        if case in taken:
            left_out.add(item)
        taken.add(case)
    return left_out


def _has_every_variant(module: ModuleType) -> bool:
    """Return whether a module is of a suite that runs every variant on every driver."""
    name = module.__name__
    return name == "tests.whole.test_contract" or name.startswith("tests.primitives.")


def _device_of(item: pytest.Item) -> Device | None:
    """Return the device that a case is for, if its parameters say."""
    given = (
        item.callspec.params
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else {}
    )
    place = given.get("place")  # of tests of repeated solves: one device, or several
    for one in (given.get("device"), given.get("variant"), *getattr(place, "devices", [])[:1]):
        found = one.device if isinstance(one, Variant) else one
        if isinstance(found, Device):
            return found
    return None


def pytest_collection_finish() -> None:
    """Keep garbage collections quick by leaving out the objects of the tests themselves."""
    _take_for_lasting()


def pytest_runtest_logfinish() -> None:
    """Keep them quick: nor are modules that tests import, reports of tests, and programs.

    After half of the suite these were half a million objects. Each collection looked at all of
    them, for a fifth of a second, and `memory_goes_back` and tests of leaks ask for thousands.
    """
    if next(_finished) % LASTING_AFTER == 0:
        _take_for_lasting()


def _take_for_lasting() -> None:
    """Let collections of garbage pass over all objects that there are now."""
    gc.collect()
    gc.freeze()


def _no_device() -> pytest.MarkDecorator:
    return pytest.mark.xfail(reason="this machine has no usable OpenCL device", run=False)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each variant of a device random examples of its own."""
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        used = item.callspec.params.get("device")
        every = (*first_optimised(), *variants_elsewhere())
        name = next((one.name for one in every if one.device is used), None)
        if name is not None:
            draw_examples_for(item.function, name)


@pytest.fixture(autouse=True)
def memory_goes_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let no variant of a device keep much memory for solves that never come."""
    yield
    used = getattr(request.node, "callspec", None)
    device = used.params.get("device") if used else None
    pool = Device._pool.made(device) if isinstance(device, Device) else None
    if isinstance(device, Device) and pool is not None and pool.managed_bytes > MOST_KEPT:
        gc.collect()
        device.release_memory()


@pytest.fixture
def any_device() -> Device:
    """Return the device that is used when none is asked for.

    It needs no self-tests, in any shape: tests compare its answers themselves. Those of
    self-tests make devices of their own.
    """
    from clmst import get_device

    device = get_device()
    device.trust.given = True
    return device
