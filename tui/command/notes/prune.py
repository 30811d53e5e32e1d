"""Remove for good what is no longer needed: deleted notes and old versions, or runs of plans.

Versions to which a search result, a collection, an imported file or an unfinished run refers stay. A run cannot be
undone once the versions before it are gone.

With --runs, --older-than, --keep or --status it removes runs of plans and sessions instead, and what they made that
nobody kept, but never what something kept is made of. They cannot be undone, replayed or explained any more.

With --cache it removes the answers that `--cache` kept, nothing else.

Without --yes it only says what would be removed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.journal.prune import PruneFilter
    from infospace.space import Space

EXAMPLES = """examples:
  infospace prune
  infospace prune --yes
  infospace prune --runs run_3 run_4
  infospace prune --older-than 30d --status failed --yes
  infospace prune --keep 100 --yes
  infospace prune --cache --yes"""

STATUSES = ("success", "failed", "stopped", "cancelled", "refused")

NAMED = 10
"""Runs that are named for reading."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--yes", action="store_true", help="really remove it")
    parser.add_argument("--cache", action="store_true", help="answers of models and tools that were kept, nothing else")
    parser.add_argument("--runs", nargs="+", metavar="RUN", default=[], help="these runs")
    parser.add_argument("--older-than", metavar="AGE", help="runs that ended longer ago than: 36h, 30d, 8w")
    parser.add_argument("--keep", type=int, metavar="N", help="all runs but the latest N")
    parser.add_argument(
        "--status", action="append", choices=STATUSES, default=[], help="runs with this status; may be repeated"
    )


def execute(args: argparse.Namespace, out: Output) -> int:
    """Remove, or say what would be."""
    which = _prune_filter(args)
    if args.cache and which is not None:
        raise UsageError("--cache removes answers and no runs", hint="infospace prune --cache --yes")
    with open_from(args, create=False) as space:
        if args.cache:
            return _answers(space, args, out)
        if which is not None:
            return _runs(space, which, args, out)
        freed = space.store.purge(really=args.yes)
    if out.json:
        out.document({"pruned": args.yes, **asdict(freed)})
        return 0
    size = f"{freed.bytes / 1e6:,.1f} MB"
    message = (
        f"{pluralize(freed.tombstones, 'deleted resource')}, {pluralize(freed.versions, 'old version')}, "
        f"{pluralize(freed.vectors, 'vector')} of texts that are gone: {size}"
    )
    out.text(f"removed {message}" if args.yes else f"would remove {message}")
    if not args.yes and (freed.tombstones or freed.versions or freed.vectors):
        out.talk("`infospace prune --yes` removes it; it cannot be undone", "dim")
    return 0


def _answers(space: Space, args: argparse.Namespace, out: Output) -> int:
    from infospace.journal.answer_cache import AnswerCache, CacheSize

    cache = None if space.store.derived is None else AnswerCache(space.store.derived)
    result = CacheSize(0, 0, 0) if cache is None else cache.purge() if args.yes else cache.size()
    if out.json:
        out.document({"pruned": args.yes, **asdict(result)})
        return 0
    message = f"{_count(result.models, 'answer')} of models, {result.tools:,} of tools: {result.bytes / 1e6:,.1f} MB"
    out.text(f"removed {message}" if args.yes else f"would remove {message}")
    return 0


def _prune_filter(args: argparse.Namespace) -> PruneFilter | None:
    """Which runs are meant; None where none are."""
    if not args.runs and args.older_than is None and args.keep is None and not args.status:
        return None
    from infospace.journal.prune import PruneFilter, read_age

    if args.keep is not None and args.keep < 0:
        raise UsageError(f"--keep {args.keep} is not a number of runs", hint="0 or more")
    try:
        older = None if args.older_than is None else read_age(args.older_than)
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    return PruneFilter(tuple(args.runs), older, args.keep, frozenset(args.status))


def _runs(space: Space, which: PruneFilter, args: argparse.Namespace, out: Output) -> int:
    from infospace.journal.prune import select

    with space.store.reading() as snapshot:
        runs = select(snapshot, which)
    deleted = space.store.forget(runs, really=args.yes)
    if out.json:
        out.document({"pruned": args.yes, **asdict(deleted), "runs": runs})
        return 0
    counted = [_count(deleted.runs, "run"), _count(deleted.steps, "step"), _count(deleted.calls, "call")]
    text = f"{_count(deleted.resources, 'resource')} that nobody kept"
    message = f"{', '.join(counted)}, {text}: {deleted.bytes / 1e6:,.1f} MB"
    out.text(f"removed {message}" if args.yes else f"would remove {message}")
    if runs:
        listed = ", ".join(runs[:NAMED]) + (f", … and {len(runs) - NAMED:,} more" if len(runs) > NAMED else "")
        out.talk(listed, "dim")
    if deleted.needed:
        out.talk(f"{deleted.needed:,} more that nobody kept stay: something that stays is made of them", "dim")
    if runs and not args.yes:
        out.talk("with --yes they are removed; they can then not be undone, replayed or explained any more", "dim")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
