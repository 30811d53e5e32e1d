"""`call-tool` with `as: "search-results"`: what a tool found becomes a Collection of search results."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync

FOUND: list[dict[str, Any]] = [
    {"snippet": "Green tea", "url": "https://a.example/1", "title": "Tea", "rank": 0.5},
    {"snippet": {"leaf": "black"}, "meta": {"n": 1}},
    {"url": "https://a.example/2", "title": "no text"},
]
FIELDS = {"items": "results", "text": "snippet", "title": "title", "uri": "url", "score": "rank"}
CALL = {
    "type": "call-tool",
    "tool": "web/search",
    "arguments": {"query": "tea"},
    "as": "search-results",
    "fields": FIELDS,
    "out": "$hits",
}


@pytest.fixture
def web(space: Space) -> Space:
    """A space with a tool that finds things."""
    local = LocalTools("web")

    @local.tool(read_only=True)
    def search(query: str) -> dict[str, Any]:
        """Search the web."""
        return {"results": FOUND, "query": query}

    space.tools.add(local)
    return space


def test_each_element_becomes_a_search_result(web: Space) -> None:
    """In their order; what has no text is left out and counted, and all blocks are kept."""
    result = run_sync(web, [CALL])
    assert result.result is not None
    first, second = result.result.data  # type: ignore[misc]
    assert first == {
        "text": "Green tea",
        "format": "text",
        "metadata": {
            "source_id": "https://a.example/1",
            "uri": "https://a.example/1",
            "score": 0.5,
            "type": "Result",
            "title": "Tea",
            "passage": None,
            "source": {"found_by": "web/search", "item": FOUND[0]},
        },
        "char_count": 9,
    }
    assert (second["text"], second["format"], second["metadata"]["score"]) == ('{"leaf":"black"}', "json", None)
    extra = result.steps[0].extra
    assert (extra["item_count"], extra["excluded"], "content" in extra) == (2, 1, True)


def test_they_are_evidence_like_any(web: Space) -> None:
    """The same result twice is one in a set; they persist, and their fields are known to the check."""
    steps = [
        CALL,
        {**CALL, "out": "$more"},
        {"type": "union", "target": "$hits", "value": "$more", "out": "$all"},
        {"type": "persist", "target": "$all"},
        {"type": "pluck", "target": "$all", "field": "metadata.title", "out": "$titles"},
        {"type": "size", "target": "$all", "out": "$n"},
    ]
    result = run_sync(web, steps)
    assert result.result is not None
    assert (result.status, result.result.data) == ("success", 2)
    [problem] = check_plan(web, [CALL, {"type": "pluck", "target": "$hits", "field": "metadata.titel", "out": "$t"}])[
        1
    ].found
    assert (problem.code, problem.hint) == ("unknown-field", "did you mean `metadata.title`?")


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        ({"fields": None}, "/0", "`as` and `fields` go together"),
        ({"as": None}, "/0", "`as` and `fields` go together"),
        ({"as": "search-result"}, "/0/as", "search-results"),
        ({"fields": {"items": "results"}}, "/0/fields", "needs 'text'"),
        ({"fields": {"text": "a["}}, "/0/fields/text", "is not a path"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(web: Space, change: Any, pointer: str, said: str) -> None:
    """Before anything is called."""
    [problem] = [one for one in check_plan(web, [{**CALL, **change}])[1].found if one.severity == "error"]
    assert problem.pointer == pointer
    assert said in problem.message


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"text": "snippet"},
            "it is of the kind object (`fields.items` says where the list is; it has the keys results",
        ),
        ({"text": "snippet", "items": "query"}, "`query` of it is of the kind string"),
        ({"text": "snippet", "items": "hits"}, "results, query"),
    ],
)
def test_where_there_is_no_list_the_step_fails(web: Space, fields: Any, said: str) -> None:
    """Saying what there is."""
    result = run_sync(web, [{**CALL, "fields": fields}])
    assert result.status == "failed"
    assert said in str(result.reason)


def test_a_score_that_is_no_number_is_none_and_an_empty_address_names_nothing(space: Space) -> None:
    """Two items without an address are told apart by what they say."""
    local, items = LocalTools("web"), [{"snippet": text, "url": "", "rank": True} for text in "ab"]

    @local.tool(read_only=True)
    def search(query: str) -> dict[str, Any]:
        """Search the web."""
        return {"results": items, "query": query}

    space.tools.add(local)
    result = run_sync(space, [CALL])
    assert result.result is not None, result.reason
    about = [hit["metadata"] for hit in result.result.data]
    assert [one["score"] for one in about] == [None, None]
    assert [one["uri"] for one in about] == ["", ""]
    assert all(one["source_id"].startswith("web/search#") for one in about)
    assert len({one["source_id"] for one in about}) == 2
