"""Which calls of a run are made, asked about, or answered from what it did before: by a journal that is a list."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from infospace.core.clock import now
from infospace.core.errors import BudgetExceeded, InputRequired, ReplayedFailure
from infospace.core.resources import CreatedBy
from infospace.core.tool import NotAllowed, NotCalled, Tool, ToolAnswer, ToolFailed
from infospace.journal.answer_cache import AnswerCache, addressed
from infospace.journal.external_call import ASKED
from infospace.journal.rows import CallRow
from infospace.tools.approvals import APPROVAL_SCHEMA
from infospace.tools.journalled_calls import IN_DOUBT_SCHEMA, REPEAT, ToolCalls, digest_of
from planner.journal.recorded import RecordedRun

SEND = Tool("post", "send", "Send a letter.", {"type": "object"})
READ = Tool("post", "read", "Read a letter.", {"type": "object"}, read_only=True)
LETTER = {"to": "Ada"}


class Office:
    """Makes calls of one run, whose answers are given beforehand: in their order, or the error that they end with."""

    def __init__(
        self, *answers: Any, past: RecordedRun | None = None, most: int | None = None, allowed: bool = True
    ) -> None:
        def may(_tool: Tool, *, by_name: bool) -> bool:
            return by_name and allowed

        self.rows: list[CallRow] = []
        self.calls = ToolCalls(most, self.rows.append, count(1).__next__, may, past)
        self.calls.asks_again = True
        self._answers = list(answers)
        self.created_by = 0

    def make(self, position: str, tool: Tool = SEND, arguments: Mapping[str, Any] = LETTER) -> ToolAnswer:
        async def call(_tool: Tool) -> ToolAnswer:
            self.created_by += 1
            answer: ToolAnswer | Exception = self._answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
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
        with pytest.raises(NotCalled, match="nobody is there"):
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


def journal(office: Office) -> list[tuple[str, str | None, str | None]]:
    """What became of each call, as the journal has it."""
    return [(row.status, row.error, row.reason) for row in office.rows]


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (SENT, [("started", None, None), ("success", None, None)]),
        (FAILED, [("started", None, None), ("success", None, None)]),
        (NotCalled("nobody is there"), [("failed", "not-called", "nobody is there")]),
        (ToolFailed("no stamp"), [("started", None, None), ("failed", "tool", "no stamp")]),
        (InputRequired("1", "ask", "sure?"), [("started", None, None), ("failed", ASKED, "sure?")]),
    ],
    ids=["answered", "said that it failed", "not reached", "failed", "asked back"],
)
def test_a_call_is_journalled_before_its_effect_and_with_what_became_of_it(answer: Any, rows: Any) -> None:
    """One that did not reach its tool never began. All rows of a call are of its sequence, place and arguments."""
    office = Office(answer)
    if isinstance(answer, Exception):
        with pytest.raises(type(answer)) as raised:
            office.make("1")
        assert raised.value is answer
    else:
        assert office.make("1") == answer
    assert journal(office) == rows
    places = {(row.run, row.sequence, row.position, row.kind, row.target, row.digest) for row in office.rows}
    assert places == {("run_1", 1, "1", "tool", "post/send", digest_of(SEND, LETTER))}
    assert [row.request for row in office.rows] == [LETTER] * len(rows)
    if isinstance(answer, ToolAnswer):
        assert office.rows[-1].answer == {"blocks": [], "structured": answer.structured, "is_error": answer.is_error}


def test_a_question_before_a_call_says_what_it_is_about_and_how_it_may_be_answered() -> None:
    """The tool as it is now, and the arguments: for those alone the answer holds."""
    about = {"tool": "post/send", "digest": SEND.digest.hex()}
    repeated = Office(SENT)
    repeated.make("1")
    with pytest.raises(InputRequired) as again:
        repeated.make("2#3")
    assert (again.value.kind, again.value.schema, again.value.about) == ("approve", REPEAT, about)
    assert (again.value.position, str(again.value.key).partition("-")[0]) == ("2#3", "2?again")
    new = Office(allowed=False)
    with pytest.raises(InputRequired) as first:
        new.make("2#3")
    assert (first.value.kind, first.value.schema, first.value.about) == ("approve", APPROVAL_SCHEMA, about)
    assert (first.value.position, str(first.value.key).partition("?")[0]) == ("2#3", "2")
    with pytest.raises(InputRequired) as other:
        new.make("2", arguments={"to": "Grace"})
    assert other.value.key != first.value.key
    assert (repeated.created_by, new.created_by, new.rows) == (1, 0, [])


def test_where_nobody_can_be_asked_the_call_is_not_made() -> None:
    """And the sentence says what can be done."""
    repeated, new = Office(SENT), Office(allowed=False)
    repeated.make("1")
    repeated.calls.can_ask = new.calls.can_ask = False
    with pytest.raises(NotAllowed, match="called with these arguments by step 1, and nobody can be asked") as again:
        repeated.make("2")
    assert again.value.hint == "give it other arguments, or call it in another run"
    with pytest.raises(NotAllowed, match="post/send is asked about before it is called, and nobody can be") as first:
        new.make("1")
    assert first.value.hint == "answered with `always` in a run, it is not asked about any more"


@pytest.mark.parametrize("said", ["once", "no"])
def test_what_was_said_of_a_call_that_nobody_has_allowed_holds_for_it(said: str) -> None:
    """Made once, or not at all; other arguments are asked about."""
    with pytest.raises(InputRequired) as asked:
        Office(allowed=False).make("1")
    office = Office(SENT, past=RecordedRun([], [], {str(asked.value.key): said}), allowed=False)
    if said == "no":
        with pytest.raises(NotAllowed, match="post/send was not called: asked about it, somebody said no"):
            office.make("1#2")
    else:
        assert office.make("1#2") == SENT
    with pytest.raises(InputRequired, match="call the tool send of the server post, which may"):
        office.make("1", arguments={"to": "Grace"})


def test_a_tool_that_has_changed_within_the_run_is_no_longer_allowed_by_its_name() -> None:
    """What it was when the run first called it is what was allowed."""
    office = Office(SENT, SENT)
    office.make("1")
    changed = Tool("post", "send", "Send a letter, and a copy to us.", {"type": "object"})
    with pytest.raises(InputRequired, match="call the tool send of the server post, which may take something away"):
        office.make("2", changed, {"to": "Grace"})
    assert office.make("2", arguments={"to": "Grace"}) == SENT


def test_what_is_said_of_a_call_in_doubt_is_taken_for_its_end() -> None:
    """That it failed, and why; what it answered, which may be nothing; or that it is to be made again."""
    begun = recorded("started")
    with pytest.raises(InputRequired) as asked:
        Office(past=RecordedRun([], [begun])).make("1")
    assert (asked.value.kind, asked.value.key, asked.value.schema) == ("doubt", "1!1", IN_DOUBT_SCHEMA)
    assert asked.value.about == {"tool": "post/send"}
    failed = Office(past=RecordedRun([], [begun], {"1!1": {"failed": "no stamp"}}))
    with pytest.raises(ToolFailed, match=r"^post/send failed: no stamp$"):
        failed.make("1")
    nothing = Office(past=RecordedRun([], [begun], {"1!1": {"result": None}}))
    assert nothing.make("1") == ToolAnswer(structured=None)
    again = Office(SENT, past=RecordedRun([], [begun], {"1!1": "repeat"}))
    assert again.make("1") == SENT
    assert (failed.created_by, nothing.created_by, again.created_by) == (0, 0, 1)


@pytest.mark.parametrize("tool", [READ, Tool("post", "set", "Set it.", {"type": "object"}, idempotent=True)])
def test_a_call_in_doubt_that_does_no_harm_twice_is_made_again_unasked(tool: Tool) -> None:
    """Its tool only reads, or is idempotent."""
    begun = CallRow("run_1", 1, "1", "tool", tool.full_name, digest_of(tool, LETTER), "started", now())
    assert Office(SENT, past=RecordedRun([], [begun])).make("1", tool) == SENT


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [({"reason": "no stamp", "error": "timeout"}, "timeout", "no stamp"), ({}, "tool", "post/send failed")],
    ids=["told", "untold"],
)
def test_a_call_that_failed_before_fails_again_as_it_did(row: Any, kind: str, message: str) -> None:
    """With the kind and the sentence that it had; without them, with those of any tool."""
    office = Office(past=RecordedRun([], [recorded("failed", **row)]))
    with pytest.raises(ReplayedFailure) as failed:
        office.make("1")
    assert (failed.value.kind, failed.value.message, office.created_by) == (kind, message, 0)


def test_what_an_earlier_run_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    """Of a tool that only reads; journalled, and not charged."""
    blocks = [{"type": "text", "text": "Dear Ada"}]
    first, second = Office(ToolAnswer(blocks, {"n": 1}), FAILED, SENT), Office(SENT, SENT, SENT, most=2)
    first.calls.answers = second.calls.answers = AnswerCache(tmp_path)
    assert first.make("1", READ).cached is False
    assert first.make("2", READ, {"to": "Grace"}) == FAILED
    assert first.make("3") == SENT
    assert second.make("1", READ) == ToolAnswer(blocks, {"n": 1}, cached=True)
    (row,) = second.rows
    assert (row.status, row.kind, row.target, row.position) == ("success", "tool", "post/read", "1")
    assert (row.digest, row.request, second.calls.count) == (digest_of(READ, LETTER), LETTER, 0)
    assert (row.run, row.sequence) == ("run_1", 1)
    assert row.answer == {"blocks": blocks, "structured": {"n": 1}, "is_error": False}
    assert second.make("2", READ, {"to": "Grace"}) == SENT
    assert second.make("3") == SENT
    with pytest.raises(BudgetExceeded) as spent:
        second.make("4", READ, {"to": "Zoe"})
    assert spent.value.message == "the budget of 2 tool_calls is spent"
    assert spent.value.hint == '"budget": {"tool_calls": …}'
    assert (second.created_by, second.calls.count) == (2, 2)
    second.calls.answers.keep("tool", addressed(READ.digest, digest_of(READ, {"to": "Eve"})), ["odd"])
    second.calls.limit(3)
    assert second.make("5", READ, {"to": "Eve"}) == SENT


def test_a_tool_that_somebody_has_to_allow_is_asked_about_before_its_answer_is_taken(tmp_path: Path) -> None:
    """Of an earlier run: nothing is journalled before somebody said yes, and then nothing is called."""
    first, later = Office(SENT), Office(allowed=False)
    first.calls.answers = later.calls.answers = AnswerCache(tmp_path)
    first.make("1", READ)
    with pytest.raises(InputRequired, match="call the tool read of the server post") as asked:
        later.make("2", READ)
    assert later.rows == []
    key = str(asked.value.key)
    refused, agreed = (Office(past=RecordedRun([], [], {key: said}), allowed=False) for said in ("no", "once"))
    refused.calls.answers = agreed.calls.answers = first.calls.answers
    with pytest.raises(NotAllowed, match="somebody said no"):
        refused.make("2", READ)
    assert agreed.make("2", READ) == ToolAnswer([], "sent", cached=True)
    assert (journal(refused), journal(agreed)) == ([], [("success", None, None)])
    assert (later.created_by, refused.created_by, agreed.created_by) == (0, 0, 0)


def test_what_is_allowed_is_allowed_by_its_name() -> None:
    assert (Office().calls.allows(SEND), Office(allowed=False).calls.allows(SEND)) == (True, False)


def test_what_was_answered_is_told_by_its_key() -> None:
    """Also where it was answered with nothing; without an earlier part nothing was."""
    office = Office(past=RecordedRun([], [], {"1?a": None, "1?b": "no"}))
    assert [office.calls.answer_to(key) for key in ("1?a", "1?b", "1?c")] == [(True, None), (True, "no"), (False, None)]
    assert Office().calls.answer_to("1?a") == (False, None)
