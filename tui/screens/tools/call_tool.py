"""Trying tools: a call is a run of its own, asked about where somebody has to be asked, and nothing waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from infospace.core.errors import InfospaceError, NotFound
from infospace.core.plural import pluralize
from planner.journal.events import Event, Progressed, RunFinished, Spoke
from planner.journal.suspension import Pending
from planner.metatools.arguments import LONGEST_MS, ExecuteOptions, ExecuteTool
from planner.metatools.audit import outcome_of, write_audit
from planner.metatools.execute_tool import PreparedToolCall, prepare_call
from tui.dialogs.question import Answer, QuestionDialog
from tui.tables.tool_text import reply_text
from tui.tables.tools_query import key_of
from tui.text.format import format_duration, question_line, sign, single_line

if TYPE_CHECKING:
    from infospace.core.tool import Tool
    from planner.journal.result import RunResult
    from tui.runtime.runner import ActiveRun
    from tui.screens.tools.tools import Tools
    from tui.widgets.details.form import Form

CALLER = "screen"
"""Who calls, in the audit."""


@dataclass(slots=True)
class Call:
    """A call that was begun here. `answered` is what it answered, once it has ended or waits."""

    tool: Tool
    called: PreparedToolCall | None = None
    begun: float = field(default_factory=time.monotonic)
    going: ActiveRun | None = None
    """What goes on of it now."""
    run: str = ""
    message: str = ""
    pending: Sequence[Pending] = ()
    asked: bool = False
    """Whether its question stands open in a dialog, or was put off."""
    dropped: bool = False
    """Whether it was broken off before it began."""
    answered: Mapping[str, Any] | None = None


class ToolCalls:
    """Calls the tools that the screen shows, one at a time, and asks what a call waits for.

    `call` looks at `current` and sets it without waiting for anything in between, and `_rests` clears it in a
    `finally`: so no second call begins beside one that goes on. While a question is asked, `current` is clear; the
    dialog stands in front of the forms then.
    """

    STATES: ClassVar[Mapping[str, str]] = {"approval_required": "suspended", "waiting": "suspended"}

    def __init__(self, screen: Tools) -> None:
        self._screen = screen
        self.latest: dict[str, Call] = {}
        """The last call of each tool that was called here, by `key_of`."""
        self.current: Call | None = None
        """The one that goes on."""

    def call(self, event: Form.Submitted) -> None:
        """Call the tool of a form with what is written there."""
        if self.current is not None:
            message = f"{self.current.tool.full_name} is called; x breaks it off."
            self._screen.notify(message, severity="warning", markup=False)
            return
        if event.timeout_ms > LONGEST_MS:
            self._screen.detail.form.show_error(f"at most {LONGEST_MS // 1000:,} s")
            return
        key = key_of(event.tool)
        self._screen.detail.given[key] = event.arguments
        call = self.current = self.latest[key] = Call(event.tool)
        options = ExecuteOptions(timeout_ms=event.timeout_ms, include_metadata=True)
        name = event.tool.id or event.tool.full_name
        args = ExecuteTool(tool_name=name, arguments=event.arguments, options=options)
        self._screen.do(self._call, call, args, group="call")

    async def _call(self, call: Call, args: ExecuteTool) -> None:
        space, form = self._screen.infospace.space, self._screen.detail.form
        self._screen.show_work()
        try:
            try:
                call.called = await asyncio.to_thread(prepare_call, space, args)
            except InfospaceError as error:
                self.latest.pop(key_of(call.tool), None)
                if form.tool is call.tool:
                    form.show_error(str(error))
                    return
                raise
            if call.dropped:
                self.latest.pop(key_of(call.tool), None)
                self._screen.notify(f"{call.tool.full_name} was not called.", markup=False)
                return
            self._show(call)
            result = await self._screen.infospace.runner.call(call.called, lambda going: _set_active_run(call, going))
            await self._ended(call, result)
        finally:
            self._rests(call)
        await self._ask_or_notify(call)

    def _rests(self, call: Call) -> None:
        call.going = None
        if self.current is call:
            self.current = None
        self._screen.show_work()

    async def _ended(self, call: Call, result: RunResult) -> None:
        """Keep what came of it, and show it."""
        space, called = self._screen.infospace.space, call.called
        assert called is not None  # noqa: S101 - it was prepared before it ran

        def audit() -> dict[str, Any]:
            answer = called.answer(space, result)
            why = next((row.error for row in reversed(result.steps) if row.error), None)
            write_audit(space, CALLER, "execute_tool", call.tool.full_name, outcome_of(answer), why, result.run)
            return answer

        call.answered = await asyncio.to_thread(audit)
        call.run, call.pending, call.asked = result.run or "", tuple(result.pending), False
        self._show(call)
        self._screen.search_now()
        self._screen.refresh_bindings()

    # Questions

    async def _ask_or_notify(self, call: Call) -> None:
        """Ask what a call waits for, where the place is in front; else say so."""
        if not call.pending or call.asked:
            return
        if not self._screen.is_current:
            message = f"{call.tool.full_name} waits for you in Tools: {question_line(call.pending[0].question)}"
            self._screen.notify(single_line(message), severity="warning", markup=False)
            return
        await self._ask(call)

    async def _ask(self, call: Call) -> None:
        questions = [pending for pending in call.pending if pending.kind != "wait"]
        call.asked = True
        if not questions:
            return
        answered: Answer | None = await self._screen.app.push_screen_wait(QuestionDialog(call.run, questions))
        if answered is None:
            return
        from planner.lifecycle.resume import answer

        self.current, call.begun = call, time.monotonic()
        try:
            await asyncio.to_thread(answer, self._screen.infospace.space, call.run, answered.step, answered.value)
            call.pending = tuple(pending for pending in call.pending if pending.step != answered.step)
            if len(questions) == 1:
                call.pending = ()
                runner = self._screen.infospace.runner
                result = await runner.resume(call.run, take=lambda going: _set_active_run(call, going))
                await self._ended(call, result)
        finally:
            self._rests(call)
        if len(questions) > 1:
            await self._ask(call)
        else:
            await self._ask_or_notify(call)

    def ask_open(self) -> None:
        """Ask what was not asked yet, since the place is in front."""
        waiting = next((call for call in self.latest.values() if call.pending and not call.asked), None)
        if waiting is not None and self.current is None:
            self._screen.do(self._ask_or_notify, waiting, group="call")

    def answer(self) -> None:
        """Ask what the shown tool's call waits for, else what any other does."""
        tool = self._screen.detail.tool
        own = None if tool is None else self.latest.get(key_of(tool))
        waiting = [call for call in (own, *reversed(self.latest.values())) if call is not None and call.pending]
        if self.current is not None:
            self._screen.notify("A call goes on; x breaks it off.")
        elif waiting:
            self._screen.ask_for(self._ask, waiting[0], group="call")
        else:
            self._screen.notify("No call of here waits for an answer; the place Runs has all runs that wait.")

    # What goes on

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Take how far a call is, and of one that was answered elsewhere, how it ended."""
        for call in self.latest.values():
            if call.going is active:
                call.run = active.run
                for event in events:
                    call.message = _format_event(event) or call.message
            elif call.run and call.run == active.run and call.going is None:
                result = next((event.result for event in events if isinstance(event, RunFinished)), None)
                if result is not None:
                    self._screen.do(self._ended, call, result, group=f"ended-{call.run}")

    def break_off(self) -> bool:
        """Break off the call that goes on; whether there is one."""
        call = self.current
        if call is None:
            return False
        call.dropped = call.going is None
        if call.going is not None:
            self._screen.infospace.runner.break_off(call.going)
        return True

    @property
    def status(self) -> str:
        """How far the call is that goes on, "" without one."""
        call = self.current
        if call is None:
            return ""
        message = f": {call.message}" if call.message else ""
        return f"{call.tool.full_name} is called, {format_duration((time.monotonic() - call.begun) * 1000)}{message}"

    def _show(self, call: Call) -> None:
        detail = self._screen.detail
        if detail.tool is not None and key_of(detail.tool) == key_of(call.tool):
            self.show_reply()
            if detail.tab == "try":
                detail.open_tab("answer", focus=detail.has_focus_within and self._screen.is_current)

    def show_reply(self) -> None:
        """Show what came of the last call of the tool that is shown."""
        tool = self._screen.detail.tool
        call = None if tool is None else self.latest.get(key_of(tool))
        if call is None:
            self._screen.detail.reply(Text("It was not called here yet: c goes to the form.", "dim"), "")
        elif call.answered is None:
            self._screen.detail.reply(Text("It is called …", "dim"), "")
        else:
            text = reply_text(call.answered)
            self._screen.detail.reply(
                self._format_answer(call.answered), "" if text == call.answered.get("reason") else text
            )

    def _format_answer(self, answer: Mapping[str, Any]) -> Text:
        """Say what came of a call."""
        status = str(answer["status"])
        colours = self._screen.infospace.colours
        text = sign(self.STATES.get(status, status), colours)
        metadata = answer.get("execution_metadata") or {}
        run = metadata.get("request_id")
        if status in self.STATES:
            text.append(f" it waits ({run}); a answers")
        else:
            ran = f" {status}, {format_duration(metadata.get('execution_time_ms') or 0.0)}"
            text.append(f"{ran}, {run}" if run else ran)
        resource = answer.get("resource_id")
        if resource:
            text.append(
                f"; {resource} has all of it (o opens it)" if answer.get("large") else f"; {resource} (o opens it)"
            )
        if answer.get("reason") and answer["is_error"]:
            reason, asks = str(answer["reason"]), str((answer.get("approval") or {}).get("question", ""))
            reason = reason.replace(asks, question_line(asks)) if asks else reason
            text.append(f"\n{single_line(reason)}", colours.get("error", "") if status == "failed" else "")
        misfits = answer.get("misfits") or ()
        for misfit in list(misfits)[:3]:
            text.append(f"\nnot as it promises: {single_line(str(misfit))}", colours.get("warning", ""))
        if len(misfits) > 3:
            text.append(f"\nand {pluralize(len(misfits) - 3, 'more misfit')}")
        return text

    def open_answer(self) -> None:
        """Open what the shown tool's call gave, as a Note."""
        tool = self._screen.detail.tool
        call = None if tool is None else self.latest.get(key_of(tool))
        resource = None if call is None or call.answered is None else call.answered.get("resource_id")
        if resource is None:
            self._screen.infospace.report_error(NotFound("there is no answer to open", hint="c calls the tool"))
            return
        self._screen.infospace.open_note(str(resource))


def _set_active_run(call: Call, active: ActiveRun) -> None:
    call.going = active


def _format_event(event: Event) -> str:
    match event:
        case Progressed():
            of = f" of {event.total:,}" if event.total else ""
            return single_line(f"{event.what} {event.done:,}{of}")
        case Spoke(kind="say" | "think"):
            return single_line(event.text)
    return ""
