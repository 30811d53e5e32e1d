"""Where the tasks are done: notes in a space, in files and in git; a team in a graph; the servers for all of it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from infospace import open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.files.markdown import parse
from infospace.tools.mcp.catalogue.sync import sync

SAMPLE = Path(__file__).parents[3] / "tui" / "sample" / "notes"
HOME = "/home/ada"
"""What the folder of the workplace is called in the tasks, and counted as: its real name is as long as it may be."""
COUNTRIES = ("Chile", "France", "Ghana", "India", "Japan", "Norway", "Peru")
DOUBLE = (3, 14, 15, 26)
"""Tools of the knowledge graph that stand in it twice, the second time with a capital."""
JOB_STEPS = 12
"""Steps of the job that is watched; a model that looks once a step looks so often."""
STEP_SECONDS = 0.25
JOB_ENDS = f"failed at step {JOB_STEPS}: the disk is full"
LINE = "The shelf in the hall was moved to the east side, as was agreed in spring. "
TEAM = ("Ines", "Jun", "Mara", "Tomas", "Wanda")
WORK = ("retrieval", "the index", "the interface", "judging", "releases")
ZONES = ("Asia/Tokyo", "America/New_York", "Europe/Lisbon", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Sydney")
TONGUES = ("Japanese", "English", "Portuguese", "Polish", "Hindi", "Italian", "Dutch")
FIRST = ("Aiko", "Bram", "Carla", "Dev", "Elif", "Femi", "Greta", "Hana", "Ivo", "Joana")
LAST = ("Abe", "Brito", "Costa")


@dataclass(frozen=True)
class Person:
    """One of the team."""

    name: str
    work: str
    zone: str
    known: tuple[str, ...]
    """Observations, as the graph has them."""


@dataclass(frozen=True)
class Commit:
    """What was committed to the history of the notes."""

    day: date
    author: str
    subject: str
    path: Path
    text: str


@dataclass(frozen=True)
class Workplace:
    """A folder with `notes` (a git repository), `team.json`, `mcp.json` and `space.db`; its servers by name."""

    folder: Path
    servers: Mapping[str, Mapping[str, Any]]

    @property
    def space(self) -> Path:
        """The space's file."""
        return self.folder / "space.db"

    def there(self, text: str) -> str:
        """Return a text with the folder's real name."""
        return text.replace(HOME, str(self.folder))

    def told(self, text: str) -> str:
        """Return a text with the name that the folder has in the tasks."""
        return text.replace(str(self.folder), HOME)


