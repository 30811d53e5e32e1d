"""What is offered at a place of a plan that is being written; the place is written `¦`."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from infospace import Space, open_space
from infospace.core.errors import InvalidJSON
from infospace.data.json_text import read_json
from infospace.tools.local import LocalTools
from planner.check.space_facts import SnapshotFacts
from planner.editor import Completion, Offer, complete
from planner.editor.offers import CONDITION, MAX_OFFERS, PLAN, STEP, fitting
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

Ask = Callable[[str], Completion]

HITS = '{"type": "discover-notes", "query": "x", "out": "$hits"}, {"type": "size", "target": "$hits", "out": "$n"}'
BEFORE = '{"goal": "g", "steps": [' + HITS + ", "


def ask_of(space: Space, written: str, *, behind: bool = False) -> Completion | None:
    """Complete at the mark."""
    text, at = written.replace("¦", "", 1), written.index("¦")
    with space.store.reading() as snapshot:
        return complete(text, at, space.catalogue, SnapshotFacts(snapshot), behind=behind)


def labels(found: Completion | None) -> list[str]:
    """The labels that fit."""
    return [] if found is None else [offer.label for offer in found.offers if offer.fits]


def accepted(space: Space, written: str, label: str, *, behind: bool = False) -> str:
    """Take an offer, and return the text with the place where one goes on to write."""
    found = ask_of(space, written, behind=behind)
    assert found is not None, written
    text = written.replace("¦", "", 1)
    [offer] = [offer for offer in found.offers if offer.label == label]
    cut = len(offer.insert) - offer.back
    return f"{text[: found.start]}{offer.insert[:cut]}¦{offer.insert[cut:]}{text[found.end :]}"


@pytest.mark.parametrize(
    ("sql", "first"),
    [
        ("SELECT ti¦", ["title"]),
        ("SELECT te¦ FROM $hits", ["text"]),
        ("SELECT h.metadata FROM $hi¦", ["$hits"]),
        ('SELECT title FROM ¦"', ["notes", "items", "links", "$hits", "$n", "kept", "`weekly digest`"]),
        ('SELECT i.do¦ FROM items i"', ["done"]),
        ('SELECT title FROM notes WHERE words > $n¦"', ["$n"]),
        ('SELECT title FROM notes WHERE words > 3 ORD¦"', ["ORDER BY"]),
        ('SELECT h.¦ FROM $hits h"', ["text", "format", "metadata", "char_count"]),
    ],
)
def test_a_select_in_a_plan_is_completed(space: Space, sql: str, first: list[str]) -> None:
    """With the space's tables, Collections that are kept, and what the steps before have bound."""
    steps = [{"type": "create-collection", "value": [1], "name": name} for name in ("kept", "weekly digest")]
    assert run_sync(space, steps).status == "success"
    found = labels(ask_of(space, (BEFORE + '{"type": "query", "sql": "SQL').replace("SQL", sql)))
    assert found[: len(first)] == first


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("¦", ["a plan"]),
        ("{¦", ["goal", "inputs", "steps", "result", "budget"]),
        ('{"go¦', ["goal"]),
        ('{"goal": "x", "re¦": "$x"}', ["result"]),
        ('{"steps": [¦', ["a step"]),
        ('{"budget": {"se¦', ["seconds"]),
        ('{"inputs": {"topic": {"¦', ["type", "kind", "default"]),
        ('{"inputs": {"topic": {"type": "str¦', ["string"]),
        ('{"inputs": {"topic": {"kind": "¦', ["Note", "Collection", "Relation"]),
        (BEFORE + "{¦", ["type", "out", "id", "name"]),
        (BEFORE + '{"type": "disc¦', ["discover-collections", "discover-notes", "discover-tools"]),
        (BEFORE + '{"type": ¦', ["add", "assess", "bind"]),
        (BEFORE + '{"type": "for¦', ["for-each"]),
        (BEFORE + '{"type": "load", "¦', ["target", "slice", "out"]),
        (BEFORE + '{"type": "load", "slice": ":3", ¦', ["target", "out"]),
        (BEFORE + '{"type": "for-each", "¦', ["target", "do", "as", "collect"]),
        (BEFORE + '{"type": "for-each", "target": "$hits", "do": [], "unt¦', ["until"]),
        (BEFORE + '{"type": "for-each", "target": "$hits", "do": [], "until": {"type": "emp¦', ["empty"]),
        (BEFORE + '{"type": "pages", "¦', ["tool", "arguments", "as", "items", "next", "first", "step", "max_pages"]),
        (BEFORE + '{"type": "pages", "retry": {"¦', ["attempts", "wait_s"]),
        (BEFORE + '{"type": "pages", "as": "$¦', ["$page"]),
        (BEFORE + '{"type": "sort", "order": ¦', ["asc", "desc"]),
        (BEFORE + '{"type": "discover-notes", "certify": ¦', ["true", "false"]),
        (BEFORE + '{"type": "coerce", "coercion": "in¦', ["int", "string"]),
        (BEFORE + '{"type": "if", "condition": {"type": "emp¦', ["empty"]),
        (BEFORE + '{"type": "if", "condition": {"type": "equals", ¦', ["target", "value"]),
        (BEFORE + '{"type": "if", "condition": {"type": "and", "of": [¦', ["a condition"]),
        (BEFORE + '{"type": "parallel", "branches": [¦', ["a branch"]),
        (BEFORE + '{"type": "load", "retry": {"¦', ["attempts", "wait_s"]),
        (BEFORE + '{"type": "load", "on_fail": "c¦', ["continue"]),
        (BEFORE + '{"type": "stop", "status": "¦', ["success", "failed"]),
        (BEFORE + '{"type": "size", "target": "$hits", "out": "$¦', ["$size"]),
        (BEFORE + '{"type": "map", "target": "$hits", "operation": {"¦', ["type"]),
        (BEFORE + '{"type": "map", "target": "$hits", "operation": {"type": "lo¦', ["load"]),
        (BEFORE + '{"type": "map", "target": "$hits", "operation": "plu¦', ["pluck"]),
    ],
)
def test_the_words_of_the_language_are_offered(space: Space, written: str, first: list[str]) -> None:
    """Keys that are not there yet, types, what a schema lists; what begins so first."""
    assert labels(ask_of(space, written))[: len(first)] == first


