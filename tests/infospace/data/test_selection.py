"""Some places of a resource as one value, and the schema of it."""

from __future__ import annotations

from infospace import Note
from infospace.data.paths import ABSENT, Path
from infospace.schema.projection import Selection
from infospace.schema.shapes import NoteShape, schema_of_value, subschema_at

CONTENT = {"l": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "n": None}


def chosen(*paths: str) -> Selection:
    return Selection([Path.parse(path) for path in paths])


def test_places_inside_one_element_stand_in_one_element() -> None:
    """The same index twice is the same element; another index another, even where it means the same."""
    note = Note(id="Note_1", content=CONTENT)
    assert chosen("l[0].a", "l[0].b").read(note) == {"l": [{"a": 1, "b": "x"}]}
    assert chosen("l[0].a", "l[-2].b").read(note) == {"l": [{"a": 1}, {"b": "x"}]}
    assert chosen("l[0].a", "l[2].b").read(note) is ABSENT


def test_elements_of_different_schemas_leave_that_of_the_list_open() -> None:
    """Nothing is said of one that holds of the other only."""
    shape = NoteShape(schema_of_value(CONTENT), schema_of_value({}))
    assert subschema_at(chosen("l[0].a", "l[1].b").schema(shape), ("l", 0)) is None
    assert subschema_at(chosen("l[0].a", "l[1].a").schema(shape), ("l", 0, "a")) == {"type": "integer"}


def test_where_a_path_is_ruled_out_nothing_is_foretold() -> None:
    """A mistake makes no further mistakes of what follows."""
    assert chosen("l", "m").schema(NoteShape(schema_of_value(CONTENT), schema_of_value({}))) is None
