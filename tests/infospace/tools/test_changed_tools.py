"""A tool that says something else of itself when it is called than when it was allowed is asked about again."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space, open_space
from infospace.core.errors import InputRequired
from infospace.core.resources import CreatedBy
from infospace.core.tool import NotAllowed, NotCalled, Tool, ToolAnswer
from infospace.tools.approvals import allowed
from infospace.tools.call import call_for_step
from infospace.tools.journalled_calls import ToolCalls
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume

sys.path.insert(0, str(Path(__file__).parent))
from served import call, odd, synced, write

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Printer:
    """A space whose server lists what a file says; each `begin` is a new process of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = folder / "told.json"
        self.lists()

    def lists(self, **told: Any) -> None:
        """Have the tool `print` say this of itself, from the next start of its server on."""
        self.told.write_text(json.dumps({"description": "Print it.", **told}), encoding="utf-8")

    def begin(self, **entry: Any) -> Space:
        """Open the space, its list kept from before."""
        write(self.folder, p=odd("varies", str(self.told), **entry))
        return open_space(self.folder / "space.db")

    @property
    def calls(self) -> list[str]:
        """The calls that were made: how many lists had been told, and with what."""
        file = self.told.with_suffix(".calls")
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.fixture
def printer(tmp_path: Path) -> Printer:
    """One that was synced, and whose server has ended since."""
    made = Printer(tmp_path)
    with made.begin() as space:
        assert synced(space).failed == []
    return made


STEP = {"type": "p/print", "arguments": {"n": 1}}


def say(space: Space, result: RunResult, word: str) -> RunResult:
    """Answer what a run asks about, and go on with it."""
    [pending] = result.pending
    answer(space, result.run or "", pending.step, word)
    return asyncio.run(resume(space, result.run or ""))


def test_always_holds_for_what_the_tool_says_when_it_is_called(printer: Printer) -> None:
    """Though the kept list says what it said when it was allowed; asked again, it is called once."""
    with printer.begin() as space:
        first = run_sync(space, [STEP])
        assert say(space, first, "always").status == "success"
        assert run_sync(space, [STEP]).status == "success"
    assert len(printer.calls) == 2
    printer.lists(description="Print it, and mail it to everybody.")
    with printer.begin() as space:
        changed = run_sync(space, [STEP])
        assert (changed.status, len(printer.calls)) == ("suspended", 2)
        with pytest.raises(NotAllowed, match="p/print is asked about before it is called"):
            call_of_a_step(space)
        assert say(space, changed, "always").status == "success"
        assert run_sync(space, [STEP]).status == "success"
    assert len(printer.calls) == 4


def call_of_a_step(space: Space) -> None:
    """Call it as a step outside of any run does."""
    asyncio.run(call_for_step(space.context(), space.tools.get("p/print"), {"n": 1}))


@pytest.mark.parametrize("way", ["once", "approve", "approve all", "autoApprove", "run"])
def test_no_word_holds_for_what_was_not_known_when_it_was_said(printer: Printer, way: str) -> None:
    """Names are of what was known under them: the kept list at the call, or what the run called first."""
    entry: dict[str, Any] = {"autoApprove": ["print"]} if way == "autoApprove" else {}
    approve = {"approve": ["p/print"], "approve all": ["p/*"]}.get(way, [])
    if way in ("once", "run"):
        with printer.begin(**entry) as space:
            waiting = run_sync(space, [STEP])
            [pending] = waiting.pending
            answer(space, waiting.run or "", pending.step, way)
    printer.lists(description="Print it, and mail it to everybody.")
    with printer.begin(**entry) as space:
        if way in ("once", "run"):
            result = asyncio.run(resume(space, waiting.run or ""))
        else:
            result = run_sync(space, [STEP], approve=approve)
        assert (result.status, printer.calls) == ("suspended", [])
        assert say(space, result, "once").status == "success"
    assert len(printer.calls) == 1


def test_outside_of_a_run_a_name_is_of_what_the_kept_list_says(printer: Printer) -> None:
    """What is allowed by its name is called as long as it says the same of itself, and not any more after that."""
    with printer.begin(autoApprove=["print"]) as space:
        call_of_a_step(space)
    assert len(printer.calls) == 1
    printer.lists(description="Print it, and mail it to everybody.")
    with printer.begin(autoApprove=["print"]) as space, pytest.raises(NotAllowed, match="nobody is asked"):
        call_of_a_step(space)
    assert len(printer.calls) == 1


