"""Members of a space in a real PostgreSQL: each connects as itself, and the database holds it to its role."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from databases import place_in_database, server_address
from psycopg import sql

from infospace import open_space
from infospace.core.errors import Invalid, NotFound, StoreError
from infospace.store.open import open_store
from infospace.store.postgres.members import add_member, members, remove_member
from infospace.store.postgres.row_security import Member
from planner import run_sync
from tui.command.system.members import _line

pytestmark = pytest.mark.usefixtures("warm_processes")

COMMAND = (sys.executable, "-m", "tui.command", "--space")


def command(address: str, *words: str, code: int = 0) -> str:
    """Run the command on a space, and return what it wrote."""
    done = subprocess.run([*COMMAND, address, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def space(tmp_path: Path) -> Iterator[str]:
    """A space with files in two folders, of which one note is public; what it made of users goes with it."""
    address = place_in_database(tmp_path)
    folder = tmp_path / "notes"
    (folder / "reports").mkdir(parents=True)
    (folder / "secret").mkdir()
    (folder / "reports" / "June.md").write_text("June went well. See [[Salaries]].\n- [ ] count June\n")
    (folder / "secret" / "Salaries.md").write_text("Ann gets a fortune.\n- [ ] pay Ann\n")
    (folder / "secret" / "Lunch.md").write_text("---\ntags: [public]\n---\nLunch is at noon.\n")
    command(address, "add", str(folder))
    yield address
    with psycopg.connect(server_address(), autocommit=True) as session:
        name = urlsplit(address).path.strip("/")
        session.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        left = session.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 't31%' OR rolname LIKE 'infospace%'")
        # Users first, and last the group that gave the others their rights.
        for (role,) in sorted(left.fetchall(), key=lambda row: (row[0][:9] == "infospace", row[0][-5:] == "admin")):
            session.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def as_user(address: str, name: str) -> str:
    """Return the address by which a user opens the same space."""
    return address.replace("postgres:@", f"{quote(name)}@", 1).replace("postgres@", f"{quote(name)}@", 1)


def count(address: str, table: str, where: str = "true") -> int:
    """Return how many rows of a table somebody sees."""
    return int(str(rows(address, f"SELECT count(*) FROM infospace.{table} WHERE {where}")[0][0]))  # noqa: S608


def rows(address: str, sql: str) -> list[tuple[object, ...]]:
    """Ask the database itself, as a thief would who knows a member's password."""
    with psycopg.connect(address, autocommit=True) as session:
        session.execute("SET search_path TO infospace, pg_catalog")
        return session.execute(sql.encode()).fetchall()


def test_who_is_no_member_reads_nothing(space: str) -> None:
    """From the first member on, a user of the database that is none is let into no table."""
    assert members(space) == []
    add_member(space, Member("t31_ann", "read"))
    with psycopg.connect(space, autocommit=True) as session:
        session.execute("CREATE ROLE t31_stranger LOGIN")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for schema infospace"):
        rows(as_user(space, "t31_stranger"), "SELECT * FROM infospace.resources")
    with pytest.raises(StoreError, match="you are no member of the space 'infospace'"):
        open_store(as_user(space, "t31_stranger"), create=False)


def test_a_reader_reads_everything_and_changes_nothing(space: str) -> None:
    """Search, query and `show` answer as ever; what would write is refused in a sentence, by the database."""
    add_member(space, Member("t31_ann", "read"))
    ann = as_user(space, "t31_ann")
    assert "June" in command(ann, "search", "--mode", "keyword", "well")
    assert "Ann gets a fortune" in command(ann, "show", "secret/Salaries.md")
    assert json.loads(command(ann, "query", "SELECT title FROM notes ORDER BY title", "--json"))["data"] == [
        {"title": "June"},
        {"title": "Lunch"},
        {"title": "Salaries"},
    ]
    said = command(ann, "rm", "secret/Salaries.md", code=1)
    assert "does not allow you this" in said
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table state"):
        rows(ann, "UPDATE state SET value = '0' RETURNING key")


