"""Which calls of a run are made, asked about, or answered from what it did before: by a journal that is a list."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from infospace.core.clock import now
from infospace.core.errors import BudgetExceeded, InputRequired
from infospace.core.resources import CreatedBy
from infospace.core.tool import NotAllowed, NotCalled, Tool, ToolAnswer
from infospace.journal.external_call import ASKED
from infospace.journal.rows import CallRow
from infospace.tools.journalled_calls import ToolCalls, digest_of
from planner.journal.recorded import RecordedRun

SEND = Tool("post", "send", "Send a letter.", {"type": "object"})
READ = Tool("post", "read", "Read a letter.", {"type": "object"}, read_only=True)
LETTER = {"to": "Ada"}


class Office:
    """Makes calls of one run, whose answers are given beforehand: in their order, or the error that they end with."""

    def __init__(self, *answers: Any, past: RecordedRun | None = None, most: int | None = None) -> None:
        self.rows: list[CallRow] = []
        self.calls = ToolCalls(most, self.rows.append, count(1).__next__, lambda _tool, *, by_name: by_name, past)
        self.calls.asks_again = True
        self._answers = list(answers)
        self.created_by = 0

    def make(self, position: str, tool: Tool = SEND, arguments: Mapping[str, Any] = LETTER) -> ToolAnswer:
        async def call(_tool: Tool) -> ToolAnswer:
            self.created_by += 1
            answer: ToolAnswer = self._answers.pop(0)
            return answer

        async def current() -> Tool:
            if isinstance(self._answers[0], NotCalled):
                raise self._answers.pop(0)
            return tool

        made = CreatedBy("run_1", position, tool.full_name)
        return asyncio.run(self.calls.make(tool, arguments, made, call, current))


SENT, FAILED = ToolAnswer(structured="sent"), ToolAnswer(structured="no stamp", is_error=True)


def test_the_same_call_of_another_step_is_asked_about() -> None:
    """Once per place, and not where the arguments are others, or the tool only reads."""
    office = Office(SENT, SENT, SENT, SENT)
    office.make("1")
    with pytest.raises(InputRequired, match="step 1 of this run called it so already"):
        office.make("2")
    assert office.make("2", arguments={"to": "Grace"}) == SENT
    assert office.make("3", READ) == SENT
    assert office.make("4", READ) == SENT
    assert office.created_by == 4


def test_an_attempt_again_is_the_same_call() -> None:
    office = Office(SENT, SENT)
    office.make("4")
    assert office.make("4#2") == SENT


@pytest.mark.parametrize("first", [FAILED, NotCalled("nobody is there")], ids=["failed", "not reached"])
def test_a_call_without_an_effect_is_made_by_another_step_unasked(first: Any) -> None:
    """Its tool was not reached, or said itself that it failed; one that was made before it still counts."""
    office = Office(first, SENT, SENT)
    if first is FAILED:
        assert office.make("1") == FAILED
    else:
        with pytest.raises(NotCalled):
            office.make("1")
    assert office.make("2") == SENT
    with pytest.raises(InputRequired, match="step 2 of this run"):
        office.make("3")


def test_the_first_of_several_equal_calls_is_named() -> None:
    """Whatever was answered about the later ones."""
    asked = Office(SENT, SENT)
    asked.make("1")
    with pytest.raises(InputRequired) as question:
        asked.make("2")
    office = Office(SENT, SENT, past=RecordedRun([], [], {str(question.value.key): "once"}))
    office.make("1")
    assert office.make("2") == SENT
    with pytest.raises(InputRequired, match="step 1 of this run"):
        office.make("3")


def test_an_answer_of_no_is_not_called() -> None:
    asked = Office(SENT)
    asked.make("1")
    with pytest.raises(InputRequired) as question:
        asked.make("2")
    office = Office(past=RecordedRun([], asked.rows, {str(question.value.key): "no"}))
    with pytest.raises(NotAllowed, match="somebody said no"):
        office.make("2")


def recorded(status: Any, sequence: int = 1, **fields: Any) -> CallRow:
    return CallRow("run_1", sequence, "1", "tool", SEND.full_name, digest_of(SEND, LETTER), status, now(), **fields)


def test_a_call_that_waited_for_an_answer_is_made_when_the_run_goes_on() -> None:
    """It had asked somebody, and nothing more; what comes after it in the record still counts."""
    waited = recorded("failed", reason="sure?", error=ASKED)
    office = Office(SENT, past=RecordedRun([], [waited]))
    assert office.make("1") == SENT
    kept = recorded("success", 2, answer={"blocks": [], "structured": "as before", "is_error": False})
    office = Office(past=RecordedRun([], [waited, kept]))
    assert office.make("1").structured == "as before"


def test_a_call_in_doubt_is_asked_about_unless_its_tool_only_reads() -> None:
    begun = recorded("started")
    with pytest.raises(InputRequired, match="did it have its effect"):
        Office(SENT, past=RecordedRun([], [begun])).make("1")
    said = {"1!1": {"result": "sent after all"}}
    assert Office(past=RecordedRun([], [begun], said)).make("1").structured == "sent after all"


def test_a_call_over_the_budget_is_not_made() -> None:
    """Those whose answers come from the record cost nothing."""
    kept = recorded("success", answer={"blocks": [], "structured": "as before", "is_error": False})
    office = Office(SENT, past=RecordedRun([], [kept]), most=1)
    assert office.make("1").structured == "as before"
    assert office.make("2", arguments={"to": "Grace"}) == SENT
    with pytest.raises(BudgetExceeded, match="the budget of 1 tool_calls is spent"):
        office.make("3", arguments={"to": "Mary"})


def test_what_counts_as_made_had_its_effect_or_may_have_had_it() -> None:
    """A call whose tool said that it failed had none, and neither had one that never reached it."""
    digest = digest_of(SEND, LETTER)
    answers: list[tuple[Any, str | None]] = [
        (recorded("success", answer={"is_error": False}), "1"),
        (recorded("success", answer={"is_error": True}), None),
        (recorded("started"), "1"),
        (recorded("failed", error=NotCalled.kind), None),
        (recorded("failed", error=NotAllowed.kind), None),
        (recorded("failed", error="tool"), "1"),
    ]
    for row, made in answers:
        assert RecordedRun([], [row]).find_made_call(digest) == made, row
        before = None if made is None else "1 of run_1"
        assert RecordedRun([], before=[row]).find_made_call(digest) == before
