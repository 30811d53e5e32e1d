"""Applying a list of changes in their order, those of one type that follow each other at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, get_args

from infospace.store import changes as c
from infospace.store.sqlite.journal import tools
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write import collection_texts as described
from infospace.store.sqlite.write import collections as groups
from infospace.store.sqlite.write import embeddings as discovery
from infospace.store.sqlite.write import files, notes
from infospace.store.sqlite.write import keep as keeping
from infospace.store.sqlite.write import restore as restoring
from infospace.store.sqlite.write.settle_links import settle
from infospace.store.tool_records import ToolChange

_HANDLERS: dict[type[c.Change], Callable[[Transaction, Sequence[Any]], None]] = {
    c.MakeNote: notes.make_notes,
    c.MakeNotes: notes.make_batches,
    c.MakeCollection: groups.make_collections,
    c.MakeRelation: groups.make_relations,
    c.Expect: restoring.expect,
    c.Keep: keeping.keep_all,
    c.GiveName: keeping.give_names,
    c.Revise: groups.revise,
    c.AddMembers: groups.add_members,
    c.RemoveMembers: groups.remove_members,
    c.Delete: notes.delete,
    c.Restore: restoring.restore,
    c.FreeName: keeping.free_names,
    c.Unkeep: restoring.let_go,
    c.Track: files.track,
    c.Untrack: files.untrack,
    c.ExpectLinks: files.expect_links,
    c.SetLinks: files.set_links,
    c.SettleLinks: settle,
    c.Embed: discovery.embed,
    c.Vectors: discovery.store_vectors,
    c.Describe: described.describe,
    c.Query: discovery.remember_queries,
    c.Derived: discovery.note_derived,
    **dict.fromkeys(get_args(ToolChange), tools.change),
}


def apply(work: Transaction, changes: Sequence[c.Change]) -> None:
    """Apply changes. Raises Conflict, NotFound, Invalid for one that does not fit; the caller rolls back."""
    for kind, group in groupby(changes, type):
        _HANDLERS[kind](work, list(group))
