"""Texts that would command a terminal or deceive whoever reads: the command line shows what is in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan
from tui.text.output import escape_controls

EVIL = "\x1b]0;owned\x07 \u202eevil\u202c \u2066x\u2069 a\u200bb \ufeff \u2028 \u00ad \r\x9b31m \U000e0041 \u061c"
SEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\xad\u061c\U000e0041]"
)
OWN = re.compile(r"\r?\x1b\[[?0-9;]*[A-Za-z]")
"""How `rich` draws in colour, and a line over another."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\x1b[1m", r"\x1b[1m"),
        ("ab\u202ecd", r"ab\u202ecd"),
        ("a\u200bb\u00adc", r"a\u200bb\xadc"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
        ("a\u200db", r"a\u200db"),
        ("x\u200d", r"x\u200d"),
    ],
)
def test_what_commands_or_hides_is_shown_as_an_escape(text: str, said: str) -> None:
    """As JSON writes it."""
    assert escape_controls(text) == said


@pytest.mark.parametrize("text", ["\t\n", "می\u200cخواهم", "क\u094d\u200dष", "👩\u200d👩", "é 日本 ✓", "❤\ufe0f"])
def test_what_belongs_to_a_script_is_shown_as_it_is(text: str) -> None:
    """Joiners between letters, and marks of emoji."""
    assert escape_controls(text) == text


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A space in which everything that has a text has such a one."""
    path = tmp_path / "space.db"
    folder = tmp_path / "folder\u202e\x1b"
    folder.mkdir()
    head = '---\ntitle: "x\u202e\u200by"\ntags: ["t\u202e"]\n---\n'
    (folder / "file \u202e\x07.md").write_text(f"{head}# {EVIL}\n\nzebra [[{EVIL}]]")
    with open_space(path) as space:
        store = space.store
        meta: dict[str, Any] = {"title": f"title {EVIL}", "kind": EVIL}
        made = [MakeNote(store.new_id(Kind.NOTE), f"zebra {EVIL}", meta, kept=True)]
        made.append(MakeNote(store.new_id(Kind.NOTE), {f"key {EVIL}": f"zebra {EVIL}"}, meta, kept=True))
        store.commit(made)
        steps = [
            {"type": "say", "value": f"zebra {EVIL}"},
            {"type": "create-note", "value": f"zebra {EVIL}", "expect": EVIL, "name": f"name{EVIL}", "out": "$a"},
            {"type": "discover-notes", "query": "zebra", "mode": "keyword", "name": f"hits{EVIL[-4:]}", "out": "$h"},
            {"type": "ask", "value": f"Which {EVIL}?", "on_fail": "continue"},
        ]
        run_sync(space, {"goal": f"goal {EVIL}", "steps": steps})
        stop = {"type": "stop", "status": "failed", "reason": EVIL}
        failing = [{"type": "load", "target": "nothing", "on_fail": "continue"}, stop]
        run_sync(space, {"goal": f"goal {EVIL}", "steps": failing})
        save_plan(space, f"plan {EVIL[-3:]}", {"goal": EVIL, "steps": steps[:1]})
    return path


COMMANDS = [
    ["notes"],
    ["notes", "--where", "metadata.kind IS NOT NULL"],
    ["show", "Note_1"],
    ["show", "Note_2"],
    ["show", "Note_1", "--raw"],
    ["show", "Collection_1"],
    ["search", "zebra", "--mode", "keyword"],
    ["search", EVIL, "--mode", "keyword"],
    ["runs"],
    ["runs", "run_1"],
    ["show", "run_1"],
    ["show", "run_1/2"],
    ["why", "Note_3"],
    ["diff", "run_1", "run_2"],
    ["plans"],
    ["stale"],
    ["check", f"no such file {EVIL[:8]}"],
    ["show", f"nothing {EVIL}"],
    ["run", "plan.json"],
    ["run", "plan.json", "--dry-run"],
    ["check", "plan.json"],
    ["check", "bad.json"],
    ["add", "."],
    ["undo", "run_1"],
    [f"no-command{EVIL}"],
]


@pytest.mark.parametrize("forced", [False, True])
def test_no_command_prints_them(cli: Any, hostile: Path, tmp_path: Path, forced: bool, monkeypatch: Any) -> None:
    """Piped, and with colours that are asked for, in what it answers and in what it says beside."""
    if forced:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
    say, hits = {"type": "say", "value": f"zebra {EVIL}"}, {"type": "discover-notes", "mode": "keyword", "out": "$h"}
    wrong = [{"type": f"say{EVIL}", "value": f"${{x}} {EVIL}"}, {"type": "load", "target": EVIL}]
    (tmp_path / "plan.json").write_text(json.dumps({"goal": EVIL, "steps": [say, {**hits, "query": "zebra"}]}))
    (tmp_path / "bad.json").write_text(json.dumps({"steps": wrong}))
    told = 0
    for command in COMMANDS:
        said = cli(*command)
        for text in (said.out, said.err):
            plain = OWN.sub("", text) if forced else text
            found = SEEN.search(plain)
            assert found is None, (command, plain[max(0, found.start() - 80) : found.start() + 40])
            told += plain.count(r"\u202e")
    assert told > 20


def test_json_has_the_texts_as_they_are(cli: Any, hostile: Path) -> None:
    """Programs read it."""
    said = cli("show", "Note_1", "--json")
    assert json.loads(said.out)["content"] == f"zebra {EVIL}"
