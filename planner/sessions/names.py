"""Sessions by name: a Note says which run each of them is."""

from __future__ import annotations

from typing import Any

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.names import name_error, normalise
from infospace.core.resources import CreatedBy, Note
from infospace.data.paths import nearest
from infospace.journal.rows import FINISHED, RunRow
from infospace.store.changes import Change, GiveName, MakeNote, Revise
from infospace.store.protocol import Snapshot, Store
from infospace.store.scoped_store import SESSION, sessions_of

PREFIX = SESSION
"""What the name of the Note begins with that says which run a session is: infrastructure, left out of discovery."""


def full_name(name: str, owner: str | None = None) -> str:
    """Return the name of the Note of a session, of one that is its owner's alone. Raises Invalid for no name."""
    full = sessions_of(owner) + normalise(name)
    fault = name_error(name) or name_error(full)
    if fault is not None:
        raise Invalid(f"a session cannot be called {name!r:.60}: {fault.message}", hint=fault.hint)
    return full


def open_run(snapshot: Snapshot, full: str) -> RunRow | None:
    """Return the run that an open session is, None where there is none of that name."""
    note = _note(snapshot, full)
    run = None if note is None else _run_of(snapshot, note)
    return None if run is None or run.status in FINISHED else run


def not_open(snapshot: Snapshot, name: str, owner: str | None = None) -> str | None:
    """Say that no session of a name is open, and which was probably meant; None where it is."""
    full, prefix = full_name(name, owner), sessions_of(owner)
    if open_run(snapshot, full) is not None:
        return None
    others = (other for other in snapshot.names() if other.startswith(prefix))
    near = nearest(name, [other.removeprefix(prefix) for other in others if open_run(snapshot, other) is not None])
    return f"no session {name!r} is open" + (f"; did you mean {near!r}?" if near else "")


def name_of(snapshot: Snapshot, run: str) -> str | None:
    """Return the name of the session that a run is, None where it has none."""
    for full in snapshot.names():
        if not full.startswith(PREFIX):
            continue
        note = snapshot.get(str(snapshot.named(full)))
        if isinstance(note, Note) and isinstance(note.content, dict) and note.content.get("run") == run:
            return full.removeprefix(PREFIX)
    return None


def naming(store: Store, full: str, run: str) -> list[Change]:
    """Return the changes by which a name means a run, whatever session it meant before; they are none of its steps'."""
    created_by = CreatedBy(None, None, "session")
    with store.reading() as snapshot:
        note = _note(snapshot, full)
    if note is not None:
        return [Revise(note.id, {"run": run}, if_version=note.version, created_by=created_by)]
    identifier = store.new_id(Kind.NOTE)
    return [MakeNote(identifier, {"run": run}, kept=True, created_by=created_by), GiveName(identifier, full)]


def _note(snapshot: Snapshot, full: str) -> Note[Any] | None:
    identifier = snapshot.named(full)
    if identifier is None:
        return None
    note = snapshot.get(identifier)
    if not isinstance(note, Note) or not isinstance(note.content, dict):
        message = f"{identifier} has the name {full!r}, and is not a record of a session"
        raise Conflict(message, hint="give it another name")
    return note


def _run_of(snapshot: Snapshot, note: Note[Any]) -> RunRow | None:
    try:
        return snapshot.run(str(note.content.get("run")))
    except NotFound:
        return None
