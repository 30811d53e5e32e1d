"""`filter-semantic`: the same items, judged side by side."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from typing import Any

import pytest
from chatting import Endpoint, Fail

from infospace import Space
from infospace.llm.model import Reply, Request

FILTER = {"type": "filter-semantic", "target": "$c", "predicate": "It is even.", "out": "$y"}


def numbers(count: int) -> dict[str, Any]:
    """A step that makes a Collection of numbers."""
    return {"type": "create-collection", "value": list(range(count)), "out": "$c"}


def even(body: dict[str, Any]) -> str:
    """Judge as asked."""
    found = re.search(r"<<<material \w+ \w+\n(\d+)\n", body["messages"][-1]["content"])
    return json.dumps({"value": found is not None and int(found[1]) % 2 == 0})


@pytest.mark.parametrize(("mode", "left"), [("include", [0, 2, 4, 6, 8]), ("exclude", [1, 3, 5, 7])])
def test_it_gives_the_same_items_in_their_order(run: Any, endpoint: Endpoint, mode: str, left: list[int]) -> None:
    """Those of which it is true, or the others; no copies."""
    endpoint.answers = even
    ran = run(numbers(9), {**FILTER, "mode": mode})
    assert ran.content("y") == left
    assert {item.id for item in ran.items("y")} <= {item.id for item in ran.items("c")}
    assert (ran.last.extra["item_count"], ran.last.extra["llm"]["calls"]) == (len(left), 9)


def test_four_items_are_judged_side_by_side(run: Any, endpoint: Endpoint) -> None:
    """No answer comes before four questions are there."""
    endpoint.together = threading.Barrier(4)
    run(numbers(12), FILTER)
    assert len(endpoint.requests) == 12


class Patient:
    """A language model of one's own, which answers after all who can ask have asked."""

    name, context = "patient", 100_000

    def __init__(self) -> None:
        self.there = self.most = 0

    async def complete(self, request: Request) -> Reply:
        """Answer in time."""
        del request
        self.there += 1
        for _ in range(100):
            await asyncio.sleep(0)
        self.most = max(self.most, self.there)
        self.there -= 1
        return Reply("true", 1)


def test_no_more_than_four_items_are_judged_side_by_side(space: Space, run: Any) -> None:
    """By a model that was put into the space, in the place of the one that the environment names."""
    model = space.language_model = Patient()
    run(numbers(12), FILTER)
    assert model.most == 4


def test_each_item_is_read_whole(run: Any, endpoint: Endpoint) -> None:
    """Whatever its length."""
    long = "begin " + "x" * 50_000 + " end"
    run({"type": "create-collection", "value": [long], "out": "$c"}, FILTER)
    assert f"\n{long}\n" in endpoint.prompts[0]


def test_search_results_stay_search_results(search: Any, endpoint: Endpoint) -> None:
    """Members are the same, and the check goes on knowing their fields."""
    find = {"type": "discover-notes", "query": "a cat", "limit": 3, "threshold": -1, "out": "$c"}
    ran = search(find, FILTER, {"type": "pluck", "target": "$y", "field": "metadata.score", "out": "$s"})
    assert ran.resource("y").members == ran.resource("c").members
    assert len(ran.content("s")) == 3


def test_an_item_that_cannot_be_judged_fails_the_step_and_is_named(run: Any, endpoint: Endpoint) -> None:
    """Nothing is left out in silence."""
    endpoint.answers = lambda body: Fail(403, "not this") if "\n1\n" in body["messages"][-1]["content"] else "true"
    ran = run(numbers(3), FILTER, status="failed")
    identifier = ran.items("c")[1].id
    assert ran.reason.startswith(f"item 2 ({identifier}): {endpoint.url} does not take the key (403): not this")


def test_an_empty_collection_gives_an_empty_one_without_a_call(run: Any, endpoint: Endpoint) -> None:
    assert run(numbers(0), FILTER).content("y") == []
    assert endpoint.requests == []
