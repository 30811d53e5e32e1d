"""Connecting a server of a registry: what would be written, and how a package is held against its checksum."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.tools.mcp.catalogue.save import ListingStore
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.errors import ServerFailed
from infospace.tools.mcp.registries.connect import _integrity, check_package, find_listed, propose, verified_package
from infospace.tools.mcp.registries.listed_server import Checksum, ListedServer, Variable
from infospace.tools.mcp.registries.update import add
from infospace.tools.mcp.servers import Servers

sys.path.insert(0, str(Path(__file__).parent))
from registry_server import registry_served
from served import write

NPM = {"registryType": "npm", "identifier": "w", "version": "1"}


def listing(space: Space, name: str, *servers: dict[str, Any]) -> None:
    """Add a registry that lists these servers."""
    path = Path(space.store.address).parent / f"{name}.json"
    path.write_text(json.dumps({"servers": list(servers)}))
    add(space.store, str(path), name)


def server(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "packages": [NPM], **members}


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_a_server_is_found_by_its_name_or_its_last_part(space: Space) -> None:
    """As searches name it, too; what several have is no name, and of two registries the first has the say."""
    with pytest.raises(NotFound) as none:
        find_listed(space.store, "weather")
    assert (none.value.message, none.value.hint) == ("there is no server 'weather'", "no registry lists any")
    listing(space, "one", server("a/weather", title="First"), server("b/tide"), server("c/tide"), server("tide"))
    listing(space, "two", server("a/weather", title="Second"))
    for name in ("a/weather", "weather", "a.weather"):
        registry, found = find_listed(space.store, name)
        assert (registry.name, found.name, found.title) == ("one", "a/weather", "First")
    assert find_listed(space.store, "tide")[1].name == "tide"
    listing(space, "three", server("d/moon"), server("e/moon"))
    with pytest.raises(Invalid) as several:
        find_listed(space.store, "moon")
    assert (several.value.message, several.value.hint) == ("2 servers are called 'moon'", "say which: d/moon or e/moon")
    for name, hint in (("a/wether", "did you mean 'a/weather'?"), ("qqqqqqq", "the registries list 7 servers")):
        with pytest.raises(NotFound) as missing:
            find_listed(space.store, name)
        assert (missing.value.message, missing.value.hint) == (f"there is no server {name!r}", hint)


def test_what_connecting_would_write_is_told_before(space: Space, tmp_path: Path) -> None:
    """The first file of the space, else one beside it; a name that is taken is another's."""
    variables = [{"name": "A", "isRequired": True}, {"name": "B", "isRequired": True}]
    package = {**NPM, "environmentVariables": variables}
    listing(space, "one", server("a/weather", title="T", description="D", packages=[package]), server("b/tide"))
    servers = Servers(space.store)
    proposal = propose(servers, space.store, "weather")
    beside = Path(space.store.address).parent / "mcp.json"
    assert (proposal.name, proposal.file) == ("weather", beside)
    env = {"A": "${A}", "B": "${B}"}
    entry = {"command": "npx", "args": ["-y", "w@1"], "env": env, "description": "D", "title": "T"}
    assert proposal.entry == entry
    assert proposal.missing({"A": ""}) == [Variable("B")]
    told = proposal.to_json()
    assert (told["registry"], told["server"], told["file"], told["entry"]) == ("one", "weather", str(beside), entry)
    assert (told["name"], told["title"], told["version"]) == ("a/weather", "T", "")
    assert propose(servers, space.store, "tide").entry == {"command": "npx", "args": ["-y", "w@1"]}
    other = propose(servers, space.store, "weather", file=tmp_path / "x.json", rename="mine")
    assert (other.name, other.file) == ("mine", tmp_path / "x.json")
    file = write(beside.parent, weather={"command": "x"})
    with pytest.raises(Conflict) as taken:
        propose(Servers(space.store), space.store, "weather")
    assert taken.value.message == f"{str(file)!r} names a server 'weather' already"
    assert taken.value.hint == "--as gives this one another name"


def test_an_entry_is_written_beside_those_that_are_there(space: Space, tmp_path: Path) -> None:
    """All else of the file stays; nothing is written where it cannot be read, or has that name by now."""
    listing(space, "one", server("a/weather", title="Wettér"), server("b/odd", description="é"))
    own = tmp_path / "own"
    own.mkdir()
    file = own / "mcp.json"
    checked = check_package(propose(Servers(space.store), space.store, "weather", file=file))
    assert checked.folder == own / "mcpb" / "weather"
    checked.write(put)
    entry = {"command": "npx", "args": ["-y", "w@1"], "title": "Wettér"}
    assert (
        file.read_text("utf-8") == json.dumps({"mcpServers": {"weather": entry}}, indent=2, ensure_ascii=False) + "\n"
    )
    with pytest.raises(Conflict) as again:
        checked.write(put)
    assert again.value.message == f"{str(file)!r} names a server 'weather' already"
    assert again.value.hint == "--as gives this one another name"
    file.write_text('{"more": [1], "mcpServers": {"x": {"command": "y"}}}')
    checked.write(put)
    assert json.loads(file.read_text()) == {"more": [1], "mcpServers": {"x": {"command": "y"}, "weather": entry}}
    for text, why in (
        ("[", f"nothing is written, since {str(file)!r} ends inside an array"),
        ("[]", f"nothing is written, since {str(file)!r} has no object 'mcpServers'"),
        ('{"mcpServers": []}', f"nothing is written, since {str(file)!r} has no object 'mcpServers'"),
    ):
        file.write_text(text)
        with pytest.raises(Invalid) as refused:
            checked.write(put)
        assert refused.value.message.startswith(why)
        assert file.read_text() == text
    file.write_text('{"more": 1}')
    checked.write(put)
    assert json.loads(file.read_text()) == {"more": 1, "mcpServers": {"weather": entry}}
    folder = check_package(propose(Servers(space.store), space.store, "weather", file=tmp_path))
    with pytest.raises(Invalid, match="cannot be read: Is a directory"):
        folder.write(put)


