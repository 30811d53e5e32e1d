"""A change goes to its place in a Markdown file, and the rest of the file stays byte for byte."""

from __future__ import annotations

import codecs
import importlib.metadata
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Invalid, Space
from infospace.data.json_text import same
from infospace.editing.edit import edit
from infospace.files import export as exporting
from infospace.files.atomic_write import write_atomically
from infospace.files.export import export, write_back
from infospace.files.formats.markdown_file import read
from infospace.files.in_place.json_edits import edited_json
from infospace.files.in_place.markdown_edits import edited_markdown
from infospace.files.in_place.splice import WrittenText, line_edits
from infospace.files.tracked_files import track, was_of
from tests.infospace.memory.imported import add, counts, notes, write

ODD = """---
# What this is about
"quoted key": 'it''s'   # keep me
status:   open   # open, done
numbers: [1,  2,3 , ]
tags:
- a
# about b
- "#b"   # trailing
flow: {a: 1,   b: {c: "x"}, d}
deep:
    list:
      - one: 1   # first
        two: 2
      - three
    map: { }
literal: |
  first line
    indented

  last
folded: >-
  some
  text


empty:
other:   # nothing here
date: 2026-11-24
anchor: &who {name: Ann}
same: *who
? explicit
: value
plain: several
  lines of it
last: "\\u00e9"
# the end
---
# Title

- [ ] open task \U0001f4c5 2026-11-30
\t- [x] nested with a tab
  * [-] other

text with two blanks\x20\x20
#tag
"""

CHANGES: list[tuple[str, Any, str, str]] = [
    ("quoted key", "isn't", "'it''s'   # keep", "'isn''t'   # keep"),
    ("quoted key", 3, "'it''s'   # keep", "3   # keep"),
    ("last", 5, '"\\u00e9"', "5"),
    ("last", ["a"], '"\\u00e9"', "[a]"),
    ("status", "done", "status:   open ", "status:   done "),
    ("status", "yes", "status:   open ", 'status:   "yes" '),
    ("status", None, "status:   open ", "status:   null "),
    ("status", 3, "status:   open ", "status:   3 "),
    ("status", ["a", 1], "status:   open ", "status:   [a, 1] "),
    ("numbers", [1, 2, 3, 4], "2,3 , ]", "2,3, 4 , ]"),
    ("numbers", [1, 3], "[1,  2,3 , ]", "[1,3 , ]"),
    ("numbers", [2, 3], "[1,  2,3 , ]", "[2,3 , ]"),
    ("numbers", [], "[1,  2,3 , ]", "[]"),
    ("numbers", [0, 1, 2, 3], "[1,  2", "[0, 1,  2"),
    ("tags", ["a", "b", "tag", "c"], '- "#b"   # trailing\n', '- "#b"   # trailing\n- c\n'),
    ("tags", ["b", "tag"], "tags:\n- a\n", "tags:\n"),
    ("flow", {"a": 2, "b": {"c": "x"}, "d": None}, "{a: 1,   b", "{a: 2,   b"),
    ("flow", {"a": 1, "b": {"c": "y"}, "d": None}, '{c: "x"}', '{c: "y"}'),
    ("flow", {"a": 1, "b": {"c": "x"}}, '{c: "x"}, d}', '{c: "x"}}'),
    ("flow", {"a": 1, "b": {"c": "x"}, "d": None, "e": "z"}, ", d}", ", d, e: z}"),
    ("flow", {"a": 1, "b": {"c": "x"}, "d": 5}, ", d}", ", d: 5}"),
    ("deep", {"list": [{"one": 9, "two": 2}, "three"], "map": {}}, "one: 1   # first", "one: 9   # first"),
    ("deep", {"list": [{"one": 1, "two": 2}, "three", "four"], "map": {}}, "- three\n", "- three\n      - four\n"),
    ("deep", {"list": [{"one": 1, "two": 2}, "three"], "map": {"k": 1}}, "map: { }", "map: {k: 1 }"),
    ("deep", {"list": [{"one": 1, "two": 2}, "three"], "map": {}, "n": 1}, "map: { }\n", "map: { }\n    n: 1\n"),
    (
        "deep",
        {"list": "none", "map": {}},
        "list:\n      - one: 1   # first\n        two: 2\n      - three\n",
        "list: none\n",
    ),
    ("literal", "x\n\ny\n", "  first line\n    indented\n\n  last\n", "  x\n\n  y\n"),
    ("folded", "one", ">-\n  some\n  text\n", "one\n"),
    ("empty", "full", "empty:\n", "empty: full\n"),
    ("other", 1, "other:   # nothing", "other: 1   # nothing"),
    ("date", "2027-01-01", "date: 2026-11-24", "date: 2027-01-01"),
    ("same", {"name": "Bob"}, "same: *who", "same: {name: Bob}"),
    ("explicit", "other", ": value\n", ": other\n"),
    ("plain", "one line", "plain: several\n  lines of it\n", "plain: one line\n"),
    ("last", "è", '"\\u00e9"', '"è"'),
    ("new", "a: b", "# the end", 'new: "a: b"\n# the end'),
]


