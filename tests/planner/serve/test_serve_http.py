"""The server over HTTP on loopback: who is let in, several at once, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from infospace import Invalid, open_space
from planner.server.protocol.http import bound

sys.path.insert(0, str(Path(__file__).parent))
from serving import TOKEN, Served, over_http, planners

SLOW = [{"type": "wait", "seconds": 60}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests that leave it as it is."""
    with over_http(tmp_path_factory.mktemp("http") / "space.db") as one:
        yield one


def post(served: Served, **headers: str) -> httpx2.Response:
    """Send a request that the server takes, unless some headers are others."""
    taken = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    given = {**taken, **headers}
    known = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": known}
    return httpx2.post(served.url, json=message, headers=given, timeout=90)


def test_an_answer_does_not_wait_until_its_head_is_acknowledged() -> None:
    """What is accepted sends at once (TCP_NODELAY): else the body of each answer comes some 40 ms late."""

    async def accepted() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = bound("127.0.0.1", 0)
        async with await asyncio.start_server(connected, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await found

    assert asyncio.run(accepted()) != 0


@pytest.mark.slow
def test_a_connection_outlives_the_patience_of_its_client(served: Served) -> None:
    """Httpx gives up an idle connection after five seconds: a server that does so, too, loses the request between."""
    with httpx2.Client(limits=httpx2.Limits(keepalive_expiry=60)) as client:
        health = served.url.replace("/mcp", "/health")

        def port() -> int:
            answer = client.get(health)
            assert answer.json()["status"] == "ok"
            return int(answer.extensions["network_stream"].get_extra_info("client_addr")[1])

        first = port()
        time.sleep(6)
        assert port() == first, "the same connection"


@pytest.mark.slow
def test_two_clients_at_once_queue_on_one_session(served: Served) -> None:
    """Of either protocol; every call sees what all earlier ones bound, and none is lost."""

    async def play() -> Any:
        async with planners(served, ("auto", "legacy")) as (one, other):
            first = [{"type": "create-collection", "value": [], "out": "$all"}]
            await one.call("run_steps", session="shared", steps=first)
            await asyncio.gather(
                *(
                    planner.call(
                        "run_steps",
                        session="shared",
                        steps=[
                            {"type": "create-note", "value": number, "out": "$it"},
                            {"type": "add", "target": "$all", "value": "$it"},
                        ],
                    )
                    for number, planner in enumerate([one, other] * 5)
                )
            )
            bindings = (await other.call("list_bindings", session="shared"))["bindings"]
            found = await one.call("read", ref=bindings["all"]["id"])
            runs = await asyncio.gather(*(planner.call("run_plan", plan=SLOW, wait_s=0) for planner in (one, other)))
            for answer, planner in zip(runs, (other, one), strict=True):
                assert (await planner.call("cancel_run", run=answer["run"]))["status"] == "cancelled"
            return found["data"]

    assert sorted(item["content"] for item in asyncio.run(play())) == list(range(10))


@pytest.mark.slow
@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN])
def test_without_the_token_nobody_is_let_in(served: Served, given: str) -> None:
    answer = post(served, Authorization=given)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


@pytest.mark.slow
def test_a_client_with_a_wrong_token_cannot_connect(served: Served) -> None:
    async def connect() -> None:
        async with planners(served, token="not-the-token-of-this-server"):  # noqa: S106 - it opens nothing
            pass

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(connect())
    assert caught.group_contains(MCPError, match="Server returned an error response")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Host": "127.0.0.1:1"}, 421), ({"Origin": "http://evil.example"}, 403)],
)
def test_other_hosts_and_origins_are_turned_away(served: Served, headers: dict[str, str], status: int) -> None:
    """A page in a browser that was sent here by a name of its own has the token of nobody, and gets nothing with it."""
    assert post(served, **headers).status_code == status


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost:PORT"},
        {"Origin": "http://localhost:PORT"},
        {"Host": "localhost:PORT", "Origin": "http://127.0.0.1:PORT"},
        {"Authorization": f"bearer {TOKEN}"},
        {"Authorization": f"BEARER {TOKEN}"},
    ],
    ids=lambda headers: " ".join(headers.values()).replace(TOKEN, "…") or "plain",
)
def test_this_machine_is_let_in_by_either_of_its_names(served: Served, headers: dict[str, str]) -> None:
    """And by the word `Bearer` in small letters or capitals, as HTTP has it."""
    port = served.url.split("/")[2].rpartition(":")[2]
    answer = post(served, **{key: value.replace("PORT", port) for key, value in headers.items()})
    assert (answer.status_code, '"serverInfo"' in answer.text) == (200, True), answer.text


@pytest.mark.slow
def test_a_body_that_is_too_long_is_not_taken(served: Served) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    answer = httpx2.post(served.url, content=b" " * 5_000_000, headers=headers, timeout=90)
    assert answer.status_code == 413


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_what_runs_is_cancelled_and_journalled(tmp_path: Path, number: int) -> None:
    """A session that ran steps rests, and is taken up by the next server."""

    async def begin(served: Served) -> tuple[str, str]:
        async with planners(served) as [planner]:
            steps = [{"type": "create-note", "value": 1, "out": "$x"}, *SLOW]
            session = await planner.call("run_steps", session="s", steps=steps, wait_s=0)
            plan = await planner.call("run_plan", plan=SLOW, wait_s=0)
            await planner.until_bound(session["run"], "x")
            return session["run"], plan["run"]

    with over_http(tmp_path / "space.db", "--token", TOKEN, token=None) as served:
        session, plan = asyncio.run(begin(served))
        assert served.end(number) == (130 if number == signal.SIGINT else 0)
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        assert snapshot.run(plan).status == "cancelled"
        assert snapshot.run(session).status == "suspended"
        assert [(row.position, row.status) for row in snapshot.steps(session)] == [("1", "success"), ("2", "failed")]


