"""Each command does what its help says, for a person and as JSON."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.clock import now
from infospace.journal.rows import Approve
from infospace.store.tool_records import ListedTool, SaveTools
from planner.parse.saved_plans import save_plan
from tui.command import COMMANDS, build_parser
from tui.command.system import demo

ANSWER = {"status", "resource_id", "value", "data", "reason", "extra", "started_at", "duration_ms"}

NOTE = """---
title: A walk
tags: [outside]
minutes: 40
---
# A walk

We went along the river and saw a heron.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three files, one of which is no text."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "walk.md").write_text(NOTE)
    (notes / "bread.txt").write_text("Flour, water, salt and patience make bread.")
    (notes / "broken.md").write_bytes(b"# \xff\xfe\xfd")
    return notes


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Path:
    """The sample notes as the space of the command."""
    shutil.copy(sample_file, tmp_path / "space.db")
    return tmp_path / "space.db"


def plan(*steps: dict[str, Any], **head: Any) -> str:
    """Return a plan as text."""
    return json.dumps({"steps": steps, **head})


def test_add_takes_what_it_can_and_reports_the_rest(cli: Any, folder: Path, model: Any) -> None:
    said = cli("add", str(folder), "--json")
    assert said.code == 1
    document = said.json
    assert {key: document[key] for key in ("added", "changed", "moved", "unchanged", "removed")} == {
        "added": 2,
        "changed": 0,
        "moved": 0,
        "unchanged": 0,
        "removed": 0,
    }
    assert document["passages_embedded"] == 2
    assert [Path(failure["path"]).name for failure in document["failed"]] == ["broken.md"]
    assert "UTF-8" in document["failed"][0]["reason"]
    assert "broken.md" in said.err


def test_adding_again_takes_only_what_changed(cli: Any, folder: Path, model: Any) -> None:
    (folder / "broken.md").unlink()
    assert cli("add", str(folder)).code == 0
    again = cli("add", str(folder), "--json").json
    assert (again["added"], again["unchanged"], again["passages_embedded"]) == (0, 2, 0)
    (folder / "bread.txt").write_text("Rye needs a sourdough.")
    (folder / "walk.md").rename(folder / "river.md")
    third = cli("add", str(folder), "--json").json
    assert (third["added"], third["changed"], third["moved"], third["unchanged"]) == (0, 1, 1, 0)
    assert third["passages_embedded"] == 1
    bread = cli("show", "bread.txt", "--json").json
    assert (bread["content"], bread["version"]) == ("Rye needs a sourdough.", 2)
    assert cli("show", "river.md", "--json").json["metadata"] == {
        "title": "A walk",
        "tags": ["outside"],
        "minutes": 40,
    }
    assert '  tags: ["outside"]\n' in cli("show", "river.md").err


def test_add_reads_standard_input(cli: Any, model: Any) -> None:
    assert cli("add", "-", "--json", stdin="# Thought\n\nA passing one.").json["added"] == 1
    assert cli("notes", "--json").json["notes"][0]["title"] == "Thought"


def test_a_file_inside_a_known_root_is_known_by_that_root(cli: Any, folder: Path, model: Any) -> None:
    (folder / "broken.md").unlink()
    cli("add", str(folder))
    assert cli("add", str(folder / "walk.md"), "--json").json["unchanged"] == 1


@pytest.mark.parametrize("blank", ["", " \n\t\n"])
def test_standard_input_without_text_adds_nothing(cli: Any, model: Any, blank: str) -> None:
    said = cli("add", "-", stdin=blank)
    assert (said.code, said.err) == (1, "not read: -: standard input has no text\n")
    assert cli("notes", "--json").json["total"] == 0


