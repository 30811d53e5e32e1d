"""All figures in one table, with JSON beside it: `make bench`.

`python tests/benchmarks/all.py [--data FOLDER] [--out FILE.json] [NAME …]`; FOLDER holds collections, of which
`cranfield` is used where it is there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import time
from pathlib import Path
from typing import Any

BENCHMARKS = ("embedding", "discovery", "processes", "interpreter")
UNITS = {
    "embedding": "texts a second",
    "discovery": "milliseconds",
    "processes": "seconds",
    "interpreter": "microseconds a step",
}


def main() -> None:
    """Run the benchmarks, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(BENCHMARKS)}")
    parser.add_argument("--data", type=Path, help="a folder of collections")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="where the JSON goes (bench.json)")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    found: dict[str, Any] = {"machine": f"{platform.machine()}, Python {platform.python_version()}"}
    for name in args.names or BENCHMARKS:
        module = importlib.import_module(name)
        cranfield = args.data / "cranfield" if args.data else None
        started = time.perf_counter()
        if name == "embedding" and cranfield is not None and cranfield.is_dir():
            found[name] = module.run(cranfield)
        else:
            found[name] = module.run()
        _print(name, found[name], time.perf_counter() - started)
    args.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten to {args.out}")


def _print(name: str, table: dict[str, dict[str, float]], seconds: float) -> None:
    columns = list(next(iter(table.values())))
    wide = len(columns) > 6
    print(f"\n{name} ({UNITS[name]}; medians; measured in {seconds:.0f} s)")
    if wide:
        table = {column: {row: cells[column] for row, cells in table.items()} for column in columns}
        columns = list(next(iter(table.values())))
    width = max(len(row) for row in table)
    print(" " * width, *(f"{column:>14}" for column in columns))
    for row, cells in table.items():
        print(f"{row:<{width}}", *(f"{cells[column]:14.4g}" for column in columns))


if __name__ == "__main__":
    main()
