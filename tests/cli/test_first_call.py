"""First calls of commands, which leave the choice between device and host open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.processes import printed


@pytest.mark.parametrize("command", ["solve", "cluster"])
def test_a_first_command_does_not_wait_for_kernels(tmp_path: Path, command: str) -> None:
    """The host answers a small file, while a helper process opens the device.

    A device that is named does the work itself. Its self-tests are then recorded.
    """
    rows = np.random.default_rng(0).integers(0, 100, (500, 2))
    ends = {"solve": "u,v", "cluster": "x,y"}[command]
    (file := tmp_path / "rows.csv").write_text(
        f"{ends}\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8"
    )
    for device in ([], ["--device", "cpu"]):
        cache = tmp_path / "-".join(["cache", *device])
        found = printed(
            "-m", "clmst", command, str(file), "--json", *device,
            CLMST_CACHE=str(cache), CLMST_HELPERS="1",
        )  # fmt: skip
        if command == "solve":
            assert (found["device"] == "host") == (not device)
            assert "open_device" in found["seconds"] or not device
        assert bool([*cache.glob("trust/*/*.jsonl")]) == bool(device)
