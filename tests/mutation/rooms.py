"""Which code each room of the mutation tests covers, and which tests have to notice a fault there."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Room:
    """Code that is mutated together, and the tests that are asked about it."""

    code: tuple[str, ...]
    """Patterns of files, as `fnmatch` reads them: `*` matches a `/`, too."""
    tests: tuple[str, ...]
    """Files and folders below the repository's root."""
    least: int
    """How many of a hundred killable mutants have to be killed."""
    but: tuple[str, ...] = ()
    """Patterns of files that belong to another room."""

    def has(self, file: str) -> bool:
        """Whether a file is mutated in this room."""
        return matches(file, self.code) and not matches(file, self.but)


def matches(file: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns fits."""
    return any(fnmatch(file, pattern) for pattern in patterns)


ROOMS = {
    "check": Room(
        (
            "planner/check*.py",
            "planner/environment.py",
            "planner/needed.py",
            "planner/meant*.py",
            "planner/mend*.py",
            "planner/known.py",
            "planner/references.py",
        ),
        (
            "tests/planner/test_check_*.py",
            "tests/planner/test_changes_in_place.py",
            "tests/planner/test_deleted_is_known.py",
            "tests/planner/test_names_and_rows.py",
            "tests/planner/test_references.py",
            "tests/planner/test_right_plans.py",
            "tests/planner/test_sample_plans.py",
            "tests/planner/test_wrong_plans.py",
        ),
        85,
    ),
    "order": Room(
        (
            "planner/order.py",
            "planner/lanes.py",
            "planner/abreast.py",
            "planner/branching.py",
            "planner/ahead.py",
            "planner/frame.py",
        ),
        ("tests/planner/test_*.py",),
        85,
    ),
    "execute": Room(
        (
            "planner/execute*.py",
            "planner/run.py",
            "planner/calls.py",
            "planner/retrying.py",
            "planner/resolve.py",
            "planner/results.py",
            "planner/scope.py",
            "planner/decide.py",
            "planner/waiting.py",
            "planner/pausing.py",
        ),
        ("tests/planner/test_*.py",),
        85,
    ),
    "resume": Room(
        (
            "planner/resume.py",
            "planner/lease.py",
            "planner/suspending.py",
            "planner/replay.py",
            "planner/fork.py",
            "planner/copies.py",
            "planner/record.py",
            "planner/cancelling.py",
            "planner/sessions/*.py",
            "infospace/runs/*.py",
        ),
        ("tests/planner/test_*.py", "tests/planner/sessions"),
        85,
    ),
    "where": Room(
        ("infospace/where/*.py", "infospace/aggregates.py", "infospace/comparing.py"),
        ("tests/infospace/test_where_*.py", "tests/infospace/test_aggregates.py", "tests/infospace/test_comparing.py"),
        85,
    ),
    "search": Room(("infospace/search/*.py",), ("tests/infospace/search",), 85),
    "memory": Room(
        ("infospace/memory/*.py",),
        ("tests/infospace/memory",),
        85,
        but=("infospace/memory/sqlite/*.py",),
    ),
    "sqlite": Room(("infospace/memory/sqlite/*.py",), ("tests/infospace/memory", "tests/infospace/search"), 85),
    "tools": Room(("infospace/tools/*.py",), ("tests/infospace/tools",), 85),
    "serve": Room(("planner/serve/*.py",), ("tests/planner/serve",), 85),
    "screen": Room(
        ("tui/*.py",),
        ("tests/tui/screen",),
        70,
        but=("tui/command/*.py", "tui/web/*.py", "tui/widgets/*.py"),
    ),
}
"""Rooms by name."""
