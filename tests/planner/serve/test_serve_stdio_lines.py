"""The server over standard input and output: what it takes, in what order, and what it does not take."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tty
from pathlib import Path

import pytest

from planner.server.protocol.stdio import LONGEST_LINE

sys.path.insert(0, str(Path(__file__).parent))
from serving import command, raw_stdio


def initialized(space: Path) -> subprocess.Popen[bytes]:
    """Return the same after the handshake of the earlier protocol."""
    server = raw_stdio(space)
    assert server.stdin is not None
    assert server.stdout is not None
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for message in (
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 0
    return server


@pytest.mark.slow
def test_a_message_that_is_too_long_ends_the_connection_and_is_told(tmp_path: Path) -> None:
    """Nobody can tell which request it was, so nobody could answer it."""
    with raw_stdio(tmp_path / "space.db") as server:
        _, said = server.communicate(b"x" * (LONGEST_LINE + 70_000), timeout=90)
        assert server.returncode == 0
        assert b"is longer than" in said


UNREADABLE = {
    '{"tool_name": "\\ud800", "arguments": {}}': (-32700, "holds half of a character"),
    '{"tool_name": "x", "arguments": {"x": ' + "[" * 5_000 + "]" * 5_000 + "}}": (-32700, "recursion limit exceeded"),
    '{"tool_name": "x", "arguments": {"x": ' + "9" * 5_000 + "}}": (-32700, "number out of range"),
    "[]": (-32600, "is not a message of JSON-RPC 2.0"),
}


@pytest.mark.slow
def test_a_request_that_cannot_be_read_is_answered_and_the_next_one_too(tmp_path: Path) -> None:
    """Whoever asked would else wait for ever; what has no number is passed over."""
    with raw_stdio(tmp_path / "space.db") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number, (arguments, (code, message)) in enumerate(UNREADABLE.items(), 7):
            call = f'{{"name": "execute_tool", "arguments": {arguments}}}' if arguments != "[]" else arguments
            head, name = '"jsonrpc": "2.0"', '"method": "tools/call"'
            for line in (
                f'{{{head}, "id": {number}, {name}, "params": {call}}}',
                f'{{{name}, "params": {call}, {head}, "id": {number}}}',
            ):
                server.stdin.write(b"no message\n" + line.encode() + b"\n")
                server.stdin.flush()
                answer = json.loads(server.stdout.readline())
                assert (answer["id"], answer["error"]["code"]) == (number, code)
                assert answer["error"]["message"].startswith("the request cannot be read: ")
                assert message in answer["error"]["message"]
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "ping"}).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 99
        server.communicate(timeout=60)
        assert server.returncode == 0


@pytest.mark.slow
def test_a_terminal_that_is_gone_ends_the_server(tmp_path: Path) -> None:
    """Reading from it is an error then, and no end."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    with subprocess.Popen(
        command(tmp_path / "space.db"),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        os.close(theirs)
        os.write(ours, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["id"] == 1
        os.close(ours)
        _, said = server.communicate(timeout=90)
    assert (server.returncode, b"Traceback" in said) == (0, False)


def ask(server: subprocess.Popen[bytes], number: int) -> None:
    """Ask a server for what has a long answer."""
    assert server.stdin is not None
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
    call = {"name": "describe_primitives", "arguments": {}}
    server.stdin.write(json.dumps({**message, "params": call}).encode() + b"\n")
    server.stdin.flush()


@pytest.mark.slow
def test_a_client_that_reads_late_is_answered_all_the_same(tmp_path: Path) -> None:
    """More than a pipe holds, and short answers between long ones."""
    with initialized(tmp_path / "space.db") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number in range(100, 120):
            ask(server, number)
            ping = {"jsonrpc": "2.0", "id": number + 100, "method": "ping"}
            server.stdin.write(json.dumps(ping).encode() + b"\n")
            server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(40)]
        assert {answer["id"] for answer in answers} == {*range(100, 120), *range(200, 220)}
        long = [answer["result"]["content"][0]["text"] for answer in answers if answer["id"] < 200]
        assert len({*long}) == 1
        assert sum(map(len, long)) > 200_000
        server.stdin.close()
        assert server.wait(90) == 0


@pytest.mark.slow
def test_a_client_that_reads_no_more_ends_its_server_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    """Whatever it goes on to write."""
    with initialized(tmp_path / "space.db") as server:
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        ask(server, 2)
        assert server.wait(90) == 0
        assert server.stderr.read() == b""
