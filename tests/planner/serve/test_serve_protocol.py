"""What the protocol has beside tools: resources that are looked at, logs, offers while somebody writes, and streams."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from databases import place_in_database
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ErrorData,
    LoggingMessageNotificationParams,
    PromptReference,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
)

from infospace import Space, open_space
from planner.execute.start import run
from planner.server.protocol import changes, mcp_server
from planner.server.protocol.completion import MAX_VALUES
from planner.server.protocol.event_store import RETRY_MS, RecentEvents

sys.path.insert(0, str(Path(__file__).parent))
from serving import NOTE, TOKEN, Planner, Served, over_http, planners, play

EARLIER = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
"""The client warns whoever speaks the earlier protocol of what the later one has no more."""
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@EARLIER
def test_a_client_learns_what_another_machine_changed_in_a_database(tmp_path: Path) -> None:
    """Of the server of each: they share the space alone."""
    address, heard = place_in_database(tmp_path), list[str]()

    async def on_message(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    async def scene(planner: Planner) -> None:
        uri = "infospace://note/diary"
        await planner.client.subscribe_resource(uri)
        made = {"type": "create-note", "value": 1, "out": "$x"}
        kept = {"type": "persist", "target": "$x", "name": "diary"}
        assert (await run(there, [made, kept])).status == "success"
        await until(lambda: heard == [uri])

    with open_space(address) as here, open_space(address) as there:
        play(here, scene, mode="legacy", message_handler=on_message)


@EARLIER
def test_a_client_learns_that_a_resource_has_changed_that_it_looks_at(space: Space) -> None:
    """Also of one that was not there; of another one, and after it has had enough, it hears nothing."""
    heard: list[str] = []

    async def on_message(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    async def scene(planner: Planner) -> None:
        uri = "infospace://note/diary"
        await planner.client.subscribe_resource(uri)
        await planner.client.subscribe_resource("infospace://note/other")
        named = {**NOTE, "name": "diary"}
        await planner.call("run_plan", plan=[named])
        await until(lambda: heard == [uri])
        await planner.call("run_plan", plan=[{**named, "value": 2, "replace": True}])
        await until(lambda: heard == [uri, uri])
        await planner.client.unsubscribe_resource(uri)
        await planner.call("run_plan", plan=[{**named, "value": 3, "replace": True}])
        await planner.call("run_plan", plan=[{**NOTE, "name": "other"}])
        await until(lambda: heard == [uri, uri, "infospace://note/other"])

    play(space, scene, mode="legacy", message_handler=on_message)


def test_a_client_of_the_later_protocol_listens_to_a_resource(space: Space) -> None:
    """It is told of no other one."""
    uri = "infospace://note/diary"

    async def scene(planner: Planner) -> list[str]:
        async with planner.client.listen(resource_subscriptions=[uri]) as events, asyncio.timeout(60):
            await planner.call("run_plan", plan=[{**NOTE, "name": "other"}, {**NOTE, "name": "diary"}])
            async for event in events:
                return [type(event).__name__, str(event.uri)]
        return []

    assert play(space, scene) == ["ResourceUpdated", uri]


async def until(holds: Any, seconds: float = 60) -> None:
    """Wait until something holds; fails where that takes too long."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - others change it
            await asyncio.sleep(0.02)


