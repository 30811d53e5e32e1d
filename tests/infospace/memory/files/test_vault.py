"""A vault of 69 notes answers what people ask of theirs, comes out as it went in, and bears what is wrong in files.

The answers in `tests/vault/questions.json` were made from the lists that the notes were written from, not by asking.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.listener import NullListener
from infospace.files.export import export
from infospace.files.import_files import import_paths
from planner.execute import run
from planner.execute.start import run_sync
from primitives.query import query

sys.path.insert(0, str(Path(__file__).parents[1]))

from vault_plans import PLANS, QUESTIONS, VAULT

DAY = ("2026-11-24", "2026-11-24T12:00:00.000Z")

SAID = (
    "SELECT title, tags, aliases, text, metadata FROM notes ORDER BY path",
    """SELECT section, kind, text, status, due, scheduled, completed, priority, tags, fields FROM items
    ORDER BY text, kind, section, due""",
    """SELECT target_text, heading, relation, property FROM links
    ORDER BY target_text, relation, property, heading""",
)
"""What two spaces are compared by, whatever their ids are."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    folder = tmp_path_factory.mktemp("vault")
    shutil.copytree(VAULT / "notes", folder / "notes")
    with open_space(folder / "vault.db", create=True) as space:
        summary = import_paths(space, [folder / "notes"], NullListener())
        assert (summary.added, summary.failed) == (69, [])
        yield space


def rows(space: Space, sql: str) -> list[list[Any]]:
    view = space.context(scratch=True)
    view.clock = lambda: DAY
    found = asyncio.run(call_directly(query, {"sql": sql}, view))
    assert found.status == "success", found.reason
    return [list(row.values()) for row in found.data]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["question"])
def test_a_question_of_notes_is_one_select(vault: Space, asked: dict[str, Any]) -> None:
    assert rows(vault, asked["sql"]) == asked["answer"]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["question"])
def test_a_question_of_notes_is_a_plan(vault: Space, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "today_and_now", lambda: DAY)
    done = run_sync(vault, PLANS[asked["question"]], {})
    assert done.status == "success", done.reason or done.problems
    assert [list(row.values()) for row in done.result.data] == asked["answer"]


def test_a_vault_goes_out_and_in_again_with_nothing_changed(vault: Space, tmp_path: Path) -> None:
    again = import_paths(vault, [Path(str(rows(vault, "SELECT root FROM notes LIMIT 1")[0][0]))], NullListener())
    assert (again.unchanged, again.changed, again.run) == (69, 0, None)
    export(vault.store, tmp_path / "out")
    with open_space(tmp_path / "other.db", create=True) as other:
        import_paths(other, [tmp_path / "out"], NullListener())
        for sql in SAID:
            assert rows(other, sql) == rows(vault, sql)


def test_what_is_wrong_in_a_file_is_one_sentence_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    folder.mkdir()
    files = {
        "no yaml.md": "---\na: [1\n---\ntext\n",
        "Case.md": "one [[case]]\n",
        "case.md": "two\n",
        "Self.md": "[[Self]]\n",
        "A.md": "---\naliases: [Bee]\n---\n[[Bee]] [[See]]\n",
        "B.md": "---\naliases: [See]\n---\n[[See]] [[A]]\n",
        "C.md": "---\naliases: [Bee, See]\n---\n[[Bee]]\n",
        "long.md": f"- [ ] {'word ' * 2_000}📅 2026-01-01\n",
        "many.md": "- x\n" * 50_000,
        "odd #1 | ^a 🌱.md": "# Odd\n- [ ] y\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00\xd8")
    with open_space(tmp_path / "s.db", create=True) as space:
        summary = import_paths(space, [folder], NullListener())
        assert sorted(Path(one["path"]).name for one in summary.failed) == ["binary.md"]
        warned = [Path(one["path"]).name for one in summary.warnings]
        assert warned == ["case.md", "no yaml.md"]
        assert all("\n" not in one["reason"] for one in summary.warnings)
        assert all("\n" not in one["reason"] for one in summary.failed)
        assert summary.added == len(files)
        assert rows(space, "SELECT count(*) AS n FROM items WHERE kind = 'bullet'") == [[50_000]]
        assert rows(space, "SELECT length(text) AS n, due FROM items WHERE due IS NOT NULL") == [[9_999, "2026-01-01"]]
        assert rows(space, "SELECT file FROM notes WHERE title = 'Odd'") == [["odd #1 | ^a 🌱.md"]]
        self_links = 'SELECT n.file FROM links l JOIN notes n ON n."@id" = l.source WHERE l.target = l.source'
        assert ["Self.md"] in rows(space, self_links)
        assert rows(space, "SELECT count(*) AS n FROM links WHERE target IS NULL") == [[0]]
        assert space.store.check() == []
