"""Who may read and write a space in a PostgreSQL database, by name and role; the database itself holds them to it.

`read` reads. `run` also begins runs and works, and changes nothing that was kept before. `write` also imports, edits
and deletes. `admin` also makes members, and brings the tables to a later version. With --folder, --tag or --queue a
member sees those notes and runs alone, and what its own runs make. Whoever has its password, or its worker, gets no
more: also not by another program than infospace.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import Conflict, Invalid, NotFound
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.store.postgres.row_security import Member

EXAMPLES = """examples:
  infospace members
  infospace members add ann --role write
  infospace members add worker1 --role run --queue nightly --folder reports --tag public
  infospace members remove ann"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from tui.command import complete_actions

    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="list the members, and what each may and sees")
    add = actions.add_parser("add", help="make a user of the database a member, or change what it may")
    add.add_argument("name", metavar="NAME", help="the user; one that the server does not know is made")
    add.add_argument("--role", choices=("read", "run", "write", "admin"), required=True, help="what it may do")
    for kind, what in (
        ("folder", "it sees the notes of files in this folder and below"),
        ("tag", "it sees the notes whose property `tags` has this"),
        ("queue", "it sees, and may take, the runs of this queue"),
    ):
        add.add_argument(f"--{kind}", action="append", default=[], metavar=kind.upper(), help=f"{what}; repeatable")
    actions.add_parser("remove", help="take everything from a member; the user of the database stays").add_argument(
        "name", metavar="NAME"
    )
    complete_actions(actions, "infospace members", EXAMPLES)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Do one of them; without a word, list."""
    from tui.command.common.open_space import address_of

    address = address_of(args)
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"{address!r} is a file, and has no members: its folder says who may read it",
            hint="`infospace copy` brings a space into a database",
        )
    try:
        from infospace.store.postgres import members
    except ImportError as error:
        raise UsageError(
            f"a space in a database needs {error.name}, which is not installed",
            hint='pip install "infospace[postgres]"',
        ) from error
    try:
        match args.action:
            case "add":
                return _add(args, address, out)
            case "remove":
                members.remove_member(address, args.name)
                out.talk(f"{args.name} may do nothing here any more; connections that are open keep no rights either")
                return 0
            case _:
                return _list(members.members(address), out)
    except (Conflict, NotFound, Invalid) as error:
        raise UsageError(error.message, hint=error.hint) from error


def _add(args: argparse.Namespace, address: str, out: Output) -> int:
    from infospace.store.postgres.members import add_member
    from infospace.store.postgres.row_security import Member

    given = (args.folder, args.tag, args.queue)
    folders, tags, queues = (tuple(dict.fromkeys(one)) for one in given)
    member = Member(args.name, args.role, tuple(folder.strip("/") for folder in folders), tags, queues)
    result = add_member(address, member)
    if out.json:
        out.document({**_json(member), "made_user": result})
        return 0
    out.text(_line(member, len(member.name)))
    if result:
        out.talk(f"the user was made without a password: psql's \\password {args.name} gives it one")
    return 0


def _list(members: list[Member], out: Output) -> int:
    if out.json:
        out.document([_json(member) for member in members])
        return 0
    if not members:
        out.talk("nobody was made a member: whoever may open the database may do everything in it", "dim")
    wide = max((len(member.name) for member in members), default=0)
    for member in members:
        out.text(_line(member, wide), crop=True)
    return 0


def _line(member: Member, wide: int) -> str:
    parts = [
        f"{kind} {', '.join(names)}"
        for kind, names in (("folders", member.folders), ("tags", member.tags), ("queues", member.queues))
        if names
    ]
    return f"{member.name:<{wide}}  {member.role:<5}  {'; '.join(parts) or 'sees everything'}"


def _json(member: Member) -> dict[str, object]:
    return {
        "name": member.name,
        "role": member.role,
        "folders": list(member.folders),
        "tags": list(member.tags),
        "queues": list(member.queues),
    }