@pytest.mark.parametrize(
    ("written", "fit", "unfit"),
    [
        (BEFORE + '{"type": "head", "target": ¦', ["$hits"], ["$n"]),
        (BEFORE + '{"type": "head", "target": "$¦"}]}', ["$hits"], ["$n"]),
        (BEFORE + '{"type": "coerce", "target": "$¦', ["$n"], ["$hits"]),
        (BEFORE + '{"type": "load", "target": "¦', ["$n", "$hits"], []),
        (BEFORE + '{"type": "head", "target": "$hits", "count": ¦', ["1", "$n"], ["$hits"]),
        (BEFORE + '{"type": "say", "value": "there are ${¦} of them"}]}', ["$n", "$hits"], []),
        (BEFORE + '{"type": "if", "condition": {"type": "gte", "target": "$¦', ["$n", "$hits"], []),
        ('{"steps": [' + HITS + '], "result": "¦', ["$n", "$hits"], []),
        ('{"inputs": {"topic": {"type": "string"}}, "steps": [{"type": "say", "value": "$¦', ["$topic"], []),
        (BEFORE + '{"type": "for-each", "target": "$hits", "do": [{"type": "load", "target": "$it¦', ["$item"], []),
        (
            BEFORE + '{"type": "for-each", "target": "$hits", "do": [{"type": "bind", "target": "$n", "out": "$m"}],'
            ' "collect": "¦',
            ["$m"],
            [],
        ),
        (
            BEFORE + '{"type": "for-each", "target": "$hits", "do": [{"type": "bind", "target": "$n", "out": "$m"}],'
            ' "until": {"type": "gte", "target": "$¦',
            ["$m", "$item", "$n", "$hits"],
            [],
        ),
        ('{"type": "create-note", "value": "x", "out": "$x"}\n{"type": "load", "target": "$¦', ["$x"], []),
        ('{"goal": "g"}\n{"type": "create-note", "value": "x", "out": "$x"}\n{"type": "say", "value": "$¦', ["$x"], []),
    ],
)
def test_variables_are_offered_those_that_fit_first(
    space: Space, written: str, fit: list[str], unfit: list[str]
) -> None:
    """Those that are bound where the step stands, by kind and by what their content may be."""
    found = ask_of(space, written)
    assert found is not None
    assert [offer.label for offer in found.offers if offer.fits] == fit
    assert [offer.label for offer in found.offers if not offer.fits] == unfit


