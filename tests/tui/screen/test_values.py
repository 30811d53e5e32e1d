"""What steps gave and variables were, in the places Step and Variables: as tables, and opened as notes."""

from __future__ import annotations

import pytest
from staging import Show, Stage

from infospace import Space
from planner.execute.start import run_sync
from tui.screens.notes.notes import Notes
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.lazy_table import LazyTable


@pytest.mark.parametrize("where", ["variables", "step"])
def test_what_a_step_gave_is_opened_in_notes(show: Show, space: Space, where: str) -> None:
    """The whole by a key, an item of a Collection by enter on it, and by a click."""
    items = ["flour", "water", "salt"]
    run = str(run_sync(space, [{"type": "create-collection", "value": items, "out": "$items"}]).run)

    async def story(stage: Stage) -> None:
        def shown() -> str | None:
            place = stage.app.place
            return place.around.resource.id if isinstance(place, Notes) and place.around is not None else None

        async def table() -> LazyTable:
            await stage.open(run, "1", where)
            await stage.sees("flour", "salt")
            data = stage.app.screen.query_one(ResourceData)
            await stage.until(lambda: data.shown is not None)
            return data.query_one(LazyTable)

        await table()
        await stage.press("v")
        await stage.until(lambda: shown() == "Collection_1", "the Collection")
        grid = await table()
        grid.focus()
        await stage.press("down", "enter")
        await stage.until(lambda: shown() == "Note_2", "the second item")
        grid = await table()
        await stage.pilot.click(grid, offset=(5, 3), times=2)
        await stage.until(lambda: shown() == "Note_3", "the third item")

    show(story, (160, 50))


def test_a_collection_is_a_table_that_is_sorted(show: Show, space: Space) -> None:
    """By a key, by a click on a title, upwards and downwards; the numbers as numbers."""
    rows = [{"name": name, "age": age} for name, age in (("Bo", 30), ("Ann", 4), ("cy", 100))]
    run = str(run_sync(space, [{"type": "create-collection", "value": rows, "out": "$people"}]).run)

    def column(stage: Stage, at: int) -> list[str]:
        grid = stage.app.screen.query_one("#value", ResourceData).query_one(LazyTable)
        widths = [99] * len(grid.columns)
        return [str(grid.rows.cells(row, widths)[at]) for row in range(len(grid.rows))]

    async def story(stage: Stage) -> None:
        await stage.open(run, None, "variables")
        await stage.sees("name", "age", "Ann")
        await stage.press("s", "s", "s")
        await stage.until(lambda: column(stage, 2) == ["Ann", "Bo", "cy"])
        await stage.press("s")
        await stage.until(lambda: column(stage, 3) == ["4", "30", "100"])
        grid = stage.app.screen.query_one("#value", ResourceData).query_one(LazyTable)
        grid.post_message(LazyTable.Titled(grid, 3))
        await stage.until(lambda: column(stage, 3) == ["100", "30", "4"])
        await stage.press("y")
        assert stage.app.clipboard.splitlines()[1].split("\t")[2:] == ["cy", "100"]
        await stage.press("w")
        await stage.sees("1  create-collection → $people")

    show(story, (160, 50))
