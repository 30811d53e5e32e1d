"""Who types a title, an alias or a description gets its note first, with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.search.index.consistency import disagreements
from infospace.search.query import SearchQuery
from infospace.store.changes import MakeNote

PAGES = {
    "Attach files": "You can put pictures and sounds into any of your notes by dragging them there.",
    "Add tags": "Words that begin with a number sign sort your notes. Dragging a picture attaches a file.",
    "Daily note": "A note of its own for each day. It has a template, tags and attached pictures.",
    "Import": "---\naliases: [Move from another app]\ndescription: How to bring your data here\n---\nChoose a folder.",
    "Keys": "---\ntitle: Keyboard shortcuts\n---\nHold a modifier and press a letter to add tags or attach files.",
}


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """A vault whose files have their titles as names."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    opened = open_space(tmp_path / "space.db")
    import_paths(opened, [folder], NullListener())
    return opened


def first(space: Space, query: str, mode: str) -> str:
    """The file that is found first."""
    found = space.search.find(SearchQuery(query, 5, None, mode), NullListener())  # type: ignore[arg-type]
    note = space.store.get(found.hits[0].source)
    assert note.location is not None
    hit = found.hits[0]
    text = str(note.content)
    assert hit.start is not None
    assert text[hit.start : hit.end] == text.strip()
    return Path(note.location.path).stem


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_title_an_alias_and_a_description_find_their_note_first(space: Space, mode: str) -> None:
    """The passage is one of the text all the same."""
    for query, file in (
        *((name, name) for name in PAGES if name != "Keys"),
        ("keyboard shortcuts", "Keys"),
        ("move from another app", "Import"),
        ("how to bring your data here", "Import"),
    ):
        assert first(space, query, mode) == file, query
    assert disagreements(space) == []


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("import", "Import"),
        ("Move from ANOTHER app!", "Import"),
        ("keyboard shortcuts", "Keys"),
        ("add tags", "Add tags"),
    ],
)
def test_a_search_by_words_has_a_whole_title_before_texts_that_repeat_its_words(
    space: Space, query: str, file: str
) -> None:
    """Before a note that has the same words in its own title too, though it has more; its score is the highest."""
    for number in range(12):
        text = "Import and add: move tags from another app by keyboard shortcuts. " * 20
        words = {"title": "How to import: add tags, move from another app, keyboard shortcuts", "description": text}
        note = space.store.new_id(Kind.NOTE)
        space.store.commit([MakeNote(note, f"{text} {number}", words, kept=True)])
    hits = space.search.find(SearchQuery(query, 5, None, "keyword"), NullListener()).hits
    location = space.store.get(hits[0].source).location
    assert location is not None
    assert Path(location.path).stem == file
    scores = [hit.score or 0.0 for hit in hits]
    assert scores[0] > scores[1] > 0
    assert scores == sorted(scores, reverse=True)


def test_part_of_a_title_is_no_whole_title(space: Space) -> None:
    """Nor is a title with more behind it: what stands first then is BM25's."""
    with space.store.reading() as snapshot:
        found = {query: snapshot.keyword_matches(query) for query in ("attach files", "files", "attach files to notes")}
    assert {query: len(words.titled) for query, words in found.items() if words is not None} == {
        "attach files": 1,
        "files": 0,
        "attach files to notes": 0,
    }
