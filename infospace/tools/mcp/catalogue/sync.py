"""Bringing the kept catalogue up to date with the servers: who is started for it, and what came, changed and went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from infospace.core.clock import now
from infospace.core.errors import NotFound
from infospace.core.listener import Listener, NullListener
from infospace.core.tool import ToolKind
from infospace.store.changes import Change
from infospace.store.tool_records import AddSource, DropServer, ForgetSource, StoredServer
from infospace.tools.builtin import searched
from infospace.tools.mcp.catalogue.save import saved_digests
from infospace.tools.mcp.config import Entry, EntryProblem, read_entries
from infospace.tools.mcp.errors import ServerFailed
from infospace.tools.mcp.registries.saved import PREFIX
from infospace.tools.mcp.servers import sources_of

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.store.protocol import Store
    from infospace.tools.mcp.servers import Servers

WHAT = "servers listed"
NAMED = 3
"""Servers whose names progress tells, of those that are being started or listed."""


@dataclass(frozen=True, slots=True)
class FailedServer:
    """A server that is not there, and why: what is wrong with its entry, or how it failed."""

    server: str
    file: str
    reason: str
    hint: str | None = None
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool, prompt or resource that a server lists and nobody can take, and why."""

    server: str
    kind: ToolKind
    name: str
    why: str

    @property
    def message(self) -> str:
        """A sentence of it."""
        return f"the {self.kind} {self.name!r:.200} is refused: {self.why}"


@dataclass(frozen=True, slots=True)
class SyncedServer:
    """A server that was asked: what it lists and nobody can take, or how it failed."""

    server: str
    failed: FailedServer | None = None
    refused: tuple[RefusedTool, ...] = ()


Heard: TypeAlias = Callable[[SyncedServer], None]


