"""Requests that say in other words what a tool does: it is named where the words surely mean the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.tool import Tool
from infospace.store.note_fields import text_digest
from infospace.tools.local import LocalTools
from planner.metatools.chaining.plan_tools import SelectTool, select_tool
from planner.metatools.chaining.synonyms import with_synonym

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("requests_in_other_words.json").read_text("utf-8"))
"""Tools by server, and requests with the tools that are right, none for some: the method was chosen with them."""
NAMED = ["shrink the picture to 800 pixels"]
"""Of the requests that a tool fits, those that have it; without synonyms none of them has."""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, model: Any) -> Iterator[Space]:
    """A space with those tools."""
    with open_space(tmp_path_factory.mktemp("office") / "space.db") as space:
        for server, tools in DATA["servers"].items():
            space.tools.add(Listed(server, tools))
        yield space


class Listed(LocalTools):
    """Tools that are only looked for."""

    def __init__(self, server: str, known: dict[str, Any]) -> None:
        super().__init__(server)
        self._known = [
            Tool(server, name, said["description"], {"type": "object", "properties": _schema(said["arguments"])})
            for name, said in known.items()
        ]

    def tools(self) -> Sequence[Tool]:
        """Return them."""
        return self._known


def _schema(arguments: dict[str, str]) -> dict[str, Any]:
    return {name: {"type": kind} for name, kind in arguments.items()}


def named(space: Space, query: str, *servers: str) -> str | None:
    """The tool that is named for a request, of all servers or of some."""
    tool = asyncio.run(select_tool(space, SelectTool(query=query, service_filter=list(servers))))["tool"]
    return None if tool is None else tool["tool_name"]


def test_some_are_named_in_other_words_and_none_that_does_something_else(office: Space) -> None:
    answers = {one["query"]: named(office, one["query"]) for one in DATA["requests"]}
    wrong = {
        one["query"]: answers[one["query"]]
        for one in DATA["requests"]
        if answers[one["query"]] not in (None, *one["tools"])
    }
    right = [one["query"] for one in DATA["requests"] if answers[one["query"]] in one["tools"]]
    assert wrong == {}
    assert right == NAMED
    assert answers["paint the red room"] is None
    assert named(office, "shorten the document") is None
    assert named(office, "reserve a bus to Rome") is None
    assert named(office, "reserve it", "rooms", "music") is None, "it does not say what"


@pytest.mark.parametrize(
    ("request_", "names", "expected"),
    [
        ("halt the music", ["stop", "playback"], "stop"),
        ("repair the bike", ["fix"], "fix"),
        ("Repair the bike", ["fix"], "fix"),
        ("paint the room", ["book"], None),
        ("open the door", ["close"], None),
        ("fix it", [], None),
    ],
)
def test_a_verb_gives_way_to_one_that_means_the_same(
    office: Space, request_: str, names: list[str], expected: str | None
) -> None:
    """And to none that only stands in the same places, nor to its opposite."""
    assert with_synonym(request_, request_.split(maxsplit=1)[0], names, office.embedding.unkept) == expected


def test_what_was_tried_in_the_place_of_a_word_is_not_remembered(office: Space) -> None:
    """Those are no requests of anybody."""
    assert named(office, "halt the song") is None
    with office.store.reading() as snapshot:
        key = office.embedding.key
        assert snapshot.query(key, text_digest("halt the song")) is not None
        assert snapshot.query(key, text_digest("stop the song")) is None
