"""What runs inside Oclgrind: tiny inputs, by every algorithm; prints what differs as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from clmst import Device
from tests.oclgrind import POLICIES, only_device
from tests.prove import hashes

# One of each width of weights, each in one order: programs take most of the time.
ORDERS = {
    "uniform, any bits u1, tiny": "minimum",
    "path, ruler f4, tiny": "maximum",
    "uniform, any bits f8, tiny": "minimum",
}
# They have many launches, half a minute of them: for the first input only.
LONG = {"boruvka", "pma", "prim-boruvka"}


def main() -> None:
    # Large work-groups take an interpreter long, and self-tests on large graphs would take hours.
    small = replace(POLICIES["gpu-shape"], split_work_group_size=1)
    device = Device(only_device().cl_device, tuning=small, _trusted=True)
    device.check_usable()
    samples = dict(hashes.inputs("tiny"))
    differing, forests = [], 0
    for name, order in ORDERS.items():
        is_first = forests == 0
        graph = hashes.graph_of(samples[name])
        for algorithm in hashes.algorithms_for(samples[name], device):
            if algorithm in LONG and not is_first:
                continue
            forests += 1
            if hashes.hash_on(graph, order, algorithm, device) != hashes.committed()[name][order]:
                differing.append([name, order, algorithm])
    print(json.dumps({"forests": forests, "differing": differing}))


if __name__ == "__main__":
    main()
