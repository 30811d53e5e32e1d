"""Plans that compute as Plan, Step and Compose show them, at both sizes."""

from __future__ import annotations

import json
import time

import pytest
from computing import COMPUTED, compute
from drafts import at, offered
from drafts import compose as open_compose
from staging import BOTH, SIZES, Show, Stage

from infospace import Space


@pytest.fixture
def computed(space: Space, monkeypatch: pytest.MonkeyPatch) -> Space:
    """A space with a run that computes; times are told in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert compute(space, monkeypatch).status == "success"
    return space


class TestPicturesOfComputing:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_plan(self, show: Show, computed: Space, size: str) -> None:
        """All pages are one step; a loop has the items up to the one that ended it."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1")
            await stage.sees("1 pages → $orders", "Collection, 5 items", "4 query → $ranked", "item 2")
            assert "item 3" not in stage.text
            await stage.is_as(f"computed-plan-{size}")

        show(story, SIZES[size], computed)

    @BOTH
    def test_pages(self, show: Show, computed: Space, size: str) -> None:
        """What was asked of the tool page by page, how often, and the items of all pages."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1", "1", "step")
            await stage.sees("pages → $orders", "shop/list_orders", "$page", "Calls 3", "Bonn")
            await stage.is_as(f"computed-pages-{size}")

        show(story, SIZES[size], computed)

    @BOTH
    def test_query(self, show: Show, computed: Space, size: str) -> None:
        """The SELECT as it was written, what its table was, and its rows."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1", "4", "step")
            await stage.sees("query → $ranked", "SELECT city, spent", "$by was Collection_3, of step 3", "Oslo")
            await stage.is_as(f"computed-query-{size}")

        show(story, SIZES[size], computed)

    @BOTH
    def test_until(self, show: Show, computed: Space, size: str) -> None:
        """The condition that ended the loop stands among what it was called with."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1", "5", "step")
            await stage.sees("for-each → $firsts", "45.22", "24.4", "until", "$gross < 30")
            await stage.is_as(f"computed-until-{size}")

        show(story, SIZES[size], computed)

    @BOTH
    def test_compose(self, show: Show, computed: Space, size: str) -> None:
        """What is wrong with a SELECT and with `until` stands beside them; columns of the tables are offered."""
        written = (
            json.dumps(COMPUTED, indent=1).replace("$gross < 30", "$gros < 30").replace("SELECT city", "SELECT cty")
        )

        async def story(stage: Stage) -> None:
            place = await open_compose(stage, written)
            await stage.sees("there is no `cty` in `by`", "did you mean `city`?", "$gros is not bound")
            await stage.is_as(f"computed-compose-{size}")
            at(place, "SELECT c")
            await stage.press("ctrl+space")
            await offered(stage, "city")

        show(story, SIZES[size], computed)