def test_a_removed_note_is_gone_until_its_file_is_named(cli: Any, folder: Path, model: Any) -> None:
    (folder / "broken.md").unlink()
    cli("add", str(folder))
    removed = cli("rm", "walk.md", "--json").json
    assert len(removed["removed"]) == 1
    assert cli("search", "a heron at the river", "--json", "--threshold", "0.2").json["data"] == []
    gone = cli("show", removed["removed"][0])
    assert gone.code == 1
    assert "deleted" in gone.err
    again = cli("add", str(folder))
    assert "left out: 1 file whose note was removed here (walk.md)" in again.err
    back = cli("add", str(folder / "walk.md"), "--json").json
    assert (back["added"], back["restored"], back["left_out"]) == (0, 1, [])
    assert cli("show", "walk.md", "--json").json["id"] == removed["removed"][0]


def test_rm_removes_all_or_nothing(cli: Any, folder: Path, model: Any) -> None:
    cli("add", str(folder))
    assert cli("rm", "walk.md", "nowhere.md").code == 1
    assert cli("notes", "--json").json["total"] == 2


@pytest.mark.slow
def test_search_answers_in_the_uniform_shape(cli: Any, sample: Path) -> None:
    said = cli("search", "why the re-ranker did not ship", "--limit", "2", "--json")
    assert said.code == 0
    assert set(said.json) == ANSWER
    assert [set(hit) for hit in said.json["data"]] == [{"text", "format", "metadata", "char_count"}] * 2
    assert said.json["data"][0]["metadata"]["title"] == "Decision: the re-ranker moves to the third quarter"
    assert said.json["extra"]["certificate"]["returned"] == 2
    assert "third quarter" in cli("search", "why the re-ranker did not ship").out


@pytest.mark.slow
def test_a_search_changes_nothing_in_the_space(cli: Any, sample: Path) -> None:
    before = cli("notes", "--all", "--json").json
    cli("search", "attention", "--limit", "all", "--json")
    assert cli("notes", "--all", "--json").json == before
    assert cli("runs", "--json").json["runs"][0]["kind"] == "import"


def test_looking_at_a_missing_space_makes_none(cli: Any, tmp_path: Path) -> None:
    assert cli("search", "anything", "--json").json["data"] == []
    assert cli("notes", "--json").json == {"notes": [], "total": 0}
    assert cli("runs", "--json").json == {"runs": [], "missing": []}
    assert cli("check", "-", "--json", stdin=plan({"type": "say", "value": 1})).json == {"ok": True, "problems": []}
    assert list(tmp_path.iterdir()) == []


def test_the_space_may_be_named_before_or_behind_the_command(cli: Any, tmp_path: Path) -> None:
    note = plan({"type": "create-note", "value": "x", "name": "here"})
    assert cli("--space", "a.db", "run", "-", stdin=note).code == 0
    assert cli("show", "here", "--space", "a.db").out == "x\n"
    assert (tmp_path / "a.db").exists()


