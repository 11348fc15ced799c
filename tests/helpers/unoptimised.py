"""Run a module in a process whose devices compile without optimisation, as tests do.

    python -m tests.helpers.unoptimised tests.helpers.other_suites scikit-learn --verbose

It is for tests that run the tests of other projects in a separate process.
"""

from __future__ import annotations

import runpy
import sys

from clmst.runtime.device import Device
from tests.helpers.variants import EVERY


def compile_quickly() -> None:
    """Let devices compile without optimisation by default (see variants.py)."""
    if not EVERY:
        defaults = Device.__init__.__kwdefaults__
        assert defaults is not None
        defaults["_optimised"] = False


if __name__ == "__main__":
    compile_quickly()
    _, name, *sys.argv[1:] = sys.argv
    runpy.run_module(name, run_name="__main__", alter_sys=True)
