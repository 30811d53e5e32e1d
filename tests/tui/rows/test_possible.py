"""What can be done with a run, by how it stands."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from infospace.core.clock import now
from infospace.journal.rows import RunHead, StepRow
from tui.screens.run_actions import _questions, possible

AT = "2026-03-31T23:33:20.000Z"
OF_PLANS = {"fork", "edit", "replay"}
ALL = ("answer", "resume", "stop", "fork", "edit", "replay", "delete", "open")


def head(status: Any, *, kind: Any = "plan", gone: bool = False) -> RunHead:
    owner = f"{socket.gethostname()}:{999999999 if gone else os.getpid()}:x"
    return RunHead("run_1", kind, "", status, AT, None, None, owner, now())


def actions(run: RunHead, *, here: bool = False, asks: bool = False) -> set[str]:
    """All that can be done with it."""
    return {action for action in ALL if possible(action, run, here=here, asks=asks)} - {"open"}


@pytest.mark.parametrize("status", ["success", "failed", "stopped", "cancelled", "refused"])
def test_a_run_that_ended_is_forked_replayed_or_deleted(status: str) -> None:
    assert actions(head(status)) == OF_PLANS | {"delete"}
    assert actions(head(status, kind="session")) == {"delete"}


def test_a_run_that_waits_is_resumed_or_ended_and_answered_where_it_asks() -> None:
    assert actions(head("suspended")) == OF_PLANS | {"resume", "stop", "delete"}
    assert actions(head("suspended"), asks=True) == OF_PLANS | {"resume", "stop", "delete", "answer"}


def test_a_run_of_another_process_is_left_to_that_until_it_is_gone() -> None:
    """Nobody deletes it, or goes on with it, while it goes on; afterwards both."""
    assert actions(head("running"), asks=True) == OF_PLANS
    assert actions(head("running", gone=True)) == OF_PLANS | {"resume", "stop", "delete"}


def test_a_run_that_goes_on_here_is_only_stopped() -> None:
    """Whatever the journal says of it meanwhile."""
    for status in ("running", "suspended", "success"):
        assert actions(head(status), here=True, asks=True) == OF_PLANS | {"stop"}
    assert actions(head("running", gone=True), here=True) == OF_PLANS | {"stop"}


def test_any_run_is_opened() -> None:
    assert possible("open", head("refused"), here=False, asks=False)


def asking(step: str, kind: str, status: Any = "suspended", **fields: Any) -> StepRow:
    extra = {"pending": {"step": step, "kind": kind, "question": "?", "schema": None, "until": None, **fields}}
    return StepRow("run_1", 1, step, "ask", status, AT, 1.0, extra=extra)


def test_what_is_asked_and_not_answered_yet_is_asked() -> None:
    """Not what waits by itself, nor what was answered, under its key or its step."""
    rows = [
        asking("1", "ask"),
        asking("2", "wait"),
        asking("3", "approve", key="3/call"),
        asking("4", "ask", "success"),
    ]
    assert [one.step for one in _questions(rows, {})] == ["1", "3"]
    assert [one.step for one in _questions(rows, {"1": "yes"})] == ["3"]
    assert [one.step for one in _questions(rows, {"3": "yes"})] == ["1", "3"]
    assert [one.step for one in _questions(rows, {"3/call": None})] == ["1"]