def test_a_space_that_is_not_named_is_that_of_the_environment_else_ones_own(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = plan({"type": "create-note", "value": "x", "name": "here"})
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("INFOSPACE_SPACE", str(tmp_path / "of the environment.db"))
    cli("run", "-", stdin=note)
    cli("run", "-", "--space", "named.db", stdin=note)
    monkeypatch.delenv("INFOSPACE_SPACE")
    cli("run", "-", stdin=note)
    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.db"))
    assert made == ["data/infospace/infospace.db", "named.db", "of the environment.db"]


def test_run_as_json_has_the_documented_shape(cli: Any) -> None:
    steps = (
        {"type": "create-collection", "value": [1, 2], "out": "$list"},
        {"type": "map", "target": "$list", "operation": {"type": "create-note", "value": "n ${item}"}, "out": "$texts"},
    )
    document = cli("run", "-", "--json", stdin=plan(*steps, goal="two texts")).json
    assert {"run", "status", "result", "bindings", "steps", "pending", "problems"} <= set(document)
    assert (document["run"], document["status"], document["pending"]) == ("run_1", "success", [])
    assert document["bindings"] == {
        "list": {"kind": "Collection", "id": "Collection_1", "size": 2},
        "texts": {"kind": "Collection", "id": "Collection_2", "size": 2},
    }
    assert document["result"]["data"] == ["n 1", "n 2"]
    assert [step["step"] for step in document["steps"]] == ["1", "2"]
    assert all("data" not in step for step in document["steps"])
    assert set(document["steps"][0]) == (ANSWER - {"data"}) | {"step", "type", "out", "expect"}


def test_run_with_data_has_the_content_of_each_step(cli: Any) -> None:
    document = cli("run", "-", "--json", "--data", stdin=plan({"type": "create-note", "value": {"a": 1}})).json
    assert document["steps"][0]["data"] == {"a": 1}


def test_run_shows_steps_beside_and_the_result_on_standard_output(cli: Any) -> None:
    said = cli("run", "-", stdin=plan({"type": "say", "value": "hello"}, {"type": "create-note", "value": "done"}))
    assert said.code == 0
    assert said.out == "done\n"
    assert "hello" in said.err
    assert "2 create-note" in said.err


def test_run_can_print_and_write_the_result_alone(cli: Any, tmp_path: Path) -> None:
    text = plan({"type": "create-note", "value": "done"})
    quiet = cli("run", "-", "--print", "result", stdin=text)
    assert (quiet.out, quiet.err) == ("done\n", "")
    cli("run", "-", "--out", "result.txt", stdin=text)
    assert (tmp_path / "result.txt").read_text() == "done\n"


def test_a_failed_run_exits_with_1_and_says_why(cli: Any) -> None:
    text = plan(
        {"type": "discover-notes", "query": "q", "mode": "keyword", "out": "$none"},
        {"type": "bind", "target": "$none[0]", "out": "$first"},
    )
    said = cli("run", "-", stdin=text)
    assert said.code == 1
    assert "step 2 (bind) failed" in said.err
    assert cli("run", "-", "--json", stdin=text).json["status"] == "failed"


def test_json_lines_run_line_by_line(cli: Any) -> None:
    lines = (
        '{"goal": "a session", "inputs": {"who": {"type": "string"}}}\n'
        '{"type": "create-note", "value": "hello ${who}", "out": "$x"}\n'
        '{"type": "say", "value": "${x}"}\n'
    )
    said = cli("run", "-", "--input", "who=world", stdin=lines)
    assert said.code == 0
    assert said.out == "hello world\n"
    refused = cli("run", "-", "--json", stdin='{"type": "create-note", "value": 1}\n{"type": "sya", "value": 1}\n')
    assert refused.code == 3
    assert refused.json["status"] == "refused"
    assert refused.json["problems"][0]["pointer"] == "/1/type"
    assert [step["status"] for step in refused.json["steps"]] == ["success"]


def test_a_session_runs_each_line_before_the_next_is_written(tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "tui.command", "run", "-", "--space", str(tmp_path / "space.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"type": "say", "value": "first line"}\n')
        process.stdin.flush()
        heard = b""
        while b"first line" not in heard:
            heard += process.stderr.readline()
        process.stdin.write(b'{"type": "create-note", "value": "second line"}\n')
        process.stdin.close()
        assert process.stdout is not None
        assert process.stdout.read() == b"second line\n"
    assert process.returncode == 0


def test_a_session_with_a_line_that_is_no_json_keeps_what_it_did(cli: Any) -> None:
    said = cli("run", "-", "--json", stdin='{"type": "create-note", "value": 1, "name": "kept"}\n{"type": \n')
    assert said.code == 3
    assert said.json["status"] == "refused"
    assert said.json["problems"][0]["code"] == "unreadable"
    assert "line 2" in said.json["problems"][0]["message"]
    assert cli("show", "kept").out == "1\n"
    assert cli("runs", "--json").json["runs"][0]["status"] == "refused"


def test_inputs_come_from_a_file_and_from_the_line(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_text('{"a": 1, "b": "file"}')
    text = plan(
        {"type": "create-note", "value": "${a} ${b}"}, inputs={"a": {"type": "integer"}, "b": {"type": "string"}}
    )
    assert cli("run", "-", "--input-file", "inputs.json", "--input", "b=3", stdin=text).out == "1 3\n"


def test_runs_and_show_tell_what_a_run_did(cli: Any) -> None:
    cli("run", "-", stdin=plan({"type": "create-note", "value": "x", "out": "$x"}, goal="make one"))
    listed = cli("runs", "--json").json["runs"]
    assert [(run["run"], run["status"], run["goal"], run["steps"]) for run in listed] == [
        ("run_1", "success", "make one", 1)
    ]
    shown = cli("show", "run_1", "--json").json
    assert [(step["step"], step["resource_id"]) for step in shown["steps"]] == [("1", "Note_1")]
    assert "make one" in cli("show", "run_1").out


def test_show_gives_kind_content_version_and_provenance(cli: Any) -> None:
    cli("run", "-", stdin=plan({"type": "create-collection", "value": [1, "two"], "name": "pair"}))
    shown = cli("show", "pair", "--json").json
    assert (shown["kind"], shown["id"], shown["name"], shown["version"]) == ("Collection", "Collection_1", "pair", 1)
    assert [item["content"] for item in shown["items"]] == [1, "two"]
    assert shown["provenance"] == {"run": "run_1", "step": "1", "by": "create-collection"}
    note = cli("show", shown["items"][1]["id"], "--json").json
    assert {"kind", "id", "name", "content", "metadata", "version", "provenance"} <= set(note)


def test_show_lists_the_candidates_when_a_path_fits_several(cli: Any, tmp_path: Path, model: Any) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.md").write_text(f"# {folder}")
        cli("add", str(tmp_path / folder))
    said = cli("show", "same.md")
    assert said.code == 1
    assert "fits 2 notes" in said.err
    assert cli("show", str(tmp_path / "one" / "same.md"), "--json").json["metadata"]["title"] == "one"


def test_notes_can_be_filtered_by_what_is_known_of_them(cli: Any, folder: Path, model: Any) -> None:
    cli("add", str(folder))
    listed = cli("notes", "--where", "metadata.minutes > 30", "--json").json
    assert [note["title"] for note in listed["notes"]] == ["A walk"]
    wrong = cli("notes", "--where", "minutes >")
    assert wrong.code == 1
    assert "Traceback" not in wrong.err


def test_primitives_lists_and_explains(cli: Any) -> None:
    assert "discover-notes" in cli("primitives").out
    assert "Avoid:" in cli("primitives", "discover-notes").out
    short, full = (cli("primitives", "--markdown", *more).out for more in ([], ["--full"]))
    assert ("Avoid:" in short, "Avoid:" in full, cli("primitives", "--full").out) == (False, True, full)
    contracts = cli("primitives", "--json").json["primitives"]
    assert {"type", "summary", "effect", "arguments", "schema", "examples"} <= set(contracts[0])
    near = cli("primitives", "discover-note")
    assert near.code == 1
    assert "did you mean 'discover-notes'?" in near.err


def test_model_says_which_from_where_and_whether_it_was_verified(cli: Any, model: Any) -> None:
    shown = cli("model", "--json").json
    assert set(shown) == {"model", "folder", "origin", "verified", "dimension", "threshold"}
    assert (shown["verified"], shown["dimension"], shown["threshold"]) == (True, 384, 0.3)
    assert Path(shown["folder"]).is_dir()
    assert cli("model", "verify").code == 0


def test_doctor_finds_all_well_and_says_what_is_not(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    well = cli("doctor", "--json")
    assert (well.code, well.json["ok"]) == (0, True)
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path / "cache"))
    ill = cli("doctor")
    assert ill.code == 1
    assert "infospace model get" in ill.out


@pytest.mark.slow
def test_demo_runs_each_of_its_plans(cli: Any, sample: Path) -> None:
    listed = cli("demo", "--list", "--json").json["plans"]
    assert set(listed) == {"branching", "discovery", "exhaustive", "structure"}
    results = {name: cli("demo", name, "--space", str(sample), "--json").json for name in listed}
    assert {name: result["status"] for name, result in results.items()} == dict.fromkeys(listed, "success")
    certificate = results["exhaustive"]["result"]["extra"]["certificate"]
    assert (certificate["exhaustive"], certificate["matched"]) == (True, 3)
    assert results["structure"]["result"]["data"][0]["priority"] == 1
    assert "do not answer" in results["branching"]["result"]["data"]
    assert "Keyword, dense or both" in results["discovery"]["result"]["data"]


def test_the_demo_of_each_installation_has_a_space_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are known by the folder that they came from: in one space those of both would stand."""
    monkeypatch.setenv("INFOSPACE_CACHE", str(tmp_path))
    first, again, second = (demo.demo_space(tmp_path / name) for name in ("first", "first", "second"))
    assert first == again != second
    assert (first.parent, second.suffix) == (tmp_path, ".db")


def test_the_discovery_plan_says_that_no_note_answers(cli: Any, model: Any) -> None:
    plan = Path(demo.__file__).parents[2] / "sample" / "plans" / "discovery.json"
    said = cli("run", str(plan), "--input", "question=What is it?", "--json")
    assert (said.code, said.json["status"], said.json["result"]["data"]) == (
        0,
        "stopped",
        "No note answers: What is it?",
    )


def test_a_sample_plan_that_is_not_there_names_the_nearest(cli: Any, model: Any) -> None:
    said = cli("demo", "discovry")
    assert said.code == 2
    assert "did you mean 'discovery'?" in said.err


def test_help_of_each_command_and_of_each_of_its_actions_has_examples() -> None:
    parsers = [("infospace", build_parser(tuple(COMMANDS)))]
    for name, parser in parsers:
        assert re.search(rf"examples:\n.*{name}", parser.format_help(), re.DOTALL), name
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += [(f"{name} {sub}", parsed) for sub, parsed in action.choices.items()]
    assert len(parsers) > 50


def test_without_a_command_the_help_is_shown(cli: Any) -> None:
    said = cli()
    assert said.code == 2
    assert "COMMAND" in said.out


def test_there_is_no_colour_where_there_is_no_terminal(cli: Any) -> None:
    failing = plan({"type": "load", "target": "Note_1"}, {"type": "say", "value": "x"})
    for said in (cli("run", "-", stdin=failing), cli("run", "-", stdin=plan({"type": "create-note", "value": "x"}))):
        assert "\x1b" not in said.out + said.err


def test_what_each_kind_of_search_proved_is_a_sentence(cli: Any, monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    steps = (
        {"type": "create-collection", "value": ["about lakes", "about rivers"], "name": "waters", "out": "$w"},
        {"type": "discover-collections", "query": "rivers and lakes", "out": "$c"},
        {"type": "search-within-collection", "target": "$w", "query": "a river", "out": "$p"},
    )
    said = cli("run", "-", stdin=plan(*steps))
    assert said.code == 0
    assert "all 1 of 1 collections at or above 0.30" in said.err
    assert "all 2 of 2 passages at or above 0.00" in said.err
    words = cli("search", "rivers", "--mode", "keyword")
    assert (words.code, words.err) == (0, "all 1 of 2 notes with a word of the query\n")
    assert "or with a word of the query" in cli("search", "rivers", "--mode", "hybrid").err
    monkeypatch.setenv("INFOSPACE_INDEX", "hnsw")
    assert cli("search", "rivers", "--limit", "1").code == 0


def test_show_gives_the_first_hundred_items_of_a_large_collection_and_says_so(cli: Any) -> None:
    """All of them as JSON."""
    values = [f"item number {number}" for number in range(130)]
    plan = {"steps": [{"type": "create-collection", "value": values, "name": "large"}]}
    Path("large.json").write_text(json.dumps(plan))
    assert cli("run", "large.json").code == 0
    shown = cli("show", "large")
    assert "item number 99" in shown.out
    assert "item number 100" not in shown.out
    assert "and 30 more; --json gives all 130" in shown.err
    assert len(cli("show", "large", "--json").json["items"]) == 130


def test_tools_that_were_found_are_shown_by_name(cli: Any) -> None:
    """With their descriptions; where none fits, that is said, and which is nearest."""
    found = cli(
        "run", "-", stdin=plan({"type": "discover-tools", "query": "join two collections", "limit": 2, "out": "$t"})
    )
    assert found.code == 0
    assert "infospace/join" in found.out
    assert "title and passage" in found.out
    none = cli("run", "-", stdin=plan({"type": "discover-tools", "query": "zzzqqq", "out": "$t"}))
    assert none.code == 0
    assert "no tool fits; the nearest is infospace/" in none.err


def test_a_list_of_notes_and_a_search_say_where_files_lie(cli: Any, known: Path, model: Any) -> None:
    """As columns, and as members of the JSON; null of what was not imported."""
    cli("add", "-", stdin="# Made by hand\n\nA heron.")
    rows = cli("notes", "--json").json["notes"]
    place = {"path": "a.md", "folder": "", "root": str(known)}
    assert rows[0].items() >= place.items()
    assert rows[2].items() >= {"path": None, "folder": None, "root": None}.items()
    listed = cli("notes").out.splitlines()
    assert listed[0].split() == ["id", "title", "path", "updated"]
    found = cli("search", "b", "--threshold", "-1", "--where", "@path = 'a.md'", "--json").json["data"]
    assert [hit["metadata"].items() >= place.items() for hit in found] == [True]
    assert "path" in cli("search", "b", "--threshold", "-1").out.splitlines()[0]


def test_a_field_that_no_note_has_is_told(cli: Any, known: Path, model: Any) -> None:
    """By the list of notes and by the search."""
    message = "nothing satisfies `where`; no note has `foldr`; did you mean `@folder`?"
    assert message in cli("notes", "--where", "foldr = 'x'").err
    assert cli("notes", "--where", "foldr = 'x'", "--json").json["hint"] == message
    assert "hint" not in cli("notes", "--where", "@folder = 'x'", "--json").json
    assert message in cli("search", "b", "--where", "foldr = 'x'").err
    assert cli("search", "b", "--where", "foldr = 'x'", "--json").json["extra"]["hint"] == message


@pytest.mark.parametrize("words", [("plans", "list"), ("plans",), ("tools", "list"), ("tools", "approvals")])
def test_a_space_is_named_before_or_after_every_word(cli: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    """As the help of each says; what is shown is in that space alone."""
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "mcp.json").write_text('{"mcpServers": {"hall": {"command": "hall"}}}')
    there = str(folder / "other.db")
    with open_space(there) as space:
        save_plan(space, "greet", {"steps": [{"type": "create-note", "value": 1}]})
        space.store.commit([SaveTools("hall", [ListedTool("greet")])], [Approve("hall/greet", None, now())])
    assert "greet" not in cli(*words, "--json").out
    said = {cli(*words[:at], "--space", there, *words[at:], "--json").out for at in range(len(words) + 1)}
    assert len(said) == 1
    assert "greet" in said.pop()


def test_a_where_that_compares_other_types_says_so(cli: Any, tmp_path: Path) -> None:
    """In a run, in a list of notes and in a search: nothing is found for a reason that is told."""
    steps = [{"type": "create-note", "value": "a book", "metadata": {"price": price}, "name": price} for price in "127"]
    where = "metadata.price > 3"
    search = {"type": "discover-notes", "query": "book", "mode": "keyword", "where": where, "out": "$dear"}
    ran = cli("run", "-", stdin=plan(*steps, search, result="$dear"))
    assert (ran.code, "0 items (3 of 3 compare text with number; without `where` 3" in ran.err) == (
        0,
        True,
    ), ran.err
    listed = cli("notes", "--where", where)
    assert "3 of 3 compare text with number" in listed.err, listed
    assert cli("notes", "--where", where, "--json").json["mismatched"] == "3 of 3 compare text with number"
    found = cli("search", "book", "--mode", "keyword", "--where", where)
    assert "3 of 3 compare text with number" in found.err, found
