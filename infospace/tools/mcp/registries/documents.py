"""The documents of registries: pages of the MCP registry's list, of a search of npm, and a single `server.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from infospace.core.errors import Invalid, InvalidJSON
from infospace.core.plural import pluralize
from infospace.data.json_text import read_json
from infospace.schema.value_text import shown
from infospace.tools.mcp.catalogue.json_members import without_unreadable_members
from infospace.tools.mcp.registries.listed_server import ListedServer
from infospace.tools.mcp.registries.server_json import read_npm_package, read_server
from infospace.tools.mcp.transport.hosts import LARGEST

Form: TypeAlias = Literal["mcp", "npm", "server"]
"""The MCP registry's list, documents of a search of npm, a single `server.json`."""

FORMS: Final[Mapping[Form, str]] = {"mcp": "MCP registry", "npm": "npm search", "server": "server.json"}
OFFICIAL: Final = "io.modelcontextprotocol.registry/official"
MOST_SERVERS: Final = 20_000
"""Servers of one registry that are kept."""
MOST_PAGES: Final = 1_000
PAGE: Final = 100
"""Servers that are asked for at once; 250 is the most that npm answers."""
LARGEST_WHOLE: Final = 128 * 2**20
"""Bytes of all pages of a registry together that are read."""


@dataclass(frozen=True, slots=True)
class WrongEntry:
    """An entry of a registry that is left out, and why."""

    name: str
    why: str


@dataclass(slots=True)
class ReadRegistry:
    """What a registry lists: its servers by name, and the entries that are left out."""

    form: Form = "mcp"
    servers: dict[str, ListedServer] = field(default_factory=dict)
    wrong: list[WrongEntry] = field(default_factory=list)
    pages: int = 0


@dataclass(frozen=True, slots=True)
class _Page:
    form: Form
    entries: Sequence[Any]
    cursor: str | None = None
    total: int | None = None


Ask: TypeAlias = "Callable[[Mapping[str, str]], bytes]"
"""Returns a page, asked for with these parameters."""


def read_registry(
    ask: Ask,
    *,
    base: str | None,
    paged: Callable[[Form], bool],
    local: bool,
    on_page: Callable[[int], object] = lambda _: None,
) -> ReadRegistry:
    """Read a registry to its last page. `base` is the URL of its npm registry, None of a file.

    What is wrong with an entry is told of that one alone. Raises Invalid where a page is no such document, a page
    comes again, or there is no end.
    """
    result, size = ReadRegistry(), 0
    params: dict[str, str] = {}
    seen: set[str] = set()
    while True:
        data = ask(params)
        size += len(data)
        page = _page(data, first=result.pages == 0)
        if result.pages and page.form != result.form:
            raise Invalid(f"its page {result.pages + 1} is of another form than the first")
        result.form, result.pages = page.form, result.pages + 1
        before = len(result.servers) + len(result.wrong)
        for at, raw in enumerate(page.entries):
            _take(result, raw, f"entry {at + 1} of page {result.pages}", base, local=local)
        if len(result.servers) + len(result.wrong) > MOST_SERVERS:
            raise Invalid(f"it lists more than {MOST_SERVERS:,} servers")
        on_page(len(result.servers))
        if not paged(page.form) or not page.entries:
            return result
        if page.form == "npm":
            if len(result.servers) + len(result.wrong) == before:
                raise Invalid(f"its list does not end: its page {result.pages} has nothing that did not come before")
            read = int(params.get("from", "0")) + len(page.entries)
            if page.total is None or read >= page.total:
                return result
            params = {"from": str(read), "size": str(PAGE)}
        else:
            if not page.cursor:
                return result
            if page.cursor in seen:
                raise Invalid(f"its list does not end: the page {page.cursor!r:.80} comes again")
            seen.add(page.cursor)
            params = {"cursor": page.cursor, "limit": str(PAGE)}
        if result.pages >= MOST_PAGES or size > LARGEST_WHOLE:
            raise Invalid(f"its list does not end within {result.pages:,} pages and {size // 2**20:,} MB")


