from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Location
from infospace.data.paths import (
    ABSENT,
    OWN,
    Path,
    Readable,
    find,
    kind_of,
    lookup,
    nearest,
    parse_suffix,
    read,
    read_path,
    reader,
)


@dataclass(frozen=True)
class Note:
    """A resource as `Readable` asks for it."""

    content: JSON
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    id: str = "Note_12"
    name: str | None = None
    created: str = "2026-01-02T03:04:05Z"
    updated: str = "2026-02-03T04:05:06Z"
    location: Location | None = None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("title", ("title",)),
        ("metadata.score", ("metadata", "score")),
        ("a-b.c_d2", ("a-b", "c_d2")),
        ("größe.日本", ("größe", "日本")),
        ("tags[3][-1]", ("tags", 3, -1)),
        ('["any key"].x["y z"]', ("any key", "x", "y z")),
        ("['any key']", ("any key",)),
        ('["say ""so"""]', ('say "so"',)),
        ("['it''s']", ("it's",)),
        ('[""]', ("",)),
        ("[0].title", (0, "title")),
        ("@metadata.tags[0]", ("@metadata", "tags", 0)),
        ("@id", ("@id",)),
        ('a["@id"]', ("a", "@id")),
        ('["3"]', ("3",)),
    ],
)
def test_a_path_is_read_as_written(text: str, parts: tuple[str | int, ...]) -> None:
    """Bare keys, quoted keys, positions and the words for the resource are the whole grammar."""
    assert Path.parse(text).parts == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a path is empty"),
        ("a b", "character 1"),
        ("3a", "character 0"),
        ("a.", "character 1"),
        ("a[b]", "character 1"),
        ("a[1", "character 1"),
        ('a["x]', "character 1"),
        ("a..b", "character 1"),
        ("a.@id", "character 1"),
        ("`a`", "character 0"),
        ("$x", "character 0"),
        ('["@id"]', "write @id without quotes"),
        ("@nmae", "did you mean @name"),
        ("@", "there are @metadata, @id"),
    ],
)
def test_what_is_no_path_is_refused_with_its_place(text: str, message: str) -> None:
    """An error names the character at fault, or what would have fitted."""
    with pytest.raises(Invalid) as caught:
        Path.parse(text)
    assert message in str(caught.value)
    assert caught.value.hint


def test_an_index_of_many_digits_is_refused() -> None:
    """No number of digits makes the reader slow or raises something else."""
    with pytest.raises(Invalid, match="is not a path: found"):
        Path.parse(f"a[{'9' * 10_000}]")


any_part = st.one_of(st.text(max_size=8), st.integers(-(10**9), 10**9))
first_part = st.one_of(st.sampled_from(OWN), any_part)


@given(first_part, st.lists(first_part, max_size=5))
def test_writing_and_reading_a_path_comes_back_to_it(first: str | int, rest: list[str | int]) -> None:
    """Whatever the keys, the text of a path reads as that path."""
    path = Path((first, *rest))
    assert Path.parse(str(path)) == path


@given(st.text(alphabet="ab.[]'\"`@0-_ ", max_size=20))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    """There is nothing but an answer or `Invalid`, and an answer is written as something that reads the same."""
    try:
        path = Path.parse(text)
    except Invalid:
        return
    assert Path.parse(str(path)) == path


