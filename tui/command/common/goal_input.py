"""What `plan` and `do` share: the goal, its inputs, the model, and the run that both begin."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tui.command.common.whole_number import whole_number
from tui.text.output import Output, UsageError
from tui.text.planning import MAX_GOAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infospace.core.json_types import JSON
    from infospace.llm.settings import Settings
    from infospace.space import Space
    from planner.goals.guards import Limits
    from planner.journal.events import Emit

MAX_COUNT = 10**9
"""The largest limit."""


def add_goal(parser: argparse.ArgumentParser) -> None:
    """Declare the goal and how often its plan is mended."""
    parser.add_argument("goal", metavar="GOAL", help="what is wanted, in plain words; `-` is standard input")
    parser.add_argument(
        "--max-repairs",
        type=int,
        default=3,
        choices=range(11),
        metavar="N",
        help="how many times the model may correct a wrong plan (3)",
    )


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Declare whether plans that went well before are used."""
    parser.add_argument(
        "--no-memory",
        action="store_true",
        help="write the plan again, also for a goal that one went well for before, and do not remember it",
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare the inputs."""
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="an input of the plan")


def add_limits(parser: argparse.ArgumentParser, *, run: bool) -> None:
    """Declare what reaching the goal may spend; what calls and turns there are only matters where a plan is `run`."""
    if run:
        parser.add_argument(
            "--max-turns", type=_count, default=20, metavar="N", help="how many plans or steps the model may write (20)"
        )
        parser.add_argument(
            "--max-calls", type=_count, default=100, metavar="N", help="how many calls of tools may be made (100)"
        )
    parser.add_argument(
        "--max-tokens", type=_count, default=200_000, metavar="N", help="how many tokens may be spent (200,000)"
    )
    parser.add_argument(
        "--max-seconds", type=_seconds, default=1_800, metavar="N", help="how many seconds it may take (1,800)"
    )


def limits_of(args: argparse.Namespace) -> Limits:
    """Return the limits that are given."""
    from planner.goals.guards import Limits

    usual = Limits()
    turns, calls = getattr(args, "max_turns", usual.turns), getattr(args, "max_calls", usual.calls)
    return Limits(turns, args.max_tokens, args.max_seconds, calls)


def _count(text: str) -> int:
    count = whole_number(text)
    if count is None or not 0 < count <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a whole number from 1 to {MAX_COUNT:,}")
    return count


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number of seconds above 0")
    return seconds


def goal_of(args: argparse.Namespace) -> str:
    """Return the goal. Raises UsageError for one that is blank or too long."""
    goal = (sys.stdin.read() if args.goal == "-" else args.goal).strip()
    if not goal:
        raise UsageError("the goal is blank", hint="infospace plan 'a report of all notes about ranking'")
    if args.goal != "-":
        _must_be_no_slip(goal)
    if len(goal) > MAX_GOAL:
        raise UsageError(
            f"the goal has {len(goal):,} characters, and at most {MAX_GOAL:,} are taken",
            hint="`infospace add` takes long texts as notes, which the goal can name",
        )
    return goal


PLANS_ACTIONS = ("save", "list", "show", "rm", "remembered", "forget", "memory")
"""What `infospace plans` does: one of these alone after `plan` is a slip, and no goal."""


def _must_be_no_slip(goal: str) -> None:
    """Raise UsageError for one word that is nearly an action of `plans`, or a file: a model would be paid for it."""
    if len(goal.split()) > 1:
        return
    from infospace.data.paths import nearest
    from tui.text.paths import path_of

    near = goal if goal in PLANS_ACTIONS else nearest(goal, PLANS_ACTIONS)
    if near is not None:
        hint = f"did you mean `infospace plans {near}`? Put a goal into more words"
        raise UsageError(f"{goal!r:.60} is not a goal", hint=hint)
    if len(goal) < 256 and path_of(goal).is_file():
        hint = f"`infospace run {goal}` runs the plan in it, and `infospace check {goal}` checks that"
        raise UsageError(f"{goal!r:.60} is a file, and no goal", hint=hint)


def inputs_of(args: argparse.Namespace) -> Mapping[str, JSON]:
    """Return the inputs that are given, as texts."""
    from tui.command.common.plan_input import parse_inputs

    return parse_inputs(args.input, None, {})


def require_model(space: Space) -> None:
    """Raise UsageError where no language model is configured, with how to set one."""
    error = space.catalogue.why_unasked()
    if error is not None:
        raise UsageError(error.message, hint=error.hint)


def require_configured() -> Settings:
    """Return the model that the environment names. Raises UsageError where there is none."""
    from infospace.core.errors import InfospaceError
    from infospace.llm.settings import configured, installed

    try:
        settings = configured()
        installed(settings.api)
    except InfospaceError as error:
        raise UsageError(error.message, hint=error.hint) from error
    return settings


def watcher(out: Output) -> Emit:
    """Return what shows the events of a run as they happen; with --json nothing does."""
    if out.json:
        return lambda _event: None
    from tui.command.common.event_printer import EventPrinter

    return EventPrinter(out)
