"""The files that the benchmark of imports makes are read as notes of the text that was written into them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from formats import FORMATS, made_notes

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import text_of
from infospace.files.import_files import import_paths


@pytest.mark.parametrize("format_", FORMATS)
def test_made_files_of_every_format_are_imported_whole(format_: str, space: Space, tmp_path: Path) -> None:
    """Each note is there with all of its words."""
    notes = made_notes(3)
    folder = tmp_path / "files"
    folder.mkdir()
    FORMATS[format_](folder, notes)
    done = import_paths(space, [folder], NullListener())
    assert (done.added, done.failed) == (3, [])
    with space.store.reading() as snapshot:
        found = {" ".join(text_of(note.content).split()) for note in snapshot.listing(Kind.NOTE)}
    assert all(any(text in one for one in found) for _, text in notes)
