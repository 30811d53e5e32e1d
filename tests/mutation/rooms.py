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
    """Files and folders below the repository's root, without those that `SLOW` names."""
    least: int
    """How many of a hundred killable mutants have to be killed."""
    but: tuple[str, ...] = ()
    """Patterns of files that belong to another room, or have no code."""
    beside: str = ""
    """Rooms with the same word here share what is known: which lines their tests reach is found out once."""

    def has(self, file: str) -> bool:
        """Whether a file is mutated in this room."""
        return matches(file, self.code) and not matches(file, self.but)


def matches(file: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns fits."""
    return any(fnmatch(file, pattern) for pattern in patterns)


PLANS = tuple(f"tests/planner/{room}" for room in ("execute", "inspect", "language", "lifecycle", "order", "streaming"))
"""The tests of running plans; those that only check a plan reach all that reads one, and say little of a run."""

SLOW = (
    "tests/planner/streaming/test_arriving.py",
    "tests/planner/streaming/test_arriving_is_at_once.py",
    "tests/planner/check/test_check_is_sound.py",
    "tests/planner/editor/test_completing.py",
    "tests/planner/lifecycle/test_dry_run.py",
    "tests/planner/inspect/test_moments.py",
    "tests/planner/order/test_parallel_is_serial.py",
    "tests/planner/lifecycle/test_undo_of_plans.py",
    "tests/planner/language/test_vocabulary.py",
    "tests/planner/sessions/test_sessions_are_like_plans.py",
)
"""Tests that take long, or run the same plans in another way: a fault has to be noticed without them.

Each reaches nearly all the code, so that every survivor would cost their whole time. A room that names one has it."""

ROOMS = {
    "check": Room(
        (
            "planner/check/*.py",
            "planner/order/requirements.py",
            "planner/repair/*.py",
            "planner/language/references.py",
        ),
        (
            "tests/mending",
            "tests/planner/check",
            "tests/planner/repair",
            "tests/planner/language/test_extra_of_steps.py",
            "tests/planner/execute/test_map_of_plans.py",
            "tests/planner/language/test_names_and_rows.py",
            "tests/planner/language/test_no_model.py",
            "tests/planner/language/test_references.py",
            "tests/planner/execute/test_tools_in_plans.py",
        ),
        85,
    ),
    "order": Room(
        (
            "planner/order/dependencies.py",
            "planner/journal/commit_order.py",
            "planner/execute/concurrent.py",
            "planner/execute/branches.py",
            "planner/execute/frame.py",
        ),
        PLANS,
        85,
        beside="runs",
    ),
    "streaming": Room(
        ("planner/streaming/*.py",),
        (
            "tests/planner/streaming/test_arriving.py",
            "tests/planner/streaming/test_arriving_dropped.py",
            "tests/planner/streaming/test_streams.py",
        ),
        85,
    ),
    "execute": Room(
        (
            "planner/execute/step.py",
            "planner/execute/step_state.py",
            "planner/execute/control_flow.py",
            "planner/execute/run.py",
            "planner/execute/call.py",
            "planner/execute/retry.py",
            "planner/execute/arguments.py",
            "planner/execute/loops/*.py",
            "planner/execute/variables.py",
            "planner/execute/conditions.py",
            "planner/execute/wait.py",
            "planner/lifecycle/breakpoints.py",
        ),
        PLANS,
        85,
        beside="runs",
    ),
    "resume": Room(
        (
            "planner/lifecycle/resume.py",
            "planner/journal/lease.py",
            "planner/journal/suspension.py",
            "planner/lifecycle/replay.py",
            "planner/lifecycle/fork.py",
            "planner/lifecycle/fork_copies.py",
            "planner/journal/recorded.py",
            "planner/lifecycle/cancel.py",
            "planner/sessions/*.py",
            "infospace/journal/*.py",
            "infospace/lineage/*.py",
            "infospace/core/position.py",
        ),
        (*PLANS, "tests/planner/sessions", "tests/infospace/data/test_position.py"),
        85,
        beside="runs",
    ),
    "where": Room(
        ("infospace/expressions/*.py", "infospace/data/order.py"),
        (
            "tests/infospace/expressions",
            "tests/infospace/data/test_comparing.py",
            "tests/planner/check/test_check_expressions.py",
            "tests/planner/repair/test_hints.py",
            "tests/primitives/test_compute.py",
            "tests/primitives/test_group.py",
        ),
        85,
        but=("infospace/expressions/query/*.py",),
    ),
    "query": Room(
        ("infospace/expressions/query/*.py",),
        (
            "tests/infospace/query",
            "tests/primitives/test_query.py",
            "tests/planner/check/test_check_expressions.py",
            "tests/planner/check/test_properties_of_notes.py",
        ),
        85,
    ),
    "search": Room(
        ("infospace/search/*.py",),
        (
            "tests/infospace/search",
            "tests/primitives/test_discover_collections.py",
            "tests/primitives/test_search_within_collection.py",
            "tests/primitives/test_within_nested.py",
        ),
        85,
    ),
    "memory": Room(
        ("infospace/store/*.py", "infospace/files/*.py", "infospace/editing/*.py"),
        ("tests/infospace/memory",),
        85,
        but=("infospace/store/sqlite/*.py", "infospace/store/protocol.py"),
    ),
    "sqlite": Room(("infospace/store/sqlite/*.py",), ("tests/infospace/memory", "tests/infospace/search"), 85),
    "tools": Room(
        ("infospace/tools/*.py",),
        ("tests/infospace/tools",),
        85,
        but=("infospace/tools/mcp/transport/process_guard.py",),
    ),
    "serve": Room(("planner/server/*.py",), ("tests/planner/serve",), 85),
    "actions": Room(
        ("tui/screens/run_actions.py", "tui/screens/runs.py", "tui/screens/notes/actions.py"),
        (
            "tests/tui/rows/test_possible.py",
            "tests/tui/screen/test_note_actions.py",
            "tests/tui/screen/test_questions.py",
            "tests/tui/screen/test_runs.py",
            "tests/tui/screen/test_runs_actions.py",
        ),
        70,
    ),
    "screen": Room(
        ("tui/*.py",),
        ("tests/tui/rows", "tests/tui/screen"),
        70,
        but=("tui/command/*.py", "tui/web/*.py", "tui/widgets/*.py"),
    ),
}
"""Rooms by name."""


def together(name: str) -> tuple[str, list[Room]]:
    """Return the folder that a room has below `.mutants`, and all the rooms that have it."""
    word = ROOMS[name].beside
    return (word, [room for room in ROOMS.values() if room.beside == word]) if word else (name, [ROOMS[name]])