def test_a_runner_runs_and_leaves_alone_what_was_kept(space: str, tmp_path: Path) -> None:
    """What its runs make is stored, kept ones too; a note of somebody else stays as it is."""
    add_member(space, Member("t31_bob", "run"))
    bob = as_user(space, "t31_bob")
    with open_space(bob) as opened:
        made = run_sync(opened, [{"type": "create-note", "value": "a report", "name": "report"}])
        assert made.status == "success"
        again = run_sync(opened, [{"type": "create-note", "value": "newer", "name": "report", "replace": True}])
        assert again.status == "success", again
    before = command(space, "show", "secret/Salaries.md")
    said = command(bob, "edit", "secret/Salaries.md", "--metadata", "a=b", code=1)
    assert "a member with the role run changes nothing that is kept" in said
    assert command(space, "show", "secret/Salaries.md") == before
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table files"):
        rows(bob, "DELETE FROM files RETURNING note")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table space_members"):
        rows(bob, "UPDATE space_members SET role = 'admin' RETURNING name")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="a member with the role run changes nothing that"):
        rows(bob, "UPDATE resources SET content = 'x' WHERE kept = 1 AND name IS NULL RETURNING key")


def hidden(address: str) -> list[str]:
    """Return the columns of all tables in which a member reads words of a hidden Note."""
    found = []
    for table, column in rows(
        address,
        """SELECT table_name::text, column_name::text FROM information_schema.columns
        WHERE table_schema = 'infospace'""",
    ):
        try:
            texts = rows(address, f'SELECT "{column}"::text FROM infospace.{table}')  # noqa: S608
        except psycopg.errors.InsufficientPrivilege:
            continue
        found += [f"{table}.{column}" for (text,) in texts if "fortune" in str(text) or "pay Ann" in str(text)]
    return found


def test_a_stolen_worker_reads_no_more_than_it_may(space: str, tmp_path: Path) -> None:
    """No table shows a hidden note's text, title, words, vectors, versions or runs, whatever is asked."""
    command(space, "search", "fortune")  # embeds all
    command(space, "edit", "secret/Salaries.md", "--metadata", "amount=a fortune")
    with open_space(space) as opened:
        steps = [{"type": "discover-notes", "query": "fortune", "mode": "keyword", "out": "$x"}]
        assert run_sync(opened, steps).status == "success"
    add_member(space, Member("t31_eve", "run", ("reports",), ("public",), ("nightly",)))
    eve = as_user(space, "t31_eve")
    assert hidden(space) != []
    assert hidden(eve) == []
    titles = [row["title"] for row in json.loads(command(eve, "query", "SELECT title FROM notes", "--json"))["data"]]
    assert sorted(titles) == ["June", "Lunch"]
    assert "Salaries" not in command(eve, "search", "fortune of Ann")
    assert "there is no id, name" in command(eve, "show", "secret/Salaries.md", code=1)
    secret = rows(space, "SELECT note FROM files WHERE path LIKE '%Salaries%'")[0][0]
    shown = {
        table: count(eve, table, f"note = {secret}")
        for table in ("files", "passages", "passage_vectors", "words", "postings", "outlines", "items", "links")
    }
    assert set(shown.values()) == {0}, shown
    assert count(eve, "history") == 0
    assert count(eve, "runs") == 0
    assert count(eve, "vectors") < count(space, "vectors")
    for table in ("audit", "schedules", "space_members"):
        assert count(eve, table) == 0


def test_a_worker_of_one_queue_takes_its_runs_alone(space: str, tmp_path: Path) -> None:
    """A run of another queue does not exist for it; those of its own it runs to their end, over what it may see."""
    add_member(space, Member("t31_eve", "run", ("reports",), (), ("nightly",)))
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps([{"type": "discover-notes", "query": "fortune", "mode": "keyword", "limit": "all", "out": "$all"}])
    )
    command(space, "run", str(plan), "--detach", "--queue", "nightly", code=0)
    command(space, "run", str(plan), "--detach", "--queue", "daily", code=0)
    eve = as_user(space, "t31_eve")
    command(eve, "work", "--once")
    with open_space(space) as opened, opened.store.reading() as snapshot:
        latest = snapshot.runs(limit=2)
    assert [row.status for row in latest] == ["suspended", "success"]
    with closing(open_store(eve, create=False)) as store, store.reading() as snapshot:
        assert [row.run for row in snapshot.runs()] == [latest[1].run]
        with pytest.raises(NotFound, match="which was pruned, or never began: a number is"):
            snapshot.run(latest[0].run)
        assert "fortune" not in str([step.value for step in snapshot.steps(latest[1].run)])


