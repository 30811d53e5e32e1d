"""A fresh process that opens a space, searches it, and tells how long that took and how much memory: a child.

`python first_answer.py FILE QUERY [MORE]` prints JSON: milliseconds from this file's first line, before anything
of infospace is imported, to the `first` answer; to the first answer of a space `opened again`; to the `next`
one; and the `peak` of memory in MB, once MORE further queries were answered.
"""

from __future__ import annotations

import time

START = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402


def main(path: Path, query: str, more: int) -> dict[str, float]:
    """Do it."""
    from asking import Asking

    from infospace import open_space

    known = not query.endswith("?")
    with open_space(path) as space, Asking(space) as ask:
        ask(query)
        found = {"first": _since(START)}
    start = time.perf_counter()
    with open_space(path) as space, Asking(space) as ask:
        ask(query if known else f"again, {query}")
        found["opened again"] = _since(start)
        start = time.perf_counter()
        ask(query if known else f"and again, {query}")
        found["next"] = _since(start)
        for number in range(more):
            ask(f"another question, number {number}")
        found["peak"] = peak()
    return found


def peak() -> float:
    """Return the most memory this process has had in MB, files it has mapped included.

    Linux tells it of the process alone; `getrusage`, elsewhere, may tell that of the parent it was forked from.
    """
    status = Path("/proc/self/status")
    if status.exists():
        said = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(said["VmHWM"].split()[0]) * 1024 / 1e6
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)))
