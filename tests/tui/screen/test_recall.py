"""What a search misses, estimated on the place Notes: notes are drawn by chance, and a person says yes or no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from noted import opened
from staging import BOTH, SIZES, Show, Stage, gate

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Note
from infospace.editing.edit import edit, remove
from infospace.files.import_files import import_paths
from infospace.search.certainty.judging import RecallSample
from infospace.store.changes import MakeNote
from tui.dialogs.judge_notes import JudgeNotesDialog
from tui.dialogs.report import ReportDialog

QUERY = "how to bake bread"


@pytest.fixture
def bakery(space: Space, model: Any, tmp_path: Path) -> Space:
    """A space of 4 notes on bread and 8 on ships."""
    del model
    folder = tmp_path / "bakery"
    folder.mkdir()
    for at in range(4):
        (folder / f"bread {at}.md").write_text(f"Sourdough bread wants flour, water and salt, {at}.")
    for at in range(8):
        (folder / f"ship {at}.md").write_text(f"Ship {at} left the harbour in the morning.")
    import_paths(space, [folder], NullListener())
    return space


async def searched(stage: Stage, query: str = QUERY, among: str = "12 kept notes") -> None:
    """Type what is looked for, and go to the list."""
    await opened(stage, among)
    await stage.press("slash")
    await stage.write(query)
    await stage.press("down")
    stage.expects_nothing_new()
    await stage.until(lambda: stage.app.place.notes.listed.sought.query == query, query)


def asking(stage: Stage) -> JudgeNotesDialog | None:
    """Return the dialog where it asks about a note."""
    screen = stage.app.screen
    return screen if isinstance(screen, JudgeNotesDialog) and screen._drawn is not None else None


async def asked(stage: Stage) -> str:
    """Wait until a note is to be judged; return its title."""
    await stage.until(lambda: asking(stage), "a note to be judged")
    dialog = asking(stage)
    assert dialog is not None
    assert dialog._drawn is not None
    return dialog._drawn.title


async def judged(stage: Stage, count: int) -> list[str]:
    """Judge so many notes as somebody does who looks for bread; return their titles."""
    titles = []
    for _ in range(count):
        titles.append(await asked(stage))
        await stage.press("y" if "bread" in titles[-1] else "n")
    return titles


async def told(stage: Stage) -> str:
    """Wait for the estimate; return what is on the screen."""
    await stage.until(lambda: isinstance(stage.app.screen, ReportDialog), "the estimate")
    return stage.text


def note_of(space: Space, title: str) -> Note:
    """Return the note of a title."""
    with space.store.reading() as snapshot:
        notes = [f"Note_{number}" for number in snapshot.numbers("Note", kept=True)]
        found = next(brief.id for brief in snapshot.briefs(notes) if brief.title == title)
    note = space.store.get(found)
    assert isinstance(note, Note)
    return note


def test_a_person_says_yes_and_no(show: Show, bakery: Space) -> None:
    """Each note is shown once, with its title and its text; all judged, recall is known exactly."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        await asked(stage)
        await stage.sees(f"Is it right for “{QUERY}”?", "Note 1 of 12")
        titles = await judged(stage, 12)
        assert len(set(titles)) == 12
        text = await told(stage)
        assert "recall 1.00 (95 %: 1.00 to 1.00), by 12 judged" in text
        assert "All notes are judged." in text
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.sees("recall 1.00 (95 %: 1.00 to 1.00); ")
        ship = note_of(bakery, "ship 0")
        edit(bakery.store, ship, "It sank.", ship.metadata, "edit")
        await stage.loses("recall 1.00")

    show(story, SIZES["160x50"], bakery)


def test_what_was_judged_is_kept_when_it_is_ended_early(show: Show, bakery: Space) -> None:
    """The estimate so far is told; the same search goes on where it was left."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        titles = await judged(stage, 5)
        await asked(stage)
        await stage.press("escape")
        text = await told(stage)
        assert "by 5 judged" in text
        assert "7 notes not judged yet" in text
        await stage.press("escape", "R")
        titles += await judged(stage, 1)
        await stage.sees("Note 7 of 12")
        titles += await judged(stage, 6)
        assert len(set(titles)) == 12
        assert "recall 1.00 (95 %: 1.00 to 1.00), by 12 judged" in await told(stage)

    show(story, SIZES["160x50"], bakery)


def test_too_little_is_told_as_such(show: Show, bakery: Space) -> None:
    """Where nothing was judged, nothing is said."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        await asked(stage)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        assert not stage.said()
        await stage.press("R")
        await judged(stage, 1)
        await asked(stage)
        await stage.press("escape")
        await stage.until(lambda: any("too few were judged" in one for one in stage.said()))

    show(story, SIZES["160x50"], bakery)


