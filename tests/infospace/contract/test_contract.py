"""A primitive is derived from one function, and a wrong declaration is refused where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from infospace import Args, Collection, Context, Note, Ref, Resource, SearchResult, Where, primitive
from infospace.contract.decorator import STEP_FIELDS
from infospace.core.json_types import JSON
from infospace.schema.shapes import CollectionShape, NoteShape, Unknown, schema_of
from planner.parse.control_flow import COMMON


class Words(Args):
    """Arguments of the primitives here."""

    text: str = Field(description="Words.")
    loud: bool = Field(False, description="Whether loud.")


class Buried(Args):
    """References inside a list have no reading."""

    targets: list[Ref[Note]] = Field(description="Notes.")


class BuriedWhere(Args):
    """Conditions inside an object have no reading."""

    conditions: dict[str, Where] | None = Field(None, description="Conditions.")


class Named(Args):
    """`name` is a field of every step."""

    name: str = Field(description="A name.")


@primitive(effect=lambda args: "writes" if args.loud else "pure", avoid=["Shouting."])
async def count_words_(args: Words, context: Context) -> Note[int]:
    """Count the words of a text.

    Blanks divide them.
    """
    return context.note(len(args.text.split()))


@primitive(effect="calls")
async def whisper(args: Words, context: Context) -> None:
    """Say it softly."""
    context.say(args.text.lower())


@primitive(effect="reads", out="required")
async def look(args: Words, context: Context) -> Collection[SearchResult]:
    """Look."""
    return context.collection([])


@primitive(effect="reads")
async def any_json(args: Words, context: Context) -> Note[JSON]:
    """Any content."""
    return context.note(args.text)


@primitive(effect="reads")
async def fetch(args: Words, context: Context) -> Resource:
    """Fetch."""
    return context.note(args.text)


def test_name_summary_and_behaviour_come_from_the_function() -> None:
    """A trailing underscore keeps a name off Python's words; underscores become dashes."""
    assert (count_words_.type, count_words_.summary) == ("count-words", "Count the words of a text.")
    assert count_words_.behaviour == "Blanks divide them."


def test_what_it_gives_comes_from_the_annotation() -> None:
    """In words for people, and as a shape for the check."""
    assert [entry.returns for entry in (count_words_, whisper, look, fetch)] == [
        "Note", "nothing", "Collection", "a resource",
    ]  # fmt: skip
    assert count_words_.gives({}, {}) == NoteShape({"type": "integer"}, None)
    hits = look.gives({}, {})
    assert isinstance(hits, CollectionShape)
    assert isinstance(hits.item, NoteShape)
    assert hits.item.content == schema_of(SearchResult)
    assert any_json.gives({}, {}) == NoteShape(None, None)
    assert fetch.gives({}, {}) == Unknown()


def test_out_is_required_optional_or_none() -> None:
    """What gives nothing has no `out`."""
    assert [entry.out for entry in (count_words_, whisper, look)] == ["optional", "none", "required"]


def test_an_effect_may_depend_on_the_arguments() -> None:
    """It is a word, or a function of them."""
    assert count_words_.effect_of(count_words_.validate({"text": "a", "loud": True})) == "writes"
    assert count_words_.effect_of(count_words_.validate({"text": "a"})) == "pure"
    assert look.effect_of(look.validate({"text": "a"})) == "reads"


def test_what_asks_or_calls_or_is_of_somebody_else_may_wait() -> None:
    """Unless it says so itself."""
    assert [entry.may_wait for entry in (count_words_, whisper, look)] == [False, True, False]
    assert replace(look, asks=True).may_wait
    assert replace(look, provider="somebody").may_wait
    assert [replace(entry, waits=not entry.may_wait).may_wait for entry in (look, whisper)] == [True, False]


def test_the_schema_is_closed_and_says_what_is_required() -> None:
    """JSON Schema for machines."""
    schema = count_words_.schema
    assert (schema["required"], schema["additionalProperties"]) == (["text"], False)
    assert schema["properties"]["text"]["description"] == "Words."


async def no_docstring(args: Words, context: Context) -> Note:
    return context.note(1)


async def no_return(args: Words, context: Context):  # type: ignore[no-untyped-def]
    """Make."""


async def gives_text(args: Words, context: Context) -> str:
    """Make."""
    return ""


async def other_arguments(args: dict[str, Any], context: Context) -> Note:
    """Make."""
    return context.note(1)


async def no_annotation(args, context: Context) -> Note:  # type: ignore[no-untyped-def]
    """Make."""
    return context.note(1)


async def other_parameters(words: Words, context: Context) -> Note:
    """Make."""
    return context.note(1)


async def buried(args: Buried, context: Context) -> Note:
    """Make."""
    return context.note(1)


async def buried_where(args: BuriedWhere, context: Context) -> Note:
    """Make."""
    return context.note(1)


async def named(args: Named, context: Context) -> Note:
    """Make."""
    return context.note(1)


async def unreadable(args: Wurds, context: Context) -> Note:  # type: ignore[name-defined]  # noqa: F821
    """Make."""
    return context.note(1)


async def good(args: Words, context: Context) -> Note:
    """Make."""
    return context.note(1)


def not_async(args: Words, context: Context) -> Note:
    """Make."""
    return context.note(1)


@pytest.mark.parametrize(
    ("function", "declared", "message"),
    [
        (no_docstring, {}, "'no-docstring' has no docstring, which its contract needs"),
        (no_return, {}, "'no-return' does not say what it gives; annotate it with `-> Note` or the like"),
        (gives_text, {}, "'gives-text': it gives <class 'str'>, which is neither a resource nor None"),
        (other_arguments, {}, r"'other-arguments': `args` is annotated with a class made from Args, not dict\["),
        (no_annotation, {}, "'no-annotation': `args` is annotated with a class made from Args, not None"),
        (other_parameters, {}, "'other-parameters': its parameters are `args` and `context`, not words, context"),
        (buried, {}, "'buried': 'targets' holds references inside; `Items` is a list of resources"),
        (buried_where, {}, "'buried-where': 'conditions' holds references inside"),
        (named, {}, "'named': 'name' is a field of every step, and cannot be an argument"),
        (unreadable, {}, "'unreadable': an annotation cannot be read where it stands: name 'Wurds' is not defined"),
        (not_async, {}, "'not-async': not_async is not an `async def`"),
        (good, {"effect": "magic"}, "'good': effect is 'magic', not one of pure, reads, writes, calls, or a function"),
        (good, {"effect": None}, "'good': effect is None, not one of"),
        (good, {"out": "perhaps"}, "'good': out is 'perhaps', not one of required, optional, none"),
        (good, {"examples": [{"type": "other"}]}, "'good': an example is of the type 'other'"),
    ],
)
def test_a_wrong_declaration_is_a_type_error_that_names_the_primitive(
    function: Callable[..., Any], declared: Mapping[str, Any], message: str
) -> None:
    """At import, not at the first call."""
    with pytest.raises(TypeError, match=message):
        primitive(**{"effect": "pure", **declared})(function)


def test_the_fields_of_every_step_are_those_of_the_language() -> None:
    """Arguments stand flat among them, so none may have such a name."""
    assert set(COMMON) | {"arguments"} == set(STEP_FIELDS)
