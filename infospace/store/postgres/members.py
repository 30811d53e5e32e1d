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
    engine, _ = _opened(address, wait)
    try:
        return known_members(engine)
    finally:
        engine.close()


def add_member(address: str, member: Member, *, wait: float = 10.0) -> bool:
    """Make a user of the database a member, or change what it may; return whether the user was made here.

    With the first member the tables are protected. Raises Invalid: a name or a folder that is none; NotFound: no space;
    StoreError: the right to make users, or to give rights, is missing.
    """
    _must_fit(member)
    engine, space = _opened(address, wait)
    try:
        database.migrate(engine, space)
        engine.run("BEGIN IMMEDIATE")
        try:
            protect(engine, space, begin=True)
            made = engine.value("SELECT 1 FROM pg_roles WHERE rolname = ?", (member.name,)) is None
            if made:
                engine.define(f"CREATE ROLE {quoted(member.name)} LOGIN")
            engine.run("DELETE FROM space_members WHERE name = ?", (member.name,))
            engine.run(
                """INSERT INTO space_members SELECT ?, ?, ?::int = 1, ARRAY(SELECT json_array_elements_text(?::json)),
                ARRAY(SELECT json_array_elements_text(?::json)), ARRAY(SELECT json_array_elements_text(?::json))""",
                (
                    *(member.name, member.role, int(member.sees_all)),
                    *(json.dumps(given) for given in (member.folders, member.tags, member.queues)),
                ),
            )
            revoke(engine, space, member.name)
            grant_all(engine, space)
            engine.run("COMMIT")
        except BaseException:
            engine.rollback()
            raise
        return made
    finally:
        engine.close()


def remove_member(address: str, name: str, *, wait: float = 10.0) -> None:
    """Take all rights in a space from a member; the user of the database stays. Raises NotFound, StoreError."""
    engine, space = _opened(address, wait)
    try:
        known = known_members(engine)
        if name not in [one.name for one in known]:
            raise NotFound(f"{name!r} is no member of {engine.address!r}", hint="`infospace members` lists them")
        if engine.value("SELECT session_user::text") == name:
            raise Conflict(f"{name!r} is you: who leaves cannot take anything back", hint="let another admin do it")
        engine.run("BEGIN IMMEDIATE")
        try:
            engine.run("DELETE FROM space_members WHERE name = ?", (name,))
            revoke(engine, space, name)
            grant_all(engine, space)
            engine.run("COMMIT")
        except BaseException:
            engine.rollback()
            raise
    finally:
        engine.close()


def _opened(address: str, wait: float) -> tuple[PostgresConnection, str]:
    engine, space = database.connection(address, wait=wait)
    try:
        there = database.is_there(engine, space)
    except StoreError:
        engine.close()
        raise
    if not there:
        engine.close()
        raise NotFound(f"there is no space at {engine.address!r}", hint="`space=NAME` in the address names it")
    return engine, space


def _must_fit(member: Member) -> None:
    if not member.name.strip() or len(member.name.encode()) > 63 or "\0" in member.name:
        raise Invalid(f"{member.name!r} cannot be the name of a user of a database", hint="at most 63 bytes")
    if member.role == "admin" and not member.sees_all:
        raise Invalid("an admin sees everything", hint="leave --folder, --tag and --queue away, or name another role")
    for given in (*member.folders, *member.tags, *member.queues):
        if not given.strip() or "\0" in given:
            raise Invalid(f"{given!r} names no folder, tag or queue")
