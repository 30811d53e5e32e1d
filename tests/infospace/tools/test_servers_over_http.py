"""Servers behind a URL: headers are sent, and each failure is of one server alone."""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from infospace import Space
from infospace.core.tool import ToolFailed

sys.path.insert(0, str(Path(__file__).parent))
from odd_web import KEY, Handler, serving
from served import call, synced, write


def test_headers_are_sent_and_failures_told(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of servers side by side; a value of a header stands nowhere."""
    monkeypatch.setenv("WANTED_KEY", KEY)
    with serving() as url:
        path = write(
            tmp_path,
            plain={"url": f"{url}/plain"},
            keyed={"url": f"{url}/keyed", "headers": {"X-Key": "${WANTED_KEY}"}},
            wrong={"url": f"{url}/keyed", "headers": {"X-Key": "not-the-key"}},
            bad={"url": f"{url}/keyed", "headers": {"X-Key": "a\nb"}},
            broken={"url": f"{url}/broken"},
            nonsense={"url": f"{url}/nonsense"},
            zipped={"url": f"{url}/zipped"},
            hangs={"url": f"{url}/hangs", "start_timeout_s": 1},
        )
        done = synced(space, mcp=path)
        failed = {one.server: one.reason for one in done.failed}
        assert done.listed == ["keyed", "plain"]
        assert call(space, "keyed/echo").content == "/keyed"
        assert call(space, "plain/echo").content == "/plain"
        with pytest.raises(ToolFailed, match="plain/big failed: it answers with more than 16 MB"):
            call(space, "plain/big")
        assert call(space, "plain/echo").content == "/plain"
        space.close()
    assert failed.keys() == {"wrong", "bad", "broken", "nonsense", "zipped", "hangs"}
    assert "it answered HTTP 401" in failed["wrong"]
    assert failed["bad"] == "the header 'X-Key' of the server 'bad' cannot be sent"
    assert "it answered HTTP 500" in failed["broken"]
    assert "text/html" in failed["nonsense"]
    assert "compresses" in failed["zipped"]
    assert "did not answer within 1 s" in failed["hangs"]
    assert KEY not in str(done.to_json())
    assert "not-the-key" not in str(done.to_json())


def test_a_session_that_the_server_ended_is_begun_anew(space: Space, tmp_path: Path) -> None:
    """The call that learns of it is made in the new one: nothing had happened."""
    with serving() as url:
        synced(space, mcp=write(tmp_path, a={"url": f"{url}/sessions"}))
        assert call(space, "a/echo").content == "/sessions"
        Handler.sessions.clear()
        assert call(space, "a/echo").content == "/sessions"
        space.close()


def test_a_server_that_went_away_fails_the_call(space: Space, tmp_path: Path) -> None:
    """With a sentence, and the next one that it cannot be reached."""
    with serving() as url:
        synced(space, mcp=write(tmp_path, a={"url": f"{url}/plain", "timeout_s": 5}))
    with pytest.raises(ToolFailed, match="a/echo failed: "):
        call(space, "a/echo")
    with pytest.raises(ToolFailed, match="cannot be reached"):
        call(space, "a/echo")


def test_a_server_that_takes_no_connection_is_given_up_before_its_time_to_start(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long an answer may take is another thing."""
    monkeypatch.setattr("infospace.tools.mcp.transport.http.CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as stack:
        for _ in range(3):  # these wait to be taken, and leave no room for others
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/mcp"
        [failed] = synced(space, mcp=write(tmp_path, web={"url": url, "start_timeout_s": 20})).failed
    assert f"cannot be reached at {url}" in failed.reason
