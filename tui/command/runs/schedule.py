"""Run saved plans at times. The schedules lie in the space; `infospace work`, on any machine, keeps them.

TIMES are five fields as in a crontab: minute, hour, day of the month, month, day of the week. At each of them a run
of the plan comes into its queue, once however many workers there are, and never while the run before goes on, or
waits. Where nobody worked at a time, or the run before went on, it was missed: `--missed` says what becomes of it.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Conflict, Invalid, NotFound
from tui.command.common.approve_option import add_approve, approved
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError
from tui.text.paths import SAVED

if TYPE_CHECKING:
    from infospace.journal.rows import Entry
    from infospace.journal.schedule_rows import Schedule
    from infospace.store.protocol import Snapshot
    from planner.execute.start import Refused

EXAMPLES = """examples:
  infospace schedule add digest '10 3 * * *' plan:weekly-digest --zone Europe/Berlin --input topic=attention
  infospace schedule add sync '*/15 * * * *' plan:sync --missed skip --queue quick
  infospace schedule list
  infospace schedule show digest
  infospace schedule pause digest
  infospace schedule resume digest
  infospace schedule rm digest"""

REFUSED = 3
NEXT = 5
"""How many of the next times `show` lists."""

MISSED = "missed times: one run for all of them (once), one for each (all), or none (skip)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from tui.command import complete_actions
    from tui.command.runs.run import INPUT

    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add = actions.add_parser("add", help="run a saved plan at times from now on")
    add.add_argument("name", metavar="NAME")
    add.add_argument("times", metavar="TIMES", help="'MINUTE HOUR DAY MONTH WEEKDAY', as in a crontab")
    add.add_argument("plan", metavar="plan:NAME", help="a saved plan, as it is when the time comes")
    add.add_argument("--zone", default="UTC", metavar="ZONE", help="of which clock the times are, as Asia/Tokyo (UTC)")
    add.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help=INPUT)
    add.add_argument("--input-file", metavar="JSON", help="inputs as a JSON object; `--input` overrides it")
    add.add_argument("--missed", choices=("once", "all", "skip"), default="once", help=f"{MISSED}; once")
    add.add_argument("--queue", metavar="NAME", help="the queue in which its runs wait (default)")
    add.add_argument("--priority", type=int, default=0, metavar="N", help="higher goes first (0)")
    add_approve(add)
    add.add_argument("--replace", action="store_true", help="put it in the place of the schedule of that name")
    actions.add_parser("list", help="list the schedules, and when they are due")
    for action, summary in (
        ("show", "show a schedule, its next times, and its latest run"),
        ("pause", "begin no runs until it is resumed; times meanwhile are left out"),
        ("resume", "go on from the next time on"),
        ("rm", "remove a schedule; its runs stay"),
    ):
        actions.add_parser(action, help=summary).add_argument("name", metavar="NAME")
    complete_actions(actions, "infospace schedule", EXAMPLES)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Do one of them; without a word, list."""
    try:
        match args.action:
            case "add":
                return _add(args, out)
            case "show":
                return _show(args, out)
            case "pause" | "resume" | "rm":
                return _change(args, out)
            case _:
                return _list(args, out)
    except (Conflict, NotFound, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error


def _add(args: argparse.Namespace, out: Output) -> int:
    from infospace.core.clock import now
    from infospace.core.names import name_error
    from infospace.journal.queue_rows import DEFAULT_QUEUE
    from infospace.journal.schedule_rows import SaveSchedule, Schedule
    from planner.execute.start import Refused, prepare
    from planner.lifecycle.schedules import next_time
    from planner.parse.saved_plans import load_plan
    from planner.parse.text import Document
    from tui.command.common.plan_input import declared_in, parse_inputs

    fault = name_error(args.name)
    if fault is not None:
        raise UsageError(fault.message, hint=fault.hint)
    if not args.plan.startswith(SAVED):
        raise UsageError(
            f"{args.plan!r} is not a saved plan, which a schedule needs",
            hint=f"`infospace plans save {args.name} PLAN` keeps one, which is plan:{args.name}",
        )
    if args.queue is not None and not args.queue.strip():
        raise UsageError("--queue names no queue", hint="leave it away for the queue `default`")
    due = next_time(args.times, args.zone, now())
    plan = args.plan.removeprefix(SAVED)
    with open_from(args, create=False) as space:
        document = load_plan(space, plan)
        inputs = parse_inputs(args.input, args.input_file, declared_in(Document(document))[1])
        prepared = prepare(space, document, inputs)
        if isinstance(prepared, Refused):
            return _refused(prepared, out)
        one = Schedule(
            *(args.name, plan, " ".join(args.times.split()), args.zone, inputs, args.missed),
            *(args.queue or DEFAULT_QUEUE, args.priority, approved(args, space, out), due),
        )
        space.store.commit([], [SaveSchedule(one, args.replace)])
    if out.json:
        out.document(_json(one, None))
    else:
        out.text(f"{one.name}  next {_moment(due, one)}")
        out.talk("`infospace work` begins its runs; as long as nobody works, its times are missed", "dim")
    return 0


def _refused(refused: Refused, out: Output) -> int:
    from tui.command.runs.check import show_problems

    if out.json:
        out.document({"ok": False, "problems": [problem.to_json() for problem in refused.problems]})
    else:
        show_problems(refused.problems, out)
        out.text("the plan is refused, and not scheduled")
    return REFUSED


def _list(args: argparse.Namespace, out: Output) -> int:
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        results = [(schedule, _waits_for(schedule, snapshot)) for schedule in snapshot.schedules()]
    if out.json:
        out.document([_json(one, waits) for one, waits in results])
        return 0
    if not results:
        out.talk("nothing is scheduled; `infospace schedule add NAME TIMES plan:NAME` does so", "dim")
    wide = max((len(one.name) for one, _ in results), default=0)
    for one, waits in results:
        out.text(f"{one.name:<{wide}}  {one.cron:<14}  {_state(one, waits)}  plan:{one.plan}", crop=True)
        if one.reason:
            out.text(f"{'':<{wide}}  {one.reason}", "yellow")
    return 0


def _show(args: argparse.Namespace, out: Output) -> int:
    from planner.lifecycle.schedules import next_times

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        one = _named(snapshot, args.name)
        waits = _waits_for(one, snapshot)
    times = next_times(one, NEXT)
    if out.json:
        out.document({**_json(one, waits), "next": times})
        return 0
    out.text(f"{one.name}  {one.cron}  {one.zone}  {_state(one, waits)}", "bold")
    out.text(f"runs plan:{one.plan}" + "".join(f" {name}={value!r:.60}" for name, value in one.inputs.items()))
    out.text(f"in the queue {one.queue!r}, priority {one.priority}; {_missed(one)}")
    for tool in one.approve:
        out.text(f"calls {tool} without asking")
    if one.reason:
        out.text(one.reason, "yellow")
    if one.run is not None and one.last is not None:
        out.text(f"latest: {one.run}, {_moment(one.last, one)}")
    for moment in times:
        out.text(f"next: {_moment(moment, one)}")
    return 0


def _change(args: argparse.Namespace, out: Output) -> int:
    from infospace.core.clock import now
    from infospace.journal.schedule_rows import DropSchedule, SetDue
    from planner.lifecycle.schedules import next_time

    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            one = _named(snapshot, args.name)
        due = None if args.action == "pause" else one.due or next_time(one.cron, one.zone, now())
        entry: Entry = DropSchedule(one.name) if args.action == "rm" else SetDue(one.name, due)
        if due != one.due or args.action == "rm":
            space.store.commit([], [entry])
    if out.json:
        out.document({"name": one.name, "removed": True} if args.action == "rm" else {"name": one.name, "due": due})
    elif args.action == "rm":
        out.text(f"removed {one.name}; its runs stay")
    else:
        out.text(f"{one.name}  " + ("paused" if due is None else f"next {_moment(due, one)}"))
    return 0


def _named(snapshot: Snapshot, name: str) -> Schedule:
    from infospace.data.paths import nearest

    results = {schedule.name: schedule for schedule in snapshot.schedules()}
    if name in results:
        return results[name]
    near = nearest(name, list(results))
    raise UsageError(
        f"there is no schedule {name!r}", hint=f"did you mean {near!r}?" if near else "`infospace schedule` lists them"
    )


def _waits_for(one: Schedule, snapshot: Snapshot) -> str | None:
    """The run that has not ended, where the schedule is due and may not begin another."""
    from infospace.core.clock import now
    from planner.lifecycle.schedules import waits_for

    return waits_for(one, snapshot) if one.due is not None and one.due <= now() else None


def _state(one: Schedule, waits: str | None) -> str:
    from infospace.core.clock import now

    if one.due is None:
        return "paused"
    if waits is not None:
        return f"waits for {waits} to end"
    return f"{'due since' if one.due <= now() else 'next'} {_moment(one.due, one)}"


def _missed(one: Schedule) -> str:
    says = {
        "once": "missed times are made up by one run",
        "all": "each missed time is made up",
        "skip": "missed times are left out",
    }
    return says[one.missed]


def _moment(moment: str, one: Schedule) -> str:
    """A time of a schedule as the clock in its zone shows it."""
    from tui.text.format import format_time_in

    return format_time_in(one.zone, moment)


def _json(one: Schedule, waits: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(one), "approve": list(one.approve), "waits_for": waits}
