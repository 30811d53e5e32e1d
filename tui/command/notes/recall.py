"""`infospace search --recall`: how much a search misses, estimated by notes that a model or a person judges."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from infospace.core.errors import InfospaceError, Invalid, ModelError, NotConfigured
from infospace.search.query import DEFAULT_JUDGEMENTS
from tui.command.common.ctrl_c import read_line
from tui.command.common.embedding_model import fetch_missing
from tui.command.common.whole_number import whole_number
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.search.certainty.judging import DrawnNote, RecallSample
    from infospace.space import Space

ME, MODEL = "me", "model"
YES, NO, END = ("y", "yes"), ("n", "no"), ("q", "quit")

PASSAGE = 600
"""Characters of a note that a person is shown."""


def add_recall(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--recall",
        nargs="?",
        type=_count,
        const=DEFAULT_JUDGEMENTS,
        metavar="N",
        help=f"estimate how much is missed: N notes ({DEFAULT_JUDGEMENTS}), drawn by chance, are judged",
    )
    parser.add_argument(
        "--judge",
        choices=[ME, MODEL],
        help="who says of each whether it is right: you, or the language model (the model where one is configured)",
    )


def show_recall(args: argparse.Namespace, space: Space, out: Output) -> int:
    """Have notes judged, and show what that says of the search."""
    with out.progress() as listener:
        sample = _sample(args, space, out, listener)
    judge = args.judge or (ME if _why_no_model(space) is not None else MODEL)
    if judge == MODEL:
        if (why := _why_no_model(space)) is not None:
            raise UsageError("--judge model needs a language model", hint=f"{why}; --judge me asks you")
        asyncio.run(_ask_model(args.query, sample, space, out))
    else:
        _ask_person(args.query, sample, space, out)
    try:
        results = sample.estimate()
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(
            {"query": args.query, "judge": judge, **results.to_json(), "certificate": dict(sample.certificate)}
        )
        return 0
    from tui.text.render import format_recall, strata_lines

    out.text(format_recall(results))
    for line in strata_lines(results):
        out.talk(line, style="dim")
    return 0


def _count(text: str) -> int:
    count = whole_number(text)
    if count is None or count < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number from 1")
    return count


def _sample(args: argparse.Namespace, space: Space, out: Output, listener: Any) -> RecallSample:
    from infospace.contract.arguments import BoundCondition
    from infospace.expressions import parse_where
    from infospace.search.certainty.judging import draw_sample
    from infospace.search.query import SearchQuery

    where = None if args.where is None else BoundCondition(parse_where(args.where))
    query = SearchQuery(args.query, None, args.threshold, args.mode, where)
    try:
        return draw_sample(space.search, query, args.recall, listener)
    except ModelError:
        if not fetch_missing(space, out):
            raise
        return draw_sample(space.search, query, args.recall, listener)


def _why_no_model(space: Space) -> InfospaceError | None:
    try:
        space.model_for()
    except NotConfigured as error:
        return error
    return None


async def _ask_model(query: str, sample: RecallSample, space: Space, out: Output) -> None:
    """Have the language model judge all that were drawn, one after the other."""
    from infospace.llm.prompts import judge_prompt

    context = space.context(scratch=True)
    with out.progress() as listener:
        for done, note in enumerate(waiting := sample.waiting, 1):
            drawn = _read_note(space, sample, note)
            content = f"{drawn.title}\n\n{drawn.text}"
            prompt = judge_prompt(f"It answers, or helps to answer: {query}", (note, content))
            sample.tell(note, right=bool(await context.ask_model(prompt, schema={"type": "boolean"})))
            listener.progress(done, len(waiting), "notes judged")


def _ask_person(query: str, sample: RecallSample, space: Space, out: Output) -> None:
    """Ask of each whether it is right, until all are judged, or the person ends it."""
    from tui.text.render import snippet

    waiting = sample.waiting
    out.talk(f"Is it right for {query!r}? y, n, or q to end.")
    for at, note in enumerate(waiting, 1):
        drawn = _read_note(space, sample, note)
        out.talk(f"{at} of {len(waiting)}  {drawn.title or note}")
        out.talk(snippet(drawn.passage, PASSAGE), style="dim")
        while (message := _read_line().strip().lower()) not in (*YES, *NO, *END, ""):
            out.talk("y, n or q")
        if message in END or not message:
            return
        sample.tell(note, right=message in YES)


def _read_line() -> str:
    """The line that answers; of answers in a pipe the next one, empty at their end."""
    return read_line("right? [y/n/q] ") if sys.stdin.isatty() else sys.stdin.readline()


def _read_note(space: Space, sample: RecallSample, note: str) -> DrawnNote:
    with space.store.reading() as snapshot:
        return sample.read(snapshot, note)