def test_a_member_is_changed_and_removed(space: str) -> None:
    """A later `add` takes the place of an earlier one; who was removed is let into no table."""
    command(space, "members", "add", "t31_ann", "--role", "write")
    command(space, "members", "add", "t31_ann", "--role", "run", "--tag", "public")
    assert members(space) == [Member("t31_ann", "run", (), ("public",))]
    assert "t31_ann  run    tags public" in command(space, "members")
    ann = as_user(space, "t31_ann")
    assert count(ann, "resources") == 1
    remove_member(space, "t31_ann")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for schema infospace"):
        rows(ann, "SELECT * FROM infospace.resources")
    with pytest.raises(NotFound, match="is no member of"):
        remove_member(space, "t31_ann")


def test_an_admin_sees_everything(space: str) -> None:
    """Who gives rights to others has them."""
    for limits in ({"tags": ("public",)}, {"folders": ("reports",)}):
        with pytest.raises(Invalid, match="admin"):
            add_member(space, Member("t31_boss", "admin", **limits))
    assert members(space) == []


def test_a_member_may_have_any_name(space: str) -> None:
    odd = 't31_O"Brien "x'
    add_member(space, Member(odd, "read"))
    assert count(as_user(space, odd), "resources") > 1
    add_member(space, Member(odd, "run", (), ("public",)))
    assert count(as_user(space, odd), "resources") == 1
    remove_member(space, odd)
    assert members(space) == []


def test_an_admin_makes_members_and_they_hold_after_an_upgrade(space: str) -> None:
    """An admin that is no superuser adds, changes and removes; tables that an upgrade makes are protected as well."""
    add_member(space, Member("t31_boss", "admin"))
    boss = as_user(space, "t31_boss")
    with psycopg.connect(space, autocommit=True) as session:
        session.execute("CREATE ROLE t31_carl LOGIN")
    add_member(boss, Member("t31_carl", "read", (), ("public",)))
    carl = as_user(space, "t31_carl")
    assert count(carl, "resources") == 1
    with psycopg.connect(space, autocommit=True) as session:
        session.execute("UPDATE infospace.state SET value = '15' WHERE key = 'tables'")
        session.execute("DROP TABLE infospace.schedules")
        session.execute("ALTER TABLE infospace.queue DROP COLUMN losses, DROP COLUMN reached")
    with pytest.raises(StoreError, match="does not allow you this"):
        open_store(carl, create=False)
    open_store(boss, create=False).close()
    assert count(carl, "schedules") == 0
    assert count(carl, "resources") == 1
    remove_member(boss, "t31_carl")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for schema infospace"):
        rows(carl, "SELECT * FROM infospace.resources")


def test_every_table_says_who_sees_it(space: str) -> None:
    """A table that a later version adds is seen by nobody until it is said which of its rows are seen."""
    from infospace.store.postgres.row_security import SIGHT

    tables = {str(name) for (name,) in rows(space, "SELECT tablename FROM pg_tables WHERE schemaname = 'infospace'")}
    assert tables - set(SIGHT) == set()


@pytest.mark.parametrize(
    ("member", "line"),
    [
        (Member("ann", "write"), "ann    write  sees everything"),
        (Member("bob", "read", tags=("x",)), "bob    read   tags x"),
        (
            Member("robin", "run", ("a", "b/c"), ("public",), ("nightly",)),
            "robin  run    folders a, b/c; tags public; queues nightly",
        ),
    ],
)
def test_a_member_is_a_line_with_what_it_may_and_sees(member: Member, line: str) -> None:
    assert _line(member, 5) == line
