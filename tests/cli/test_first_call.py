"""First calls of commands, which leave the choice between device and host open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.processes import printed

# Runs the command of its arguments. Prints its output, and whether the process loaded PyOpenCL. The
# helper that opens the default device seems to need longer than the command.
_RUN = """
import contextlib, io, json, runpy, sys
from clmst.runtime.child import Helpers
Helpers.are_opening = Helpers.have_opened
sys.argv[0] = "clmst"
with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
    runpy.run_module("clmst", run_name="__main__")
print(json.dumps([json.loads(output.getvalue()), "pyopencl" in sys.modules]))
"""


@pytest.mark.parametrize("command", ["solve", "cluster"])
def test_a_first_command_does_not_wait_for_kernels(tmp_path: Path, command: str) -> None:
    """The host answers a small file, while a helper process opens the device.

    The command's own process does not even load PyOpenCL. A device that is named does the work
    itself. Its self-tests are then recorded.
    """
    rows = np.random.default_rng(0).integers(0, 100, (500, 2))
    ends = {"solve": "u,v", "cluster": "x,y"}[command]
    (file := tmp_path / "rows.csv").write_text(
        f"{ends}\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8"
    )
    for device in ([], ["--device", "cpu"]):
        cache = tmp_path / "-".join(["cache", *device])
        found, has_loaded = printed(
            "-c", _RUN, command, str(file), "--json", *device,
            CLMST_CACHE=str(cache), CLMST_HELPERS="1",
        )  # fmt: skip
        if command == "solve":
            assert (found["device"] == "host") == (not device)
            assert "open_device" in found["seconds"] or not device
        assert has_loaded == bool(device)
        assert [*cache.glob("trust/*/*.jsonl")] or not device
