"""What every place of the screen has: the bar of places, its keys, its help, and ways to work off the event loop."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding
from textual.events import ScreenResume
from textual.screen import Screen
from textual.worker import Worker

from planner.journal.events import Event
from tui.runtime.workers import begin
from tui.widgets.lazy_table import LazyTable
from tui.widgets.tab_bar import TabBar

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp
    from tui.runtime.runner import ActiveRun

T = TypeVar("T")


class BaseScreen(Screen[None]):
    """One place. Its class is named as its title, and the docstring of its module is its help, in Markdown.

    A place gives its widgets in `content`, and says in BINDINGS what can be done: keys, footer, help and the command
    palette are made of them.
    """

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (36, "-high")]  # noqa: RUF012 - as Textual declares it
    FIRST: ClassVar[str] = ""
    """The selector of what has the focus at first."""
    _left = False
    """Whether another place, or a dialog, has been in front since this one was made."""

    @property
    def infospace(self) -> InfospaceApp:
        """The app that this is a place of."""
        return cast("InfospaceApp", self.app)

    @property
    def name_of_place(self) -> str:
        """The name of the place, which is that of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def help(self) -> str:
        """What can be seen and done here, as Markdown."""
        return inspect.cleandoc(sys.modules[type(self).__module__].__doc__ or "")

    def compose(self) -> ComposeResult:
        """Put the content between the bar of places and the keys."""
        from tui.widgets.key_footer import KeyFooter

        # Textual sets these classes when it tells the size. All widgets are styled by then: each would be once more.
        given = (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS)
        for cells, breakpoints in zip(self.app.size, given, strict=True):
            self.add_class([name for least, name in breakpoints if cells >= least][-1])
        yield TabBar(self.name_of_place)
        yield from self.content()
        yield KeyFooter()

    def content(self) -> ComposeResult:
        """Give the widgets of the place."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Focus what the place begins with."""
        if self.FIRST:
            self.query_one(self.FIRST).focus()

    def on_screen_suspend(self) -> None:
        """Something else comes to the front."""
        self._left = True

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Look again, since the place is shown."""
        # Textual styles all widgets anew for what changed while they were hidden. A new place was never hidden.
        event.refresh_styles = event.refresh_styles and self._left
        self.shown()
        self.refresh_bindings()

    @on(LazyTable.Highlighted)
    def _at_another_row(self) -> None:
        """Other things may be done at another row."""
        self.refresh_bindings()

    def shown(self) -> None:
        """Bring what is shown up to date; called whenever the place comes to the front."""

    def arrived(self) -> None:
        """Somebody has gone to this place, by its key or otherwise; also from here."""

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Take what happened in a run that goes on here; also while the place is not shown."""

    def key_bindings(self) -> list[Binding]:
        """Return what can be done here by a key, each once, in the order in which it was declared."""
        results = [binding for binding in self.BINDINGS if isinstance(binding, Binding)]
        return [binding for binding in results if binding.description and not binding.system]

    def is_action_available(self, action: str) -> bool:
        """Whether an action such as `stop` or `tab(1)` can do something now. The key of another says why it cannot."""
        del action
        return True

    def key_label(self, binding: Binding) -> str:
        """Return the word that stands beside a key."""
        return binding.description

    def commands(self) -> Iterable[SystemCommand]:
        """Give what the command palette offers here."""
        for binding in self.key_bindings():
            if self.is_action_available(binding.action):
                yield SystemCommand(self.key_label(binding), binding.tooltip, self._doing(binding))

    def _doing(self, binding: Binding) -> Callable[[], Any]:
        async def act() -> None:
            await self.run_action(binding.action)

        return act

    # Working off the event loop

    async def ask(self, question: Callable[[Snapshot], T]) -> T:
        """Return what a question to a snapshot gives; it is asked in a thread. Raises what it raises."""
        return await asyncio.to_thread(self.infospace.read_snapshot, question)

    def do(
        self, work: Callable[..., Coroutine[Any, Any, Any]], *given: Any, group: str = "default", exclusive: bool = True
    ) -> Worker[None]:
        """Start work of this place. A later one of the same group ends it; what it raises becomes a sentence."""
        return begin(self, self.infospace, work, *given, group=group, exclusive=exclusive)

    def ask_for(
        self, work: Callable[..., Coroutine[Any, Any, Any]], *given: Any, group: str = "default", exclusive: bool = True
    ) -> Worker[None]:
        """Start work that may show a dialog: the keys that come meanwhile are for that, if it does."""
        # Held before the work begins, for the keys behind this one may have come already. A dialog that opens lets them
        # go, or the end of the work; work that is ended before it began does not, and `key_queue.LONGER` does then.
        keying, reason = self.infospace.keying, object()

        async def asking() -> None:
            try:
                await work(*given)
            finally:
                keying.release(reason)

        keying.hold(reason)
        return self.do(asking, group=group, exclusive=exclusive)
