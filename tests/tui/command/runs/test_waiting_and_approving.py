"""`--approve`, `--wait` and the answers to what a run asks, by real processes and at a real terminal."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from at_terminal import SCRIPT, calls, command, environment, terminal

from infospace import open_space
from infospace.core.clock import now
from infospace.journal.rows import ClaimRun
from planner.execute.start import run_sync
from planner.lifecycle.resume import answer, resume

DELETE = {"type": "files/delete", "arguments": {"path": "a.md"}, "out": "$d"}
YEAR = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$y"}
EACH = [
    {"type": "create-collection", "value": ["a", "b", "c"], "out": "$c"},
    {
        "type": "for-each",
        "target": "$c",
        "do": [{"type": "files/delete", "arguments": {"path": "$item"}, "out": "$d"}],
        "out": "$all",
    },
]


def plan(folder: Path, *steps: Any) -> str:
    """Write a plan; return its path."""
    path = folder / "plan.json"
    path.write_text(json.dumps(list(steps)), encoding="utf-8")
    return str(path)


def orders(said: str) -> list[list[str]]:
    """Return the commands that were told, as a shell takes them."""
    return [shlex.split(line.partition("→ ")[2]) for line in said.splitlines() if "→ infospace" in line]


def test_a_call_that_is_asked_about_is_told_with_the_command_that_answers_it(tmp_path: Path) -> None:
    """Exit code 4; the command that is told goes on, as it stands there, also for an odd position and space."""
    first = command(tmp_path, "run", plan(tmp_path, *EACH))
    assert (first.returncode, calls(tmp_path)) == (4, [])
    assert "call the tool delete of the server files" in first.stderr
    assert '{"path":"a"}' in first.stderr
    [order] = orders(first.stderr)
    assert order == ["infospace", "answer", "run_1", "2.do[1].1", "once"]
    assert first.stderr.rstrip().endswith("no: it is not called, and the step fails")
    second = command(tmp_path, *order[1:])
    assert (second.returncode, calls(tmp_path)) == (4, ["a"])
    done = command(tmp_path, "answer", "run_1", "2.do[2].1", "run")
    assert (done.returncode, calls(tmp_path)) == (0, ["a", "b", "c"])
    odd = tmp_path / "an odd space.db"
    elsewhere = command(tmp_path, "--space", str(odd), "run", plan(tmp_path, DELETE))
    [order] = orders(elsewhere.stderr)
    assert order == ["infospace", "--space", str(odd), "answer", "run_1", "1", "once"]
    assert command(tmp_path, *order[1:]).returncode == 0


def test_what_is_asked_is_listed_with_what_may_be_answered(tmp_path: Path) -> None:
    """For people, and as JSON."""
    command(tmp_path, "run", plan(tmp_path, DELETE))
    listed = command(tmp_path, "answer", "run_1")
    assert listed.stdout.startswith("1  call the tool delete")
    assert "run: every call of this tool in this run" in listed.stderr
    [asked] = json.loads(command(tmp_path, "answer", "run_1", "--json").stdout)
    assert (asked["kind"], asked["schema"]["enum"]) == ("approve", ["once", "run", "always", "no"])
    wrong = command(tmp_path, "answer", "run_1", "1", "yes")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert '"yes" is not "once", "run", "always" or "no"' in wrong.stderr
    refused = command(tmp_path, "answer", "run_1", "1", "no")
    assert refused.returncode == 1
    assert "somebody said no" in refused.stderr
    assert calls(tmp_path) == []


def test_what_is_approved_is_not_asked_about(tmp_path: Path) -> None:
    """One tool or all of a server; a name that fits nothing is told, and one that is none is wrong usage."""
    for number, name in enumerate(("files/delete", "files/*"), 1):
        assert command(tmp_path, "run", plan(tmp_path, DELETE), "--approve", name).returncode == 0
        assert len(calls(tmp_path)) == number
    typo = command(tmp_path, "run", plan(tmp_path, DELETE), "--approve", "files/delet")
    assert typo.returncode == 4
    assert "--approve: no tool here is called files/delet; did you mean files/delete?" in typo.stderr
    wrong = command(tmp_path, "run", plan(tmp_path, DELETE), "--approve", "files")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "names no tool" in wrong.stderr
    assert command(tmp_path, "resume", "run_3", "--approve", "files/*").returncode == 0
    assert len(calls(tmp_path)) == 3


def test_at_a_terminal_a_question_is_put_until_the_answer_fits(tmp_path: Path) -> None:
    """A wrong one is told in a sentence; the run then goes on to its end."""
    steps = [YEAR, {"type": "create-note", "value": "it was ${y}", "out": "$x"}]
    with terminal(tmp_path, "run", plan(tmp_path, *steps), "--wait") as person:
        person.until("step 1 asks: Which year?")
        assert "a whole number" in person.until("> ")
        person.types("soon")
        person.until('"soon" is not a whole number')
        person.until("> ", 2)
        person.types("1984")
        assert person.ended() == 0
    assert "it was 1984" in person.seen


def test_at_a_terminal_a_call_is_approved_for_the_whole_run(tmp_path: Path) -> None:
    """Each choice is explained."""
    with terminal(tmp_path, "run", plan(tmp_path, *EACH), "--wait") as person:
        shown = person.until("> ")
        assert "once: this call" in shown
        assert "always: every call of this tool" in shown
        person.types("once")
        person.until("> ", 2)
        person.types("run")
        assert person.ended() == 0
    assert calls(tmp_path) == ["a", "b", "c"]


def test_an_empty_line_leaves_the_run_suspended(tmp_path: Path) -> None:
    """Exit code 4, with the command that answers it; the end of input does the same."""
    for typed in ("\n", "\x04"):
        with terminal(tmp_path, "run", plan(tmp_path, YEAR), "--wait") as person:
            person.until("> ")
            person.types(typed.strip("\n"))
            assert person.ended() == 4
        assert "→ infospace answer run_" in person.seen.partition("> ")[2]


def test_without_a_terminal_a_question_is_told_and_left(tmp_path: Path) -> None:
    """As without `--wait`."""
    said = command(tmp_path, "run", plan(tmp_path, YEAR), "--wait")
    assert said.returncode == 4
    assert "→ infospace answer run_1 1 …" in said.stderr
    assert "… is a whole number" in said.stderr
    document = command(tmp_path, "resume", "run_1", "--wait", "--json")
    assert (document.returncode, json.loads(document.stdout)["pending"][0]["step"]) == (4, "1")
    assert "→ infospace answer run_1 1 …" in document.stderr


def test_a_long_wait_is_waited_for(tmp_path: Path) -> None:
    """By `run`, by `resume` and by `answer`; without the option the run is suspended."""
    wait = {"type": "wait", "seconds": 0.5}
    note = {"type": "create-note", "value": "up", "out": "$x"}
    steps = plan(tmp_path, wait, note)
    assert command(tmp_path, "run", steps, SHORT="0").returncode == 4
    for words in (("run", steps), ("resume", "run_1")):
        said = command(tmp_path, *words, "--wait", "--print", "all", SHORT="0") if words[0] == "run" else None
        said = said or command(tmp_path, *words, "--wait", SHORT="0")
        assert (said.returncode, said.stdout) == (0, "up\n"), said.stderr
    command(tmp_path, "run", plan(tmp_path, YEAR, wait, note), SHORT="0")
    said = command(tmp_path, "answer", "run_3", "1", "7", "--wait", "--json", SHORT="0")
    assert (said.returncode, json.loads(said.stdout)["status"]) == (0, "success")
    both = command(tmp_path, "answer", "run_3", "1", "7", "--wait", "--only")
    assert (both.returncode, both.stderr.count("\n")) == (2, 1)


FLAG = [
    {"type": "load", "target": "flag", "out": "$flag"},
    {"type": "wait", "condition": {"type": "equals", "target": "$flag", "value": True}},
    {"type": "create-note", "value": "up", "out": "$x"},
]


def test_a_condition_is_looked_at_again(tmp_path: Path) -> None:
    """Until somebody makes it true; it is told once what is waited for."""
    with open_space(tmp_path / "space.db") as space:
        run_sync(space, [{"type": "create-note", "value": False, "name": "flag"}])
    with terminal(tmp_path, "run", plan(tmp_path, *FLAG), "--wait") as person:
        person.until("waiting for this")
        with open_space(tmp_path / "space.db") as space:
            while True:
                with space.store.reading() as snapshot:
                    if len(snapshot.steps("run_2")) and snapshot.run("run_2").owner is not None:
                        break
            run_sync(space, [{"type": "update-note", "target": "flag", "value": True}])
        assert person.ended() == 0
    assert person.seen.count("waiting for this") == 1
    assert person.seen.count("run_2") == 1
    assert "\nup" in person.seen


def test_a_run_that_another_process_goes_on_with_is_left_to_it(tmp_path: Path) -> None:
    """It is said who has it, or how it ended; nothing is answered twice."""
    with terminal(tmp_path, "run", plan(tmp_path, YEAR), "--wait") as person:
        person.until("> ")
        with open_space(tmp_path / "space.db") as space:
            answer(space, "run_1", "1", 1968)
            assert asyncio.run(resume(space, "run_1")).status == "success"
        person.types("1984")
        assert person.ended() == 0
    assert "run_1 was resumed by another process, and is success" in person.seen
    long = [{"type": "wait", "seconds": 3600}]
    with terminal(tmp_path, "run", plan(tmp_path, *long), "--wait") as person:
        person.until("waiting until")
        with open_space(tmp_path / "space.db") as space:
            with space.store.reading() as snapshot:
                owner = snapshot.run("run_2").owner
            space.store.commit([], [ClaimRun("run_2", "elsewhere:1:x", owner, now())])
        assert person.ended() == 4
    assert "run_2 was resumed by another process: elsewhere:1:x runs it now" in person.seen


def test_an_answer_from_elsewhere_is_gone_on_with(tmp_path: Path) -> None:
    """While the command waits for something else."""
    branches = [[YEAR, {"type": "create-note", "value": "${y}!", "out": "$x"}], [{"type": "wait", "seconds": 3600}]]
    words = [sys.executable, str(SCRIPT), "run", plan(tmp_path, {"type": "parallel", "branches": branches}), "--wait"]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    ) as waiting:
        assert waiting.stderr is not None
        while "waiting until" not in waiting.stderr.readline():
            pass
        with open_space(tmp_path / "space.db") as space:
            answer(space, "run_1", "1.branches[1].1", 1984)
        while "1984!" not in waiting.stderr.readline():
            pass
        waiting.send_signal(signal.SIGINT)
        rest = waiting.stderr.read()
    assert waiting.returncode == 130
    assert "Traceback" not in rest
    assert "infospace resume run_1" in rest


def test_ctrl_c_leaves_what_is_waited_for(tmp_path: Path) -> None:
    """At a question and in a long wait: exit code 130, and the run can be gone on with."""
    for step, shown in ((YEAR, "> "), ({"type": "wait", "seconds": 3600}, "waiting until")):
        with terminal(tmp_path, "run", plan(tmp_path, step), "--wait") as person:
            person.until(shown)
            person.process.send_signal(signal.SIGINT)
            assert person.ended() == 130
        assert "goes on" in person.seen
        assert "Traceback" not in person.seen
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        assert [row.status for row in snapshot.runs()] == ["suspended", "suspended"]


def test_an_answer_in_another_script_is_taken_and_one_in_no_script_told(tmp_path: Path) -> None:
    """What is no UTF-8 is asked for again."""
    ask = {"type": "ask", "value": "who?", "out": "$who"}
    with terminal(tmp_path, "run", plan(tmp_path, ask), "--wait", PYTHONUTF8="1", LC_ALL="C.UTF-8") as person:
        person.until("> ")
        person.types_raw(b"\xff\xfe\n")
        person.until("not UTF-8")
        person.types("Пётр")
        assert person.ended() == 0
    assert "Пётр" in person.seen


def test_a_dry_run_is_shown_and_leaves_nothing(tmp_path: Path) -> None:
    """Exit code 0, also with calls that would ask; 1 where a step fails, 3 where the plan is refused."""
    kept = {"type": "head", "target": "$x", "count": 1, "name": "begin", "out": "$y"}
    made = {"type": "create-collection", "value": ["a", "b"], "name": "one", "out": "$x"}
    steps = plan(tmp_path, made, kept, DELETE)
    said = command(tmp_path, "run", steps, "--dry-run")
    assert (said.returncode, calls(tmp_path)) == (0, [])
    assert 'would write: {"value":["a","b"]}, named \'one\'' in said.stderr
    assert 'would write: {"target":"Collection_1 (2 notes: a; b)","count":1}, named \'begin\'' in said.stderr
    assert 'would do this, and would ask before: {"path":"a.md"}' in said.stderr
    assert not (tmp_path / "space.db").exists()
    document = json.loads(command(tmp_path, "run", steps, "--dry-run", "--json").stdout)
    assert (document["dry_run"], document["run"], document["steps"][2]["would"]["effect"]) == (True, None, "calls")
    paged = {"type": "pages", "tool": DELETE["type"], "arguments": {"path": "$page"}, "items": "gone", "next": "next"}
    said = command(tmp_path, "run", plan(tmp_path, {**paged, "first": "a.md", "max_pages": 3}), "--dry-run")
    assert f'would call {DELETE["type"]}, at most 3 times, and would ask before: {{"path":"a.md"}}' in said.stderr
    failing = plan(tmp_path, {"type": "stop", "status": "failed", "value": "no more"})
    assert command(tmp_path, "run", failing, "--dry-run").returncode == 1
    assert command(tmp_path, "run", plan(tmp_path, {"type": "nothing"}), "--dry-run").returncode == 3
    both = command(tmp_path, "run", steps, "--dry-run", "--wait")
    assert both.returncode == 2
    (tmp_path / "lines.jsonl").write_text('{"type": "say", "value": "a"}\n{"type": "say", "value": "b"}\n')
    lines = command(tmp_path, "run", str(tmp_path / "lines.jsonl"), "--dry-run")
    assert (lines.returncode, lines.stderr.count("\n")) == (2, 1)


def test_a_dry_run_shows_every_write_of_a_long_loop(tmp_path: Path) -> None:
    """Also those of rounds that a run would only count."""
    items = {"type": "create-collection", "value": list(range(14)), "out": "$c"}
    kept = {"type": "create-note", "value": "x", "name": "n${item}", "out": "$n"}
    said = command(tmp_path, "run", plan(tmp_path, items, {**EACH[1], "do": [kept]}), "--dry-run")
    assert (said.returncode, said.stderr.count("would write")) == (0, 14)
