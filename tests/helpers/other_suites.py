"""Run the tests of other projects with clmst in place of what they test.

    python -m tests.helpers.other_suites networkx             # all tests of NetworkX: minutes
    python -m tests.helpers.other_suites networkx --reaching  # the modules whose tests reach clmst
    python -m tests.helpers.other_suites scikit-learn         # HDBSCAN and single linkage

Prints what passed and failed, and how often each part of clmst was called. Exits with status 1 if a
test fails unexpectedly, if a test passes that is expected to fail, or if a part of clmst is never
called.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, ClassVar

import numpy as np
import pytest

# The modules of NetworkX whose tests reach the backend, found by a run of all tests. The modules on
# travelling salesmen, k-components and connectivity are left out, since they take longer than all
# others together.
REACHING = (
    "networkx.algorithms.approximation.tests.test_steinertree",
    "networkx.algorithms.connectivity.tests.test_edge_augmentation",
    "networkx.algorithms.tests.test_core",
    "networkx.algorithms.tests.test_cycles",
    "networkx.algorithms.tree.tests.test_decomposition",
    "networkx.algorithms.tree.tests.test_mst",
)


class Suite:
    """A plugin of pytest that counts outcomes, and calls of clmst by part and by module."""

    modules: ClassVar[tuple[str, ...]]
    expected_failures: ClassVar[Mapping[str, str]]  # reasons by a part of the id; at most five

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.calls_by_module: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []
        self._module = ""

    @staticmethod
    def parts() -> set[str]:
        """Return the names of the parts of clmst that must be called."""
        raise NotImplementedError

    @classmethod
    def never_called(cls, calls: Counter[str]) -> list[str]:
        """Return the parts of clmst that no test has called."""
        return sorted(cls.parts() - calls.keys())

    def note(self, part: str) -> None:
        """Count a call of a part of clmst."""
        self.calls[part] += 1
        self.calls_by_module[self._module] += 1

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests that are expected to fail.

        If such a test passes, that counts as a failure.
        """
        for item in items:
            for part, reason in self.expected_failures.items():
                if part in item.nodeid:
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Remember the module of the test that is running."""
        self._module = getattr(getattr(item, "module", None), "__name__", item.nodeid)
        result = yield
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the outcome of each test, and errors of its set-up and tear-down."""
        if report.when == "call" or report.outcome != "passed":
            expected = hasattr(report, "wasxfail")
            self.outcomes["expected to fail" if expected else report.outcome] += 1
            if report.failed:
                self.failures.append(report.nodeid)


class NetworkX(Suite):
    """NetworkX's tests, in which every call that clmst can do is sent to clmst."""

    modules = ("networkx",)
    expected_failures: ClassVar[Mapping[str, str]] = {}

    @staticmethod
    def parts() -> set[str]:
        """Return the names of the backend's functions."""
        from clmst.interop.networkx_info import get_info

        return set(get_info()["functions"])

    def pytest_configure(self) -> None:
        """Wrap each function of the backend with a counter."""
        from clmst.interop import networkx_backend

        for name in self.parts():
            setattr(networkx_backend, name, self._counted(name, getattr(networkx_backend, name)))

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.note(name)
            return function(*args, **kwargs)

        return counted


class ScikitLearn(Suite):
    """scikit-learn's tests of HDBSCAN and single linkage. Only the class of errors is compared."""

    modules = ("sklearn.cluster.tests.test_hdbscan", "sklearn.cluster.tests.test_hierarchical")
    expected_failures: ClassVar[Mapping[str, str]] = {
        "test_hdbscan_sparse_distances_disconnected_graph": (
            "a graph of several components is clustered, with a warning"
        ),
        "test_hdbscan_default_copy_warning": "clmst never changes its input, so copy says nothing",
        "test_unstructured_linkage_tree": (
            "a private function warns that it ignores n_clusters; clmst has no such argument"
        ),
    }

    @staticmethod
    def parts() -> set[str]:
        """Return the names of the classes, and of the function that builds trees."""
        return {"HDBSCAN", "SingleLinkage", "tree"}

    def pytest_configure(self) -> None:
        """Replace the classes before the modules of tests import them."""
        import sklearn.cluster
        from sklearn.cluster import _agglomerative

        theirs = sklearn.cluster.AgglomerativeClustering
        hdbscan, single, tree = in_place_of_scikit_learns(self.note)

        def agglomerative(*args: Any, **kwargs: Any) -> Any:
            kind = single if kwargs.get("linkage") == "single" else theirs
            return kind(*args, **kwargs)

        sklearn.cluster.HDBSCAN = hdbscan
        sklearn.cluster.AgglomerativeClustering = agglomerative
        _agglomerative._TREE_BUILDERS["single"] = tree
        raises: Any = pytest.raises

        def raises_class(*args: Any, match: Any = None, **more: Any) -> Any:
            return raises(*args, **more)

        vars(pytest)["raises"] = raises_class


