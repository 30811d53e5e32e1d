"""`discover-tools`: tools of servers, primitives and saved plans, by what they do. The real model."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.saved import remove_plan, save_plan

FOUND = {"type": "discover-tools", "query": "read a file", "out": "$tools"}


@pytest.fixture
def files(space: Space) -> None:
    """A server of two tools in the space."""
    server = LocalTools("files")

    @server.tool(read_only=True)
    def read_text(path: str) -> str:
        """Read a file from the disk."""
        return f"the text of {path}"

    @server.tool()
    def send_mail(to: str, subject: str) -> bool:
        """Send an e-mail to someone."""
        return bool(to and subject)

    space.tools.add(server)


def names(ran: Any) -> list[str]:
    """The full names of the tools found, in order."""
    return [hit["metadata"]["tool"] for hit in ran.content("tools")]


@pytest.mark.usefixtures("files")
def test_a_hit_says_what_the_tool_takes_and_gives(run: Any) -> None:
    """As a search result of type Tool, whose text is the description."""
    hit = run(FOUND).content("tools")[0]
    assert list(hit) == ["text", "format", "metadata", "char_count"]
    assert (hit["text"], hit["format"], hit["char_count"]) == ("Read a file from the disk.", "text", 26)
    about = hit["metadata"]
    score, schema = about.pop("score"), about.pop("input_schema")
    assert 0 < score <= 1
    assert list(schema["properties"]) == ["path"]
    assert about == {
        "source_id": "files/read_text",
        "tool": "files/read_text",
        "server": "files",
        "connected": True,
        "type": "Tool",
        "output_schema": {"type": "string"},
    }


@pytest.mark.usefixtures("files")
def test_a_tool_that_was_found_can_be_called(run: Any) -> None:
    """By what its hit says."""
    call = {"type": "call-tool", "tool": "$tools[0].metadata.tool", "arguments": {"path": "a.txt"}, "out": "$text"}
    assert run(FOUND, call).content("text") == "the text of a.txt"


@pytest.mark.usefixtures("files")
def test_every_hit_says_why_it_stands_where_it_stands(run: Any) -> None:
    """Its relevance, each adjustment, and what matched; the step's value names the tools."""
    ran = run(FOUND | {"limit": 2})
    extra = ran.last.extra
    assert (extra["item_count"], extra["no_match"]) == (2, False)
    assert extra["searched"] == 2 + len(list(ran.space.catalogue))
    first = extra["ranking"][0]
    assert (first["tool"], first["matched_by"]) == ("files/read_text", ["words", "meaning"])
    assert first["ranked"] == pytest.approx(first["score"] + sum(first["adjustments"].values()))
    assert "files/read_text" in ran.last.value


def test_primitives_are_found_as_tools_of_the_space(run: Any) -> None:
    """What stands after `infospace/` is the type of a step."""
    ran = run(FOUND | {"query": "remove duplicates from a collection", "limit": 1})
    assert names(ran) == ["infospace/distinct"]


def test_saved_plans_are_found_by_their_goal(run: Any, space: Space) -> None:
    """With what they take, until they are deleted."""
    document = {
        "goal": "Translate a recipe into French",
        "inputs": {"recipe": {"kind": "Note"}, "servings": {"type": "integer", "default": 4}},
        "steps": [{"type": "say", "value": "${recipe}"}],
    }
    save_plan(space, "cuisine", document)
    wanted = FOUND | {"query": "translate my recipe", "limit": 1}
    (hit,) = run(wanted).content("tools")
    assert hit["metadata"]["tool"] == "infospace/plan:cuisine"
    schema = hit["metadata"]["input_schema"]
    assert schema["properties"]["servings"] == {"type": "integer", "default": 4}
    assert schema["required"] == ["recipe"]
    remove_plan(space, "cuisine")
    assert "infospace/plan:cuisine" not in names(run(wanted))


@pytest.mark.usefixtures("files")
def test_what_is_not_wanted_is_left_out_before_the_best_are_taken(run: Any) -> None:
    """By server, category and tag; a threshold is compared with the relevance."""
    assert names(run(FOUND | {"servers": ["files"], "threshold": 0, "limit": "all"})) == [
        "files/read_text",
        "files/send_mail",
    ]
    kept = names(run(FOUND | {"categories": ["Primitives"], "limit": 3}))
    assert kept
    assert all(name.startswith("infospace/") for name in kept)
    assert names(run(FOUND | {"tags": ["nobody has it"]})) == []
    assert names(run(FOUND | {"threshold": 1})) == []


@pytest.mark.usefixtures("files")
def test_when_nothing_fits_the_nearest_is_a_guess(run: Any) -> None:
    """An empty Collection is success, and says no match."""
    ran = run(FOUND | {"query": "hello, how are you?", "servers": ["files"]})
    assert names(ran) == []
    assert ran.last.extra["no_match"]
    assert ran.last.extra["guess"]["tool"].startswith("files/")


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_search_by_types_is_refused_by_the_check(run: Any, side: str) -> None:
    """It is not in this version, and nothing else of the plan is done."""
    ran = run({"type": "say", "value": "first"}, FOUND | {side: {"type": "string"}}, status="refused")
    assert [problem.code for problem in ran.result.problems] == ["unknown-argument"]
