"""Argument types check themselves, and each mistake is one fault, in one sentence, at its place."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator

from infospace import (
    Args,
    Collection,
    Context,
    Invalid,
    Items,
    Limit,
    Note,
    Path,
    Ref,
    Relation,
    Resource,
    Slice,
    Value,
    Where,
    primitive,
)
from infospace.contract.arguments import UNKNOWN, ParseMode
from infospace.contract.decorator import ArgumentError, ArgumentsInvalid
from infospace.core.ids import Kind

NOTE = Note(id="Note_1", content="x")
LIST = Collection(id="Collection_1")
ARROW = Relation(id="Relation_1", source="Note_1", target="Note_1", relation="cites")


class Inner(BaseModel):
    """A model inside an argument."""

    model_config = ConfigDict(extra="forbid", strict=True)
    depth: int = Field(ge=1)


class Everything(Args):
    """An argument of each type."""

    target: Ref[Note] = Field(description="A Note.")
    other: Ref[Note] | Ref[Collection] | None = Field(None, description="A Note or a Collection.")
    anything: Ref[Resource] | None = Field(None, description="Any resource.")
    items: Items = Field(default_factory=list, description="Some things.")
    where: Where | None = Field(None, description="A condition.")
    field: Path | None = Field(None, description="A path.")
    fields: dict[str, Path] = Field(default_factory=dict, description="Paths by name.")
    by: Path | list[Path] = Field("title", description="One path or several.", validate_default=True)
    limit: Limit = Field(5, description="How many.")
    slice: Slice | None = Field(None, description="A part.")
    count: int = Field(1, ge=0, lt=10, description="A number.")
    counts: list[int] | None = Field(None, description="Numbers.")
    weight: float | None = Field(None, ge=-1, le=1, description="A weight.")
    mixed: int | str | list[int] = Field(0, description="A number, a text or numbers.")
    word: Literal["first", "last"] = Field("last", description="Where.")
    flag: bool = Field(False, description="Whether.")
    inner: Inner | None = Field(None, description="More.")
    value: Value = Field(None, description="Any JSON.")
    text: str = Field("", description="Words.")

    @field_validator("text")
    @classmethod
    def _polite(cls, text: str) -> str:
        if "!" in text:
            raise Invalid(f"`text` shouts {text!r}", hint="leave out the exclamation mark")
        return text


@primitive(effect="pure", examples=[{"type": "take-everything", "target": "$x"}])
async def take_everything(args: Everything, context: Context) -> Note:
    """Take everything."""
    return context.note(args.value)


class Nothing(Args):
    """No arguments."""


@primitive(effect="pure")
async def tick(args: Nothing, context: Context) -> Note:
    """Make a Note."""
    return context.note(1)


def faults(**arguments: Any) -> list[ArgumentError]:
    """What is wrong with arguments beside a good `target`."""
    with pytest.raises(ArgumentsInvalid) as raised:
        take_everything.validate({"target": NOTE, **arguments})
    return list(raised.value.faults)


def read(**arguments: Any) -> Any:
    """Validated arguments."""
    return take_everything.validate({"target": NOTE, **arguments})


@pytest.mark.parametrize(
    ("arguments", "place", "message"),
    [
        ({"limit": 0}, ("limit",), '`limit` is 0, not a whole number from 1 or "all"'),
        ({"limit": -1}, ("limit",), '`limit` is -1, not a whole number from 1 or "all"'),
        ({"limit": "many"}, ("limit",), '`limit` is "many", not a whole number from 1 or "all"'),
        ({"limit": 2.5}, ("limit",), '`limit` is 2.5, not a whole number from 1 or "all"'),
        ({"limit": True}, ("limit",), '`limit` is true, not a whole number from 1 or "all"'),
        ({"limit": None}, ("limit",), '`limit` is null, not a whole number from 1 or "all"'),
        ({"count": -1}, ("count",), "`count` is -1, not a whole number from 0 and below 10"),
        ({"count": 10}, ("count",), "`count` is 10, not a whole number from 0 and below 10"),
        ({"count": True}, ("count",), "`count` is true, not a whole number from 0 and below 10"),
        ({"counts": [1, "2", 2.5]}, ("counts", 1), '`counts[1]` is "2", not a whole number'),
        ({"weight": 2}, ("weight",), "`weight` is 2, not a number from -1 to 1"),
        ({"weight": "0.3"}, ("weight",), '`weight` is "0.3", not a number from -1 to 1'),
        ({"slice": "5"}, ("slice",), '`slice` is "5", not a slice such as "2:5", ":100" or "-3:"'),
        ({"slice": "1:2:0"}, ("slice",), '`slice`: "1:2:0" has steps of 0'),
        ({"field": 3}, ("field",), "`field` is 3, not a path"),
        ({"field": "a..b"}, ("field",), "`field`: 'a..b' is not a path: found '.' at character 1"),
        ({"fields": {"a": "b", "c": 1}}, ("fields", "c"), "`fields.c` is 1, not a path"),
        ({"by": 3}, ("by",), "`by` is 3, not a path or a list of paths"),
        ({"by": ["a", "b", "c d"]}, ("by", 2), "`by[2]`: 'c d' is not a path: found ' ' at character 1"),
        ({"mixed": None}, ("mixed",), "`mixed` is null, not a whole number, text or a list of whole numbers"),
        ({"mixed": [1, "b"]}, ("mixed", 1), '`mixed[1]` is "b", not a whole number'),
        ({"word": "First"}, ("word",), '`word` is "First", not "first" or "last"'),
        ({"flag": "yes"}, ("flag",), '`flag` is "yes", not true or false'),
        ({"text": ["a"]}, ("text",), '`text` is ["a"], not text'),
        ({"inner": 3}, ("inner",), "`inner` is 3, not an object"),
        ({"inner": {"depth": 0}}, ("inner", "depth"), "`inner.depth` is 0, not a whole number from 1"),
        ({"inner": {"depth": 1, "dept": 2}}, ("inner", "dept"), "`inner` has no field 'dept'"),
        ({"inner": {}}, ("inner",), "`inner` needs 'depth'"),
        ({"items": 3}, ("items",), "`items` is 3, not a list or one resource"),
        ({"other": ARROW}, ("other",), "`other` is Relation_1, a Relation, not a Collection or a Note"),
        ({"other": "name"}, ("other",), '`other` is "name", not a Collection or a Note'),
        ({"anything": 3}, ("anything",), "`anything` is 3, not a resource"),
        ({"target": LIST}, ("target",), "`target` is Collection_1, a Collection, not a Note"),
        ({"where": 3}, ("where",), "`where` is 3, not an SQL condition"),
        ({"text": "hey!"}, ("text",), "`text` shouts 'hey!'"),
    ],
)
def test_a_mistake_is_one_sentence_with_what_was_given_and_what_fits(
    arguments: dict[str, Any], place: tuple[str | int, ...], message: str
) -> None:
    """Values are written as in a plan; names that a validator gives to alternatives never show."""
    found = faults(**arguments)
    assert (found[0].place, found[0].message) == (place, message)
    assert len(found) == (2 if "counts" in arguments else 1)


def test_codes_tell_kinds_and_conditions_from_the_rest() -> None:
    """They are stable, for programs."""
    codes = {name: faults(**{name: 3})[0].code for name in ("target", "where", "slice", "field")}
    assert codes == {"target": "wrong-kind", "where": "bad-where", "slice": "bad-argument", "field": "bad-argument"}
    assert faults(where="a =")[0].code == "bad-where"


def test_all_faults_come_at_once() -> None:
    """In the order of the arguments, and the error's own sentence counts them."""
    with pytest.raises(ArgumentsInvalid) as raised:
        take_everything.validate({"count": -1, "limit": 0, "colour": "red"})
    assert [fault.code for fault in raised.value.faults] == [
        "missing-argument", "bad-argument", "bad-argument", "unknown-argument",
    ]  # fmt: skip
    assert str(raised.value).startswith("take-everything needs 'target', and 3 more")


