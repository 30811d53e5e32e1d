"""A tool's text: which fields it has, how names are split, how schemas are read."""

from __future__ import annotations

import time
from typing import Any

import pytest

from infospace.core.tool import Tool
from infospace.tools.search.documents import MOST_PLACES, WORDS_EMBEDDED, embedded, fields_of, split_name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("read_file", "read file"),
        ("git-commit.all/now", "git commit all now"),
        ("getHTTPResponseCode", "get HTTP Response Code"),
        ("readCSVFile_v2", "read CSV File v2"),
        ("plan:weekly-digest", "plan weekly digest"),
        ("s3_upload", "s3 upload"),
        ("überGrößeÄndern", "über Größe Ändern"),
        ("__", ""),
    ],
)
def test_a_name_is_split_where_its_words_end(name: str, words: str) -> None:
    """At marks, and where small letters turn into capitals."""
    assert split_name(name) == words


def test_every_field_has_what_the_tool_says() -> None:
    """Names, descriptions and enumerated values of parameters and results; labels; the server."""
    tool = Tool(
        "maps",
        "find_route",
        "Find a way.",
        {
            "type": "object",
            "description": "not a parameter",
            "properties": {
                "from_place": {"type": "string", "description": "Where it begins"},
                "by": {"enum": ["car", "train", 3]},
                "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
                "when": {"anyOf": [{"const": "now"}, {"type": "string", "description": "A time"}]},
            },
            "$defs": {"Stop": {"properties": {"town": {"description": "Its name", "examples": ["Faro", 3]}}}},
        },
        {"type": "object", "properties": {"kilometres": {"type": "number", "description": "How long it is"}}},
        title="Route finder",
        tags=("travel", "geo"),
        category="Maps",
        server_title="Map server",
        server_description="Maps of the world",
        examples=({"from_place": "Lisbon", "stops": [{"town": "Porto"}, 3]},),
    )
    fields = fields_of(tool)
    assert fields.parameters == "from place Where it begins. by car train. stops. town Its name Faro. when. now. A time"
    assert fields.results == "kilometres How long it is"
    assert (fields.title, fields.labels) == ("Route finder", "Maps travel geo")
    assert fields.server == "maps Map server Maps of the world"
    assert fields.examples == "Lisbon. Porto"


def test_a_schema_that_refers_to_itself_ends() -> None:
    """And one that is wide or deep is read only so far."""
    tree: dict[str, Any] = {"$ref": "#", "properties": {"child": {"$ref": "#"}}}
    assert fields_of(Tool("s", "t", input_schema=tree)).parameters.startswith("child")
    wide = {"properties": {f"p{number}": {} for number in range(5_000)}}
    assert len(fields_of(Tool("s", "t", input_schema=wide)).parameters.split(". ")) == MOST_PLACES
    names = [f"d{number}" for number in range(500)]
    defs = {name: {"anyOf": [{"$ref": f"#/$defs/{other}"} for other in names]} for name in names}
    started = time.process_time()
    assert fields_of(Tool("s", "t", input_schema={"$ref": "#/$defs/d0", "$defs": defs})).parameters == ""
    assert time.process_time() - started < 2
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"properties": {"inner": deep}}
    assert 0 < len(fields_of(Tool("s", "t", input_schema=deep)).parameters) < 100


@pytest.mark.parametrize("schema", [{"properties": 3}, {"anyOf": {}}, {"$ref": 7}, {"$ref": "#/nowhere"}, {"enum": 1}])
def test_a_schema_that_is_nonsense_says_nothing(schema: dict[str, Any]) -> None:
    """A server's schema is not ours to trust."""
    assert fields_of(Tool("s", "t", input_schema=schema)).parameters == ""


def test_what_changes_with_the_tools_state_is_no_text() -> None:
    """So that nothing is embedded again when a server comes or goes."""
    there = Tool("s", "t", "Do it.", connected=True, trusted=True, id="tool_1", created="2026-01-01T00:00:00Z")
    gone = Tool("s", "t", "Do it.", connected=False, trusted=False, blocked=True, id="tool_2")
    assert fields_of(there) == fields_of(gone)


def test_a_long_description_is_embedded_as_its_beginning() -> None:
    """And a short one together with what the tool takes."""
    name, said = embedded(fields_of(Tool("s", "doIt", "word " * 500)))
    assert (name, len(said.split())) == ("do It", WORDS_EMBEDDED)
    schema = {"properties": {"path": {"description": "Where"}}}
    assert embedded(fields_of(Tool("s", "t", "Short.", schema)))[1] == "Short. path Where"


def parameters_of(schema: dict[str, Any]) -> str:
    return fields_of(Tool("s", "t", "D.", schema)).parameters


def test_a_schema_is_read_to_a_depth_and_a_number_of_places() -> None:
    """Places that say nothing count as well."""
    deep: dict[str, Any] = {"description": "bottom"}
    for _ in range(6):
        deep = {"properties": {"in": deep}}
    assert parameters_of(deep) == "in. in. in. in. in. in bottom"
    assert parameters_of({"properties": {"out": deep}}) == "out. in. in. in. in. in"
    many = {"allOf": [{"items": {}}] * 1_999, "anyOf": [{"title": "x"}, {"description": "last"}]}
    assert parameters_of({**many, "allOf": many["allOf"][:-1]}) == "last"
    assert parameters_of(many) == ""