@pytest.mark.slow
def test_without_a_token_one_is_made_and_printed(tmp_path: Path) -> None:
    with over_http(tmp_path / "space.db", token=None) as served:
        assert served.process.stderr is not None
        token = served.process.stderr.readline().removeprefix("token: ").strip()
        assert len(token) >= 32
        assert post(served).status_code == 401
        bearer = {"Authorization": f"Bearer {token}"}
        assert post(served, **bearer).status_code == 200
        discover = served.url.replace("/mcp", "/discover")
        refused = httpx2.post(discover, content=b" " * 10_001, headers=bearer, timeout=90)
        assert (refused.status_code, refused.json()) == (
            400,
            {
                "error": "unreadable",
                "reason": 'the body has more than 10,000 bytes ({"restart": true}, or nothing)',
            },
        ), "it is that of an admin"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "::1", "example.com", ""])  # noqa: S104
def test_only_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(Invalid, match="not a loopback address"):
        bound(host, 0)


def test_a_port_that_is_taken_is_told() -> None:
    with bound("127.0.0.1", 0) as listening, pytest.raises(Invalid, match="cannot be listened on"):
        bound("127.0.0.1", listening.getsockname()[1])


@pytest.mark.slow
def test_a_run_whose_server_was_killed_is_gone_on_with_at_the_next_one(tmp_path: Path) -> None:
    """It says that it can be, and `answer_run` does it; a session takes its next steps."""
    plan = [
        {"type": "create-note", "value": "before", "out": "$before"},
        {"type": "wait", "seconds": 3},
        {"type": "create-note", "value": "${before} and after", "out": "$after"},
    ]

    async def first(served: Served) -> Any:
        async with planners(served) as (planner,):
            run = await planner.call("run_plan", plan=plan, wait_s=0)
            await planner.call("run_steps", session="s", steps=plan, wait_s=0)
            return run["run"]

    async def second(served: Served, run: str) -> Any:
        async with planners(served) as (planner,):
            found = await planner.call("get_run", run=run, wait_s=0)
            (pending,) = found["pending"]
            ended = await planner.call("answer_run", run=run, step=pending["step"], value=None, wait_s=60)
            steps = [{"type": "create-note", "value": "more", "out": "$more"}]
            return found, pending, ended, await planner.call("run_steps", session="s", steps=steps, wait_s=60)

    with over_http(tmp_path / "space.db") as served:
        run = asyncio.run(first(served))
        served.end(signal.SIGKILL)
    with over_http(tmp_path / "space.db") as served:
        found, pending, ended, steps = asyncio.run(second(served, run))
    assert (found["status"], pending["kind"]) == ("suspended", "wait")
    assert "answer_run" in found["reason"]
    assert (ended["status"], ended["result"]["value"]) == ("success", "before and after")
    assert steps["status"] == "success"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: x",
        b"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\nGET /hea",
        (
            b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            b"Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{"
        ),
    ],
    ids=["nothing", "half a head", "half a second request", "half a body"],
)
def test_who_sends_half_a_request_is_cut_off(impatient: Served, sent: bytes) -> None:
    """Whatever was sent, and the server goes on."""
    host = impatient.url.split("/")[2]
    name, _, port = host.partition(":")
    whole = sent.replace(b"{host}", host.encode()).replace(b"{token}", TOKEN.encode())
    with socket.create_connection((name, int(port)), timeout=60) as connection:
        connection.sendall(whole)
        while connection.recv(4096):
            pass
    health = httpx2.get(impatient.url.rsplit("/", 1)[0] + "/health", timeout=90)
    assert health.status_code == 200


@pytest.mark.slow
def test_parts_that_trickle_in_do_not_prolong_the_time(impatient: Served) -> None:
    """The time is that of the whole request, however often something of it comes."""
    name, _, port = impatient.url.split("/")[2].partition(":")
    with socket.create_connection((name, int(port)), timeout=60) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nX-Slow: ")
        connection.settimeout(0.05)
        for _ in range(400):
            try:
                connection.sendall(b"x")
                assert connection.recv(4096) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("the connection is still open")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that waits half a second for a request."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("INFOSPACE_REQUEST_SECONDS", "0.5")
        with over_http(tmp_path_factory.mktemp("impatient") / "space.db") as one:
            yield one


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"{nope", b"[]", b"", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'])
def test_a_request_that_is_turned_down_leaves_no_session(served: Served, body: bytes) -> None:
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    bad = httpx2.post(served.url, content=body, headers=headers, timeout=90)
    assert bad.status_code == 400
    assert "Traceback" not in bad.text
    session = {**headers, "Mcp-Session-Id": bad.headers["mcp-session-id"]}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    after = httpx2.post(served.url, json=message, headers=session, timeout=90)
    assert (after.status_code, "Session not found" in after.text) == (404, True)


def test_streams_of_clients_end_with_the_server_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    """So many that tracebacks of all of them would fill the pipe, and nobody reads it until the end."""
    known = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    taken = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    with over_http(tmp_path / "a.db") as served, ExitStack() as stack:
        for _ in range(15):
            client = stack.enter_context(httpx2.Client(headers=taken, timeout=90, trust_env=False))
            begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": known}
            session = {"Mcp-Session-Id": client.post(served.url, json=begin).headers["mcp-session-id"]}
            session["Mcp-Protocol-Version"] = "2025-11-25"
            stack.enter_context(client.stream("GET", served.url, headers=session))
        assert served.end() == 0
        assert served.process.stderr is not None
        assert served.process.stderr.read() == ""
