"""``python -m tests.misuse``: all misused calls, and how many raise something foreign."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.misuse import sweep


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.misuse", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="the step from call to call")
    parser.add_argument("--only", default="", help="entries whose name has this part")
    parser.add_argument("--json", type=Path, help="where to write what is not as it should be")
    parser.add_argument("--start", type=int, default=0, help="the number of the first call")
    given = parser.parse_args()
    began = time.perf_counter()
    outcomes = sweep.run(every=given.every, first=given.start, only=given.only)
    for location, count in outcomes.locations().most_common():
        print(f"{count:6} {location}")
    for one in outcomes.ended:
        print(f"ended by {one['by']}: {one['entry']}({one['argument']}={one['value']})")
    print(
        f"{outcomes.calls:,} misused calls: {outcomes.returned:,} took the value, "
        f"{outcomes.refused:,} refused it, {len(outcomes.foreign):,} raised something foreign "
        f"from {len(outcomes.locations())} locations, {len(outcomes.ended):,} ended the process "
        f"({time.perf_counter() - began:.0f} s)"
    )
    if given.json is not None:
        found = {"foreign": outcomes.foreign, "ended": outcomes.ended}
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return bool(outcomes.foreign or outcomes.ended)


if __name__ == "__main__":
    sys.exit(main())