@pytest.mark.parametrize("written", ["utf-8", "BOM", "CRLF", "CR", "utf-16", "no last line end"])
@pytest.mark.parametrize(("key", "value", "old", "new"), CHANGES)
def test_a_property_changes_at_its_place(key: str, value: Any, old: str, new: str, written: str) -> None:
    """With the comments, the order, the quotes, the line ends and the encoding of the file."""
    assert ODD.count(old) == 1
    before = read(ODD.encode(), "odd.md")
    wanted = before.metadata | {key: value}
    made = edited_markdown(_as(written, ODD), "odd.md", _content(written, before.content), wanted)
    assert made == _as(written, ODD.replace(old, new))


@pytest.mark.parametrize("key", sorted({change[0] for change in CHANGES} - {"anchor", "new", "tags"}))
def test_a_property_that_goes_takes_its_lines_along(key: str) -> None:
    before = read(ODD.encode(), "odd.md")
    made = edited_markdown(ODD.encode(), "odd.md", before.content, _without(before.metadata, key))
    assert read(made, "odd.md").metadata == _without(before.metadata, key)
    before_that = iter(ODD.splitlines())
    assert all(line in before_that for line in made.decode().splitlines())


def test_a_status_is_one_character() -> None:
    before = read(ODD.encode(), "odd.md")
    for old, new in (("- [ ] open", "- [x] open"), ("\t- [x] nested", "\t- [ ] nested"), ("* [-]", "* [>]")):
        made = edited_markdown(_as("CRLF", ODD), "o.md", str(before.content).replace(old, new), before.metadata)
        assert made == _as("CRLF", ODD.replace(old, new))


def test_lines_keep_the_ends_that_each_of_them_has() -> None:
    data = b"one\r\ntwo\nthree\rfour\r\nfive"
    made = edited_markdown(data, "a.md", "one\nTWO\nthree\nfour\nnew\nfive\nsix", {})
    assert made == b"one\r\nTWO\nthree\rfour\r\nnew\r\nfive\r\nsix"


def test_what_the_text_says_of_itself_is_not_said_again() -> None:
    """A heading that was changed is the title; a tag that was added stands in the text alone."""
    renamed = edited_markdown(b"# Old\n", "a.md", "# New\n\n#seen\n", {"title": "New", "tags": ["seen"]})
    assert renamed == b"# New\n\n#seen\n"
    made = edited_markdown(b"# Old\n", "a.md", "# New\n\n#seen\n", {"title": "Old"})
    assert made == b"# New\n\n#seen\n"
    assert edited_markdown(b"# Old\n", "a.md", "# Old\n", {"title": "Other"}) == b"---\ntitle: Other\n---\n\n# Old\n"
    assert edited_markdown(b"# T #a\n\n#b\n", "a.md", "# T #a\n\n#b\n", {"title": "T #a", "tags": ["b", "c"]}) == (
        b"---\ntags: [c]\n---\n\n# T #a\n\n#b\n"
    )