@pytest.mark.parametrize(
    ("text", "parts", "rest"),
    [
        ("$x.title[0] and more", ("title", 0), " and more"),
        ("$x", (), ""),
        ("$x.", (), "."),
        ("$x. Then", (), ". Then"),
        ("$x.a.", ("a",), "."),
        ("$x}.b", (), "}.b"),
        ('$x["any key"]!', ("any key",), "!"),
        ("$x[-1].@id", (-1, "@id"), ""),
        ("$x.@metadata.t", ("@metadata", "t"), ""),
        ("$x[0][1].a", (0, 1, "a"), ""),
    ],
)
def test_a_suffix_ends_where_no_key_follows(text: str, parts: tuple[str | int, ...], rest: str) -> None:
    """After a variable the longest path is read, and a full stop ends it."""
    path, end = parse_suffix(text, 2)
    assert (path.parts, text[end:]) == (parts, rest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$x[a]", "is not a path: found '[' at character 2"),
        ("$x.a[", "is not a path: found '[' at character 4"),
        ("$x[0", "is not a path: found '[' at character 2"),
        ("$x.@what", "'@what' (character 3) is nothing that a resource has"),
        ('$x["@id"]', "has @id as a content key in first place (character 2)"),
        ("$x[0]['@name']", "has @name as a content key in first place (character 5)"),
    ],
)
def test_a_suffix_that_opens_wrongly_is_refused(text: str, message: str) -> None:
    """A `[` after a variable means a place, so one that cannot be read is an error and not text."""
    with pytest.raises(Invalid, match=re.escape(message)):
        parse_suffix(text, 2)


def test_backticks_are_keys_only_where_asked_for() -> None:
    """`where` has them for odd names; references and fields do not."""
    assert read_path("`due ``x`` date`.`b c`[0] = 1", 0, backticks=True) == (Path(("due `x` date", "b c", 0)), 25)
    assert read_path("a.`b`", 0) == (Path(("a",)), 1)


HIT = Note(
    {"title": "inner", "metadata": {"score": 0.5}, "tags": ["a", None], "n": None},
    {"title": "outer", "source": "mail", "score": 9},
    name="first",
)
FILED = Note({"@path": "mine"}, location=Location("/notes", "a/b/c.md"))
TEXT = Note("two words", {"title": "outer"})
ROWS = Note([{"a": 1}, [2, 3]])


@pytest.mark.parametrize(
    ("note", "text", "value"),
    [
        (HIT, "title", "inner"),
        (HIT, "metadata.score", 0.5),
        (HIT, "@metadata.score", 9),
        (HIT, "@metadata", HIT.metadata),
        (HIT, "tags[-1]", None),
        (HIT, "n", None),
        (HIT, "@id", "Note_12"),
        (HIT, "@name", "first"),
        (TEXT, "@name", None),
        (TEXT, "@created", TEXT.created),
        (TEXT, "@updated", TEXT.updated),
        (TEXT, "content", "two words"),
        (FILED, "@path", "a/b/c.md"),
        (FILED, "@folder", "a/b"),
        (FILED, "@root", "/notes"),
        (Note("", location=Location("/notes", "c.md")), "@folder", ""),
        (TEXT, "metadata.title", "outer"),
        (ROWS, "[0].a", 1),
        (ROWS, "[-1][1]", 3),
        (Note({"a": 1}, {"b": 2}), "metadata.b", 2),
        (Note({"content": 1}), "content", 1),
        (Note({"@id": "mine"}), "@id", "Note_12"),
        (Note(MappingProxyType({"a": {"b": (1, 2)}})), "a.b[1]", 2),
    ],
)
def test_a_path_reads_by_the_one_rule(note: Note, text: str, value: JSON) -> None:
    """Content first, then the resource's own `metadata`, then a text's `content`; `@` is always the resource."""
    path = Path.parse(text)
    assert read(note, path) == value
    assert find(note, path) == value
    assert reader(path)(note) == value


