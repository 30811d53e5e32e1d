"""Changes by hand: a new version of a Note, a name, keeping, deleting, bringing back.

Each is a run of kind `edit`, which can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infospace.core.clock import now
from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Note
from infospace.data.json_text import same
from infospace.data.markdown.body import property_links, read_body
from infospace.files.formats import format_of
from infospace.files.links import is_alive, replaced, settle_run, written
from infospace.journal.rows import CloseRun, OpenRun
from infospace.store.changes import Change, Delete, FreeName, GiveName, JsonNull, Keep, Restore, Revise, Untrack
from infospace.store.protocol import Snapshot, Store, TrackedFile


def edit(store: Store, note: Note, content: JSON, metadata: Mapping[str, JSON], goal: str) -> str | None:
    """Give a Note new content and metadata; return the run, None when nothing is different.

    The links of an imported Markdown Note become those of its new text. Raises Conflict when the Note was changed
    since `note` was read, Invalid for a search result.
    """
    if note.evidence:
        raise Invalid(f"{note.id} is a search result, which stays as it was found", hint="edit its source")
    if same(content, note.content) and same(dict(metadata), dict(note.metadata)):
        return None
    run = store.new_id("run")
    created_by = CreatedBy(run, None, "edit")
    value: JSON | JsonNull = JsonNull() if content is None else content
    changes: list[Change] = [Revise(note.id, value, metadata, note.version, created_by)]
    with store.reading() as snapshot:
        file = next((one for one in snapshot.tracked() if one.note == note.id and not one.part), None)
        links = _new_links(snapshot, file, note.id, content, metadata, created_by)
    if file is None or not links:  # no file is called otherwise before it is written back, so links lead where they did
        return _done(store, run, changes, goal)
    store.commit([*changes, *links], [OpenRun(run, "edit", goal, None, {}, now(), "")])
    settle_run(store, [file.root], created_by)
    return run


def remove(store: Store, identifiers: Sequence[str], goal: str) -> str:
    """Delete resources, all or none, and forget the files that they came from; return the run. Raises NotFound."""
    with store.reading() as snapshot:
        files = [file for file in snapshot.tracked() if file.note in set(identifiers)]
    run = store.new_id("run")
    created_by = CreatedBy(run, None, "rm")
    changes: list[Change] = [Delete(one, created_by) for one in dict.fromkeys(identifiers)]
    changes += [Untrack(file.root, file.path) for file in files]
    return _done(store, run, changes, goal)


def give_name(store: Store, identifier: str, name: str) -> str:
    """Name a resource, and so keep it; return the run. Raises Conflict for a name that another has."""
    change = GiveName(identifier, name) if name else FreeName(identifier)
    return _done(
        store, store.new_id("run"), [change], f"name {identifier} {name!r}" if name else f"unname {identifier}"
    )


def keep(store: Store, identifier: str) -> str:
    """Keep a resource, with the members of a Collection and the ends of a Relation; return the run."""
    return _done(store, store.new_id("run"), [Keep(identifier)], f"keep {identifier}")


def restore(store: Store, identifier: str, version: int) -> str | None:
    """Make a resource as it was at a version, also a deleted one; return the run, None when nothing is different.

    Raises NotFound for a version that is not there, Conflict when it was changed meanwhile.
    """
    goal = f"bring back version {version} of {identifier}"
    with store.reading() as snapshot:
        earlier, brief = snapshot.get(identifier, version), snapshot.briefs([identifier])[0]
        now_is = snapshot.get(identifier) if brief.alive else None
    if isinstance(now_is, Note) and isinstance(earlier, Note):
        return edit(store, now_is, earlier.content, earlier.metadata, goal)
    if now_is is not None and brief.version == version:
        return None
    run = store.new_id("run")
    return _done(store, run, [Restore(identifier, version, CreatedBy(run, None, "restore"), brief.version)], goal)


def _done(store: Store, run: str, changes: Sequence[Change], goal: str) -> str:
    store.commit(changes, [OpenRun(run, "edit", goal, None, {}, now(), ""), CloseRun(run, "success", now())])
    return run


def _new_links(
    snapshot: Snapshot,
    file: TrackedFile | None,
    identifier: str,
    content: JSON,
    metadata: Mapping[str, JSON],
    created_by: CreatedBy,
) -> list[Change]:
    if file is None or not isinstance(content, str) or format_of(file.path) not in ("markdown_file", "html"):
        return []
    links = (*read_body(content).links, *property_links(metadata))
    old = snapshot.links(identifier).get(identifier, [])
    return list(replaced(identifier, old, written(links), created_by, is_alive(snapshot)))
