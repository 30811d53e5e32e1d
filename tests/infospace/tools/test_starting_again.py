"""How often a server that does not start is started again, and how long it is left alone."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.tool import ToolFailed
from infospace.tools.mcp import pool
from infospace.tools.mcp.connection import Connection

sys.path.insert(0, str(Path(__file__).parent))
from served import call, odd, synced, write


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The servers that were started, each time; there is little time between two."""
    monkeypatch.setattr(pool, "RETRY_S", (0.01, 0.02))
    started: list[str] = []
    opened = Connection.open

    async def counted(self: Connection) -> None:
        started.append(self.entry.name)
        await opened(self)

    monkeypatch.setattr(Connection, "open", counted)
    return started


def known(space: Space, tmp_path: Path, entry: Any) -> None:
    """Know the tools of a server, which is another one from now on."""
    synced(space, mcp=write(tmp_path, a=odd("plain")))
    write(tmp_path, a=entry)
    assert space.tools.servers is not None
    space.tools.servers.reload()


@pytest.mark.parametrize(
    ("entry", "times", "message"),
    [
        (odd("dies"), 3, "ended with code 3 at its start"),
        (odd("hangs") | {"start_timeout_s": 2}, 1, "did not answer within 2 s of its start"),
        ({"command": "no-such-command"}, 1, "there is no command 'no-such-command'"),
    ],
    ids=["ends", "hangs", "is not there"],
)
def test_only_a_server_that_ended_is_started_again(
    space: Space, tmp_path: Path, starts: list[str], entry: Any, times: int, message: str
) -> None:
    """Twice more; one that hangs, or cannot be started at all, fails at once."""
    known(space, tmp_path, entry)
    starts.clear()
    with pytest.raises(ToolFailed, match=re.escape(message)):
        call(space, "a/echo", text="x")
    assert starts == ["a"] * times


def test_a_server_that_fails_again_and_again_is_left_alone_twice_as_long_each_time(
    space: Space, tmp_path: Path, starts: list[str]
) -> None:
    """A minute at most; nothing is started meanwhile. Once it has started, that is forgotten."""
    known(space, tmp_path, {"command": "no-such-command"})
    assert space.tools.servers is not None
    rests = space.tools.servers.pool._backoffs
    for seconds in (2, 4, 8, 16, 32, 60, 60):
        starts.clear()
        for _ in range(3):
            with pytest.raises(ToolFailed, match="there is no command 'no-such-command'") as raised:
                call(space, "a/echo", text="x")
        assert starts == ["a"]
        [left] = re.findall(r"tried again in (\d+) s at the earliest", str(raised.value))
        assert seconds - 2 < int(left) <= seconds
        rests["a"].until = 0.0
    write(tmp_path, a=odd("plain"))
    space.tools.servers.reload()
    assert call(space, "a/echo", text="x").content == "x"
    assert "a" not in rests
