"""The servers of a space: what its `mcp.json` files say now, what is kept of their tools. Only a call starts one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from infospace.core.errors import InfospaceError, StoreError
from infospace.core.json_types import JSON
from infospace.core.tool import NotCalled, Tool, ToolAnswer, ToolKind
from infospace.store.tool_records import RecordCall, StoredServer, StoredTool
from infospace.tools.call_examples import SuccessfulCallCache
from infospace.tools.mcp.config import FILE, Entry, EntryProblem, read_entries

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot, Store
    from infospace.tools.mcp.auth.sign_in import SignIn
    from infospace.tools.mcp.catalogue.save import ListingStore
    from infospace.tools.mcp.connections import PendingSignIn
    from infospace.tools.mcp.pool import ConnectionPool

Stamps: TypeAlias = "tuple[tuple[str, int, int, int], ...]"
LISTED_WHOLE = 200
"""Tools up to which a server is listed anew, and kept, when it is started for a call: so many take a tenth of a second.
A larger one is asked for the tool that is called, and listed whole where that is another now."""
State: TypeAlias = Literal["never listed", "listed", "failed", "disabled"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server as it is known now: its entry, what was kept of it, and how much it lists."""

    entry: Entry
    kept: StoredServer | None
    tools: int = 0
    prompts: int = 0
    resources: int = 0

    @property
    def name(self) -> str:
        """The first part of the full names of its tools."""
        return self.entry.name

    @property
    def state(self) -> State:
        """How it stands; one that failed may have been listed before."""
        if self.entry.disabled:
            return "disabled"
        return "never listed" if self.kept is None else self.kept.state

    @property
    def title(self) -> str:
        """What its entry calls it, else what it calls itself."""
        return self.entry.title or (self.kept.title if self.kept else "")

    @property
    def description(self) -> str:
        """What its entry says that it is for, else what it says to models."""
        return self.entry.description or (self.kept.instructions if self.kept else "")


