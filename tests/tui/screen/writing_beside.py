"""Another process that writes to a space: for each line that it reads, a note of that name, in a run of its own.

Argument: the space. It answers with the time at which the commit was done, by the clock that all processes share.
"""

from __future__ import annotations

import sys
import time

from infospace import open_space
from planner.execute.start import run_sync


def main() -> None:
    """Answer each line."""
    with open_space(sys.argv[1]) as space:
        sys.stdout.write("here\n")
        sys.stdout.flush()
        for line in sys.stdin:
            name = line.strip()
            steps = [
                {"type": "create-note", "value": f"what {name} says", "out": "$n"},
                {"type": "persist", "target": "$n", "name": name},
            ]
            result = run_sync(space, {"goal": f"Write {name}", "steps": steps})
            if result.status != "success":
                raise RuntimeError(result.reason)
            sys.stdout.write(f"{time.monotonic()}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
