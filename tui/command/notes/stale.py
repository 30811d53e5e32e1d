"""Which kept things were made from versions that are no longer current.

An input was changed or deleted since, directly or through others; what was put back as it was does not count. What a
search would find today is not looked at: run its plan again, and `diff` the two runs.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tui.command.common.open_space import find, open_from
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.lineage.staleness import ChangedInput, StaleResource

EXAMPLES = """examples:
  infospace stale
  infospace stale 'weekly digest' Note_12
  infospace stale --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("references", nargs="*", metavar="ID|NAME|PATH", help="only these, kept or not; else all kept")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Look, and say what is stale and since when."""
    from infospace.lineage.staleness import staleness

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        asked = [find(snapshot, reference) for reference in args.references] or None
        result = staleness(snapshot, asked)
    if out.json:
        stale = [_json(one) for one in result.stale]
        out.document({"checked": result.checked, "stale": stale, "unknown": list(result.unknown)})
        return 0
    for one in result.stale:
        _show(one, out)
    noun = "resource" if result.checked == 1 else "resources"
    out.talk(f"{len(result.stale):,} of {result.checked:,} {noun} stale", "dim")
    if result.unknown:
        listed = ", ".join(result.unknown[:5]) + (", …" if len(result.unknown) > 5 else "")
        out.talk(f"too little is known of {len(result.unknown):,}, since runs were pruned: {listed}", "yellow")
    return 0


def _json(stale: StaleResource) -> dict[str, Any]:
    from infospace.lineage.graph_json import at, origin_json

    def changed(one: ChangedInput) -> dict[str, Any]:
        origin, by = one.origin, one.origin.latest_made
        deleted = one.what == "deleted"
        return {
            "id": origin.of.id,
            "version": origin.of.version,
            "now": None if deleted else origin.latest,
            "what": one.what,
            "deleted": origin.gone if deleted else None,
            "by": {"run": by.run, "step": by.step, "by": by.by},
            "through": [at(of) for of in one.through],
        }

    return {**origin_json(stale.origin), "changed": [changed(change) for change in stale.changed]}


def _show(stale: StaleResource, out: Output) -> None:
    from infospace.lineage.graph_json import at
    from tui.text.lineage_text import format_origin_name

    created_by = stale.origin.created_by
    by = (
        f"  by {created_by.run}" + (f" step {created_by.step} {created_by.by}" if created_by.step else "")
        if created_by.run
        else ""
    )
    out.text(f"{format_origin_name(stale.origin)}{by}", "bold")
    for change in stale.changed:
        origin, by_made = change.origin, change.origin.latest_made
        if change.what == "deleted":
            message = f"was deleted {origin.gone}"
        else:
            run = f" by {by_made.run}" if by_made.run else ""
            message = f"changed its {change.what}: now version {origin.latest}{run}"
        through = f"  (through {', '.join(at(of) for of in change.through)})" if change.through else ""
        out.text(f"  {format_origin_name(origin)}  {message}{through}")