def in_place_of_scikit_learns(note: Callable[[str], None]) -> tuple[Any, Any, Any]:
    """Return replacements for HDBSCAN, single linkage and scikit-learn's builder of trees.

    The classes have all parameters of scikit-learn's classes.
    """
    from sklearn.cluster._hdbscan._linkage import HIERARCHY_dtype

    from clmst.cluster import HDBSCAN, SingleLinkage

    class CountedHDBSCAN(HDBSCAN):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            note("HDBSCAN")
            super().fit(X, y, sample_weight)
            linkage = self.forest_.linkage(join_components=True)
            self._single_linkage_tree_ = np.empty(len(linkage), HIERARCHY_dtype)
            for name, column in zip(HIERARCHY_dtype.names or (), linkage.T, strict=True):
                self._single_linkage_tree_[name] = column
            return self

    class CountedSingleLinkage(SingleLinkage):
        def __init__(
            self, n_clusters: Any = 2, *, memory: Any = None, compute_full_tree: Any = "auto",
            linkage: Any = "single", compute_distances: Any = False, **parameters: Any,
        ) -> None:  # fmt: skip
            super().__init__(n_clusters, **parameters)
            self.memory, self.compute_full_tree = memory, compute_full_tree
            self.linkage, self.compute_distances = linkage, compute_distances

        def fit(self, X: Any, y: Any = None) -> Any:
            note("SingleLinkage")
            super().fit(X)
            if not self.compute_distances and self.distance_threshold is None:
                del self.distances_
            return self

    def tree(X: Any, connectivity: Any = None, return_distance: bool = False, **_: Any) -> Any:
        note("tree")
        model = SingleLinkage(n_clusters=1, connectivity=connectivity).fit(X)
        found = (model.children_, model.n_connected_components_, model.n_leaves_, None)
        return (*found, model.distances_) if return_distance else found

    return CountedHDBSCAN, CountedSingleLinkage, tree


SUITES: dict[str, type[Suite]] = {"networkx": NetworkX, "scikit-learn": ScikitLearn}


def run(suite: Suite, modules: tuple[str, ...], *, verbose: bool = False) -> int:
    """Run modules of tests and return pytest's exit status. Call it only once in a process."""
    os.environ["NETWORKX_TEST_BACKEND"] = "clmst"
    os.environ["NETWORKX_FALLBACK_TO_NX"] = "True"
    with tempfile.TemporaryDirectory() as folder:  # a folder without the settings of clmst's tests
        os.chdir(folder)
        options = ["-p", "no:cacheprovider", "-v" if verbose else "-q", "--disable-warnings"]
        status = pytest.main([*options, "--pyargs", *modules], plugins=[suite])
        os.chdir("/")
    return int(status)


def main() -> int:
    """Run a suite, print the counts as JSON, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.helpers.other_suites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--reaching", action="store_true", help="of NetworkX: what reaches clmst")
    parser.add_argument("--verbose", action="store_true", help="name each test")
    given = parser.parse_args()
    suite = SUITES[given.suite]()
    is_part = given.reaching and given.suite == "networkx"
    status = run(suite, REACHING if is_part else suite.modules, verbose=given.verbose)
    missed = suite.never_called(suite.calls)
    record = {
        "outcomes": dict(suite.outcomes),
        "calls": dict(suite.calls),
        "modules": dict(suite.calls_by_module.most_common()),
        "failures": suite.failures,
        "never called": missed,
    }
    print(json.dumps(record, indent=1))
    return 1 if status or missed else 0


if __name__ == "__main__":
    sys.exit(main())