def test_an_unknown_argument_names_the_nearest_or_all() -> None:
    """A name that is nearly one that is missing is one mistake."""
    (near,) = faults(cuont=1)
    assert (near.place, near.code, near.hint) == (("cuont",), "unknown-argument", "did you mean 'count'?")
    (far,) = faults(zzz=1)
    assert (far.hint or "").startswith("it takes target, other, anything")
    with pytest.raises(ArgumentsInvalid) as raised:
        take_everything.validate({"tarjet": NOTE})
    assert [fault.code for fault in raised.value.faults] == ["unknown-argument"]


def test_hints_say_what_an_argument_is_for_and_its_default() -> None:
    """In words and in JSON."""
    assert faults(flag=1)[0].hint == "Whether; the default is false"
    assert faults(word="lst")[0].hint == 'did you mean "last"?'
    with pytest.raises(ArgumentsInvalid) as raised:
        take_everything.validate({})
    assert raised.value.faults[0].hint == "A Note"


def test_good_values_are_read_into_what_a_primitive_wants() -> None:
    """Limits, slices, paths and conditions are parsed; numbers may be written with a point."""
    args = read(
        limit="all", slice="-3::2", field="metadata.score", by=["a", "b[0]"], where="a > 1", count=2.0, counts=[3.0]
    )
    assert (args.limit, args.slice, args.count, args.counts) == (None, slice(-3, None, 2), 2, [3])
    assert (str(args.field), [str(path) for path in args.by]) == ("metadata.score", ["a", "b[0]"])
    assert args.where.match(Note(id="Note_2", content={"a": 2})) is True
    assert read(limit=7.0).limit == 7
    assert str(read().by) == "title"
    assert (type(read(weight=1).weight), read(items=NOTE).items, read(items=(1,)).items) == (float, [NOTE], [1])