def test_an_entry_that_does_not_fit_is_not_written(space: Space, tmp_path: Path) -> None:
    """Nor is a host asked that is of a private network."""
    listing(space, "one", server("a/weather"))
    bad = propose(Servers(space.store), space.store, "weather", file=tmp_path / "m.json", rename="a/b")
    with pytest.raises(Invalid) as refused:
        check_package(bad)
    assert refused.value.message == "the entry of a/weather does not fit: 'a/b' cannot be a server's name"
    assert refused.value.hint == "printable, without `/`, and no blank at its ends"


def integrity(*digests: tuple[str, bytes]) -> str:
    return " ".join(f"{name}-{base64.b64encode(raw).decode()}" for name, raw in digests)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (integrity(("sha256", b"a" * 32)), ("sha256", [b"a" * 32])),
        (integrity(("sha256", b"a" * 32), ("sha512", b"b" * 64), ("sha384", b"c" * 48)), ("sha512", [b"b" * 64])),
        (integrity(("sha384", b"c" * 48), ("sha256", b"a" * 32)), ("sha384", [b"c" * 48])),
        (integrity(("sha512", b"a" * 64), ("sha512", b"b" * 64)) + "?opt", ("sha512", [b"a" * 64, b"b" * 64])),
        (
            "sha512-??? " + integrity(("sha512", b"a" * 63), ("md5", b"a" * 16), ("sha256", b"a" * 32)),
            ("sha256", [b"a" * 32]),
        ),
    ],
)
def test_the_strongest_hash_of_an_integrity_counts(text: str, expected: tuple[str, list[bytes]]) -> None:
    """What is none, or too short, is passed over."""
    assert _integrity(text, "it") == expected


@pytest.mark.parametrize("text", ["", "sha1-AAAA", "sha512", integrity(("sha256", b"a" * 31))])
def test_an_integrity_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        _integrity(text, "a/it")
    assert refused.value.message == f"the integrity {text!r} of a/it is none"
    assert refused.value.hint == "sha512- and the digest in base 64"


def test_a_package_is_what_its_checksum_says() -> None:
    """A file by its SHA-256, a package of npm by the integrity that its document names."""
    data = b"the package"
    listed = ListedServer("a/it", "", {})
    with pytest.raises(Invalid, match=r"^a/it has no checksum: nothing says what its package is$"):
        verified_package(listed, local=True)
    with registry_served() as web:
        web.files |= {"/a.mcpb": data, "/it.tgz": data}

        def of(kind: Any, path: str, value: str = "") -> ListedServer:
            return ListedServer("a/it", "", {}, checksum=Checksum(kind, web.url + path, value))

        good = hashlib.sha256(data).hexdigest()
        assert verified_package(of("file", "/a.mcpb", good), local=True) == data
        with pytest.raises(Invalid) as other:
            verified_package(of("file", "/a.mcpb", "0" * 64), local=True)
        assert other.value.message == (
            f"the package of a/it is not what the registry lists: its SHA-256 is {good}, and {'0' * 64} is listed"
        )
        assert other.value.hint == "nothing of it is kept; ask who publishes it"
        with pytest.raises(Invalid, match="private network"):
            verified_package(of("file", "/a.mcpb", good), local=False)
        fits = integrity(("sha512", hashlib.sha512(data).digest()))
        wrong = integrity(("sha512", b"a" * 64))
        for dist, expected in (
            ({"integrity": fits, "tarball": f"{web.url}/it.tgz"}, None),
            (
                {"integrity": wrong, "tarball": f"{web.url}/it.tgz"},
                f"the package of a/it is not what the registry lists: its integrity is not {wrong}",
            ),
            (
                {"integrity": fits},
                "the registry gives a/it no `dist.integrity` and `dist.tarball`: it cannot be checked",
            ),
            (3, "the registry gives a/it no `dist.integrity` and `dist.tarball`: it cannot be checked"),
        ):
            web.files["/it/1"] = json.dumps({"dist": dist}).encode()
            if expected is None:
                assert verified_package(of("npm", "/it/1"), local=True) == data
                continue
            with pytest.raises(Invalid) as refused:
                verified_package(of("npm", "/it/1"), local=True)
            assert refused.value.message == expected
        web.files["/it/1"] = b"["
        with pytest.raises(Invalid, match=r"^what a/it is ends inside an array"):
            verified_package(of("npm", "/it/1"), local=True)


def test_how_a_server_failed_is_kept_beside_what_it_listed(space: Space) -> None:
    """With what it said on its standard error."""
    store = ListingStore(space.store)
    entry = Entry("it", "f", command="x")
    store.fail(entry, ServerFailed("it", "it ended", hint="look", stderr="no\nfile"))
    with space.store.reading() as snapshot:
        (kept,) = snapshot.servers()
    assert (kept.name, kept.state, kept.error, kept.stderr) == ("it", "failed", "it ended (look)", "no\nfile")
    assert kept.entry == entry.digest(space.store.identity)
    assert (kept.listed, kept.tried is not None) == (None, True)