class Servers:
    """Reads the files once, when it is first asked; `reload` has them read again, `follow` where they are others."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.sign_in: SignIn | None = None
        """A person who can sign in to servers, None where nobody is asked; to be set before one is started."""
        self.signing_in: dict[str, PendingSignIn] = {}
        """The servers that are being connected, by name."""
        self._stamps: Stamps = ()
        """What told the files from others when they were read."""
        self._unlisted: tuple[int, object, Sequence[Tool]] | None = None
        self.successes = SuccessfulCallCache(store)
        self._kept: tuple[int, Mapping[str, StoredServer]] | None = None
        self._listed: tuple[int, object, Mapping[str, Sequence[Tool]]] | None = None

    @cached_property
    def _read(self) -> tuple[Mapping[str, Entry], Sequence[EntryProblem]]:
        # Stamped before they are read: what is written meanwhile is seen at the next look.
        files = sources_of(self._store)
        self._stamps = _stamps(files)
        return read_all(files)

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The entries without fault by name, disabled ones too."""
        return self._read[0]

    @property
    def problems(self) -> Sequence[EntryProblem]:
        """What is wrong in the files; one that could not be read is among them."""
        return self._read[1]

    @cached_property
    def _providers(self) -> Mapping[str, ServerTools]:
        return {
            name: ServerTools(entry, self._store, self) for name, entry in self.entries.items() if not entry.disabled
        }

    @cached_property
    def pool(self) -> ConnectionPool:
        """Those that run. A server starts when one of its tools is called, or it is to be listed."""
        from infospace.tools.mcp.pool import ConnectionPool

        return ConnectionPool(self.listings.follow, self.sign_in)

    @cached_property
    def listings(self) -> ListingStore:
        """What writes down what they list."""
        from infospace.tools.mcp.catalogue.save import ListingStore

        return ListingStore(self._store)

    def providers(self) -> Mapping[str, ServerTools]:
        """Return the servers that are not disabled, by name, as providers of their tools."""
        return self._providers

    def all(self) -> list[Server]:
        """Return the servers by name, disabled ones too."""
        with self._store.reading() as snapshot:
            stored = {server.name: server for server in snapshot.servers()}
            counts = snapshot.tool_counts()
        kinds: tuple[ToolKind, ...] = ("tool", "prompt", "resource")
        return [
            Server(entry, stored.get(name), *(counts.get((name, kind), 0) for kind in kinds))
            for name, entry in sorted(self.entries.items())
        ]

    def listed(self) -> Mapping[str, Sequence[Tool]]:
        """Return the tools, prompts and resources of each server by id; the same lists until these are others."""
        providers = self.providers()
        with self._store.reading() as snapshot:
            generation, servers = self.saved_servers(snapshot)
            if self._listed is None or self._listed[0] != generation or self._listed[1] is not providers:
                rows: defaultdict[str, list[StoredTool]] = defaultdict(list)
                for stored in snapshot.tools():
                    rows[stored.server].append(stored)
                results = {name: one.build_tools(rows[name], servers.get(name)) for name, one in providers.items()}
                self._listed = generation, providers, results
            return self._listed[2]

    def saved_servers(self, snapshot: Snapshot) -> tuple[int, Mapping[str, StoredServer]]:
        """Return what is kept of each server, and the state of the space that this is of."""
        generation = snapshot.tools_generation()
        if self._kept is None or self._kept[0] != generation:
            self._kept = generation, {server.name: server for server in snapshot.servers()}
        return self._kept

    def never_listed(self) -> Sequence[Tool]:
        """Return the servers of which nothing is known but their entries, and those that registries list besides."""
        from infospace.tools.mcp.registries.saved import registries
        from infospace.tools.mcp.unlisted_servers import never_listed, not_connected

        with self._store.reading() as snapshot:
            generation = snapshot.tools_generation()
        if self._unlisted is None or self._unlisted[:2] != (generation, self._read):
            every = self.all()
            self._unlisted = (
                generation,
                self._read,
                [*never_listed(every), *not_connected(every, registries(self._store))],
            )
        return self._unlisted[2]

    def record(self, called: RecordCall) -> None:
        """Remember that a tool was called; where that cannot be written, the call is as good."""
        if self._store.writable:
            with suppress(StoreError):
                self._store.commit([called])

    def reload(self) -> None:
        """Have the files read again."""
        for name in ("_read", "_providers"):
            self.__dict__.pop(name, None)
        if "pool" in self.__dict__:
            self.pool.end([name for name in self.pool.running() if name not in self.providers()])

    def follow(self) -> Stamps:
        """Have the files read again where they are others or were written since; return what tells them apart."""
        if "_read" in self.__dict__ and _stamps(sources_of(self._store)) != self._stamps:
            self.reload()
        _ = self._read
        return self._stamps

    def close(self) -> None:
        """End the servers that run."""
        if "pool" in self.__dict__:
            self.pool.close()


@dataclass(slots=True)
class _ToolsByName:
    """What was read of some of a server's tools by name, in one state of the space."""

    generation: int
    server: StoredServer | None
    found: dict[str, Tool | None] = field(default_factory=dict)


