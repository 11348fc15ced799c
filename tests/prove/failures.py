"""A failure as a file that reproduces it, on its own: the graph or the call, not its number."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from tests.prove.cases import Case, DeviceVariants, Outcome, run
from tests.prove.primitives.case import PrimitiveCase
from tests.prove.sample import Sample
from tests.prove.state import ROOT

CRASHED, HUNG = "crash", "hang"
_NAMES = ("variant", "algorithm", "option", "maximum", "input_form", "lowered", "key")


def write(
    path: Path, case: Case | PrimitiveCase, *, device: str | None, verdict: str, **more: Any
) -> None:
    """Write a case, replacing the file whole."""
    record = {"verdict": verdict, **more, "device": device, **_as_json(case)}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(record) + "\n", encoding="utf-8")
    temporary.replace(path)


def read(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the Case or PrimitiveCase of a file, and all that stands there."""
    record = json.loads(path.read_text(encoding="utf-8"))
    if record.get("subject") == PrimitiveCase.subject:
        return PrimitiveCase.of_json(record), record
    graph = record["graph"]
    dtype = np.dtype(graph["dtype"])
    coordinates = graph["coordinates"]
    drawn = Sample(
        family=graph["family"],
        shape=graph["shape"],
        order=graph["order"],
        n=graph["n"],
        u=np.array(graph["u"], np.int64),
        v=np.array(graph["v"], np.int64),
        w=_weights(graph["w"], dtype),
        coordinates=None if coordinates is None else np.array(coordinates, np.float64),
        metric=graph["metric"],
    )
    subject = record.get("subject", "solves")
    return Case(sample=drawn, subject=subject, **{name: record[name] for name in _NAMES}), record


def _as_json(case: Case | PrimitiveCase) -> dict[str, Any]:
    """Return all that tells a case."""
    if isinstance(case, PrimitiveCase):
        return case.as_json()
    drawn = case.sample
    return {
        "subject": case.subject,
        **{name: getattr(case, name) for name in _NAMES},
        "graph": {
            "family": drawn.family,
            "shape": drawn.shape,
            "order": drawn.order,
            "n": drawn.n,
            "u": drawn.u.tolist(),
            "v": drawn.v.tolist(),
            "dtype": drawn.w.dtype.name,
            "w": _exactly(drawn.w),
            "coordinates": None if drawn.coordinates is None else drawn.coordinates.tolist(),
            "metric": drawn.metric,
        },
    }


def _exactly(weights: Array) -> list[Any]:
    """Return weights as numbers, floats as texts that keep every bit."""
    values = weights.tolist()
    return [x.hex() for x in values] if weights.dtype.kind == "f" else [int(x) for x in values]


def _weights(values: list[Any], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "f":
        values = [float.fromhex(x) for x in values]
    return np.array(values, dtype)


# --------------------------------------------------------------------------- once more


def run_here(path: Path, plant: str | None = None) -> Outcome:
    """Run the case of a file in this process."""
    if plant:
        __import__(plant)
    case, record = read(path)
    return run(case, DeviceVariants(record["device"]))


def run_in_child(path: Path, limit: float, plant: str | None = None) -> Outcome:
    """Run the case of a file in a process of its own, which may end or hang."""
    command = [sys.executable, "-m", "tests.prove", "--reproduce", str(path), "--here"]
    command += ["--plant", plant] if plant else []
    _, record = read(path)
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(record["device"]),
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return Outcome(verdict=HUNG, detail=f"no answer within {limit:g} s")
    lines = done.stdout.strip().splitlines()
    if done.returncode not in (0, 1) or not lines:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return Outcome(verdict=CRASHED, detail=f"{last[:300]} (status {done.returncode})")
    verdict, _, detail = lines[-1].partition(": ")
    return Outcome(verdict=verdict, detail=detail)


def environment(device: str | None) -> dict[str, str]:
    """Return a child's environment; Mesa shows its OpenCL devices only where it is asked to."""
    found = dict(os.environ)
    if device and any(name in device.lower() for name in ("rusticl", "llvmpipe")):
        found["RUSTICL_ENABLE"] = "llvmpipe"
    return found