@pytest.mark.parametrize(
    ("written", "first"),
    [
        (BEFORE + '{"type": "say", "value": "$hits[0].¦', [".text", ".format", ".metadata", ".char_count"]),
        (BEFORE + '{"type": "say", "value": "$hits[0].metadata.sc¦"}]}', [".score"]),
        (BEFORE + '{"type": "say", "value": "$hits.¦', [".metadata", ".@metadata", ".@id"]),
        (BEFORE + '{"type": "sort", "target": "$hits", "by": "¦', ["text", "format", "metadata"]),
        (BEFORE + '{"type": "project", "target": "$hits", "fields": ["text", "metadata.ti¦', [".title"]),
        (BEFORE + '{"type": "project", "target": "$hits", "fields": [¦', ["text", "format", "metadata"]),
        (BEFORE + '{"type": "filter-structured", "target": "$hits", "where": "metadata.sc¦', [".score"]),
        (BEFORE + '{"type": "filter-structured", "target": "$hits", "where": "text = $¦', ["$n", "$hits"]),
        (BEFORE + '{"type": "if", "condition": "$¦', ["$n", "$hits"]),
        (BEFORE + '{"type": "if", "condition": "$n > 3 an¦', ["AND"]),
        (BEFORE + '{"type": "if", "condition": {"type": "and", "of": ["$hits.@e¦', [".@extra"]),
        (BEFORE + '{"type": "compute", "expression": "$n * $¦', ["$n", "$hits"]),
        (BEFORE + '{"type": "map", "target": "$hits", "operation": {"type": "say", "value": "$item.te¦', [".text"]),
        (
            BEFORE + '{"type": "group", "target": "$hits", "by": "text", "aggregates": {"x": "avg(char¦',
            ["avg(char_count)"],
        ),
        (
            '[{"type": "create-note", "value": {"odd key": {"b": 1}}, "out": "$x"}, {"type": "say", "value": "$x.¦',
            [".metadata", ".@metadata", ".@id"],
        ),
    ],
)
def test_fields_are_offered_as_far_as_they_are_known(space: Space, written: str, first: list[str]) -> None:
    """After a dot, in paths, in conditions of SQL."""
    assert labels(ask_of(space, written))[: len(first)] == first


@pytest.mark.parametrize(
    ("type_", "fits"),
    [
        ("load", True),
        ("s/t", True),
        ("map", True),
        ("pages", True),
        ("if", False),
        ("for-each", False),
        ("plan:p", False),
    ],
)
def test_what_has_steps_of_its_own_is_not_repeated(space: Space, type_: str, fits: bool) -> None:
    """`retry` stands there last: the check refuses it."""
    found = ask_of(space, f'{BEFORE}{{"type": "{type_}", "retr¦')
    assert found is not None
    assert [(offer.label, offer.fits) for offer in found.offers] == [("retry", fits)]


def test_of_what_nobody_knows_nothing_is_offered(space: Space) -> None:
    """The properties of a Note that a search finds, and the fields of a step that gives nothing."""
    assert ask_of(space, BEFORE + '{"type": "say", "value": "a ${hits[0].metadata.source.¦') is None
    assert labels(ask_of(space, BEFORE + '{"type": "say", "o¦')) == ["on_fail", "timeout_s"]


def test_an_odd_key_is_offered_in_quotes(space: Space) -> None:
    """So that what is written can be read."""
    before = '[{"type": "create-note", "value": {"odd key": {"b": 1}}, "out": "$x"}, {"type": "say", "value": "'
    found = ask_of(space, before + "$x[¦")
    assert labels(found)[:1] == ["['odd key']"]
    taken = accepted(space, before + "$x[¦", "['odd key']")
    assert taken.endswith("$x['odd key']¦")
    assert labels(ask_of(space, before + "$x['odd key'].¦"))[:1] == [".b"]


