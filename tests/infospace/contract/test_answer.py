"""What a step answers, and how a direct call tells an expected failure from a bug."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from infospace import Args, Collection, Context, Invalid, Note, Ref, Relation, Resource, Space, primitive
from infospace.context.invoke import BUG, call, call_directly
from infospace.core.ids import Kind
from infospace.data.result import PREVIEW, StepResult, display_name, truncate
from infospace.store.changes import Delete


class Text(Args):
    """One text."""

    text: str = Field(description="Words.")


class One(Args):
    """One resource."""

    target: Ref[Resource] = Field(description="A resource.")


@primitive(effect="pure")
async def divide(args: Text, context: Context) -> Note:
    """Have a bug."""
    return context.note(1 // len(args.text))


@primitive(effect="pure")
async def refuse(args: Text, context: Context) -> Note:
    """Fail as expected."""
    raise Invalid(f"{args.text!r} does not fit", hint="something shorter")


@primitive(effect="pure")
async def lie(args: Text, context: Context) -> Note:
    """Give what is no resource."""
    return args.text  # type: ignore[return-value]


@primitive(effect="reads")
async def same(args: One, context: Context) -> Resource:
    """Give it back."""
    context.extra["seen"] = args.target.id
    return args.target


@given(st.text(max_size=60), st.integers(50, 60))
def test_a_cut_text_is_short_enough_and_says_that_it_is_cut(text: str, most: int) -> None:
    """A short one is as it was."""
    shown = truncate(text, most)
    assert len(shown) <= most
    assert shown == text if len(text) <= most else shown.endswith(f"… [cut: {len(text)} characters in all]")


def test_an_answer_is_the_documented_object() -> None:
    """`data` may be left out, nothing else."""
    keys = ["status", "resource_id", "value", "data", "reason", "extra", "started_at", "duration_ms"]
    assert list(StepResult("success").to_json()) == keys
    assert list(StepResult("success").to_json(data=False)) == [key for key in keys if key != "data"]


def ask(space: Space, entry: Any, **arguments: Any) -> StepResult:
    """Call a primitive directly."""
    return asyncio.run(call_directly(entry, arguments, space.context()))


def test_an_expected_failure_is_one_sentence_with_its_kind(space: Space) -> None:
    """What was wrong, and what would have fitted."""
    failed = ask(space, refuse, text="abc")
    assert (failed.status, failed.error) == ("failed", "invalid")
    assert failed.reason == "'abc' does not fit (something shorter)"
    assert ask(space, refuse, text=3).reason == "`text` is 3, not text (Words)"


@pytest.mark.parametrize("entry", [divide, lie])
def test_a_bug_is_a_failure_of_its_own_kind_with_a_traceback(space: Space, entry: Any) -> None:
    """The user reads one sentence."""
    outcome = asyncio.run(call(entry, {"text": ""}, space.context()))
    assert (outcome.status, outcome.error) == ("failed", BUG)
    assert (outcome.reason or "").startswith(f"{entry.type} has a bug (")
    assert "Traceback" in (outcome.trace or "")


def test_a_direct_call_leaves_nothing_behind(space: Space) -> None:
    """Nothing is committed; what was made has no id to be read by, and what was there has."""
    made = ask(space, space.catalogue.get("create-note"), value={"a": 1})
    assert (made.status, made.resource_id, made.data) == ("success", None, {"a": 1})
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 0
    view = space.context()
    note = view.note("there")
    space.store.commit(view.changes)
    found = ask(space, same, target=note)
    assert (found.resource_id, found.data, found.extra) == (note.id, "there", {"seen": note.id})


def test_data_that_cannot_be_read_is_a_failure_and_no_exception(space: Space) -> None:
    """Of a Collection whose item was deleted, for one."""
    view = space.context()
    note = view.note("gone soon")
    list_ = view.collection([note])
    space.store.commit(view.changes)
    space.store.commit([Delete(note.id)])
    failed = ask(space, same, target=list_)
    assert (failed.status, failed.error, failed.data) == ("failed", "not-found", None)


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (Note(id="Note_1", content="First line\n\nSecond  line"), "First line Second line"),
        (Note(id="Note_1", content="text", name="named"), "named"),
        (Note(id="Note_1", content="text", name="named", metadata={"title": "Titled"}), "Titled"),
        (Note(id="Note_1", content="text", metadata={"title": 3}), "3"),
        (Note(id="Note_1", content={"a": 1}), '{"a":1}'),
        (Note(id="Note_1", content=""), ""),
        (Note(id="Note_1", content="x" * 90), "x" * 59 + "…"),
        (Collection(id="Collection_2"), "Collection_2"),
        (Collection(id="Collection_2", name="list"), "list"),
        (Collection(id="Collection_2", metadata={"title": "On two\nlines"}), "On two lines"),
        (Relation(id="Relation_3", source="Note_1", target="Note_2", relation="cites"), "Relation_3"),
    ],
)
def test_a_label_tells_a_resource_from_others(resource: Resource, words: str) -> None:
    """Its title, its name, or how its text begins."""
    assert display_name(resource) == words


def test_previews_fit_and_say_when_they_are_cut(space: Space) -> None:
    """Of a Note its text, of a Collection its first items."""
    view = space.context()
    assert view.preview(view.note("short")) == "short"
    long = view.preview(view.note("x" * 10_000))
    assert len(long) <= PREVIEW
    assert long.endswith("… [cut: 10,000 characters in all]")
    notes = [view.note(f"number {n}") for n in range(12)]
    assert view.preview(view.collection(notes[:1])) == "1 note: number 0"
    assert view.preview(view.collection(notes)).startswith("12 items: number 0; number 1; ")
    assert view.preview(view.collection(notes)).endswith("; number 7; … and 4 more")
    assert view.preview(view.collection([])) == "0 items"
    assert view.preview(view.collection([notes[0], view.collection([])])).startswith("2 items: number 0; Collection_")


def test_an_answer_says_three_things_that_a_reader_is_to_know(space: Space) -> None:
    """Each once, in their order, behind the text or the number of items."""
    view = space.context()
    for text in ("one", "", "two", "one", "three", "four"):
        view.remark(text)
    note = view.note("short")
    assert view.answer(note) == "short (one; two; three)"
    assert view.answer(view.collection([note])) == "1 note (one; two; three): short"


def test_a_text_that_is_cut_again_says_how_long_it_was_at_first() -> None:
    """Whatever it was cut to in between."""
    once = truncate("x" * 9_000)
    again = truncate(once, 120)
    assert len(again) <= 120
    assert again.endswith("… [cut: 9,000 characters in all]")
