"""The tasks, tool by tool: every call and every result passes through the model, which does the rest in its head."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from context.conversation import Conversation
from context.hosts import DOORS, Host, Listed
from context.workplace import HOME, STEP_SECONDS

Call = tuple[str, str, dict[str, Any]]
"""A server, a tool of it, and the arguments."""
Turn = Callable[..., Awaitable[list[str]]]
NOTES = f"{HOME}/notes"
NOTE_DOORS = ("discover_notes", "read")
"""Of the space itself a model that goes tool by tool gets these, as of any server of notes."""
_COMMIT = re.compile(r"Commit: (?P<hash>\w+)\nAuthor: (?P<author>.*)\nDate: (?P<date>\S+) .*\nMessage: (?P<message>.*)")


async def solve(host: Host, name: str, request: str) -> tuple[Conversation, Any]:
    """Do a task with the tools of all servers in the context; return the conversation and the answer."""
    talk = Conversation()
    talk.given("tools", "".join(tool.given for server in host.tools for tool in tools_of(host.tools, server)))
    talk.given("request", request)

    async def turn(*calls: Call) -> list[str]:
        """Make calls that do not depend on one another, as a model makes them at once."""
        exchanges = [await host.call(*call) for call in calls]
        talk.turn("calls", exchanges)
        return [text for _, text in exchanges]

    answer = await TASKS[name](turn)
    talk.answered(answer)
    return talk, answer


def tools_of(tools: Mapping[str, Mapping[str, Listed]], server: str) -> list[Listed]:
    """Return the tools of a server that stand in the context: all, but of the space itself two doors."""
    return [tool for name, tool in tools[server].items() if server != DOORS or name in NOTE_DOORS]


async def _zones(turn: Turn) -> Any:
    return [json.loads(text)["target"]["datetime"] for text in await turn(*map(_at, CITIES))]


CITIES = ("America/New_York", "Asia/Tokyo", "America/Sao_Paulo")


def _at(zone: str) -> Call:
    return "time", "convert_time", {"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": zone}


async def _weather(turn: Turn) -> Any:
    cities = ("New York", "Chicago", "Los Angeles")
    texts = await turn(*(("everything", "get-structured-content", {"location": city}) for city in cities))
    found = {city: json.loads(text)["temperature"] for city, text in zip(cities, texts, strict=True)}
    warmest = max(found, key=lambda city: float(found[city]))
    return {"city": warmest, "temperature": found[warmest]}


async def _commits(turn: Turn) -> Any:
    span = {"start_timestamp": "2026-03-01T00:00:00", "end_timestamp": "2026-04-01T00:00:00"}
    [log] = await turn(("git", "git_log", {"repo_path": NOTES, "max_count": 1000, **span}))
    found = [*_COMMIT.finditer(log)]
    shown = await turn(*(("git", "git_show", {"repo_path": NOTES, "revision": one["hash"]}) for one in found))
    return [
        {"author": one["author"], "date": one["date"]}
        for one, text in zip(found, shown, strict=True)
        if "+++ b/retrieval/" in text and "bm25" in text.lower()
    ]


async def _finished(turn: Turn) -> Any:
    wanted = {"query": "decisions", "limit": "all", "threshold": -1, "where": "metadata.kind = 'decision'"}
    notes, log = await turn(
        (DOORS, "discover_notes", wanted), ("git", "git_log", {"repo_path": NOTES, "max_count": 1000})
    )
    titles = {f"Finish: {hit['metadata']['title']}" for hit in json.loads(notes)["data"]}
    rows = [
        {"title": one["message"].removeprefix("Finish: "), "author": one["author"], "date": one["date"]}
        for one in _COMMIT.finditer(log)
        if one["message"] in titles
    ]
    return sorted(rows, key=lambda row: (row["date"], row["title"]))


async def _index(turn: Turn) -> Any:
    folder = f"{NOTES}/retrieval"
    [listing] = await turn(("files", "list_directory", {"path": folder}))
    files = [line.removeprefix("[FILE] ") for line in listing.splitlines()]
    [read] = await turn(("files", "read_multiple_files", {"paths": [f"{folder}/{file}" for file in files]}))
    lines = []
    for file, text in zip(files, re.split(r"\n---\n(?=/)", read), strict=True):
        heading = re.search(r"^# (.*)$", text, re.MULTILINE)
        if "recall" in text.lower() and heading:
            lines.append(f"- [{heading[1]}](retrieval/{file})\n")
    await turn(("files", "write_file", {"path": f"{HOME}/index.md", "content": "".join(lines)}))
    return len(lines)


async def _team(turn: Turn) -> Any:
    [found] = await turn(("memory", "search_nodes", {"query": "works on retrieval"}))
    zones = {
        one["name"]: next(text for text in one["observations"] if text.startswith("time zone: ")).partition(": ")[2]
        for one in json.loads(found)["entities"]
    }
    each = [*dict.fromkeys(zones.values())]
    texts = await turn(*map(_at, each))
    times = {zone: json.loads(text)["target"]["datetime"] for zone, text in zip(each, texts, strict=True)}
    return [{"name": name, "time": times[zone]} for name, zone in zones.items()]


async def _digest(turn: Turn) -> Any:
    span = {"start_timestamp": "2026-03-01T00:00:00", "end_timestamp": "2026-04-01T00:00:00"}
    [log] = await turn(("git", "git_log", {"repo_path": NOTES, "max_count": 1000, **span}))
    days: dict[str, list[str]] = {}
    for one in _COMMIT.finditer(log):
        days.setdefault(one["author"].partition(" <")[0], []).append(one["date"])
    rows = [
        {"author": author, "commits": len(each), "first": min(each), "last": max(each)} for author, each in days.items()
    ]
    return sorted(rows, key=lambda row: (-row["commits"], row["author"]))


async def _orders(turn: Turn) -> Any:
    texts = await turn(
        *(("files", "read_text_file", {"path": f"{HOME}/{name}.json"}) for name in ("orders", "customers"))
    )
    orders, customers = map(json.loads, texts)
    place = {one["id"]: one["country"] for one in customers}
    totals: dict[str, int] = {}
    for one in orders:
        totals[place[one["customer"]]] = totals.get(place[one["customer"]], 0) + one["amount"]
    rows = [{"country": country, "total": total} for country, total in totals.items()]
    return sorted(rows, key=lambda row: (-row["total"], row["country"]))


async def _graph(turn: Turn) -> Any:
    [found] = await turn(("memory", "read_graph", {}))
    seen: dict[str, str] = {}
    double = []
    for one in json.loads(found)["entities"]:
        if one["entityType"] != "tool":
            continue
        if one["name"].lower() in seen:
            double.append(one["name"])
        seen.setdefault(one["name"].lower(), one["name"])
    return sorted(double)


async def _letters(turn: Turn) -> Any:
    folder = f"{HOME}/letters"
    [listing] = await turn(("files", "list_directory", {"path": folder}))
    files = [line.removeprefix("[FILE] ") for line in listing.splitlines()]
    [read] = await turn(("files", "read_multiple_files", {"paths": [f"{folder}/{file}" for file in files]}))
    texts = re.split(r"\n---\n(?=/)", read)
    return [file for file, text in zip(files, texts, strict=True) if "urgent" in text]


async def _notes(turn: Turn) -> Any:
    folder = f"{HOME}/journal"
    [listing] = await turn(("files", "list_directory", {"path": folder}))
    files = [line.removeprefix("[FILE] ") for line in listing.splitlines()]
    [read] = await turn(("files", "read_multiple_files", {"paths": [f"{folder}/{file}" for file in files]}))
    # Between the texts of two files stands a line of their front matter's sort, and then a path.
    texts = re.split(r"\n---\n(?=/)", read)
    old = [
        file
        for file, text in zip(files, texts, strict=True)
        if "status: draft" in text and text.partition("date: ")[2] < "2025"
    ]
    edits = [{"oldText": "status: draft", "newText": "status: archived"}]
    await turn(*(("files", "edit_file", {"path": f"{folder}/{file}", "edits": edits}) for file in old))
    return len(old)


async def _watch(turn: Turn) -> Any:
    while True:
        [text] = await turn(("files", "read_text_file", {"path": f"{HOME}/job.txt"}))
        if not text.startswith("running"):
            return text.strip()
        await asyncio.sleep(STEP_SECONDS)


TASKS: dict[str, Callable[[Turn], Awaitable[Any]]] = {
    "zones": _zones,
    "weather": _weather,
    "watch": _watch,
    "team": _team,
    "finished": _finished,
    "digest": _digest,
    "orders": _orders,
    "graph": _graph,
    "commits": _commits,
    "index": _index,
    "letters": _letters,
    "notes": _notes,
}
"""From the smallest to the largest."""
