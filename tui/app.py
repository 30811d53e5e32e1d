"""The screen: it opens on a space, shows one place at a time, and does nothing itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.text import Text
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.events import Event as ScreenEvent
from textual.events import InputEvent, Key, Paste
from textual.reactive import reactive
from textual.screen import Screen
from textual.theme import Theme
from textual.timer import Timer
from textual.worker import Worker

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from planner.journal.events import Event, Spoke
from tui.base_screen import BaseScreen
from tui.dialogs.command_palette import Palette
from tui.dialogs.common import ConfirmDialog
from tui.help import PAGES
from tui.runtime.background_loop import BackgroundLoop
from tui.runtime.gc_control import IDLE_SECONDS, IdleGarbageCollector
from tui.runtime.key_queue import Done, KeyQueue
from tui.runtime.run_model import RunModel
from tui.runtime.runner import ActiveRun, Runner
from tui.runtime.workers import guarded
from tui.screen_help import help_of, page_help
from tui.screen_registry import PLACES, Entry, entry_of, numbered
from tui.screens.open_run import OpenRun
from tui.text.format import Colours, single_line
from tui.text.output import escape_controls
from tui.widgets.tab_bar import Tab

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from infospace.space import Space
    from infospace.store.protocol import Snapshot
    from planner.journal.result import RunResult
    from tui.runtime.ui_state import UiState

T = TypeVar("T")

DEFAULT_THEME = "textual-dark"

LEAVE_SECONDS = 10
"""Seconds that steps under way are given to end, when somebody leaves."""

SAID = 3
"""What runs say is shown, so much of it at once."""

POLL_SECONDS = 1.0
"""Seconds between two looks at a run that another process goes on with."""

SOURCES = 1_000
"""Style sheets of widgets that Textual keeps parsed; of its own 64, less than there are, none is ever found again."""

PRELOAD_SECONDS = 0.5
"""Seconds after the start at which what is not shown yet is prepared."""

SETTLED = 1.0
"""Seconds after which something to be remembered is written."""

_ENDED = {
    "success": "has ended well",
    "stopped": "was stopped by its plan",
    "failed": "failed",
    "refused": "is refused",
    "suspended": "waits",
    "cancelled": "was cancelled",
    "running": "goes on",
}


class InfospaceApp(App[int]):
    """The screen of a space, which is closed by whoever opened it."""

    TITLE = "infospace"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = [
        "app.tcss",
        *(f"screens/styles/{entry.name}.tcss" for entry in PLACES),
    ]
    """All styles at once: Textual parses everything anew for each place that brings some of its own."""
    NOTIFICATION_TIMEOUT = 8
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(f"f{number},{number}", f"go('{entry.name}')", entry.title, show=False, system=True)
            for number, entry in numbered()
        ),
        Binding("f1,question_mark", "help", "Help", key_display="?"),
        Binding("ctrl+q", "app.leave", "Quit", show=False, priority=True, tooltip="leaves the screen"),
    ]

    opened: reactive[str | None] = reactive(None)
    """The run that is open, of which some places show something."""
    chosen: reactive[str | None] = reactive(None)
    """The position of the step that was chosen in it."""

    def __init__(self, space: Space, memory: UiState) -> None:
        super().__init__()
        self.space = space
        self.memory = memory
        memory.enter(space.store.identity)
        self.engine = BackgroundLoop()
        self.runner = Runner(space, self.engine, self.handle_run_events)
        self.desk = OpenRun(self)
        self.compared: tuple[str, str] | None = None
        """Two runs that are to be compared."""
        self.pointed: tuple[str, int | None] | None = None
        """A resource that is to be shown, at a version or as it is now."""
        self._writing: Timer | None = None
        self._collecting = IdleGarbageCollector()
        self.keying = KeyQueue(self, super().on_event)
        self._start = memory.get("place", PLACES[0].name)
        for entry in PLACES:
            self.add_mode(entry.name, partial(self._create_screen, entry))
        self.stylesheet._parse_cache = LRUCache(SOURCES)  # noqa: SLF001 - Textual has no setting for it

    def on_mount(self) -> None:
        """Go where one was, as it looked."""
        self._collecting.begin()
        theme = self.memory.get("theme", DEFAULT_THEME)
        self.theme = theme if theme in self.available_themes else DEFAULT_THEME
        self.theme_changed_signal.subscribe(self, self._follow_theme)
        self.set_interval(POLL_SECONDS, self._refresh_open_run)
        self.set_interval(IDLE_SECONDS, self._collecting.collect_if_idle)
        self.set_timer(PRELOAD_SECONDS, lambda: self.do(self._load_places, group="places"))
        self.switch_mode(self._start if entry_of(self._start) else PLACES[0].name)
        if self.memory.complaint is not None:
            self.notify(self.memory.complaint, severity="warning", markup=False)

    def _follow_theme(self, theme: Theme) -> None:
        """Remember a theme, and draw the place in its colours; others take them when they are shown."""
        self.remember("theme", theme.name)
        if self.place is not None and self.place.is_mounted:
            self.place.shown()

    async def _load_places(self) -> None:
        """Import all places in a thread: whoever goes to one for the first time does not wait for that."""
        for entry in PLACES:
            await asyncio.to_thread(entry.load)

    async def on_event(self, event: ScreenEvent) -> None:
        """Take keys and clicks for a sign of somebody who would notice a pause; hand keys on in their turn."""
        if isinstance(event, InputEvent):
            self._collecting.touched()
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self.keying.feed(event)
        else:
            await super().on_event(event)

    def on_done(self, message: Done) -> None:
        """Go on with the keys that wait for their turn."""
        self.keying.arrived(message)

    def push_screen(self, *given: Any, **more: Any) -> Any:
        """Show a screen in front of the others; keys that are held are for it."""
        result = super().push_screen(*given, **more)
        self.keying.opened()
        return result

    # Places

    def _create_screen(self, entry: Entry) -> BaseScreen:
        """Return a new place, whose styles are those of now: nothing is to be parsed again for it."""
        place = entry.load()()
        place._css_update_count = self._css_update_count  # noqa: SLF001 - as Textual sets it for those it knows
        return place

    @property
    def place(self) -> BaseScreen | None:
        """The place that is shown, also behind a dialog."""
        return next((screen for screen in reversed(self.screen_stack) if isinstance(screen, BaseScreen)), None)

    async def edit_plan(self, run: str, document: JSON) -> None:
        """Show the plan of a run where plans are written."""
        from tui.screens.compose.compose import Compose

        await self.action_go("compose")
        place = self.place
        if isinstance(place, Compose):
            place.call_after_refresh(place.edit, run, document)

    async def action_go(self, name: str) -> None:
        """Show a place. What stands in front of the one that is shown stays there."""
        if not isinstance(self.screen, BaseScreen) or entry_of(name) is None:
            return
        self.remember("place", name)
        await self.switch_mode(name)
        if isinstance(self.screen, BaseScreen):
            self.screen.arrived()

    async def on_tab_chosen(self, message: Tab.Chosen) -> None:
        """Go where somebody clicked."""
        await self.action_go(message.name)

    def action_help(self) -> None:
        """Show what the place is for, and its keys."""
        place = self.place
        if place is not None and isinstance(self.screen, BaseScreen):
            self.push_screen(help_of(place))

    def open_page(self, topic: str) -> None:
        """Show a page of the documentation."""
        self.push_screen(page_help(topic))

    def action_command_palette(self) -> None:
        """Show what can be done, by name."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Give what can be done in the place, where one can go, and what Textual can do."""
        if isinstance(screen, BaseScreen):
            yield from screen.commands()
            for entry in PLACES:
                yield SystemCommand(f"Go to {entry.title}", entry.summary, self._go_later(entry.name))
            for topic, summary in PAGES.items():
                yield SystemCommand(f"Help: {topic}", summary, partial(self.open_page, topic))
        for command in super().get_system_commands(screen):
            if command.title != "Quit":
                yield command
        yield SystemCommand("Quit", "Leave; runs that go on can be resumed later", self.action_leave)

    def _go_later(self, name: str) -> Callable[[], object]:
        return lambda: self.call_later(self.action_go, name)

    def do(
        self, work: Callable[..., Coroutine[Any, Any, Any]], *given: Any, group: str, exclusive: bool = True
    ) -> Worker[None]:
        """Start work; a later one of the same group ends it, and what it raises becomes a sentence."""
        return self.run_worker(guarded(self, work, *given), group=group, exclusive=exclusive)

    def remember(self, key: str, value: JSON) -> None:
        """Keep a value for the next start, under a key such as `runs.filter`."""
        self.memory.set(key, value)
        if self._writing is not None:
            self._writing.stop()
        self._writing = self.set_timer(SETTLED, self._write)

    async def _write(self) -> None:
        try:
            await asyncio.to_thread(self.memory.write)
        except InfospaceError as error:
            self.report_error(error)

    # Words

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say something in a corner of the screen, without what could hide in it."""
        super().notify(
            escape_controls(message), title=escape_controls(title), severity=severity, timeout=timeout, markup=markup
        )

    def report_error(self, error: InfospaceError) -> None:
        """Say what went wrong."""
        self.notify(str(error), severity="error", markup=False)

    @property
    def colours(self) -> Colours:
        """The colours of the theme by name; those that are no plain colour are left out."""
        names = ("success", "error", "warning", "accent", "primary", "secondary")
        variables = self.theme_variables
        results = {name: variables.get(f"text-{name}", "") for name in names}
        return {name: colour for name, colour in results.items() if colour.startswith("#")}

    def report_bug(self, error: Exception) -> None:
        """Say that there is a bug; INFOSPACE_DEBUG shows where."""
        if os.environ.get("INFOSPACE_DEBUG"):
            raise error
        self.notify(f"infospace has a bug ({type(error).__name__}: {error})", severity="error", markup=False)

    def _fatal_error(self) -> None:
        """End with a sentence where Textual would show a traceback; INFOSPACE_DEBUG=1 shows it."""
        if os.environ.get("INFOSPACE_DEBUG"):
            super()._fatal_error()
            return
        error = self._exception
        message = f"infospace has a bug ({type(error).__name__}: {error}); INFOSPACE_DEBUG=1 shows where"
        self.panic(Text(escape_controls(message)))

    # The space

    def read_snapshot(self, question: Callable[[Snapshot], T]) -> T:
        """Ask a snapshot; for threads."""
        with self.space.store.reading() as snapshot:
            return question(snapshot)

    def handle_run_events(self, active: ActiveRun, events: list[Event]) -> None:
        """Hand the events of a run that goes on here to what is open, and to the places that were visited."""
        self.desk.handle_run_events(active, events)
        texts = [single_line(event.text) for event in events if isinstance(event, Spoke) and event.kind == "say"]
        if texts:
            more = f"… and {len(texts) - SAID:,} more before\n" if len(texts) > SAID else ""
            self.notify(more + "\n".join(texts[-SAID:]), title=f"{active.run} says", markup=False)
        for stack in self._screen_stacks.values():
            for screen in stack:
                if isinstance(screen, BaseScreen):
                    screen.handle_run_events(active, events)

    # Runs

    @property
    def subject(self) -> RunModel | None:
        """What is open, once it is read."""
        return self.desk.subject

    def open_run(self, run: str, step: str | None = None, place: str = "plan") -> None:
        """Open a run, perhaps at a step, and go to a place that shows it."""
        self.opened, self.chosen, self.desk.subject = run, step, None
        self.do(self.desk.open, run, group="open")
        self.call_later(self.action_go, place)

    def open_latest(self) -> None:
        """Open the latest run that can be opened, where nothing else is being opened."""
        if not any(worker.group == "open" and not worker.is_finished for worker in self.workers):
            self.do(self.desk.open, None, group="open")

    def open_plan(self, document: JSON, *, show: bool = False) -> None:
        """Open a plan that was not run, with what the check says of it; with `show`, go where that is seen."""
        self.opened = None
        if show:
            self.call_later(self.action_go, "plan")
        self.do(self.desk.open_plan, document, group="open")

    def _refresh_open_run(self) -> None:
        self.do(self.desk.refresh, group="look", exclusive=False)

    def compare(self, before: str, after: str) -> None:
        """Show what differs between two runs, in the place for that."""
        self.compared = (before, after)
        self.call_later(self._point_to, "compare")

    def open_note(self, identifier: str, version: int | None = None) -> None:
        """Show a resource of any kind, as it is now or at a version, in the place Notes."""
        self.pointed = (identifier, version)
        self.call_later(self._point_to, "notes")

    async def _point_to(self, name: str) -> None:
        """Go to a place, or have it look again where it is shown."""
        place = self.place
        if place is not None and place.name_of_place == name:
            place.shown()
        else:
            await self.action_go(name)

    def follow(self, playing: Callable[..., Coroutine[Any, Any, RunResult]], *given: Any) -> Worker[None]:
        """Let a run go on here, by `runner.start` or `resume` or `fork`; how it ends, and what goes wrong, is said."""
        return self.do(self._followed, playing, *given, group="runs", exclusive=False)

    async def _followed(self, playing: Callable[..., Coroutine[Any, Any, RunResult]], *given: Any) -> None:
        self.notify_ended(await playing(*given))

    def notify_ended(self, result: RunResult) -> None:
        """Say how a run ended, wherever somebody looks."""
        reason = f": {result.reason}" if result.reason else ""
        severity: SeverityLevel = "information" if result.status in {"success", "stopped"} else "warning"
        self.notify(f"{result.run or 'the plan'} {_ENDED[result.status]}{reason}", severity=severity, markup=False)

    # Leaving

    async def action_leave(self) -> None:
        """Leave; where runs go on here, ask first."""
        going = len(self.runner.going)
        if not going:
            self.exit(0)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.do(self._leave, group="leave")

        what = "A run goes on here." if going == 1 else f"{going} runs go on here."
        detail = "It is put to rest after the steps under way, and can be resumed."
        self.push_screen(ConfirmDialog("Leave?", f"{what} {detail}", yes="Leave"), answered)

    def suspend_and_exit(self) -> None:
        """Leave without asking, with the runs at rest: nobody looks any more."""
        self.do(self._leave, group="leave")

    async def _leave(self) -> None:
        """Let the steps under way end, for a while; what takes longer is broken off."""
        waited = [active.future for active in self.runner.going if active.future is not None]
        for active in self.runner.going:
            if not active.stopping:
                self.runner.halt(active)
        if waited:
            self.notify("Finishing the steps under way …")
            await asyncio.wait(waited, timeout=LEAVE_SECONDS)
        for active in self.runner.going:
            self.runner.break_off(active)
        self.exit(0)

    async def on_unmount(self) -> None:
        """End what goes on, and remember."""
        self._collecting.end()
        await asyncio.to_thread(self.engine.close)
        with suppress(InfospaceError):
            self.memory.write()
