"""mutmut, run so that nothing is measured twice: called in a room's copy in place of mutmut's own command.

What it changes, and why that is right:

- Which lines are covered matters only while mutants are made: it is measured only if a file has no mutants yet, or
  has changed since they were made.
- The tests have to pass on the code as it is before a mutant is tried. They run for that only if anything in the
  copy has changed since they last passed.
- The tests that reach a mutant run fastest first, and end at the first that fails.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from mutation import operators
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.state import state
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.workers.isolation import ForkServerRunner

PASSED = Path("passed.txt")
"""Holds the digest of the code and the tests that passed last."""


def main() -> None:
    """Run mutmut's command with what is changed here."""
    operators.install()
    measure, count, clean, submit = (
        mutmut.store_lines_covered_by_tests,
        mutmut.run_stats_collection,
        ForkServerRunner.run_clean_tests,
        ForkServerRunner.submit,
    )

    def measure_if_new() -> None:
        if any(outdated(path) for path in walk_mutatable_files()):
            measure()

    def count_and_remember(runner: ForkServerRunner, tests: Iterable[str] | None = None) -> None:
        count(runner, tests)
        if tests is None:
            PASSED.write_text(digest(), encoding="utf-8")

    def clean_if_changed(self: ForkServerRunner, tests: Iterable[str]) -> int:
        now = digest()
        if PASSED.exists() and PASSED.read_text(encoding="utf-8") == now:
            return 0
        code = clean(self, tests=fastest_first(state().duration_by_test))
        if code == 0:
            PASSED.write_text(now, encoding="utf-8")
        return code

    def submit_in_order(self: ForkServerRunner, name: str, tests: list[str], limit: int, estimated: float) -> None:
        submit(self, name, fastest_first(tests), limit, estimated)

    mutmut.store_lines_covered_by_tests = measure_if_new
    mutmut.run_stats_collection = count_and_remember
    ForkServerRunner.run_clean_tests = clean_if_changed  # type: ignore[method-assign]
    ForkServerRunner.submit = submit_in_order  # type: ignore[method-assign]
    mutmut.cli()


def outdated(path: Path) -> bool:
    """Whether the mutants of a file have to be made, as mutmut asks it."""
    made = Path("mutants") / path
    return config().should_mutate(path) and not (made.exists() and path.stat().st_mtime < made.stat().st_mtime)


def fastest_first(tests: Iterable[str]) -> list[str]:
    """The tests, the shortest at the beginning."""
    took = state().duration_by_test
    return sorted(tests, key=lambda test: (took.get(test, 0.0), test))


def digest() -> str:
    """What names the state of the code and the tests of this copy."""
    whole = hashlib.sha256()
    for path in sorted(Path().rglob("*")):
        if path.is_file() and path.parts[0] in ("infospace", "primitives", "planner", "tui", "tests"):
            whole.update(f"{path}\0".encode())
            whole.update(path.read_bytes())
    return whole.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
