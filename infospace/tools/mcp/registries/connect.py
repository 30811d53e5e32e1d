"""Connecting a server of a registry: its entry of `mcp.json`, its checksum, and writing that down."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infospace.core.errors import Conflict, Invalid, InvalidJSON, NotFound
from infospace.data.json_text import read_json
from infospace.data.paths import did_you_mean
from infospace.schema.value_text import either
from infospace.tools.mcp.config import FILE, SERVERS, read_entries
from infospace.tools.mcp.registries.bundle import LARGEST_BUNDLE, bundle_entry, unpack
from infospace.tools.mcp.registries.fetch import Fetcher
from infospace.tools.mcp.registries.listed_server import BUNDLE, Checksum, ListedServer, Variable
from infospace.tools.mcp.registries.saved import Registry, registries
from infospace.tools.mcp.servers import sources_of
from infospace.tools.mcp.transport.hosts import is_loopback, must_be_public, split_url

if TYPE_CHECKING:
    from infospace.store.protocol import Store
    from infospace.tools.mcp.servers import Servers

_HASHES: Final = {"sha512": 64, "sha384": 48, "sha256": 32}
"""The hashes that an integrity may name, the strongest first, each with its length in bytes."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What connecting a server would write: nothing is fetched or written yet."""

    registry: Registry
    server: ListedServer
    name: str
    """What `mcp.json` would call it."""
    file: Path

    @property
    def entry(self) -> dict[str, Any]:
        """The entry as it would stand in the file; of a bundle what is known before it is fetched."""
        document = {"description": self.server.description, "title": self.server.title}
        return {**self.server.entry, **{key: text for key, text in document.items() if text}}

    def missing(self, environment: Mapping[str, str]) -> list[Variable]:
        """Return the variables that it needs and the environment has not."""
        return [variable for variable in self.server.variables if variable.name not in environment]

    def to_json(self) -> dict[str, Any]:
        """Return it as `tools connect --json` prints it."""
        results = self.server.to_json()
        return {
            "registry": self.registry.name,
            "server": self.name,
            "file": str(self.file),
            **results,
            "entry": self.entry,
        }


def find_listed(store: Store, name: str) -> tuple[Registry, ListedServer]:
    """Return a server of a registry by its whole name, its last part, or as searches name it.

    Raises NotFound, Invalid where several have that last part.
    """
    every = [(registry, server) for registry in registries(store) for server in registry.servers]
    for at in range(3):
        # The first registry that lists a server has the say.
        results = {
            server.name: (registry, server) for registry, server in reversed(every) if _names(server)[at] == name
        }
        if len(results) == 1:
            return next(iter(results.values()))
        if results:
            raise Invalid(
                f"{len(results)} servers are called {name!r}", hint=f"say which: {either(sorted(results)[:8])}"
            )
    there = "no registry lists any" if not every else f"the registries list {len(every):,} servers"
    raise NotFound(
        f"there is no server {name!r:.100}", hint=did_you_mean(name, [server.name for _, server in every], there)
    )


def _names(server: ListedServer) -> tuple[str, str, str]:
    return server.name, server.short, server.name.replace("/", ".")


def propose(
    servers: Servers, store: Store, name: str, *, file: Path | None = None, rename: str | None = None
) -> Proposal:
    """Return what connecting a server of a registry would write, and where.

    Without `file` that is the first `mcp.json` of the space, else one beside it. Raises NotFound, Invalid, Conflict.
    """
    registry, server = find_listed(store, name)
    called = rename or server.short
    taken = servers.entries.get(called)
    if taken is not None:
        raise Conflict(f"{taken.file!r} names a server {called!r} already", hint="--as gives this one another name")
    target = file or next(iter(sources_of(store)), None)
    if target is None:
        if store.derived is None:
            raise Invalid("this space has no `mcp.json`", hint="--mcp says which file it is")
        target = store.derived.parent / FILE
    return Proposal(registry, server, called, target.absolute())


@dataclass(frozen=True, slots=True)
class Checked:
    """A proposal whose package is what its checksum says: what is still to be written."""

    proposal: Proposal
    entry: Mapping[str, Any]
    """As it will stand in the file."""
    bundle: bytes | None = None
    """What is unpacked beside the file, where the package is a bundle."""

    @property
    def folder(self) -> Path:
        """Where a bundle is unpacked."""
        return _folder(self.proposal)

    def write(self, write_file: Callable[[Path, bytes], object]) -> None:
        """Write the entry, and unpack the bundle; `write_file` puts bytes at a path, or raises Invalid.

        Raises Invalid, Conflict; nothing is written then.
        """
        file, name = self.proposal.file, self.proposal.name
        document = _document(file)
        if name in document.get(SERVERS, {}):
            raise Conflict(f"{str(file)!r} names a server {name!r} already", hint="--as gives this one another name")
        text = _written({**document, SERVERS: {**document.get(SERVERS, {}), name: self.entry}})
        if self.bundle is not None:
            unpack(self.bundle, self.folder)
        try:
            write_file(file, text)
        except Invalid:
            if self.bundle is not None:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise


