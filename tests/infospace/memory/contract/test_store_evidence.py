"""Search results by reference are read as whole contents."""

from __future__ import annotations

from typing import Any

import pytest
from store_tools import (
    collection,
    get,
    kept,
    note,
    relation,
)

from infospace.core.errors import Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.store.changes import (
    AddMembers,
    Delete,
    Evidence,
    GiveName,
    Keep,
    MakeNote,
    Revise,
)
from infospace.store.protocol import Store


class TestEvidenceReading:
    """Search results by reference are read as whole contents."""

    def cite(self, store: Store, evidence: Evidence) -> Any:
        """Make a search result and return its content as it is read."""
        identifier = store.new_id(Kind.NOTE)
        store.commit([MakeNote(identifier, evidence)])
        found = get(store, identifier)
        assert found.evidence
        with store.reading() as snapshot:
            assert snapshot.evidence([evidence, evidence]) == [found.content] * 2
            assert snapshot.get_many([identifier]) == [found]
            assert found in list(snapshot.listing(Kind.NOTE, kept=False))
        return found.content

    def test_a_text_is_cited_whole_with_its_passage(self, store: Store) -> None:
        """The shape is that of the language, to the last key."""
        source = note(store, "Ünder the sea", uri="file:sea.md", title="Sea")
        assert self.cite(store, Evidence(source, 1, 0.71, 6, 9, {"matched_by": "both"})) == {
            "text": "Ünder the sea",
            "format": "text",
            "metadata": {
                "source_id": source,
                "uri": "file:sea.md",
                "score": 0.71,
                "type": "Note",
                "title": "Sea",
                "passage": {"start": 6, "end": 9, "text": "the", "headings": []},
                "source": {"uri": "file:sea.md", "title": "Sea"},
                "matched_by": "both",
            },
            "char_count": 13,
        }

    def test_a_passage_says_under_which_headings_it_stands(self, store: Store) -> None:
        """The outermost first; one of JSON stands under none, whatever its text begins with."""
        text = "# Sea\n\n## Ships\n\nold\n\n## Fish\n\n### Cod\n\nwhite"
        start = text.index("white")
        found = self.cite(store, Evidence(note(store, text), 1, 0.5, start, len(text)))
        assert found["metadata"]["passage"]["headings"] == ["Sea", "Fish", "Cod"]
        listed = self.cite(store, Evidence(note(store, ["\n# Sea\n"]), 1, 0.5, 1, 4))
        assert listed["metadata"]["passage"]["headings"] == []

    def test_json_is_cited_as_compact_json(self, store: Store) -> None:
        """Keys in stored order; without a passage there is none."""
        found = self.cite(store, Evidence(note(store, {"b": 1, "a": ["ü"]}), 1, 0.5))
        assert (found["text"], found["format"], found["char_count"]) == ('{"b":1,"a":["ü"]}', "json", 17)
        assert found["metadata"]["passage"] is None
        assert found["metadata"]["uri"] is None

    def test_the_found_version_is_cited_whatever_became_of_it(self, store: Store) -> None:
        """Revised or deleted: text and metadata are those of the version."""
        source = note(store, "one", tag=1)
        identifier = store.new_id(Kind.NOTE)
        store.commit([MakeNote(identifier, Evidence(source, 1, 0.5, 0, 3))])
        before = get(store, identifier)
        store.commit([Revise(source, "two", {"tag": 2})])
        assert get(store, identifier) == before
        store.commit([Delete(source)])
        assert get(store, identifier) == before
        latest = self.cite(store, Evidence(source, 2, 0.5))
        assert (latest["text"], latest["metadata"]["source"]) == ("two", {"tag": 2})

    def test_a_title_is_given_or_a_name_or_the_first_line(self, store: Store) -> None:
        """In this order, a number too; the first line that is not blank, cut to 80 characters."""
        plain, blank = note(store, "\n \n  First  \nsecond"), note(store, " \n")
        long, odd, named = note(store, "x" * 100), note(store, "text", title=7), note(store, "text")
        store.commit([GiveName(named, "a name")])
        titles = [
            self.cite(store, Evidence(source, 1, 0.5))["metadata"]["title"]
            for source in (plain, blank, long, odd, named)
        ]
        assert titles == ["First", None, "x" * 79 + "…", "7", "a name"]

    def test_collections_and_relations_can_be_cited(self, store: Store) -> None:
        """A Collection as its items' titles, those of the version; a Relation as its JSON."""
        a, b = note(store, "first\nline"), note(store, "x", title="Second")
        inner = collection(store, [])
        cited = store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(b, 1, 0.5))])
        group = collection(store, [a, inner, cited])
        store.commit([AddMembers(group, [Member(b)]), Revise(group, metadata={"title": "All"})])
        found = self.cite(store, Evidence(group, 1, 0.5))
        assert (found["text"], found["metadata"]["type"]) == (f"first\n{inner}\nSecond", "Collection")
        assert self.cite(store, Evidence(group, 3, 0.5))["metadata"]["title"] == "All"
        arrow = relation(store, a, b)
        found = self.cite(store, Evidence(arrow, 1, 0.5))
        assert found["text"] == f'{{"source":"{a}","target":"{b}","relation":"cites"}}'

    def test_evidence_must_refer_to_a_source_that_exists(self, store: Store) -> None:
        """Not to a version that never was, nor to another search result, nor backwards."""
        a, cited = note(store), store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(a, 1, 0.5))])
        for evidence, error, sentence in (
            (Evidence("Note_99", 1, 0.5), NotFound, "there is no Note_99"),
            (Evidence(a, 2, 0.5), NotFound, f"{a} has no version 2 to be found"),
            (Evidence(cited, 1, 0.5), Invalid, f"{cited} is a search result itself"),
            (Evidence(a, 1, 0.5, 3, 1), Invalid, "a passage from 3 to 1 is none"),
            (Evidence(a, 1, 0.5, 3), Invalid, "a passage from 3 to None is none"),
        ):
            with pytest.raises(error, match=sentence):
                store.commit([MakeNote(store.new_id(Kind.NOTE), evidence)])
        with pytest.raises(NotFound, match="there is no version"), store.reading() as snapshot:
            snapshot.evidence([Evidence(a, 1, 0.5), Evidence(a, 2, 0.5)])

    def test_evidence_is_kept_as_it_is(self, store: Store) -> None:
        """Persisting a Collection of results keeps them, and not their sources."""
        a, cited = note(store), store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(a, 1, 0.5))])
        group = collection(store, [cited])
        store.commit([Keep(group)])
        assert kept(store, cited, a) == [True, False]
        assert get(store, cited).evidence

    def test_in_sets_a_search_result_counts_as_its_source(self, store: Store) -> None:
        """Whichever search found it; what is no search result, or is not there, is itself."""
        a, b = note(store), note(store)
        results = [store.new_id(Kind.NOTE) for _ in range(3)]
        found = zip(results, (Evidence(a, 1, 0.5), Evidence(a, 1, 0.9, 0, 2), Evidence(b, 1, 0.5)), strict=True)
        store.commit([MakeNote(identifier, evidence) for identifier, evidence in found])
        with store.reading() as snapshot:
            asked = [results[0], results[1], results[2], a, b, "Note_99", results[0]]
            assert snapshot.identities(asked) == [a, a, b, a, b, "Note_99", a]
            assert snapshot.identities([]) == []
