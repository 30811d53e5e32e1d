"""Why something is here: the run, step and inputs that made it, back to its sources.

Of each version; of a search result its source, score and query; of an imported note its file. With --forward, what
was made of it. With --prov, as a W3C PROV-JSON document. Of a run, all that it made.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from infospace.core.ids import is_run_id
from tui.command.common.open_space import find, open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.journal.rows import Use
    from infospace.lineage.graph import Graph
    from infospace.space import Space
    from infospace.store.protocol import Snapshot

EXAMPLES = """examples:
  infospace why Note_12
  infospace why 'weekly digest' --depth 10
  infospace why retrieval/bm25.md --forward
  infospace why run_3 --prov > run_3.prov.json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="ID|NAME|PATH", help="what to ask about; also a run's id")
    parser.add_argument("--version", type=int, metavar="N", dest="at", help="of this version alone")
    parser.add_argument("--forward", action="store_true", help="what was made of it, directly or through others")
    parser.add_argument("--prov", action="store_true", help="as a W3C PROV-JSON document")
    parser.add_argument("--depth", type=int, default=6, metavar="N", help="levels that are shown for reading (6)")
    parser.add_argument("--width", type=int, default=8, metavar="N", help="inputs of each that are shown (8)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show where resources came from, or with `--forward` what came of them."""
    if args.forward and args.prov:
        raise UsageError("--prov tells where things came from, and --forward what came of them", hint="give one")
    with open_from(args, create=False) as space:
        with space.store.reading() as snapshot:
            roots = _roots(snapshot, args.reference, args.at)
            graph = _graph(snapshot, roots, forward=args.forward)
            identity = space.store.identity
        if args.prov:
            from infospace.lineage.prov_json import prov_json

            out.document(prov_json(graph, identity, lambda type_: _package(space, type_)))
            return 0
    if out.json:
        from infospace.lineage.graph_json import graph_json

        out.document({"of": args.reference, "forward": args.forward, **graph_json(graph)})
        return 0
    from tui.text.lineage_text import ancestry

    for line, style, _ in ancestry(graph, depth=max(1, args.depth), width=max(1, args.width)):
        out.text(line, style)
    return 0


def _graph(snapshot: Snapshot, roots: list[Use], *, forward: bool) -> Graph:
    from infospace.lineage.trace import trace, trace_forward

    return trace_forward(snapshot, roots) if forward else trace(snapshot, roots)


def _roots(snapshot: Snapshot, reference: str, version: int | None) -> list[Use]:
    from infospace.journal.rows import Use
    from infospace.lineage.trace import versions_of

    if is_run_id(reference):
        if version is not None:
            raise UsageError(f"{reference} is a run, which has no versions", hint="name a resource")
        snapshot.run(reference)
        uses = [product.of for product in snapshot.products([reference])]
        if not uses:
            raise Invalid(f"{reference} made nothing", hint=f"`infospace show {reference}` shows its steps")
        return uses
    identifier = find(snapshot, reference)
    if version is None:
        return versions_of(snapshot, identifier)
    snapshot.get(identifier, version)
    return [Use(identifier, version)]


def _package(space: Space, type_: str) -> str | None:
    """The Python package that a step's type comes from, or the server of a tool; None for the language's own forms."""
    entry = space.catalogue.find(type_)
    if entry is not None:
        return entry.call.__module__.partition(".")[0]
    server, slash, _ = type_.partition("/")
    return server if slash else None
