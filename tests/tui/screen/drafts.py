"""The place Compose on the stage: a text in it, its cursor, and what is offered there."""

from __future__ import annotations

from furnishing import note
from staging import Stage

from tui.screens.compose.compose import Compose
from tui.widgets.editor.completion_popup import CompletionPopup

ITEMS = {"type": "create-collection", "value": ["a", "b"], "out": "$items"}
LOOP = {"type": "for-each", "target": "$items", "do": [note("${item}!", "$loud")], "out": "$all"}
SIZE = {"type": "size", "target": "$all", "out": "$n"}
PLAN = {"goal": "Count them", "steps": [ITEMS, LOOP, SIZE, note("${n} of them", "$end")], "result": "$end"}


async def compose(stage: Stage, text: str | None = None) -> Compose:
    """Go to the place, perhaps with a text in it, and wait until it is checked."""
    await stage.app.action_go("compose")
    await stage.until(lambda: isinstance(stage.app.place, Compose) and stage.app.place.is_mounted)
    place = stage.app.place
    assert isinstance(place, Compose)
    if text is not None:
        place.files.open_text("", text)
    await stage.until(lambda: place.draft.text == place.text, "the check")
    return place


async def edited(stage: Stage, goal: str) -> Compose:
    """Write on the plan of run_1, which has that goal, from the place Runs."""
    await stage.go("runs")
    await stage.sees(goal)
    await stage.press("o")
    await stage.sees("the plan of run_1", "✓ may run")
    place = stage.app.place
    assert isinstance(place, Compose)
    return place


def at(place: Compose, needle: str) -> None:
    """Put the cursor right after a text."""
    place.editor.go_to(place.text.index(needle) + len(needle))


async def offered(stage: Stage, label: str) -> None:
    """Wait until something is offered."""
    await stage.until(
        lambda: any(one.label == label for one in stage.app.screen.query_one(CompletionPopup)._offers), label
    )
    await stage.until(lambda: stage.app.screen.query_one(CompletionPopup).display)
