"""Servers, what they list, and how calls of it went.

A tool's number is given once: what its server lists no more is marked as gone, and has its number when it comes back.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from typing import Any

from infospace.core.tool import ToolKind
from infospace.data.json_text import dump
from infospace.store.sqlite.codec import read
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.transaction import Transaction
from infospace.store.tool_records import (
    AddSource,
    DropServer,
    DropTools,
    ForgetSource,
    ListedTool,
    RecordCall,
    SaveServer,
    SaveTools,
    StoredServer,
    StoredTool,
    ToolChange,
    ToolUse,
)

TABLES = (
    "CREATE TABLE tool_sources (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
    """CREATE TABLE servers (
        name TEXT PRIMARY KEY, state TEXT NOT NULL, entry BLOB NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
        instructions TEXT NOT NULL, listed TEXT, expires TEXT, tried TEXT, error TEXT, stderr TEXT NOT NULL)
        WITHOUT ROWID""",
    """CREATE TABLE tools (
        number INTEGER PRIMARY KEY, server TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        created TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0, digest BLOB NOT NULL, listed TEXT NOT NULL,
        UNIQUE (server, kind, name))""",
    """CREATE TABLE tool_calls (
        number INTEGER PRIMARY KEY, server TEXT NOT NULL, name TEXT NOT NULL, at TEXT NOT NULL,
        duration_ms REAL NOT NULL, well INTEGER NOT NULL)""",
    "CREATE INDEX tool_calls_tool ON tool_calls (server, name, duration_ms, well)",
    "INSERT INTO state VALUES ('tools', 0)",
)
"""The paths of `mcp.json` files in the order they came, servers, their tools, and each call that was really made."""

_SERVER = ", ".join(column.name for column in fields(StoredServer))

_KEEP = """INSERT INTO tools (server, kind, name, created, digest, listed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (server, kind, name) DO UPDATE SET gone = 0, digest = ?5, listed = ?6"""

_TOOL = "SELECT number, server, created, listed FROM tools WHERE gone = 0"


def _statement(calls: str) -> str:
    # The time that 95 of 100 calls do not exceed is the one at the rank ceil(0.95 n).
    return f"""SELECT server, name, max(n), avg(well), avg(duration_ms),
        max(CASE WHEN place = (n * 95 + 99) / 100 THEN duration_ms END)
    FROM (SELECT server, name, well, duration_ms, count(*) OVER (PARTITION BY server, name) AS n,
            row_number() OVER (PARTITION BY server, name ORDER BY duration_ms) AS place
        FROM ({calls}))
    GROUP BY server, name ORDER BY server, name"""


_USES = _statement(
    "SELECT server, name, well, duration_ms FROM tool_calls WHERE (?1 IS NULL OR server = ?1) "
    "AND (?2 IS NULL OR name = ?2)"
)
_BY_SERVER = _statement("SELECT server, '' AS name, well, duration_ms FROM tool_calls")


def change(work: Transaction, changes: Sequence[ToolChange]) -> None:
    """Apply changes of one type."""
    for one in changes:
        _WRITERS[type(one)](work, one)
    if not isinstance(changes[0], RecordCall):
        work.connection.run("UPDATE state SET value = value + 1 WHERE key = 'tools'")


def _add_source(work: Transaction, change: AddSource) -> None:
    work.connection.run("INSERT OR IGNORE INTO tool_sources (path) VALUES (?)", (change.path,))


def _forget_source(work: Transaction, change: ForgetSource) -> None:
    work.connection.run("DELETE FROM tool_sources WHERE path = ?", (change.path,))


def _keep_server(work: Transaction, change: SaveServer) -> None:
    row = astuple(change.server)
    work.connection.run(f"INSERT OR REPLACE INTO servers ({_SERVER}) VALUES ({', '.join('?' * len(row))})", row)


def _keep_tools(work: Transaction, change: SaveTools) -> None:
    rows = [(change.server, tool.kind, tool.name, work.now, tool.digest, dump(tool.written())) for tool in change.tools]
    work.connection.execute_many(_KEEP, rows)


def _drop_tools(work: Transaction, change: DropTools) -> None:
    rows = [(change.server, kind, name) for kind, name in change.tools]
    work.connection.execute_many("UPDATE tools SET gone = 1 WHERE server = ? AND kind = ? AND name = ?", rows)


def _drop_server(work: Transaction, change: DropServer) -> None:
    work.connection.run("DELETE FROM servers WHERE name = ?", (change.server,))
    work.connection.run("UPDATE tools SET gone = 1 WHERE server = ?", (change.server,))


def _called(work: Transaction, change: RecordCall) -> None:
    work.connection.run(
        "INSERT INTO tool_calls (server, name, at, duration_ms, well) VALUES (?, ?, ?, ?, ?)",
        (change.server, change.name, change.at, change.duration_ms, change.well),
    )


_WRITERS: dict[type[ToolChange], Callable[[Transaction, Any], None]] = {
    AddSource: _add_source,
    ForgetSource: _forget_source,
    SaveServer: _keep_server,
    SaveTools: _keep_tools,
    DropTools: _drop_tools,
    DropServer: _drop_server,
    RecordCall: _called,
}


def generation(connection: Connection) -> int:
    """Return how many commits changed servers, tools or sources."""
    result: int = connection.value("SELECT value FROM state WHERE key = 'tools'")
    return result


def sources(connection: Connection) -> list[str]:
    """Return the remembered paths in the order they came."""
    return [path for (path,) in connection.all("SELECT path FROM tool_sources ORDER BY number")]


def servers(connection: Connection) -> list[StoredServer]:
    """Return the servers by name."""
    return [StoredServer(*row) for row in connection.all(f"SELECT {_SERVER} FROM servers ORDER BY name")]


def list_tools(connection: Connection, server: str | None) -> list[StoredTool]:
    """Return the tools of one server or of all, by number."""
    narrowed = "" if server is None else " AND server = ?"
    rows = connection.all(f"{_TOOL}{narrowed} ORDER BY number", () if server is None else (server,))
    return [_tool_from_row(row, connection.address) for row in rows]


def find(connection: Connection, server: str, name: str, kind: ToolKind) -> StoredTool | None:
    """Return the tool of a server by its name, None where there is none."""
    row = connection.fetch_one(f"{_TOOL} AND server = ? AND kind = ? AND name = ?", (server, kind, name))
    return None if row is None else _tool_from_row(row, connection.address)


def by_number(connection: Connection, number: int) -> StoredTool | None:
    """Return the tool with a number."""
    row = connection.fetch_one(f"{_TOOL} AND number = ?", (number,))
    return None if row is None else _tool_from_row(row, connection.address)


def counts(connection: Connection) -> dict[tuple[str, ToolKind], int]:
    """Return how many tools, prompts and resources each server has."""
    rows = connection.all("SELECT server, kind, count(*) FROM tools WHERE gone = 0 GROUP BY server, kind")
    return {(server, kind): count for server, kind, count in rows}


def uses(connection: Connection, server: str | None, name: str | None) -> list[ToolUse]:
    """Return how calls went, by server and name: of one tool, of all of a server, of all."""
    return [ToolUse(*row) for row in connection.all(_USES, (server, name))]


def totals(connection: Connection, tools: Sequence[tuple[str, str]] | None) -> dict[tuple[str, str], tuple[int, float]]:
    """Return how often tools were called, and the share of calls that went well."""
    if tools is None:
        rows = connection.all("SELECT server, name, count(*), avg(well) FROM tool_calls GROUP BY server, name")
    else:
        one = "SELECT ?1, ?2, count(*), avg(well) FROM tool_calls WHERE server = ?1 AND name = ?2"
        rows = [row for key in tools for row in connection.all(one, key)]
    return {(server, name): (count, rate) for server, name, count, rate in rows if count}


def server_uses(connection: Connection) -> list[ToolUse]:
    """Return how the calls of all tools of each server went, by server."""
    return [ToolUse(*row) for row in connection.all(_BY_SERVER)]


def _tool_from_row(row: Row, address: str) -> StoredTool:
    number, server, created, listed = row
    return StoredTool(f"tool_{number}", server, created, ListedTool.read(read(listed, address)))
