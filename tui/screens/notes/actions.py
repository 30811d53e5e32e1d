"""What can be done with notes by hand: edit, name, keep, delete, bring back, undo, add; as on the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported
from textual.timer import Timer
from textual.widgets import Static

from infospace.core.errors import InfospaceError, Invalid
from infospace.core.resources import Note
from infospace.editing.edit import edit, give_name, keep, remove, restore
from infospace.editing.task_status import with_status
from infospace.editing.undo import describe, undo
from tui.dialogs.common import ConfirmDialog, LineDialog
from tui.dialogs.edit_text import EditTextDialog
from tui.runtime.detached_import import DetachedImport
from tui.runtime.import_job import ImportJob
from tui.screens.notes.external_editor import EditorFile
from tui.tables.note_places import NotePlaces, NotesFilter, read_places
from tui.tables.resource_context import ResourceDetail
from tui.tables.task_rows import Task
from tui.text.format import single_line
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.store.protocol import Store
    from tui.screens.notes.notes import Notes

MAX_EDITED_CHARACTERS = 100_000
"""Characters of a note that is edited here; a longer one goes to the user's editor."""
POLL_SECONDS = 0.2
"""Seconds between two looks at how far adding is."""


class NoteActions:
    """Changes the notes that the screen shows. `undoable` are the runs of what was done here, the latest last.

    What writes behind the screen (`_write`, `_undo`) does so one after the other, by `_writing`: what is undone is the
    latest that was done before. Later work does not end it (`exclusive=False`): a thread that writes cannot be called
    back, and its run has to get into `undoable`. Editing needs no lock: it stands in front of the keys.
    """

    def __init__(self, screen: Notes) -> None:
        self._screen = screen
        self.undoable: list[str] = []
        self._writing = asyncio.Lock()
        self.adding: ImportJob | None = None
        """What is being added, None where nothing is."""
        self._ticking: Timer | None = None

    def chosen(self) -> ResourceDetail | None:
        """Return what is shown with all around it, None where nothing is, which is said."""
        if self._screen.around is None:
            self._screen.notify("Nothing is shown.", severity="warning")
        return self._screen.around

    def _write(self, write: Callable[[], str | None], message: str) -> None:
        """Change something in a thread, and say so; another action that is begun meanwhile does not end that."""
        self._screen.do(self._written, write, message, group="write", exclusive=False)

    async def _written(self, write: Callable[[], str | None], message: str) -> None:
        async with self._writing:
            self._done(await asyncio.to_thread(write), message)

    def _done(self, run: str | None, message: str) -> None:
        """Say what was done, and that it can be undone."""
        if run is None:
            self._screen.notify("Nothing is different.")
        else:
            self.undoable.append(run)
            self._screen.notify(f"{message} u undoes it.", markup=False)
        self._screen.changed()

    # Asking

    def ask(self, text: str = "") -> None:
        """Ask queries over the notes."""
        self._screen.ask_for(self._ask, text, group="action")

    async def _ask(self, text: str) -> None:
        from tui.dialogs.query import QueryDialog

        runs = await self._screen.app.push_screen_wait(QueryDialog(text))
        if runs:
            self.undoable += runs
            self._screen.changed()

    def filter(self, places: NotePlaces | None, within: NotesFilter) -> None:
        """Ask for a folder or a tag whose notes are to be listed."""
        self._screen.ask_for(self._filter, places, within, group="action")

    async def _filter(self, known: NotePlaces | None, within: NotesFilter) -> None:
        from tui.dialogs.note_filter import NoteFilterDialog

        places = await self._screen.ask(lambda snapshot: read_places(snapshot, known))
        chosen = await self._screen.app.push_screen_wait(NoteFilterDialog(places, within))
        if chosen is not None:
            self._screen.narrow(chosen)

    # Tasks

    def turn_task(self, task: Task) -> None:
        """Give a task the other status: done, or to be done again."""
        done = "is to be done again" if task.done else "is done"
        self._write(
            partial(_with_task_turned, self._screen.infospace.space.store, task), f"{_short(task.text)} {done}."
        )

    # Editing

    def _editable(self) -> tuple[Note, ResourceDetail] | None:
        around = self.chosen()
        if around is None:
            return None
        note = around.resource
        if not isinstance(note, Note):
            raise Invalid(f"{note.id} is a {note.kind}, and notes are edited", hint="n names it, d deletes it")
        if around.gone is not None:
            raise Invalid(f"{note.id} was deleted {around.gone}", hint="r on one of its versions brings it back")
        if note.version != around.latest:
            hint = "r makes it the current one; then it can be edited"
            raise Invalid(
                f"this is version {note.version} of {note.id}, and the current one is {around.latest}", hint=hint
            )
        return note, around

    def edit(self) -> None:
        """Edit what is shown here."""
        self._screen.ask_for(self._edit, group="action")

    async def _edit(self) -> None:
        results = self._editable()
        if results is None:
            return
        note, around = results
        if around.brief.size > MAX_EDITED_CHARACTERS:
            hint = "E opens it in your editor"
            raise Invalid(f"{note.id} has {around.brief.size:,} characters, too many to be edited here", hint=hint)
        draft = await asyncio.to_thread(EditorFile, note)
        runs: list[str | None] = []

        async def save(text: str) -> None:
            def write() -> str | None:
                draft.write(text)
                return edit(self._screen.infospace.space.store, note, *draft.read(), f"edit {note.id}")

            runs.append(await asyncio.to_thread(write))

        language, text, own = "json" if draft.is_json else "markdown", draft.text, str(note.content)
        front = len(text) - len(own) if not draft.is_json and text.endswith(own) else 0
        try:
            if await self._screen.app.push_screen_wait(
                EditTextDialog(note.id, text, save, language=language, before=front)
            ):
                self._done(runs[-1], f"Saved {note.id}.")
        finally:
            draft.forget()

    def edit_outside(self) -> None:
        """Edit what is shown in the user's editor."""
        self._screen.do(self._edit_outside, group="outside", exclusive=False)

    async def _edit_outside(self) -> None:
        results = self._editable()
        if results is None:
            return
        note, _ = results
        draft = await asyncio.to_thread(EditorFile, note)
        try:
            with self._screen.app.suspend():
                draft.edit()
        except SuspendNotSupported:
            draft.forget()
            raise Invalid("no editor can be opened from here", hint="e edits it here") from None
        except InfospaceError:
            draft.forget()
            raise
        try:
            run = await asyncio.to_thread(
                lambda: edit(self._screen.infospace.space.store, note, *draft.read(), f"edit {note.id}")
            )
        except InfospaceError as error:
            raise draft.saved(error) from None
        draft.forget()
        self._done(run, f"Saved {note.id}.")

    # Names, and what is kept

    def rename(self) -> None:
        """Ask for a name."""
        self._screen.ask_for(self._rename, group="action")

    async def _rename(self) -> None:
        around = self.chosen()
        if around is None:
            return
        brief, detail = around.brief, "A name keeps it. An empty one takes the name away."
        name = await self._screen.app.push_screen_wait(LineDialog(f"Name of {brief.id}", detail, brief.name or ""))
        if name is None or name.strip() == (brief.name or ""):
            return
        name = name.strip()
        message = f"{brief.id} is named {name!r}." if name else f"{brief.id} has no name."
        self._write(partial(give_name, self._screen.infospace.space.store, brief.id, name), message)

    def keep(self) -> None:
        """Keep what a run made."""
        self._screen.do(self._keep_chosen, group="action")

    async def _keep_chosen(self) -> None:
        around = self.chosen()
        if around is None:
            return
        if around.brief.kept:
            self._screen.notify(f"{around.brief.id} is kept already.")
            return
        self._write(partial(keep, self._screen.infospace.space.store, around.brief.id), f"{around.brief.id} is kept.")

    # Deleting and bringing back

    def delete(self) -> None:
        """Delete what is shown; it can be undone."""
        self._screen.do(self._delete, group="action")

    async def _delete(self) -> None:
        around = self.chosen()
        if around is None:
            return
        identifier = around.brief.id
        if around.gone is not None:
            self._screen.notify(f"{identifier} is deleted already. r on one of its versions brings it back.")
            return
        gone = partial(remove, self._screen.infospace.space.store, [identifier], f"rm {identifier}")
        self._write(gone, f"Deleted {identifier}.")

    def restore(self) -> None:
        """Make the version that is chosen the current one."""
        self._screen.do(self._restore, group="action")

    async def _restore(self) -> None:
        around, version = self.chosen(), self._screen.version_chosen
        if around is None:
            return
        if version is None or (version == around.latest and around.gone is None):
            self._screen.notify("Choose an earlier version on the tab Versions.", severity="warning")
            return
        identifier = around.brief.id
        back = partial(restore, self._screen.infospace.space.store, identifier, version)
        self._write(back, f"{identifier} is as it was at version {version}.")

    def undo(self) -> None:
        """Undo what was done last here; again, what was done before that."""
        self._screen.do(self._undo, group="write", exclusive=False)

    async def _undo(self) -> None:
        async with self._writing:
            if not self.undoable:
                self._screen.notify("Nothing was done here that could be undone. Runs are undone by `infospace undo`.")
                return
            run = self.undoable[-1]
            undone = await asyncio.to_thread(undo, self._screen.infospace.space.store, run)
            self.undoable.remove(run)
        self._screen.notify(f"{run} is undone: {', '.join(describe(undone))}.", markup=False)
        self._screen.changed()
        back = [*undone.restored, *undone.reverted]
        if back:
            around = self._screen.around
            self._screen.follow(around.brief.id if around is not None and around.brief.id in back else back[0], None)

    # Adding

    def add(self) -> None:
        """Ask for files, and add them; while they are added, offer to end that."""
        self._screen.ask_for(self._add if self.adding is None else self._end_adding, group="adding", exclusive=False)

    async def _end_adding(self) -> None:
        adding, detail = self.adding, "What was added stays, and adding the same again goes on."
        if (
            await self._screen.app.push_screen_wait(ConfirmDialog("End adding?", detail, yes="End it"))
            and adding is not None
        ):
            adding.end()

    async def _add(self) -> None:
        text = await self._path_to_add()
        if not text:
            return
        adding = self.adding = ImportJob(self._screen.infospace.space, [text])
        self._ticking = self._screen.set_interval(POLL_SECONDS, self._tick)
        self._tick()
        try:
            await asyncio.to_thread(adding.run)
        finally:
            self.adding = None
            self._ticking.stop()
            self._tick()
        failed = adding.summary.failed
        self._screen.notify(f"{adding.report()}.", markup=False, severity="warning" if failed else "information")
        if adding.summary.run is not None:
            self.undoable.append(adding.summary.run)
        self._screen.changed()

    async def _path_to_add(self) -> str:
        """Ask for a path until there is something, "" where nothing is to be added; what was written stays."""
        detail = "Markdown, text, JSON, JSON Lines, CSV, HTML and PDF; of a folder, all that is in it. "
        detail += "Again takes only what changed."
        text = str(Path.cwd())
        while True:
            asked = LineDialog("Add a file or a folder", detail, text)
            text = (await self._screen.app.push_screen_wait(asked) or "").strip()
            if not text or await asyncio.to_thread(path_of(text).exists):
                return text
            self._screen.notify(f"There is no file or folder {text!r}.", severity="warning", markup=False)

    def _tick(self) -> None:
        self._show_work("" if self.adding is None else f"adding: {self.adding.status_text}  [a, or a click, ends it]")

    def tell_of_background(self) -> None:
        """Say how far `infospace add --detach` is, or that it was broken off, where nothing is added here."""
        address = self._screen.infospace.space.store.address
        if self.adding is not None or "://" in address:
            return
        record = DetachedImport(address).read()
        if record is not None and record.running:
            self._show_work(f"adding in the background [infospace add --stop ends it]: {record}")
        elif record is not None and record.broken_off:
            self._show_work(f"adding in the background [infospace add --detach goes on]: {record}")
        else:
            self._show_work("")

    def _show_work(self, message: str) -> None:
        bar = self._screen.query_one("#work", Static)
        bar.display = bool(message)
        bar.update(single_line(message))


def _with_task_turned(store: Store, task: Task) -> str | None:
    """Change the character in the brackets of a task, as `infospace edit --task` does; return the run."""
    with store.reading() as snapshot:
        note = snapshot.get(task.note)
        if not isinstance(note, Note):
            raise Invalid(f"{note.id} is a {note.kind}, and notes have tasks")
        text = with_status(snapshot, note, task.line, task.turned)
    return edit(store, note, text, note.metadata, f"task {task.line} of {note.id}")


def _short(text: str) -> str:
    line = single_line(text)
    return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"
