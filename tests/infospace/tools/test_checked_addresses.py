"""Where requests over HTTP really go: to the addresses that were looked at, by whatever name and redirect."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client

from infospace import Invalid, Space
from infospace.tools.mcp.registries.fetch import REDIRECTS, Fetcher
from infospace.tools.mcp.transport.checked import AsyncCheckedTransport, CheckedTransport, HostCheck
from infospace.tools.mcp.transport.http import HttpStatus, http_transport

sys.path.insert(0, str(Path(__file__).parent))
from registry_server import Registry, registry_served
from served import synced, write

NAME = "api.shop.example"
PUBLIC = "93.184.216.34"


class Names:
    """A name service whose answers are changed: `answers` by host, the last one holds."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {host.replace("_", "."): found for host, found in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        known = self.answers[host]
        return known.pop(0) if len(known) > 1 else known[0]


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def web() -> Iterator[Registry]:
    with registry_served() as server:
        server.files["/a"] = b"what is asked for"
        yield server


@pytest.fixture
def other() -> Iterator[Registry]:
    with registry_served() as server:
        server.files["/a"] = b"of another host"
        yield server


def port_of(web: Registry) -> int:
    return int(web.server_address[1])


def test_a_name_that_turns_private_is_not_followed(web: Registry) -> None:
    """Public when it was looked at first, this machine a moment later: nothing is sent there."""
    names = Names(api_shop_example=[[PUBLIC], ["127.0.0.1"]])
    check = HostCheck(public=False, resolve=names, holds_s=0)
    assert check.addresses(NAME) == [PUBLIC]
    with httpx2.Client(transport=CheckedTransport(check)) as client, pytest.raises(Invalid, match=r"leads to 127\.0"):
        client.get(f"http://{NAME}:{port_of(web)}/a")
    assert web.asked == []

    async def later() -> None:
        async with httpx2.AsyncClient(transport=AsyncCheckedTransport(check)) as client:
            await client.get(f"http://{NAME}:{port_of(web)}/a")

    with pytest.raises(Invalid, match=r"leads to 127\.0"):
        asyncio.run(later())
    assert web.asked == []


def test_what_was_looked_at_is_connected_to(web: Registry) -> None:
    """A name is resolved once; the request goes there, and says the name."""
    names = Names(api_shop_example=[["127.0.0.1"], ["192.0.2.1"]])
    with httpx2.Client(transport=CheckedTransport(HostCheck(public=False, resolve=names))) as client:
        for _ in range(2):
            assert client.get(f"http://{NAME}:{port_of(web)}/a").content == b"what is asked for"
    assert names.asked == [NAME]


def test_a_public_server_leads_nobody_into_a_private_network() -> None:
    """Whoever is to authorize must be public, too, unless the user named it; a private server may lead anywhere."""
    names = Names(api_shop_example=[[PUBLIC]], inside_example=[["10.0.0.7"]], login_example=[["10.0.0.8"]])
    check = HostCheck(public=False, declared=[NAME, "login.example"], resolve=names)
    assert check.addresses("inside.example") == ["10.0.0.7"]
    check = HostCheck(public=False, declared=[NAME, "login.example"], resolve=names)
    assert check.addresses(NAME) == [PUBLIC]
    assert check.addresses("login.example") == ["10.0.0.8"]
    for host in ("inside.example", "169.254.169.254", "localhost"):
        with pytest.raises(Invalid, match="this machine or one of a private network, and is not asked"):
            check.addresses(host)


def test_a_server_of_the_protocol_that_turns_private_is_not_asked(web: Registry) -> None:
    """Its host was public when it was looked at first; the reason is kept, to be told."""
    names = Names(api_shop_example=[[PUBLIC], ["127.0.0.1"]])
    check, status = HostCheck(public=False, resolve=names, holds_s=0), HttpStatus()
    assert check.addresses(NAME) == [PUBLIC]

    async def opened() -> None:
        url = f"http://{NAME}:{port_of(web)}/mcp"
        async with asyncio.timeout(20), Client(http_transport(url, {"X-Key": "secret"}, status, check)):
            pass

    with pytest.raises(Exception, match=r"."):
        asyncio.run(opened())
    assert "leads to 127.0.0.1" in status.barred
    assert web.asked == []


