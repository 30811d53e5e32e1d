"""What is right, worked out from what the workplace was made of: neither way has a part in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from context.one_by_one import CITIES
from context.workplace import (
    DOUBLE,
    JOB_ENDS,
    SAMPLE,
    Workplace,
    all_letters,
    customers,
    git,
    history,
    journal,
    orders,
    people,
    write_journal,
)
from infospace.files.markdown import parse

WEATHER = {"city": "Los Angeles", "temperature": 73}
"""What server-everything has for the warmest of its three cities."""


def zones(_place: Workplace) -> Any:
    return [_at(zone) for zone in CITIES]


def _at(zone: str) -> str:
    here = datetime.now(ZoneInfo("Europe/Berlin")).replace(hour=16, minute=30, second=0, microsecond=0)
    return here.astimezone(ZoneInfo(zone)).isoformat(timespec="seconds")


def weather(_place: Workplace) -> Any:
    return WEATHER


def team(_place: Workplace) -> Any:
    return [{"name": one.name, "time": _at(one.zone)} for one in people() if one.work == "retrieval"]


def finished(_place: Workplace) -> Any:
    notes = [parse(file.read_text(encoding="utf-8")).metadata for file in SAMPLE.rglob("*.md")]
    wanted = {f"Finish: {note['title']}" for note in notes if note.get("kind") == "decision"}
    rows = [
        {"title": one.subject.removeprefix("Finish: "), "author": one.author, "date": str(one.day)}
        for one in history()
        if one.subject in wanted
    ]
    return sorted(rows, key=lambda row: (row["date"], row["title"]))


def commits(place: Workplace) -> Any:
    span = ["--since=2026-03-01T00:00:00+00:00", "--until=2026-04-01T00:00:00+00:00"]
    log = git(place.folder / "notes", "log", "--patch", "--format=%x00%an %as", *span, "--", "retrieval")
    found = [one.partition("\n") for one in log.split("\0")[1:]]
    return [
        dict(zip(("author", "date"), head.split(), strict=True)) for head, _, patch in found if "bm25" in patch.lower()
    ]


def index(place: Workplace) -> Any:
    """The number; the file is there, and right, and gone when this returns."""
    lines = []
    for file in sorted((place.folder / "notes" / "retrieval").iterdir()):
        text = file.read_text(encoding="utf-8")
        heading = re.search(r"^# (.*)$", text, re.MULTILINE)
        if "recall" in text.lower() and heading:
            lines.append(f"- [{heading[1]}](retrieval/{file.name})\n")
    written = place.folder / "index.md"
    found = written.read_text(encoding="utf-8") if written.exists() else "not there"
    if found != "".join(lines):
        raise RuntimeError(f"index.md is not right: {found}")
    written.unlink()
    return len(lines)


def digest(_place: Workplace) -> Any:
    """Who committed in March, how often, and from when to when."""
    days: dict[str, list[str]] = {}
    for one in history():
        if (one.day.year, one.day.month) == (2026, 3):
            days.setdefault(one.author, []).append(str(one.day))
    rows = [{"author": who, "commits": len(each), "first": min(each), "last": max(each)} for who, each in days.items()]
    return sorted(rows, key=lambda row: (-row["commits"], row["author"]))


def ordered(_place: Workplace) -> Any:
    """What was ordered from each country."""
    totals: dict[str, int] = {}
    place = {one["id"]: one["country"] for one in customers()}
    for one in orders():
        totals[place[one["customer"]]] = totals.get(place[one["customer"]], 0) + one["amount"]
    rows = [{"country": country, "total": total} for country, total in totals.items()]
    return sorted(rows, key=lambda row: (-row["total"], row["country"]))


def doubles(_place: Workplace) -> Any:
    """The names in the graph that another one is but for its case."""
    return sorted(f"Tool {number}" for number in DOUBLE)


def letters(_place: Workplace) -> Any:
    """The letters that are urgent."""
    return [name for name, text in sorted(all_letters().items()) if "urgent" in text]


def notes(place: Workplace) -> Any:
    """The number of old drafts; they are archived, nothing else has changed, and all is as before when this returns."""
    old = {name for name, text in journal().items() if "status: draft" in text and text.partition("date: ")[2] < "2025"}
    for name, text in journal().items():
        wanted = text.replace("status: draft", "status: archived") if name in old else text
        if (place.folder / "journal" / name).read_text(encoding="utf-8") != wanted:
            raise RuntimeError(f"{name} is not right")
    write_journal(place.folder)
    return len(old)


def watch(_place: Workplace) -> Any:
    return JOB_ENDS


RIGHT: dict[str, Callable[[Workplace], Any]] = {
    "zones": zones,
    "weather": weather,
    "team": team,
    "finished": finished,
    "commits": commits,
    "index": index,
    "digest": digest,
    "orders": ordered,
    "graph": doubles,
    "letters": letters,
    "notes": notes,
    "watch": watch,
}
