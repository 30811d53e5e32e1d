"""See it work on sample notes.

Brings about 70 notes (on search, on attention, and of a small team's release) into a space of their own and
runs a plan over them. Safe to repeat.
"""

from __future__ import annotations

import argparse
import asyncio
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace demo
  infospace demo exhaustive
  infospace demo --list"""

FIRST = "discovery"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("plan", nargs="?", default=FIRST, help=f"which sample plan ({FIRST}); --list names them")
    parser.add_argument("--list", action="store_true", help="list the sample plans and leave")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Set the sample up where it is not there yet, and run a plan over it."""
    with as_file(files("tui") / "sample") as sample:
        plans = {path.stem: path for path in sorted((sample / "plans").glob("*.json"))}
        if args.list:
            return _list(plans, out)
        if args.plan not in plans:
            from infospace.data.paths import nearest
            from tui.text.output import UsageError

            near = nearest(args.plan, plans)
            raise UsageError(
                f"there is no sample plan {args.plan!r}",
                hint=f"did you mean {near!r}?" if near else f"there are {', '.join(plans)}",
            )
        if args.space is None:
            args.space = str(demo_space(sample))
        return _run(args, out, sample / "notes", plans)


def demo_space(sample: Path) -> Path:
    """Return where the sample's own space lies: in the user's cache, since it can be made again.

    Each installation has one, since notes are known by the folder that they came from: one for two would hold the
    same notes twice.
    """
    from infospace.search.models.find import cache_folder

    return cache_folder() / f"demo-{sha256(str(sample).encode()).hexdigest()[:8]}.db"


def _list(plans: dict[str, Path], out: Output) -> int:
    from infospace.data.json_text import read_json

    goals = {}
    for name, path in plans.items():
        document = read_json(path.read_bytes())
        goals[name] = document.get("goal", "") if isinstance(document, dict) else ""
    if out.json:
        out.document({"plans": goals})
    for name, goal in goals.items() if not out.json else ():
        out.text(f"{name:<14} {goal}")
    return 0


def _run(args: argparse.Namespace, out: Output, notes: Path, plans: dict[str, Path]) -> int:
    from infospace.data.json_text import read_json
    from infospace.files.import_files import import_paths
    from infospace.search.models.find import get_model
    from planner.execute.start import Refused, prepare, stream
    from tui.command.common.event_printer import EventPrinter, show_result
    from tui.command.runs.run import CODES, follow

    get_model(out.talk)
    with open_from(args, create=True) as space:
        with out.progress() as listener:
            summary = import_paths(space, [notes], listener)
            space.embedding.catch_up(listener)
        if not out.json:
            there = summary.added + summary.changed + summary.unchanged
            out.talk(f"{pluralize(there, 'sample note')} in {args.space} ({summary.added:,} new)", "dim")
        prepared = prepare(space, read_json(plans[args.plan].read_bytes()))
        if isinstance(prepared, Refused):
            result = prepared.to_result()
        else:
            watch = (lambda _event: None) if out.json else EventPrinter(out)
            result = asyncio.run(follow(lambda halt: stream(space, prepared, halt), watch, out))
        if out.json:
            out.document(result.to_json())
        else:
            show_result(result, out)
            _next(args, out, plans)
    return CODES[result.status]


def _next(args: argparse.Namespace, out: Output, plans: dict[str, Path]) -> None:
    others = [name for name in plans if name != args.plan]
    folder = next(iter(plans.values())).parent
    out.talk(f"\nMore: infospace demo {' | '.join(others)}; the plans lie in {folder}", "dim")
    out.talk(f"Look around: infospace search 'why the re-ranker did not ship' --space {args.space}", "dim")
    out.talk("Your own notes: infospace add FOLDER", "dim")
