"""Find notes by what they are about, with proof of how complete the answer is."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, ModelError
from infospace.data.result import StepResult
from tui.command.common.embedding_model import fetch_missing
from tui.command.common.open_space import open_from
from tui.command.common.whole_number import whole_number
from tui.command.notes.recall import add_recall, show_recall
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space

EXAMPLES = """examples:
  infospace search 'why the re-ranker did not ship'
  infospace search 'decisions about ranking' --limit all --threshold auto
  infospace search 'HNSW ef_construction' --mode hybrid
  infospace search 'HNSW ef_construction' --mode hybrid --explain
  infospace search 'decisions about ranking' --threshold auto --count
  infospace search 'decisions about ranking' --threshold auto --recall 60
  infospace search 'risks' --where "metadata.status = 'open'" --json
  infospace search --where "metadata.status = 'open'" --count"""


USAGE = 2
AUTO = "auto"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="?", help="what to look for, in plain words; may be left out with --where")
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--limit", metavar="N|all", help="at most this many (5; without a query all)")
    how_many.add_argument("--count", action="store_true", help="say how many match, and list none")
    parser.add_argument(
        "--threshold",
        type=_threshold,
        metavar="X|auto",
        help="lowest cosine similarity that counts, -1 to 1, or what space and query ask for (the model's own)",
    )
    parser.add_argument(
        "--mode", choices=["semantic", "keyword", "hybrid"], default="semantic", help="by meaning, by words, or both"
    )
    parser.add_argument("--where", metavar="SQL", help="only notes that satisfy this condition")
    add_recall(parser)
    parser.add_argument("--explain", action="store_true", help="say of each hit what its score is made of")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Search, and show the hits, or how many there are, with the certificate."""
    from infospace.context.invoke import call_directly
    from primitives.discover_notes import discover_notes

    if (refusal := _refusal(args)) is not None:
        out.talk(f"infospace: {refusal}")
        return USAGE
    if args.recall is not None:
        with open_from(args, create=False) as space:
            return show_recall(args, space, out)
    arguments = _arguments(args)
    with open_from(args, create=False) as space, out.progress() as listener:
        result = asyncio.run(call_directly(discover_notes, arguments, space.context(listener=listener, scratch=True)))
        if result.error == ModelError.kind and fetch_missing(space, out):
            result = asyncio.run(
                call_directly(discover_notes, arguments, space.context(listener=listener, scratch=True))
            )
        _locate(result, space)
    if args.count and result.status == "success":
        _show_count(result, out)
    elif out.json:
        out.document(result.to_json())
    elif result.status == "success":
        _show(result, out)
    else:
        out.talk(f"infospace: {result.reason}")
    if result.status == "success":
        return 0
    return USAGE if result.error == Invalid.kind else 1


def _refusal(args: argparse.Namespace) -> str | None:
    """Why options do not go together, None where they do."""
    if args.query is None and args.where is None:
        return "search needs a query, what to look for in plain words, or --where, a condition that chooses notes"
    if args.explain and args.query is None:
        return "--explain needs a query: without one nothing is scored"
    if args.recall is None and args.judge is not None:
        return "--judge says who judges a sample, and --recall draws one: add --recall"
    if args.recall is not None and args.query is None:
        return "--recall needs a query: without one nothing is left out that could be right"
    if args.recall is not None and (args.explain or args.count or args.limit is not None):
        return "--recall takes all notes that match and lists none: leave out --explain, --count and --limit"
    if args.explain and args.count:
        return "--explain says what the scores of hits are made of, and --count lists none: leave one of them out"
    return None


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What is asked of `discover-notes`; to be counted, all notes are compared."""
    results: dict[str, Any] = {"query": args.query, "mode": args.mode, "threshold": args.threshold, "where": args.where}
    if args.count:
        results |= {"limit": 1, "certify": True}
    elif args.limit is not None:
        number = whole_number(args.limit)
        results["limit"] = args.limit if number is None else number
    if args.explain:
        results["explain"] = True
    return {name: value for name, value in results.items() if value is not None}


def _show_count(result: StepResult, out: Output) -> None:
    from tui.text.render import format_count

    certificate: Any = result.extra["certificate"]
    if out.json:
        complete = certificate["unembedded"] == 0
        out.document({"count": certificate["matched"], "complete": complete, "certificate": certificate})
        return
    out.result.print(f"{certificate['matched']}")
    out.talk(format_count(certificate), style="dim")
    _show_remarks(result, out)


def _locate(result: StepResult, space: Space) -> None:
    """Say of each hit where the file of its Note lies."""
    from tui.text.render import location_json

    hits: Any = result.data or []
    with space.store.reading() as snapshot:
        sources = snapshot.briefs([hit["metadata"]["source_id"] for hit in hits])
    for hit, source in zip(hits, sources, strict=True):
        hit["metadata"] |= location_json(source.location)


def _threshold(text: str) -> float | str:
    """Return the number, or `auto`; anything else is refused in a sentence of the parser."""
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number from -1 to 1 nor {AUTO!r}") from None


def _show(result: StepResult, out: Output) -> None:
    from tui.text.render import format_certificate, hits_table, searched_words

    hits: Any = result.data
    if hits:
        out.result.print(hits_table(hits, searched_words(result.extra)))
    certificate: Any = result.extra["certificate"]
    out.talk(format_certificate(certificate), style="dim")
    if hits and "confidence" in certificate:
        out.talk(f"the first is about the question with a probability of {certificate['confidence']:.2f}", style="dim")
    _show_remarks(result, out)


def _show_remarks(result: StepResult, out: Output) -> None:
    for key in ("mismatched", "hint"):
        if result.extra.get(key):
            out.talk(str(result.extra[key]))
