"""Mesa's rusticl on llvmpipe, which passes simple kernels and cuts loops short: it is refused.

The variable that makes the device appear is set for these tests alone, in processes of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.caches import use_own_cache
from tests.helpers.processes import lacks, printed

pytestmark = pytest.mark.external

ICD = Path("/etc/OpenCL/vendors/rusticl.icd")


@pytest.fixture(autouse=True)
def _needs_rusticl() -> None:
    if not ICD.exists():
        lacks(f"{ICD} is not there (Debian: mesa-opencl-icd)")


def run(*arguments: str, **environment: str) -> Any:
    """Run Python where rusticl is enabled, unless told otherwise; return what it prints as JSON."""
    return printed(*arguments, **{"RUSTICL_ENABLE": "llvmpipe", **environment})


LIST = """
import json, clmst
found = [[e.device.platform, e.usable, e.reason, e.chosen] for e in clmst.devices()]
print(json.dumps(found))
"""


def test_not_among_the_devices_of_who_did_not_ask() -> None:
    assert "rusticl" not in [platform for platform, *_ in run("-c", LIST, RUSTICL_ENABLE="")]


def test_refused_with_the_reason() -> None:
    """And never chosen, not even if it is the only device."""
    entries = {platform: rest for platform, *rest in run("-c", LIST)}
    usable, reason, chosen = entries["rusticl"]
    assert not usable
    assert not chosen
    assert "loops of 130816 rounds ended after 65" in reason
    alone = run("-c", LIST, OCL_ICD_VENDORS=str(ICD))
    assert [(platform, chosen) for platform, _, _, chosen in alone] == [("rusticl", False)]


WITHOUT_TRIAL = """
import json, sys, clmst
import numpy as np
from clmst.runtime import discovery
(device,) = [d for d in discovery.enumerate_devices() if d.platform == "rusticl"]
vars(device)["trial_failure"] = None
found = []
for n in (10, 300):
    u, v = np.random.default_rng(n).integers(0, n, (2, 5 * n))
    graph = clmst.Graph.from_edges(u, v, u * v % 97, n_vertices=n)
    try:
        forest = clmst.minimum_spanning_forest(graph, algorithm=sys.argv[1], device=device)
        found.append(forest.edge_ids.tolist() == clmst.kruskal(graph).edge_ids.tolist())
    except clmst.UnsupportedDeviceError as error:
        found.append(str(error))
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "algorithm",
    [
        "filter-boruvka",
        pytest.param("ecl", marks=pytest.mark.exhaustive),
        pytest.param("prim", marks=pytest.mark.exhaustive),
    ],
)
def test_self_tests_see_it_by_themselves(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that is wrong in a way that the trial does not see is refused all the same."""
    use_own_cache(monkeypatch, tmp_path)
    found = run("-c", WITHOUT_TRIAL, algorithm)
    assert len(found) == 2
    for reason in found:
        assert f"is not trusted with {algorithm}" in str(reason)


CLUSTERS = """
import json, warnings
import numpy as np
from clmst.cluster import HDBSCAN
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
points = rng.normal(size=(2000, 5)) + 6 * rng.integers(0, 4, (2000, 1))
print(json.dumps(HDBSCAN(10).fit_predict(points).tolist()))
"""


@pytest.mark.exhaustive
def test_clusters_of_a_plain_call() -> None:
    """Where rusticl is the only driver, and refused, the host finds the same clusters."""
    alone = run("-c", CLUSTERS, OCL_ICD_VENDORS=str(ICD))
    assert alone == run("-c", CLUSTERS)
    assert max(alone) >= 3
