"""`infospace query`: one SELECT over the notes, as a table, CSV or JSON."""

from __future__ import annotations

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
    assert cli("add", str(folder), "--no-embed").code == 0 or cli("add", str(folder)).code == 0
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


def test_what_cannot_be_asked_is_one_sentence(filled: Any) -> None:
    for sql, message in (
        ("DROP TABLE notes", "`sql` has 'DROP' (character 0) where a query was expected"),
        ("SELECT a FROM tasks", "there is no table 'tasks' (there is notes, items, links; a Collection is $tasks)"),
        ("SELECT a FROM $rows", "$rows is bound to nothing here"),
        ("SELECT title FROM notes WHERE words > $least", "$least is bound to nothing here"),
        ("SELECT title || 1 / 0 AS x FROM notes", "divides by zero"),
    ):
        said = filled("query", sql)
        assert message in said.err
        assert said.code in (1, 2)
        assert "Traceback" not in said.err
    assert "give one of them" in filled("query", "SELECT title FROM notes", "--csv", "--json").err
