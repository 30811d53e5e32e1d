"""What can be done with notes by hand: edit, name, keep, delete, bring back, undo, add; as on the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.timer import Timer
from textual.widgets import Static

from infospace.core.errors import InfospaceError, Invalid
from infospace.core.resources import Note
from infospace.editing.edit import bring_back, edit, give_name, keep, remove
from infospace.editing.undo import describe, undo
from tui.base_screen import Place
from tui.dialogs.common import Confirm, Line
from tui.dialogs.edit_text import Revising
from tui.runtime.import_job import Adding
from tui.screens.notes.external_editor import Draft
from tui.tables.resource_context import ResourceDetail
from tui.text.paths import path_of

LONGEST = 100_000
"""Characters of a note that is edited here; a longer one goes to the user's editor."""
LOOK = 0.2
"""Seconds between two looks at how far adding is."""


class NoteDeeds(Place):
    """A place with notes that can be changed. `undoable` are the runs of what was done here, the latest last."""

    def __init__(self) -> None:
        super().__init__()
        self.undoable: list[str] = []
        self._writing = asyncio.Lock()
        """Held while something is written: what is undone is what was done before."""
        self._adding: Adding | None = None
        self._ticking: Timer | None = None

    @property
    def around(self) -> ResourceDetail | None:
        """What is shown, with all around it."""
        raise NotImplementedError

    def follow(self, identifier: str, version: int | None) -> None:
        """Show something else, at a version or as it is now."""
        raise NotImplementedError

    def changed(self) -> None:
        """Look again, since something was changed."""
        raise NotImplementedError

    def _chosen(self) -> ResourceDetail | None:
        if self.around is None:
            self.notify("Nothing is shown.", severity="warning")
        return self.around

    def _write(self, write: Callable[[], str | None], message: str) -> None:
        """Change something in a thread, and say so; another deed that is begun meanwhile does not end that."""
        self.do(self._written, write, message, group="write", exclusive=False)

    async def _written(self, write: Callable[[], str | None], message: str) -> None:
        async with self._writing:
            self._done(await asyncio.to_thread(write), message)

    def _done(self, run: str | None, message: str) -> None:
        """Say what was done, and that it can be undone."""
        if run is None:
            self.notify("Nothing is different.")
        else:
            self.undoable.append(run)
            self.notify(f"{message} u undoes it.", markup=False)
        self.changed()

    # Editing

    def _editable(self) -> tuple[Note, ResourceDetail] | None:
        around = self._chosen()
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

    def action_edit(self) -> None:
        """Edit what is shown here."""
        self.ask_for(self._edit, group="deed")

    async def _edit(self) -> None:
        found = self._editable()
        if found is None:
            return
        note, around = found
        if around.brief.size > LONGEST:
            hint = "E opens it in your editor"
            raise Invalid(f"{note.id} has {around.brief.size:,} characters, too many to be edited here", hint=hint)
        draft = await asyncio.to_thread(Draft, note)
        runs: list[str | None] = []

        async def save(text: str) -> None:
            def kept() -> str | None:
                draft.write(text)
                return edit(self.infospace.space.store, note, *draft.read(), f"edit {note.id}")

            runs.append(await asyncio.to_thread(kept))

        language, text, own = "json" if draft.is_json else "markdown", draft.text, str(note.content)
        front = len(text) - len(own) if not draft.is_json and text.endswith(own) else 0
        try:
            if await self.app.push_screen_wait(Revising(note.id, text, save, language=language, before=front)):
                self._done(runs[-1], f"Saved {note.id}.")
        finally:
            draft.forget()

    def action_edit_outside(self) -> None:
        """Edit what is shown in the user's editor."""
        self.do(self._edit_outside, group="outside", exclusive=False)

    async def _edit_outside(self) -> None:
        found = self._editable()
        if found is None:
            return
        note, _ = found
        draft = await asyncio.to_thread(Draft, note)
        try:
            with self.app.suspend():
                draft.edit()
        except SuspendNotSupported:
            draft.forget()
            raise Invalid("no editor can be opened from here", hint="e edits it here") from None
        except InfospaceError:
            draft.forget()
            raise
        try:
            run = await asyncio.to_thread(
                lambda: edit(self.infospace.space.store, note, *draft.read(), f"edit {note.id}")
            )
        except InfospaceError as error:
            raise draft.saved(error) from None
        draft.forget()
        self._done(run, f"Saved {note.id}.")

    # Names, and what is kept

    def action_name(self) -> None:
        """Ask for a name."""
        self.ask_for(self._rename, group="deed")

    async def _rename(self) -> None:
        around = self._chosen()
        if around is None:
            return
        brief, detail = around.brief, "A name keeps it. An empty one takes the name away."
        name = await self.app.push_screen_wait(Line(f"Name of {brief.id}", detail, brief.name or ""))
        if name is None or name.strip() == (brief.name or ""):
            return
        name = name.strip()
        message = f"{brief.id} is named {name!r}." if name else f"{brief.id} has no name."
        self._write(partial(give_name, self.infospace.space.store, brief.id, name), message)

    def action_keep(self) -> None:
        """Keep what a run made."""
        self.do(self._keep, group="deed")

    async def _keep(self) -> None:
        around = self._chosen()
        if around is None:
            return
        if around.brief.kept:
            self.notify(f"{around.brief.id} is kept already.")
            return
        self._write(partial(keep, self.infospace.space.store, around.brief.id), f"{around.brief.id} is kept.")

    # Deleting and bringing back

    def action_delete(self) -> None:
        """Delete what is shown; it can be undone."""
        self.do(self._delete, group="deed")

    async def _delete(self) -> None:
        around = self._chosen()
        if around is None:
            return
        identifier = around.brief.id
        if around.gone is not None:
            self.notify(f"{identifier} is deleted already. r on one of its versions brings it back.")
            return
        gone = partial(remove, self.infospace.space.store, [identifier], f"rm {identifier}")
        self._write(gone, f"Deleted {identifier}.")

    def action_restore(self) -> None:
        """Make the version that is chosen the current one."""
        self.do(self._restore, group="deed")

    async def _restore(self) -> None:
        around, version = self._chosen(), self.version_chosen
        if around is None:
            return
        if version is None or (version == around.latest and around.gone is None):
            self.notify("Choose an earlier version on the tab Versions.", severity="warning")
            return
        identifier = around.brief.id
        back = partial(bring_back, self.infospace.space.store, identifier, version)
        self._write(back, f"{identifier} is as it was at version {version}.")

    @property
    def version_chosen(self) -> int | None:
        """The version that would be brought back."""
        raise NotImplementedError

    def action_undo(self) -> None:
        """Undo what was done last here; again, what was done before that."""
        self.do(self._undo, group="write", exclusive=False)

    async def _undo(self) -> None:
        async with self._writing:
            if not self.undoable:
                self.notify("Nothing was done here that could be undone. Runs are undone by `infospace undo`.")
                return
            run = self.undoable[-1]
            undone = await asyncio.to_thread(undo, self.infospace.space.store, run)
            self.undoable.remove(run)
        self.notify(f"{run} is undone: {', '.join(describe(undone))}.", markup=False)
        self.changed()
        back = [*undone.restored, *undone.reverted]
        if back:
            around = self.around
            self.follow(around.brief.id if around is not None and around.brief.id in back else back[0], None)

    # Adding

    def action_add(self) -> None:
        """Ask for files, and add them; while they are added, offer to end that."""
        self.ask_for(self._add if self._adding is None else self._end_adding, group="adding", exclusive=False)

    async def _end_adding(self) -> None:
        adding, detail = self._adding, "What was added stays, and adding the same again goes on."
        if await self.app.push_screen_wait(Confirm("End adding?", detail, yes="End it")) and adding is not None:
            adding.end()

    async def _add(self) -> None:
        given = await self._path_to_add()
        if not given:
            return
        adding = self._adding = Adding(self.infospace.space, [given])
        self._ticking = self.set_interval(LOOK, self._tick)
        self._tick()
        try:
            await asyncio.to_thread(adding.run)
        finally:
            self._adding = None
            self._ticking.stop()
            self._tick()
        self.notify(f"{adding.report()}.", markup=False, severity="warning" if adding.summary.failed else "information")
        if adding.summary.run is not None:
            self.undoable.append(adding.summary.run)
        self.changed()

    async def _path_to_add(self) -> str:
        """Ask for a path until there is something, "" where nothing is to be added; what was written stays."""
        detail = "Markdown, text, JSON, JSON Lines, CSV, HTML and PDF; of a folder, all that is in it. "
        detail += "Again takes only what changed."
        written = str(Path.cwd())
        while True:
            asked = Line("Add a file or a folder", detail, written)
            written = (await self.app.push_screen_wait(asked) or "").strip()
            if not written or await asyncio.to_thread(path_of(written).exists):
                return written
            self.notify(f"There is no file or folder {written!r}.", severity="warning", markup=False)

    def _tick(self) -> None:
        bar = self.query_one("#work", Static)
        bar.display = self._adding is not None
        bar.update("" if self._adding is None else f"adding: {self._adding.status_text}  [a, or a click, ends it]")