@pytest.mark.parametrize(
    ("data", "content", "metadata", "made"),
    [
        ("---\n---\nx\n", "x\n", {"k": 1}, "---\nk: 1\n---\nx\n"),
        ("---\n# only\n---\nx\n", "x\n", {"k": 1}, "---\n# only\nk: 1\n---\nx\n"),
        ("---\nk: 1\n---", "x\n", {"k": 1}, "---\nk: 1\n---\nx\n"),
        ("---\nk: 1\n---", "\nx\n", {"k": 1}, "---\nk: 1\n---\n\n\nx\n"),
        ("---\nk: 1\n---\nx", "\nx", {"k": 1}, "---\nk: 1\n---\n\n\nx"),
        ("---\nk: 1\n---\nx", "x", {}, "x"),
        ("---\nk: 1\n# kept\n---\nx", "x", {}, "---\n# kept\n---\nx"),
        ("---\n{k: 1, l: 2}\n---\nx", "x", {"k": 1, "l": 3, "m": 4}, "---\n{k: 1, l: 3, m: 4}\n---\nx"),
        ("  \n", "---\na: 1\n---\n", {}, "---\n---\n\n---\na: 1\n---\n"),
        ("---\nprose\n---\n", "---\nprose\n---\n", {"k": 1}, "---\nk: 1\n---\n\n---\nprose\n---\n"),
        ("", "", {"k": "v"}, "---\nk: v\n---\n\n"),
    ],
)
def test_where_there_is_little(data: str, content: str, metadata: dict[str, Any], made: str) -> None:
    """The last property takes the front matter along, unless a comment stands in it; an empty one gets properties."""
    found = edited_markdown(data.encode(), "a.md", content, metadata)
    assert found.decode() == made
    again = read(found, "a.md")
    assert (again.content, again.metadata) == (content, metadata)


def test_what_cannot_be_changed_there_is_refused_and_the_file_stays(space: Space, tmp_path: Path) -> None:
    """An anchor that another value stands for; a title that is none, where a heading is one."""
    texts = {"a.md": "---\na: &x 1\nb: *x\nc: 3\n---\ntext\n", "b.md": "---\ntitle: T\n---\n# H\n"}
    folder = write(tmp_path / "in", **texts)
    add(space, folder)
    found = notes(space)
    edit(space.store, found["a.md"], "text\n", {"a": 2, "b": 1, "c": 4}, "edit")
    edit(space.store, found["b.md"], "# H\n", {"title": None}, "edit")
    done = write_back(space.store)
    reason = "cannot be changed in '{}' at its place alone, so that it is read as it is here (change it in the file"
    for failure, key, name in zip(done.failed, ("a", "title"), texts, strict=True):
        assert f"`{key}` {reason.format(name)}" in failure["reason"]
    assert {name: (folder / name).read_text() for name in texts} == texts


def test_real_files_come_back_but_for_what_was_changed() -> None:
    """The Markdown files of the packages that are installed here: a line, a property and a task, there and back."""
    chance = random.Random(7)  # noqa: S311 - the same files each time
    seen: set[bytes] = set()
    for path in _installed():
        data = path.read_bytes()
        if data in seen:
            continue
        seen.add(data)
        try:
            before = read(data, path.name)
        except Invalid:  # a template of a front matter, which is imported as little
            continue
        content, made = str(before.content), {}
        lines = [at for at, line in enumerate(content.split("\n")) if line.strip().isascii() and line.strip()]
        if lines:
            at = chance.choice(lines)
            changed = [line + " more" * (number == at) for number, line in enumerate(content.split("\n"))]
            made["line"] = edited_markdown(data, path.name, "\n".join(changed), before.metadata)
        made["property"] = edited_markdown(data, path.name, content, before.metadata | {"new one": "a: b"})
        made["task"] = edited_markdown(data, path.name, content.replace("[ ]", "[x]"), before.metadata)
        assert made["property"].endswith(data.removeprefix(codecs.BOM_UTF8)[4:] if data[:3] == b"---" else data)
        assert made["task"] == data.replace(b"[ ]", b"[x]")
        for text in made.values():
            again = read(text, path.name)
            assert edited_markdown(text, path.name, str(again.content), again.metadata) == text
        if lines:
            assert edited_markdown(made["line"], path.name, content, before.metadata) == data
            assert len(made["line"]) == len(data) + 5
    assert len(seen) > 30


WORDS = st.text(st.sampled_from("ab -[]#*\t"), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(WORDS, ENDS), max_size=12), st.lists(WORDS, max_size=12))
def test_any_lines_become_any_others(before: list[tuple[str, str]], after: list[str]) -> None:
    """Also those whose line ends differ from line to line; what is equal at head and tail is not touched."""
    text = WrittenText("".join(line + end for line, end in before))
    wanted = "".join(f"{line}\n" for line in after)
    made = text.spliced(line_edits(text.read, wanted, 0))
    assert WrittenText(made).read == wanted
    assert text.spliced(line_edits(text.read, text.read, 0)) == text.written


