"""Who may read and write a space in a database: its members, whom the database itself holds to their roles.

A member is a user of the database. What a role may do is granted to a group of it; what a member sees of the Notes and
runs is decided row by row by policies (https://www.postgresql.org/docs/current/ddl-rowsecurity.html). So whoever takes
a member's password, or its worker, reads and writes no more than the member may, with infospace or without.

- `read` reads. `run` also begins runs and takes those that wait: what these make is stored, and nothing that was kept
  before is changed. `write` also imports, edits, deletes, and lists tools. `admin` also makes members and tables.
- A member with folders, tags or queues sees of the kept Notes those in one of the folders or with one of the tags, and
  of the runs those that it began or that came into one of its queues, with all that these made. Others see everything.

The owner of the tables is the group of admins, to whom no policy applies. A table that is not in `SIGHT` is nobody
else's: so one that a later version adds is not seen by mistake.
"""

# ruff: noqa: S608 - statements are put together from constants, quoted names and digests alone

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from infospace.store.postgres.connection import REFUSAL

if TYPE_CHECKING:
    from infospace.store.postgres.connection import PostgresConnection

Role: TypeAlias = Literal["read", "run", "write", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""Each may what those before it may."""

TABLE: Final = "space_members"

_DEFINITIONS: Final = (
    """CREATE TABLE space_members (name TEXT PRIMARY KEY, role TEXT NOT NULL, sees_all BOOLEAN NOT NULL,
        folders TEXT[] NOT NULL, tags TEXT[] NOT NULL, queues TEXT[] NOT NULL)""",
    # Whose a run is: of the member that began it, and of the queues that it came into.
    """CREATE TABLE run_members (run BIGINT NOT NULL, member TEXT, queue TEXT)""",
    "CREATE INDEX run_members_run ON run_members (run)",
)

_FUNCTIONS: Final = (
    """CREATE OR REPLACE FUNCTION scope_notes() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$
        SELECT f.note FROM space_members m CROSS JOIN unnest(m.folders) AS one (name)
        JOIN files f ON f.folder = one.name OR starts_with(f.folder, one.name || '/')
        WHERE m.name = session_user $$""",
    """CREATE OR REPLACE FUNCTION scope_tags() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$
        SELECT coalesce((SELECT tags FROM space_members WHERE name = session_user), ARRAY[]::text[]) $$""",
    """CREATE OR REPLACE FUNCTION sees_run(bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$
        SELECT EXISTS (SELECT 1 FROM run_members r JOIN space_members m
            ON r.member = m.name OR r.queue = ANY(m.queues) WHERE r.run = $1 AND m.name = session_user) $$""",
    # JSON texts may say characters that PostgreSQL's texts cannot hold: tags with such are no tag of a member.
    r"""CREATE OR REPLACE FUNCTION has_a_tag(text, text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE json_typeof($1::json -> 'tags')
            WHEN 'array' THEN ($1::json -> 'tags')::text !~ '\\u0000' AND EXISTS (
                SELECT 1 FROM json_array_elements_text($1::json -> 'tags') AS tag WHERE tag = ANY($2))
            WHEN 'string' THEN ($1::json -> 'tags')::text !~ '\\u0000' AND $1::json ->> 'tags'::text = ANY($2)
            ELSE false END $$""",
    """CREATE OR REPLACE FUNCTION keep_run_member() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO run_members (run, member) VALUES (NEW.number, session_user); RETURN NULL; END $$""",
    """CREATE OR REPLACE FUNCTION keep_run_queue() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO run_members (run, queue) SELECT NEW.run, NEW.name WHERE NOT EXISTS (
            SELECT 1 FROM run_members WHERE run = NEW.run AND queue = NEW.name); RETURN NULL; END $$""",
    """CREATE OR REPLACE FUNCTION forget_run_members() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path FROM CURRENT AS $$ BEGIN
        DELETE FROM run_members WHERE run = OLD.number; RETURN NULL; END $$""",
)

_TRIGGERS: Final = (
    "keep_run_member AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION keep_run_member()",
    "forget_run_members AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION forget_run_members()",
    "keep_run_queue AFTER INSERT ON queue FOR EACH ROW EXECUTE FUNCTION keep_run_queue()",
    """refuse_to_change_kept BEFORE UPDATE OF version, form, kept, name, deleted, hash, metadata, content ON resources
        FOR EACH ROW WHEN (OLD.kept = 1) EXECUTE FUNCTION refuse_to_change_kept()""",
)

_NOTE: Final = "EXISTS (SELECT 1 FROM resources seen WHERE seen.key = {}.note * 4)"
_KEY: Final = "EXISTS (SELECT 1 FROM resources seen WHERE seen.key = {}.key)"
_COLLECTION: Final = "EXISTS (SELECT 1 FROM resources seen WHERE seen.key = {}.collection)"
_RUN: Final = "sees_run({}.run)"
_PLAIN_NOTE: Final = "kept = 1 AND key & 3 = 0 AND form = 0 AND coalesce(name, '') NOT LIKE '\\_%'"
_SHARED: Final = "(key >> 2 IN (SELECT scope_notes()) OR has_a_tag({}.metadata, (SELECT scope_tags())))"

SIGHT: Final[dict[str, str]] = {
    **dict.fromkeys(("models", "state", "counters", "queries", "tool_sources", "tools", "tool_calls"), "true"),
    **dict.fromkeys(("servers", "queue_limits"), "true"),
    **dict.fromkeys(("audit", "schedules", "sums", "space_members", "run_members"), "false"),
    **dict.fromkeys(("answers", "batches", "calls", "lines", "packed_uses", "steps", "uses", "worked", "queue"), _RUN),
    **dict.fromkeys(("files", "items", "link_names", "links", "mentions", "outlines", "passage_vectors"), _NOTE),
    **dict.fromkeys(("passages", "pending", "postings", "settled_links", "words"), _NOTE),
    **dict.fromkeys(("described_by", "descriptions", "members", "packed_members"), _COLLECTION),
    **dict.fromkeys(("effects", "relations"), _KEY),
    "approvals": f"run = 0 OR {_RUN}",
    "history": f"EXISTS (SELECT 1 FROM resources seen WHERE seen.key = history.key AND (sees_run(history.run)"
    f" OR seen.run IS NOT NULL AND sees_run(seen.run) OR {_SHARED.replace('key', 'seen.key')}))",
    "resources": f"(run IS NOT NULL AND sees_run(run)) OR ({_PLAIN_NOTE} AND {_SHARED})",
    "runs": "sees_run(number)",
    "vectors": "EXISTS (SELECT 1 FROM passages seen WHERE seen.digest = vectors.digest)"
    " OR EXISTS (SELECT 1 FROM descriptions seen WHERE seen.digest = vectors.digest)",
}
"""Which rows of each table a member sees that does not see everything; {} is the table's name."""

_OF_RUNS: Final = frozenset(
    {
        *("answers", "approvals", "audit", "batches", "calls", "counters", "described_by", "descriptions", "effects"),
        *("history", "items", "lines", "link_names", "links", "members", "mentions", "models", "outlines"),
        *("packed_members", "packed_uses", "passage_vectors", "passages", "pending", "postings", "queries", "queue"),
        *("relations", "resources", "runs", "settled_links", "state", "steps", "tool_calls", "uses", "vectors"),
        *("words", "worked"),
    }
)
"""Tables that a run writes to: those of files, schedules, limits and listed tools are not among them."""

_NEVER_DELETED: Final = frozenset({"resources", "history", "runs", "audit", "counters", "models", "tool_calls"})
"""Tables that a run only adds to, or whose rows it changes."""


@dataclass(frozen=True, slots=True)
class Member:
    """A user of the database, what it may do in a space, and what it sees there: everything where nothing is named."""

    name: str
    role: Role
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()

    @property
    def sees_all(self) -> bool:
        """Whether no Note and no run is hidden from it."""
        return not (self.folders or self.tags or self.queues)


def protect(connection: PostgresConnection, space: str, *, begin: bool = False) -> None:
    """Give each table its owner, its rights and its policies; those of a space without members only with `begin`.

    A transaction to write in is open. What is there is made anew, so that a restored space has its members again.
    """
    if connection.value("SELECT to_regclass(?)", (f"{space}.{TABLE}",)) is None:
        if not begin:
            return
        for definition in _DEFINITIONS:
            connection.define(definition)
        connection.run("INSERT INTO run_members (run, queue) SELECT run, name FROM queue")
        # Who makes the first member stays one who may make others; a superuser does so anyway.
        connection.run(
            f"""INSERT INTO {TABLE} SELECT current_user::text, 'admin', true, '{{}}', '{{}}', '{{}}'
            WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"""
        )
    groups = _groups(connection, space)
    if connection.value("SELECT 1 FROM pg_roles WHERE rolname = ?", (groups["admin"],)) is None:
        _make_groups(connection, groups)
    connection.define(f'GRANT USAGE ON SCHEMA "{space}" TO {groups["read"]}')
    connection.define(f'GRANT CREATE, USAGE ON SCHEMA "{space}" TO {groups["admin"]}')
    for definition in (*_FUNCTIONS, _refusing(groups["write"])):
        connection.define(definition)
    for trigger in _TRIGGERS:
        connection.define(f"CREATE OR REPLACE TRIGGER {trigger}")
    for kind, name in connection.all(_RELATIONS, (space,)):
        _protect_one(connection, groups, kind, name)
    for (function,) in connection.all(_ROUTINES, (space,)):
        connection.define(f"ALTER ROUTINE {function} OWNER TO {groups['admin']}")
    grant_all(connection, space)


def _make_groups(connection: PostgresConnection, groups: dict[str, str]) -> None:
    for group in groups.values():
        connection.define(f"CREATE ROLE {group} NOLOGIN")
    if not connection.value("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
        me = quoted(str(connection.value("SELECT current_user::text")))
        connection.define(f"GRANT {groups['admin']} TO {me} WITH ADMIN TRUE, INHERIT TRUE, SET TRUE")
    for lower, higher in (("read", "run"), ("run", "write")):
        connection.define(f"GRANT {groups[lower]} TO {groups[higher]}")
    # Admins give these in the name of their group: so each of them can take back what another one gave.
    others = ", ".join(group for name, group in groups.items() if name != "admin")
    connection.define(f"GRANT {others} TO {groups['admin']} WITH ADMIN OPTION")


_RELATIONS: Final = """SELECT relkind::text, relname::text FROM pg_class
    WHERE relnamespace = to_regnamespace(?) AND relkind IN ('r', 'v') ORDER BY relname"""
_ROUTINES: Final = "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = to_regnamespace(?)"


def _protect_one(connection: PostgresConnection, groups: dict[str, str], kind: str, name: str) -> None:
    if kind == "v":  # else it would be read with the rights of its owner
        connection.define(f"ALTER VIEW {name} SET (security_invoker = true)")
        connection.define(f"ALTER VIEW {name} OWNER TO {groups['admin']}")
        connection.define(f"GRANT SELECT ON {name} TO {groups['read']}")
        return
    sight = SIGHT.get(name)
    connection.define(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
    for policy in ("everything", "some_rows"):
        connection.define(f"DROP POLICY IF EXISTS {policy} ON {name}")
    connection.define(f"CREATE POLICY everything ON {name} TO {groups['all']} USING (true) WITH CHECK (true)")
    if sight is not None:
        sight = sight.format(name)
        connection.define(f"CREATE POLICY some_rows ON {name} TO {groups['some']} USING ({sight}) WITH CHECK (true)")
        connection.define(f"REVOKE ALL ON {name} FROM {groups['read']}, {groups['run']}, {groups['write']}")
        if name != "run_members":
            connection.define(f"GRANT SELECT ON {name} TO {groups['read']}")
        if name in _OF_RUNS:
            rights = "INSERT, UPDATE" if name in _NEVER_DELETED else "INSERT, UPDATE, DELETE"
            connection.define(f"GRANT {rights} ON {name} TO {groups['run']}")
        if name not in (TABLE, "run_members"):
            connection.define(f"GRANT INSERT, UPDATE, DELETE ON {name} TO {groups['write']}")
    connection.define(f"ALTER TABLE {name} OWNER TO {groups['admin']}")


def _refusing(write: str) -> str:
    return f"""CREATE OR REPLACE FUNCTION refuse_to_change_kept() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$ BEGIN
        IF pg_has_role(session_user, '{write}', 'USAGE') OR sees_run_of_its_own(OLD.run) THEN RETURN NEW; END IF;
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = '{REFUSAL}'; END $$;
        CREATE OR REPLACE FUNCTION sees_run_of_its_own(bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path FROM CURRENT AS $$ SELECT EXISTS (SELECT 1 FROM run_members r LEFT JOIN space_members m
            ON m.name = session_user WHERE r.run = $1 AND (r.member = session_user OR r.queue IS NOT NULL
            AND (m.sees_all OR r.queue = ANY(m.queues)))) $$"""


def grant_all(connection: PostgresConnection, space: str) -> None:
    """Put all members into the groups of what they may and see, where the server knows them as users."""
    groups = _groups(connection, space)
    for member in known_members(connection):
        if connection.value("SELECT 1 FROM pg_roles WHERE rolname = ?", (member.name,)) is None:
            continue
        name = quoted(member.name)
        if member.role == "admin":
            if connection.value(
                "SELECT NOT pg_has_role(?, ?, 'MEMBER WITH ADMIN OPTION')", (member.name, groups["admin"])
            ):
                connection.define(f"GRANT {groups['admin']} TO {name} WITH ADMIN OPTION")
            continue
        sight = groups["all" if member.sees_all else "some"]
        connection.define(f"GRANT {groups[member.role]}, {sight} TO {name} GRANTED BY {groups['admin']}")


def revoke(connection: PostgresConnection, space: str, name: str) -> None:
    """Take all groups of a space from a user."""
    for group in _groups(connection, space).values():
        grantors = connection.all(
            """SELECT DISTINCT grantor::regrole::text FROM pg_auth_members
            WHERE roleid = to_regrole(?) AND member = to_regrole(?)""",
            (group, quoted(name)),
        )
        for (grantor,) in grantors:
            connection.define(f"REVOKE {group} FROM {quoted(name)} GRANTED BY {grantor} CASCADE")


def _groups(connection: PostgresConnection, space: str) -> dict[str, str]:
    """Return the groups of a space: one for each role, and `all` and `some` for what is seen.

    Users are those of the whole server, so the groups of each space of each database have names of their own.
    """
    name = connection.value("SELECT current_database()::text")
    mark = sha256(f"{name}/{space}".encode()).hexdigest()[:12]
    return {one: f"infospace_{mark}_{one}" for one in (*ROLES, "all", "some")}


def known_members(connection: PostgresConnection) -> list[Member]:
    """Return the members by name; none where there never was one."""
    if connection.value("SELECT to_regclass(?)", (TABLE,)) is None:
        return []
    rows = connection.all(
        """SELECT name, role, array_to_json(folders)::text, array_to_json(tags)::text, array_to_json(queues)::text
        FROM space_members ORDER BY name"""
    )
    return [Member(name, cast("Role", role), *(tuple(json.loads(one)) for one in rest)) for name, role, *rest in rows]


def quoted(name: str) -> str:
    """Return the name of a user as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