class ServerTools:
    """The tools that a server listed last, as its entry lets them be seen. Implements `ToolProvider`."""

    def __init__(self, entry: Entry, store: Store, servers: Servers) -> None:
        self.entry = entry
        self._store = store
        self._servers = servers
        self._seen: _ToolsByName | None = None

    @property
    def server(self) -> str:
        """The first part of the full names of its tools."""
        return self.entry.name

    def tools(self) -> Sequence[Tool]:
        """Return its tools, prompts and resources by id."""
        return self._servers.listed().get(self.server, ())

    def build_tools(self, kept: Sequence[StoredTool], server: StoredServer | None) -> Sequence[Tool]:
        """Make tools of what is kept of them; disabled ones are left out."""
        return [self._build_tool(tool, server) for tool in kept if tool.listed.name not in self.entry.disabled_tools]

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name, prompts and resources apart."""
        with self._store.reading() as snapshot:
            seen = self._now(snapshot)
            if name not in seen.found:
                hidden = name in self.entry.disabled_tools
                stored = None if hidden else snapshot.tool(self.server, name)
                seen.found[name] = None if stored is None else self._build_tool(stored, seen.server)
            return seen.found[name]

    def _now(self, snapshot: Snapshot) -> _ToolsByName:
        """Return what was read already of this state of the space."""
        generation, servers = self._servers.saved_servers(snapshot)
        seen = self._seen
        if seen is None or seen.generation != generation:
            self._seen = seen = _ToolsByName(generation, servers.get(self.server))
        return seen

    async def current(self, tool: Tool) -> Tool:
        """Return a tool as its server lists it now; starts the server where it does not run.

        The list is read once for each connection, and again when the server says that it changed; of a server of
        thousands only this tool of it, as long as it is what is kept. Raises NotCalled.
        """
        with self._store.reading() as snapshot:
            stored = snapshot.tool(self.server, tool.name)
            many = snapshot.tool_counts().get((self.server, "tool"), 0) > LISTED_WHOLE
            server = self._servers.saved_servers(snapshot)[1].get(self.server)
        if many and stored is not None and await self._servers.pool.lists(self.entry, stored.listed):
            current_tool = self._build_tool(stored, server)
            return tool if current_tool == tool else current_tool
        listing = await self._servers.pool.current(self.entry)
        listed = listing.find("tool", tool.name)
        if listed is None:
            why = next((f": it {refused.why}" for refused in listing.refused if refused.name == tool.name), "")
            raise NotCalled(f"{tool.full_name} was not called: its server lists no such tool any more{why}")
        with self._store.reading() as snapshot:
            server = self._servers.saved_servers(snapshot)[1].get(self.server)
        current_tool = self._build_tool(StoredTool(tool.id, self.server, tool.created, listed), server)
        return tool if current_tool == tool else current_tool

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Call a tool, get a prompt or read a resource; starts the server where it does not run.

        Raises NotCalled, ToolFailed; may be cancelled.
        """
        seconds = timeout_s or self.entry.timeout_s
        return await self._servers.pool.call(self.entry, tool.kind, tool.name, arguments, seconds)

    def _build_tool(self, stored: StoredTool, server: StoredServer | None) -> Tool:
        entry, listed = self.entry, stored.listed
        title = entry.title or (server.title if server else "")
        approved = entry.approved
        return Tool(
            self.server,
            listed.name,
            listed.description,
            listed.input_schema,
            listed.output_schema,
            read_only=bool(listed.read_only),
            idempotent=bool(listed.idempotent),
            destructive=not listed.read_only if listed.destructive is None else listed.destructive,
            connected=server is not None and server.state == "listed",
            annotated=(listed.read_only, listed.idempotent, listed.destructive) != (None, None, None),
            title=listed.title,
            kind=listed.kind,
            integration="REST" if entry.rest else "MCP",
            tags=tuple(dict.fromkeys((*listed.tags, *entry.tags))),
            claimed=() if entry.trusted else tuple(tag for tag in listed.tags if tag not in entry.tags),
            category=listed.category or entry.category or title,
            server_title=title,
            server_description=entry.description or (server.instructions if server else ""),
            trusted=entry.trusted,
            blocked=entry.blocked,
            auto_approved=approved is True or (approved != () and listed.name in approved),
            visibility=entry.visibility,
            team=entry.team,
            examples=(*listed.examples, *entry.examples.get(listed.name, ())),
            timeout_s=entry.timeout_s,
            id=stored.id,
            created=stored.created,
        )


def _stamps(files: Sequence[Path]) -> Stamps:
    results = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            results.append((str(file), 0, 0, 0))
        else:
            results.append((str(file), stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(results)


def sources_of(store: Store) -> list[Path]:
    """Return the `mcp.json` files of a space: those it remembers; without any, the one beside it, if it is there."""
    with store.reading() as snapshot:
        remembered = [Path(path) for path in snapshot.tool_sources()]
    if remembered:
        return remembered
    beside = None if store.derived is None else store.derived.parent / FILE
    return [beside] if beside is not None and beside.is_file() else []


def read_all(files: Sequence[Path]) -> tuple[Mapping[str, Entry], Sequence[EntryProblem]]:
    """Read several files. A server that an earlier one names is that one's; a file that cannot be read is a problem."""
    entries: dict[str, Entry] = {}
    problems: list[EntryProblem] = []
    for file in files:
        try:
            read = read_entries(file)
        except InfospaceError as error:
            problems.append(EntryProblem(str(file), "", error.message, error.hint))
            continue
        problems += read.problems
        for entry in read.entries:
            first = entries.setdefault(entry.name, entry)
            if first is not entry:
                message = f"{first.file!r} names a server {entry.name!r} already"
                problems.append(EntryProblem(entry.file, entry.name, message, "give one of them another name"))
    return entries, problems