@pytest.mark.parametrize(
    ("note", "text", "message"),
    [
        (HIT, "source", "did you mean metadata.source?"),
        (HIT, "metadata.title", "`metadata` has no key 'title'"),
        (HIT, "metadata.scor", "did you mean score?"),
        (HIT, "tags[2]", "`tags` has 2 items (they are [0] to [1], or [-2] to [-1])"),
        (HIT, "tags[-3]", "`tags` has 2 items"),
        (HIT, "tags.a", "`tags` is a list, not an object"),
        (HIT, "title[0]", "`title` is a string, not a list"),
        (HIT, "n.x", "`n` is null, not an object"),
        (HIT, "content", "the content of Note_12 has no key 'content'"),
        (HIT, "@path", "`@path` does not exist: Note_12 was not imported from a file (`bound` asks whether it exists)"),
        (FILED, "@root.x", "`@root` is a string, not an object"),
        (HIT, "@id.x", "`@id` is a string, not an object"),
        (HIT, "@metadata.x", "`@metadata` has no key 'x'"),
        (TEXT, "title", "did you mean metadata.title?"),
        (TEXT, "words", "the content of Note_12 is a string, not an object"),
        (Note(3), "title", "the content of Note_12 is a number"),
        (Note(None), "a", "the content of Note_12 is null"),
        (Note({}), "a", "the content of Note_12 has no keys"),
        (Note([]), "[0]", "the content of Note_12 has 0 items"),
        (ROWS, "[1].a", "`[1]` is a list, not an object"),
        (Note({"a": True}), "a[0]", "`a` is a boolean"),
    ],
)
def test_a_missing_place_says_what_there_is(note: Note, text: str, message: str) -> None:
    """There is no other fall-back: what is missing is named, with the keys or the number of items there are."""
    path = Path.parse(text)
    assert find(note, path) is ABSENT
    assert reader(path)(note) is ABSENT
    with pytest.raises(PathNotFound) as caught:
        read(note, path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"`{path}` does not exist: ")


def test_of_many_keys_the_nearest_twelve_are_shown() -> None:
    """A large object does not flood the sentence, and the key that was meant stands first."""
    with pytest.raises(PathNotFound) as caught:
        lookup({f"key{n}": n for n in range(50)} | {"score": 1}, ("scoer",))
    hint = caught.value.hint or ""
    assert hint.startswith("did you mean score? it has score, ")
    assert hint.endswith(", …")
    assert hint.count("key") == 11


def test_lookup_goes_into_plain_json() -> None:
    """Inside JSON the words of the resource mean nothing."""
    value: JSON = {"a": [{"b c": 1}], "@id": 7}
    assert lookup(value, ("a", 0, "b c")) == 1
    assert lookup(value, ("@id",)) == 7
    assert lookup(value, ()) is value
    with pytest.raises(PathNotFound, match=r"`a\[0\]\[\"b d\"\]` does not exist: `a\[0\]` has no key 'b d'"):
        lookup(value, ("a", 0, "b d"))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*"abc", "metadata", "content"]), inner, max_size=3),
    ),
    max_leaves=8,
)
short_parts = st.lists(
    st.one_of(st.sampled_from(["a", "b", "metadata", "content", *OWN]), st.integers(-2, 2)), max_size=3
)


@given(json_values, short_parts)
def test_find_reader_and_read_agree(content: JSON, parts: list[str | int]) -> None:
    """The three ways of reading a place are one rule."""
    note: Readable = Note(content, {"a": {"b": 1}})
    path = Path(tuple(parts))
    found = find(note, path)
    assert reader(path)(note) is found or reader(path)(note) == found
    if found is ABSENT:
        with pytest.raises(PathNotFound, match="does not exist: "):
            read(note, path)
    else:
        assert read(note, path) == found


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "number"),
        (1.5, "number"),
        ("", "string"),
        ([], "list"),
        ((), "list"),
        ({}, "object"),
        (MappingProxyType({}), "object"),
    ],
)
def test_a_boolean_is_not_a_number(value: JSON, kind: str) -> None:
    """Each JSON value has one kind, whatever Python's types inherit from."""
    assert kind_of(value) == kind


def test_the_nearest_word_ignores_case_and_stays_away_from_strangers() -> None:
    """A slip is found; a word of its own is not."""
    assert nearest("Scoer", ["title", "score"]) == "score"
    assert nearest("TITLE", ["title", "score"]) == "title"
    assert nearest("entirely", ["title", "score"]) is None
    assert nearest("x", []) is None


def test_importing_paths_and_where_loads_nothing_heavy() -> None:
    """Only reading a `where` loads sqlglot; only a miss loads difflib."""
    code = (
        "import sys, infospace.data.paths, infospace.expressions\n"
        "print({'sqlglot', 'numpy', 'difflib', 're2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
