"""Guards of a goal's run: circles, budgets, calls that are made twice; each ends in a sentence on what was tried."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Space
from infospace.core.tool import NotCalled
from infospace.tools.local import LocalTools
from planner.goals.effects import tools_called
from planner.goals.guards import Limits
from planner.goals.resume import resume
from planner.goals.session import GoalSession, do
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer


def step(kind: str, **fields: Any) -> str:
    return json.dumps({"steps": [{"type": kind, **fields}]})


def yes(session: GoalSession) -> list[str]:
    return tools_called(session.effects())


def reach(space: Space, goal: str = "reach it", **more: Any) -> RunResult:
    return asyncio.run(do(space, goal, yes, **more))


FAILING = {"type": "compute", "expression": "1 / length('')", "out": "$x"}


class Mail:
    """A server with a tool that is not idempotent, one that is, one that only reads, and one that destroys."""

    def __init__(self, space: Space) -> None:
        self.sent: list[str] = []
        server = LocalTools("mail")

        @server.tool()
        async def send(to: str) -> str:
            """Send a mail."""
            self.sent.append(to)
            return f"sent to {to}"

        @server.tool(idempotent=True)
        async def flag(to: str) -> str:
            """Flag somebody."""
            self.sent.append(f"flag {to}")
            return f"flagged {to}"

        @server.tool(read_only=True)
        async def inbox(to: str) -> str:
            """Read the inbox."""
            self.sent.append(f"inbox {to}")
            return "empty"

        @server.tool(destructive=True)
        async def erase(to: str) -> str:
            """Erase all that was sent to somebody."""
            self.sent.append(f"erase {to}")
            return f"erased {to}"

        @server.tool()
        async def away(to: str) -> str:
            """Send a mail by a server that is away."""
            self.sent.append(f"away {to}")
            raise NotCalled("the server is away")

        @server.tool()
        async def fails(to: str) -> str:
            """Send a mail, and fail."""
            self.sent.append(f"fails {to}")
            raise ValueError("the mailbox is full")

        space.tools.add(server)


@pytest.fixture
def mail(space: Space) -> Mail:
    return Mail(space)


def test_the_same_plan_is_not_run_again_after_it_failed(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(*[json.dumps({"steps": [FAILING], "result": "$x"})] * 5)
    result = reach(space)
    assert result.status == "failed"
    reason = result.reason or ""
    assert reason.startswith("the model proposed the same plan again that had failed at step 2 of run_1 (compute)")
    assert "divides by zero" in reason
    assert reason.endswith("tried: 2 plans written, 1 run, 1 failed (last: 2 compute)")
    assert len(endpoint.requests) == 2


def test_the_same_step_that_fails_alike_in_another_plan_ends_it(space: Space, endpoint: Endpoint) -> None:
    """A step before it, and another name for what it gives, make it no other step."""
    first = {"steps": [FAILING], "result": "$x"}
    second = {"steps": [{"type": "create-note", "value": "y"}, {**FAILING, "out": "$z"}], "result": "$z"}
    endpoint.say(json.dumps(first), json.dumps(second), json.dumps(first))
    reason = reach(space).reason or ""
    assert reason.startswith("step 2 of run_1 and step 4 (compute) failed alike: ")
    assert "tried: 2 plans written, 2 run, 2 failed" in reason
    assert len(endpoint.requests) == 2


def test_a_step_that_failed_is_not_tried_again_at_once(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(*[json.dumps({"steps": [FAILING]})] * 5)
    reason = reach(space, mode="steps").reason or ""
    assert reason.startswith("the model proposed the same step again that had failed at step 2 (compute)")
    assert len(endpoint.requests) == 2


def test_a_step_that_failed_is_tried_again_after_another_one_that_went_well(space: Space, endpoint: Endpoint) -> None:
    """It may have changed what made it fail; where it has not, that ends it."""
    failing = json.dumps({"steps": [FAILING]})
    endpoint.say(failing, step("create-note", value="y", out="$y"), failing)
    reason = reach(space, mode="steps").reason or ""
    assert reason.startswith("step 2 and step 6 (compute) failed alike: ")
    assert len(endpoint.requests) == 3


def test_the_last_three_failures_are_told(space: Space, endpoint: Endpoint) -> None:
    failing = [step("compute", expression=f"{number} / length('')", out="$x") for number in range(4)]
    endpoint.say(*failing[:2], step("create-note", value="y", out="$y"), *failing[2:])
    reason = reach(space, mode="steps", limits=Limits(turns=5)).reason or ""
    assert reason == (
        "the budget of 5 turns is spent; tried: 5 plans written, 5 run, "
        "4 failed (last: 4 compute, 8 compute, 10 compute)"
    )


def test_the_rest_of_a_plan_is_written_again_twice_at_most(space: Space, endpoint: Endpoint) -> None:
    plans = [{"steps": [{**FAILING, "expression": f"{number} / length('')"}]} for number in range(5)]
    endpoint.say(*map(json.dumps, plans))
    reason = reach(space).reason or ""
    assert "; the rest of a plan is written again at most 2 times; tried: 3 plans written, 3 run, 3 failed" in reason
    assert len(endpoint.requests) == 3


def test_a_new_value_begins_the_count_of_idle_turns_anew(space: Space, endpoint: Endpoint) -> None:
    ways = ["1 + 1", "2 * 1", "1 + 2", "3 - 1", "4 - 2"]
    steps = [step("compute", expression=way, out=f"$x{number}") for number, way in enumerate(ways)]
    endpoint.say(*steps, step("stop", value="done"))
    assert reach(space, mode="steps").status == "stopped"


def test_looking_again_is_nothing_new(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    """A call that only reads counts by what it answers, whatever it is asked."""
    endpoint.say(*[step("mail/inbox", arguments={"to": name}, out=f"${name}") for name in "abcdef"])
    result = reach(space, mode="steps")
    assert (result.reason or "").startswith("3 turns in a row gave no new value")
    assert mail.sent == [f"inbox {name}" for name in "abcd"]


def test_turns_that_give_no_new_value_end_it(space: Space, endpoint: Endpoint) -> None:
    """The same value by another name, or by another way, is no new one."""
    ways = ["1 + 1", "2 * 1", "3 - 1", "4 - 2", "5 - 3"]
    endpoint.say(*[step("compute", expression=way, out=f"$x{number}") for number, way in enumerate(ways)])
    result = reach(space, mode="steps")
    assert (result.status, len(endpoint.requests)) == ("failed", 4)
    assert result.reason == "3 turns in a row gave no new value; tried: 4 plans written, 4 run"


def test_calls_of_other_arguments_are_new_whatever_they_answer(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    names = ["a", "b", "c", "d", "e"]
    calls = [step("mail/flag", arguments={"to": name}) for name in names]
    endpoint.say(*calls, step("stop", value="done"))
    assert reach(space, mode="steps").status == "stopped"
    assert mail.sent == [f"flag {name}" for name in names]


def test_the_budget_of_turns_ends_it(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(*[step("compute", expression=f"{number} + 1", out="$x") for number in range(9)])
    result = reach(space, mode="steps", limits=Limits(turns=3))
    assert (result.status, len(endpoint.requests)) == ("failed", 3)
    assert result.reason == "the budget of 3 turns is spent; tried: 3 plans written, 3 run"
    assert "Left to spend: 3 turns" in endpoint.prompts[0]
    assert "Left to spend: 1 turns" in endpoint.prompts[2]


def test_the_budget_of_tokens_ends_it(space: Space, endpoint: Endpoint) -> None:
    """Also where it is spent while a plan is written: what was tried until then is said."""
    endpoint.say(*[step("compute", expression=f"{number} + 1", out="$x") for number in range(9)])
    result = reach(space, mode="steps", limits=Limits(tokens=10_000))
    assert result.status == "failed"
    assert "the budget of 10,000 tokens is too small" in (result.reason or "")
    assert "tried: " in (result.reason or "")
    assert 1 <= len(endpoint.requests) < 9


def test_the_budget_of_seconds_ends_it(space: Space, endpoint: Endpoint) -> None:
    """While the plan arrives. A busy machine has time to ask for it: it needed more than half a second."""
    endpoint.gap, endpoint.pieces = 1.5, 4
    endpoint.say(json.dumps({"steps": [FAILING]}))
    result = reach(space, limits=Limits(seconds=3))
    assert (result.status, len(endpoint.requests)) == ("failed", 1)
    assert "the budget of 3 seconds ran out" in (result.reason or "")


def test_the_budget_of_calls_ends_it(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    """No other plan is asked for: it could not call anything either."""
    plan = {"steps": [{"type": "mail/flag", "arguments": {"to": name}} for name in "abc"]}
    endpoint.say(json.dumps(plan), json.dumps(plan))
    result = reach(space, limits=Limits(calls=2))
    assert (result.status, mail.sent) == ("failed", ["flag a", "flag b"])
    assert "the budget of 2 tool_calls is spent" in (result.reason or "")
    assert "tried: 1 plan written, 1 run, 1 failed" in (result.reason or "")
    assert len(endpoint.requests) == 1


TWICE = {"steps": [{"type": "mail/send", "arguments": {"to": "ann"}, "out": f"${name}"} for name in "ab"]}


def test_a_call_that_was_made_is_asked_about_though_it_was_agreed_to(
    space: Space, endpoint: Endpoint, mail: Mail
) -> None:
    """Its tool was allowed by name; the second mail of one text goes out after a word only."""
    endpoint.say(json.dumps(TWICE))
    result = reach(space)
    assert (result.status, mail.sent) == ("suspended", ["ann"])
    asked = result.pending[0].question
    assert asked.startswith("call the tool send of the server mail again, though step 2 of this run called it so alr")
    assert '{"to":"ann"}' in asked
    answer(space, str(result.run), result.pending[0].step, "once")
    again = asyncio.run(resume(space, str(result.run)))
    assert (again.status, mail.sent) == ("success", ["ann", "ann"])
    told = asyncio.run(replay(space, str(result.run))).result
    assert (told.status, mail.sent) == ("success", ["ann", "ann"])


def test_a_call_that_somebody_says_no_to_is_not_made_again(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    endpoint.say(json.dumps(TWICE), json.dumps({"steps": [{"type": "size", "target": [], "out": "$n"}]}))
    result = reach(space)
    answer(space, str(result.run), result.pending[0].step, "no")
    ended = asyncio.run(resume(space, str(result.run)))
    assert (ended.status, mail.sent) == ("success", ["ann"])
    assert "was not called again: asked about it, somebody said no" in endpoint.prompts[1]


def test_a_turn_that_calls_what_an_earlier_turn_called_is_asked_about(
    space: Space, endpoint: Endpoint, mail: Mail
) -> None:
    endpoint.say(*[step("mail/send", arguments={"to": "ann"}, out=f"${name}") for name in "ab"])
    result = reach(space, mode="steps")
    assert (result.status, mail.sent) == ("suspended", ["ann"])


@pytest.mark.parametrize("tool", ["flag", "inbox"])
def test_what_is_idempotent_or_reads_is_called_again(space: Space, endpoint: Endpoint, mail: Mail, tool: str) -> None:
    plan = {"steps": [{"type": f"mail/{tool}", "arguments": {"to": "ann"}} for _ in range(2)]}
    endpoint.say(json.dumps(plan))
    assert reach(space).status == "success"
    assert mail.sent == [f"{tool} ann"] * 2


def test_other_arguments_are_another_call(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    plan = {"steps": [{"type": "mail/send", "arguments": {"to": name}} for name in ("ann", "bob")]}
    endpoint.say(json.dumps(plan))
    assert reach(space).status == "success"
    assert mail.sent == ["ann", "bob"]


def test_a_call_that_never_reached_its_tool_is_made_again_unasked(space: Space, endpoint: Endpoint, mail: Mail) -> None:
    """Nothing happened."""
    call = {"type": "mail/away", "arguments": {"to": "ann"}}
    endpoint.say(json.dumps({"steps": [call]}))
    endpoint.say(json.dumps({"steps": [{"type": "create-note", "value": 1}, call]}))
    assert reach(space).status == "failed"
    assert mail.sent == ["away ann"] * 2


def test_a_call_that_failed_may_have_had_its_effect_and_is_asked_about(
    space: Space, endpoint: Endpoint, mail: Mail
) -> None:
    call = {"type": "mail/fails", "arguments": {"to": "ann"}}
    endpoint.say(json.dumps({"steps": [call]}))
    endpoint.say(json.dumps({"steps": [{"type": "create-note", "value": 1}, call]}))
    result = reach(space)
    assert (result.status, mail.sent) == ("suspended", ["fails ann"])


def test_a_plan_that_nobody_wrote_by_a_goal_may_call_twice(space: Space, mail: Mail) -> None:
    """Whoever writes two calls by hand means both."""
    from planner import run_sync

    result = run_sync(space, TWICE)
    assert (result.status, mail.sent) == ("success", ["ann", "ann"])


def test_a_call_that_was_made_before_the_process_ended_is_asked_about(
    space: Space, endpoint: Endpoint, mail: Mail
) -> None:
    """What was called is in the journal, not in the process: the next turn is of another one."""
    endpoint.say(step("mail/send", arguments={"to": "ann"}, out="$a"))

    async def first() -> str:
        session = GoalSession(space, "reach it", mode="steps")
        await session.write()
        await session.run(yes(session))
        return str(session.id)

    run = asyncio.run(first())
    endpoint.say(step("mail/send", arguments={"to": "ann"}, out="$b"))
    result = asyncio.run(resume(space, run, agree=yes))
    assert (result.status, mail.sent) == ("suspended", ["ann"])


@pytest.mark.parametrize(
    ("answer", "status"), [(True, "success"), ([], "success"), (False, "cancelled"), (None, "cancelled")]
)
def test_agree_answers_yes_or_no(space: Space, endpoint: Endpoint, answer: Any, status: str) -> None:
    """A person's word may be a bool."""
    endpoint.say(json.dumps({"steps": [{"type": "create-note", "value": "new", "name": "made"}]}))
    result = asyncio.run(do(space, "make a note", lambda _: answer))
    assert result.status == status
    with space.store.reading() as snapshot:
        assert (snapshot.named("made") is not None) is (status == "success")


@pytest.mark.parametrize(
    ("agreed", "ended"),
    [
        (["mail/erase"], ("success", ["erase ann"])),
        (["mail/send"], ("suspended", [])),
        ([], ("suspended", [])),
        (True, ("suspended", [])),
    ],
)
def test_a_tool_that_agree_names_is_called_without_asking(
    space: Space, endpoint: Endpoint, mail: Mail, agreed: Any, ended: tuple[str, list[str]]
) -> None:
    """Any other that destroys is asked about, though the plan is wanted."""
    endpoint.say(step("mail/erase", arguments={"to": "ann"}))
    result = asyncio.run(do(space, "erase it", lambda _: agreed))
    assert (result.status, mail.sent) == ended


def test_agree_answers_nothing_else(space: Space, endpoint: Endpoint) -> None:
    """The letters of a text are no names of tools."""
    endpoint.say(json.dumps({"steps": [{"type": "create-note", "value": "new", "name": "made"}]}))
    answer: Any = "yes"
    with pytest.raises(TypeError, match="agree returns True, False, None or the names of tools"):
        asyncio.run(do(space, "make a note", lambda _: answer))
    with space.store.reading() as snapshot:
        assert snapshot.named("made") is None
