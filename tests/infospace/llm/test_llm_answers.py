"""Answers that can be relied on: held against their schema here, mended once, otherwise a failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chatting import Endpoint, Say
from hypothesis import given
from hypothesis import strategies as st

from infospace import BadResponse, Invalid, RequestRejected, Space
from infospace.llm.structured_output import form_of
from infospace.schema.validate import validate

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}


def ask(space: Space, prompt: Any = "Who?", **wanted: Any) -> Any:
    """Ask through a view of the space."""
    return asyncio.run(space.context().ask_model(prompt, **wanted))


def test_a_text_is_the_answer_without_blanks_around_it(space: Space, endpoint: Endpoint) -> None:
    endpoint.say("\n Ada Lovelace.\n")
    assert ask(space) == "Ada Lovelace."


def test_a_conversation_is_sent_as_it_is(space: Space, endpoint: Endpoint) -> None:
    """With a schema, the system message tells it in words too."""
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    ask(space, talk)
    ask(space, talk, schema=PERSON)
    assert endpoint.requests[0]["messages"] == talk
    system, user = endpoint.requests[1]["messages"]
    assert system["content"].startswith("Be brief.\n\nAnswer with one JSON object that fits this JSON Schema")
    assert '"required":["name","age"]' in system["content"]
    assert user == talk[1]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "age": 36}',
        '```json\n{"name": "Ada", "age": 36}\n```',
        'Here it is: {"name": "Ada", "age": 36}. Anything else?',
    ],
)
def test_json_is_read_also_in_a_fence_or_among_words(space: Space, endpoint: Endpoint, text: str) -> None:
    """Where the endpoint takes no schema, models write like that."""
    endpoint.refuses = {"json_schema", "json_object"}
    endpoint.say(text)
    assert ask(space, schema=PERSON) == {"name": "Ada", "age": 36}


def test_an_answer_that_does_not_fit_is_mended_once(space: Space, endpoint: Endpoint) -> None:
    """An endpoint that takes a schema and does not keep to it: the model reads everything that is wrong."""
    endpoint.say('{"name": 5}', '{"name": "Ada", "age": 36}')
    assert ask(space, schema=PERSON) == {"name": "Ada", "age": 36}
    _, asked, answered, told = endpoint.requests[1]["messages"]
    assert (asked["content"], answered) == ("Who?", {"role": "assistant", "content": '{"name": 5}'})
    assert "- 5 is not text at `name`" in told["content"]
    assert '- "age" is missing' in told["content"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I do not know.", "the answer is not JSON: it begins with 'I do not know"),
        ('{"name": "Ada", "age": 3', "the answer ends inside"),
        ('{"name": "Ada", "age": NaN}', "NaN stands where a value was expected"),
        ("[1]", r"\[1\] is not an object"),
    ],
)
def test_an_answer_that_is_wrong_twice_is_a_failure(space: Space, endpoint: Endpoint, text: str, message: str) -> None:
    """One repair, and no more."""
    endpoint.say(text, text)
    with pytest.raises(BadResponse, match=f"the model's answer is wrong, and was after it was told: .*{message}"):
        ask(space, schema=PERSON)
    assert len(endpoint.requests) == 2


def test_a_wrong_answer_is_not_remembered(space: Space, endpoint: Endpoint) -> None:
    """Who asks again is answered anew."""
    view = space.context()
    endpoint.say("no", "no")
    with pytest.raises(BadResponse, match="answer is wrong, and was after it was told"):
        asyncio.run(view.ask_model("Who?", schema=PERSON))
    endpoint.say('{"name": "Ada", "age": 36}')
    assert asyncio.run(view.ask_model("Who?", schema=PERSON)) == {"name": "Ada", "age": 36}
    assert endpoint.requests[2] == endpoint.requests[0]


def test_only_the_answer_may_stand_in_the_object_around_it(space: Space, endpoint: Endpoint) -> None:
    endpoint.say('{"value": true, "why": "it is"}', '{"value": true}')
    assert ask(space, "Is it?", schema={"type": "boolean"}) is True
    assert len(endpoint.requests) == 2


def test_a_check_of_ones_own_is_part_of_it(space: Space, endpoint: Endpoint) -> None:
    """With a schema or without."""
    endpoint.say("four", "five")
    assert ask(space, check=lambda text: [] if text == "five" else ["it has to be five"]) == "five"
    assert "- it has to be five" in endpoint.prompts[1]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "boolean"}, '{"value": false}', False),
        ({"type": "boolean"}, "true", True),
        ({"type": "array", "items": {"type": "integer"}}, '{"value": [1, 2]}', [1, 2]),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, '{"value": null}', None),
        ({}, '{"value": {"value": 3}}', {"value": 3}),
    ],
)
def test_what_is_no_object_is_asked_for_in_one(
    space: Space, endpoint: Endpoint, schema: Any, text: str, value: Any
) -> None:
    """Endpoints give objects only; a model that answers without one is understood."""
    endpoint.say(text)
    assert ask(space, schema=schema) == value
    assert endpoint.requests[0]["response_format"]["json_schema"]["schema"]["required"] == ["value"]


TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "array",
            "items": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/tree"}, {"const": {"$ref": "#/x"}}]},
        }
    },
}


@given(st.recursive(st.integers() | st.text() | st.just({"$ref": "#/x"}), st.lists))
def test_references_of_a_schema_hold_inside_the_object(value: Any) -> None:
    """A value fits the schema exactly when the object around it fits the schema that is asked for."""
    form = form_of(TREE)
    assert bool(validate(value, TREE)) == bool(validate({"value": value}, form.asked))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "nothing"}, 'this is not JSON Schema: "nothing"'),
        ({"$ref": "#/$defs/x"}, "leads nowhere in this schema"),
        ({"pattern": "(?=a)"}, "is not a pattern: invalid perl operator"),
    ],
)
def test_a_schema_that_is_none_is_refused_before_the_call(
    space: Space, endpoint: Endpoint, schema: Any, message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        ask(space, schema=schema)
    assert endpoint.requests == []


def test_messages_that_are_too_long_are_refused_and_not_cut(
    space: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence has both sizes, in tokens of four characters, and says what would help."""
    monkeypatch.setenv("INFOSPACE_LLM_CONTEXT", "1000")
    assert ask(space, "x" * 4000) == "A sensible answer."
    with pytest.raises(RequestRejected, match=r"about 1,001 tokens, and made is given at most 1,000 .*nothing is cut"):
        ask(space, "x" * 4001)
    assert len(endpoint.requests) == 1


def test_the_most_tokens_of_an_answer_are_sent_and_a_longer_one_is_a_failure(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(Say("It begins", finish="length"))
    with pytest.raises(BadResponse, match="cut off at 12 tokens"):
        ask(space, max_tokens=12)
    assert endpoint.requests[0]["max_tokens"] == 12


def test_a_step_says_what_it_asked_and_what_it_cost(space: Space, endpoint: Endpoint) -> None:
    """In its `extra`; what is answered from memory costs nothing."""
    endpoint.say(Say("no", usage={"total_tokens": 20}), Say('{"value": true}', usage={"total_tokens": 30}))
    view = space.context()
    for _ in range(2):
        assert asyncio.run(view.ask_model("Is it?", schema={"type": "boolean"})) is True
    assert view.extra["llm"] == {"model": "made", "calls": 2, "tokens": 50}
