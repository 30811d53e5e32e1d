"""The embedding model of a space: which weights, from where, verified or not, and the folder they lie in.

`infospace model get` fetches the weights if they are missing. `infospace model use NAME` gives the space another model:
one that fastembed lists, or a folder with `model.onnx`, `tokenizer.json`, `tokenizer_config.json` and `config.json`.
`sentence-transformers/all-MiniLM-L6-v2-int8` is the default model with weights of 8 bits, made on this machine, which
needs the package `onnx`: it takes half of the processor time and finds a little less.
All notes are then embedded with the new model. Vectors of an earlier model are kept, and used when you go back to it.
An interrupted embedding continues at the next search, or when you call the command again.
`infospace model index` makes the index of vectors in a PostgreSQL database, while others go on; a file needs none made.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.plural import pluralize
from tui.command.common.open_space import address_of, open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.search.models.find import ModelInfo
    from infospace.space import Space
    from infospace.store.protocol import Chosen

EXAMPLES = """examples:
  infospace model
  infospace model get
  infospace model verify --json
  infospace model use BAAI/bge-small-en-v1.5
  infospace model use sentence-transformers/all-MiniLM-L6-v2-int8
  infospace model use ./my-model --space work.db
  infospace model index --space 'postgresql://ann@db.example.org/notes?space=team'"""

CANCELLED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=["show", "get", "verify", "use", "index"],
        default="show",
        help="get: fetch it if missing; verify: check all hashes; use: give the space another model; "
        "index: index the vectors of a space in PostgreSQL",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="for `use`: fastembed's name of a model, or a folder")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show, fetch or verify the weights, or have a space use others."""
    if (args.name is None) == (args.action == "use"):
        wrong = "`model use` needs a model" if args.name is None else f"`model {args.action}` takes no name"
        raise UsageError(wrong, hint="infospace model use NAME")
    if args.action == "use":
        return _use(args, out)
    if args.action == "index":
        return _index(args, out)
    from infospace.search.models.custom import get_named, model_of
    from infospace.search.models.find import verify_model

    with open_from(args, create=False, new=True) as space, space.store.reading() as snapshot:
        chosen = snapshot.chosen()
    if args.action == "get":
        get_named(_name(chosen), out.talk)
    model_info = model_of(chosen)
    if args.action == "verify":
        model_info = verify_model(model_info)
    if out.json:
        out.document(_document(model_info))
    else:
        _show(model_info, out)
    return 0


def _use(args: argparse.Namespace, out: Output) -> int:
    """Find or fetch the model, measure its threshold, keep the choice, and embed what is to be embedded."""
    from infospace.search.models.switch import choose, inspect_model

    try:
        looked = inspect_model(args.name, out.talk)
    except NotFound as error:
        raise UsageError(error.message, hint=error.hint) from error
    embedded, cancelled = 0, False
    with open_from(args, create=True) as space:
        choose(space, looked)
        started = time.perf_counter()
        with out.progress() as listener:
            try:
                embedded = space.embedding.catch_up(listener)
            except KeyboardInterrupt:
                cancelled = True
        seconds = time.perf_counter() - started
        pending = _pending(space)
    if out.json:
        done = {"passages_embedded": embedded, "pending": pending, "seconds": round(seconds, 3)}
        out.document(_document(looked.info) | done)
    else:
        _show(looked.info, out)
        out.text(f"  embedded   {pluralize(embedded, 'passage')}, {seconds:.1f} s, {embedded / seconds:,.0f} a second")
    if pending:
        out.talk(f"{pluralize(pending, 'note')} left; the same command goes on from there, and so do searches")
    return CANCELLED if cancelled else 0


def _index(args: argparse.Namespace, out: Output) -> int:
    """Have the database index the vectors, and say how large the index is."""
    address = address_of(args)
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"{address!r} is no database: a space in a file indexes its vectors by itself",
            hint="`infospace help searching` says from how many on",
        )
    from infospace.store.postgres.vector_index import build_index

    try:
        with out.progress() as listener:
            result = build_index(address, listener)
    except (NotFound, Conflict, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error
    except KeyboardInterrupt:
        out.talk("nothing is left of the index; searches stay exact")
        return CANCELLED
    if out.json:
        done = {"status": "success", "passages": result.passages, "bytes": result.bytes}
        out.document(done | {"seconds": round(result.seconds, 3)})
        return 0
    took = f", {result.seconds:.1f} s" if result.seconds else ", which were there already"
    out.text(f"indexed {pluralize(result.passages, 'passage')}, {result.bytes / 1e6:,.1f} MB{took}")
    return 0


def _name(chosen: Chosen | None) -> str:
    from infospace.search.models.find import DEFAULT_MODEL

    return DEFAULT_MODEL if chosen is None else chosen.name


def _pending(space: Space) -> int:
    with space.store.reading() as snapshot:
        return snapshot.pending_count()


def _document(model_info: ModelInfo) -> dict[str, Any]:
    return {
        "model": model_info.name,
        "folder": str(model_info.folder),
        "origin": model_info.origin,
        "verified": model_info.verified,
        "dimension": model_info.dimension,
        "threshold": model_info.threshold,
    }


def _show(model_info: ModelInfo, out: Output) -> None:
    out.text(model_info.name)
    out.text(f"  folder     {model_info.folder}")
    out.text(f"  origin     {model_info.origin}")
    out.text(f"  verified   {'yes' if model_info.verified else 'no'}")
    out.text(
        f"  dimension  {model_info.dimension}, at most {model_info.max_tokens} tokens a passage, "
        f"threshold {model_info.threshold}"
    )
