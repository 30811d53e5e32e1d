"""Ctrl-C at any moment ends the command with exit code 130 and a sentence."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chatting import Endpoint

sys.path.insert(0, str(Path(__file__).parents[2]))
from at_terminal import environment, program_at_terminal

from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, RunFinished
from planner.journal.result import RunResult
from tui.command.common import ctrl_c as interrupting
from tui.command.common import follow_run as attending
from tui.command.common.event_printer import EventPrinter
from tui.text.output import Output

READY = """
import tui.command

build = tui.command.build_parser


def told(words):
    print("ready", flush=True)
    return build(words)


tui.command.build_parser = told
raise SystemExit(tui.command.main())
"""


UNNOTICED = """
import signal
import threading

import tui.command

threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
raise SystemExit(tui.command.main())
"""
"""Another thread gets the signal, so that no call of the main thread ends by it: as if it came just before the call."""


class AtOnce(SuspendRequest):
    """Halted and broken off as soon as there is anything to break off, which has not begun then."""

    def hold(self, task: asyncio.Task[Any] | None) -> None:
        super().hold(task)
        self.set()
        self.break_off()


def test_a_run_that_is_broken_off_before_it_begins_says_so(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no run then; with --json that is a document too."""
    monkeypatch.setattr("planner.journal.commit_order.SuspendRequest", AtOnce)
    plan = json.dumps([{"type": "create-note", "value": 1, "name": "one"}])
    said = cli("run", "-", stdin=plan)
    assert (said.code, said.out) == (130, "")
    assert said.err == "cancelled: it was interrupted before it began\n"
    document = cli("run", "-", "--json", stdin=plan)
    assert (document.code, document.json["run"], document.json["status"]) == (130, None, "cancelled")
    assert cli("runs", "--json").json == {"runs": [], "missing": []}


def test_a_run_that_is_broken_off_before_it_goes_on_is_as_it_was(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And can be gone on with."""
    cli("run", "-", stdin=json.dumps([{"type": "ask", "value": "who?", "out": "$x"}]))
    cli("answer", "run_1", "1", "me", "--only")
    with monkeypatch.context() as patched:
        patched.setattr("planner.journal.commit_order.SuspendRequest", AtOnce)
        said = cli("resume", "run_1")
    assert said.code == 130
    assert "interrupted before it went on: run_1 is as it was" in said.err
    assert cli("resume", "run_1").code == 0


@pytest.mark.parametrize("command", ["run", "resume"])
def test_ctrl_c_at_the_moment_at_which_a_run_begins_to_wait_is_heard(
    cli: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """And not waited out: the command ends, and the run can be gone on with."""

    def watched(self: EventPrinter, event: Event) -> None:
        usual(self, event)
        if isinstance(event, RunFinished):
            signal.raise_signal(signal.SIGINT)

    def slept(seconds: float) -> None:
        pytest.fail(f"it waits for {seconds} s")

    usual = EventPrinter.__call__
    plan = json.dumps([{"type": "wait", "seconds": 3600}])
    if command == "resume":
        assert cli("run", "-", stdin=plan).code == 4
    monkeypatch.setattr(EventPrinter, "__call__", watched)
    monkeypatch.setattr(attending, "time", SimpleNamespace(monotonic=time.monotonic, sleep=slept))
    said = cli(command, "-" if command == "run" else "run_1", "--wait", stdin=plan)
    assert said.code == 130
    assert "infospace resume run_1" in said.out + said.err
    assert cli("runs", "--json").json["runs"][0]["status"] == "suspended"


def test_ctrl_c_before_the_command_has_read_its_words_is_told(tmp_path: Path) -> None:
    """Without a traceback."""
    (tmp_path / "plan.json").write_text('[{"type": "wait", "seconds": 50}]', encoding="utf-8")
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    with subprocess.Popen(
        [sys.executable, "-c", READY, "run", str(tmp_path / "plan.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        said = running.stderr.read()
    assert running.returncode == 130
    assert said
    assert "Traceback" not in said


@pytest.mark.parametrize(("words", "question"), [(("run", "ask.json", "--wait"), "> "), (("do", "keep it"), "[y/N] ")])
def test_ctrl_c_just_before_a_question_reads_its_answer_is_not_lost(
    words: Sequence[str], question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint
) -> None:
    """The command ends at once, as it does while the answer is read, and not at the next key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ask.json").write_text(json.dumps([{"type": "ask", "value": "who?", "out": "$who"}]))
    endpoint.script.append(json.dumps([{"type": "create-note", "value": 1, "name": "one", "out": "$note"}]))
    with program_at_terminal([sys.executable, "-c", UNNOTICED, *words], environment(tmp_path)) as person:
        person.until(question)
        person.process.send_signal(signal.SIGINT)
        assert person.ended() == 130
    assert "Traceback" not in person.seen
    assert re.search("interrupted|cancelled", person.seen)


def test_an_interrupt_as_a_run_comes_to_rest_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for the run's sake goes on waiting otherwise."""

    async def play(_emit: Any, _halt: SuspendRequest) -> RunResult:
        return RunResult("run_1", "suspended")

    def heard_then_interrupted(result: RunResult, halt: SuspendRequest) -> RunResult:
        told = heard(result, halt)
        os.kill(os.getpid(), signal.SIGINT)
        return told

    heard = interrupting.final_result
    monkeypatch.setattr(interrupting, "final_result", heard_then_interrupted)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(interrupting.run_interruptible(play, lambda _event: None, Output(json=True)))