@pytest.fixture
def shop(space: Space) -> Space:
    """A space with tools, a saved plan and something named."""
    server = LocalTools("shop")

    @server.tool(read_only=True)
    async def find(words: str, sort: str = "price", most: int = 3) -> list[str]:
        """Find goods by words."""
        return [words, sort, str(most)]

    space.tools.add(server)
    inputs = {"topic": {"type": "string", "description": "What about"}, "from": {"kind": "Collection"}}
    save_plan(space, "digest", {"goal": "A digest", "inputs": inputs, "steps": [{"type": "say", "value": "$topic"}]})
    run_sync(space, [{"type": "create-collection", "value": [1], "name": "my papers", "out": "$p"}])
    return space


def test_tools_and_their_arguments_are_offered(shop: Space) -> None:
    """By their schemas, with their words."""
    assert labels(ask_of(shop, BEFORE + '{"type": "sho¦'))[0] == "shop/find"
    found = ask_of(shop, BEFORE + '{"type": "shop/find", "arguments": {¦')
    assert labels(found) == ["words", "sort", "most"]
    assert labels(ask_of(shop, BEFORE + '{"type": "shop/find", "arguments": {"most": ¦'))[:2] == ["3", "$n"]
    assert labels(ask_of(shop, BEFORE + '{"type": "call-tool", "tool": "¦')) == ["shop/find", "$n", "$hits"][:1]
    assert labels(ask_of(shop, BEFORE + '{"type": "call-tool", "tool": "shop/find", "arguments": {"w¦')) == ["words"]
    condition = '{"type": "if", "condition": {"type": "tool_condition", "tool": "shop/find", "arguments": {"so¦'
    assert labels(ask_of(shop, BEFORE + condition)) == ["sort"]


def test_saved_plans_and_their_inputs_are_offered(shop: Space) -> None:
    """With their goal; what wants a kind is offered what has it."""
    found = ask_of(shop, BEFORE + '{"type": "plan:¦')
    assert labels(found)[0] == "plan:digest"
    assert found is not None
    assert found.offers[0].about == "A digest"
    assert labels(ask_of(shop, BEFORE + '{"type": "plan:digest", "arguments": {"¦')) == ["topic", "from"]
    found = ask_of(shop, BEFORE + '{"type": "plan:digest", "arguments": {"from": "¦')
    assert labels(found) == ["$hits", "my papers"]


def test_names_are_offered_where_a_resource_is_wanted(shop: Space) -> None:
    """Those of other kinds last."""
    assert labels(ask_of(shop, BEFORE + '{"type": "size", "target": "my¦')) == ["my papers"]
    found = ask_of(shop, BEFORE + '{"type": "coerce", "target": "my¦')
    assert found is not None
    assert [(offer.label, offer.fits) for offer in found.offers] == [("my papers", False)]


def say(value: str) -> str:
    """A step that says something, behind others."""
    return f'{BEFORE}{{"type": "say", "value": "{value}"}}]}}'


@pytest.mark.parametrize(
    ("written", "label", "after"),
    [
        ('[{"ty¦', "type", '[{"type": "¦"'),
        ('[{"ty¦": "x"}]', "type", '[{"type"¦: "x"}]'),
        ('[{"type": "siz¦"}]', "size", '[{"type": "size"¦}]'),
        ('[{"type": siz¦}]', "size", '[{"type": "size"¦}]'),
        ("¦", "a plan", '{\n  "goal": "",\n  "steps": [\n    {"type": "¦"}\n  ]\n}\n'),
        ('[{"type": "size", out¦}]', "out", '[{"type": "size", "out": "$¦"}]'),
        ('[{"type": "size", ou¦ "target": "$n"}]', "out", '[{"type": "size", "out": "$¦",  "target": "$n"}]'),
        ('[{"type": "size", ou¦: "$n"}]', "out", '[{"type": "size", "out"¦: "$n"}]'),
        ("{go¦", "goal", '{"goal": "¦"'),
        ('[{"type": "create-note", "value": hello¦}]', '"hello"', '[{"type": "create-note", "value": "hello"¦}]'),
        ('[{"type": "size", ¦"out": "$n"}]', "target", '[{"type": "size", "target": "$¦", "out": "$n"}]'),
        ('[{"type": "load", ¦"out": "$x"}]', "timeout_s", '[{"type": "load", "timeout_s": ¦, "out": "$x"}]'),
        ('[¦ {"type": "x"}]', "a step", '[{"type": "¦"},  {"type": "x"}]'),
        ('[{"type": "if", ¦}]', "then", '[{"type": "if", "then": [{"type": "¦"}]}]'),
        (say("so $h¦ and"), "$hits", say("so ${hits}¦ and")),
        (say("${hi¦ts} x"), "$hits", say("${hits}¦ x")),
        (say("$hi¦ts"), "$hits", say("$hits¦")),
        (say("$hits[0].te¦x"), ".text", say("$hits[0].text¦")),
        (
            BEFORE + '{"type": "load", "on_fail": ¦}]}',
            "continue",
            BEFORE + '{"type": "load", "on_fail": "continue"¦}]}',
        ),
    ],
)
def test_what_is_taken_is_put_in_its_place(space: Space, written: str, label: str, after: str) -> None:
    """With quotes, colons and commas as they are needed, and the cursor where one goes on."""
    assert accepted(space, written, label).startswith(after)


