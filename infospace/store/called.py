"""Which Notes are called by what a person has of them: the path of an imported file, a title, an alias."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.errors import NotFound
from infospace.core.names import normalise
from infospace.store.protocol import Snapshot
from infospace.store.records import TrackedFile

MOST_TOLD = 8
"""Ids that a sentence names at most."""


def notes_at(snapshot: Snapshot, path: str) -> list[str]:
    """Return the ids of the Notes whose file ends with a path; `#3` behind it is the third row."""
    return list(dict.fromkeys(file.note for file, known in paths(snapshot) if f"/{known}".endswith(f"/{path}")))


def paths(snapshot: Snapshot) -> list[tuple[TrackedFile, str]]:
    """Return the imported files, each with its path under its root, and the row of it."""
    return [(file, file.path + (f"#{file.part}" if file.part else "")) for file in snapshot.tracked()]


def notes_titled(snapshot: Snapshot, title: str, *, exactly: bool = False) -> list[str]:
    """Return the ids of the Notes that have a title, in small letters or capitals; else of those whose alias it is.

    With `exactly`, titles and aliases are compared as names are: as they are written, in NFC.
    """
    spell = normalise if exactly else _fold
    notes, expected = snapshot.space_table("notes", (), ()), spell(title)
    ids, titles, aliases = (notes.column(name) for name in ("@id", "title", "aliases"))
    by_title = [str(one) for one, called in zip(ids, titles, strict=True) if spell(str(called)) == expected]
    return by_title or [
        str(one)
        for one, names in zip(ids, aliases, strict=True)
        if isinstance(names, list) and expected in [spell(str(name)) for name in names]
    ]


def _fold(text: str) -> str:
    return text.strip().casefold()


def titles(snapshot: Snapshot) -> list[str]:
    """Return the titles and aliases of all Notes, each once."""
    notes = snapshot.space_table("notes", (), ())
    results = dict.fromkeys(str(title) for title in notes.column("title") if title)
    for names in notes.column("aliases"):
        results.update(dict.fromkeys(str(name) for name in (names if isinstance(names, list) else ())))
    return list(results)


def notes_called(snapshot: Snapshot, reference: str, *, exactly: bool = False) -> Sequence[str]:
    """Return the ids of the Notes whose file ends with a path, else of those that have it as title or alias."""
    return notes_at(snapshot, reference) or notes_titled(snapshot, reference, exactly=exactly)


def only_note_called(snapshot: Snapshot, reference: str, *, exactly: bool = False) -> str | None:
    """Return the id of the one Note whose file, title or alias it is, None where no Note is called so.

    Raises NotFound, with their ids, where several are.
    """
    called = notes_called(snapshot, reference, exactly=exactly)
    if len(called) > 1:
        listed = ", ".join(called[:MOST_TOLD]) + (", …" if len(called) > MOST_TOLD else "")
        raise NotFound(f"{reference!r:.80} is the path or title of {len(called)} notes: {listed}", hint="give the id")
    return called[0] if called else None
