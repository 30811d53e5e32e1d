"""Find notes by what they are about, with proof of how complete the answer is."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, ModelError
from infospace.data.result import StepResult
from tui.command.common.embedding_model import fetch_missing
from tui.command.common.open_space import open_from
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space

EXAMPLES = """examples:
  infospace search 'why the re-ranker did not ship'
  infospace search 'decisions about ranking' --limit all --threshold auto
  infospace search 'HNSW ef_construction' --mode hybrid
  infospace search 'risks' --where "metadata.status = 'open'" --json"""


USAGE = 2
AUTO = "auto"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", help="what to look for, in plain words")
    parser.add_argument("--limit", default="5", metavar="N|all", help="at most this many (5)")
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


def execute(args: argparse.Namespace, out: Output) -> int:
    """Search, and show the hits with the certificate."""
    from infospace.context.invoke import call_directly
    from primitives.discover_notes import discover_notes

    arguments: dict[str, Any] = {
        "query": args.query,
        "limit": int(args.limit) if _is_number(args.limit) else args.limit,
    }
    if args.threshold is not None:
        arguments["threshold"] = args.threshold
    arguments["mode"] = args.mode
    if args.where is not None:
        arguments["where"] = args.where
    with open_from(args, create=False) as space, out.progress() as listener:
        found = asyncio.run(call_directly(discover_notes, arguments, space.view(listener=listener, scratch=True)))
        if found.error == ModelError.kind and fetch_missing(space, out):
            found = asyncio.run(call_directly(discover_notes, arguments, space.view(listener=listener, scratch=True)))
        _locate(found, space)
    if out.json:
        out.document(found.to_json())
    elif found.status == "success":
        _show(found, out)
    else:
        out.talk(f"infospace: {found.reason}")
    if found.status == "success":
        return 0
    return USAGE if found.error == Invalid.kind else 1


def _locate(found: StepResult, space: Space) -> None:
    """Say of each hit where the file of its Note lies."""
    from tui.text.render import location_json

    hits: Any = found.data or []
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


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal()


def _show(found: StepResult, out: Output) -> None:
    from tui.text.render import format_certificate, hits_table, searched_words

    hits: Any = found.data
    if hits:
        out.result.print(hits_table(hits, searched_words(found.extra)))
    certificate: Any = found.extra["certificate"]
    out.talk(format_certificate(certificate), style="dim")
    for told in ("mismatched", "hint"):
        if found.extra.get(told):
            out.talk(str(found.extra[told]))
