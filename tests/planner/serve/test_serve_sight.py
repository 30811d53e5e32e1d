"""Callers who may not see, or not change, all notes, runs and sessions: each is there as far as the scope says."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from infospace import Space, open_space
from infospace.core.errors import Invalid
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.journal.audit import AuditRow
from infospace.store.scoped_store import Visibility
from planner.execute.start import run_sync
from planner.server.access import Access
from planner.server.config import read_config
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server
from planner.server.tools import TOOLS

sys.path.insert(0, str(Path(__file__).parent))
from serving import NOTE, SLOW, Planner, Served, over_http, planners

Scene: TypeAlias = "Callable[[Planner], Awaitable[Any]]"

PUBLIC = "has(metadata.tags, 'public')"
SEEN = {
    "notes": Visibility(PUBLIC, caller="ann"),
    "none": Visibility("none", caller="ann"),
    "read": Visibility("read", caller="ann"),
}
WORD = "hunter2"
"""Stands in every note that is hidden, and must not get out."""


def play(space: Space, scene: Scene, sight: Visibility) -> Any:
    """Let a planner play a scene at a door of its own."""

    async def go() -> Any:
        door = Operations(space, Access(sight.caller or "anybody", sight=sight, approvals="planner", tools=("full",)))
        try:
            async with Client(make_server(door)) as client:
                return await scene(Planner(client))
        finally:
            await door.close()

    return asyncio.run(go())


def audit(space: Space) -> list[AuditRow]:
    """Return what was kept, in its order."""
    with space.store.reading() as snapshot:
        return snapshot.audit()[::-1]


def note(value: str, name: str, *tags: str) -> dict[str, Any]:
    """A step that keeps a note under a name."""
    return {"type": "create-note", "value": value, "metadata": {"tags": list(tags)}, "name": name, "out": f"${name}"}


@pytest.fixture
def shelf(space: Space, model: object) -> Space:
    """A public note, and a private one that is in a Collection, at a Relation, and of an earlier public version."""
    del model
    steps = [
        note("Cats sleep in the sun.", "cats", "public"),
        note(f"Dogs sleep in the shade. {WORD}", "dogs", "private"),
        {"type": "create-collection", "value": ["$cats", "$dogs"], "name": "both", "out": "$both"},
        {"type": "create-relation", "source": "$cats", "target": "$dogs", "relation": "likes", "name": "tie"},
        note("Birds are told to everybody.", "birds", "public"),
        {"type": "update-note", "target": "birds", "value": f"Birds are a secret now. {WORD}", "out": "$b"},
        {"type": "set-metadata", "target": "birds", "value": {"tags": ["private"]}},
        {"type": "discover-notes", "query": "who sleeps where", "threshold": -1, "out": "$hits"},
    ]
    assert run_sync(space, steps).status == "success"
    return space


async def unread(planner: Planner, part: str, name: str) -> str:
    """Return the sentence by which a resource is not read: for what is hidden all else is as for what is nowhere."""
    uri = f"infospace://{part}/{name}"
    with pytest.raises(MCPError) as refused:
        await planner.client.read_resource(uri)
    error = refused.value.error
    assert (error.code, error.data) == (INVALID_PARAMS, {"uri": uri})
    return error.message


HIDDEN = ("Note_2", "dogs", "Collection_1", "both", "Relation_1", "tie", "Note_3", "birds")


@pytest.mark.parametrize("limited", ["notes", "none"])
def test_what_is_hidden_is_answered_as_what_does_not_exist(shelf: Space, limited: str) -> None:
    """By id and by name, in a plan and outside of any; and each is audited."""

    async def scene(planner: Planner) -> None:
        for reference in HIDDEN:
            said = await planner.wrong("read", ref=reference)
            assert said.startswith(("there is no", "nothing here has the name"))
            plan = [{"type": "load", "target": reference, "out": "$x"}]
            answer = await planner.call("check_plan", plan=plan)
            assert not answer["ok"], reference
            assert WORD not in json.dumps(answer)
            assert (await planner.call("run_plan", plan=plan))["status"] == "refused"
        for reference in ("dogs", "cows"):
            assert await unread(planner, "note", reference) == f"nothing here has the name '{reference}'"

    play(shelf, scene, SEEN[limited])
    told = [(row.action, row.target, row.outcome, row.reason) for row in audit(shelf) if row.reason == "out of scope"]
    assert told[: len(HIDDEN)] == [("read", name, "refused", "out of scope") for name in HIDDEN]
    assert told[-1][:2] == ("resources/read", "dogs")


def test_whatever_leads_to_what_is_hidden_is_kept_as_it_was_asked_for(shelf: Space, tmp_path: Path) -> None:
    """A name with a dot, a bracket or a slash, a path, a title, also of several, an alias; of a place its resource."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "private.md").write_text("---\ntitle: The diary\naliases: [Old diary]\n---\nx", "utf-8")
    for folder in ("one", "two"):
        (tmp_path / "shelf" / folder).mkdir()
        (tmp_path / "shelf" / folder / "plan.md").write_text("# Salaries", "utf-8")
    import_paths(shelf, [tmp_path / "shelf"], NullListener())
    names = ("diary.2024", "list[0]", "two words", "team/salaries")
    steps = [{"type": "create-note", "value": WORD, "name": name} for name in names]
    assert run_sync(shelf, steps).status == "success"
    hidden = {name: name for name in (*names, "private.md", "The diary", "Old diary", "Salaries")}
    hidden |= {"Note_2.title": "Note_2", "Collection_1[0]": "Collection_1"}

    async def scene(planner: Planner) -> None:
        for reference in (*hidden, "dogs.md", "dogs[0]", "diary.2024.title", "cats.md"):
            assert await planner.wrong("read", ref=reference)
        for name in ("two%20words", "diary.2024", "list%5B0%5D", "team/salaries", "dogs.md"):
            with pytest.raises(MCPError, match="nothing here has the name"):
                await planner.client.read_resource(f"infospace://note/{name}")

    play(shelf, scene, SEEN["notes"])
    told = [(row.action, row.target) for row in audit(shelf) if row.reason == "out of scope"]
    by_address = [("resources/read", name) for name in ("two words", "diary.2024", "list[0]", "team/salaries")]
    assert told == [*(("read", name) for name in hidden.values()), *by_address]


