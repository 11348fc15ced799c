"""Every call to the driver fails in turn, in every kind of work.

    python -m tests.faults.sweep [--device NAME] [--shape native] [--interrupt] [NAME ...]

Prints how many faults of each kind there were; ends at the first that was not survived.
With ``--interrupt`` each call is broken off by Ctrl-C instead, once before and once after it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

import pyopencl as cl

from clmst.runtime.discovery import get_device
from tests.faults import trial
from tests.faults.injection import KINDS
from tests.faults.subjects import SUBJECTS, subject
from tests.variants import GPU_SHAPE


def main() -> None:
    """Let everything fail."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--device")
    parser.add_argument("--shape", choices=["native", "gpu-shape"], default="native")
    parser.add_argument("--interrupt", action="store_true")
    asked = parser.parse_args()
    device = get_device(asked.device).forcing_off()
    if asked.shape == "gpu-shape":
        device = device.with_policy(GPU_SHAPE)
        device.capabilities = replace(device.capabilities, host_arrays="copied")
    error: type[BaseException] = KeyboardInterrupt if asked.interrupt else cl.Error
    counts: Counter[str] = Counter()
    for name in asked.names or SUBJECTS:
        one = subject(name, device)
        one.run()
        for kind in KINDS if not asked.interrupt else ("kernel", "fill", "copy", "wait"):
            calls = range(trial.calls_of(one, kind, device))
            for after in (False, True) if asked.interrupt else (False,):
                counts[kind] += trial.break_off(one, kind, device, calls, after=after, error=error)
        print(f"{name}: {dict(counts)} so far", flush=True)
    reported = "Ctrl-C" if asked.interrupt else "faults"
    print(f"{device.description}, {asked.shape}: {counts.total()} {reported} survived")


if __name__ == "__main__":
    main()
