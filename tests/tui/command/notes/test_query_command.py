"""`infospace query`: one SELECT over the notes, as a table, CSV or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def filled(cli: Any, tmp_path: Path) -> Any:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, status in (("a", "open"), ("b", "done"), ("c", "open")):
        (folder / f"{name}.md").write_text(
            f"---\nstatus: {status}\ntags: [x, {name}]\n---\n# Note {name}\n\nsome words\n"
        )
    assert cli("add", str(folder)).code == 0
    return cli


def test_rows_come_as_csv_as_json_and_as_a_table(filled: Any) -> None:
    sql = "SELECT status, count(*) AS n FROM notes GROUP BY status ORDER BY n DESC"
    assert filled("query", sql, "--csv").out == "status,n\nopen,2\ndone,1\n"
    found = filled("query", sql, "--json").json
    assert found["status"] == "success"
    assert found["data"] == [{"status": "open", "n": 2}, {"status": "done", "n": 1}]
    shown = filled("query", "SELECT title, path, folder, file FROM notes WHERE status = 'done'").out
    assert "Note b" in shown
    assert "b.md" in shown
    tags = "SELECT tag, count(*) AS n FROM notes, UNNEST(tags) AS tag GROUP BY tag ORDER BY n DESC, tag LIMIT 2"
    assert filled("query", tags, "--csv").out == "tag,n\nx,3\na,1\n"


def test_csv_without_rows_has_its_header(filled: Any) -> None:
    """As far as the statement says it: `*` is what the rows have."""
    assert filled("query", "SELECT title, status AS s FROM notes WHERE false", "--csv").out == "title,s\n"
    both = "SELECT title AS t FROM notes WHERE false UNION SELECT path FROM notes WHERE false"
    assert filled("query", both, "--csv").out == "t\n"
    assert filled("query", "SELECT * FROM notes WHERE false", "--csv").out == ""


def test_what_cannot_be_asked_is_one_sentence(filled: Any) -> None:
    for sql, message, code in (
        ("DROP TABLE notes", "`sql` has 'DROP' (character 0) where a query was expected", 2),
        ("SELECT a FROM tasks", "there is no table 'tasks' (there is notes, items, links; a Collection is $tasks, ", 2),
        ("SELECT a FROM tasks", "and none is kept as 'tasks')", 2),
        ("SELECT a FROM $rows", "$rows is bound to nothing here", 2),
        ("SELECT title FROM notes WHERE words > $least", "$least is bound to nothing here", 2),
        ("SELECT title || 1 / 0 AS x FROM notes", "divides by zero", 1),
    ):
        said = filled("query", sql)
        assert message in said.err
        assert said.code == code, sql
        assert "Traceback" not in said.err
    assert "give one of them" in filled("query", "SELECT title FROM notes", "--csv", "--json").err


def test_a_collection_is_a_table_by_its_name(filled: Any, tmp_path: Path) -> None:
    """An odd name stands in double quotes; `$name` says the same where nothing is bound; a Note is none."""
    steps = [
        {"type": "create-collection", "value": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "name": "kept"},
        {"type": "create-collection", "value": [3, 1, 2], "name": "Weekly digest"},
        {"type": "create-note", "value": {"a": 5}, "name": "one"},
        {"type": "query", "sql": "SELECT b FROM kept WHERE a > 1", "out": "$rows"},
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"steps": steps, "result": "$rows"}))
    assert filled("run", str(tmp_path / "plan.json"), "--json").json["result"]["data"] == [{"b": "y"}]
    assert filled("query", "SELECT a, b FROM kept ORDER BY a DESC", "--csv").out == "a,b\n2,y\n1,x\n"
    assert filled("query", "SELECT a FROM $kept", "--csv").out == "a\n1\n2\n"
    assert filled("query", 'SELECT sum(content) AS s FROM "Weekly digest"', "--csv").out == "s\n6\n"
    joined = "SELECT k.b, n.title FROM kept k JOIN notes n ON n.title = 'Note ' || 'b' WHERE k.a = 1"
    assert filled("query", joined, "--csv").out == "b,title\nx,Note b\n"
    within = "WITH kept AS (SELECT a + 1 AS c FROM kept) SELECT c FROM kept"
    assert "reads itself" in filled("query", within).err
    note = filled("query", "SELECT a FROM one")
    assert (note.code, "'one' is a Note, not a table (FROM takes a Collection or a list)" in note.err) == (2, True)


def test_a_table_has_all_columns_of_the_select(filled: Any) -> None:
    """More than six, too, each row on one line that is cut to the width; a column may be null everywhere."""
    eight = ", ".join(f"words + {number} AS c{number}" for number in range(8))
    sql = "SELECT {}, CASE WHEN words < 0 THEN 1 END AS nothing FROM notes WHERE status = 'done'"
    shown = filled("query", sql.format(eight)).out.splitlines()
    assert shown[0].split() == ["#", *(f"c{number}" for number in range(8)), "nothing"]
    assert len(shown[1].split()) == 9
    assert len(shown) == 2
    long = filled("query", "SELECT '" + "x" * 90 + "' AS a, '" + "y" * 90 + "' AS b FROM notes LIMIT 1").out
    assert len(long.splitlines()) == 2
    assert "…" in long


def test_short_columns_stand_whole_and_those_without_room_are_named(filled: Any) -> None:
    """The long ones share what is left; wide signs take two cells. A pipe is 100 wide."""
    sql = "SELECT '{}' AS long, '2026-11-30' AS day, '{}' AS other FROM notes LIMIT 1"
    shown = filled("query", sql.format("x" * 80, "日" * 60))
    assert shown.out.splitlines() == [
        f"# long{' ' * 39}day        other{' ' * 38} ",
        f"1 {'x' * 41}… 2026-11-30 {'日' * 21}… ",
    ]
    assert shown.err == ""
    wide = ", ".join(f"title || title || title AS c{number}" for number in range(12))
    narrow = filled("query", "SELECT * FROM notes LIMIT 1".replace("*", wide))
    assert narrow.out.splitlines()[0].split() == ["#", *(f"c{number}" for number in range(10))]
    assert narrow.err == "no room for 2 columns: c10, c11 (--csv and --json have all)\n"


def test_what_the_check_warns_of_is_said_beside_the_rows(filled: Any) -> None:
    """Not among them: what is printed stays CSV."""
    found = filled("query", "SELECT title, statuss FROM notes WHERE status = 'done'", "--csv")
    assert found.out.splitlines()[0] == "title,statuss"
    assert "[unknown-property]" in found.err
    assert "statuss" in found.err
    assert "never-read" not in found.err
    document = filled("query", "SELECT statuss FROM notes LIMIT 1", "--json")
    assert (document.json["data"], "[unknown-property]" in document.err) == ([{"statuss": None}], True)
    assert "warning" not in filled("query", "SELECT title FROM notes").err
