"""`infospace tools connect`: a browser signs in, the tokens are kept, and nothing that is secret is printed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends import fail

sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "tools"))
from authorized_server import authorized
from served import odd, write

BROWSER = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=60).read()"


@pytest.fixture(autouse=True)
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that consents, and no keyring."""
    script = tmp_path / "browser.py"
    script.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    keyring.set_keyring(fail.Keyring())


def test_signing_in_listing_and_forgetting(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with authorized() as authority:
        write(tmp_path, mail={"url": f"{authority.url}/mcp"}, plain=odd("plain"), off=odd("plain", disabled=True))
        browser = monkeypatch.delenv("BROWSER", raising=False)
        assert browser is None
        said = cli("tools", "sync")
        assert "✗ mail  the server 'mail' asks for a sign-in (`infospace tools connect mail`)" in said.out
        listed = {one["server"]: one["status"] for one in cli("tools", "connect", "--json").json["connections"]}
        assert listed == {"mail": "disconnected", "plain": "not_required"}
        monkeypatch.setenv("BROWSER", f"{sys.executable} {tmp_path / 'browser.py'} %s")
        said = cli("tools", "connect", "mail", "--no-browser", "--seconds", "0.4")
        assert (said.code, "nobody signed in within 0.4 s" in said.out) == (1, True), said
        said = cli("tools", "connect", "mail")
        assert said.code == 0
        assert f"mail asks you to sign in, at\n{authority.url}/authorize?" in said.err
        assert "there is no keyring here" in said.err
        assert "✓ mail" in said.out
        said = cli("tools", "call", "mail/who", "--json")
        assert said.json["content"][0]["text"] == "you have basic"
        said = cli("tools", "connect", "mail", "--json")
        assert (said.json["status"], said.json["kept"]) == ("connected", "file")
        said = cli("tools", "connect", "mail", "--forget")
        assert (said.code, "its tokens are dropped" in said.err) == (0, True)
        authority.consents = False
        said = cli("tools", "connect", "mail")
        assert said.code == 1
        assert "the sign-in was refused: the owner said no" in said.out
        everything = str(said)
    assert not any(secret in everything for secret in authority.issued)


def test_wrong_usage_is_said_in_a_sentence(cli: Any, tmp_path: Path) -> None:
    write(tmp_path, plain=odd("plain"), off=odd("plain", disabled=True), wrong={"url": "http://a", "oauth": 7})
    said = cli("tools", "connect")
    assert (said.code, "no servers; `infospace tools sync --mcp FILE`" in said.err) == (0, True)
    cli("tools", "sync")
    said = cli("tools", "connect")
    assert said.code == 0
    assert "✓ plain" in said.out
    assert "wrong: 'oauth' is an object, or false, not something else" in said.err
    for arguments, sentence in (
        (("nail",), "there is no server 'nail' (there are plain, off)"),
        (("plane",), "there is no server 'plane' (did you mean 'plain'?)"),
        (("off",), "the server 'off' is disabled in "),
        (("--forget",), "--forget and --no-browser go with a server"),
        (("plain", "--seconds", "0"), "--seconds is above 0 and at most 3600"),
    ):
        said = cli("tools", "connect", *arguments)
        assert (said.code, sentence in said.err) == (2, True), said
