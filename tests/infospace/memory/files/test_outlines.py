"""What a Markdown text says is read by its parser, and its rows follow the note through whatever is done to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.data.markdown.body import read_body
from infospace.editing.edit import edit, remove, restore
from infospace.editing.undo import undo
from infospace.files.import_files import import_paths
from infospace.store.called import notes_called
from infospace.store.changes import FreeName, GiveName, Keep, MakeNote, Revise
from infospace.store.scoped_store import Visibility
from infospace.tools.scope import EVERYTHING
from infospace.tools.scoped_space import ScopedSpace
from primitives.discover_notes import discover_notes
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
    found = asyncio.run(call_directly(query, {"sql": sql}, space.context(scratch=True)))
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


@pytest.mark.parametrize(
    ("text", "rest", "priority", "due", "repeat"),
    [
        ("[priority:: high 📅 2024-01-01] call Ann", "call Ann", "high 📅 2024-01-01", None, None),
        ("[priority:: 🔁 weekly] pay the rent", "pay the rent", "🔁 weekly", None, None),
        ("call (priority:: 🔼) Ann ⏫", "call Ann", "🔼", None, None),
        (
            "[a:: 🔁 monthly 📅 2024-01-01 ⏫] pay 🔁 weekly",
            "[a:: 🔁 monthly 📅 2024-01-01 ⏫] pay",
            None,
            None,
            "weekly",
        ),
        ("pay (🔁 weekly) the rent", "pay ( ) the rent", None, None, "weekly"),
        ("pay [🔁 weekly] the rent", "pay [ ] the rent", None, None, "weekly"),
        ("pay 🔁 weekly   📅 2024-01-01 the rent", "pay the rent", None, "2024-01-01", "weekly"),
        ("pay ⏫ 📅 2024-01-01\t the 🔽 rent", "pay the rent", "high", "2024-01-01", None),
    ],
)
def test_a_field_in_brackets_wins_over_the_signs_in_it(
    text: str, rest: str, priority: str | None, due: str | None, repeat: str | None
) -> None:
    """What stands beside them stays in the text."""
    [item] = read_body(f"- [ ] {text}\n").items
    assert (item.text, item.priority, item.due, item.fields.get("repeat")) == (rest, priority, due, repeat)


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


def test_a_token_reads_rows_of_its_notes_alone_and_the_other_end_of_a_link_is_null(
    space: Space, tmp_path: Path
) -> None:
    (tmp_path / "v").mkdir()
    for name, text in {
        "a": "open: true\n---\n- [ ] mine [[b]] [[c]]",
        "b": "x: 1\n---\n- [ ] theirs [[a]]",
        "c": "open: true\n---\n",
    }.items():
        (tmp_path / "v" / f"{name}.md").write_text(f"---\n{text}\n", encoding="utf-8")
    import_paths(space, [tmp_path / "v"], NullListener())
    seen: Any = ScopedSpace(space, EVERYTHING, sight=Visibility(notes="metadata.open = true"))
    assert rows(seen, "SELECT text FROM items") == [{"text": "mine [[b]] [[c]]"}]
    assert rows(seen, "SELECT file FROM notes") == [{"file": "a.md"}, {"file": "c.md"}]
    assert rows(seen, "SELECT source, target, target_text FROM links") == [
        {"source": "Note_1", "target": None, "target_text": "b"},
        {"source": "Note_1", "target": "Note_3", "target_text": "c"},
    ]
    assert rows(seen, "SELECT source FROM links WHERE target = 'Note_2'") == []
    assert rows(seen, "SELECT x FROM notes") == [{"x": None}, {"x": None}]
    assert "x" not in rows(seen, "SELECT * FROM notes")[0]
    assert "x" in rows(space, "SELECT * FROM notes")[0]
    with seen.store.reading() as snapshot, space.store.reading() as whole:
        assert [file.path for file in snapshot.tracked()] == ["a.md", "c.md"]
        assert [notes_called(snapshot, name) for name in ("a.md", "b.md", "a", "b")] == [["Note_1"], [], ["Note_1"], []]
        assert notes_called(whole, "b.md") == notes_called(whole, "b") == ["Note_2"]


def test_a_note_has_rows_of_what_a_plan_makes_of_it(space: Space) -> None:
    note = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(note, "- [ ] old", {"tags": ["a/b"]}, kept=True)])
    assert rows(space, "SELECT tags FROM notes") == [{"tags": ["a", "a/b"]}]
    space.store.commit([Revise(note, "- [x] new", {"tags": ["c"]})])
    assert rows(space, "SELECT text, done FROM items") == [{"text": "new", "done": True}]
    assert rows(space, "SELECT tags FROM notes") == [{"tags": ["c"]}]
    assert space.store.check() == []


def test_notes_are_found_by_a_condition_alone(space: Space) -> None:
    ids = [space.store.new_id(Kind.NOTE) for _ in range(3)]
    space.store.commit([MakeNote(one, "text", {"n": n}, kept=True) for n, one in enumerate(ids)])

    def found(**arguments: Any) -> Any:
        return asyncio.run(call_directly(discover_notes, arguments, space.context(scratch=True)))

    done = found(where="metadata.n >= 1")
    assert [hit["metadata"]["source_id"] for hit in done.data] == ids[1:]
    assert [hit["metadata"]["score"] for hit in done.data] == [None, None]
    certificate = done.extra["certificate"]
    assert (certificate["method"], certificate["matched"], certificate["exhaustive"]) == ("filter", 2, True)
    assert len(found(where="metadata.n >= 0", limit=1).data) == 1
    assert "needs a `query`" in found().reason
    assert found(where="metadata.n = 1", threshold=0.5).reason.startswith("`threshold` needs a `query`")


def parsed_in_full(text: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """Read a text by the parser's own choice of rules, each tried in turn at every line and sign."""
    from infospace.data.markdown import parser

    with monkeypatch.context() as patch:
        patch.setattr(parser, "choose_by_sign", lambda _: None)
        patch.setattr(parser, "_OTHER_MARKUP", re.compile(""))
        parser._markdown.cache_clear()
        read_body.cache_clear()
        found = read_body(text)
    parser._markdown.cache_clear()
    read_body.cache_clear()
    return found


PIECES = (
    *(
        "a",
        "b ",
        " ",
        "\n",
        "\n\n",
        "*",
        "_",
        "`",
        "```\n",
        "~~~\n",
        ">",
        "> ",
        "- ",
        "1. ",
        "+ ",
        "#",
        "## ",
        "[",
        "]",
    ),
    *("[[x]]", "(b.md)", "<", "<!-- ", "-->", "%%", "&amp;", "\\", "---\n", "===\n", "    ", "\t", "[ ] ", "x::y", "!"),
    *("k:: v", "#tag", "<b>", "[a]: b.md\n", "[[x#h|y]]", "📅 2026-01-01"),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_what_the_sign_chooses_is_what_trying_every_rule_gives(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Blocks, links, tags, tasks and fields of any text."""
    assert read_body(text) == parsed_in_full(text, monkeypatch)
