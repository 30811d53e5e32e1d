"""A new version of a Note by hand: one run of kind `edit`."""

from __future__ import annotations

from collections.abc import Mapping

from infospace.clock import now
from infospace.errors import Invalid
from infospace.jsontext import same
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, Null, Revise
from infospace.memory.links import is_alive, replaced, settle, written
from infospace.memory.markdown import parse, to_markdown
from infospace.memory.readers import format_of
from infospace.memory.store import Snapshot, Store, Tracked
from infospace.resources import Made, Note
from infospace.runs.journal import Beat, CloseRun, OpenRun


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
    made = Made(run, None, "edit")
    value: JSON | Null = Null() if content is None else content
    changes: list[Change] = [Revise(note.id, value, metadata, note.version, made)]
    with store.reading() as snapshot:
        file = next((one for one in snapshot.tracked() if one.note == note.id and not one.part), None)
        changes += _new_links(snapshot, file, note.id, content, made)
    store.commit(changes, [OpenRun(run, "edit", goal, None, {}, now(), "")])
    roots = [] if file is None else [file.root]
    settle(store, roots, lambda: made, lambda links: store.commit(links, [Beat(run, "", now())]))
    store.commit([], [CloseRun(run, "success", now())])
    return run


def _new_links(snapshot: Snapshot, file: Tracked | None, identifier: str, content: JSON, made: Made) -> list[Change]:
    if file is None or not isinstance(content, str) or format_of(file.path) not in ("marked", "hypertext"):
        return []
    links = parse(to_markdown(content, {})).links
    old = snapshot.links(identifier).get(identifier, [])
    return list(replaced(identifier, old, written(links), made, is_alive(snapshot)))