def test_a_place_that_is_not_there_of_what_is_seen_is_not_kept_as_out_of_scope(shelf: Space) -> None:
    """Nor what is nowhere: only what is there, and hidden, is."""

    async def scene(planner: Planner) -> None:
        for reference in ("cats.nothing", "Note_1.nothing", "nobody", "Note_999"):
            assert await planner.wrong("read", ref=reference)

    before = len(audit(shelf))
    play(shelf, scene, SEEN["notes"])
    assert "out of scope" not in [row.reason for row in audit(shelf)[before:]]


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
@pytest.mark.parametrize(("limited", "seen"), [("notes", ["cats"]), ("none", []), ("read", ["birds", "cats", "dogs"])])
def test_a_search_finds_and_counts_what_is_seen_alone(shelf: Space, mode: str, limited: str, seen: list[str]) -> None:
    """The limit and the certificate too: what is hidden was not compared."""

    async def scene(planner: Planner) -> None:
        given = {} if mode == "keyword" else {"threshold": -1}
        query = "sleep birds" if mode == "keyword" else "where do animals sleep"
        answer = await planner.call("discover_notes", query=query, mode=mode, limit=5, **given)
        proved = answer["extra"]["certificate"]
        assert (proved["notes"], proved["matched"], proved["returned"]) == (len(seen),) * 3
        assert (WORD in json.dumps(answer)) is (limited == "read")
        steps = [
            {"type": "discover-notes", "query": query, "mode": mode, "limit": 1, **given, "out": "$h"},
            {"type": "create-note", "value": "${h.@extra}", "out": "$e"},
        ]
        ran = await planner.call("run_plan", plan=steps)
        assert ran["bindings"]["h"]["size"] == min(1, len(seen))
        told = json.loads(ran["result"]["data"])
        assert told["certificate"]["notes"] == len(seen)

    play(shelf, scene, SEEN[limited])


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_search_tells_nothing_of_words_of_hidden_notes(shelf: Space, mode: str) -> None:
    """Neither which there are, nor by the score of a seen note how many have them: as in a space without them."""
    query = f"cats sleep in the shade {WORD}"

    async def scene(planner: Planner) -> Any:
        given = {} if mode == "keyword" else {"threshold": -1}
        return await planner.call("discover_notes", query=query, mode=mode, **given)

    before = play(shelf, scene, SEEN["notes"])
    assert before["extra"]["certificate"]["words"] == ["cats", "sleep"]
    steps = [note(f"{WORD} cats sleep", f"other{number}", "private") for number in range(5)]
    assert run_sync(shelf, steps).status == "success"
    after = play(shelf, scene, SEEN["notes"])
    assert [hit["metadata"]["score"] for hit in after["data"]] == [hit["metadata"]["score"] for hit in before["data"]]


