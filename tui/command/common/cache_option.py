"""`--cache`: answers of equal calls that are kept across runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.text.output import UsageError

if TYPE_CHECKING:
    from infospace.space import Space


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Declare whether answers are kept, and for how long those of tools hold."""
    parser.add_argument(
        "--cache",
        action="store_true",
        help="keep the answers of the language model, and of tools that only read, and use them for equal calls of"
        " later runs; `infospace prune --cache` deletes them",
    )
    parser.add_argument(
        "--cache-ttl",
        type=float,
        metavar="SECONDS",
        help="with --cache, how long the answer of a tool holds (3,600)",
    )


def use_cache(args: argparse.Namespace, space: Space) -> None:
    """Let a space keep and use answers, where the options say so. Raises UsageError for a time that is none."""
    from infospace.journal.answer_cache import TTL_S, AnswerCache

    if args.cache_ttl is not None and not args.cache:
        raise UsageError("--cache-ttl is for --cache", hint=f"--cache --cache-ttl {args.cache_ttl:g}")
    if args.cache_ttl is not None and not 0 < args.cache_ttl < float("inf"):
        raise UsageError(f"--cache-ttl is {args.cache_ttl:g}", hint="a number of seconds above 0")
    if not args.cache:
        return
    if space.store.derived is None:
        raise UsageError("--cache needs a space in a file", hint="--space notes.db")
    space.answers = AnswerCache(space.store.derived, args.cache_ttl or TTL_S)