def _page(data: bytes, *, first: bool) -> _Page:
    root, unreadable = _json(data)

    def entries(results: list[Any]) -> list[Any]:
        return [_Unreadable(unreadable[at]) if at in unreadable else one for at, one in enumerate(results)]

    if not isinstance(root, Mapping):
        raise Invalid(f"it is {shown(root)}, not an object")
    if isinstance(root.get("servers"), list):
        metadata = root.get("metadata")
        cursor = _cursor(metadata) if isinstance(metadata, Mapping) else None
        return _Page("mcp", entries(root["servers"]), cursor)
    if isinstance(root.get("objects"), list):
        total = root.get("total")
        whole = total if isinstance(total, int) and not isinstance(total, bool) and total >= 0 else None
        return _Page("npm", entries(root["objects"]), total=whole)
    if first and ("packages" in root or "remotes" in root):
        return _Page("server", [root])
    hint = "an object with `servers` (MCP registry), `objects` (npm search), or `packages` or `remotes` (server.json)"
    raise Invalid("it is the document of no registry", hint=hint)


def _cursor(metadata: Mapping[str, Any]) -> str | None:
    value = metadata.get("nextCursor", metadata.get("next_cursor"))
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > 4_000:
        raise Invalid(f"its `nextCursor` is {shown(value)}, not a short text")
    return value


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands for an entry that no reader of JSON reads."""

    why: str


def _json(data: bytes) -> tuple[Any, Mapping[int | str, str]]:
    """Read a page, and why some of its entries cannot be read, by their numbers."""
    try:
        return read_json(data, what="it", max_bytes=LARGEST), {}
    except InvalidJSON as error:
        if not error.pointer:
            raise
    text = data.decode("utf-8-sig")
    for name in ("servers", "objects"):
        rest, apart = without_unreadable_members(text, name)
        if apart:
            break
    try:
        root = json.loads(rest)
    except (RecursionError, ValueError):
        return read_json(rest, what="it", max_bytes=LARGEST), {}
    return root, {unreadable.key: unreadable.error.message for unreadable in apart}


def _take(result: ReadRegistry, raw: Any, place: str, base: str | None, *, local: bool) -> None:
    name = place
    if isinstance(raw, Mapping):
        body, status = _body(raw, result.form)
        if isinstance(body, Mapping) and isinstance(body.get("name"), str):
            name = body["name"][:120]
        if status is None:
            return
    else:
        body, status = raw, "known"
    try:
        if isinstance(body, _Unreadable):
            raise Invalid(body.why)  # noqa: TRY301 - told as all that is wrong with an entry
        read = read_npm_package(body, base) if result.form == "npm" else read_server(body, local=local)
    except Invalid as error:
        result.wrong.append(WrongEntry(name, f"{error.message}{f' ({error.hint})' if error.hint else ''}"))
        return
    if status == "latest" or read.name not in result.servers:
        result.servers[read.name] = read


def _body(raw: Mapping[str, Any], form: Form) -> tuple[Any, Literal["latest", "known"] | None]:
    """Return what describes the server, and how it stands: None for one that is deleted or is not the latest."""
    if form == "npm":
        return raw.get("package"), "known"
    body = raw.get("server", raw)
    meta = raw.get("_meta")
    official = meta.get(OFFICIAL) if isinstance(meta, Mapping) else None
    official = official if isinstance(official, Mapping) else {}
    gone = "deleted" in (official.get("status"), body.get("status") if isinstance(body, Mapping) else None)
    latest = official.get("isLatest", official.get("is_latest"))
    return body, None if gone or latest is False else "latest" if latest is True else "known"


def sentences(wrong: Sequence[WrongEntry], most: int) -> Iterator[str]:
    """Say what is left out, in a sentence for each; at last how many more."""
    for wrong_entry in wrong[:most]:
        yield f"{wrong_entry.name!r:.120} is left out: {wrong_entry.why}"
    if len(wrong) > most:
        more = pluralize(len(wrong) - most, "more entry", "more entries")
        yield f"{more} {'is' if len(wrong) - most == 1 else 'are'} left out"