@pytest.mark.parametrize("data", [b"", b" \r\n", b'{"a" :1}'])
def test_a_json_file_of_the_same_value_stays_as_it_is(space: Space, tmp_path: Path, data: bytes) -> None:
    """Where only the metadata beside it changed, or those not at all, however the file is written."""
    folder = write(tmp_path / "in", **{"a.json": data, "b.json": "[1]", "b.metadata.json": "{ }"})
    add(space, folder)
    known = notes(space)
    edit(space.store, known["a.json"], known["a.json"].content, {"k": 1}, "edit")
    edit(space.store, known["b.json"], [2], {}, "edit")
    assert write_back(space.store).failed == []
    assert (folder / "a.json").read_bytes() == data
    assert json.loads((folder / "a.metadata.json").read_bytes()) == {"k": 1}
    assert (folder / "b.metadata.json").read_bytes() == b"{ }"
    assert counts(add(space, folder)) == {"unchanged": 2}


def test_an_empty_json_file_that_was_written_back_is_known_after_a_kill(space: Space, tmp_path: Path) -> None:
    """Its metadata was written, and not remembered."""
    folder = write(tmp_path / "in", **{"a.json": b""})
    add(space, folder)
    edit(space.store, notes(space)["a.json"], "", {"k": 1}, "edit")
    write(folder, **{"a.metadata.json": '{"k": 1}'})
    done = write_back(space.store)
    assert (done.written, done.failed) == (1, [])
    assert (folder / "a.json").read_bytes() == b""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(st.sampled_from("ab:#'\"-[{, \n"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([change[0] for change in CHANGES if change[0] not in ("new", "tags")]), VALUES)
def test_any_value_takes_the_place_of_any(key: str, value: Any) -> None:
    """It is read back, and every other line stays."""
    before = read(ODD.encode(), "odd.md")
    wanted = before.metadata | {key: value}
    made = edited_markdown(ODD.encode(), "odd.md", before.content, wanted)
    found = read(made, "odd.md")
    assert same(found.metadata, wanted)
    assert found.content == before.content
    comments = [line for line in ODD.splitlines() if line.startswith("#")]
    assert [line for line in made.decode().splitlines() if line in comments] == comments


def _as(written: str, text: str) -> bytes:
    if written == "no last line end":
        return text.removesuffix("\n").encode()
    ends = {"CRLF": "\r\n", "CR": "\r"}.get(written, "\n")
    text = text.replace("\n", ends)
    return text.encode({"BOM": "utf-8-sig", "utf-16": "utf-16"}.get(written, "utf-8"))


def _content(written: str, content: Any) -> str:
    return str(content).removesuffix("\n") if written == "no last line end" else str(content)


def _without(metadata: dict[str, Any], key: str) -> dict[str, Any]:
    return {one: value for one, value in metadata.items() if one != key}


def _installed() -> list[Path]:
    """The Markdown files of all packages that are installed where the tests run."""
    files = [file for package in importlib.metadata.distributions() for file in package.files or ()]
    paths = (Path(str(file.locate())) for file in files if file.suffix == ".md")
    return sorted(path for path in paths if path.is_file())


TABLE = b'\xef\xbb\xbfname; cost ;note\r\n"spade";12;"a ""b"""\r\n\r\nseed;3;\r\n"seed";3;"two\r\nlines"\r\nseed;3;'


def test_a_cell_of_a_table_changes_at_its_place(space: Space, tmp_path: Path) -> None:
    """Line ends, quotes, blank lines and the mark at its head stay; of rows that are alike, it is the right one."""
    folder = write(tmp_path / "in", **{"t.csv": TABLE, "l.jsonl": b'{"a":1}\r\n\n {"a":  2} \n'})
    add(space, folder)
    known = notes(space)
    for path, content in {
        "t.csv#1": {"name": "spade", "cost": "13", "note": 'a "c"'},
        "t.csv#3": {"name": "seed", "cost": "3", "note": "two\r\nmore; lines"},
        "t.csv#4": {"name": "bulb", "cost": "3", "note": ""},
        "l.jsonl#3": {"a": 3, "b": "é"},
    }.items():
        edit(space.store, known[path], content, {}, "edit")
    done = write_back(space.store)
    assert (done.written, done.failed) == (4, [])
    assert (folder / "t.csv").read_bytes() == (
        TABLE.replace(b";12;", b";13;")
        .replace(b'""b""', b'""c""')
        .replace(b"two\r\nlines", b"two\r\nmore; lines")
        .replace(b"\nseed;3;", b"\nbulb;3;", 2)
        .replace(b"\nbulb;3;", b"\nseed;3;", 1)
    )
    assert (folder / "l.jsonl").read_bytes() == '{"a":1}\r\n\n {"a":3,"b":"é"} \n'.encode()
    assert counts(add(space, folder)) == {"unchanged": 6}
    assert write_back(space.store).written == 0


@pytest.mark.parametrize(
    ("content", "metadata", "why"),
    [
        ({"v": 2}, {}, "the cell `v` would be 2, and a cell is text"),
        ({"v": "1", "w": "x"}, {}, "the table has no column 'w' (its columns are v)"),
        ([1], {}, "a row of such a table is an object"),
        ({"v": "1"}, {"k": 1}, "has metadata, which a row cannot hold"),
    ],
)
def test_what_a_row_cannot_hold_is_one_sentence(
    space: Space, tmp_path: Path, content: Any, metadata: dict[str, Any], why: str
) -> None:
    folder = write(tmp_path / "in", **{"t.csv": "v\n1\n"})
    add(space, folder)
    edit(space.store, notes(space)["t.csv#1"], content, metadata, "edit")
    [failure] = write_back(space.store).failed
    assert why in failure["reason"]
    assert (folder / "t.csv").read_text() == "v\n1\n"


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_table_is_read_and_written_once_for_all_its_rows(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A row that it cannot hold is left, and told of; so is one that somebody changed."""
    rows = [{"v": str(number)} for number in range(8)]
    lines = ["v", *map(str, range(8))] if name == "t.csv" else map(json.dumps, rows)
    text = "\n".join(lines) + "\n"
    folder = write(tmp_path / "in", **{name: text, "z.md": "z"})
    add(space, folder)
    known = notes(space)
    for number in range(1, 9):
        metadata = {"k": 1} if number == 4 else {}
        edit(space.store, known[f"{name}#{number}"], {"v": f"edited {number}"}, metadata, "edit")
    edit(space.store, known["z.md"], "edited", {}, "edit")
    write(folder, **{name: text.replace("6", "66")})
    written: list[str] = []

    def counted(path: Path, data: bytes, *, follow: bool) -> None:
        written.append(path.name)
        write_atomically(path, data, follow=follow)

    monkeypatch.setattr(exporting, "write_atomically", counted)
    done = write_back(space.store)
    assert (done.written, written) == (7, [name, "z.md"])
    assert [one["reason"].partition(" (")[0] for one in done.failed] == [
        f"{known[f'{name}#4'].id} has metadata, which a row cannot hold",
        "the row has changed since it was read",
    ]
    made = (folder / name).read_text()
    assert [number for number in range(1, 9) if f"edited {number}" in made] == [1, 2, 3, 5, 6, 8]
    assert len(made.splitlines()) == len(text.splitlines())


def test_one_row_that_spoils_a_table_does_not_keep_the_others_from_it(space: Space, tmp_path: Path) -> None:
    """A table of one column has no row that is a blank line."""
    folder = write(tmp_path / "in", **{"t.csv": "v\n" + "".join(f"{number}\n" for number in range(1, 6))})
    add(space, folder)
    known = notes(space)
    for number in range(1, 6):
        edit(space.store, known[f"t.csv#{number}"], {"v": "" if number == 3 else f"new {number}"}, {}, "edit")
    done = write_back(space.store)
    assert done.written == 4
    assert [one["reason"].partition(" (")[0] for one in done.failed] == [
        f"'t.csv' cannot hold {known['t.csv#3'].id} in that row"
    ]
    assert (folder / "t.csv").read_text() == "v\nnew 1\nnew 2\n3\nnew 4\nnew 5\n"
    add(space, folder)
    assert write_back(space.store).written == 0


@pytest.mark.parametrize("at", [0, 1])
def test_rows_are_remembered_after_they_are_written(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Whoever is killed before or after the writing leaves what the next import takes for its own."""
    folder = write(tmp_path / "in", **{"t.csv": "v\n1\n2\n3\n4\n"})
    add(space, folder)
    for number, note in enumerate(notes(space).values()):
        edit(space.store, note, {"v": f"new {number}"} if number else note.content, {}, "edit")

    def killed(path: Path, data: bytes, *, follow: bool) -> None:
        if at:
            write_atomically(path, data, follow=follow)
        raise KeyboardInterrupt

    with monkeypatch.context() as killing:
        killing.setattr(exporting, "write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            write_back(space.store)
    assert counts(add(space, folder)) == {"unchanged": 4}
    assert write_back(space.store).written == (0 if at else 3)
    assert (folder / "t.csv").read_text() == "v\n1\nnew 1\nnew 2\nnew 3\n"
    assert counts(add(space, folder)) == {"unchanged": 4}


def test_a_row_that_another_remembers_meanwhile_is_told_of_alone(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are remembered as they were written."""
    folder = write(tmp_path / "in", **{"t.csv": "v\n1\n2\n3\n"})
    add(space, folder)
    known = notes(space)
    for note in known.values():
        edit(space.store, note, {"v": f"new {note.content['v']}"}, {}, "edit")

    def overtaken(path: Path, data: bytes, *, follow: bool) -> None:
        write_atomically(path, data, follow=follow)
        with space.store.reading() as snapshot:
            one = snapshot.tracked()[1]
        space.store.commit([track(replace(one, version=2), was_of(one))])

    monkeypatch.setattr(exporting, "write_atomically", overtaken)
    done = write_back(space.store)
    assert (done.written, len(done.failed)) == (2, 1)
    with space.store.reading() as snapshot:
        assert [one.version for one in snapshot.tracked()] == [2, 2, 2]


def test_an_export_that_writes_nothing_into_an_imported_folder_leaves_nothing_there(
    space: Space, tmp_path: Path
) -> None:
    folder = write(tmp_path / "in", **{"a.md": "# A\n", "x/b.md": "b\n"})
    add(space, folder)
    assert export(space.store, folder).unchanged == 2
    assert sorted(path.name for path in folder.rglob("*")) == ["a.md", "b.md", "x"]


ODD_JSON = b'\xef\xbb\xbf{"a" : [1, 2.50,\t3],\r\n  "b": {"x": null, "y": "\\u00e9"},\r\n  "c":"d" , "f":[ 7]}\r\n\r\n'


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ({"c": "é"}, b'"c":"d"', '"c":"é"'.encode()),
        ({"b": {"x": 1, "y": "é"}}, b'"x": null', b'"x": 1'),
        ({"a": [1, 2.5, 3, 4]}, b"\t3]", b"\t3, 4]"),
        ({"a": [1]}, b", 2.50,\t3]", b"]"),
        ({"b": {"y": "é"}}, b'"x": null, ', b""),
        ({"e": True}, b'"f":[ 7]}', b'"f":[ 7],\r\n  "e": true}'),
        ({"f": [7, "x"]}, b"[ 7]", b'[ 7, "x"]'),
    ],
)
def test_a_value_of_a_json_file_changes_at_its_place(
    space: Space, tmp_path: Path, change: dict[str, Any], old: bytes, new: bytes
) -> None:
    """How all other values are written stays, and so do blanks and line ends."""
    folder = write(tmp_path / "in", **{"a.json": ODD_JSON})
    add(space, folder)
    note = notes(space)["a.json"]
    edit(space.store, note, {**note.content, **change}, {}, "edit")
    assert write_back(space.store).failed == []
    assert (folder / "a.json").read_bytes() == ODD_JSON.replace(old, new)
    assert counts(add(space, folder)) == {"unchanged": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\n"é', max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES, VALUES, st.sampled_from([None, 0, 2]))
def test_any_json_becomes_any_other(before: Any, after: Any, indent: int | None) -> None:
    """And what is the same is not written anew."""
    data = json.dumps(before, indent=indent).encode()
    made = edited_json(data, "a.json", after)
    assert made is not None
    assert json.loads(made) == after
    assert edited_json(data, "a.json", before) == data
