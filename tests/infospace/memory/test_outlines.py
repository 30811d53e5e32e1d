"""What a Markdown text says is read by its parser, and its rows follow the note through whatever is done to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.data.markdown.body import read_body
from infospace.editing.edit import edit, remove, restore
from infospace.editing.undo import undo
from infospace.files.import_files import import_paths
from infospace.store.changes import FreeName, GiveName, Keep, MakeNote
from primitives.query import query

DAY = """# Diary

Mood:: 4
code:: 007

<!-- - [ ] hidden #no [[no]]
-->
%%
- [ ] hidden #no [[no]]
%%

Words %% #no [[no]] %% and `[x:: y] #no [[no]]` #home/garden ![[Plan#Beds|beds]].

## Today
- [ ] Dig 📅 2026-01-02 ⏳ 2026-01-01 ⏫ #home
- [x] Sow [due:: 2026-02-02] [completion:: 2026-02-03] (seed:: beans)
  - [-] Water 🔁 every day 🔽
- [>] Weed
- implements [[Plan]]
- partner:: [[Ann]], [[Bob]]

> 1. [ ] Quoted

```
- [ ] code
```
"""


def rows(space: Space, sql: str) -> list[dict[str, Any]]:
    found = asyncio.run(call_directly(query, {"sql": sql}, space.view(scratch=True)))
    assert found.status == "success", found.reason
    return list(found.data)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    with open_space(tmp_path / "notes.db", create=True) as space:
        yield space


def test_tasks_bullets_and_headings_have_section_line_and_what_they_say() -> None:
    items = [(one.kind, one.line, one.section, one.text, one.status) for one in read_body(DAY).items]
    assert items == [
        ("heading", 1, None, "Diary", None),
        ("heading", 14, "Diary", "Today", None),
        ("task", 15, "Today", "Dig #home", " "),
        ("task", 16, "Today", "Sow (seed:: beans)", "x"),
        ("task", 17, "Today", "Water", "-"),
        ("task", 18, "Today", "Weed", ">"),
        ("bullet", 19, "Today", "implements [[Plan]]", None),
        ("bullet", 20, "Today", "partner:: [[Ann]], [[Bob]]", None),
        ("task", 22, "Today", "Quoted", " "),
    ]
    dig, sow, water = read_body(DAY).items[2:5]
    assert (dig.due, dig.scheduled, dig.priority, dig.tags) == ("2026-01-02", "2026-01-01", "high", ("home",))
    assert (sow.due, sow.completed, sow.fields["seed"]) == ("2026-02-02", "2026-02-03", "beans")
    assert (water.priority, water.fields["repeat"]) == ("low", "every day")


def test_code_and_comments_hold_no_tasks_tags_links_or_fields() -> None:
    body = read_body(DAY)
    assert body.tags == ("home/garden", "home")
    assert "no" not in [link.target for link in body.links]
    assert set(body.fields) == {"Mood", "code", "partner"}


def test_links_have_line_heading_label_and_field() -> None:
    links = [(one.target, one.line, one.heading, one.label, one.property) for one in read_body(DAY).links]
    assert links == [
        ("Plan", 12, "Beds", "links-to", None),
        ("Plan", 19, "", "implements", None),
        ("Ann", 20, "", "links-to", "partner"),
        ("Bob", 20, "", "links-to", "partner"),
    ]


def test_fields_have_the_type_that_they_are_written_in() -> None:
    assert read_body(DAY).fields == {"Mood": 4, "code": "007", "partner": ["[[Ann]]", "[[Bob]]"]}
    assert read_body("a:: true\nb:: 1.5\nc::\nd:: 2026-01-02\nd:: 2\n").fields == {
        "a": True,
        "b": 1.5,
        "c": None,
        "d": ["2026-01-02", 2],
    }


def test_what_is_no_date_stays_in_the_text() -> None:
    [item] = read_body("- [ ] Pay 📅 2026-02-30 [due:: soon]\n").items
    assert (item.due, item.text) == (None, "Pay 📅 2026-02-30 [due:: soon]")


def test_rows_are_of_the_present_version_and_go_with_the_note(space: Space, tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a.md").write_text("---\nx: '[[b]]'\n---\n- [ ] one\n", encoding="utf-8")
    (tmp_path / "v" / "b.md").write_text("- [ ] two [[a]]\n", encoding="utf-8")
    import_paths(space, [tmp_path / "v"], NullListener())
    tasks = "SELECT text, line FROM items WHERE kind = 'task'"
    links = "SELECT source, target, property, line FROM links"
    both = [{"text": "one", "line": 4}, {"text": "two [[a]]", "line": 1}]
    assert rows(space, tasks) == both
    arrows = [
        {"source": "Note_1", "target": "Note_2", "property": "x", "line": None},
        {"source": "Note_2", "target": "Note_1", "property": None, "line": 1},
    ]
    assert rows(space, links) == arrows

    note: Any = space.store.get("Note_1")
    edited = edit(space.store, note, "- [x] other\n", {}, "edit")
    assert rows(space, tasks)[0] == {"text": "other", "line": 4}
    assert rows(space, links) == arrows[1:]
    undo(space.store, str(edited))
    assert (rows(space, tasks), rows(space, links)) == (both, arrows)

    remove(space.store, ["Note_2"], "rm")
    assert rows(space, tasks) == both[:1]
    assert rows(space, links) == [{**arrows[0], "target": None}]
    restore(space.store, "Note_2", 1)
    assert rows(space, tasks) == both


def test_a_note_that_is_named_like_infrastructure_has_no_rows(space: Space) -> None:
    ids = [space.store.new_id(Kind.NOTE) for _ in range(3)]
    texts = ["- [ ] seen", "- [ ] hidden", "- [ ] transient"]
    notes = [MakeNote(one, text, kept=kept) for one, text, kept in zip(ids, texts, (True, True, False), strict=True)]
    space.store.commit([*notes, GiveName(ids[0], "plain"), GiveName(ids[1], "_hidden")])
    assert rows(space, "SELECT text FROM items") == [{"text": "seen"}]
    space.store.commit([FreeName(ids[1]), Keep(ids[2])])
    assert rows(space, "SELECT text FROM items ORDER BY text") == [{"text": text[6:]} for text in sorted(texts)]
