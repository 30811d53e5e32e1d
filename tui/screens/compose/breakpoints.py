"""Where the runs of a draft stop: before steps, and when conditions come to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError
from planner.editor.draft import Draft, StepRange
from planner.lifecycle.breakpoints import ConditionBreakpoint
from tui.dialogs.common import LineDialog
from tui.screens.compose.tables import BreakpointRows
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from tui.app import InfospaceApp
    from tui.screens.compose.compose import Compose


class DraftBreakpoints:
    """Sets and takes away breakpoints, and shows them as a list."""

    def __init__(self, screen: Compose) -> None:
        self._screen = screen
        self.when: list[ConditionBreakpoint] = []
        """The conditions at which runs stop."""

    @property
    def _infospace(self) -> InfospaceApp:
        return self._screen.infospace

    def load(self) -> None:
        """Know again where runs stopped; of a text that was too long to be remembered there is no place."""
        memory, length = self._infospace.memory, len(self._screen.text)
        stops = memory.get("compose.stops", [])
        self._screen.stops = [stop for stop in stops if isinstance(stop, int) and 0 <= stop < length]
        for text in memory.get("compose.when", []):
            try:
                self.when.append(ConditionBreakpoint.read(str(text)))
            except InfospaceError:
                continue

    def remember(self) -> None:
        """Keep for the next start where runs stop, in the text as it is remembered."""
        self._infospace.remember("compose.stops", list(self._screen.stops))

    def pointers(self, draft: Draft) -> set[str]:
        """Return the pointers of the steps before which runs stop."""
        return {one.step.pointer for one in draft.steps if one.start in self._screen.stops}

    # By step

    def toggle_here(self) -> None:
        """Stop before the step at the cursor, or no more."""
        self._screen.do(self._toggle, group="stop")

    def toggle_line(self, line: int) -> None:
        """Stop before the step whose line was clicked, or no more."""
        self._screen.do(self._toggle, line, group="stop")

    async def _toggle(self, line: int | None = None) -> None:
        draft, whole = await self._screen.draft_of_now(), self._screen.editor.plain_document
        if draft.plan is None:
            self._screen.notify(
                "A breakpoint is set at a step, once the text can be read as a plan.", severity="warning"
            )
            return
        end = self._screen.editor.offset_of_cursor
        start = None
        if line is not None and line < whole.line_count:
            start = whole.get_index_from_location((line, 0))
            end = start + len(whole.get_line(line))
        step = self._of_line(draft, start, end) or draft.step_at(end)
        if step is None:
            self._screen.notify("There is no step here.", severity="warning")
            return
        if step.start in self._screen.stops:
            self._screen.stops.remove(step.start)
        else:
            self._screen.stops = sorted([*self._screen.stops, step.start])
        self._stops_changed()

    @staticmethod
    def _of_line(draft: Draft, start: int | None, end: int) -> StepRange | None:
        """Return the first step that begins on a line."""
        return None if start is None else next((one for one in draft.steps if start <= one.start <= end), None)

    # By condition

    def ask_condition(self) -> None:
        """Ask for a condition."""
        self._screen.ask_for(self._ask_when, None, group="stop")

    async def _ask_when(self, known: ConditionBreakpoint | None) -> None:
        detail = 'a condition: $hits is empty · $n > 3 · {"type": "bound", "target": "$x"}'
        detail += "\nA run rests when it comes to hold." + ("" if known is None else " An empty line takes it away.")
        text = await self._screen.app.push_screen_wait(
            LineDialog("Break when", detail, "" if known is None else known.text, _when)
        )
        if text is None or (known is None and not text.strip()):
            return
        when = _when(text)
        self.when = [
            condition_breakpoint for condition_breakpoint in self.when if condition_breakpoint is not known
        ] + ([] if when is None else [when])
        self._stops_changed()

    # The list

    def chosen(self, key: str) -> None:
        """Go to the step of a breakpoint, or change the condition."""
        kind, _, place = key.partition(" ")
        if kind == "step":
            self._screen.editor.go_to(int(place))
            self._screen.editor.focus()
        elif int(place) < len(self.when):
            self._screen.do(self._ask_when, self.when[int(place)], group="stop")

    def remove_chosen(self) -> None:
        """Take away the stop at the cursor of the list."""
        key = self._screen.query_one("#stops", LazyTable).key
        if key is None:
            return
        kind, _, place = key.partition(" ")
        if kind == "step":
            self._screen.stops = [stop for stop in self._screen.stops if stop != int(place)]
        elif int(place) < len(self.when):
            del self.when[int(place)]
        self._stops_changed()

    def _stops_changed(self) -> None:
        self.remember()
        self._infospace.remember("compose.when", [when.text for when in self.when])
        self._screen.draw_marks()
        self.draw()

    def draw(self) -> None:
        options = []
        begun = {one.start: one for one in self._screen.draft.steps}
        for stop, line in zip(self._screen.stops, self._screen.editor.lines_of(self._screen.stops), strict=True):
            step = begun.get(stop)
            what = "a step" if step is None else step.step.type
            options.append((f"step {stop}", f"line {line + 1}, before {what}"))
        options += [(f"when {index}", f"when {when.text}") for index, when in enumerate(self.when)]
        self._screen.query_one("#stops", LazyTable).show(BreakpointRows(options, self._infospace.colours))
        self._screen.tabs.relabel("stopping", f"Breaks {len(options)}" if options else "Breaks")


def _when(text: str) -> ConditionBreakpoint | None:
    """Return the condition of a line, None of an empty one. Raises Invalid."""
    return ConditionBreakpoint.read(text.strip()) if text.strip() else None