def test_lists_and_other_verbs_show_nothing_hidden(shelf: Space) -> None:
    """Resources, collections, relations, what is in a Collection of others, and what a run made of them."""

    async def scene(planner: Planner) -> None:
        page = await planner.client.list_resources()
        uris = [str(one.uri) for one in page.resources if "/run/" not in str(one.uri)]
        assert uris == ["infospace://note/Note_1"]
        steps = [
            {"type": "find-relations", "out": "$r"},
            {"type": "related", "target": "cats", "relation": "likes", "direction": "both", "out": "$t"},
            {"type": "discover-collections", "query": "animals", "threshold": -1, "out": "$c"},
        ]
        ran = await planner.call("run_plan", plan=steps)
        assert ran["status"] == "success", ran
        assert [ran["bindings"][name]["size"] for name in ("r", "t", "c")] == [0, 0, 0]
        for made in range(4, 9):
            assert "there is no" in await planner.wrong("read", ref=f"Note_{made}")
        assert WORD not in json.dumps(ran)

    play(shelf, scene, SEEN["notes"])


def test_an_earlier_version_of_what_is_hidden_now_is_hidden(shelf: Space) -> None:
    """It was public then."""
    sight = SEEN["notes"]

    async def scene(planner: Planner) -> None:
        assert "nothing here has the name" in await planner.wrong("read", ref="birds")

    play(shelf, scene, sight)
    seen = Operations(shelf, Access("ann", sight=sight)).space.store
    with seen.reading() as snapshot:
        for version in (1, 2):
            with pytest.raises(Exception, match="there is no Note_3"):
                snapshot.get("Note_3", version)
        assert snapshot.names() == ["cats"]
        assert snapshot.count(snapshot.get("Note_1").kind) == 1
        assert [head.id for head in snapshot.heads(own=True)] == ["Note_1"]


@pytest.mark.parametrize("limited", ["read", "none"])
def test_who_may_only_read_changes_and_keeps_nothing(shelf: Space, limited: str) -> None:
    """What a run makes for itself stays possible."""
    own = {"type": "create-note", "value": "x", "out": "$x"}
    writes: list[list[dict[str, Any]]] = [
        [note("new", "new")],
        [own, {"type": "persist", "target": "$x"}],
        [own, {"type": "name", "target": "$x", "value": "x"}],
        [{"type": "create-collection", "value": [], "name": "c"}],
    ]
    if limited == "read":
        writes += [
            [{"type": "update-note", "target": "cats", "value": "gone", "out": "$u"}],
            [{"type": "set-metadata", "target": "cats", "value": {"a": 1}}],
            [{"type": "remove", "target": "cats"}],
            [own, {"type": "add", "target": "both", "value": "$x"}],
            [{"type": "create-note", "value": "gone", "name": "cats", "replace": True}],
        ]

    async def scene(planner: Planner) -> None:
        with shelf.store.reading() as snapshot:
            generation = snapshot.generation
        for steps in writes:
            ran = await planner.call("run_plan", plan=steps)
            assert ran["status"] == "failed", steps
            assert f"its scope has `notes` '{limited}'" in ran["reason"], ran["reason"]
        with shelf.store.reading() as snapshot:
            assert snapshot.generation == generation
        made = [own, {"type": "update-note", "target": "$x", "value": "y", "out": "$y"}]
        assert (await planner.call("run_plan", plan=made))["result"]["data"] == "y"
        assert (await planner.call("run_steps", session="s", steps=[own]))["status"] == "success"

    play(shelf, scene, SEEN[limited])


