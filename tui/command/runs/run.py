"""Check a plan and run it.

Steps are shown as they happen, then the result. A plan on standard input is read as it is written: steps that only
make and read start at once, all others when the whole plan is there and has passed the check. Exit code 0 when it
succeeds, 1 when it fails, 3 when the check refuses it (nothing has happened then), 4 when it waits for an answer,
130 when it is interrupted: Ctrl-C once lets the steps under way end, and `infospace resume` goes on; twice stops at
once. Steps as JSON Lines are a session, in a file too: each line is checked and run before the next is, so that the
lines before a refused one have run.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON
from tui.command.common.approve_option import add_approve, approved
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.ctrl_c import final_result, interruptible
from tui.command.common.follow_run import RunTakenOver, add_wait, follow_until_done, interrupted, report_taken_over
from tui.command.common.open_space import address_of, open_from
from tui.command.common.plan_input import InputRefused, declared_in, parse_inputs, read_from
from tui.command.common.sign_in import offer_sign_in
from tui.command.common.stdin_stream import IncomingPlan, read_stdin
from tui.text.output import Output, UsageError
from tui.text.paths import lies_there, path_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.execute.start import Prepared
    from planner.journal.commit_order import SuspendRequest
    from planner.journal.events import Event
    from planner.journal.result import RunResult
    from planner.parse.text import Document, Lines

EXAMPLES = """examples:
  infospace run plan.json
  infospace run plan.json --input topic='attention' --json
  infospace run plan.json --print result --out report.md
  infospace run totals.json --input rows=@orders.csv --out totals.csv
  infospace run plan.json --dry-run
  infospace run plan.json --approve files/write --wait
  infospace run plan.json --detach --queue nightly --priority 5
  echo '[{"type": "say", "value": "hello"}]' | infospace run -
  infospace run - --session research < lines.jsonl"""

INPUT = "an input of the plan; rows=@data.csv (tsv, json, jsonl) is a table for an input of kind Collection"
OUT = "write the result to a file: .csv, .tsv, .json, .jsonl by its ending; else text as it is, or JSON"

CODES = {"success": 0, "stopped": 0, "failed": 1, "refused": 3, "suspended": 4, "cancelled": 130}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a file; `-` is standard input")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help=INPUT)
    parser.add_argument("--input-file", metavar="FILE", help="inputs as a JSON object; `--input` overrides it")
    parser.add_argument("--session", metavar="NAME", help="run in the session of this name, which stays open")
    parser.add_argument("--data", action="store_true", help="with --json, the full content of every step")
    parser.add_argument(
        "--print", choices=["all", "result"], default="all", help="what to show: everything, or the result alone"
    )
    parser.add_argument("--out", metavar="FILE", help=OUT)
    add_approve(parser)
    add_cache(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--detach", action="store_true", help="journal it for `infospace work` to run, and return at once with its id"
    )
    parser.add_argument("--queue", metavar="NAME", help="with --detach, the queue in which it waits (default)")
    parser.add_argument("--priority", type=int, metavar="N", help="with --detach, higher goes first (0)")
    how.add_argument(
        "--dry-run", action="store_true", help="compute and read, and show what it would write and call; nothing stays"
    )
    add_wait(how.add_argument)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Run, show, and say by the exit code how it ended."""
    _writable(args.out)
    _fits_detach(args)
    try:
        incoming = read_stdin(args) if _arrives(args) else read_from(args.plan, args)
        read, declared = (None, {}) if isinstance(incoming, IncomingPlan) else declared_in(incoming)
    except InvalidJSON as error:
        return _finish(_unreadable(error), args, out)
    except KeyboardInterrupt:
        return _finish(_unread(), args, out)
    try:
        if isinstance(incoming, IncomingPlan):
            return _in_space(
                args,
                out,
                lambda space, watch, approve: asyncio.run(follow(incoming.events(space, approve), watch, out)),
            )
        inputs = parse_inputs(args.input, args.input_file, declared)
    except InputRefused as error:
        return _finish(_refused_input(error), args, out)
    assert read is not None  # noqa: S101 - what does not arrive was read
    refused = _refused_by_empty_space(args, read, inputs)
    if refused is not None:
        return _finish(refused, args, out)
    if args.dry_run:
        return _dry(read, inputs, args, out)
    if args.detach:
        return _detach(read, inputs, args, out)
    return _in_space(args, out, lambda space, watch, approve: _run(space, read, inputs, args, watch, out, approve))


