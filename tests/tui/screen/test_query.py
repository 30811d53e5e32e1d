"""Asking the notes one SELECT in the place Notes: completed, told what is wrong, shown as a table, kept."""

from __future__ import annotations

from noted import opened
from staging import SIZES, SMALL, Show, Stage
from textual.widgets import Input

from infospace import Space
from infospace.core.resources import Collection
from planner.execute.start import run_sync
from planner.parse.saved_plans import load_plan
from tui.widgets.lazy_table import LazyTable

TITLES = "SELECT title, words FROM notes WHERE words > 12 ORDER BY title"


async def asking(stage: Stage) -> Input:
    """Open the line."""
    await opened(stage, "8 kept notes")
    await stage.press("S")
    await stage.sees("enter asks; → completes")
    return stage.app.screen.query_one(Input)


def named(space: Space, name: str) -> str | None:
    with space.store.reading() as snapshot:
        return snapshot.named(name)


def test_the_rows_of_a_query_are_a_table(show: Show, stocked: Space) -> None:
    """With the keyboard alone, in 80 columns; a click on a title sorts."""

    async def story(stage: Stage) -> None:
        await asking(stage)
        await stage.write(TITLES)
        await stage.press("enter")
        await stage.sees("How bread rises", "2 rows")
        await stage.press("down")
        grid = stage.app.screen.query_one(LazyTable)
        await stage.until(lambda: grid.has_focus)
        await stage.press("end")
        assert grid.cursor == 1
        grid.post_message(LazyTable.Titled(grid, 2))
        await stage.sees("words ▲")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen.query_one(Input).has_focus)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story, on=stocked)


def test_a_table_a_column_a_property_and_a_value_are_completed(show: Show, stocked: Space) -> None:
    """What may stand there is listed below the line, and → takes the first."""

    async def story(stage: Stage) -> None:
        field = await asking(stage)
        await stage.write("SELECT tit")
        await stage.press("right")
        await stage.until(lambda: field.value == "SELECT title")
        await stage.write(" FROM ")
        await stage.press("right")
        await stage.write(" WHERE wo")
        await stage.sees("SELECT title FROM notes WHERE words")
        await stage.press("right")
        await stage.write(" > 30")
        assert field.value == "SELECT title FROM notes WHERE words > 30"
        await stage.press("enter")
        await stage.sees("How bread rises", "2 rows")

    show(story, on=stocked)


def test_what_is_wrong_stands_beside_the_line(show: Show, stocked: Space) -> None:
    """And is gone when somebody goes on writing; what is doubtful is told with the rows."""

    async def story(stage: Stage) -> None:
        field = await asking(stage)
        await stage.write("SELECT titel FROM notes WHERE")
        await stage.press("enter")
        await stage.sees("`sql` ends where an expression of WHERE was expected")
        await stage.press("backspace", *["backspace"] * 5)
        await stage.loses("was expected")
        await stage.press("enter")
        await stage.sees("no note has a property `titel`", "8 rows")
        field.value = "SELECT title FROM notes WHERE content > 3"
        await stage.press("enter")
        await stage.sees("4 of 8 compare text with number", "0 rows")

    show(story, on=stocked)


def test_the_rows_are_kept_as_a_collection_and_undone(show: Show, stocked: Space) -> None:
    async def story(stage: Stage) -> None:
        await asking(stage)
        await stage.write(TITLES)
        await stage.press("enter")
        await stage.sees("2 rows")
        await stage.press("ctrl+s")
        await stage.sees("A name for the rows")
        await stage.write("long")
        await stage.press("enter")
        await stage.until(lambda: any("Kept as long" in one for one in stage.said()))
        kept = stocked.store.get(named(stocked, "long") or "")
        assert isinstance(kept, Collection)
        assert len(kept) == 2
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.press("u")
        await stage.until(lambda: named(stocked, "long") is None)

    show(story, on=stocked)


def test_a_query_is_saved_as_a_plan(show: Show, stocked: Space) -> None:
    """Which gives the rows when it is run. A select in the field of the place opens the line, too."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("slash")
        await stage.write(TITLES)
        await stage.press("enter")
        await stage.sees("2 rows")
        await stage.press("ctrl+t")
        await stage.sees("A name for the plan")
        await stage.write("longest")
        await stage.press("enter")
        await stage.until(lambda: any("Saved as plan:longest" in one for one in stage.said()))

    show(story, on=stocked)
    assert load_plan(stocked, "longest")
    ran = run_sync(stocked, [{"type": "plan:longest", "out": "$rows"}])
    assert ran.result is not None
    assert [row["title"] for row in ran.result.data] == ["Bread in short", "How bread rises"]


def test_a_row_leads_to_its_note(show: Show, stocked: Space) -> None:
    """By the first id in it; a row without one says what has ids."""

    async def story(stage: Stage) -> None:
        await asking(stage)
        await stage.write("SELECT title FROM notes WHERE title = 'Sourdough'")
        await stage.press("enter")
        await stage.sees("1 row")
        await stage.press("down", "enter")
        await stage.until(lambda: any("This row has no id" in one for one in stage.said()))
        await stage.press("escape")
        stage.app.screen.query_one(Input).value = "SELECT title, @id FROM notes WHERE title = 'Sourdough'"
        await stage.press("enter")
        await stage.sees("Note_2")
        await stage.press("down", "enter")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.sees("Note_2 'sourdough' Sourdough")

    show(story, on=stocked)


class TestPictures:
    """What is on the screen is what is in the picture."""

    @SMALL
    def test_rows(self, show: Show, stocked: Space, size: str) -> None:
        """The line, its rows, and how many there are."""

        async def story(stage: Stage) -> None:
            await asking(stage)
            await stage.write("SELECT title, words, tags FROM notes ORDER BY words DESC")
            await stage.press("enter")
            await stage.sees("How bread rises", "8 rows")
            await stage.is_as(f"notes-query-{size}")

        show(story, SIZES[size], stocked)

    @SMALL
    def test_offers(self, show: Show, stocked: Space, size: str) -> None:
        """What may stand at the end of the line."""

        async def story(stage: Stage) -> None:
            await asking(stage)
            await stage.write("SELECT title FROM notes WHERE t")
            await stage.sees("title  tags  text")
            await stage.is_as(f"notes-query-offers-{size}")

        show(story, SIZES[size], stocked)