def test_who_sees_some_notes_writes_these_and_new_ones(shelf: Space) -> None:
    """A name that a hidden note holds is taken, and it is not replaced."""

    async def scene(planner: Planner) -> None:
        assert (await planner.call("run_plan", plan=[note("mine", "mine")]))["status"] == "success"
        changed = [{"type": "update-note", "target": "cats", "value": "Cats.", "out": "$u"}]
        assert (await planner.call("run_plan", plan=changed))["status"] == "success"
        assert "mine" in json.dumps(await planner.call("read", ref="mine"))
        for step in (note("x", "dogs"), {**note("x", "dogs"), "replace": True}):
            ran = await planner.call("run_plan", plan=[step])
            assert ran["status"] == "failed", ran
            assert ran["reason"] == "step 1 (create-note) failed: the name 'dogs' is taken (take another name)"

    play(shelf, scene, SEEN["notes"])
    assert shelf.store.get("Note_2").name == "dogs"


OWN = Visibility(runs="own", sessions="own", caller="bob")


def test_each_tool_of_the_door_knows_no_run_of_another(space: Space) -> None:
    """All that take a run say so in the same words; a new tool that takes one has to be named here."""
    ask = [NOTE, {"type": "ask", "value": "who?", "out": "$who"}]
    calls: dict[str, dict[str, Any]] = {
        "get_run": {},
        "answer_run": {"step": "2", "value": "me"},
        "cancel_run": {},
        "list_bindings": {},
    }
    takes = {name for name, tool in TOOLS.items() if "run" in tool.brief["properties"]}
    assert takes == calls.keys()

    async def others(planner: Planner) -> tuple[str, str]:
        ran = await planner.call("run_plan", plan=ask)
        session = await planner.call("run_steps", session="default", steps=[NOTE])
        return ran["run"], session["run"]

    run, session = play(space, others, Visibility(caller="ann"))

    async def scene(planner: Planner) -> None:
        for number in (run, session):
            for name, given in calls.items():
                assert f"there is no {number}, which was pruned" in await planner.wrong(name, run=number, **given)
            assert f"there is no {number}" in await planner.wrong("read", ref=number)
            assert (await unread(planner, "run", number)).startswith(f"there is no {number}, which was pruned")
        assert "there is no Note_1" in await planner.wrong("read", ref="Note_1")
        page = await planner.client.list_resources()
        assert [str(one.uri) for one in page.resources] == []
        assert (
            await planner.wrong("list_bindings", session="default")
            == "no session 'default' is open (run_steps opens one)"
        )
        mine = await planner.call("run_steps", session="default", steps=[{**NOTE, "out": "$mine"}])
        assert mine["run"] != session
        assert mine["bindings"].keys() == {"mine"}
        own = await planner.call("run_plan", plan=ask)
        assert (await planner.call("answer_run", run=own["run"], step="2", value="me"))["status"] == "success"
        page = await planner.client.list_resources()
        assert [one.name for one in page.resources if "/run/" in str(one.uri)] == [own["run"], mine["run"]]

    play(space, scene, OWN)
    refused = {(row.caller, row.action, row.target) for row in audit(space) if row.reason == "out of scope"}
    assert {("bob", name, run) for name in (*calls, "read", "resources/read")} <= refused

    async def again(planner: Planner) -> None:
        answer = await planner.call("get_run", run=run)
        assert (answer["status"], [one["step"] for one in answer["pending"]]) == ("suspended", ["2"])
        assert (await planner.call("list_bindings", session="default"))["bindings"].keys() == {"x"}

    play(space, again, Visibility(caller="ann"))


def test_own_sessions_of_callers_whose_names_look_alike_are_apart(space: Space) -> None:
    """A `/` in a name makes no session of another caller."""

    async def scene(planner: Planner) -> set[str]:
        steps = [{"type": "create-note", "value": 1, "out": "$x"}]
        names = ("b/c", "c")
        return {(await planner.call("run_steps", session=name, steps=steps))["run"] for name in names}

    runs = [play(space, scene, Visibility(sessions="own", caller=caller)) for caller in ("a", "a/b", "a")]
    assert not runs[0] & runs[1]
    assert runs[0] == runs[2]