def test_a_server_of_the_protocol_is_not_followed_to_another(
    web: Registry, other: Registry, space: Space, tmp_path: Path
) -> None:
    """It says where it is now; whoever has written its entry may write that, and no header goes there by itself."""
    web.own["/mcp"] = (307, {"location": f"{other.url}/mcp"}, b"")
    entry = {"url": f"{web.url}/mcp", "headers": {"Authorization": "Bearer of-the-first"}}
    done = synced(space, mcp=write(tmp_path, moved=entry))
    space.close()
    assert f"Redirect to {other.url}/mcp not followed" in done.failed[0].reason
    assert "of-the-first" not in str(done.to_json())
    assert other.asked == []
    assert web.asked != []


def test_the_next_address_is_tried_where_one_does_not_answer(web: Registry) -> None:
    names = Names(api_shop_example=[["127.0.0.2", "127.0.0.1"]])
    with httpx2.Client(transport=CheckedTransport(HostCheck(public=False, resolve=names))) as client:
        assert client.get(f"http://{NAME}:{port_of(web)}/a").content == b"what is asked for"


def test_tls_holds_for_the_name(web: Registry, tmp_path: Path) -> None:
    """The certificate is of the name, not of the address; one of another name is refused."""
    server, client = authority(tmp_path, NAME)
    web.socket = server.wrap_socket(web.socket, server_side=True)
    names = Names(api_shop_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    with httpx2.Client(transport=CheckedTransport(HostCheck(public=False, resolve=names), client)) as asked:
        assert asked.get(f"https://{NAME}:{port_of(web)}/a").content == b"what is asked for"
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            asked.get(f"https://other.example:{port_of(web)}/a")


def test_a_file_elsewhere_is_fetched_where_the_named_host_sends_on(web: Registry, other: Registry) -> None:
    """As GitHub does with the files of a release; what nobody asked to be elsewhere is not."""
    web.own["/there"] = (302, {"location": f"{other.url}/a"}, b"")
    with Fetcher(web.url, trusted=True) as fetcher:
        assert fetcher.fetch(f"{web.url}/there", elsewhere=True) == b"of another host"
        with pytest.raises(Invalid, match="leads to another host"):
            fetcher.fetch(f"{web.url}/there")


AWAY = [
    ("http://files.example/a", "leads to another host", "only an https:// address is followed"),
    ("https://127.0.0.1:1/a", "this machine or one of a private network", None),
    ("https://10.1.2.3/a", "this machine or one of a private network", None),
    ("https://169.254.169.254/latest", "this machine or one of a private network", None),
    ("https://inside.example/a", "leads to 10.0.0.7", None),
    ("https://both.example/a", "leads to ::1", None),
    ("file:///etc/passwd", "leads to another host", "only an https:// address is followed"),
    ("https://[broken", "is not a URL", None),
]


@pytest.mark.parametrize(("to", "sentence", "hint"), AWAY)
def test_a_redirect_into_this_machine_is_not_followed(web: Registry, to: str, sentence: str, hint: str | None) -> None:
    """From a host that the user named by a name, here one that leads to the server of this test."""
    names = Names(files_example=[["127.0.0.1"]], inside_example=[["10.0.0.7"]], both_example=[[PUBLIC, "::1"]])
    web.own["/there"] = (302, {"location": to}, b"")
    home = f"http://files.example:{port_of(web)}"
    with Fetcher(home, trusted=True, resolve=names) as fetcher, pytest.raises(Invalid) as refused:
        fetcher.fetch(f"{home}/there", elsewhere=True)
    assert sentence in refused.value.message
    assert refused.value.hint == hint


def test_redirects_come_to_an_end(web: Registry, other: Registry) -> None:
    web.own["/a"] = (302, {"location": f"{other.url}/b"}, b"")
    other.own["/b"] = (302, {"location": f"{web.url}/a"}, b"")
    with Fetcher(web.url, trusted=True) as fetcher, pytest.raises(Invalid, match="leads on and on"):
        fetcher.fetch(f"{web.url}/a", elsewhere=True)
    assert len(web.asked) + len(other.asked) == REDIRECTS + 1


def authority(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server with a certificate for a name, and of a client that knows who signed it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, secret = folder / "cert.pem", folder / "key.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file, secret)
    return server, ssl.create_default_context(cafile=str(file))
