"""`infospace tools registry` and `connect` of what it lists: shown before it is written, and checksums hold."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "infospace" / "tools"))
from registry_server import Registry, bundle, integrity, listed, npm, registry_served
from served import ODD, odd, write

SERVER = {"server": {"mcp_config": {"command": sys.executable, "args": ["-I", "-S", "${__dirname}/odd.py", "plain"]}}}


@pytest.fixture
def web() -> Iterator[Registry]:
    with registry_served() as server:
        server.servers = [
            listed(
                "io.github.ann/weather",
                "Weather of places",
                npm("w", environmentVariables=[{"name": "W_KEY", "isRequired": True}]),
            ),
            listed("com.acme/tickets", "Tickets", remotes=[{"type": "streamable-http", "url": f"{server.url}/mcp"}]),
        ]
        yield server


def entries(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]
    return found


def bundled(web: Registry, data: bytes, *, sha256: str | None = None) -> None:
    web.files["/a.mcpb"] = data
    digest = hashlib.sha256(data).hexdigest() if sha256 is None else sha256
    package = {"registryType": "mcpb", "identifier": f"{web.url}/a.mcpb", "fileSha256": digest}
    web.servers = [listed("io.github.ann/odd", "Odd things", package)]


def test_from_adding_a_registry_to_a_written_entry(cli: Any, web: Registry, tmp_path: Path, monkeypatch: Any) -> None:
    """Without an answer nothing is written; with `--yes` the entry stands beside those that were there."""
    monkeypatch.delenv("W_KEY", raising=False)
    write(tmp_path, odd=odd("plain"))
    before = (tmp_path / "mcp.json").read_bytes()
    said = cli("tools", "registry", "add", web.url, "--name", "ours")
    assert (said.code, "2 servers  MCP registry" in said.out) == (0, True)
    assert cli("tools", "registry", "list", "--json").json["registries"][0]["servers"] == 2
    found = cli("tools", "search", "weather", "--json").json["tools"][0]
    assert (found["tool_name"], found["connected"]) == ("weather/*", False)
    said = cli("tools", "connect", "weather")
    assert (said.code, (tmp_path / "mcp.json").read_bytes()) == (1, before)
    for line in (
        "runs      npx -y w@1.2.3",
        "needs     W_KEY, not set",
        "checksum  none is given",
        '"W_KEY": "${W_KEY}"',
    ):
        assert line in said.out
    said = cli("tools", "connect", "io.github.ann/weather", "--yes", "--json")
    assert (said.code, said.json["written"], said.json["missing"]) == (0, True, ["W_KEY"])
    assert list(entries(tmp_path)) == ["odd", "weather"]
    assert entries(tmp_path)["weather"] == said.json["entry"]
    assert "did you mean 'io.github.ann/weather'?" in cli("tools", "connect", "io.github.ann/wether").err
    assert "has a server 'weather' already" in cli("tools", "connect", "weather", "--yes").err
    said = cli("tools", "connect", "com.acme/tickets", "--yes", "--as", "desk", "--mcp", str(tmp_path / "more.json"))
    assert said.code == 0
    assert json.loads((tmp_path / "more.json").read_text())["mcpServers"]["desk"]["url"] == f"{web.url}/mcp"
    assert [one["server"] for one in cli("tools", "servers", "--json").json["servers"]] == ["desk", "odd", "weather"]
    assert cli("tools", "registry", "remove", "ours").code == 0
    assert cli("tools", "registry", "list", "--json").json == {"registries": []}


def test_a_bundle_that_fits_its_checksum_runs(cli: Any, web: Registry, tmp_path: Path) -> None:
    """It is unpacked beside the file, and its tools are listed and called."""
    bundled(web, bundle(SERVER, {"odd.py": ODD.read_bytes()}))
    assert cli("tools", "registry", "add", web.url).code == 0
    said = cli("tools", "connect", "odd")
    assert (said.code, (tmp_path / "mcpb").exists()) == (1, False)
    assert "checksum  its package fits it" in said.out
    assert cli("tools", "connect", "odd", "--yes").code == 0
    assert (tmp_path / "mcpb" / "odd" / "odd.py").is_file()
    assert cli("tools", "sync", "--json").json["listed"] == ["odd"]


def twice() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(SERVER))
        archive.writestr("zeros", b"\0" * 2**20)
    whole = bytearray(data.getvalue())
    whole[-200:-150] = b"x" * 50
    return bytes(whole)


def manifest(**config: Any) -> bytes:
    return bundle({"server": {"mcp_config": config}})


BUNDLES = [
    (b"no zip", "the bundle is no ZIP file"),
    (bundle(None), "the bundle has no manifest.json"),
    (bundle("{"), "cut off"),
    (bundle({"server": 7}), "has no object `server.mcp_config`"),
    (manifest(command=7), "`command` in the manifest of the bundle is 7, not a text"),
    (manifest(command="x", args="y"), "`args` in the manifest of the bundle is a list of texts"),
    (manifest(command="x", args=["${HOME}"]), "asks for '${HOME}'"),
    (manifest(command="x", args=["${HO"]), "asks for '${HO'"),
    (manifest(command="x", env={"A": "a\nb"}), "`env.A` in the manifest of the bundle"),
    (bundle(SERVER, {"../outside": b""}), "'../outside', which leads out of it"),
    (bundle(SERVER, {"/etc/x": b""}), "'/etc/x', which leads out of it"),
    (bundle(SERVER, {"C:\\x": b""}), "which leads out of it"),
    (bundle(SERVER, links=["passwd"]), "the link 'passwd'"),
    (twice(), "bundle"),
]


def test_a_hostile_bundle_is_refused_and_nothing_is_kept(cli: Any, web: Registry, tmp_path: Path) -> None:
    for at, (data, sentence) in enumerate(BUNDLES):
        bundled(web, data)
        assert cli("tools", "registry", *(("refresh",) if at else ("add", web.url))).code == 0
        said = cli("tools", "connect", "odd", "--yes")
        assert (at, said.code, sentence in said.err, "Traceback" in said.err) == (at, 2, True, False)
        assert [path.name for path in tmp_path.rglob("*") if path.name in ("mcp.json", "outside", "odd")] == []


def test_a_package_that_is_not_what_is_listed_is_refused(cli: Any, web: Registry, tmp_path: Path) -> None:
    """A bundle by its SHA-256, a package of npm by its integrity, one of another host before it is asked."""
    data = bundle(SERVER)
    bundled(web, data, sha256="0" * 64)
    other = {"registryType": "mcpb", "identifier": "https://127.0.0.2:1/a.mcpb", "fileSha256": "0" * 64}
    web.servers.append(listed("a/unreachable", "", other))
    web.packages = [{"name": name, "version": "1.0.0"} for name in ("@a/good", "bad", "weak", "none")]
    web.files = {**web.files, **{f"/{name}.tgz": b"file" for name in ("a/good", "bad", "weak")}}
    web.integrity = {
        "@a/good": f"{integrity(b'file')} sha1-xxxx",
        "bad": integrity(b"other"),
        "weak": "sha1-ZmlsZQ==",
    }
    assert cli("tools", "registry", "add", web.url, "--name", "one").code == 0
    assert cli("tools", "registry", "add", f"{web.url}/-/v1/search", "--name", "two").code == 0
    for name, sentence in (
        ("odd", f"its SHA-256 is {hashlib.sha256(data).hexdigest()}, and {'0' * 64} is listed"),
        ("unreachable", "cannot be reached"),
        ("bad", f"its integrity is not {integrity(b'other')}"),
        ("weak", "the integrity 'sha1-ZmlsZQ==' of weak is none"),
        ("none", "answered HTTP 404"),
    ):
        said = cli("tools", "connect", name, "--yes")
        assert (name, said.code, sentence in said.err) == (name, 2, True)
    assert not (tmp_path / "mcp.json").exists()
    assert cli("tools", "connect", "good", "--yes").code == 0
    assert entries(tmp_path)["good"]["args"] == ["-y", "@a/good@1.0.0"]


def test_a_file_that_cannot_be_read_is_left_as_it_is(cli: Any, web: Registry, tmp_path: Path) -> None:
    """So is one that has the name already, or is not what an `mcp.json` is."""
    assert cli("tools", "registry", "add", web.url).code == 0
    for text, sentence in (
        ('{"mcpServers": ', "nothing is written, since"),
        ('{"mcpServers": []}', "has no object 'mcpServers'"),
        ('{"mcpServers": {"weather": {"command": "x"}}}', "names a server 'weather' already"),
    ):
        file = tmp_path / "other.json"
        file.write_text(text)
        said = cli("tools", "connect", "io.github.ann/weather", "--yes", "--mcp", str(file))
        assert (said.code, sentence in said.err, file.read_text()) == (2, True, text)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("registry", "add"), "needs the URL or the file of a registry"),
        (("registry", "remove"), "needs the name of a registry"),
        (("registry", "remove", "nothing"), "there is no registry 'nothing'"),
        (("registry", "list", "x"), "takes no name"),
        (("registry", "list", "--name", "x"), "--name goes with"),
        (("registry", "add", "no-such-file.json"), "there is no file"),
        (("connect", "nothing"), "there is no server 'nothing'"),
        (("connect", "nothing", "--yes"), "no registry lists 'nothing'"),
        (("connect", "--yes"), "go with a server of a registry"),
    ],
)
def test_wrong_usage_is_said_in_a_sentence(cli: Any, words: tuple[str, ...], sentence: str) -> None:
    said = cli("tools", *words)
    assert (said.code, sentence in said.err) == (2, True)
