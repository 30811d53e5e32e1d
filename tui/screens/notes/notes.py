"""The notes of the space: type to search them, and follow where they came from and what they are tied to.

Type in the field at the top. The search runs as you type: by meaning, by words or by both (`m`, or a click on the word
at the right). The slider below it is the threshold, the lowest cosine that counts, with the number of notes at or
above it. Without a query everything is listed, latest first; `v` goes on to transient notes, Collections, Relations,
what is stale (made of something that has changed since), and tasks. Click a title to sort. `f`, or a click on
"folder", lists only the notes, or the tasks, of a folder or a tag, chosen from trees of them; a search stays in it.

`S`, or a SELECT in the field and enter, asks one query: tables, columns, properties and their values are completed as
you type, the rows are a table, and enter on one shows its note. They can be kept as a Collection
(`ctrl+s`), and the query as a saved plan (`ctrl+t`).

`R` estimates how much a search misses: notes are drawn by chance, you say of each whether it is right (`y`, `n`), and
recall is told with its interval. `escape` ends it early and keeps what was judged; `R` goes on.

Of what is chosen: **Content** (Markdown; JSON as a tree that folds, `t` shows it plain; Collections as tables),
**About** (why a search found it, path, times, properties), **Links** (relations and links out and in, those that lead
nowhere yet, the Collections that hold it), **Tasks** (`x`, or enter, sets one done or to be done again: one character
of the text), **Versions** (enter looks at one, `r` brings it back), **Why** (where it came from, and whether it is
stale) and **Uses** (what was made of it). Enter on a line goes there, `b` comes back, `w` opens the step that made it.
What is changed here can be undone with `u`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input, Static

from infospace.core.plural import pluralize
from infospace.core.resources import Note
from infospace.journal.rows import Use
from infospace.search.query import Mode
from tui.runtime.workers import poll_delay
from tui.screens.notes.actions import NoteActions
from tui.screens.notes.recall import RecallJudging
from tui.screens.search_screen import POLL_SECONDS, SearchScreen
from tui.tables.note_places import NotesFilter
from tui.tables.notes_query import (
    MODES,
    WHAT,
    Ids,
    NotesList,
    NotesQuery,
    What,
    by_column,
    existing_summaries,
    explain_hit,
    run_notes_query,
)
from tui.tables.notes_table import EMPTY, PLAIN, NoteList
from tui.tables.resource_context import ResourceDetail, stamp_of
from tui.tables.task_rows import Task
from tui.text.render import snippet_with
from tui.widgets.action_word import ActionWord
from tui.widgets.cycle_button import CycleButton
from tui.widgets.details.resource import ResourceView
from tui.widgets.details.resource_content import marked
from tui.widgets.lazy_table import LazyTable
from tui.widgets.slider import Slider
from tui.widgets.tabs import StableTabs

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.store.protocol import Snapshot

POLL_TO_COST_RATIO = 20
"""How many times as long as a look took is waited until the next one."""
FINE = 100
"""Steps of the slider from 0 to 1."""


class Notes(SearchScreen[NotesQuery, tuple[NotesList, list[str] | None]]):
    """The notes: a list with a field, two words and a slider, and beside it what is chosen.

    Changing them is a part of its own.
    """

    FIRST = "#list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/", tooltip="goes to the field; escape comes back"),
        Binding("S", "ask", "Query", show=False, tooltip="asks one SELECT over the notes; its rows can be kept"),
        Binding("f", "filter", "Folder", tooltip="lists the notes of a folder or a tag"),
        Binding("m", "mode", "Mode", show=False, tooltip="searches by meaning, by words, or by both"),
        Binding("v", "what", "List", tooltip="lists notes, transient ones too, Collections, Relations, tasks"),
        Binding("comma", "threshold(-1)", "Lower", key_display=",", show=False, tooltip="lowers the threshold by 0.01"),
        Binding("full_stop", "threshold(1)", "Higher", key_display=".", show=False, tooltip="raises it by 0.01"),
        Binding("R", "recall", "Recall", show=False, tooltip="estimates how much the search misses: you judge notes"),
        Binding("plus", "more", "More", key_display="+", show=False, tooltip="lists five times as many hits"),
        Binding("enter", "into", "Look", show=False, tooltip="goes into what is chosen; follows a line of a tab"),
        Binding("right_square_bracket", "tab(1)", "Tab", key_display="]", tooltip="to the next tab"),
        Binding(
            "left_square_bracket", "tab(-1)", "Tab before", key_display="[", show=False, tooltip="to the one before"
        ),
        Binding("z", "whole", "Whole", show=False, tooltip="shows what is chosen alone, or beside the list again"),
        Binding("b", "back", "Back", show=False, tooltip="back to what was shown before"),
        Binding("w", "made", "Its step", show=False, tooltip="opens the step that made it"),
        Binding("t", "plain", "Plain", show=False, tooltip="shows Markdown and JSON as written, or laid out again"),
        Binding("s", "sort", "Sort", show=False, tooltip="sorts the list, or a Collection, by the next column"),
        Binding("x", "task", "Task", tooltip="sets the task at the cursor done, or to be done again"),
        Binding("e", "edit", "Edit", tooltip="edits it here"),
        Binding("E", "edit_outside", "Editor", show=False, tooltip="edits it in your editor ($EDITOR)"),
        Binding("n", "name", "Name", show=False, tooltip="names it, and so keeps it"),
        Binding("p", "keep", "Keep", show=False, tooltip="keeps what a run made"),
        Binding("r", "restore", "Bring back", show=False, tooltip="makes the version that is chosen the current one"),
        Binding("d,delete", "delete", "Delete", tooltip="deletes it; u brings it back"),
        Binding("u", "undo", "Undo", tooltip="undoes what was done last here"),
        Binding("a", "add", "Add", tooltip="adds files or a folder; while it does, ends that"),
        Binding("y", "copy", "Copy", show=False, tooltip="copies the text, or the row of a table"),
        Binding("i", "copy_id", "Copy id", show=False, tooltip="copies the id"),
        Binding("escape", "leave", "Leave", show=False, tooltip="back to the list; again lists everything"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.notes = NoteList()
        self._threshold: float | None = None
        self._most = NotesQuery().most
        self._next = 0.0
        """When it is looked for changes next; never, while that is being done."""
        self._order: tuple[tuple[str, bool], Ids, list[str]] | None = None
        """What was sorted last: by what, which ids, and their order."""
        self.actions = NoteActions(self)
        self.recall = RecallJudging(self)
        self._within = NotesFilter()
        self._stays: int | None = None
        """The place in the list at which the cursor is to stay, though what was there goes elsewhere."""
        self._before: list[Use] = []
        """What was shown before what was followed to."""

    def content(self) -> ComposeResult:
        """The field, the threshold, the list, and what is chosen."""
        get = self.infospace.memory.get
        with Horizontal(id="ask"):
            yield Input(get("notes.query", ""), placeholder="search")
            yield CycleButton(MODES, get("notes.mode", ""), name="mode", tip="by meaning, by words, or both (m)")
            yield CycleButton(WHAT, get("notes.what", ""), name="what", tip="what is listed (v)")
            yield ActionWord("folder ▾", "filter", name="within", tip="a folder or a tag (f)")
            yield ActionWord("≡", "app.command_palette", name="menu", tip="all that can be done (^p)")
        with Horizontal(id="sift"):
            yield Static("", id="least")
            yield Slider()
            yield Static("", id="found", markup=False)
        with Container(id="halves"):
            yield LazyTable(PLAIN, empty="nothing here: a adds files", name="list")
            yield ResourceView()
        yield ActionWord("", "add", name="work")

    def on_mount(self) -> None:
        self.query_one(Slider).most = FINE
        self.detail.explain = lambda shown: explain_hit(self.infospace.space, self.notes.listed, shown)
        self.set_interval(POLL_SECONDS, self._poll)

    def shown(self) -> None:
        """Look now; go where another place pointed."""
        self.notes.colours = self.infospace.colours
        self.search_now()
        pointed, self.infospace.pointed = self.infospace.pointed, None
        if pointed is not None:
            self.follow(*pointed)

    def on_unmount(self) -> None:
        """End what goes on."""
        if self.actions.adding is not None:
            self.actions.adding.end()

    @property
    def detail(self) -> ResourceView:
        """What is shown of one of them."""
        return self.query_one(ResourceView)

    # Searching

    @property
    def current_query(self) -> NotesQuery:
        """What is asked for as the field, the words and the slider stand."""
        mode, what = (self.query_one(f"#{name}", CycleButton).word for name in ("mode", "what"))
        query = self.field.value
        return NotesQuery(cast("What", what), query, cast("Mode", mode), self._threshold, self._most, self._within)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when nothing is typed for a moment."""
        self.infospace.remember("notes.query", event.value)
        self._most = NotesQuery().most
        self.search_soon()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list; a SELECT is asked."""
        if event.input is self.field and event.value.lstrip().upper().startswith(("SELECT ", "WITH ")):
            event.prevent_default()
            self.actions.ask(event.value)

    def on_cycle_button_turned(self, event: CycleButton.Turned) -> None:
        """Search otherwise, or for something else."""
        self.infospace.remember(f"notes.{event.cycle.id}", event.cycle.word)
        self._threshold = self._threshold if event.cycle.id == "mode" else None
        self._most = NotesQuery().most
        self._name_filter()
        if event.cycle.word == "tasks" or (self.notes.listed.sought.what == "tasks" and self.detail.tab == "tasks"):
            self.query_one(StableTabs).open("tasks" if event.cycle.word == "tasks" else "content")
        self.search_now()

    def narrow(self, within: NotesFilter) -> None:
        """List only what lies in a folder, or has a tag."""
        self._within, self._most = within, NotesQuery().most
        self._name_filter()
        self.search_now()

    def _name_filter(self) -> None:
        """Name the folder or tag in the header where it narrows what is listed; it stays for when it does again."""
        self.query_one("#within", Static).update(f"{self.current_query.filter or 'folder'} ▾")

    def on_slider_moved(self, event: Slider.Moved) -> None:
        """Search with another threshold."""
        if self.notes.listed.sought.scored and round((self._threshold or 0.0) * FINE) != event.value:
            self._threshold = event.value / FINE
            self._least()
            self.search_now()

    def find(self, sought: NotesQuery, listener: Listener) -> tuple[NotesList, list[str] | None]:
        """Return what is to be listed, and its ids in the order that was asked for where that is another one."""
        notes = run_notes_query(self.infospace.space, sought, listener, self.notes.listed.places)
        return notes, self._sorted(notes)

    async def stamp(self, sought: NotesQuery) -> object:
        """Return what tells whether there is something else to be listed."""
        return await self.ask(lambda snapshot: _stamp(snapshot, sought))

    def is_outdated(self, sought: NotesQuery) -> bool:
        """Whether something else was typed meanwhile, or is to be listed."""
        expected = self.wanted
        return expected is not None and expected.subject != sought.subject

    def _sorted(self, notes: NotesList) -> list[str] | None:
        """Return the ids in the order that was asked for, where that is another one. For a thread."""
        by, ids, before = self.notes.sorted_by, notes.ids, self._order
        if by is None or not notes.is_sortable:
            return None
        if before is not None and before[0] == by and isinstance(ids, Ids) and before[1].same(ids):
            return before[2]
        order = by_column(self.infospace.space, ids, by[0], downwards=by[1])
        self._order = (by, ids, order) if isinstance(ids, Ids) else None
        return order

    def show_results(self, both: tuple[NotesList, list[str] | None]) -> None:
        notes, ids = both
        before = self.notes.listed.sought
        self.notes.update(notes)
        if ids is not None:
            self.notes.ids = ids
        afresh = (before.subject, before.how) != (notes.sought.subject, notes.sought.how)
        if afresh and notes.hits:
            self.notes.sorted_by = None
        grid = self.grid
        query = notes.sought.query.strip()
        grid.empty = "nothing is found" if query or notes.sought.filter else EMPTY[notes.sought.what]
        to_top = afresh and (query or before.what != notes.sought.what or before.filter != notes.sought.filter)
        stays, self._stays = 0 if to_top else self._stays, None
        at = None if stays is None or not len(self.notes) else self.notes.key(min(stays, len(self.notes) - 1))
        grid.show(self.notes, self.notes.columns, at=at)
        if to_top and at is not None:
            grid.cursor = 0
        self.show_listed()
        if notes.threshold is not None and self._threshold is None:
            self.query_one(Slider).value = round(notes.threshold * FINE)
        self._least()
        if len(self.notes):
            self.results_changed()
            self.detail.explain_again()
        elif afresh:
            self.detail.clear()

    def show_listed(self) -> None:
        """Say what is listed, and how much of what is right that is where it was judged."""
        notes = self.notes.listed
        recall = self.recall.summary(notes.sought, self._stamp)
        message = f"{recall}; {notes.message}" if recall else notes.message
        self.show_message(message if len(notes.ids) >= notes.matched else f"{message} (+ lists more)")

    def _least(self) -> None:
        scored = self.current_query.scored
        self.query_one(Slider).display = self.query_one("#least").display = scored
        value = self.notes.listed.threshold if self._threshold is None else self._threshold
        self.query_one("#least", Static).update(f"≥ {value or 0.0:.2f}")

    # What is listed

    def _poll(self) -> None:
        if self.is_current and time.monotonic() >= self._next:
            self._next = float("inf")  # no second look begins before the `finally` of this one
            self.actions.tell_of_background()
            self.do(self._check_for_changes, group="look")

    async def _check_for_changes(self) -> None:
        started, sought = time.monotonic(), self.notes.listed.sought
        shown = self.detail.shown
        try:
            stamp, of_shown = await self.ask(
                lambda snapshot: (
                    _stamp(snapshot, sought),
                    None if shown is None else stamp_of(snapshot, shown.id),
                )
            )
            if stamp != self._stamp:
                self.search_now()
            self.notes.outdate()
            self.grid.refresh()
            self._load_visible()
            if shown is not None and self.detail.shown == shown:
                await self.refresh_shown(shown, of_shown)
        finally:
            now = time.monotonic()
            self._next = now + poll_delay(now - started, POLL_TO_COST_RATIO)

    def _load_visible(self) -> None:
        if self.notes.wanted:
            self.do(self._read, group="learn", exclusive=False)

    async def _read(self) -> None:
        """Read what came into sight."""
        expected, self.notes.wanted = sorted(self.notes.wanted), set()
        if expected and self.notes.merge(
            expected, await self.ask(lambda snapshot: existing_summaries(snapshot, expected))
        ):
            self.grid.refresh()

    def on_lazy_table_drawn(self, event: LazyTable.Drawn) -> None:
        """Read what came into sight."""
        if event.grid.id == "list":
            self.grid.refresh()
            self.call_after_refresh(self._load_visible)

    def on_lazy_table_titled(self, event: LazyTable.Titled) -> None:
        """Sort by the column."""
        if event.grid.id == "list":
            self._sort(self.notes.columns[event.column].title.rstrip(" ▲▼"))

    def _sort(self, title: str) -> None:
        if not self.notes.listed.is_sortable:
            tasks = self.notes.listed.sought.what == "tasks"
            self.notify(
                "Open tasks come first, by due date." if tasks else "What was found is in the order of the search."
            )
            return
        by = self.notes.sorted_by
        self.notes.sorted_by = (title, by == (title, False))
        self.search_now()

    # What is shown

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Show what the cursor rests on."""
        if event.grid.id != "list":
            return
        self.rests(event, lambda: self._show(event.key))

    def _show(self, key: str) -> None:
        """Show the resource, or the Note of the task, of a key of the list."""
        self._before.clear()
        identifier, _, line = key.partition(":")
        self.do(self._show_at, identifier, int(line) if line else None, group="show")

    async def _show_at(self, identifier: str, line: int | None) -> None:
        shown = self.detail.shown
        if line is None or shown is None or shown.id != identifier:
            await self.detail.show(identifier)
        if line is not None:
            self.detail.point_to_task(line)

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        if event.grid.id == "list":
            self.detail.focus_inside()

    async def refresh_shown(self, shown: Use, now: tuple[object, ...] | None) -> None:
        """Read what is shown again, where somebody changed it."""
        around = self.around
        if around is None or now is None or now[:4] != _standing(around):
            current = around is not None and shown.version == around.latest and around.gone is None
            await self.detail.show(shown.id, None if current else shown.version, again=True)

    def on_resource_view_shown(self) -> None:
        """Point out what the search found of it."""
        self.results_changed()
        self.refresh_bindings()

    def results_changed(self) -> None:
        """Point out what the search found of what is shown."""
        around = self.around
        hit = None if around is None else self.notes.listed.hits.get(around.resource.id)
        message = ""
        if around is not None and hit is not None and hit.version == around.resource.version:
            text = marked(around.resource)
            message = "" if text is None or not hit.start else text[hit.start : hit.end]
        words = self.notes.listed.words
        self.detail.point_out(f"found: {snippet_with(words, message) if words else message}" if message else "")

    @property
    def around(self) -> ResourceDetail | None:
        return self.detail.around

    def changed(self) -> None:
        """List and show everything again."""
        self.search_now()
        shown = self.detail.shown
        if shown is not None and not self.detail.reads:
            self.do(self.detail.show, shown.id, None, group="show")

    def on_resource_view_turned(self, event: ResourceView.Turned) -> None:
        """Set a task done, or to be done again."""
        self.actions.turn_task(event.task)

    @property
    def chosen_task(self) -> Task | None:
        """The task at the cursor: of the list where it has the focus, else of the tab."""
        grid, tasks = self.grid, self.notes.listed.tasks
        if not self.detail.has_focus_within and tasks:
            return tasks[grid.cursor] if grid.cursor < len(tasks) else None
        return self.detail.chosen_task

    def action_task(self) -> None:
        """Set the task at the cursor done, or to be done again."""
        task = self.chosen_task
        if task is None:
            self.notify("No task is chosen: they stand on the tab Tasks, and v lists all of them.")
            return
        if self.grid.has_focus and self.notes.listed.tasks:
            self._stays = self.grid.cursor
        self.actions.turn_task(task)

    def action_filter(self) -> None:
        """Ask for a folder or a tag."""
        self.actions.filter(self.notes.listed.places, self._within)

    def on_resource_view_followed(self, event: ResourceView.Followed) -> None:
        """Go where a line leads."""
        self.follow(event.identifier, event.version)

    def follow(self, identifier: str, version: int | None) -> None:
        """Show something else, from which `b` comes back."""
        shown = self.detail.shown
        if shown is not None and (shown.id != identifier or version is not None):
            self._before.append(shown)
        self.follows()
        self.do(self.detail.show, identifier, version, group="show")

    def action_back(self) -> None:
        """Show what was shown before."""
        if not self._before:
            self.notify("There is nothing to go back to.")
            return
        use = self._before.pop()
        self.follows()
        self.do(self.detail.show, use.id, use.version, group="show")

    @property
    def version_chosen(self) -> int | None:
        """The version at the cursor of its tab, else the one that is shown."""
        detail = self.detail
        use = detail.at if detail.tab == "versions" and detail.has_focus_within else detail.shown
        return None if use is None else use.version

    def action_made(self) -> None:
        """Open the step that made what is shown."""
        around = self.around
        if around is None:
            return
        created_by = around.origin.created_by
        if created_by.run is None or created_by.step is None:
            origin = "outside of any run" if created_by.run is None else f"by {created_by.run} {created_by.by}"
            self.notify(f"No step made it: {origin}.")
            return
        self.infospace.open_run(created_by.run, created_by.step, "step")

    def action_plain(self) -> None:
        """Show it as written, or laid out again."""
        content = self.detail.content
        content.plain = not content.plain
        if self.around is not None:
            self.do(content.show, self.around.resource, group="plain")

    def action_copy(self) -> None:
        text, whole = self.detail.content.copied()
        self.app.copy_to_clipboard(text)
        self.notify(
            f"Copied {pluralize(len(text), 'character')}."
            if whole
            else f"Copied the first {pluralize(len(text), 'character')}."
        )

    def action_copy_id(self) -> None:
        around = self.actions.chosen()
        if around is not None:
            self.app.copy_to_clipboard(around.brief.id)
            self.notify(f"Copied {around.brief.id}.")

    def action_ask(self) -> None:
        """Ask one SELECT; what is kept of its rows can be undone here."""
        self.actions.ask()

    def action_recall(self) -> None:
        """Have notes judged, to estimate how much the search misses."""
        self.recall.start()

    # Changing

    def action_edit(self) -> None:
        """Edit what is shown here."""
        self.actions.edit()

    def action_edit_outside(self) -> None:
        """Edit what is shown in the user's editor."""
        self.actions.edit_outside()

    def action_name(self) -> None:
        """Ask for a name."""
        self.actions.rename()

    def action_keep(self) -> None:
        """Keep what a run made."""
        self.actions.keep()

    def action_delete(self) -> None:
        """Delete what is shown; it can be undone."""
        self.actions.delete()

    def action_restore(self) -> None:
        """Make the version that is chosen the current one."""
        self.actions.restore()

    def action_undo(self) -> None:
        """Undo what was done last here; again, what was done before that."""
        self.actions.undo()

    def action_add(self) -> None:
        """Ask for files, and add them; while they are added, offer to end that."""
        self.actions.add()

    # Going about

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with what is shown, or with the list."""
        around, detail = self.around, self.detail
        alive = around is not None and around.gone is None
        match action:
            case "edit" | "edit_outside":
                return alive and around is not None and isinstance(around.resource, Note) and _is_latest(around)
            case "delete" | "name":
                return alive
            case "keep":
                return alive and around is not None and not around.brief.kept
            case "restore":
                return around is not None and self.version_chosen != around.latest
            case "undo":
                return bool(self.actions.undoable)
            case "back":
                return bool(self._before)
            case "made":
                return around is not None and around.origin.created_by.step is not None
            case "threshold(-1)" | "threshold(1)":
                return self.current_query.scored
            case "recall":
                return self.current_query.what == "notes" and self.current_query.how is not None
            case "more":
                return len(self.notes.listed.ids) < self.notes.listed.matched
            case "tab(1)" | "tab(-1)" | "into" | "copy" | "copy_id" | "whole":
                return around is not None
            case "plain":
                return around is not None and detail.tab == "content" and isinstance(around.resource, Note)
            case "task":
                return self.chosen_task is not None
            case "to_list" | "leave":
                listed = bool(self.query_one(Input).value) or bool(self._within)
                return not self.grid.has_focus or listed or self.has_class("-whole")
        return super().is_action_available(action)

    def action_sort(self) -> None:
        """Sort by the next column."""
        detail = self.detail
        if detail.has_focus_within and detail.content.is_table:
            detail.content.sort()
            return
        titles = [column.title.rstrip(" ▲▼") for column in self.notes.columns]
        by = self.notes.sorted_by
        self._sort(titles[(titles.index(by[0]) + 1) % len(titles)] if by and by[0] in titles else titles[0])

    def action_threshold(self, by: int) -> None:
        if self.current_query.scored:
            self.query_one(Slider).value += by
        else:
            self.notify("There is a threshold only where it is searched by meaning.")

    def action_more(self) -> None:
        self._most *= 5
        self.search_now()

    def action_leave(self) -> None:
        """Go to the list; from there, list everything."""
        if self.grid.has_focus and not self.has_class("-whole") and not self.field.value and self._within:
            self.narrow(NotesFilter())
        super().action_leave()

    def focus_inside(self) -> None:
        """Go into what is chosen."""
        self.detail.focus_inside()

    def cancel_focus(self) -> None:
        """Stay out of what is chosen."""
        self.detail.cancel_focus()

    def action_tab(self, by: int) -> None:
        """Go to another tab."""
        self.detail.turn(by)


def _is_latest(around: ResourceDetail) -> bool:
    return around.resource.version == around.latest


def _standing(around: ResourceDetail) -> tuple[object, ...]:
    brief = around.brief
    return brief.version, brief.name, brief.kept, brief.alive


def _stamp(snapshot: Snapshot, sought: NotesQuery) -> object:
    return snapshot.generation, snapshot.count(sought.kind, kept=sought.kept)