@pytest.mark.parametrize("name", ["_session:default", "_session:ann/default", "_session:bob/mine"])
def test_who_has_its_own_sessions_makes_no_name_mean_a_session(space: Space, name: str) -> None:
    """Whoever opened one of that name would go on in a run of the one who planted it, and be read there."""

    async def plants(planner: Planner) -> str:
        mine = await planner.call("run_steps", session="trap", steps=[NOTE])
        made = {"type": "create-note", "value": {"run": mine["run"]}, "out": "$x"}
        for steps in ([{**made, "name": name}], [made, {"type": "name", "target": "$x", "value": name}]):
            ran = await planner.call("run_plan", plan=steps)
            assert ran["status"] == "failed"
            assert f"bob may not give the name '{name}': it means a session" in ran["reason"]
        return str(mine["run"])

    async def opens(planner: Planner) -> str:
        return str((await planner.call("run_steps", session="default", steps=[NOTE]))["run"])

    assert play(space, plants, OWN) != play(space, opens, Visibility(caller="ops"))
    assert play(space, opens, OWN)


def test_a_session_of_a_caller_who_sees_other_notes_is_not_joined(shelf: Space) -> None:
    """What is bound in it would show what is hidden, here or there."""

    async def begins(planner: Planner) -> None:
        assert (await planner.call("run_steps", session="s", steps=[NOTE]))["status"] == "success"

    async def joins(planner: Planner) -> str:
        return await planner.wrong("run_steps", session="s", steps=[NOTE])

    play(shelf, begins, Visibility(caller="ann"))
    play(shelf, begins, Visibility("read", caller="eve"))
    assert "is of a caller who sees other notes" in play(shelf, joins, SEEN["notes"])


def test_a_run_goes_on_in_the_sight_in_which_it_was_begun(shelf: Space) -> None:
    """Whoever answers it; and it is its caller's own still."""
    plan = [
        {"type": "ask", "value": "what?", "out": "$what"},
        {"type": "discover-notes", "query": "who sleeps where", "threshold": -1, "out": "$hits"},
        {"type": "load", "target": "${what}", "out": "$x"},
    ]

    async def begins(planner: Planner) -> str:
        return str((await planner.call("run_plan", plan=plan))["run"])

    async def answers(planner: Planner) -> Any:
        return await planner.call("answer_run", run=run, step="1", value="dogs")

    run = play(shelf, begins, Visibility(PUBLIC, "own", "own", "ann"))
    ran = play(shelf, answers, Visibility(caller="ops"))
    assert (ran["status"], ran["bindings"]["hits"]["size"]) == ("failed", 1)

    async def looks(planner: Planner) -> Any:
        return await planner.call("get_run", run=run)

    assert play(shelf, looks, Visibility(PUBLIC, "own", "own", "ann"))["status"] == "failed"


@pytest.mark.parametrize("tool", ["run_plan", "run_steps"])
def test_a_run_of_who_sees_its_own_runs_alone_reads_no_others_result_whoever_goes_on_with_it(
    space: Space, tool: str
) -> None:
    """What was made in passing by another's run stays hidden from the rest of the plan."""
    made = run_sync(space, [{"type": "create-note", "value": WORD, "out": "$x"}])
    assert made.bindings["x"].id == "Note_1"
    steps = [{"type": "ask", "value": "which?", "out": "$which"}, {"type": "load", "target": "${which}", "out": "$x"}]
    given: dict[str, Any] = {"plan": steps} if tool == "run_plan" else {"session": "s", "steps": steps}

    async def begins(planner: Planner) -> Any:
        return await planner.call(tool, **given)

    async def answers(planner: Planner) -> Any:
        return await planner.call("answer_run", run=begun["run"], step=begun["pending"][0]["step"], value="Note_1")

    begun = play(space, begins, OWN)
    ran = play(space, answers, Visibility(caller="ops"))
    assert ran["status"] == "failed"
    assert "there is no Note_1" in ran["reason"]


def test_a_run_of_another_that_goes_on_is_not_cancelled(space: Space) -> None:
    """It does not exist, and goes on."""

    async def go() -> tuple[str, str]:
        ann, bob = (
            Operations(space, Access(name, sight=Visibility(runs="own", caller=name), tools=("full",)))
            for name in ("ann", "bob")
        )
        try:
            async with Client(make_server(ann)) as one, Client(make_server(bob)) as other:
                run = (await Planner(one).call("run_plan", plan=[SLOW], wait_s=0))["run"]
                said = await Planner(other).wrong("cancel_run", run=run)
                return said, (await Planner(one).call("get_run", run=run))["status"]
        finally:
            await ann.close()
            await bob.close()

    said, status = asyncio.run(go())
    assert said.startswith("there is no run_1")
    assert status == "running"