def _arrives(args: argparse.Namespace) -> bool:
    """Whether the plan is run while it is still being written: from standard input, outside of a named session."""
    return args.plan == "-" and not args.dry_run and not args.detach and args.session is None


def _in_space(
    args: argparse.Namespace,
    out: Output,
    run: Callable[[Space, Callable[[Event], None], Sequence[str]], RunResult],
) -> int:
    """Do what runs a plan in the space, stay with it where `--wait` says so, and show how it ended."""
    with open_from(args, create=True) as space:
        offer_sign_in(space, out)
        use_cache(args, space)
        watch, approve = _watcher(args, out), approved(args, space, out)
        result = run(space, watch, approve)
        if args.wait:
            try:
                result = follow_until_done(space, result, watch, out)
            except RunTakenOver as gone:
                return report_taken_over(space, gone, out)
        return _finish(result, args, out, space)


def _refused_by_empty_space(
    args: argparse.Namespace, read: Document | Lines, inputs: dict[str, JSON]
) -> RunResult | None:
    """Check against an empty space where there is none yet, so that a refused plan makes no file."""
    from planner.execute.start import Refused, prepare
    from planner.parse.text import Lines

    if isinstance(read, Lines) or lies_there(Path(address_of(args))):
        return None
    with open_from(args, create=False, new=True) as space:
        prepared = prepare(space, read.value, inputs)
    return prepared.to_result() if isinstance(prepared, Refused) else None


def _dry(read: Document | Lines, inputs: dict[str, JSON], args: argparse.Namespace, out: Output) -> int:
    """Run without leaving anything, and show what would be written and called; return the exit code."""
    from planner.execute.start import Refused, prepare
    from planner.lifecycle.dry_run import dry_run
    from planner.parse.text import Lines

    if isinstance(read, Lines):
        raise UsageError("the lines of a session have no dry run", hint='{"steps": […]} is one plan, checked whole')
    if args.session is not None:
        raise UsageError("steps in a session have no dry run", hint="leave --session away: nothing of it is bound then")
    with open_from(args, create=False, new=True) as space:
        offer_sign_in(space, out)
        approve = approved(args, space, out)
        prepared = prepare(space, read.value, inputs)
        if isinstance(prepared, Refused):
            return _finish(prepared.to_result(), args, out)
        _fits_file(args.out, prepared, space)
        dry = asyncio.run(dry_run(space, prepared, _watcher(args, out), approve, data=args.data))
    if out.json:
        _write_result(dry.result, args, out)
        out.document(dry.document)
        return code_of(dry.result)
    return _finish(dry.result, args, out)


def _fits_detach(args: argparse.Namespace) -> None:
    """Refuse what says how a run is shown, or where it waits, where there is no such thing."""
    if not args.detach:
        for option in ("queue", "priority"):
            if getattr(args, option) is not None:
                raise UsageError(f"--{option} is of a run that waits", hint=f"--detach --{option} …")
        return
    for option, value in (
        ("--session", args.session),
        ("--out", args.out),
        ("--data", args.data),
        ("--cache", args.cache),
        ("--print result", args.print == "result"),
    ):
        if value:
            raise UsageError(f"a run that waits for a worker has no {option}", hint="`infospace show` shows it")
    if args.queue is not None and not args.queue.strip():
        raise UsageError("--queue names no queue", hint="leave it away for the queue `default`")


def _detach(read: Document | Lines, inputs: dict[str, JSON], args: argparse.Namespace, out: Output) -> int:
    """Journal a run for a worker, and say which it is."""
    from infospace.journal.queue_rows import DEFAULT_QUEUE
    from planner.execute.start import Refused, enqueue, prepare
    from planner.parse.text import Lines

    if isinstance(read, Lines):
        raise UsageError("the lines of a session do not wait for a worker", hint='{"steps": […]} is one plan')
    queue, priority = args.queue or DEFAULT_QUEUE, args.priority or 0
    with open_from(args, create=True) as space:
        prepared = prepare(space, read.value, inputs)
        if isinstance(prepared, Refused):
            return _finish(prepared.to_result(), args, out)
        run = enqueue(space, prepared, queue, priority, approved(args, space, out))
    if out.json:
        out.document({"run": run, "status": "suspended", "queue": queue, "priority": priority})
    else:
        out.text(run)
        out.talk(f"waits in the queue {queue!r}; `infospace work` takes it, `infospace show {run}` shows it", "dim")
    return 0


