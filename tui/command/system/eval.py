"""Run goals with known answers against the configured model, to see how well it plans, and what that costs.

A suite has one goal on each line, with its notes, its tools and the right answer (`infospace help goals`). Without
SUITE, eval runs the goals that come with infospace. Each goal runs in a space of its own, as if by `infospace do
--yes`. Exit code 0 when the model reached every goal, else 1.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from infospace.core.plural import pluralize
from tui.command.common.goal_input import require_configured
from tui.text.output import Output, UsageError
from tui.text.paths import read_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infospace.space import Space
    from planner.evaluation.run import GoalOutcome
    from planner.evaluation.suite import SuiteGoal

EXAMPLES = """examples:
  infospace eval
  infospace eval goals.jsonl --json > this-model.json
  infospace eval goals.jsonl --compare other-model.json
  infospace eval --compare this-model.json other-model.json
  infospace eval tasks.jsonl --format nestools --limit 50
  infospace eval executable-data.json --format nestful --spec executable-spec.json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("suite", metavar="SUITE", nargs="?", help="a file of goals, one JSON object a line")
    parser.add_argument(
        "--format", choices=["own", "nestools", "nestful"], default="own", help="the format of SUITE (own)"
    )
    parser.add_argument("--spec", metavar="FILE", help="the file of NESTFUL's tools, for --format nestful")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N goals")
    parser.add_argument(
        "--max-repairs", type=int, default=3, choices=range(11), metavar="N", help="at most N repairs of each plan (3)"
    )
    parser.add_argument("--price", type=float, metavar="PRICE", help="price of a million tokens; adds the cost")
    parser.add_argument("--cache", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--compare",
        metavar="FILE",
        nargs="+",
        help="show the output of an earlier `eval --json` beside this one; two files are compared and nothing is run",
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Run the suite; show a table, or print a document."""
    if args.cache:
        message = "eval takes no --cache: kept answers cost no tokens and no time, which it measures"
        raise UsageError(message, hint="`infospace eval --compare` shows two earlier outputs and asks no model")
    if args.compare is not None and len(args.compare) > 1:
        return _compare(args, out)
    goals = _goals(args, out)
    earlier = None if args.compare is None else _earlier(args.compare[0])
    settings = require_configured()
    outcomes: list[GoalOutcome] = []
    try:
        asyncio.run(_run(goals, args, out, outcomes))
    except KeyboardInterrupt:
        out.talk(f"interrupted after {len(outcomes)} of {pluralize(len(goals), 'goal')}", "yellow")
    summary = summarise(settings.model, outcomes, args.price)
    if out.json:
        out.document({**summary, "goals": [outcome.to_json() for outcome in outcomes]})
    else:
        _show([summary] if earlier is None else [summary, earlier], out)
        if earlier is not None:
            _show_changed({outcome.id: outcome.right for outcome in outcomes}, earlier, out)
    return 0 if len(outcomes) == len(goals) and all(outcome.right for outcome in outcomes) else 1


def _tell_left_out(count: int, out: Output) -> None:
    if count and not out.json:
        left_out = pluralize(count, "task")
        out.talk(f"left out: {left_out} whose right calls contradict the specification of the tools", "yellow")


def _goals(args: argparse.Namespace, out: Output) -> Sequence[SuiteGoal]:
    from importlib.resources import files

    from infospace.core.errors import Invalid
    from planner.evaluation.public_sets import read_public, tasks_in
    from planner.evaluation.suite import read_suite

    if args.suite is None and args.format != "own":
        raise UsageError(f"--format {args.format} needs a file", hint="infospace eval tasks.jsonl --format nestools")
    if args.limit is not None and args.limit < 1:
        raise UsageError(f"--limit is {args.limit}", hint="at least 1")
    try:
        if args.suite is None:
            goals = read_suite((files("tui") / "sample" / "goals.jsonl").read_text(encoding="utf-8"))
        elif args.format == "own":
            goals = read_suite(read_source(args.suite).decode(), repr(args.suite))
        else:
            spec = None if args.spec is None else read_source(args.spec).decode()
            text = read_source(args.suite).decode()
            goals = read_public(args.format, text, spec)
            _tell_left_out(tasks_in(args.format, text) - len(goals), out)
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{args.suite!r} is not UTF-8") from error
    return goals[: args.limit]


def _compare(args: argparse.Namespace, out: Output) -> int:
    """Show two earlier outputs side by side. Raises UsageError for more than two, and where a suite is named."""
    if len(args.compare) != 2 or args.suite is not None:
        raise UsageError("--compare takes one file, or two and no suite", hint="infospace eval --compare a.json b.json")
    first, second = (_earlier(path) for path in args.compare)
    if out.json:
        out.document([{key: value for key, value in one.items() if key != "goals"} for one in (first, second)])
        return 0
    _show([first, second], out)
    _show_changed({goal["id"]: goal["right"] for goal in first.get("goals", ())}, second, out)
    return 0


def _earlier(path: str) -> dict[str, Any]:
    from infospace.core.errors import InvalidJSON
    from infospace.data.json_text import read_json

    try:
        value = read_json(read_source(path), what=repr(path))
    except InvalidJSON as error:
        raise UsageError(error.message, hint=error.hint) from error
    if not isinstance(value, dict) or "model" not in value or "right" not in value:
        raise UsageError(f"{path!r} is not what `infospace eval --json` prints")
    return dict(value)


async def _run(goals: Sequence[SuiteGoal], args: argparse.Namespace, out: Output, outcomes: list[GoalOutcome]) -> None:
    """Run the goals one by one, each told as it ends."""
    from infospace.llm.client import connect
    from planner.evaluation.run import run_suite

    model = connect()
    async for outcome in run_suite(goals, model, _sample, args.max_repairs):
        outcomes.append(outcome)
        if not out.json:
            mark, style = ("✓", "green") if outcome.right else ("✗", "red")
            repairs = f", {outcome.repairs} repairs" if outcome.repairs else ""
            why = "" if outcome.why is None else f": {outcome.why}"
            out.talk(f"{mark} {outcome.id}  {outcome.seconds:.1f} s{repairs}{why}", style)


def _sample(space: Space) -> None:
    """Put the sample notes into a space."""
    from importlib.resources import as_file, files

    from infospace.core.listener import NullListener
    from infospace.files.import_files import import_paths

    with as_file(files("tui") / "sample" / "notes") as notes:
        import_paths(space, [notes], NullListener())


def summarise(model: str, outcomes: Sequence[GoalOutcome], price: float | None) -> dict[str, Any]:
    """Return the figures of a suite as JSON: counts, tokens, seconds, and the cost where a price is given."""
    tokens = sum(outcome.tokens for outcome in outcomes)
    compared = [outcome for outcome in outcomes if outcome.calls is not None]
    return {
        "model": model,
        "count": len(outcomes),
        "right": sum(outcome.right for outcome in outcomes),
        "at_once": sum(outcome.at_once for outcome in outcomes),
        "repairs": sum(outcome.repairs for outcome in outcomes),
        "fixes": sum(outcome.fixes for outcome in outcomes),
        "calls_exact": sum(bool(outcome.calls) for outcome in compared) if compared else None,
        "calls_loose": sum(bool(outcome.calls_loosely) for outcome in compared) if compared else None,
        "calls_compared": len(compared),
        "tokens": tokens,
        "seconds": round(sum(outcome.seconds for outcome in outcomes), 1),
        "cost": None if price is None else round(tokens * price / 1e6, 4),
    }


ROWS = {
    "count": "goals",
    "right": "reached",
    "at_once": "plan right at once",
    "repairs": "repairs by the model",
    "fixes": "fixes without it",
    "calls_exact": "calls as declared",
    "calls_loose": "… but for case and punctuation",
    "tokens": "tokens",
    "seconds": "seconds",
    "cost": "cost",
}


def _show(columns: Sequence[dict[str, Any]], out: Output) -> None:
    """Show figures as a table, those of two suites side by side."""
    out.text(f"{'':<32}" + "".join(f"{str(column['model'])[:20]:>22}" for column in columns))
    for key, label in ROWS.items():
        if any(column.get(key) is not None for column in columns):
            cells = ["" if column.get(key) is None else f"{column[key]:,}" for column in columns]
            out.text(f"{label:<32}" + "".join(f"{cell:>22}" for cell in cells))


def _show_changed(reached: Mapping[str, bool], earlier: dict[str, Any], out: Output) -> None:
    """Name the goals that only one of the two reached."""
    before = {goal["id"]: goal["right"] for goal in earlier.get("goals", ())}
    for identifier, right in reached.items():
        if before.get(identifier, right) != right:
            out.text(f"{identifier}: {'reached here alone' if right else 'reached there alone'}")
