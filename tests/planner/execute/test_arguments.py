"""From arguments as written to what a primitive is called with, and what the digest of a step is made of."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from infospace import Space
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.ids import number_of
from infospace.core.resources import Collection, CreatedBy
from planner.execute.arguments import Resolver, digest, input_resource
from planner.execute.start import run_sync
from planner.execute.variables import Scope
from planner.language.plan import OwnedRows, Table

PEOPLE = [{"name": "Ada", "age": 36}, {"name": "Böb", "age": 25}]


@pytest.fixture
def resolver(space: Space) -> Resolver:
    """One with a Collection `$people`, an empty one, and Notes of a list, an object and a text."""
    context, scope = space.context(CreatedBy("run_1", "1", "test")), Scope()
    scope.bind("people", context.collection(context.make_notes(PEOPLE)).id)
    scope.bind("none", context.collection([]).id)
    for name, value in {"list": [1, 2], "who": {"least": 30}, "text": "two", "in": {"all": [1, 2]}}.items():
        scope.bind(name, context.note(value).id)
    return Resolver(context, scope)


def test_a_query_has_its_tables_and_the_values_of_its_parameters(space: Space) -> None:
    """Tables are Collections, and lists in what is bound."""
    steps: list[Any] = [
        {"type": "create-collection", "value": PEOPLE, "out": "$people"},
        {"type": "create-note", "value": {"least": 30, "names": [{"name": "Ada"}]}, "out": "$who"},
        {
            "type": "query",
            "sql": "SELECT p.name FROM $people p JOIN $who.names n ON p.name = n.name WHERE p.age > $who.least",
            "out": "$r",
        },
    ]
    result = run_sync(space, steps)
    assert result.result is not None, result.reason
    assert result.result.data == [{"name": "Ada"}]


def test_a_query_is_resolved_table_by_table(resolver: Resolver) -> None:
    """What is no text, or cannot be read, is passed on."""
    query = resolver.query("SELECT name FROM $people WHERE age > $who.least AND age < $who.most")
    assert list(query.tables) == ["people"]
    assert isinstance(query.tables["people"], Collection)
    assert query.parameters["who.least"] == 30
    assert isinstance(query.parameters["who.most"], PathNotFound)
    unread = resolver.query("SELECT FROM")
    assert (unread.text, unread.tables, unread.parameters) == ("SELECT FROM", {}, {})
    assert resolver.query(7) == 7


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (lambda one: one.value("$who"), '{"least":30}'),
        (lambda one: one.value("ä ${text}"), '"ä two"'),
        (lambda one: one.resource("$who"), '{"$":"ID","version":1}'),
        (lambda one: one.collection("$people"), '{"$":"ID","version":1}'),
        (
            lambda one: one.expression("age - $who.least"),
            '{"expression":"age - $who.least","parameters":{"who.least":30}}',
        ),
        (
            lambda one: one.expression("$who.most"),
            '{"expression":"$who.most","parameters":{"who.most":"MISSING"}}',
        ),
        (
            lambda one: one.query("SELECT name FROM $people WHERE age > $who.least AND age < $who.most"),
            (
                '{"parameters":{"who.least":30,"who.most":"MISSING"},'
                '"sql":"SELECT name FROM $people WHERE age > $who.least AND age < $who.most",'
                '"tables":{"people":{"$":"ID","version":1}}}'
            ),
        ),
        (lambda _: "\ud800", '"\ud800"'),
        (lambda _: 1j, '"1j"'),
    ],
)
def test_the_digest_of_a_step_counts_resources_by_id_and_values_as_json(resolver: Resolver, of: Any, text: str) -> None:
    """The journal keeps it, and runs of different versions are compared by it: it must not change."""
    value = of(resolver)
    found = getattr(value, "id", None)
    if found is None:
        found = getattr(getattr(value, "tables", {}).get("people"), "id", "")
    missing = getattr(value, "parameters", {}).get("who.most", "")
    whole = text.replace("ID", found).replace("MISSING", str(missing).replace('"', '\\"'))
    assert digest({"b": value, "a": None}) == sha256(f'{{"a":null,"b":{whole}}}')


@pytest.mark.parametrize(
    ("index", "target", "message", "hint"),
    [
        (2, "people", "has 2 items", "[0] to [1], or [-2] to [-1]"),
        (-3, "people", "has 2 items", "[0] to [1], or [-2] to [-1]"),
        (0, "none", "is empty", "branch on the condition `empty`"),
    ],
)
def test_a_place_beyond_a_collection_is_told_with_those_that_are_there(
    resolver: Resolver, index: int, target: str, message: str, hint: str
) -> None:
    collection = resolver.collection(f"${target}")
    assert isinstance(collection, Collection)
    with pytest.raises(PathNotFound) as refused:
        resolver.value(f"${target}[{index}]")
    assert refused.value.message == f"${target}[{index}] does not exist: {collection.id} {message}"
    assert refused.value.hint == hint


def test_what_is_no_list_is_told_with_what_makes_one(resolver: Resolver) -> None:
    made = resolver.collection("$list")
    assert isinstance(made, Collection)
    assert len(made) == 2
    of_place = resolver.collection("$in.all")
    assert isinstance(of_place, Collection)
    numbers = [number_of(member.id) for member in (*made.members, *of_place.members)]
    assert numbers == list(range(numbers[0], numbers[0] + 4)), "only the items are made Notes"
    with pytest.raises(Invalid) as refused:
        resolver.collection("$text")
    assert refused.value.message == 'unchecked: $text is "two", and a Collection or a list is wanted'
    assert refused.value.hint == "`split` makes a Collection of a text's parts"


def test_the_extra_of_a_step_that_nobody_journalled_does_not_exist(space: Space) -> None:
    """That of a resource which is not written yet is empty."""
    context, scope = space.context(), Scope()
    note = context.note(1)
    scope.bind("n", note.id)
    with pytest.raises(PathNotFound, match=r"`@extra` does not exist: no step that the journal has made ") as refused:
        Resolver(context, scope).value("$n.@extra.hits")
    assert refused.value.message.endswith(note.id)


def test_rows_that_another_run_has_taken_are_no_input(space: Space) -> None:
    rows = OwnedRows([{"a": 1}])
    rows.release()
    with pytest.raises(ValueError, match=r"^these rows were handed over to another run$"):
        input_resource(space.context(), Table(rows))