@given(
    st.tuples(*[st.none() | st.integers(-9, 9)] * 2), st.none() | st.integers(-3, 3).filter(bool), st.text(max_size=9)
)
def test_a_slice_means_what_it_means_in_python(
    ends: tuple[int | None, int | None], step: int | None, text: str
) -> None:
    """Blanks around the numbers are passed over."""
    start, stop = ("" if end is None else f" {end} " for end in ends)
    written = f"{start}:{stop}" + ("" if step is None else f":{step}")
    assert text[read(slice=written).slice] == text[ends[0] : ends[1] : step]


@pytest.mark.parametrize("name", list(Everything.model_fields))
def test_what_only_the_run_will_know_fits_every_argument(name: str) -> None:
    """So the check can validate the rest."""
    assert getattr(take_everything.validate({"target": UNKNOWN, name: UNKNOWN}), name) is UNKNOWN


def test_arguments_say_how_they_are_read() -> None:
    """The reader of references needs no verb for that."""
    arguments = take_everything.arguments
    assert list(arguments) == list(Everything.model_fields)
    resources = {name: argument.kinds for name, argument in arguments.items() if argument.reading is ParseMode.RESOURCE}
    assert resources == {
        "target": {Kind.NOTE},
        "other": {Kind.NOTE, Kind.COLLECTION},
        "anything": set(Kind),
    }
    assert (arguments["items"].reading, arguments["where"].reading) == (ParseMode.ITEMS, ParseMode.WHERE)
    assert {arguments[name].reading for name in ("limit", "by", "value", "slice")} == {ParseMode.VALUE}
    assert [name for name, argument in arguments.items() if argument.required] == ["target"]
    assert (arguments["limit"].default, arguments["items"].default) == (5, [])


def test_arguments_are_frozen() -> None:
    """A primitive cannot change what it was called with."""
    with pytest.raises(ValueError, match="frozen"):
        read().count = 3


def test_a_primitive_can_be_without_arguments() -> None:
    """Then every argument is one too many."""
    with pytest.raises(ArgumentsInvalid) as raised:
        tick.validate({"a": 1})
    assert raised.value.faults[0].hint == "it takes none"
