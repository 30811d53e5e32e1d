"""Where a draft comes from and goes to: files, saved plans, examples."""

from __future__ import annotations

import asyncio
import hashlib
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, InvalidJSON, NotFound
from infospace.data.json_text import MAX_BYTES, read_json
from infospace.files.atomic_write import write_atomically
from planner.editor import PLAN
from planner.parse.saved_plans import load_plan, save_plan, saved_plan, saved_plans
from tui.dialogs.common import ConfirmDialog, LineDialog
from tui.dialogs.open_plan import OpenPlanDialog, PlanSource
from tui.text.format import single_line
from tui.text.format_plan import format_plan, plan_document
from tui.text.paths import SAVED, lies_there, path_of, read_source

if TYPE_CHECKING:
    from tui.app import InfospaceApp
    from tui.screens.compose.compose import Compose

EXAMPLE = "example:"
EMPTY = PLAN.insert
TITLE = 40
"""Characters of a path that are shown on top."""


class DraftFiles:
    """Knows where the draft of a screen came from, opens others and saves it."""

    def __init__(self, screen: Compose) -> None:
        self._screen = screen
        self._file = ""
        """The path, or `plan:NAME`, that the draft was opened from or saved as; "" where it has none."""
        self._kept = ""
        """The digest of the text as it was then."""
        self._left: dict[str, tuple[str, str]] = {}
        """Of texts that were put here or left, by digest: what they were called, and what was kept then."""

    @property
    def _infospace(self) -> InfospaceApp:
        return self._screen.infospace

    def load(self) -> None:
        """Remember what the draft is called."""
        self._file = self._infospace.memory.get("compose.name", "")
        self._kept = self._infospace.memory.get("compose.kept", "")

    @property
    def title(self) -> str:
        """What the draft is called, with a star where it is not as it was kept; of a long path, the end."""
        name = self._file or "a draft"
        name = name if len(name) <= TITLE else f"…{name[1 - TITLE :]}"
        return f"{name} *" if self._file and _digest(self._screen.text) != self._kept else name

    def open_text(self, name: str, text: str) -> None:
        """Put another text here, which is called so; what was here can be brought back."""
        before = self._screen.text
        self._left[_digest(before)] = (self._file, self._kept)
        self._file, self._kept = name, _digest(text)
        self._left[self._kept] = (self._file, self._kept)
        # All of this is noted before the text is put in: `text_changed` looks it up when the message of that arrives.
        self._screen.forget()
        self._screen.editor.put(0, len(before), text, 0)
        self._remember_name()
        if before.strip() and before != text:
            self._screen.notify("^z brings back what was written here before.")
        self._screen.check_soon()
        self._screen.editor.focus()

    def text_changed(self) -> None:
        """Call a text that comes back as it was called."""
        known = self._left.get(_digest(self._screen.text)) if self._left else None
        if known is not None and known != (self._file, self._kept):
            self._file, self._kept = known
            self._remember_name()
            self._screen.render_status()

    def _remember_name(self) -> None:
        self._infospace.remember("compose.name", self._file)
        self._infospace.remember("compose.kept", self._kept)

    # Opening

    def ask_open(self) -> None:
        """Ask what is to be opened."""
        self._screen.ask_for(self._open, group="file")

    async def _open(self) -> None:
        sources = await asyncio.to_thread(self._sources)
        name = await self._screen.app.push_screen_wait(OpenPlanDialog(sources))
        if name is not None:
            await self.open(name)

    def _sources(self) -> list[PlanSource]:
        """Return what is listed; for a thread."""
        with self._infospace.space.store.reading() as snapshot:
            plans = {name: saved_plan(snapshot, name) for name in saved_plans(snapshot)}
        results = [PlanSource("", "to begin with")]
        results += [PlanSource(f"{SAVED}{name}", _goal(plan)) for name, plan in plans.items()]
        results += [PlanSource(f"{EXAMPLE}{name}", _goal(read_json(text))) for name, text in _examples().items()]
        return results

    async def open(self, name: str) -> None:
        """Open a file, `plan:NAME`, `example:NAME`, or "" for an empty plan."""
        if not name:
            self.open_text("", EMPTY)
            self._screen.editor.go_to(EMPTY.index('""') + 1)
        elif name.startswith(EXAMPLE):
            text = (await asyncio.to_thread(_examples)).get(name.removeprefix(EXAMPLE))
            if text is None:
                raise NotFound(f"there is no example {name!r}", hint="the list has them all")
            self.open_text("", text)
        elif name.startswith(SAVED):
            document = await asyncio.to_thread(load_plan, self._infospace.space, name.removeprefix(SAVED))
            self.open_text(name, format_plan(document))
        else:
            self.open_text(name, await asyncio.to_thread(_read, name))

    # Saving

    def ask_save(self) -> None:
        """Ask where it is to be kept."""
        self._screen.ask_for(self._save, group="save", exclusive=False)

    async def _save(self) -> None:
        detail = "the path of a file, or plan:NAME for a saved plan of this space"
        text = await self._screen.app.push_screen_wait(LineDialog("Save as", detail, self._file))
        name = (text or "").strip()
        if name.startswith(SAVED):
            await self._save_plan(name)
        elif name:
            await self._save_file(name)

    async def _save_file(self, name: str) -> None:
        text = self._screen.text
        replaces_another = name != self._file and await asyncio.to_thread(_is_there, name)
        question = f"{name} is there already. Replace it?"
        if replaces_another and not await self._screen.app.push_screen_wait(ConfirmDialog(question, yes="Replace")):
            return
        data = (text if text.endswith("\n") else f"{text}\n").encode()
        await asyncio.to_thread(_write, name, data)
        self._saved(name, text)

    async def _save_plan(self, name: str) -> None:
        draft = await self._screen.checked()
        if draft.document is None:
            raise InvalidJSON("what cannot be read as a plan cannot be saved as one", hint="save it to a file")
        if draft.errors:
            self._screen.notify("Only a plan that the check has passed is saved in the space.", severity="warning")
            self._screen.report_problems(draft)
            return
        space, short, document = self._infospace.space, name.removeprefix(SAVED), plan_document(draft)
        document = {"steps": document} if isinstance(document, list) else document
        try:
            await asyncio.to_thread(save_plan, space, short, document, replace=name == self._file)
        except Conflict:
            question = f"There is a saved plan {short!r} already. Make this its next version?"
            if not await self._screen.app.push_screen_wait(
                ConfirmDialog(question, "Earlier versions stay.", yes="Replace")
            ):
                return
            await asyncio.to_thread(save_plan, space, short, document, replace=True)
        self._saved(name, draft.text)

    def _saved(self, name: str, text: str) -> None:
        self._file, self._kept = name, _digest(text)
        self._remember_name()
        self._screen.render_status()
        self._screen.notify(f"Saved as {name}.", markup=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: str) -> str:
    """Return the text of a file; for a thread. Raises UsageError, InvalidJSON."""
    data = read_source(path)
    if len(data) > MAX_BYTES:
        raise InvalidJSON(f"{path!r} is {len(data):,} bytes long", hint=f"at most {MAX_BYTES:,} bytes are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"{path!r} is not UTF-8 text", hint="save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_there(path: str) -> bool:
    """Whether there is a file of that path; Conflict where it is a folder."""
    place = path_of(path)
    if not lies_there(place):
        return False
    if place.is_dir():
        raise Conflict(f"{path!r} is a folder", hint="a path that ends in the name of a file")
    return True


def _write(path: str, data: bytes) -> None:
    write_atomically(path_of(path), data)


def _examples() -> dict[str, str]:
    """Return the texts of the sample plans by name."""
    with as_file(files("tui") / "sample") as sample:
        return {path.stem: path.read_text(encoding="utf-8") for path in sorted((sample / "plans").glob("*.json"))}


def _goal(document: object) -> str:
    goal = document.get("goal", "") if isinstance(document, dict) else ""
    return single_line(goal) if isinstance(goal, str) else ""
