"""Plans that went well for a goal: listed, forgotten, and whether any are remembered."""

from __future__ import annotations

import argparse

from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError


def execute(args: argparse.Namespace, out: Output) -> int:
    """List, forget, or switch."""
    match args.action:
        case "forget":
            return _forget(args, out)
        case "memory":
            return _memory(args, out)
        case _:
            return _list(args, out)


def _list(args: argparse.Namespace, out: Output) -> int:
    from planner.goals.memory import remembered

    with open_from(args, create=False) as space:
        results = remembered(space)
    if out.json:
        out.document([plan.to_json() for plan in results])
        return 0
    if not results:
        out.talk("no plan is remembered; one that `infospace do` runs well is")
    for plan in results:
        values = plan.to_json()["values"]
        message = f"  (other values for {', '.join(values)})" if values else ""
        out.text(f"{plan.id}  {plan.goal}{message}  {plan.run}")
    return 0


def _forget(args: argparse.Namespace, out: Output) -> int:
    from planner.goals.memory import forget, remembered

    if (args.id is None) != args.all:
        raise UsageError("`plans forget` takes an id, or --all", hint="`infospace plans remembered` lists them")
    with open_from(args, create=False) as space:
        ids = [plan.id for plan in remembered(space)] if args.all else [args.id]
        for identifier in ids:
            forget(space, identifier)
    if out.json:
        out.document({"forgotten": ids})
    else:
        out.text(f"forgot {len(ids)} plan{'s' * (len(ids) != 1)}")
    return 0


def _memory(args: argparse.Namespace, out: Output) -> int:
    from planner.goals.memory import is_on, switch

    with open_from(args, create=args.state is not None) as space:
        if args.state is not None:
            switch(space, on=args.state == "on")
        state = "on" if is_on(space) else "off"
    if out.json:
        out.document({"memory": state})
    else:
        out.text(f"plans that go well are {'' if state == 'on' else 'not '}remembered")
    return 0