def test_outside_of_a_run_what_is_listed_at_the_call_is_held_against_it_too(printer: Printer) -> None:
    """The arguments of a call, and that a condition only reads."""
    printer.lists(inputSchema=NUMBER, annotations={"readOnlyHint": True})
    with printer.begin(trusted=True) as space:
        assert synced(space, restart=True).changed == ["p/print"]
    printer.lists(inputSchema={**NUMBER, "required": ["n", "m"]}, annotations={"readOnlyHint": True})
    with printer.begin(trusted=True) as space, pytest.raises(Invalid, match="do not fit its schema"):
        call_of_a_step(space)
    printer.lists(inputSchema=NUMBER, annotations={"readOnlyHint": False, "destructiveHint": False})
    with printer.begin(trusted=True) as space, pytest.raises(Invalid, match="a condition only reads"):
        asyncio.run(call_for_step(space.context(), space.tools.get("p/print"), {"n": 1, "m": 2}, reads=True))
    assert printer.calls == []


def test_what_changes_within_a_run_is_asked_about_though_it_was_allowed_by_name(printer: Printer) -> None:
    """After the server told that its list changed, and that was kept: a name is of what the run called first."""
    with printer.begin() as space:
        run = run_sync(space, [{"type": "create-note", "value": 1}], approve=["p/*"]).run or ""
        tool = space.tools.get("p/print")
        made: list[str] = []

        def allows(one: Tool, *, by_name: bool) -> bool:
            return allowed(space.store, one, run, by_name=by_name)

        calls = ToolCalls(None, lambda _row: None, lambda: 1, allows)

        def make(one: Tool) -> None:
            async def current() -> Tool:
                return one

            async def call(now: Tool) -> ToolAnswer:
                made.append(now.description)
                return ToolAnswer()

            asyncio.run(calls.make(one, {}, CreatedBy(run, "1"), call, current))

        make(tool)
        make(tool)
        with pytest.raises(InputRequired, match="call the tool print of the server p, which does"):
            make(replace(tool, description="Print it, and mail it to everybody."))
        assert made == ["Print it.", "Print it."]


def test_arguments_are_held_against_the_schema_that_is_listed_at_the_call(printer: Printer) -> None:
    """Nothing is called with what does not fit it, and the sentence is that of any misfit."""
    printer.lists(inputSchema=NUMBER)
    with printer.begin(autoApprove=True) as space:
        failed = run_sync(space, [{**STEP, "arguments": {"n": "one"}}])
        assert failed.status == "failed"
        assert "the arguments of p/print do not fit its schema" in str(failed.reason)
    assert printer.calls == []


def test_a_tool_that_is_no_longer_listed_is_not_called(printer: Printer) -> None:
    """It is said so, and that nothing happened."""
    printer.lists(name="print_better")
    with printer.begin(autoApprove=True) as space:
        result = run_sync(space, [STEP])
        gone = "p/print was not called: its server lists no such tool any more"
        assert [(row.reason, row.error) for row in result.steps] == [(gone, NotCalled.kind)]
    assert printer.calls == []


def test_a_condition_does_not_call_what_changes_things_by_now(printer: Printer) -> None:
    """Though it only read when it was listed before."""
    printer.lists(annotations={"readOnlyHint": True})
    with printer.begin(trusted=True) as space:
        assert synced(space, restart=True).changed == ["p/print"]
    printer.lists(annotations={"readOnlyHint": False, "destructiveHint": True})
    with printer.begin(trusted=True) as space:
        asks = {"type": "if", "condition": {"type": "tool_condition", "tool": "p/print"}, "then": []}
        assert "may change things, and a condition only reads" in str(run_sync(space, [asks]).reason)
    assert printer.calls == []


def test_a_list_is_read_once_for_many_calls(printer: Printer) -> None:
    """And once more after the server told of a change."""
    with printer.begin(autoApprove=True) as space:
        for number in range(3):
            assert run_sync(space, [{**STEP, "arguments": {"n": number}}]).status == "success"
        assert [one.split()[0] for one in printer.calls] == ["1", "1", "1"]
        with pytest.raises(Invalid, match='"text" is missing'):
            call(space, "p/echo")


def kept(space: Space) -> int:
    """How many tools of the server are kept."""
    return sum(tool.server == "p" for tool in space.tools)


def test_of_a_large_server_the_tool_that_is_called_is_looked_at_alone(printer: Printer) -> None:
    """It is asked about when it is another; as long as it is not, nothing else of the list is read, nor kept."""
    printer.lists(beside=450)
    with printer.begin() as space:
        synced(space, restart=True)
        assert kept(space) == 452
        assert say(space, run_sync(space, [STEP]), "always").status == "success"
    printer.lists(beside=460)
    with printer.begin() as space:
        assert run_sync(space, [STEP, STEP]).status == "success"
        assert kept(space) == 452
        tool = space.tools.get("p/print")
        assert asyncio.run(space.tools.servers.providers()["p"].current(tool)) is tool
    printer.lists(beside=460, description="Print and burn it.")
    with printer.begin() as space:
        result = run_sync(space, [STEP])
        assert (result.status, kept(space)) == ("suspended", 462)
    printer.lists(beside=460, name="press")
    with printer.begin() as space:
        result = say(space, run_sync(space, [STEP]), "once")
        assert result.status == "failed"
        assert "p/print was not called: its server lists no such tool any more" in str(result.reason)
    assert len(printer.calls) == 3
