"""Call a tool of a server, a primitive or a saved plan.

It is a run, and stands in the journal. On a terminal you are asked where somebody has to be asked first; without one
the call waits, and `infospace answer` goes on with it. Exit codes: 0, 1 where it failed, 4 where it waits, 130 where
it was broken off.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, InvalidJSON
from tui.command.common.approve_option import add_approve, approved
from tui.command.common.follow_run import RunTakenOver, add_wait, follow_until_done, report_taken_over
from tui.command.common.open_space import open_from
from tui.command.common.plan_input import parse_inputs
from tui.command.common.sign_in import offer_sign_in
from tui.command.tools.common import validated
from tui.text.output import Output, UsageError
from tui.text.paths import read_source
from tui.text.pending import show_pending

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.journal.result import RunResult

EXAMPLES = """examples:
  infospace tools call git/git_status --input repo_path=.
  infospace tools call time/get_current_time '{"timezone": "Europe/Berlin"}' --json
  infospace tools call files/write --input-file arguments.json --approve files/write"""

CODES = {"success": 0, "failed": 1, "approval_required": 4, "waiting": 4, "cancelled": 130}
CALLER = "command"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tool", metavar="TOOL", help="server/tool, or an id such as tool_17")
    parser.add_argument(
        "arguments", nargs="?", metavar="JSON", help="the tool's arguments as an object; `-` reads them"
    )
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="one of its arguments")
    parser.add_argument("--input-file", metavar="FILE", help="arguments as a JSON object; `--input` overrides it")
    parser.add_argument(
        "--timeout-ms", type=int, metavar="N", help="how long it may last; else its server's entry says"
    )
    parser.add_argument("--no-metadata", action="store_true", help="with --json, without `execution_metadata`")
    add_approve(parser)
    add_wait(parser.add_argument)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Call it, and show what it answers."""
    from planner.metatools.audit import outcome_of, write_audit
    from planner.metatools.execute_tool import prepare_call
    from planner.metatools.lookup import find_tool

    with open_from(args, create=True) as space:
        offer_sign_in(space, out)
        values = _arguments(args, find_tool(space, args.tool).input_schema.get("properties", {}))
        options: dict[str, Any] = {"include_metadata": not args.no_metadata}
        if args.timeout_ms is not None:
            options["timeout_ms"] = args.timeout_ms
        expected = {"tool_name": args.tool, "arguments": values, "options": options}
        call = prepare_call(space, validated("execute_tool", expected))
        result = asyncio.run(call.play(space, lambda _event: None, approved(args, space, out)))
        try:
            result = _attended(space, result, args, out)
        except RunTakenOver as gone:
            return report_taken_over(space, gone, out)
        answer = call.answer(space, result)
        why = next((row.error for row in reversed(result.steps) if row.error), None)
        write_audit(space, CALLER, "execute_tool", call.tool.full_name, outcome_of(answer), why, result.run)
        if out.json:
            out.document(answer)
        else:
            _show(space, answer, result, out)
    return CODES[answer["status"]]


def _arguments(args: argparse.Namespace, declared: Any) -> dict[str, JSON]:
    from infospace.data.json_text import read_json

    values: dict[str, JSON] = {}
    if args.arguments is not None:
        text = read_source("-") if args.arguments == "-" else args.arguments
        try:
            read = read_json(text, what="what the tool is given")
        except InvalidJSON as error:
            raise UsageError(
                error.message, hint=error.hint or '\'{"name": "value"}\', or --input name=value'
            ) from error
        if not isinstance(read, dict):
            raise UsageError("the arguments are not a JSON object", hint='\'{"name": "value"}\', or --input name=value')
        values |= read
    try:
        return values | parse_inputs(args.input, args.input_file, declared if isinstance(declared, dict) else {})
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error


def _attended(space: Space, result: RunResult, args: argparse.Namespace, out: Output) -> RunResult:
    """Stay with a call that waits: on a terminal for an answer, with --wait also for a time."""
    asks = any(pending.kind != "wait" for pending in result.pending) and sys.stdin.isatty() and sys.stderr.isatty()
    return (
        follow_until_done(space, result, lambda _event: None, out) if result.pending and (asks or args.wait) else result
    )


def _show(space: Space, answer: dict[str, Any], result: RunResult, out: Output) -> None:
    from tui.text.render import content_text

    if result.pending:
        show_pending(result.run, result.pending, out)
        return
    if answer["is_error"]:
        out.talk(f"infospace: {answer['reason']}", "red")
    elif answer.get("large") and answer["resource_id"]:
        context = space.context()
        out.text(content_text(context.content(context.get(answer["resource_id"]))))
    elif answer["structured_content"] is not None:
        out.text(content_text(answer["structured_content"]))
    else:
        for block in answer["content"]:
            out.text(block["text"] if block.get("type") == "text" else content_text(block))
    for misfit in answer.get("misfits", ()):
        out.talk(f"it does not fit its own output schema: {misfit}", "yellow")
    if answer["resource_id"]:
        out.talk(f"{answer['resource_id']} of {result.run}", "dim")
