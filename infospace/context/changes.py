"""What a step made and changed, before it is committed."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.batch_notes import ResultNotes
from infospace.core.errors import NotFound
from infospace.core.ids import Kind, is_id, kind_of, number_of
from infospace.core.resources import Note, Resource
from infospace.data import result_identity as identity
from infospace.store.changes import Evidence


class PendingChanges:
    """What a step made and changed, before it is committed. One of a part of the step sees the `outer` one too."""

    def __init__(self, outer: PendingChanges | None = None) -> None:
        self.made: dict[str, Resource | Evidence] = {}
        self.batches: list[ResultNotes] = []
        """Notes that were made many of at once."""
        self.changed: dict[str, Resource | None] = {}
        """Resources as they are then; None for what was deleted."""
        self.names: dict[str, str] = {}
        """The ids of who was given which name."""
        self._outer = outer

    @property
    def empty(self) -> bool:
        """Whether nothing was made or changed."""
        return not (self.made or self.changed or self.batches) and (self._outer is None or self._outer.empty)

    def find(self, identifier: str) -> Resource | Evidence | None:
        """Return what was made, or made of a resource; None for what is as it is stored. NotFound when deleted."""
        if identifier in self.changed:
            changed = self.changed[identifier]
            if changed is None:
                raise NotFound(f"{identifier} was deleted by this step", hint="delete last what is still read")
            return changed
        if identifier in self.made:
            return self.made[identifier]
        if self.batches and (note := self._of_batch(identifier)) is not None:
            return note
        return None if self._outer is None else self._outer.find(identifier)

    def _of_batch(self, identifier: str) -> Note | None:
        if not is_id(identifier) or kind_of(identifier) is not Kind.NOTE:
            return None
        number = number_of(identifier)
        return next((batch[number - batch.first] for batch in self.batches if number in batch.numbers), None)

    def has_made(self, identifier: str) -> bool:
        """Whether a resource was made here, and not in an outer part."""
        return identifier in self.made or (bool(self.batches) and self._of_batch(identifier) is not None)

    def named(self, name: str) -> str | None:
        """Return the id of who was given a name, None where the step gave it to nothing."""
        return self.names.get(name) or (None if self._outer is None else self._outer.named(name))

    def merge(self, other: PendingChanges) -> None:
        """Take over what a part of the step made and changed."""
        self.names |= other.names
        self.made |= other.made
        self.batches += other.batches
        self.changed |= other.changed

    def identities(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Return what resources that were made or changed count as in sets, by id; others are left out."""
        results = {}
        for identifier in identifiers:
            draft = self.find(identifier)
            if isinstance(draft, Evidence):
                results[identifier] = identity.of_evidence(draft.source, draft.start, draft.end, passage=draft.passage)
            elif isinstance(draft, Note) and draft.evidence:
                results[identifier] = identity.of_own_evidence(identifier, draft.content)
            elif draft is not None:
                results[identifier] = identifier
        return results
