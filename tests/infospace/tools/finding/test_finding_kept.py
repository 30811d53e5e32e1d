"""What finding keeps in the space, what it does without a model, and how it stands many tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_tools import made_tools
from tiny_model import make_model

from infospace import Space, open_space
from infospace.core.listener import NullListener
from infospace.core.tool import Tool
from infospace.search.embedding.embedder import Embedder
from infospace.store.note_fields import text_digest as digest_of
from infospace.tools.scope import Filters, Scope
from infospace.tools.search.finder import CORPORA, EMBEDDED_AT_ONCE, Finder
from infospace.tools.search.results import CallExample, ToolQuery

TOOLS = made_tools()


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of tools that were embedded, as they are embedded."""
    texts: list[str] = []
    real = Embedder.embed

    def embed(self: Embedder, some: Sequence[str], *rest: Any) -> Any:
        texts.extend(some)
        return real(self, some, *rest)

    monkeypatch.setattr(Embedder, "embed", embed)
    return texts


def test_only_changed_texts_are_embedded_again(space: Space, embedded: list[str]) -> None:
    """By whoever opens the space, and whatever else of a tool has changed."""
    Finder(space.embedding).find(TOOLS, ToolQuery("read a file"))
    assert len(embedded) == len(set(embedded))
    embedded.clear()
    told = [replace(tool, description="Play a song.") if tool.name == "push_files" else tool for tool in TOOLS]
    Finder(space.embedding).find(told, ToolQuery("read a file"))
    assert [text.split()[:3] for text in embedded] == [["Play", "a", "song."]]
    embedded.clear()
    away = [replace(tool, connected=False, blocked=True, created="2026") for tool in told]
    Finder(space.embedding).find(away, ToolQuery("read a file"))
    assert embedded == []


def test_the_lists_that_were_searched_last_stay_read(space: Space) -> None:
    """So many of them; a list that is searched once more is not read anew."""
    finder, lists = Finder(space.embedding), [TOOLS[at : at + 2] for at in range(CORPORA + 1)]
    read = [finder._corpus(tools) for tools in lists[:-1]]
    assert [finder._corpus(tools) for tools in lists[:-1]] == read
    finder._corpus(lists[-1])
    assert [finder._corpus(tools) for tools in lists[1:-1]] == read[1:]
    assert finder._corpus(lists[0]) is not read[0]


def test_what_is_compared_is_embedded_once(space: Space, embedded: list[str]) -> None:
    """By whoever compares, and also for a search after that."""
    finder = Finder(space.embedding)
    first = finder.similar(TOOLS, TOOLS[0], 3)
    assert len(embedded) == len(set(embedded)) > 0
    embedded.clear()
    assert finder.similar(TOOLS, TOOLS[0], 3) == first
    finder.find(TOOLS, ToolQuery("read a file"))
    Finder(space.embedding).similar(TOOLS, TOOLS[1], 3)
    assert embedded == []
    assert [alike.tool for alike in first[0]].count(TOOLS[0]) == 0
    assert [len(finder.similar(TOOLS, TOOLS[0], limit)[0]) for limit in (0, 1, 3)] == [0, 1, 3]


def test_after_all_is_embedded_the_first_search_embeds_its_request_alone(
    space: Space, embedded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither tools nor the everyday requests that it compares with."""
    asked: list[str] = []
    embed = Embedder.embed_queries

    def noted(self: Embedder, texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(Embedder, "embed_queries", noted)
    assert Finder(space.embedding).embed(TOOLS, NullListener()) is None
    assert len(embedded) > 0
    embedded.clear()
    asked.clear()
    Finder(space.embedding).find(TOOLS, ToolQuery("read a file"))
    assert (embedded, asked) == ([], ["read a file"])


def test_no_purge_takes_the_vectors_of_tools(space: Space, embedded: list[str]) -> None:
    """Which no Note and no Collection has."""
    from infospace.core.ids import Kind
    from infospace.core.listener import NullListener
    from infospace.store.changes import MakeNote

    space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), "A note.", kept=True)])
    space.embedding.catch_up(NullListener())
    Finder(space.embedding).find(TOOLS, ToolQuery("read a file"))
    space.store.purge(really=True)
    embedded.clear()
    Finder(space.embedding).find(TOOLS, ToolQuery("write a file"))
    assert embedded == []
    assert space.store.check() == []


def test_a_space_that_nobody_may_write_to_is_searched_all_the_same(tmp_path: Path) -> None:
    """Its tools are embedded for as long as it is open."""
    with open_space(tmp_path / "missing.db", create=False) as space:
        found = space.finder.find(TOOLS, ToolQuery("read a file"))
        assert found.hits[0].tool.name == "read_file"
        assert found.degraded is None
    assert not (tmp_path / "missing.db").exists()


def test_another_model_has_vectors_of_its_own(
    space: Space, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedded: list[str]
) -> None:
    """Of another size; those of the first are there again when it is used again."""
    first = space.finder.find(TOOLS, ToolQuery("read a file"))
    count = len(embedded)
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(make_model(tmp_path / "tiny")))
    with open_space(space.store.address) as other:
        found = other.finder.find(TOOLS, ToolQuery("read a file", filters=Filters(min_score=0)))
        assert (len(found.hits), found.degraded) == (10, None)
        assert len(embedded) == 2 * count
    monkeypatch.delenv("INFOSPACE_MODEL_DIR")
    with open_space(space.store.address) as again:
        assert again.finder.find(TOOLS, ToolQuery("read a file")) == first
        assert len(embedded) == 2 * count


def test_without_a_model_words_alone_are_searched_and_that_is_said(
    space: Space, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the words of what is missing."""
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(tmp_path / "no model"))
    for mode in ("hybrid", "semantic"):
        found = space.finder.find(TOOLS, ToolQuery("read a file", mode=mode))  # type: ignore[arg-type]
        assert found.hits[0].tool.name == "read_file"
        assert found.hits[0].matched_by == ("words",)
        assert "by words alone" in str(found.degraded)
    assert space.finder.find(TOOLS, ToolQuery("read a file", mode="keyword")).degraded is None


