"""NetworkX's own tests, with every call that clmst can take sent to it.

Prints what passed and failed, and how often NetworkX called each function of the backend; exits
with 1 if a test failed that is not in EXPECTED_FAILURES, or one there passed, or a function of the
backend was never called.

    python -m benchmarks.networkx_suite               # all tests of NetworkX: minutes
    python -m benchmarks.networkx_suite --reaching    # the modules whose tests reach clmst
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest

# The tests that fail, by the end of their ids, and why; at most five. None does.
EXPECTED_FAILURES: dict[str, str] = {}

# The modules whose tests reach the backend, as a run of all found. Left out are those of travelling
# salesmen, k-components and connectivity: they reach it too, and take longer than these together.
REACHING = (
    "networkx.algorithms.approximation.tests.test_steinertree",
    "networkx.algorithms.connectivity.tests.test_edge_augmentation",
    "networkx.algorithms.tests.test_core",
    "networkx.algorithms.tests.test_cycles",
    "networkx.algorithms.tree.tests.test_decomposition",
    "networkx.algorithms.tree.tests.test_mst",
)


class Reached:
    """A plugin of pytest: counts calls of the backend, by function and by module of tests."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.modules: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []
        self._module = ""

    def pytest_configure(self) -> None:
        """Put a counter before each function of the backend."""
        from clmst.interop import networkx_backend, networkx_info

        for name in networkx_info.get_info()["functions"]:
            setattr(networkx_backend, name, self._counted(name, getattr(networkx_backend, name)))

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            self.modules[self._module] += 1
            return function(*args, **kwargs)

        return counted

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark what is expected to fail; if it passes, that is a failure as well."""
        for item in items:
            for end, reason in EXPECTED_FAILURES.items():
                if item.nodeid.endswith(end):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the module of tests that is running."""
        self._module = getattr(getattr(item, "module", None), "__name__", item.nodeid)
        result = yield
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count outcomes: one for each test, and errors of its set-up and tear-down."""
        if report.when == "call" or report.outcome != "passed":
            expected = hasattr(report, "wasxfail")
            self.outcomes["expected to fail" if expected else report.outcome] += 1
            if report.failed:
                self.failures.append(report.nodeid)


def run(modules: tuple[str, ...], *, verbose: bool = False) -> tuple[int, Reached]:
    """Run tests of NetworkX with clmst as the backend of the tests; once in a process."""
    os.environ["NETWORKX_TEST_BACKEND"] = "clmst"
    os.environ["NETWORKX_FALLBACK_TO_NX"] = "True"
    reached = Reached()
    with tempfile.TemporaryDirectory() as folder:  # apart from the settings of clmst's tests
        os.chdir(folder)
        options = [
            "-p",
            "no:cacheprovider",
            "-v" if verbose else "-q",
            "--disable-warnings",
            "--pyargs",
        ]
        status = pytest.main([*options, *modules], plugins=[reached])
        os.chdir("/")
    return int(status), reached


def never_called(calls: Counter[str]) -> list[str]:
    """Return the functions of the backend that NetworkX did not call."""
    from clmst.interop.networkx_info import get_info

    return sorted(get_info()["functions"].keys() - calls.keys())


def main() -> int:
    """Run, print the counts as JSON, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reaching", action="store_true", help="only modules that reach clmst")
    parser.add_argument("--verbose", action="store_true", help="name each test")
    given = parser.parse_args()
    status, reached = run(REACHING if given.reaching else ("networkx",), verbose=given.verbose)
    missed = never_called(reached.calls)
    record = {
        "outcomes": dict(reached.outcomes),
        "calls": dict(reached.calls),
        "modules": dict(reached.modules.most_common()),
        "failures": reached.failures,
        "never called": missed,
    }
    print(json.dumps(record, indent=1))
    return 1 if status or missed else 0


if __name__ == "__main__":
    sys.exit(main())