@dataclass(slots=True)
class SyncReport:
    """What a sync did. Tools by their full names; prompts and resources are among them."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    """The servers whose lists were read."""
    unchanged: list[str] = field(default_factory=list)
    """The servers that were left alone: what is kept of them still holds."""
    failed: list[FailedServer] = field(default_factory=list)
    refused: list[RefusedTool] = field(default_factory=list)
    """What the listed servers list and nobody can take; all else of them is there."""
    warnings: list[EntryProblem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    by_words: str | None = None
    """Why tools are found by words alone; None where they are embedded, or that was not asked for."""

    @property
    def unreadable(self) -> bool:
        """Whether a file could not be read: what is kept of its servers stays."""
        return any(not failed.server for failed in self.failed)

    def to_json(self) -> dict[str, Any]:
        """Return it as `tools sync --json` prints it."""
        return {
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "listed": self.listed,
            "unchanged": self.unchanged,
            "failed": [
                {
                    "server": failed.server,
                    "file": failed.file,
                    "reason": failed.reason,
                    "hint": failed.hint,
                    "stderr": failed.stderr,
                }
                for failed in self.failed
            ],
            "refused": [
                {"server": refused.server, "kind": refused.kind, "name": refused.name, "why": refused.why}
                for refused in self.refused
            ],
            "warnings": [
                {"server": problem.server, "file": problem.file, "message": problem.message, "hint": problem.hint}
                for problem in self.warnings
            ],
            "files": self.files,
        }


async def sync(
    space: Space,
    *,
    mcp: Path | None = None,
    forget: Path | None = None,
    restart: bool = False,
    only: Collection[str] | None = None,
    listener: Listener | None = None,
    heard: Heard | None = None,
    embed: bool = False,
) -> SyncReport:
    """List the servers that were never listed, whose entry changed, or whose list holds no longer; with `restart` all.

    All are asked at once, each for as long as its own entry lets it take: none waits for another one. `heard` is told
    of each when it is done. `only` are the names of the servers that are asked, None for every one.

    With `embed` what is new is embedded as well, so that no later search waits for that.

    `mcp` is remembered, and read from then on at each opening; `forget` no more. Raises NotFound and InvalidJSON for an
    `mcp` that cannot be read, NotFound for a `forget` that is not remembered. What is wrong with a server is told of
    that one alone.
    """
    servers = _servers(space)
    _remember(space.store, mcp, forget)
    servers.reload()
    work = _Sync(space.store, servers, listener or NullListener(), restart=restart, only=only)
    work.heard, work.taken = heard or (lambda _: None), lambda name: space.catalogue.find(name) is not None
    report = await work.all()
    if embed:
        # All that a search looks among, also what the space itself can do: else the first search embeds that.
        tools = searched(space, others=True)
        report.by_words = await asyncio.to_thread(space.finder.embed, tools, listener or NullListener())
    return report


def _servers(space: Space) -> Servers:
    servers = space.tools.servers
    assert servers is not None  # noqa: S101 - a space's toolbox has them
    return servers


def _remember(store: Store, mcp: Path | None, forget: Path | None) -> None:
    changes: list[Change] = []
    if mcp is not None:
        changes.append(AddSource(read_entries(mcp).path))
    if forget is not None:
        path = str(forget.absolute())
        with store.reading() as snapshot:
            sources = snapshot.tool_sources()
        if path not in sources:
            there = f"it remembers {', '.join(sources)}" if sources else "it remembers none"
            raise NotFound(f"the space does not remember {path!r}", hint=there)
        changes.append(ForgetSource(path))
    if changes:
        store.commit(changes)


class _Sync:
    def __init__(
        self, store: Store, servers: Servers, listener: Listener, *, restart: bool, only: Collection[str] | None
    ) -> None:
        self._store = store
        self._servers = servers
        self._listener = listener
        self._restart = restart
        self._only = only
        self._salt = store.identity
        self._done = SyncReport()
        self.heard: Heard = lambda _: None
        self.taken: Callable[[str], bool] = lambda _: False
        """Whether a step that calls no tool is called so: then no server may be."""
        self._listed = self._due = 0
        self._going: list[str] = []

    async def all(self) -> SyncReport:
        report, entries = self._done, self._servers.entries
        report.files = [str(path) for path in sources_of(self._store)]
        with self._store.reading() as snapshot:
            stored = {server.name: server for server in snapshot.servers() if not server.name.startswith(PREFIX)}
        for problem in self._servers.problems:
            if problem.severity == "warning":
                report.warnings.append(problem)
            else:
                report.failed.append(FailedServer(problem.server, problem.file, problem.message, problem.hint))
        broken = {problem.server for problem in self._servers.problems if problem.severity == "error"}
        if not report.unreadable:
            self._drop(sorted(name for name in stored if name not in entries and name not in broken))
        asked = self._only
        enabled = [
            entry for name, entry in sorted(entries.items()) if not entry.disabled and (asked is None or name in asked)
        ]
        refused = [entry for entry in enabled if self.taken(entry.name)]
        report.failed += [_like_a_primitive(entry) for entry in refused]
        self._drop([entry.name for entry in refused if entry.name in stored])
        enabled = [entry for entry in enabled if entry not in refused]
        due = [entry for entry in enabled if self._restart or self._is_due(entry, stored.get(entry.name))]
        report.unchanged = [entry.name for entry in enabled if entry not in due]
        self._due = len(due)
        await asyncio.gather(*(self._list(entry) for entry in due))
        for names in (report.added, report.changed, report.removed, report.listed):
            names.sort()
        report.refused.sort(key=lambda refused: refused.server)
        report.failed.sort(key=lambda failed: (failed.file, failed.server))
        return report

    def _is_due(self, entry: Entry, stored: StoredServer | None) -> bool:
        if stored is None or stored.state == "failed" or stored.entry != entry.digest(self._salt):
            return True
        return stored.expires is None or stored.expires <= now()

    def _drop(self, names: Sequence[str]) -> None:
        with self._store.reading() as snapshot:
            self._done.removed += [f"{name}/{tool.listed.name}" for name in names for tool in snapshot.tools(name)]
        if names:
            self._store.commit([DropServer(name) for name in names])

    def _progress(self) -> None:
        more = ", …" if len(self._going) > NAMED else ""
        waiting = f"; waiting for {', '.join(self._going[:NAMED])}{more}" if self._going else ""
        self._listener.progress(self._listed, self._due, WHAT + waiting)

    async def _list(self, entry: Entry) -> None:
        before = saved_digests(self._store, entry.name)
        self._going.append(entry.name)
        self._progress()
        try:
            listing = await self._servers.pool.listing(entry, restart=self._restart)
        except ServerFailed as error:
            self._servers.listings.fail(entry, error)
            failed = FailedServer(entry.name, entry.file, error.message, error.hint, error.stderr)
            self._done.failed.append(failed)
            self.heard(SyncedServer(entry.name, failed))
        else:
            self._servers.listings.keep(entry, listing)
            self._done.listed.append(entry.name)
            refused = tuple(RefusedTool(entry.name, one.kind, one.name, one.why) for one in listing.refused)
            self._done.refused += refused
            self.heard(SyncedServer(entry.name, refused=refused))
        after = saved_digests(self._store, entry.name)
        name = entry.name
        self._done.added += [f"{name}/{key[1]}" for key in after if key not in before]
        self._done.changed += [f"{name}/{key[1]}" for key, digest in after.items() if before.get(key, digest) != digest]
        self._done.removed += [f"{name}/{key[1]}" for key in before if key not in after]
        self._listed += 1
        self._going.remove(entry.name)
        self._progress()


def _like_a_primitive(entry: Entry) -> FailedServer:
    reason = f"a server cannot be called {entry.name!r}: that is a step of its own"
    return FailedServer(entry.name, entry.file, reason, f"give it another name, such as {entry.name + '-server'!r}")