def test_tools_that_wait_to_be_embedded_are_found_by_words(
    space: Space, monkeypatch: pytest.MonkeyPatch, embedded: list[str]
) -> None:
    """A search embeds for so long as it may; what it leaves is said, and done by the next."""
    monkeypatch.setenv("INFOSPACE_EMBED_SECONDS", "0")
    found = space.finder.find(TOOLS, ToolQuery("read a file"))
    assert found.hits[0].tool.name == "read_file"
    assert found.degraded == "13 of 13 tools wait to be embedded, and are found by words alone"
    assert embedded == []
    monkeypatch.delenv("INFOSPACE_EMBED_SECONDS")
    later = space.finder.find(TOOLS, ToolQuery("read a file"))
    assert later.degraded is None
    assert "meaning" in later.hits[0].matched_by


def many(count: int) -> list[Tool]:
    """Return made tools of fifty servers."""
    verbs, things = ("get", "list", "create", "delete", "update"), ("invoice", "user", "ticket", "route", "sensor")
    return [
        Tool(
            f"server{at % 50}",
            f"{verbs[at % 5]}_{things[at // 5 % 5]}_{at}",
            f"{verbs[at % 5].title()} the {things[at // 5 % 5]} of department {at}.",
            tags=("even",) if at % 2 == 0 else (),
        )
        for at in range(count)
    ]


def test_five_thousand_tools_are_searched_as_five_are(space: Space) -> None:
    """The one that is meant is the first, within a scope and a filter too, and what was made ready once is kept."""
    tools = many(5_000)
    finder = Finder(space.embedding)
    wanted = ToolQuery("delete the ticket of department 4263", 10, mode="keyword")
    found = finder.find(tools, wanted)
    assert found.hits[0].tool.name == "delete_ticket_4263"
    assert (len(found.hits), found.searched) == (10, 5_000)
    narrow = finder.find(tools, replace(wanted, scope=Scope(include_servers=("server13",))))
    assert (narrow.searched, narrow.hits[0].tool.name) == (100, "delete_ticket_4263")
    even = finder.find(tools, replace(wanted, filters=Filters(tags=("even",))))
    assert len(even.hits) == 10
    assert all("even" in hit.tool.tags for hit in even.hits)
    again = finder.find(tools, wanted)
    assert again == found


def test_a_search_embeds_a_few_of_the_requests_that_are_remembered_and_the_next_goes_on(space: Space) -> None:
    """So that the first search of a space with many runs does not wait for all of them; the latest are the first."""
    tools = many(50)
    remembered = [CallExample(f"old wish number {at}", tools[at % 50].full_name) for at in range(2 * EMBEDDED_AT_ONCE)]
    known: list[int] = []
    for _ in range(3):
        space.finder.find(tools, ToolQuery("a wish"), remembered=remembered)
        with space.store.reading() as snapshot:
            asked = [snapshot.query(space.embedding.key, digest_of(one.request)) is not None for one in remembered]
        known.append(sum(asked))
        assert asked == sorted(asked, reverse=True)
    assert known == [EMBEDDED_AT_ONCE, 2 * EMBEDDED_AT_ONCE, 2 * EMBEDDED_AT_ONCE]