def test_another_threshold_asks_nothing_twice(show: Show, bakery: Space) -> None:
    """Whether a note is right does not depend on how it is searched."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        await judged(stage, 12)
        await told(stage)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        matched = stage.app.place.notes.listed.matched
        stage.app.place._threshold = 0.99
        stage.app.place.search_now()
        await stage.until(lambda: stage.app.place.notes.listed.matched < matched, "fewer hits")
        await stage.press("R")
        text = await told(stage)
        assert "recall 0.00 (95 %: 0.00 to 0.00), by 12 judged" in text

    show(story, SIZES["160x50"], bakery)


def test_a_slip_is_mended_by_going_back(show: Show, bakery: Space) -> None:
    """What was said is told, and what is said then counts."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        first = await asked(stage)
        await stage.press("b")
        await stage.until(lambda: any("the first note" in one for one in stage.said()))
        await stage.press("n" if "bread" in first else "y")
        second = await asked(stage)
        await stage.press("b")
        await stage.until(lambda: asking(stage) and asking(stage)._drawn.title == first, first)
        await stage.sees("You said: not right." if "bread" in first else "You said: right.")
        await stage.press("y" if "bread" in first else "n")
        await stage.until(lambda: asking(stage) and asking(stage)._drawn.title == second, second)
        await judged(stage, 11)
        assert "recall 1.00 (95 %: 1.00 to 1.00), by 12 judged" in await told(stage)

    show(story, SIZES["160x50"], bakery)


def test_what_others_change_meanwhile_is_asked_as_it_is_now(show: Show, bakery: Space) -> None:
    """A note that was deleted is not asked about; one that has another version is, though the one before was judged."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        (first,) = await judged(stage, 1)
        second = await asked(stage)
        dialog = asking(stage)
        assert dialog is not None
        third = dialog._order[2]
        remove(bakery.store, [third], "rm")
        judged_before = note_of(bakery, first)
        edit(bakery.store, judged_before, f"{judged_before.content} And more.", judged_before.metadata, "edit")
        titles = [second, *(await judged(stage, 10))[1:]]
        assert first not in titles
        assert "by 11 judged" in await told(stage)
        await stage.press("escape", "R")
        assert await asked(stage) == first

    show(story, SIZES["160x50"], bakery)


def test_no_key_judges_what_nobody_has_seen(show: Show, bakery: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that comes while the next note is read counts for none."""
    held, read = gate(), RecallSample.read
    seen: list[str] = []

    def slowly(self: RecallSample, snapshot: Any, note: str) -> Any:
        seen.append(note)
        assert len(seen) < 2 or held.wait(60)
        return read(self, snapshot, note)

    monkeypatch.setattr(RecallSample, "read", slowly)

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        await asked(stage)
        await stage.press("n", "y", "y", "b", "y")
        sample, judgements = stage.app.screen._sample, stage.app.screen._judgements
        assert (sample.judged, list(judgements.values())) == (1, [False])
        held.set()
        await asked(stage)
        await stage.sees("Note 2 of 12")
        assert (sample.judged, list(judgements.values())) == (1, [False])

    show(story, SIZES["160x50"], bakery)


def test_all_of_a_note_is_shown_when_its_passage_is_not_enough(show: Show, space: Space, model: Any) -> None:
    """`z` goes on to the whole text, and back."""
    del model
    ships = "\n\n".join(f"Ship {at} left the harbour at dawn. " * 12 for at in range(12))
    text = f"Sourdough bread wants flour, water and salt.\n\n{ships}\n\nThe last line is about nothing."
    space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), text, kept=True)])

    async def story(stage: Stage) -> None:
        await searched(stage, among="1 kept note")
        await stage.press("R")
        await asked(stage)
        await stage.sees("Sourdough bread wants flour")
        body = stage.app.screen.query_one("#text")
        short = body.virtual_size.height
        await stage.press("z")
        await stage.until(lambda: body.virtual_size.height > short, "the whole note")
        await stage.press("end")
        await stage.sees("The last line is about nothing.")
        await stage.press("z")
        await stage.until(lambda: body.virtual_size.height == short, "the passage")
        await stage.sees("Sourdough bread wants flour")

    show(story, SIZES["160x50"], space)


@pytest.mark.parametrize(
    ("keys", "query"), [((), ""), (("v",), "bread")], ids=["without a query", "among other things"]
)
def test_only_a_search_of_notes_can_miss_some(show: Show, bakery: Space, keys: tuple[str, ...], query: str) -> None:
    """Elsewhere that is said."""

    async def story(stage: Stage) -> None:
        await (searched(stage, query) if query else opened(stage, "12 kept notes"))
        await stage.press(*keys, "R")
        await stage.until(lambda: any("only a search of notes can miss some" in one for one in stage.said()))

    show(story, SIZES["160x50"], bakery)


@BOTH
def test_pictures(show: Show, bakery: Space, size: str) -> None:
    """A note to be judged, and the estimate."""

    async def story(stage: Stage) -> None:
        await searched(stage)
        await stage.press("R")
        await judged(stage, 6)
        await asked(stage)
        await stage.sees("Note 7 of 12")
        await stage.is_as(f"notes-recall-{size}")
        await stage.press("escape")
        await told(stage)
        await stage.is_as(f"notes-recall-estimate-{size}")

    show(story, SIZES[size], bakery)
