"""The order in which the calls on a session have their turns."""

from __future__ import annotations

import asyncio

from planner.sessions.queue import Place, Queue


def test_turns_come_in_the_order_in_which_places_were_taken() -> None:
    """Whoever waits for them first."""
    queue, order = Queue(), []

    async def take(name: str, place: Place | None) -> None:
        async with queue.turn(place):
            order.append(name)

    async def scene() -> None:
        first, second = queue.join(), queue.join()
        late = [asyncio.create_task(take("third", None)), asyncio.create_task(take("second", second))]
        await asyncio.sleep(0)
        assert order == []
        await take("first", first)
        await asyncio.gather(*late)

    asyncio.run(scene())
    assert order == ["first", "second", "third"]


def test_a_place_that_is_left_holds_up_nobody() -> None:
    """Left without a turn, and left twice."""
    queue = Queue()

    async def scene() -> None:
        first, second = queue.join(), queue.join()
        second.leave()
        third = queue.join()
        first.leave()
        first.leave()
        assert third.turn.done()
        async with asyncio.timeout(60), queue.turn(third):
            pass

    asyncio.run(scene())