@EARLIER
def test_nothing_is_kept_of_a_client_that_is_gone(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server lives longer than its clients: what each subscribed to, whom to tell of changes, how much each logs."""
    made: dict[str, Any] = {}

    def keep(module: Any, name: str) -> None:
        def create(*given: Any) -> Any:
            made[name] = kind(*given)
            return made[name]

        kind = getattr(module, name)
        monkeypatch.setattr(module, name, create)

    keep(changes, "ResourceSubscriptions")
    keep(mcp_server, "Changes")
    keep(mcp_server, "ClientLogs")

    def kept() -> list[int]:
        told, resources = made["Changes"]._sessions, made["ResourceSubscriptions"]._sessions
        return [len(told), len(resources), len(made["ClientLogs"]._levels)]

    async def scene(planner: Planner) -> None:
        await planner.client.subscribe_resource("infospace://note/diary")
        await planner.client.set_logging_level("warning")
        await until(lambda: kept() == [1, 1, 1])

    play(space, scene, mode="legacy")
    assert kept() == [0, 0, 0]
    resources = made["ResourceSubscriptions"]
    assert resources.changed() == []
    assert resources._seen == {}


@EARLIER
def test_a_client_subscribes_to_so_many_resources_and_no_more(space: Space) -> None:
    async def scene(planner: Planner) -> None:
        for number in range(200):
            await planner.client.subscribe_resource(f"infospace://note/{number}")
        for uri in ("infospace://note/more", "infospace://note/".ljust(2_001, "x")):
            with pytest.raises(MCPError) as refused:
                await planner.client.subscribe_resource(uri)
            assert refused.value.error == ErrorData(
                code=INVALID_PARAMS,
                message="a client subscribes to at most 200 resources, of URIs of at most 2,000 characters",
            )
            # There is room for one more from now on: the other is refused for its length alone.
            await planner.client.unsubscribe_resource("infospace://note/7")
        await planner.client.subscribe_resource("infospace://note/".ljust(2_000, "x"))
        await planner.client.subscribe_resource("infospace://note/8")

    play(space, scene, mode="legacy")


@EARLIER
def test_a_client_is_told_for_its_log_what_is_as_severe_as_it_says(space: Space) -> None:
    heard: list[tuple[str, str]] = []

    async def on_log(params: LoggingMessageNotificationParams) -> None:
        heard.append((params.level, str(params.data)))

    async def scene(planner: Planner) -> None:
        await planner.wrong("get_run", run="run_9")
        assert heard == []
        await planner.client.set_logging_level("warning")
        await planner.wrong("get_run", run="run_9")
        await until(lambda: len(heard) == 1)
        await planner.call("run_plan", plan=[NOTE, {"type": "wait", "seconds": 0.5}])
        assert heard[0][0] == "warning"
        assert heard[0][1].startswith("get_run: there is no run_9")
        assert len(heard) == 1
        await planner.client.set_logging_level("debug")
        await planner.call("run_plan", plan=[NOTE, {"type": "wait", "seconds": 0.5}])
        await until(lambda: len(heard) > 1)
        assert heard[1] == ("info", "1 create-note: success")

    play(space, scene, mode="legacy", logging_callback=on_log)


def test_goals_names_and_ids_are_offered_while_somebody_writes(space: Space) -> None:
    async def scene(planner: Planner) -> None:
        await planner.call("run_plan", plan={"goal": "Make tea", "steps": [{**NOTE, "name": "diary"}]})
        listed = {"type": "create-collection", "value": [1], "name": "dishes", "out": "$c"}
        await planner.call("run_plan", plan={"goal": "make coffee", "steps": [listed, {**NOTE, "name": "_hidden"}]})
        await planner.call("run_plan", plan={"goal": "Make tea", "steps": [NOTE]})

        async def offered(reference: Any, name: str, value: str) -> list[str]:
            return list((await planner.client.complete(reference, {"name": name, "value": value})).completion.values)

        plan = PromptReference(type="ref/prompt", name="plan")
        assert await offered(plan, "goal", "mak") == ["Make tea", "make coffee"]
        assert await offered(plan, "goal", "make t") == ["Make tea"]
        assert await offered(plan, "other", "mak") == []
        assert await offered(PromptReference(type="ref/prompt", name="none"), "goal", "") == []
        for part, value, names in (
            ("note", "di", ["diary"]),
            ("note", "note_", ["Note_1", "Note_2"]),
            ("note", "_", []),
            ("collection", "d", ["dishes"]),
            ("collection", "collection_", ["Collection_1"]),
            ("run", "run_2", ["run_2"]),
        ):
            reference = ResourceTemplateReference(type="ref/resource", uri=f"infospace://{part}/{{id}}")
            assert await offered(reference, "id", value) == names
        nothing = ResourceTemplateReference(type="ref/resource", uri="infospace://secret/{id}")
        assert await offered(nothing, "id", "") == []

    play(space, scene)


def test_of_more_than_a_hundred_names_and_ids_the_first_are_offered_and_that_there_are_more(space: Space) -> None:
    """A hundred is what the protocol allows; each note has two of them here."""
    note = ResourceTemplateReference(type="ref/resource", uri="infospace://note/{id}")

    async def scene(planner: Planner) -> None:
        names = [f"tea {number}" for number in range(MAX_VALUES // 2)]
        await planner.call("run_plan", plan=[{**NOTE, "name": name} for name in names])
        every = [one for number, name in enumerate(names, 1) for one in (name, f"Note_{number}")]
        for more in (False, True):
            offered = (await planner.client.complete(note, {"name": "id", "value": ""})).completion
            assert (offered.values, offered.has_more) == (every, more)
            await planner.call("run_plan", plan=[{**NOTE, "name": "one more"}])

    play(space, scene)


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over HTTP."""
    with over_http(tmp_path_factory.mktemp("streams") / "a.db") as served:
        yield served


@EARLIER
def test_over_http_a_client_learns_of_the_resource_too(streaming: Served) -> None:
    """What another client changed, by the stream that it listens to."""
    heard: list[str] = []

    async def on_message(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    async def scene() -> None:
        async with planners(streaming, ("legacy", "auto"), message_handler=on_message) as (looking, other):
            await looking.client.subscribe_resource("infospace://note/plans")
            await other.call("run_plan", plan=[{**NOTE, "name": "plans"}])
            await until(lambda: heard == ["infospace://note/plans"])

    asyncio.run(scene())


def events_of(text: str) -> list[dict[str, str]]:
    """Return the events of a stream."""
    blocks = [block for block in text.replace("\r\n", "\n").split("\n\n") if block.strip() and block[0] != ":"]
    return [dict(_field_of(line) for line in block.split("\n")) for block in blocks]


def _field_of(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")


def test_a_stream_begins_with_an_id_and_a_client_that_comes_back_is_sent_the_rest(streaming: Served) -> None:
    """As the protocol of November 2025 has it; an event of nobody's brings nothing."""
    with httpx2.Client(headers={**HEADERS, "Authorization": f"Bearer {TOKEN}"}, timeout=60, trust_env=False) as client:

        def post(document: Any, **headers: str) -> httpx2.Response:
            return client.post(streaming.url, json={"jsonrpc": "2.0", **document}, headers=headers)

        known = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        begun = post({"id": 1, "method": "initialize", "params": known})
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
        post({"method": "notifications/initialized"}, **session)
        first, last = events_of(post({"id": 2, "method": "tools/list"}, **session).text)
        assert first["data"] == ""
        assert first["retry"] == str(RETRY_MS)
        assert json.loads(last["data"])["id"] == 2
        with client.stream("GET", streaming.url, headers={**session, "Last-Event-ID": first["id"]}) as again:
            lines = again.iter_lines()
            found = next(line for line in lines if line.startswith("data: {"))
        assert json.loads(found.removeprefix("data: "))["id"] == 2
        older = {**session, "Mcp-Protocol-Version": "2025-03-26"}
        assert [one["data"][:1] for one in events_of(post({"id": 3, "method": "ping"}, **older).text)] == ["{"]


def test_events_are_kept_for_a_while_and_the_oldest_go_first() -> None:
    from mcp_types import JSONRPCNotification

    async def scene() -> None:
        store, sent = RecentEvents(), list[Any]()

        async def send(event: Any) -> None:
            sent.append(event.message)

        big = JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": "x" * 2**20})
        small = JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": "y"})
        first = await store.store_event("a", None)
        await store.store_event("a", big)
        await store.store_event("b", small)
        assert await store.replay_events_after(first, send) == "a"
        assert sent == [big]
        for _ in range(9):
            await store.store_event("b", big)
        assert await store.replay_events_after(first, send) is None
        assert await store.replay_events_after("nobodys", send) is None
        assert sent == [big]

    asyncio.run(scene())


def test_no_more_events_are_kept_than_so_many_however_small_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the events that only begin a stream has no characters at all."""
    monkeypatch.setattr("planner.server.protocol.event_store.MAX_MESSAGES", 3)

    async def scene() -> list[str | None]:
        store = RecentEvents()
        events = [await store.store_event("a", None) for _ in range(4)]
        return [await store.replay_events_after(event, _nobody) for event in events]

    assert asyncio.run(scene()) == [None, "a", "a", "a"]


async def _nobody(_event: Any) -> None:
    """Take an event, and do nothing with it."""


def test_the_latest_event_is_kept_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that lost its connection just then can ask for what came after it."""
    from mcp_types import JSONRPCNotification

    monkeypatch.setattr("planner.server.protocol.event_store.LARGEST", 10)
    whole = JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": "more than ten"})

    async def scene() -> None:
        store, sent = RecentEvents(), list[Any]()

        async def send(event: Any) -> None:
            sent.append(event.message)

        first = await store.store_event("a", whole)
        assert await store.replay_events_after(first, send) == "a"
        second = await store.store_event("a", whole)
        assert await store.replay_events_after(first, send) is None
        assert await store.replay_events_after(second, send) == "a"
        assert sent == []

    asyncio.run(scene())
