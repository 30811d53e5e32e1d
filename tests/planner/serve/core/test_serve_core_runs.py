"""No way lost at the small door: runs listed, followed, answered, resumed; what other processes changed is seen."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from infospace import Space
from infospace.data.json_text import dump
from infospace.editing.edit import give_name
from infospace.tools.local import LocalTools
from planner.lifecycle.resume import answer as give_answer
from planner.parse.saved_plans import save_plan
from planner.server.access import Access
from planner.server.arguments import RunPlan
from planner.server.core.follow import NEW, PAGE, RUNS, STEPS
from planner.server.live_runs import BETWEEN
from planner.server.operations import Operations

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import over_stdio, text_of
from smalldoor import Door, play


def test_runs_are_listed_followed_answered_cancelled_and_forked(space: Space) -> None:
    asking = {
        "goal": "ask",
        "steps": [
            {"type": "create-note", "value": {"n": 1}, "out": "$first"},
            {"type": "ask", "value": "Which?", "schema": {"type": "integer"}, "out": "$answer"},
            {"type": "compute", "expression": "$answer + $first.n", "out": "$sum"},
        ],
        "result": "$sum",
    }

    async def scene(door: Door) -> None:
        waits = await door.call("run", plan=asking)
        run = waits["run"]
        assert waits["status"] == "suspended"
        assert waits["asks"] == [{"step": "2", "kind": "ask", "question": "Which?", "schema": {"type": "integer"}}]
        [listed] = (await door.call("follow"))["runs"]
        assert (listed["run"], listed["status"], listed["goal"]) == (run, "suspended", "ask")
        assert "names the step" in await door.wrong("follow", run=run, value=4)
        done = await door.call("follow", run=run, step="2", value=4)
        assert (done["status"], done["result"]) == ("success", 5)
        forked = await door.call(
            "follow",
            run=run,
            do="fork",
            step="3",
            patch=[{"op": "replace", "path": "/steps/2/expression", "value": "$answer * 10"}],
        )
        assert (forked["status"], forked["result"]) == ("success", 40)
        assert forked["run"] != run
        steps = (await door.call("follow", run=run, do="steps"))["steps"]
        assert [line.split()[:4] for line in steps] == [
            ["1", "create-note", "success", "$first"],
            ["2", "ask", "success", "$answer"],
            ["3", "compute", "success", "$sum"],
        ]
        assert await door.wrong("follow", run=run, do="fork") == (
            "a fork needs `step`, from which the plan runs again (`patch` changes it from there on)"
        )
        other = await door.call("run", plan=asking)
        assert (await door.call("follow", run=other["run"], do="cancel"))["status"] == "cancelled"
        over = await door.wrong("follow", run=other["run"], do="cancel")
        assert over.endswith("(whoever runs this server takes back what it did)")
        assert "such as run_7" in (await door.wrong("follow", run="x")).lower()

    play(space, scene)


def test_the_steps_of_a_run_are_told_a_line_each_and_those_of_one_step_alone(space: Space) -> None:
    """With what they gave, how long they took and why they failed; of many the last, and how many are left out."""
    failing = [
        {"type": "create-collection", "value": [{"a": 1}, {"a": "x"}], "out": "$c"},
        {
            "type": "for-each",
            "target": "$c",
            "as": "$i",
            "do": [{"type": "compute", "expression": "$i.a + 1", "out": "$n"}],
        },
    ]
    rounds = {
        "type": "while",
        "condition": "$n < 45",
        "body": [{"type": "compute", "expression": "$n + 1", "out": "$n"}],
    }

    async def scene(door: Door) -> tuple[Any, Any, str, Any]:
        run = (await door.call("run", plan=failing))["run"]
        every = await door.call("follow", run=run, do="steps")
        one = await door.call("follow", run=run, do="steps", step="2")
        nothing = await door.wrong("follow", run=run, do="steps", step="3")
        long = await door.call(
            "run", plan=[{"type": "create-note", "value": 0, "out": "$n"}, {**rounds, "max_iterations": 50}]
        )
        return every, one, nothing, await door.call("follow", run=long["run"], do="steps")

    every, one, nothing, long = play(space, scene)
    why = (
        '`$i.a + 1` computes with text and number, not with numbers: "x" and 1 '
        "(CAST(… AS number) makes a number of a text, CAST(… AS text) a text of a number)"
    )
    lines = [re.sub(r"\b\d+ ms", "… ms", line) for line in every["steps"]]
    assert lines == [
        "1 create-collection success $c Collection_1 … ms",
        f"2 for-each failed … ms: item 2 (Note_2): step 2.do[2].1 (compute) failed: {why}",
        "2.do[1].1 compute success $n Note_3 … ms",
        f"2.do[2].1 compute failed $n … ms: {why}",
    ]
    assert one == {"run": every["run"], "steps": every["steps"][1:]}
    assert nothing == f'{every["run"]} has executed no step \'3\' (such as "4" or "4.do[3].2")'
    assert (len(long["steps"]), long["left_out"]) == (STEPS, 45 + 2 - STEPS)
    assert long["steps"][-1].startswith("2.body[45].1 compute success $n ")


def test_a_poll_tells_what_is_new_and_which_step_runs(space: Space) -> None:
    slow = [
        {"type": "create-collection", "value": [1, 2, 3], "out": "$c"},
        {"type": "size", "target": "$c", "out": "$n"},
        {"type": "wait", "seconds": 60},
    ]

    async def scene(door: Door) -> tuple[Any, Any]:
        begun = await door.call("run", plan=slow, wait_s=0)
        look = await door.call("follow", run=begun["run"], wait_s=0)
        while not look.get("running", [""])[0].startswith("3 ") or len(look.get("new", ())) < 2:
            look = await door.call("follow", run=begun["run"], wait_s=0.05)
        again = await door.call("follow", run=begun["run"], after=look["seen"])
        return look, again

    look, again = play(space, scene)
    assert look["running"] == ["3 wait"]
    assert look["new"] == ["1 create-collection: Collection of 3: integer", "2 size: integer"]
    assert "new" not in again
    assert len(dump(again)) <= 120


def test_a_poll_tells_the_innermost_step_that_runs_and_no_step_of_a_saved_plan_as_the_run_s_own(space: Space) -> None:
    note = {"type": "create-note", "value": 1, "out": "$x"}
    save_plan(space, "slow", [note, {"type": "wait", "seconds": 60}])

    async def scene(door: Door) -> None:
        run = (await door.call("run", plan=[note, {"type": "plan:slow"}], wait_s=0))["run"]
        look = await door.call("follow", run=run)
        while look.get("running") != ["2/2 wait"] or look["seen"] < 2:
            assert len(look.get("running", ())) <= 1
            look = await door.call("follow", run=run, wait_s=0.05)
        assert look == {
            "status": "running",
            "run": run,
            "seen": 2,
            "running": ["2/2 wait"],
            "new": ["1 create-note: integer"],
            "other_steps": 1,
        }
        [inner] = (await door.call("follow", run=run, do="steps", step="2"))["steps"]
        assert inner.startswith("2/1 create-note success $x Note_")

    play(space, scene)


def test_all_attempts_of_a_step_are_told_with_it(space: Space) -> None:
    """And what is done in one of them; a step whose number begins alike is another one."""
    note = {"type": "create-note", "value": 7, "out": "$n"}
    cut = {"type": "coerce", "target": "$n", "coercion": "${n}", "retry": {"attempts": 2, "wait_s": 0}, "out": "$m"}
    plan = [note, {**cut, "on_fail": [{**note, "out": "$m"}]}, *[note] * 18]

    async def scene(door: Door) -> list[str]:
        run = (await door.call("run", plan=plan))["run"]
        return [one.split()[0] for one in (await door.call("follow", run=run, do="steps", step="2"))["steps"]]

    assert play(space, scene) == ["2", "2#2", "2#2.on_fail.1"]


def test_a_poll_misses_no_step_that_others_stand_in_and_counts_those_that_it_does_not_name(space: Space) -> None:
    """A `for-each` ends after what it does, of which some was seen before; of ten steps eight are named."""
    ask = {"type": "ask", "value": "Which?", "out": "$answer"}
    many = [{"type": "create-note", "value": number, "out": f"$n{number}"} for number in range(NEW + 2)]
    plan = [
        {"type": "create-collection", "value": [1], "out": "$c"},
        {"type": "for-each", "target": "$c", "as": "$i", "do": [many[0], ask], "out": "$all"},
        ask,
        *many,
        ask,
    ]

    async def scene(door: Door) -> list[Any]:
        run = (await door.call("run", plan=plan))["run"]
        looks = [await door.call("follow", run=run)]
        for step in ("2.do[1].2", "3"):
            await door.call("follow", run=run, step=step, value=4)
            looks.append(await door.call("follow", run=run, after=looks[-1]["seen"]))
        return [(look["seen"], look["new"], look.get("other_steps")) for look in looks]

    assert play(space, scene) == [
        (2, ["1 create-collection: Collection of 1: integer"], 1),
        (4, ["2 for-each: Collection of 1: integer"], 1),
        (15, [f"{number} create-note: integer" for number in range(6, 14)], 3),
    ]


def test_what_a_run_calls_that_goes_on_at_another_door_is_told_as_running(space: Space) -> None:
    slow = LocalTools("slow")
    begun = threading.Event()

    @slow.tool(read_only=True)
    async def nap() -> None:
        """Sleep for a long time."""
        await asyncio.sleep(60)

    @slow.tool(read_only=True)
    async def look() -> str:
        """Look for a long time."""
        begun.set()
        await asyncio.sleep(60)
        return "seen"

    space.tools.add(slow)

    async def scene(door: Door) -> None:
        other = Operations(space, Access("bob"))
        try:
            broken_off = {"type": "slow/nap", "timeout_s": 0.05, "on_fail": "continue"}
            plan = [broken_off, {"type": "slow/look", "out": "$y"}]
            run = (await other.run_plan(RunPlan(plan=plan, wait_s=0), ignore))["run"]
            assert await asyncio.to_thread(begun.wait, 60)
            async with asyncio.timeout(60):
                while (await door.call("follow", run=run, wait_s=0.1))["running"] != ["2 slow/look"]:
                    pass  # what has ended is in the journal a little later
        finally:
            await other.close()
        assert "running" not in await door.call("follow", run=run)

    async def ignore(_ended: int, _text: str) -> None:
        """Nobody listens."""

    play(space, scene)


@pytest.mark.parametrize("do", ["resume", "look", "fork"])
def test_who_does_not_want_to_wait_for_a_run_that_goes_on_does_not(space: Space, do: str) -> None:
    """A call waits twenty seconds where it does not say; 0 is said."""
    plan = {"steps": [{"type": "ask", "value": "Which?"}, {"type": "wait", "seconds": 2}]}
    arguments: dict[str, dict[str, Any]] = {
        "resume": {"do": "resume"},
        "look": {"step": "1", "value": 7},
        "fork": {"do": "fork", "step": "1", "patch": [{"op": "remove", "path": "/steps/0"}]},
    }

    async def scene(door: Door) -> Any:
        begun = await door.call("run", plan=plan)
        if do == "resume":
            give_answer(space, begun["run"], "1", 7)
        return await door.call("follow", run=begun["run"], **arguments[do], wait_s=0)

    assert play(space, scene)["status"] == "running"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", {"plan": [{"type": "wait", "seconds": 2}]}),
        ("step", {"session": "s", "steps": [{"type": "wait", "seconds": 2}]}),
    ],
    ids=["run", "step"],
)
def test_a_run_that_is_begun_is_waited_for_no_longer_than_is_said(space: Space, arguments: Any) -> None:
    tool, values = arguments
    assert play(space, lambda door: door.call(tool, **values, wait_s=0))["status"] == "running"


def test_what_is_run_at_the_small_door_is_audited(space: Space) -> None:
    """With the run or the session that it is for."""

    async def scene(door: Door) -> str:
        run: str = (await door.call("run", plan=[{"type": "ask", "value": "Which?", "out": "$a"}]))["run"]
        await door.call("step", session="work", steps=[{"type": "create-note", "value": 1, "out": "$x"}])
        await door.call("follow", run=run, do="cancel")
        await door.text("find", names=["sort"])
        await door.call("read", ref="Note_1")
        return run

    run = play(space, scene)
    with space.store.reading() as snapshot:
        rows = snapshot.audit()[::-1]
    assert [(row.action, row.target, row.outcome) for row in rows] == [
        ("run", "", "waiting"),
        ("step", "work", "success"),
        ("follow", run, "cancelled"),
    ]


def test_an_approval_is_asked_of_the_planner_where_the_owner_lets_it(space: Space) -> None:
    files = LocalTools("files")

    @files.tool(destructive=True)
    async def wipe() -> str:
        """Wipe a disk."""
        return "wiped"

    space.tools.add(files)

    async def scene(door: Door) -> tuple[Any, Any]:
        asked = await door.call("run", plan=[{"type": "files/wipe", "out": "$done"}])
        return asked["asks"], await door.call("follow", run=asked["run"], step="1", value="once")

    [asked], done = play(space, scene, Access("ann", approvals="planner"))
    assert (asked["kind"], asked.keys()) == ("approve", {"step", "kind", "question", "schema"})
    assert (done["status"], done["result"]) == ("success", "wiped")


def test_runs_are_listed_however_many_edits_came_after_them(space: Space) -> None:
    """What people do by commands are runs of the journal, too, and hide no plan that a planner ran before."""

    async def scene(door: Door) -> None:
        ran = [(await door.call("run", plan=[{"type": "create-note", "value": n, "out": "$x"}]))["run"] for n in (1, 2)]
        for number in range(2 * PAGE):
            give_name(space.store, "Note_1", f"name {number}")
        late = (await door.call("run", plan=[{"type": "create-note", "value": 3, "out": "$x"}]))["run"]
        assert [one["run"] for one in (await door.call("follow"))["runs"]] == [late, ran[1], ran[0]]
        for number in range(RUNS):
            late = (await door.call("run", plan=[{"type": "create-note", "value": number, "out": "$x"}]))["run"]
        listed = (await door.call("follow"))["runs"]
        assert (listed[0]["run"], len(listed)) == (late, RUNS)
        assert {one["status"] for one in listed} == {"success"}

    play(space, scene)


def test_an_open_session_is_listed_among_the_runs(space: Space) -> None:
    async def scene(door: Door) -> None:
        plan = (await door.call("run", plan=[{"type": "create-note", "value": 1, "out": "$x"}]))["run"]
        session = (await door.call("step", session="work", steps=[{"type": "create-note", "value": 2, "out": "$y"}]))[
            "run"
        ]
        listed = [(one["run"], one["status"]) for one in (await door.call("follow"))["runs"]]
        assert listed == [(session, "open"), (plan, "success")]

    play(space, scene)


def test_a_run_that_was_answered_elsewhere_is_gone_on_with(space: Space) -> None:
    """And the planner is told how far it is."""
    question = {"type": "ask", "value": "Which?", "schema": {"type": "integer"}, "out": "$answer"}
    note = {"type": "create-note", "value": "$answer", "out": "$x"}
    plan = {"steps": [question, note, {"type": "wait", "seconds": 2 * BETWEEN}], "result": "$x"}
    told: list[str] = []

    async def hear(_progress: float, _total: float | None, message: str | None) -> None:
        told.append(str(message))

    async def scene(door: Door) -> Any:
        run = (await door.call("run", plan=plan))["run"]
        give_answer(space, run, "1", 7)
        went_on = await door.client.call_tool("follow", {"run": run, "do": "resume"}, progress_callback=hear)
        return json.loads(text_of(went_on.content[0]))

    done = play(space, scene)
    assert (done["status"], done["result"]) == ("success", 7)
    assert told


def test_null_is_an_answer_and_no_value_is_none(space: Space) -> None:
    schema = {"type": ["integer", "null"]}
    asking = [{"type": "ask", "value": "How many, if any?", "schema": schema, "out": "$answer"}]

    async def scene(door: Door) -> tuple[Any, Any]:
        run = (await door.call("run", plan=asking))["run"]
        looked = await door.call("follow", run=run, step="1")
        return looked, await door.call("follow", run=run, step="1", value=None)

    looked, answered = play(space, scene)
    assert (looked["status"], looked["asks"][0]["schema"]) == ("suspended", schema)
    assert (answered["status"], answered["result"]) == ("success", None)


def test_who_follows_a_run_is_told_how_far_it_is(space: Space) -> None:
    """Of that run, and not of another one that goes on beside it."""
    told: list[str] = []

    async def hear(_progress: float, _total: float | None, message: str | None) -> None:
        told.append(str(message))

    async def scene(door: Door) -> None:
        note = {"type": "create-note", "value": 1, "out": "$x"}
        runs = [
            (await door.call("run", plan=[*[note] * count, {"type": "wait", "seconds": 60}], wait_s=0))["run"]
            for count in (1, 2, 3)
        ]
        while (await door.call("follow", run=runs[1], wait_s=0)).get("seen", 0) < 2:  # noqa: ASYNC110 - others change it
            await asyncio.sleep(0.01)
        follows = {"run": runs[1], "wait_s": 2 * BETWEEN}
        await door.client.call_tool("follow", follows, progress_callback=hear)

    play(space, scene)
    assert told == ["2 create-note: success"]


def test_a_run_that_rests_says_until_when(space: Space) -> None:
    plan = [{"type": "wait", "seconds": 10**8}]

    async def scene(door: Door) -> Any:
        begun = await door.call("run", plan=plan)
        return begun, await door.call("follow", run=begun["run"])

    for told in play(space, scene):
        [asked] = told["asks"]
        assert asked["kind"] == "wait"
        assert datetime.fromisoformat(asked["until"]) > datetime.now(UTC) + timedelta(days=1_000)


def test_nobody_is_told_to_type_a_command(space: Space) -> None:
    async def scene(door: Door) -> list[str]:
        run = (await door.call("run", plan=[{"type": "create-note", "value": 1, "out": "$x"}]))["run"]
        return [
            await door.wrong("follow", run=run, step="1", value=2),
            await door.wrong("follow", run=run, do="resume"),
            await door.wrong("follow", run=run, do="fork"),
            await door.wrong("follow", run="run_99"),
            await door.text("run", plan="plan:nothing"),
            await door.wrong("step", session="nobody"),
            await door.wrong("read", ref="run_88"),
        ]

    for sentence in play(space, scene):
        assert "infospace " not in sentence, sentence
        assert not any(name in sentence for name in ("run_plan", "get_run", "answer_run", "run_steps")), sentence


def test_what_a_killed_server_left_is_listed_resumed_and_its_call_in_doubt_asked(
    searched_file: Path, tmp_path: Path
) -> None:
    """The call may have had its effect: that is for people to say, and the planner is told so."""
    server = tmp_path / "slow.py"
    server.write_text(
        "import asyncio, os, pathlib\nfrom mcp.server import MCPServer\nserver = MCPServer('slow')\n"
        "@server.tool()\nasync def act(file: str) -> str:\n    'Do it slowly.'\n    pathlib.Path(file).touch()\n"
        "    await asyncio.sleep(60)\n    return 'done'\nserver.run()\n"
    )
    mcp = tmp_path / "mcp.json"
    mcp.write_text(
        json.dumps({"mcpServers": {"slow": {"command": sys.executable, "args": [str(server)], "autoApprove": ["act"]}}})
    )
    space, mark = Path(shutil.copy(searched_file, tmp_path / "space.db")), tmp_path / "began"
    base = [sys.executable, "-m", "tui.command", "--space", str(space)]
    subprocess.run([*base, "tools", "sync", "--mcp", str(mcp)], check=True, capture_output=True)
    plan = {"goal": "act", "steps": [{"type": "slow/act", "arguments": {"file": str(mark)}, "out": "$x"}]}

    async def begin() -> str:
        async with over_stdio(space, noted=tmp_path / "pid", arguments=("--tools", "core")) as planner:
            door = Door(planner.client)
            begun = await door.call("run", plan=plan, wait_s=0)
            end = time.monotonic() + 60
            while not mark.exists() and time.monotonic() < end:  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.05)
            assert mark.exists()
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
            with pytest.raises(MCPError, match="Connection closed"):
                await door.call("follow", run=begun["run"], wait_s=60)
            return str(begun["run"])

    async def resume() -> tuple[Any, Any]:
        async with over_stdio(space, arguments=("--tools", "core")) as planner:
            door = Door(planner.client)
            [left] = (await door.call("follow"))["runs"]
            return left, await door.call("follow", run=left["run"], do="resume")

    run = asyncio.run(begin())
    end = time.monotonic() + 60
    left, told = asyncio.run(resume())
    while told["status"] == "running" and time.monotonic() < end:
        left, told = asyncio.run(resume())
    assert (left["run"], left["goal"], left["status"]) == (run, "act", "suspended")
    [asked] = told["asks"]
    assert (told["status"], asked["kind"], asked["answered_by"]) == ("suspended", "doubt", "people, not you")
    assert "slow/act" in asked["question"]


def test_a_running_server_sees_what_another_process_saved_and_synced(searched_file: Path, tmp_path: Path) -> None:
    """At its next call: a saved plan, a note, and the tools of a server that was never there before."""
    space = Path(shutil.copy(searched_file, tmp_path / "space.db"))
    plan, mcp = tmp_path / "plan.json", tmp_path / "mcp.json"
    base = [sys.executable, "-m", "tui.command", "--space", str(space)]
    plan.write_text(json.dumps([{"type": "create-note", "value": 3, "name": "three", "out": "$x"}]))
    mcp.write_text(json.dumps({"mcpServers": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}}))

    def run(*words: str) -> None:
        subprocess.run([*base, *words], check=True, capture_output=True)

    async def scene() -> tuple[str, str, str, Any, Any]:
        async with over_stdio(space, arguments=("--tools", "core")) as planner:
            door = Door(planner.client)
            before = await door.text("find", query="convert_time", kind="tool")
            await asyncio.to_thread(run, "plans", "save", "make three", str(plan))
            await asyncio.to_thread(run, "tools", "sync", "--mcp", str(mcp))
            after = await door.text("find", query="convert_time", kind="tool", limit=1)
            saved = await door.text("find", names=["plan:make three"])
            made = await door.call("run", plan="plan:make three")
            return before, after, saved, made, await door.call("read", ref="three")

    before, after, saved, made, read = asyncio.run(scene())
    assert "time/convert_time" not in before
    assert after.startswith("time/convert_time(")
    assert "create-note" in saved
    assert (made["result"], read["data"]) == (3, 3)


def test_a_fork_calls_what_the_configuration_approves_without_asking(space: Space) -> None:
    """As the run itself did; another caller is asked at the same step."""
    files = LocalTools("files")

    @files.tool(destructive=True)
    async def wipe() -> str:
        """Wipe a disk."""
        return "wiped"

    space.tools.add(files)
    plan = [{"type": "create-note", "value": "x", "out": "$x"}, {"type": "files/wipe", "out": "$done"}]

    async def fork(door: Door) -> tuple[str, Any]:
        run = (await door.call("run", plan=plan))["run"]
        forked = await door.call("follow", run=run, do="fork", step="2")
        return forked["status"], forked.get("result")

    assert play(space, fork, Access("ann", approve=("files/*",))) == ("success", "wiped")
    assert play(space, fork, Access("bob")) == ("suspended", None)


def test_a_run_that_goes_on_at_another_door_is_looked_at_and_not_begun_anew(space: Space) -> None:
    """Whoever asks to go on with it is told how it is."""
    slow = [{"type": "create-note", "value": 1, "out": "$x"}, {"type": "wait", "seconds": 60}]

    async def scene(door: Door) -> None:
        run = (await door.call("run", plan=slow, wait_s=0))["run"]
        other = Operations(space, Access("bob"))
        try:
            shown = await other.resume_run(run, 0, ignore)
            assert (shown["status"], shown["reason"]) == ("running", None), "nothing was tried that could be refused"
        finally:
            await other.close()
        assert (await door.call("follow", run=run, do="cancel"))["status"] == "cancelled"

    async def ignore(_ended: int, _text: str) -> None:
        """Nobody listens."""

    play(space, scene)
