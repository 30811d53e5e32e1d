"""Titles, aliases and descriptions are embedded beside the text, and again when one of them changes."""

from __future__ import annotations

import numpy as np
import pytest
from store_tools import MODEL, digest, note, waiting

from infospace.core.ids import number_of
from infospace.store.changes import Embed, PassageSpan, Revise, Track, Untrack, Vectors
from infospace.store.note_fields import Field, field_at
from infospace.store.protocol import Store


def embed_all(store: Store) -> None:
    """Embed what waits, its text as one passage, with its fields."""
    with store.reading() as snapshot:
        texts = snapshot.pending()
    for text in texts:
        spans = [PassageSpan(0, len(text.text), digest(text.text))]
        spans += [PassageSpan(*field.bounds, digest(field.text)) for field in text.fields]
        digests = [span.digest for span in spans]
        store.commit(
            [Vectors(MODEL, digests, np.ones((len(spans), 3), np.float32)), Embed(text.id, text.version, spans)]
        )


def fields(store: Store, identifier: str) -> list[tuple[str, int, str]]:
    """The fields of a Note that waits, and that they are those which an embedding is given."""
    number = number_of(identifier)
    with store.reading() as snapshot:
        found = snapshot.fields([number])[number]
        assert [list(text.fields) for text in snapshot.pending(among=[number])] == [found]
    return [tuple(field) for field in found]  # type: ignore[misc]


@pytest.fixture
def space(store: Store) -> Store:
    """A store that needs the vectors of the made model."""
    store.use_model(MODEL)
    return store


class TestWhichFields:
    """What a Note is called, by its metadata, its JSON and its file."""

    @pytest.mark.parametrize(
        ("content", "metadata", "expected"),
        [
            ("text", {}, []),
            ("# Heading\ntext", {}, []),
            ("text", {"title": " Sea "}, [("title", 0, "Sea")]),
            ("text", {"title": 2026}, [("title", 0, "2026")]),
            ("text", {"title": True, "alias": "A"}, [("alias", 0, "A")]),
            ({"title": "Said", "n": 1}, {}, [("title", 0, "Said")]),
            ({"title": ["no"]}, {"description": "About"}, [("description", 0, "About")]),
            (
                "text",
                {"summary": "S", "description": "D", "aliases": ["A", "B", "A", " "]},
                [("alias", 0, "A"), ("alias", 1, "B"), ("description", 0, "D"), ("description", 1, "S")],
            ),
            ("text", {"description": "x" * 1000}, [("description", 0, "x" * 500)]),
        ],
    )
    def test_they_are_read_of_metadata_and_json(
        self, space: Store, content: object, metadata: dict[str, object], expected: list[object]
    ) -> None:
        made = note(space, content, kept=True, **metadata)  # type: ignore[arg-type]
        assert fields(space, made) == expected

    def test_a_file_gives_its_name_where_there_is_no_other_title(self, space: Store) -> None:
        """A row of a file has no title by it."""
        plain, titled, row = (note(space, "x", kept=True, **said) for said in ({}, {"title": "Own"}, {}))
        space.commit(
            [
                Track("/r", "a/The sea.md", plain, b"1", 1),
                Track("/r", "b.md", titled, b"2", 1),
                Track("/r", "t.csv", row, b"3", 1, 7),
            ]
        )
        assert fields(space, plain) == [("title", 0, "The sea")]
        assert fields(space, titled) == [("title", 0, "Own")]
        assert fields(space, row) == []

    def test_a_start_below_zero_says_which_field(self) -> None:
        assert [field_at(Field(kind, 0, "").bounds[0]) for kind in ("title", "alias", "description")] == [
            "title",
            "alias",
            "description",
        ]
        assert [field_at(start) for start in (0, 7, None, -4)] == [None] * 4


class TestEmbeddedAgain:
    """A Note waits when what it is called has changed, and only then."""

    def test_a_new_title_waits_and_other_metadata_do_not(self, space: Store) -> None:
        made = note(space, "text", kept=True, title="Sea")
        embed_all(space)
        assert waiting(space) == []
        space.commit([Revise(made, metadata={"title": "Sea", "n": 2})])
        assert waiting(space) == []
        space.commit([Revise(made, metadata={"title": "Ship", "n": 2})])
        assert waiting(space) == [number_of(made)]
        embed_all(space)
        with space.reading() as snapshot:
            assert [start for _, start, *_ in snapshot.digests([number_of(made)])] == [0, -1]
        assert waiting(space) == []
        space.commit([Revise(made, metadata={})])
        assert waiting(space) == [number_of(made)]
        assert space.check() == []

    def test_a_file_that_is_renamed_or_forgotten_waits(self, space: Store) -> None:
        made = note(space, "text", kept=True)
        embed_all(space)
        space.commit([Track("/r", "a.md", made, b"1", 1)])
        assert waiting(space) == [number_of(made)]
        embed_all(space)
        space.commit([Track("/r", "a.md", made, b"2", 1)])
        assert waiting(space) == []
        space.commit([Untrack("/r", "a.md"), Track("/r", "b.md", made, b"2", 1)])
        assert waiting(space) == [number_of(made)]
        embed_all(space)
        space.commit([Untrack("/r", "b.md")])
        assert waiting(space) == [number_of(made)]
        assert space.check() == []

    def test_what_was_embedded_by_an_earlier_name_goes_on_waiting(self, space: Store) -> None:
        """The file was renamed between reading and writing, which makes no version."""
        made = note(space, "text", kept=True)
        space.commit([Track("/r", "a.md", made, b"1", 1)])
        with space.reading() as snapshot:
            (text,) = snapshot.pending()
        space.commit([Untrack("/r", "a.md"), Track("/r", "b.md", made, b"1", 1)])
        spans = [
            PassageSpan(0, 4, digest("text")),
            *(PassageSpan(*one.bounds, digest(one.text)) for one in text.fields),
        ]
        vectors = Vectors(MODEL, [span.digest for span in spans], np.ones((2, 3), np.float32))
        space.commit([vectors, Embed(made, 1, spans)])
        assert waiting(space) == [number_of(made)]
        embed_all(space)
        assert waiting(space) == []
