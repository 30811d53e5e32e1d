"""Tool by tool and planned the answers are the same; where tools answer at length, plans keep it out of the context."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from context.conversation import Conversation, sent, together
from context.hosts import hosting
from context.measure import ALL, BY_TOOLS, MORE, PLANNED, RATIO, Measured, both_ways_at, seen_right, tables
from context.planned import Task, read_task, solve
from context.workplace import Workplace, furnish
from figures import NOT_INSTALLED

from infospace.data.json_text import dump

if TYPE_CHECKING:
    from infospace.search.models.find import ModelInfo


@pytest.fixture(scope="module")
def place(model: ModelInfo, warm_processes: None, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A workplace with the servers of the Python package index."""
    assert model.verified
    return furnish(tmp_path_factory.mktemp("ada"), node=None)


@dataclass(frozen=True)
class Shown:
    """What was done at the workplace while its servers ran, which take long to start: they do so once."""

    measured: Measured
    spans: list[tuple[Conversation, Any]]
    """The task of the commits, over a month and over a year, planned: what was said, and the answer."""


@pytest.fixture(scope="module")
def shown(place: Workplace) -> Shown:
    """What can be done there, done both ways, then two spans of commits; that both answers are right is seen to."""
    tasks = [_spanning("2026-01-01", "2026-02-01"), _spanning("2026-01-01", "2026-12-31")]

    async def all_of_it() -> tuple[Measured | RuntimeError, list[tuple[Conversation, Any]]]:
        async with hosting(place) as host:
            return await both_ways_at(host), [(await solve(host, task))[:2] for task in tasks]

    measured, spans = asyncio.run(all_of_it())
    if isinstance(measured, RuntimeError):
        raise measured
    return Shown(measured, spans)


@pytest.fixture(scope="module")
def measured(shown: Shown) -> Measured:
    """What was done both ways."""
    return shown.measured


@pytest.mark.slow
def test_a_task_whose_tools_answer_at_length_takes_fewer_characters_planned(measured: Measured) -> None:
    """The log and the changes of commits, which one way are read by the model, the other way stay in the space."""
    done = {one.task.name: one for one in measured.tasks}
    assert [*done] == ["zones", "finished", "digest", "commits"]
    for name in ("finished", "commits"):
        one = done[name]
        assert one.by_tools.parts["calls, read"] > one.by_plan.once - one.by_plan.fixed
    assert done["commits"].by_tools.once > done["commits"].by_plan.once


def test_a_task_of_three_small_answers_takes_no_more_planned(measured: Measured) -> None:
    """Also where all is sent each turn, of which planned has one more; without Node some tasks are out."""
    found = tables(measured)
    for name in ("context", "context of the tasks alone", "context sent each turn"):
        assert found[name]["weather"] == {"tool by tool": NOT_INSTALLED}
    for name in ("zones", ALL):
        assert found["context of the tasks alone"][name][MORE] == ""
    assert found["context"]["zones"][MORE] == ""
    assert found["context sent each turn"]["zones"][MORE] == ""
    assert float(str(found["context sent each turn"]["zones"][RATIO])) > 1
    assert found["context in turns"]["zones"][BY_TOOLS] == 2
    parts = found["context in parts"]
    assert sum(float(str(cells["characters"])) for row, cells in parts.items() if row.startswith(PLANNED)) == sum(
        one.by_plan.once - one.by_plan.fixed for one in measured.tasks
    )


@pytest.mark.slow
def test_ten_times_the_commits_are_told_in_no_more_characters(shown: Shown) -> None:
    """Of what a plan reads only its answer comes back: that alone may grow."""
    (one, few), (other, many) = shown.spans
    assert len(many) > len(few) > 0
    grown = other.parts["plan, read"] - one.parts["plan, read"]
    assert grown - (len(dump(many)) - len(dump(few))) < 300


def _spanning(first: str, last: str) -> Task:
    """Return the task of the commits over another span of time; its Notes are kept under a name of their own."""
    task = read_task("commits")
    words = {"2026-03-01": first, "2026-04-01": last, "changes in March": f"changes until {last}"}
    text = dump({"tries": list(task.tries), "plan": dict(task.plan)})
    for word, other in words.items():
        assert word in text
        text = text.replace(word, other)
    return replace(task, **json.loads(text))


def test_a_wrong_answer_is_no_figure(place: Workplace) -> None:
    """It is said which, of which task, and what is right."""
    with pytest.raises(RuntimeError, match=r"finished, planned: \[\], and right is \[\{'title': 'Decision: "):
        seen_right(place, read_task("finished"), PLANNED, [])


def _talk(*turns: tuple[int, int], fixed: int = 100, request: int = 10) -> Conversation:
    talk = Conversation()
    talk.given("tools", "x" * fixed)
    talk.given("request", "x" * request)
    for written, read in turns:
        talk.turn("calls", [("x" * written, "x" * read)])
    talk.answered("xx")
    return talk


def test_characters_are_counted_once_and_as_sent_for_each_turn() -> None:
    """Each turn sends what stands there, and writes; what it reads is sent with the next."""
    talk = _talk((3, 50), (4, 60))
    assert talk.once == 100 + 10 + 3 + 50 + 4 + 60 + 4
    assert sent([talk]) == (110 + 3) + (110 + 53 + 4) + (110 + 53 + 64 + 4)


def test_tasks_in_one_conversation_have_the_tools_once_and_all_that_went_before() -> None:
    """Two of one turn and an answer each."""
    one, two = _talk((3, 50)), _talk((5, 20))
    assert together([one, two]) == one.once + two.once - 100
    after = 100 + 10 + 53 + 4 + 10
    assert sent([one, two]) == sent([one]) + (after + 5) + (after + 25 + 4)
