"""Keep plans in the space by name, to be run by it or as steps of other plans.

A plan is checked when it is saved. One of the same name, with --replace, becomes its next version. Plans that a model
wrote and that went well are remembered with their goals, as long as `memory` is on, as it is at first.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infospace.core.json_types import JSON
    from planner.language.problems import Problem

EXAMPLES = """examples:
  infospace plans save weekly-digest digest.json
  infospace plans list
  infospace plans show weekly-digest
  infospace run plan:weekly-digest --input topic=attention
  infospace plans rm weekly-digest
  infospace plans remembered
  infospace plans forget Note_12
  infospace plans memory off

as a step of another plan:
  {"type": "plan:weekly-digest", "arguments": {"topic": "attention"}, "out": "$digest"}

`infospace help language` says what a plan is, `infospace help goals` what is remembered."""

REFUSED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from tui.command import complete_actions

    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    save = actions.add_parser("save", help="check a plan and keep it")
    save.add_argument("name", metavar="NAME")
    save.add_argument("plan", metavar="PLAN", help="a file; `-` is standard input")
    save.add_argument("--replace", action="store_true", help="make it the next version of the plan of that name")
    actions.add_parser("list", help="list the saved plans")
    for action, summary in (("show", "print a saved plan"), ("rm", "delete a saved plan")):
        actions.add_parser(action, help=summary).add_argument("name", metavar="NAME")
    actions.add_parser("remembered", help="list the plans that went well, with their goals")
    forgetting = actions.add_parser("forget", help="forget a plan that went well, or all of them")
    forgetting.add_argument("id", metavar="ID", nargs="?", help="as `infospace plans remembered` lists it")
    forgetting.add_argument("--all", action="store_true", help="all of them")
    memory = actions.add_parser("memory", help="say whether plans that go well are remembered, or change it")
    memory.add_argument("state", choices=("on", "off"), nargs="?")
    complete_actions(actions, "infospace plans", EXAMPLES)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Do one of them; without a word, list."""
    match args.action:
        case "save":
            return _save(args, out)
        case "show":
            return _show(args, out)
        case "rm":
            return _remove(args, out)
        case "remembered" | "forget" | "memory":
            from tui.command.runs.remembered_plans import execute as on_memory

            return on_memory(args, out)
        case _:
            return _list(args, out)


def _save(args: argparse.Namespace, out: Output) -> int:
    from planner.parse.saved_plans import save_plan
    from planner.parse.text import Document
    from tui.command.common.plan_input import problems_of, read_from

    try:
        read = read_from(args.plan, args)
    except InvalidJSON as error:
        out.error(error)
        return REFUSED
    if not isinstance(read, Document):
        raise UsageError("a session in JSON Lines cannot be saved", hint='write its steps as {"steps": [ … ]}')
    with open_from(args, create=True) as space:
        problems = problems_of(space, read, args.name)
        if any(problem.severity == "error" for problem in problems):
            return _refused(problems, out)
        note = save_plan(space, args.name, _as_document(read.value), replace=args.replace)
    if out.json:
        out.document({"name": args.name, "id": note})
    else:
        out.text(f"saved plan:{args.name}  ({note})")
    return 0


def _as_document(document: JSON) -> JSON:
    return {"steps": document} if isinstance(document, list) else document


def _refused(problems: Sequence[Problem], out: Output) -> int:
    from tui.command.runs.check import show_problems

    if out.json:
        out.document({"ok": False, "problems": [problem.to_json() for problem in problems]})
    else:
        show_problems(problems, out)
        out.text("the plan is refused, and not saved")
    return REFUSED


def _list(args: argparse.Namespace, out: Output) -> int:
    from planner.parse.saved_plans import saved_plan, saved_plans

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        documents = {name: saved_plan(snapshot, name) for name in saved_plans(snapshot)}
    if out.json:
        out.document([{"name": name, "goal": _goal(plan), "inputs": _inputs(plan)} for name, plan in documents.items()])
        return 0
    if not documents:
        out.talk("no plan is saved yet; `infospace plans save NAME PLAN` can save one")
    for name, plan in documents.items():
        inputs = ", ".join(_inputs(plan))
        out.text(f"plan:{name}{f' ({inputs})' if inputs else ''}  {_goal(plan)}".rstrip())
    return 0


def _goal(document: JSON) -> str:
    goal = document.get("goal", "") if isinstance(document, dict) else ""
    return goal if isinstance(goal, str) else ""


def _inputs(document: JSON) -> list[str]:
    inputs = document.get("inputs", {}) if isinstance(document, dict) else {}
    return list(inputs) if isinstance(inputs, dict) else []


def _show(args: argparse.Namespace, out: Output) -> int:
    import json

    from planner.parse.saved_plans import load_plan

    with open_from(args, create=False) as space:
        document = load_plan(space, args.name)
    if out.json:
        out.document(document)
    else:
        out.text(json.dumps(document, ensure_ascii=False, indent=2))
    return 0


def _remove(args: argparse.Namespace, out: Output) -> int:
    from planner.parse.saved_plans import remove_plan

    with open_from(args, create=False) as space:
        note = remove_plan(space, args.name)
    if out.json:
        out.document({"name": args.name, "id": note})
    else:
        out.text(f"removed plan:{args.name}  ({note}); `infospace undo` of its run brings it back")
    return 0
