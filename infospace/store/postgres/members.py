"""Making, listing and removing the members of a space in a database (`row_security` says what they may)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, Invalid, NotFound, StoreError
from infospace.store.postgres import store as database
from infospace.store.postgres.row_security import Member, grant_all, known_members, protect, quoted, revoke

if TYPE_CHECKING:
    from infospace.store.postgres.connection import PostgresConnection


def members(address: str, *, wait: float = 10.0) -> list[Member]:
    """Return the members of a space by name; none where it never had any. Raises NotFound, StoreError."""
    connection, _ = _opened(address, wait)
    try:
        return known_members(connection)
    finally:
        connection.close()


def add_member(address: str, member: Member, *, wait: float = 10.0) -> bool:
    """Make a user of the database a member, or change what it may; return whether the user was made here.

    With the first member the tables are protected. Raises Invalid: a name or a folder that is none; NotFound: no space;
    StoreError: the right to make users, or to give rights, is missing.
    """
    _must_fit(member)
    connection, space = _opened(address, wait)
    try:
        database.migrate(connection, space)
        connection.begin_to_define()
        try:
            protect(connection, space, begin=True)
            result = connection.value("SELECT 1 FROM pg_roles WHERE rolname = ?", (member.name,)) is None
            if result:
                connection.define(f"CREATE ROLE {quoted(member.name)} LOGIN")
            connection.run("DELETE FROM space_members WHERE name = ?", (member.name,))
            connection.run(
                """INSERT INTO space_members SELECT ?, ?, ?::int = 1, ARRAY(SELECT json_array_elements_text(?::json)),
                ARRAY(SELECT json_array_elements_text(?::json)), ARRAY(SELECT json_array_elements_text(?::json))""",
                (
                    *(member.name, member.role, int(member.sees_all)),
                    *(json.dumps(given) for given in (member.folders, member.tags, member.queues)),
                ),
            )
            revoke(connection, space, member.name)
            grant_all(connection, space)
            connection.run("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        return result
    finally:
        connection.close()


def remove_member(address: str, name: str, *, wait: float = 10.0) -> None:
    """Take all rights in a space from a member; the user of the database stays. Raises NotFound, StoreError."""
    connection, space = _opened(address, wait)
    try:
        known = known_members(connection)
        if name not in [member.name for member in known]:
            raise NotFound(f"{name!r} is no member of {connection.address!r}", hint="`infospace members` lists them")
        if connection.value("SELECT session_user::text") == name:
            raise Conflict(f"{name!r} is you: who leaves cannot take anything back", hint="let another admin do it")
        connection.begin_to_define()
        try:
            connection.run("DELETE FROM space_members WHERE name = ?", (name,))
            revoke(connection, space, name)
            grant_all(connection, space)
            connection.run("COMMIT")
        except BaseException:
            connection.rollback()
            raise
    finally:
        connection.close()


def _opened(address: str, wait: float) -> tuple[PostgresConnection, str]:
    connection, space = database.connection(address, wait=wait)
    try:
        there = database.is_there(connection, space)
    except StoreError:
        connection.close()
        raise
    if not there:
        connection.close()
        raise NotFound(f"there is no space at {connection.address!r}", hint="`space=NAME` in the address names it")
    return connection, space


def _must_fit(member: Member) -> None:
    if not member.name.strip() or len(member.name.encode()) > 63 or "\0" in member.name:
        raise Invalid(f"{member.name!r} cannot be the name of a user of a database", hint="at most 63 bytes")
    if member.role == "admin" and not member.sees_all:
        raise Invalid("an admin sees everything", hint="leave --folder, --tag and --queue away, or name another role")
    for text in (*member.folders, *member.tags, *member.queues):
        if not text.strip() or "\0" in text:
            raise Invalid(f"{text!r} names no folder, tag or queue")
