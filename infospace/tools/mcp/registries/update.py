"""Reading registries: adding one to a space, and reading it again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, InvalidJSON, NotFound
from infospace.core.redaction import shown_url
from infospace.core.tool import ToolKind
from infospace.store.tool_records import DropTools, SaveServer, SaveTools, StoredServer
from infospace.tools.mcp.registries.documents import FORMS, ReadRegistry, read_registry, sentences
from infospace.tools.mcp.registries.fetch import Fetcher
from infospace.tools.mcp.registries.saved import PREFIX, Registry, registries, registry
from infospace.tools.mcp.transport.hosts import LARGEST, is_loopback, split_url

if TYPE_CHECKING:
    from infospace.store.protocol import Store

MOST_TOLD: Final = 20
"""Entries that are left out which are kept and told of."""
NPM_SEARCH: Final = "/-/v1/search"

_GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
_BLOB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)/(?:blob|raw)/(\S+)")


def add(
    store: Store, address: str, name: str | None = None, on_page: Callable[[int], object] = lambda _: None
) -> Registry:
    """Read a registry and keep what it lists. Nothing is kept of one that cannot be read.

    Raises Invalid with a sentence of what is wrong, Conflict for a name or an address that is known.
    """
    address = _address(address)
    known = registries(store)
    same = next((one for one in known if one.address == address), None)
    if same is not None:
        raise Conflict(
            f"this is the registry {same.name!r} already", hint="`infospace tools registry refresh` reads it"
        )
    name = _name(address) if name is None else name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name):
        raise Invalid(f"{name!r:.100} cannot be a registry's name", hint="letters, digits, `.`, `_` and `-`")
    if any(one.name == name for one in known):
        raise Conflict(f"there is a registry {name!r} already", hint="--name gives this one another name")
    read = _read(address, on_page)
    _keep(store, name, address, read)
    return registry(store, name)


def refresh(store: Store, name: str, on_page: Callable[[int], object] = lambda _: None) -> Registry:
    """Read a registry again. Where that fails, what it listed before stays, and the reason is kept. Raises NotFound."""
    known = registry(store, name)
    try:
        read = _read(known.address, on_page)
    except Invalid as error:
        with store.reading() as snapshot:
            stored = next(server for server in snapshot.servers() if server.name == PREFIX + name)
        store.commit([SaveServer(_failed(stored, error))])
    else:
        _keep(store, name, known.address, read)
    return registry(store, name)


def _keep(store: Store, name: str, address: str, read: ReadRegistry) -> None:
    key = PREFIX + name
    fresh = {server.name: server.as_tool() for server in read.servers.values()}
    with store.reading() as snapshot:
        before = {tool.listed.name: tool.listed.digest for tool in snapshot.tools(key)}
    changed = [tool for tool in fresh.values() if before.get(tool.name) != tool.digest]
    message = "\n".join(sentences(read.wrong, MOST_TOLD))
    server = StoredServer(
        key, "listed", b"", FORMS[read.form], instructions=address, listed=now(), tried=now(), stderr=message
    )
    gone: list[tuple[ToolKind, str]] = [("server", old) for old in before if old not in fresh]
    store.commit([SaveTools(key, changed), DropTools(key, gone), SaveServer(server)])


def _failed(stored: StoredServer, error: Invalid) -> StoredServer:
    return replace(stored, state="failed", tried=now(), error=str(error))


def _read(address: str, on_page: Callable[[int], object]) -> ReadRegistry:
    """Read all of a registry. Raises Invalid."""
    if not address.startswith(("http://", "https://")):
        data = _file(Path(address))
        return _read_named(
            address,
            lambda: read_registry(lambda _: data, base=None, paged=lambda _: False, local=False, on_page=on_page),
        )
    base = address.partition(NPM_SEARCH)[0] if NPM_SEARCH in address else None
    with Fetcher(address, trusted=True) as fetcher:

        def ask(params: Mapping[str, str]) -> bytes:
            return fetcher.fetch(address, params)

        return _read_named(
            shown_url(address),
            lambda: read_registry(
                ask, base=base, paged=lambda form: form != "server", local=is_loopback(address), on_page=on_page
            ),
        )


def _read_named(address: str, read: Callable[[], ReadRegistry]) -> ReadRegistry:
    """Read a registry; what is wrong with it is raised as Invalid that names its address."""
    try:
        return read()
    except InvalidJSON as error:
        raise Invalid(f"the registry {address} cannot be read: {error.message}", hint=error.hint) from error
    except Invalid as error:
        raise error.of(f"the registry {address} cannot be read") from error


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}", hint="a URL begins with https://") from None
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise Invalid(f"{str(path)!r} is larger than {LARGEST // 2**20} MB")
    return data


def _address(text: str) -> str:
    """Return where a registry is really read: of a repository its `server.json`, of a bare host its list."""
    if "://" not in text:
        return str(Path(text).expanduser().absolute())
    parts = split_url(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid(f"{shown_url(text)!r:.200} is not a URL", hint="https://…, or the path of a file")
    if parts.username is not None or parts.password is not None:
        raise Invalid("the URL of a registry holds a name or a password, and would be kept", hint="a URL without them")
    if parts.scheme == "http" and not is_loopback(text):
        raise Invalid(f"nothing protects {shown_url(text)!r:.200} on its way", hint="https://…")
    repository = _GITHUB.fullmatch(text)
    if repository is not None:
        return f"https://raw.githubusercontent.com/{repository[1]}/{repository[2]}/HEAD/server.json"
    blob = _BLOB.fullmatch(text)
    if blob is not None:
        return f"https://raw.githubusercontent.com/{blob[1]}/{blob[2]}/{blob[3]}"
    path = parts.path.rstrip("/")
    if path in ("", "/v0", "/v0.1") and not parts.query:
        return f"{parts.scheme}://{parts.netloc}{path or '/v0'}/servers"
    return text


def _name(address: str) -> str:
    """Return what a registry is called where nobody says it: its host, of a single server the repository, or a file."""
    if "://" not in address:
        stem = Path(address).stem
    else:
        parts = split_url(address)
        raw = parts.hostname == "raw.githubusercontent.com"
        stem = "-".join(parts.path.split("/")[1:3]) if raw else (parts.hostname or "")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:80] or "registry"
