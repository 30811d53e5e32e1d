"""What processes said they committed, and whether a space has it: all of a commit, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from infospace import Collection, InfospaceError, Note, NotFound
from infospace.core.ids import Kind, kind_of, number_of
from infospace.data.json_text import dump
from infospace.journal.rows import CloseRun, Entry, OpenRun, StepRow
from infospace.store import changes as c
from infospace.store.note_fields import text_digest
from infospace.store.protocol import Snapshot, Store

SHARED_NOTE, SHARED_GROUP = "Note_1", "Collection_1"
"""What every process changes; all else belongs to one of them."""

Fact = list[Any]
Key = tuple[Any, ...]
Tell = Callable[[dict[str, Any]], None]


class Telling:
    """A store that says before each commit what it is about to do, and afterwards that it is done."""

    def __init__(self, store: Store, tell: Tell) -> None:
        self._store = store
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def new_id(self, kind: Any) -> str:
        """Give an id out, and say so."""
        identifier = self._store.new_id(kind)
        self._tell({"id": identifier})
        return identifier

    def commit(self, changes: Sequence[c.Change], entries: Sequence[Entry] = ()) -> int:
        """Commit, and say so."""
        self._tell({"try": [*(fact for change in changes for fact in facts(change)), *map(_entry, entries)]})
        try:
            generation = self._store.commit(changes, entries)
        except InfospaceError:
            self._tell({"not": True})
            raise
        self._tell({"done": generation})
        return generation


def facts(change: c.Change) -> list[Fact]:
    """Return what must hold once a change was committed."""
    match change:
        case c.MakeNote():
            return [["note", change.id, 1, digest(change.content)], *([["kept", change.id]] if change.kept else [])]
        case c.Revise(if_version=int(version)) if change.content is not None:
            return [["note", change.id, version + 1, digest(change.content)]]
        case c.MakeCollection():
            return [["group", change.id, [member.id for member in change.members]]]
        case c.AddMembers():
            return [["add", change.id, [member.id for member in change.members]]]
        case c.RemoveMembers():
            return [["remove", change.id, list(change.members)]]
        case c.Keep():
            return [["kept", change.id]]
        case c.GiveName():
            return [["name", change.id, change.name], ["kept", change.id]]
        case c.Delete() if kind_of(change.id) is not Kind.RELATION:  # these go with their ends, whoever made them
            return [["gone", change.id]]
        case c.Track():
            return [["file", change.root, change.path, change.part, change.note]]
        case c.Untrack():
            return [["file", change.root, change.path, change.part, None]]
        case c.Embed():
            fields = [span.digest.hex() for span in change.stretches if span.start < 0]
            return [["embedded", change.id, change.version, fields]]
        case _:
            return []


def _entry(entry: Entry) -> Fact:
    match entry:
        case OpenRun():
            return ["run", entry.run, "running"]
        case CloseRun():
            return ["run", entry.run, entry.status]
        case StepRow():
            return ["step", entry.run, entry.sequence, entry.status]
        case _:
            return ["alive", entry.run]


def digest(content: Any) -> str:
    """Return a digest of content; all search results have one."""
    if isinstance(content, c.Evidence):
        return "evidence"
    return sha256(dump(None if isinstance(content, c.JsonNull) else content).encode()).hexdigest()


class Ledger:
    """What a space must hold, as one value by key; None means that there is no such thing."""

    def __init__(self) -> None:
        self.truth: dict[Key, Any] = {}
        self.groups: dict[str, list[str]] = {}

    def after(self, told: Iterable[Fact]) -> dict[Key, Any]:
        """Return what is different once these facts hold, and take them for true."""
        new: dict[Key, Any] = {}
        for fact in told:
            new |= self._one(fact)
        self.truth |= new
        return new

    def _one(self, fact: Fact) -> dict[Key, Any]:
        match fact:
            case ["note", identifier, version, said]:
                new = {("alive", identifier): True} if version == 1 else {}
                return {("note", identifier, version): said, **new}
            case ["kept", identifier]:
                return {("kept", identifier): True}
            case ["group", identifier, _] if identifier == SHARED_GROUP:
                return {("alive", identifier): True}
            case ["group", identifier, members]:
                self.groups[identifier] = list(members)
                return {("group", identifier): list(members), ("alive", identifier): True}
            case ["add", group, members] if group == SHARED_GROUP:
                return {("in", group, member): True for member in members}
            case ["add", group, members]:
                return self._regroup(group, [*self.groups[group], *members])
            case ["remove", group, members]:
                return self._regroup(group, [one for one in self.groups[group] if one not in members])
            case ["name", identifier, name]:
                return {("name", name): identifier}
            case ["file", root, path, part, note]:
                return {("file", root, path, part): note}
            case ["embedded", identifier, version, fields]:
                return {("embedded", identifier, version, tuple(fields)): True}
            case ["run", run, status]:
                return {("run", run): status}
            case ["step", run, sequence, status]:
                return {("step", run, sequence): status}
            case ["gone", identifier]:
                return self._gone(identifier)
        return {}

    def _regroup(self, group: str, members: list[str]) -> dict[Key, Any]:
        self.groups[group] = members
        return {("group", group): members}

    def _gone(self, identifier: str) -> dict[Key, Any]:
        lost: dict[Key, Any] = {("alive", identifier): None, ("kept", identifier): None}
        for key, value in self.truth.items():
            if value == identifier and key[0] in ("name", "file"):
                lost[key] = None
        lost |= {key: None for key in self.truth if key[0] == "in" and key[2] == identifier}
        for group, members in self.groups.items():
            if identifier in members:
                lost |= self._regroup(group, [one for one in members if one != identifier])
        return lost


class Reader:
    """A space's own answers to the keys of a ledger, from one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._files = {(one.root, one.path, one.part): one.note for one in snapshot.tracked()}
        self._pending = set(snapshot.pending_numbers().tolist())
        self._shared = {member.id for member in snapshot.get(SHARED_GROUP).members}
        self._steps: dict[str, dict[int, str]] = {}

    def value(self, key: Key) -> Any:
        """Return what the space has for a key, None where it has nothing."""
        try:
            return self._read(key)
        except NotFound:
            return None

    def _read(self, key: Key) -> Any:
        snapshot = self._snapshot
        match key:
            case ("note", identifier, version):
                note = snapshot.get(identifier, version)
                return "evidence" if isinstance(note, Note) and note.evidence else digest(note.content)
            case ("alive", identifier):
                return snapshot.get(identifier) is not None
            case ("kept", identifier):
                return snapshot.get(identifier).kept or None
            case ("group", identifier):
                group = snapshot.get(identifier)
                return [member.id for member in group.members] if isinstance(group, Collection) else None
            case ("in", _, member):
                return member in self._shared or None
            case ("name", name):
                return snapshot.named(name)
            case ("file", *place):
                return self._files.get(tuple(place))
            case ("embedded", identifier, version, fields):
                number = number_of(identifier)
                if number not in self._pending or snapshot.get(identifier).version != version:
                    return True
                now = [text_digest(field.text).hex() for field in snapshot.fields([number])[number]]
                return None if now == list(fields) else True  # its file has another name since
            case ("run", run):
                return snapshot.run(run).status
            case ("step", run, sequence):
                if run not in self._steps:
                    self._steps[run] = {row.sequence: row.status for row in snapshot.steps(run)}
                return self._steps[run].get(sequence)
        raise LookupError(key)

    def differences(self, wanted: dict[Key, Any]) -> dict[Key, tuple[Any, Any]]:
        """Return what is not as wanted, with what was wanted and what there is."""
        found = {key: (value, self.value(key)) for key, value in wanted.items()}
        return {key: pair for key, pair in found.items() if pair[0] != pair[1]}
