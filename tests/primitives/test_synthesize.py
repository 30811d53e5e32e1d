"""`synthesize`: a text that cites the items it was made from, and no others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chatting import Endpoint

NOTES = {"type": "create-collection", "value": ["Tea is hot.", "Ice is cold."], "out": "$c"}
SYNTHESIZE = {"type": "synthesize", "target": "$c", "out": "$y"}


def text(text: str, *citations: str) -> str:
    """An answer as the model is asked to give it."""
    return json.dumps({"text": text, "citations": citations})


@pytest.fixture
def ids(run: Any) -> list[str]:
    """The ids that the two Notes of the next run will have: numbers go up one by one."""
    last = int(run({"type": "create-note", "value": 0, "out": "$x"}).resource("x").id.removeprefix("Note_"))
    return [f"Note_{last + 1}", f"Note_{last + 2}"]


def test_it_gives_the_text_and_what_it_cites(run: Any, endpoint: Endpoint, ids: list[str]) -> None:
    """In the order in which they are cited, each once; then those that are only listed."""
    tea, ice = ids
    endpoint.say(text(f"Cold [{ice}], hot [{tea}, {ice}].", tea))
    ran = run(NOTES, SYNTHESIZE)
    assert ran.content("y") == {"text": f"Cold [{ice}], hot [{tea}, {ice}].", "citations": [ice, tea]}
    endpoint.say(text(f"Cold [{ice}].", tea))
    step = {**SYNTHESIZE, "target": "$d", "focus": "another"}
    again = [{"type": "create-collection", "value": ids, "out": "$d"}, step]
    assert run(*again).content("y")["citations"] == [ice, tea]


def test_items_focus_and_format_are_told(run: Any, endpoint: Endpoint) -> None:
    """Items as material with their ids."""
    ran = run(NOTES, {**SYNTHESIZE, "focus": "Warmth", "format": "One line.", "max_tokens": 77})
    prompt = endpoint.prompts[0]
    for item in ran.items("c"):
        assert f" {item.id}\n{item.content}\n" in prompt
    assert prompt.endswith("Focus: Warmth\n\nFormat of the text: One line.")
    assert endpoint.requests[0]["max_tokens"] == 77


@pytest.mark.parametrize("wrong", [text("Hot.", "Note_999"), text("Hot [Note_999].", "{tea}"), text("Hot.", "tea")])
def test_a_citation_of_what_is_not_there_is_mended_once(
    run: Any, endpoint: Endpoint, ids: list[str], wrong: str
) -> None:
    """In the list or in the text; the model is told which."""
    right = text(f"Hot [{ids[0]}].", ids[0])
    endpoint.say(wrong.replace("{tea}", ids[0]), right)
    assert run(NOTES, SYNTHESIZE).content("y") == json.loads(right)
    assert "is cited, and no material has that id" in endpoint.prompts[1]


@pytest.mark.parametrize(
    ("answer", "message"), [(text("Hot [Note_999]."), "'Note_999' is cited"), (text("Hot."), "nothing is cited")]
)
def test_a_citation_that_is_wrong_twice_fails_the_step(run: Any, endpoint: Endpoint, answer: str, message: str) -> None:
    """So does a text without any."""
    endpoint.say(answer, answer)
    assert message in run(NOTES, SYNTHESIZE, status="failed").reason


def test_search_results_are_cited_by_their_source(search: Any, endpoint: Endpoint) -> None:
    """Which stays when the results have gone; two passages of one source are read once."""
    find = {"type": "search-within-collection", "target": "$all", "query": "office", "limit": 2, "out": "$c"}
    long = {"type": "create-collection", "value": ["$long"], "out": "$all"}
    ran = search({"type": "load", "target": "long", "out": "$long"}, long, find, SYNTHESIZE)
    source = ran.resource("long").id
    assert len(ran.items("c")) == 2
    assert endpoint.prompts[0].count("<<<material") == 1
    assert ran.content("y")["citations"] == [source]


def test_an_empty_collection_gives_an_empty_text_without_a_call(run: Any, endpoint: Endpoint) -> None:
    """Empty is success."""
    ran = run({**NOTES, "value": []}, SYNTHESIZE)
    assert ran.content("y") == {"text": "", "citations": []}
    assert endpoint.requests == []


def test_the_check_knows_text_and_citations(run: Any, endpoint: Endpoint) -> None:
    """And that there is nothing else."""
    steps = [NOTES, SYNTHESIZE, {"type": "say", "value": "${y.summary}"}]
    (problem, *_) = run(*steps, status="refused").result.problems
    assert (problem.code, problem.hint) == ("unknown-field", "there is text, citations, metadata")