def test_offers_stand_by_how_they_begin_with_what_is_written() -> None:
    """Exactly it, what begins with it, a word of it, any place of it, its letters; what does not fit comes last."""
    names = ["xscore", "my-score", "scores", "s-c-o-r-e", "other", "escort", "Score"]
    known = [*(Offer(name, name) for name in names), Offer("scorer", "scorer", fits=False)]
    assert [offer.label for offer in fitting(known, "score")] == [
        *("Score", "scores", "my-score", "xscore", "s-c-o-r-e", "scorer"),
    ]
    assert [offer.label for offer in fitting(known, "")] == [*names, "scorer"]
    assert [offer.label for offer in fitting([Offer("$hits", "$hits"), Offer(".text", ".text")], "txt")] == [".text"]
    many = [Offer(f"n{number}", "") for number in range(MAX_OFFERS + 1)]
    assert fitting(many, "n") == many[:MAX_OFFERS]


@pytest.mark.parametrize("written", ['[{"type": "create-note", "value": null¦}]', '[{"type": "say", "value": 12¦}]'])
def test_a_literal_is_not_offered_as_text(space: Space, written: str) -> None:
    """It is JSON as it stands."""
    assert ask_of(space, written) is None


@pytest.mark.parametrize("offer", [PLAN, STEP, CONDITION])
def test_what_is_begun_is_written_on_within_its_quotes(offer: Offer) -> None:
    """What is typed next becomes the text between them, and the whole is JSON."""
    at = len(offer.insert) - offer.back
    written = json.loads(f"{offer.insert[:at]}word{offer.insert[at:]}")
    assert (written["steps"][0] if "steps" in written else written)["type"] == "word"


@pytest.mark.parametrize(
    ("written", "label", "after"),
    [
        ('[{"type": "size"¦}]', "target", '[{"type": "size", "target": "$¦"}]'),
        ('[{"type": "size"¦', "target", '[{"type": "size", "target": "$¦"'),
        ('[{"type": "size" ¦}]', "out", '[{"type": "size", "out": "$¦"}]'),
        ('{"goal": "x"\n  ¦}', "steps", '{"goal": "x",\n  "steps": [{"type": "¦"}]}'),
        ('{"steps": [{"type": "x"}¦]}', "a step", '{"steps": [{"type": "x"}, {"type": "¦"}]}'),
        ('{"steps": [{"type": "x"}\n  ¦\n]}', "a step", '{"steps": [{"type": "x"},\n  {"type": "¦"}\n]}'),
        ('[{"type": "size"tar¦}]', "target", '[{"type": "size", "target": "$¦"}]'),
        ('[{"type": "size" ta¦r\n}]', "target", '[{"type": "size", "target": "$¦"\n}]'),
        ('[{"condition": {"type": "empty"¦}}]', "target", '[{"condition": {"type": "empty", "target": "$¦"}}]'),
    ],
)
def test_who_asks_behind_a_value_is_offered_what_comes_next(space: Space, written: str, label: str, after: str) -> None:
    """With the comma that it needs; also when it is begun then."""
    assert accepted(space, written, label, behind=True) == after


