"""A vault of 100,000 notes with 500,000 items and 300,000 links: questions of its tables, the first and the next.

Run: python tests/benchmarks/vault.py [NOTES]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core.ids import Kind
from infospace.files.links import written
from infospace.files.markdown import parse
from infospace.store.changes import Change, Linked, MakeNote, SetLinks, Track
from primitives.query import query

NOTES = 100_000
FOLDERS = 500
BATCH = 500
ROUNDS = 7
JOINED = """SELECT n.title, i.text, i.due FROM items i JOIN notes n ON n."@id" = i.note
    WHERE n.folder = 'area 7/part 3' AND i.due < today() AND NOT i.done ORDER BY i.due"""
QUESTIONS = {
    "overdue tasks of a folder": JOINED,
    "notes of a folder": "SELECT title, status, modified FROM notes WHERE folder = 'area 7/part 3'",
    "what links to a note": "SELECT source, line FROM links WHERE target = 'Note_77'",
    "due on a day": "SELECT note, text FROM items WHERE due = '2026-03-03'",
    "notes of a tag": "SELECT title, status FROM notes WHERE contains(tags, 'topic/t77')",
    "notes by status": "SELECT status, count(*) AS n FROM notes GROUP BY status",
    "most linked": "SELECT target, count(*) AS n FROM links GROUP BY target ORDER BY n DESC LIMIT 10",
    "open tasks by folder": """SELECT n.folder, count(*) AS n FROM items i JOIN notes n ON n."@id" = i.note
        WHERE i.kind = 'task' AND NOT i.done GROUP BY n.folder ORDER BY n DESC LIMIT 10""",
}


def text(number: int) -> str:
    """Return a note with a heading, four tasks or bullets, and three links."""
    day = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}"
    links = " ".join(f"[[note {(number * 7 + step * step) % NOTES}]]" for step in range(1, 3))
    return (
        f"---\nstatus: {'open' if number % 3 else 'done'}\nrank: {number % 10}\ntags: [topic/t{number % 500}]\n---\n"
        f"# About {number}\n\nSome words that say what it is about, {links}.\n\n"
        f"- [ ] Call somebody 📅 {day}\n- [x] Write it down ✅ 2026-01-02\n- [ ] Look again\n"
        f"- see [[note {number % 50}]]\n"
    )


def fill(space: Space, notes: int) -> None:
    """Make the notes as an import does, each with its file and its links, which lead where they do."""
    store = space.store
    ids = [store.new_id(Kind.NOTE) for _ in range(notes)]
    for start in range(0, notes, BATCH):
        made: list[Change] = []
        for number in range(start, min(start + BATCH, notes)):
            parsed = parse(text(number))
            path = f"area {number % 25}/part {number // 25 % 20}/note {number}.md"
            made.append(MakeNote(ids[number], parsed.text, parsed.metadata, kept=True))
            made.append(Track("/vault", path, ids[number], b"", 1, title=f"About {number}", lines=parsed.lines))
            ends = [(link, ids[int(link.target.split()[1]) % notes]) for link in written(parsed.links)]
            made.append(
                SetLinks(ids[number], [Linked(link.target, link.wiki, to, label=link.label) for link, to in ends])
            )
        store.commit(sorted(made, key=lambda change: (MakeNote, Track, SetLinks).index(type(change))))


def ask(space: Space, sql: str) -> tuple[float, int]:
    """Return the milliseconds of a query, of CPU, and how many rows it gave."""
    started = time.process_time()
    found = asyncio.run(call_directly(query, {"sql": sql}, space.context(scratch=True)))
    if found.status != "success":
        raise RuntimeError(found.reason)
    return (time.process_time() - started) * 1000, len(found.data)


def main(notes: int) -> None:
    """Print how long each question takes."""
    with TemporaryDirectory() as folder, open_space(Path(folder) / "vault.db") as space:
        started = time.process_time()
        fill(space, notes)
        print(f"{notes:,} notes made in {time.process_time() - started:.1f} s of CPU")
        for name, sql in QUESTIONS.items():
            first, rows = ask(space, sql)
            next_ = [ask(space, sql)[0] for _ in range(ROUNDS)]
            spread = f"{min(next_):.0f} to {max(next_):.0f}"
            print(f"{name:28} first {first:6.0f} ms, then {statistics.median(next_):6.0f} ms ({spread}), {rows:,} rows")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else NOTES)