def check_package(proposal: Proposal) -> Checked:
    """Hold the package against its checksum, where one is given. Nothing is written.

    Raises Invalid with one sentence where the package is another one, cannot be fetched, or the entry does not fit.
    """
    server, entry = proposal.server, proposal.entry
    local = proposal.registry.local
    if "url" in entry and not local:
        host = split_url(str(entry["url"])).hostname or ""
        if "$" not in host:
            must_be_public(host)
    data = None if server.checksum is None else verified_package(server, local=local)
    bundle = data if server.entry.get("command") == BUNDLE else None
    if bundle is not None:
        entry = {**entry, **bundle_entry(bundle, _folder(proposal), proposal.name)}
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / FILE
        alone.write_bytes(_written({SERVERS: {proposal.name: entry}}))
        wrong = [problem for problem in read_entries(alone).problems if problem.severity == "error"]
    if wrong:
        raise Invalid(f"the entry of {server.name} does not fit: {wrong[0].message}", hint=wrong[0].hint)
    return Checked(proposal, entry, bundle)


def _folder(proposal: Proposal) -> Path:
    return proposal.file.parent / "mcpb" / proposal.name


def _written(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _document(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {SERVERS: {}}
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be read: {error.strerror}") from None
    try:
        value = read_json(data, what=repr(str(path)))
    except InvalidJSON as error:
        raise Invalid(f"nothing is written, since {error.message}", hint=error.hint) from error
    if not isinstance(value, dict) or not isinstance(value.get(SERVERS, {}), dict):
        raise Invalid(f"nothing is written, since {str(path)!r} has no object {SERVERS!r}")
    return value


def verified_package(server: ListedServer, *, local: bool) -> bytes:
    """Fetch the package of a server. Raises Invalid where it has no checksum, or is not what its checksum says."""
    checksum = server.checksum
    if checksum is None:
        raise Invalid(f"{server.name} has no checksum: nothing says what its package is")
    if checksum.kind == "npm":
        return _npm_package(server, checksum, local=local)
    with Fetcher(checksum.url, trusted=local and is_loopback(checksum.url)) as fetcher:
        data = fetcher.fetch(checksum.url, largest=LARGEST_BUNDLE, elsewhere=True)
    result = hashlib.sha256(data).hexdigest()
    if result != checksum.value:
        raise Invalid(
            f"the package of {server.name} is not what the registry lists: its SHA-256 is {result}, and "
            f"{checksum.value} is listed",
            hint="nothing of it is kept; ask who publishes it",
        )
    return data


def _npm_package(server: ListedServer, checksum: Checksum, *, local: bool) -> bytes:
    with Fetcher(checksum.url, trusted=local or is_loopback(checksum.url)) as fetcher:
        try:
            document = read_json(fetcher.fetch(checksum.url), what=f"what {server.name} is", max_bytes=LARGEST_BUNDLE)
        except InvalidJSON as error:
            raise Invalid(error.message, hint=error.hint) from error
        dist = document.get("dist") if isinstance(document, Mapping) else None
        dist = dist if isinstance(dist, Mapping) else {}
        integrity, tarball = dist.get("integrity"), dist.get("tarball")
        if not isinstance(integrity, str) or not isinstance(tarball, str):
            raise Invalid(
                f"the registry gives {server.name} no `dist.integrity` and `dist.tarball`: it cannot be checked"
            )
        data = fetcher.fetch(tarball, largest=LARGEST_BUNDLE)
    name, expected = _integrity(integrity, server.name)
    if hashlib.new(name, data).digest() not in expected:
        raise Invalid(
            f"the package of {server.name} is not what the registry lists: its integrity is not {integrity:.160}",
            hint="nothing of it is kept; ask who publishes it",
        )
    return data


def _integrity(text: str, server: str) -> tuple[str, Sequence[bytes]]:
    """Return the strongest hash that an integrity names, and the digests of which one has to fit."""
    results: dict[str, list[bytes]] = {}
    for part in text.split():
        name, _, digest = part.partition("-")
        try:
            raw = base64.b64decode(digest.partition("?")[0], validate=True)
        except (binascii.Error, ValueError):
            continue
        if len(raw) == _HASHES.get(name):
            results.setdefault(name, []).append(raw)
    for name in _HASHES:
        if name in results:
            return name, results[name]
    raise Invalid(f"the integrity {text!r:.100} of {server} is none", hint="sha512- and the digest in base 64")