def furnish(folder: Path, node: Path | None) -> Workplace:
    """Make a workplace in an empty folder; `node` is where the servers of npm are, if they are."""
    folder = folder.resolve()
    _commit_all(folder / "notes")
    lines = [
        {"type": "entity", "name": one.name, "entityType": "person", "observations": [*one.known]} for one in people()
    ]
    lines += [
        {"type": "entity", "name": name, "entityType": "tool", "observations": [f"stands on shelf {number % 9}"]}
        for number in range(60)
        for name in (f"tool {number}", *((f"Tool {number}",) if number in DOUBLE else ()))
    ]
    for name, rows in (("orders", orders()), ("customers", customers())):
        (folder / f"{name}.json").write_text(json.dumps(rows))
    (folder / "letters").mkdir()
    for name, text in all_letters().items():
        (folder / "letters" / name).write_text(text)
    (folder / "journal").mkdir()
    write_journal(folder)
    (folder / "team.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    place = Workplace(folder, _servers(folder, node))
    mcp = folder / "mcp.json"
    mcp.write_text(json.dumps({"mcpServers": place.servers}))
    with open_space(place.space) as space:
        import_paths(space, [folder / "notes"], NullListener())
        done = asyncio.run(sync(space, mcp=mcp))
        space.embedding.catch_up(NullListener())
    if done.failed:
        raise RuntimeError("; ".join(f"{one.server}: {one.reason}" for one in done.failed))
    return place


def orders() -> list[dict[str, Any]]:
    """Return a table of 1,000 orders."""
    return [{"id": number, "customer": number * 7 % 1000, "amount": number % 83} for number in range(1000)]


def customers() -> list[dict[str, Any]]:
    """Return a table of 1,000 customers."""
    return [{"id": number, "country": COUNTRIES[number * number % len(COUNTRIES)]} for number in range(1000)]


def all_letters() -> dict[str, str]:
    """Return 200 letters by the name of their file; every ninth is urgent."""
    return {
        f"letter-{number:03}.txt": f"To whom it may concern, number {number}.\n"
        f"{'This is urgent. ' if number % 9 == 0 else ''}{LINE * (3 + number % 4)}\n"
        for number in range(200)
    }


def journal() -> dict[str, str]:
    """Return 300 notes with front matter by the name of their file; every fifth is a draft, of some year."""
    return {
        f"note-{number:03}.md": f"---\ntitle: Day {number}\ndate: {2021 + number * 7 % 6}-{1 + number % 12:02}-"
        f"{1 + number % 28:02}\nstatus: {'draft' if number % 5 == 0 else 'final'}\n"
        f"tags: [{ZONES[number % 6].lower()}]\n"
        f"---\n\n# Day {number}\n\n{LINE * (1 + number % 3)}\n"
        for number in range(300)
    }


def write_journal(folder: Path) -> None:
    """Write the notes as they were at first."""
    for name, text in journal().items():
        (folder / "journal" / name).write_text(text)


def begin_job(folder: Path) -> None:
    """Begin the job that is watched: it writes how far it is to `job.txt`, in so many steps, and ends badly."""

    def write(text: str) -> None:
        beside = folder / "job.txt.new"
        beside.write_text(f"{text}\n")
        beside.replace(folder / "job.txt")

    def go() -> None:
        for step in range(2, JOB_STEPS + 1):
            pause.wait(STEP_SECONDS)
            write(f"running: step {step} of {JOB_STEPS}")
        pause.wait(STEP_SECONDS)
        write(JOB_ENDS)

    pause = threading.Event()
    write(f"running: step 1 of {JOB_STEPS}")
    threading.Thread(target=go, name="job", daemon=True).start()


def people() -> list[Person]:
    """Return the team."""
    found = []
    for number in range(30):
        name = f"{FIRST[number % len(FIRST)]} {LAST[number % len(LAST)]}"
        work, zone = WORK[number % 3 if number % 2 else number % len(WORK)], ZONES[number * 5 % len(ZONES)]
        tongue = TONGUES[number % len(TONGUES)]
        known = (
            f"works on {work}",
            f"time zone: {zone}",
            f"joined in {2019 + number % 7}-{1 + number % 12:02}",
            f"speaks {tongue}{'' if tongue == 'English' else ' and English'}",
            f"is away on {('Mondays', 'Fridays', 'Wednesday afternoons')[number % 3]}",
        )
        found.append(Person(name, work, zone, known))
    return found


def history() -> list[Commit]:
    """Return the commits, the first one first: of each note one half on its date, the other three weeks later."""
    found = []
    for number, file in enumerate(sorted(SAMPLE.rglob("*.md"))):
        text = file.read_text(encoding="utf-8")
        note = parse(text)
        day, title = date.fromisoformat(note.metadata["date"]), note.metadata["title"]
        parts = text.split("\n\n")
        half = "\n\n".join(parts[: max(len(parts) // 2, 1)]) + "\n"
        author = note.metadata.get("owner", TEAM[number % len(TEAM)])
        other = TEAM[(TEAM.index(author) + 1 + number % 4) % len(TEAM)]
        path = file.relative_to(SAMPLE)
        found.append(Commit(day, author, f"Draft: {title}", path, half))
        found.append(Commit(day + timedelta(days=24), other, f"Finish: {title}", path, text))
    return sorted(found, key=lambda one: (one.day, one.subject))


def git(repository: Path, *words: str, given: bytes | None = None) -> str:
    """Run git, untouched by anybody's settings; return what it prints."""
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(repository), *words]
    return subprocess.run(command, check=True, capture_output=True, input=given, env=alone).stdout.decode()


def _commit_all(repository: Path) -> None:
    """Make the repository, in the form that `git fast-import` reads."""
    repository.mkdir(parents=True)
    git(repository, "init", "--quiet", "--initial-branch=trunk")
    stream = []
    for one in history():
        moment = int(datetime.combine(one.day, time(10), UTC).timestamp())
        who = f"{one.author} <{one.author.lower()}@example.org> {moment} +0000"
        stream += [b"commit refs/heads/trunk", f"author {who}".encode(), f"committer {who}".encode()]
        stream += [_data(f"{one.subject}\n"), f"M 100644 inline {one.path.as_posix()}".encode(), _data(one.text)]
    git(repository, "fast-import", "--quiet", given=b"\n".join([*stream, b""]))
    git(repository, "reset", "--quiet", "--hard")


def _data(text: str) -> bytes:
    encoded = text.encode()
    return b"data %d\n%b" % (len(encoded), encoded)


def _servers(folder: Path, node: Path | None) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        "time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "git": {"command": sys.executable, "args": ["-m", "mcp_server_git"]},
    }
    if node is not None:
        found["files"] = {
            "command": str(node / "mcp-server-filesystem"),
            "args": [str(folder)],
            "autoApprove": ["write_file", "edit_file"],
        }
        found["memory"] = {
            "command": str(node / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(folder / "team.json")},
        }
        found["everything"] = {"command": str(node / "mcp-server-everything")}
    return found