@pytest.mark.parametrize(
    "written", ["{}¦", '{"a" ¦: 1}', '{"a": ¦, "b": 1}x', "[1¦ 2]", '{"goal": "x"¦ "steps": []}', "[1]¦"]
)
def test_nobody_is_offered_anything_behind_what_is_no_last_value(space: Space, written: str) -> None:
    """Behind the end, before the colon, and where more follows without a comma."""
    assert ask_of(space, written, behind=True) is None


@pytest.mark.parametrize("written", ['{"goal": "x"¦}', '{"goal": "no $5 ¦"}', "{}¦", '[{"type": "x"} ¦]', '{"a" ¦: 1}'])
def test_nothing_is_offered_where_nothing_is_to_be_written(space: Space, written: str) -> None:
    """Between a value and the next comma, in plain text, behind the end."""
    assert ask_of(space, written) is None


PLAN: dict[str, Any] = {
    "goal": "g",
    "inputs": {"topic": {"type": "string"}},
    "steps": [
        {"type": "discover-notes", "query": "${topic}", "limit": 5, "out": "$hits"},
        {"type": "filter-structured", "target": "$hits", "where": "metadata.score > 0.5", "out": "$good"},
        {"type": "map", "target": "$good", "operation": {"type": "load", "slice": ":9"}, "out": "$texts"},
        {
            "type": "if",
            "condition": {"type": "not", "of": {"type": "empty", "target": "$texts"}},
            "then": [{"type": "for-each", "target": "$texts", "do": [{"type": "say", "value": "${item}"}]}],
            "on_fail": [{"type": "say", "value": "$error.reason"}],
        },
        {"type": "group", "target": "$hits", "by": ["metadata.type"], "aggregates": {"n": "count"}, "out": "$g"},
    ],
    "result": "$g",
    "budget": {"seconds": 60},
}


@given(st.data(), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=80)
def test_no_place_of_any_text_raises(
    tmp_path_factory: pytest.TempPathFactory, data: Any, indent: int | None, cut: bool
) -> None:
    """And what is taken where a document is whole leaves it whole, or a value away from it."""
    text = json.dumps(PLAN, indent=indent)
    behind = data.draw(st.booleans())
    at = data.draw(st.integers(0, len(text)))
    with open_space(tmp_path_factory.mktemp("any") / "space.db") as space:
        found = ask_of(space, f"{text[:at]}¦{'' if cut else text[at:]}", behind=behind)
    if found is None or cut:
        return
    assert found.start <= at <= found.end
    for offer in found.offers[:5]:
        _still_read(text, found, offer)


def _still_read(text: str, found: Completion, offer: Offer) -> None:
    """What may break is told by the reader: a value is not there yet, a key is there twice."""
    new = text[: found.start] + offer.insert + text[found.end :]
    with suppress(InvalidJSON):
        read_json(new)
        return
    with pytest.raises(InvalidJSON) as caught:
        read_json(new)
    message = caught.value.message
    assert "a value was expected" in message or "twice" in message or offer.again, (message, new)


class Paging(BaseModel):
    """Where the next page is."""

    next: str | None
    tags: list[str]


class Orders(BaseModel):
    """A page of orders."""

    orders: list[int]
    page: Paging


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ('"tool": "shop/or¦', ["shop/orders"]),
        ('"tool": "shop/orders", "items": "¦', ["orders", "page.tags"]),
        ('"tool": "shop/orders", "items": "or¦', ["orders"]),
        ('"tool": "shop/orders", "next": "¦', ["page.next"]),
        ('"tool": "shop/orders", "arguments": {"¦', ["cursor"]),
        ('"tool": "shop/orders", "arguments": {"cursor": "$¦', ["$page", "$n", "$hits"]),
        ('"tool": "shop/orders", "as": "$at", "arguments": {"cursor": "$¦', ["$at", "$n", "$hits"]),
    ],
)
def test_what_pages_reads_is_offered(space: Space, written: str, offered: list[str]) -> None:
    """The tool and its arguments, and the places of its answer where a list or a cursor may be."""
    server = LocalTools("shop")

    @server.tool(read_only=True)
    def orders(cursor: str = "") -> Orders:
        """List orders."""
        return Orders(orders=[len(cursor)], page=Paging(next=None, tags=[]))

    space.tools.add(server)
    assert labels(ask_of(space, BEFORE + '{"type": "pages", ' + written)) == offered
