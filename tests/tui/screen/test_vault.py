"""A vault in the place Notes: folders and tags, paths, tasks and links, as people keep them."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from furnishing import BEGINNING
from noted import opened, place
from once import make_once
from pauses import BUSY, longest_pause
from staging import BOTH, SIZES, Show, Stage

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Note
from infospace.files.import_files import import_paths
from infospace.store.changes import Change, MakeNote, Track
from tui.tables.note_places import NotesFilter
from tui.widgets.lazy_table import LazyTable

VAULT = Path(__file__).parents[2] / "vault" / "notes"
DAY = "2026-11-24"


@pytest.fixture(scope="session")
def vault_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space file with the vault of notes, imported once for all processes that test side by side."""

    def make(folder: Path) -> None:
        shutil.copytree(VAULT, folder / "vault")
        for file in (folder / "vault").rglob("*.md"):
            os.utime(file, (BEGINNING, BEGINNING))
        with open_space(folder / "space.db") as space:
            import_paths(space, [folder / "vault"], NullListener())

    return make_once(tmp_path_factory, "vault", make) / "space.db"


@pytest.fixture
def vault(vault_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Space]:
    """A space with the vault of notes, on the day that it is about."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr("tui.tables.notes_table.today", lambda: DAY)
    monkeypatch.setattr("tui.widgets.details.resource.today", lambda: DAY)
    with open_space(Path(shutil.copy(vault_file, tmp_path / "vault.db"))) as space:
        yield space


def note_of(space: Space, path: str) -> Note:
    """Return the note of a file."""
    with space.store.reading() as snapshot:
        found = snapshot.get(next(one.note for one in snapshot.tracked() if one.path == path))
    assert isinstance(found, Note)
    return found


async def narrowed(stage: Stage, text: str) -> None:
    """Choose a folder or a tag by typing."""
    await stage.press("f")
    await stage.sees("Which notes?")
    await stage.write(text)
    await stage.press("enter")
    await stage.until(lambda: stage.app.screen is stage.app.place)


def paths(stage: Stage) -> list[str]:
    """Return the paths that are listed and were read."""
    notes = place(stage).notes
    briefs = [notes.brief(one) for one in notes.ids]
    return [brief.location.path for brief in briefs if brief is not None and brief.location is not None]


@BOTH
def test_a_folder_and_a_tag_narrow_the_list_and_escape_widens_it(show: Show, vault: Space, size: str) -> None:
    """Both count together; what is typed then is searched for in these notes alone."""

    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes", "path")
        await narrowed(stage, "projects/")
        await stage.sees("10 kept notes in Projects/", "Projects/Website.md")
        assert all(path.startswith("Projects/") for path in paths(stage))
        await narrowed(stage, "#project/home")
        await stage.sees("4 kept notes in Projects/ #project/home")
        await stage.press("slash")
        await stage.write("glass")
        await stage.until(lambda: bool(place(stage).notes.listed.hits) and "Projects/Greenhouse.md" in paths(stage))
        home = {f"Projects/{name}.md" for name in ("Boat", "Garden", "Greenhouse", "House")}
        assert set(paths(stage)) <= home
        await stage.press("escape", "escape", "escape")
        await stage.until(lambda: len(place(stage).notes) == 69)
        assert "folder ▾" in stage.text

    show(story, SIZES[size], vault)


def test_the_filter_is_named_where_it_narrows_the_list(show: Show, vault: Space) -> None:
    """Not beside collections, which lie in no folder; it counts again for what does."""

    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        await narrowed(stage, "projects/")
        await stage.sees("10 kept notes in Projects/", "Projects/ ▾")
        await stage.press("v", "v")
        await stage.until(lambda: place(stage).notes.listed.sought.what == "collections" and "folder ▾" in stage.text)
        assert "Projects/ ▾" not in stage.text
        await stage.press("v", "v", "v")
        await stage.sees("tasks in Projects/", "Projects/ ▾")

    show(story, on=vault)


def test_choosing_what_counts_already_takes_it_away(show: Show, vault: Space) -> None:
    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        await narrowed(stage, "recipes")
        await stage.sees("6 kept notes in Recipes/")
        await stage.press("f")
        await stage.sees("● ", "Which notes?")
        await stage.press("enter")
        await stage.sees("69 kept notes")

    show(story, on=vault)


def test_all_tasks_are_listed_and_one_is_set_done_and_undone(show: Show, vault: Space) -> None:
    """One character of the text changes; the list stays where it was."""
    before = note_of(vault, "Projects/Greenhouse.md")

    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        await narrowed(stage, "projects/")
        await stage.press("shift+tab", "escape")
        for _ in range(5):
            await stage.press("v")
        await stage.sees("open of 18 tasks in Projects/", "☐ Order glass", "2026-11-10")
        tasks = place(stage).notes.listed.tasks
        at = next(index for index, task in enumerate(tasks) if task.text.startswith("Order glass"))
        place(stage).grid.cursor = at
        await stage.until(lambda: place(stage).around is not None and place(stage).around.resource.id == before.id)
        await stage.press("x")
        await stage.until(lambda: note_of(vault, "Projects/Greenhouse.md").version == 2)
        await stage.until(
            lambda: not any(task.open for task in place(stage).notes.listed.tasks if "glass" in task.text)
        )
        assert place(stage).grid.cursor == at
        changed = str(note_of(vault, "Projects/Greenhouse.md").content)
        assert changed == str(before.content).replace("- [ ] Order glass", "- [x] Order glass")
        await stage.press("u")
        await stage.until(lambda: note_of(vault, "Projects/Greenhouse.md").content == before.content)

    show(story, on=vault)


def test_the_tasks_of_a_note_stand_beside_it_and_are_set_done(show: Show, vault: Space) -> None:
    """With their section, line and due date; enter sets one done, enter again sets it to be done."""
    house = note_of(vault, "Projects/House.md")

    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        stage.app.open_note(house.id)
        await stage.sees("Tasks 2/2", "Projects/House.md")
        await stage.press(*["right_square_bracket"] * 3, "enter")
        await stage.sees("☐ Ask for offers", "2026-11-20", "☐ Insure it")
        grid = stage.app.screen.query_one("#todo", LazyTable)
        await stage.until(lambda: grid.has_focus)
        await stage.press("down", "enter")
        await stage.sees("☑ Insure it", "Tasks 1/2")
        assert "- [x] Insure it" in str(note_of(vault, "Projects/House.md").content)
        await stage.press("x")
        await stage.sees("☐ Insure it", "Tasks 2/2")
        assert note_of(vault, "Projects/House.md").content == house.content

    show(story, (160, 50), vault)


def test_links_out_and_in_are_followed_and_those_to_nothing_are_told(show: Show, vault: Space) -> None:
    boat = note_of(vault, "Projects/Boat.md")

    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        stage.app.open_note(boat.id)
        await stage.sees("Projects/Boat.md")
        await stage.press("right_square_bracket")
        await stage.sees("folder   Projects", "due: 2026-08-01  date", "rank: 1  number")
        await stage.press("right_square_bracket", "enter")
        ties = place(stage).around.ties if place(stage).around is not None else ()
        at = next(index for index, tie in enumerate(ties) if tie.title == "House")
        grid = stage.app.screen.query_one("#ties", LazyTable)
        await stage.until(lambda: grid.has_focus and len(grid.rows) == len(ties) + 1)
        assert "Unwritten idea" in stage.text
        grid.cursor = at
        await stage.press("enter")
        await stage.sees("Projects/House.md", "← ")
        await stage.press("b")
        await stage.sees("Projects/Boat.md", "Unwritten idea")

    show(story, (160, 50), vault)


def test_x_without_a_task_says_where_they_are(show: Show, vault: Space) -> None:
    async def story(stage: Stage) -> None:
        await opened(stage, "69 kept notes")
        await stage.press("x")
        await stage.until(lambda: any("they stand on the tab Tasks" in one for one in stage.said()))

    show(story, on=vault)


def test_a_large_vault_does_not_hold_up_the_keys(show: Show, space: Space) -> None:
    """10,000 notes of files, 30,000 tasks: what opening, moving, narrowing and listing tasks compute in one go."""
    ids = filled(space, 10_000)
    assert len(ids) == 10_000

    async def story(stage: Stage) -> None:
        async def going() -> None:
            await opened(stage, "10,000 kept notes", "area 24/part")
            await stage.press(*["down"] * 40, "end", "pageup", "home")
            await stage.until(lambda: place(stage).grid.cursor == 0)
            await narrowed(stage, "area 7/part 3")
            await stage.sees("20 kept notes in area 7/part 3/")
            await stage.press("shift+tab", "escape")
            for _ in range(5):
                await stage.press("v")
            await stage.sees("40 open of 60 tasks")
            place(stage).narrow(NotesFilter())
            await stage.sees("20,000 open of 30,000 tasks")
            await stage.press(*["down"] * 40)

        longest = await longest_pause(going())
        assert longest < 0.15 * BUSY, f"the screen was held up for {longest:.2f} s"

    show(story, (160, 50), space)


def filled(space: Space, notes: int) -> list[str]:
    """Make notes as an import does, each with its file, its tasks and its folder."""
    ids = [space.store.new_id(Kind.NOTE) for _ in range(notes)]
    for start in range(0, notes, 1_000):
        changes: list[Change] = []
        for number in range(start, start + 1_000):
            text = f"# About {number}\n\n- [ ] Call 📅 2026-01-0{number % 9 + 1}\n- [x] Write\n- [ ] Look\n"
            path = f"area {number % 25}/part {number // 25 % 20}/note {number}.md"
            changes += [MakeNote(ids[number], text, {}, kept=True), Track("/vault", path, ids[number], b"", 1)]
        space.store.commit(sorted(changes, key=lambda change: isinstance(change, Track)))
    return ids


class TestPictures:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_tasks(self, show: Show, vault: Space, size: str) -> None:
        """All tasks, and beside them those of one note."""

        async def story(stage: Stage) -> None:
            await opened(stage, "69 kept notes")
            await narrowed(stage, "projects/")
            await stage.sees("10 kept notes in Projects/")
            for _ in range(5):
                await stage.press("v")
            await stage.sees("open of 18 tasks", "Tasks 2/2", "Find a berth")
            await stage.until(lambda: place(stage).detail.chosen_task is not None)
            await stage.is_as(f"notes-vault-tasks-{size}")

        show(story, SIZES[size], vault)

    @BOTH
    def test_folders(self, show: Show, vault: Space, size: str) -> None:
        """Folders and tags as trees, with how many notes each has."""

        async def story(stage: Stage) -> None:
            await opened(stage, "69 kept notes")
            await stage.press("f")
            await stage.sees("Which notes?", "Recipes/")
            await stage.is_as(f"notes-folders-{size}")

        show(story, SIZES[size], vault)

    @BOTH
    def test_vault(self, show: Show, vault: Space, size: str) -> None:
        """Notes of a folder with their paths."""

        async def story(stage: Stage) -> None:
            await opened(stage, "69 kept notes")
            await narrowed(stage, "#project/home")
            await stage.sees("4 kept notes in #project/home", "Projects/Boat.md", "Work on house")
            await stage.is_as(f"notes-vault-{size}")

        show(story, SIZES[size], vault)