def _writable(path: str | None) -> None:
    if path == "-":
        raise UsageError("--out is a file", hint="`--print result` writes the result alone to standard output")
    if path is not None and not path_of(path).absolute().parent.is_dir():
        raise UsageError(f"there is no folder for --out {path!r}")


def _fits_file(path: str | None, prepared: Prepared, space: Space) -> None:
    """Refuse to run a plan whose answer is no list for sure where it is to be written as rows."""
    from infospace.files.formats.tables import ENDINGS
    from infospace.schema.infer import types_of
    from infospace.schema.value_text import describe_types
    from planner.check.checker import result_schema
    from planner.check.space_facts import SnapshotFacts

    ending = "" if path is None else path_of(path).suffix.lower()
    if ending not in ENDINGS or ending == ".json":
        return
    with space.store.reading() as snapshot:
        schema = result_schema(prepared.plan, space.catalogue, SnapshotFacts(snapshot))
    if "array" not in types_of(schema):
        message = f"the plan's result is {describe_types(schema)}, and a {ending} file holds rows: nothing was run"
        raise UsageError(message, hint="--out FILE.json takes any")


def _unreadable(error: InvalidJSON) -> RunResult:
    from planner.journal.result import RunResult
    from planner.parse.text import unreadable

    return RunResult(None, "refused", problems=[unreadable(error)])


def _refused_input(error: InputRefused) -> RunResult:
    from planner.journal.result import RunResult
    from planner.language.problems import Problem

    return RunResult(None, "refused", problems=[Problem("bad-input", error.pointer, error.said, error.hint)])


def _unread() -> RunResult:
    from planner.journal.result import RunResult

    return RunResult(None, "cancelled", reason="interrupted before there was anything to run")


def _watcher(args: argparse.Namespace, out: Output) -> Callable[[Event], None]:
    if args.json or args.print == "result":
        return lambda _event: None
    from tui.command.common.event_printer import EventPrinter

    return EventPrinter(out)


def _run(
    space: Space,
    read: Document | Lines,
    inputs: dict[str, JSON],
    args: argparse.Namespace,
    watch: Callable[[Event], None],
    out: Output,
    approve: Sequence[str],
) -> RunResult:
    from planner.execute.start import Refused, prepare, stream
    from planner.parse.text import Lines

    if isinstance(read, Lines):
        from tui.command.common.session_lines import play_lines

        return play_lines(space, read, args.session, inputs, watch, out, approve)
    if args.session is not None:
        from tui.command.common.session_lines import play_document

        return asyncio.run(play_document(space, read, args.session, inputs, watch, out, approve))
    prepared = prepare(space, read.value, inputs)
    if isinstance(prepared, Refused):
        return prepared.to_result()
    _fits_file(args.out, prepared, space)
    return asyncio.run(follow(lambda halt: stream(space, prepared, halt, approve), watch, out))


async def follow(
    events: Callable[[SuspendRequest], AsyncIterator[Event]], watch: Callable[[Event], None], out: Output
) -> RunResult:
    """Run what gives these events, telling them to `watch`; Ctrl-C once sets what it is given."""
    from planner.journal.events import RunFinished

    result = None
    with interruptible(out) as halt:
        async for event in events(halt):
            watch(event)
            if isinstance(event, RunFinished):
                result = event.result
    assert result is not None  # noqa: S101 - a stream ends with RunFinished, or raises
    return final_result(result, halt)


def _write_result(result: RunResult, args: argparse.Namespace, out: Output) -> None:
    """Write the result to the file that `--out` names, where it names one."""
    if args.out is not None and result.result is None:
        out.talk(f"there is no result to write to {args.out!r}: it is left as it was", "yellow")
    if args.out is not None and result.result is not None:
        from infospace.files.atomic_write import write_atomically
        from infospace.files.formats.tables import ENDINGS, write_table
        from tui.text.render import content_text

        path, data = path_of(args.out), result.result.data
        table = path.suffix.lower() in ENDINGS
        write_atomically(path, write_table(data, path.suffix.lower()) if table else f"{content_text(data)}\n".encode())


def _finish(result: RunResult, args: argparse.Namespace, out: Output, space: Space | None = None) -> int:
    _write_result(result, args, out)
    if out.json:
        out.document(result.to_json(space if args.data else None))
    else:
        from tui.command.common.event_printer import show_result

        show_result(result, out, quiet=args.print == "result" and args.out is not None)
    return code_of(result)


def code_of(result: RunResult) -> int:
    """Return the exit code of a run: an interrupted one has that of interruption, though it can be resumed."""
    return CODES["cancelled"] if interrupted(result) else CODES[result.status]