CONFIG = {
    "scopes": {
        "guest": {"notes": {"where": PUBLIC}, "runs": "own", "sessions": "own"},
        "reader": {"notes": "read"},
    },
    "tokens": [
        {"name": "ann", "token": "a" * 20, "scope": "guest"},
        {"name": "bob", "token": "b" * 20, "scope": "reader"},
        {"name": "ops", "token": "c" * 20},
        {"name": "eve", "token": "d" * 20, "scope": "guest"},
    ],
}


def test_the_configuration_says_what_each_token_sees(tmp_path: Path) -> None:
    """By its scope, with the caller's name."""
    (tmp_path / "c.json").write_text(json.dumps(CONFIG))
    sights = [token.access.sight for token in read_config(tmp_path / "c.json", {}).tokens]
    assert sights[:2] == [Visibility(PUBLIC, "own", "own", "ann"), Visibility("read", caller="bob")]
    assert not sights[2].limits


@pytest.mark.slow
def test_after_a_kill_a_run_is_still_of_who_began_it(tmp_path: Path) -> None:
    """Over HTTP, by two tokens: the server is killed while a run waits and another one goes on."""
    (tmp_path / "serve.json").write_text(json.dumps(CONFIG))
    file, config = tmp_path / "space.db", ("--config", str(tmp_path / "serve.json"))
    open_space(file).close()
    ask = [NOTE, {"type": "wait", "seconds": 60}]

    async def ann(planner: Planner) -> list[str]:
        ran = await planner.call("run_plan", plan=ask, wait_s=0)
        steps = await planner.call("run_steps", session="default", steps=[NOTE])
        await planner.until_bound(ran["run"], "x")
        return [ran["run"], steps["run"]]

    async def bob(planner: Planner) -> None:
        for run in runs:
            assert (await planner.call("get_run", run=run))["run"] == run
        assert (await planner.call("list_bindings", session="default"))["bindings"].keys() == {"bobs"}

    async def eve(planner: Planner) -> None:
        for run in runs:
            for tool, given in (("get_run", {}), ("cancel_run", {}), ("answer_run", {"step": "2", "value": 1})):
                assert f"there is no {run}" in await planner.wrong(tool, run=run, **given)
        assert "no session 'default' is open" in await planner.wrong("list_bindings", session="default")

    async def ann_again(planner: Planner) -> None:
        assert (await planner.call("list_bindings", session="default"))["bindings"].keys() == {"x"}
        assert (await planner.call("cancel_run", run=runs[0]))["status"] == "cancelled"

    async def as_token(served: Served, token: str, scene: Scene) -> Any:
        async with planners(served, token=token * 20) as [planner]:
            return await scene(planner)

    with over_http(file, *config, token=None) as served:
        runs = asyncio.run(as_token(served, "a", ann))
        served.end(signal.SIGKILL)
    with over_http(file, *config, token=None) as served:
        asyncio.run(as_token(served, "d", eve))
        steps = [{**NOTE, "out": "$bobs"}]
        asyncio.run(as_token(served, "c", lambda planner: planner.call("run_steps", session="default", steps=steps)))
        asyncio.run(as_token(served, "c", bob))
        asyncio.run(as_token(served, "a", ann_again))


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ({"notes": "some"}, "scopes.x.notes"),
        ({"notes": {"where": "has(tags"}}, "`scopes.x.notes.where`: "),
        ({"notes": {"where": "n = $n"}}, "`scopes.x.notes.where`: there is no $n here"),
        ({"notes": {"where": "due < today()"}}, "`scopes.x.notes.where`: there is no `today()` and no `now()` here"),
        ({"notes": {"were": "n = 1"}}, "scopes.x.notes"),
        ({"runs": "mine"}, "scopes.x.runs"),
        ({"sessions": None}, "scopes.x.sessions"),
    ],
)
def test_a_scope_that_says_something_else_is_refused_with_its_place(
    tmp_path: Path, scope: dict[str, Any], message: str
) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"scopes": {"x": scope}}))
    with pytest.raises(Invalid) as told:
        read_config(tmp_path / "c.json", {})
    assert message in str(told.value)
