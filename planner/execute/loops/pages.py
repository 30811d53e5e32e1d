"""Executing `pages`: one tool, called until it has no more, and all that its answers list."""

from __future__ import annotations

from dataclasses import replace

from infospace.context.context import Context
from infospace.context.invoke import Outcome
from infospace.core.bounds import Room
from infospace.core.errors import InfospaceError, Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.position import item_at
from infospace.core.resources import CreatedBy, Member, Note
from infospace.data.json_text import dump, read_json
from infospace.data.paths import ABSENT, Absent, lookup
from infospace.data.paths import Path as AnswerPath
from infospace.schema.value_text import shown
from planner.execute.arguments import Resolver
from planner.execute.call import Effects
from planner.execute.retry import attempt_call
from planner.execute.step_state import StepState
from planner.execute.variables import Scope, Unbound
from planner.journal.suspension import Suspension
from planner.language.plan import Pages

TOO_MANY = "pages"
"""The kind of the failure that there are more pages than `max_pages` allows."""


class PageReader:
    """Reads the pages of one execution of a `pages` step, one after the other.

    The calls stand at `4[1]`, `4[2]`, … A run that goes on makes them once more from the first: those that the
    journal has are answered from there, so the cursors come out as they were.
    """

    def __init__(self, state: StepState, effects: Effects, form: Pages) -> None:
        self._state = state
        self._effects = effects
        self._form = form
        self._members: list[Member] = []
        self._seen: set[str] = set()
        """The cursors that calls were made with, as JSON."""
        self._read = 0

    async def read_all(self) -> Outcome:
        """Read all pages into one Collection. Raises Unbound, for which the step is skipped, and Suspension."""
        try:
            return await self._read_pages()
        except Suspension:
            self._state.remaining = f"interrupted after {pluralize(self._read, 'page')}"
            raise

    async def _read_pages(self) -> Outcome:
        form, context = self._form, self._state.context
        page = self._first() if form.has_first else ABSENT
        step = 1 if form.next is not None else self._whole_number(form.step, "step", 1)
        for number in range(1, form.max_pages + 1):
            if page is not ABSENT:
                self._seen.add(dump(page))
            outcome, answer = await self._call(number, page)
            if outcome.status == "skipped":
                # Shown instead of made: how many more there would be nobody knows.
                context.extra["would"].update(tool=form.tool, at_most=form.max_pages)
                return outcome
            if outcome.status != "success":
                return replace(outcome, reason=f"page {number:,}: {outcome.reason}")
            self._read = number
            try:
                content = self._read_as_json(answer)
                items = self._items(content)
                page = _next_number(page, step, items) if form.next is None else self._cursor(content, form.next)
            except InfospaceError as error:
                return Outcome("failed", reason=f"page {number:,}: {error}", error=error.kind)
            self._keep(number, items)
            if page is ABSENT:
                collection = context.collection(self._members)
                context.extra |= {"item_count": len(self._members), "pages": number}
                return Outcome("success", collection, context.preview(collection))
        reason = f"there are more pages than the {form.max_pages:,} that `max_pages` allows"
        return Outcome("failed", reason=reason, error=TOO_MANY)

    def _first(self) -> JSON:
        if self._form.next is None:
            return self._whole_number(self._form.first, "first", None)
        return self._state.resolver.value(self._form.first)

    def _whole_number(self, raw: JSON, name: str, least: int | None) -> int:
        value = self._state.resolver.value(raw)
        if isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least):
            return value
        bound = "" if least is None else f" from {least}"
        raise Invalid(f"unchecked: `{name}` is a whole number{bound}, not {shown(value)}")

    async def _call(self, number: int, page: JSON | Absent) -> tuple[Outcome, JSON]:
        """Call the tool for a page, as often as `retry` says; return what it answers."""
        form, state = self._form, self._state

        async def call(context: Context) -> Outcome:
            # An answer is no part of what the step makes: it has room of its own, and is let go with its view.
            context.room = Room(state.run.bounds)
            scope = Scope(state.scope)
            if page is not ABSENT:
                scope.bind(form.as_, context.note(page).id)
            arguments = form.first_arguments() if page is ABSENT else form.arguments
            resolver = Resolver(context, scope, state.run.extras)
            try:
                return await self._effects.call_tool(context, resolver, form.tool, dict(arguments))
            except Unbound:
                raise
            except InfospaceError as error:
                return Outcome("failed", reason=str(error), error=error.kind)

        outcome, context = await attempt_call(state, item_at(state.position, number), form.tool, call)
        state.context.uses.update(context.uses)
        if "misfits" in context.extra:
            state.context.extra.setdefault("misfits", context.extra["misfits"])
        return outcome, outcome.resource.content if isinstance(outcome.resource, Note) else None

    def _read_as_json(self, answer: JSON) -> JSON:
        """Return an answer, read as JSON where it is text. Raises InvalidJSON."""
        if not isinstance(answer, str):
            return answer
        longest = 4 * self._state.run.bounds.characters
        return read_json(answer, what=f"the answer of {self._form.tool}", max_bytes=longest)

    def _items(self, answer: JSON) -> list[JSON]:
        value = answer if self._form.items is None else lookup(answer, self._form.items.parts, "the answer")
        if value is None:
            return []
        if not isinstance(value, list):
            whose = "the answer" if self._form.items is None else f"`{self._form.items}`"
            raise Invalid(f"unchecked: {whose} is {shown(value)}, not a list of items")
        return value

    def _cursor(self, answer: JSON, place: AnswerPath) -> JSON | Absent:
        """Return the cursor of the next page, ABSENT after the last."""
        try:
            value = lookup(answer, place.parts, "the answer")
        except PathNotFound:
            return ABSENT
        if value is None or value is False or value == "":
            return ABSENT
        if dump(value) in self._seen:
            raise Invalid(f"the cursor {shown(value)} came before, so the pages would never end")
        return value

    def _keep(self, number: int, items: list[JSON]) -> None:
        """Make Notes of the items of a page; each knows the call that it came with."""
        state = self._state
        state.context.room.require_room(items=len(items))
        context = state.context.inner(CreatedBy(state.run.id, item_at(state.position, number), self._form.tool))
        self._members += [Member(context.note(item).id) for item in items]
        state.context.merge(context)


def _next_number(page: JSON | Absent, step: int, items: list[JSON]) -> JSON | Absent:
    """Return the number of the next page, ABSENT after an empty one."""
    assert isinstance(page, int)  # noqa: S101 - `first` is a whole number, and so is every sum
    return page + step if items else ABSENT
