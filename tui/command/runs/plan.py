"""Let a language model write a plan for a goal, and show the plan without running it.

The plan is shown as sentences, with what it would write and call. INFOSPACE_LLM_MODEL names the model, and
INFOSPACE_LLM_URL its endpoint. Without a model a plan is chained of the tools of servers, by what each takes and gives
and by what the goal says literally (quoted texts, numbers, paths), where that is sure. Exit code 0 when there is a
plan, 1 when none of the model's plans passes the check, 2 when there is no model and no plan without one.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.goal_input import (
    add_goal,
    add_inputs,
    add_limits,
    add_memory,
    goal_of,
    inputs_of,
    limits_of,
    watcher,
)
from tui.command.common.open_space import open_from
from tui.command.common.plan_consent import show_plan
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infospace.core.errors import InfospaceError
    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.goals.effects import Effect
    from planner.journal.result import RunResult

EXAMPLES = """examples:
  infospace plan 'a report of all notes about ranking, kept as weekly'
  infospace plan 'which orders are overdue?' --input least=100 --out overdue.json
  infospace plan 'a digest of this week' --save weekly-digest
  echo 'count the notes by folder' | infospace plan - --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_goal(parser)
    add_inputs(parser)
    add_limits(parser, run=False)
    add_memory(parser)
    add_cache(parser)
    parser.add_argument("--out", metavar="FILE", help="write the plan to a file, as JSON")
    parser.add_argument("--save", metavar="NAME", help="keep the plan in the space; `infospace run plan:NAME` runs it")
    parser.add_argument("--replace", action="store_true", help="with --save, make it the next version of that plan")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Write a plan, show it, keep it where that is wanted."""
    from planner.execute.start import check_plan
    from planner.goals.effects import effects_of
    from planner.goals.session import write

    goal, inputs = goal_of(args), inputs_of(args)
    if args.out is not None and not path_of(args.out).absolute().parent.is_dir():
        raise UsageError(f"there is no folder for --out {args.out!r}")
    with open_from(args, create=True) as space:
        unasked = space.catalogue.why_unasked()
        if unasked is not None:
            return _chain(space, goal, inputs, args, out, unasked)
        use_cache(args, space)
        writing = write(
            space,
            goal,
            inputs,
            max_repairs=args.max_repairs,
            limits=limits_of(args),
            memory=not args.no_memory,
            emit=watcher(out),
        )
        document, result = asyncio.run(writing)
        if document is None:
            return _show_failure(result, out)
        _write_or_save(space, document, args)
        effects = effects_of(check_plan(space, document)[0], space.catalogue)
        if out.json:
            out.document(_to_json(document, effects, result))
        else:
            show_plan(document, effects, out)
            if any(row.extra.get("remembered") for row in result.steps):
                out.talk("It went well for this goal before; --no-memory lets the model write it again.", "dim")
            _show_where(args, out)
    return 0


def _chain(
    space: Space,
    goal: str,
    inputs: Mapping[str, JSON],
    args: argparse.Namespace,
    out: Output,
    unasked: InfospaceError,
) -> int:
    """Show and keep a plan that is made without a model. Raises UsageError where there is none."""
    from planner.execute.start import check_plan
    from planner.goals.effects import effects_of
    from planner.metatools.chaining.plan_tools import planned

    results = planned(space, goal, dict(inputs))
    if results["no_match"]:
        raise UsageError(f"{unasked.message}; without one there is no plan: {results['reason']}", hint=unasked.hint)
    document = results["plan"]
    _write_or_save(space, document, args)
    effects = effects_of(check_plan(space, document)[0], space.catalogue)
    if out.json:
        chained = {key: results[key] for key in ("confidence", "cost", "steps")}
        nothing = {"run": None, "attempts": None, "remembered": False, "llm": None}
        out.document(
            {**nothing, "plan": document, "effects": [effect.to_json() for effect in effects], "chained": chained}
        )
        return 0
    show_plan(document, effects, out)
    sure = f"{results['confidence']:.2f}"
    out.talk(
        f"No language model is configured: the plan is chained of tools that fit, with confidence {sure}.", "yellow"
    )
    _show_where(args, out)
    return 0


def _write_or_save(space: Space, document: Any, args: argparse.Namespace) -> None:
    if args.out is not None:
        from infospace.files.atomic_write import write_atomically
        from tui.text.format_plan import format_plan

        write_atomically(path_of(args.out), format_plan(document).encode())
    if args.save is not None:
        from planner.parse.saved_plans import save_plan

        save_plan(space, args.save, document, replace=args.replace)


def _show_where(args: argparse.Namespace, out: Output) -> None:
    if args.out is not None:
        out.talk(f"written to {args.out}; `infospace run {args.out}` runs it", "dim")
    if args.save is not None:
        out.talk(f"saved; `infospace run plan:{args.save}` runs it", "dim")


def _to_json(document: JSON, effects: Sequence[Effect], result: RunResult) -> dict[str, Any]:
    """Return the plan, what it would do, and what was tried, as JSON."""
    row = next((row for row in reversed(result.steps) if "attempts" in row.extra), None)
    return {
        "run": result.run,
        "plan": document,
        "effects": [effect.to_json() for effect in effects],
        "attempts": None if row is None else row.extra["attempts"],
        "remembered": row is not None and row.extra.get("remembered") is True,
        "llm": None if row is None else row.extra.get("llm"),
    }


def _show_failure(result: RunResult, out: Output) -> int:
    """Say why there is no plan; return the exit code."""
    from tui.command.runs.run import code_of

    if out.json:
        out.document(result.to_json())
    out.talk(f"infospace: {result.reason}", "red")
    return code_of(result)
