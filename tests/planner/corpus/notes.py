"""The vault of the corpus as programs see it: plain functions over its files, without the product."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

VAULT = Path(__file__).parent / "vault"
MADE: dict[str, Any] = {}
"""What `create_note` was given, by name."""
TASK = re.compile(r"- \[(.)\] (.+)")


def value(text: str) -> Any:
    """Read a value of the front matter."""
    if text.startswith("["):
        return [part.strip() for part in text[1:-1].split(",")]
    return float(text) if re.fullmatch(r"\d+\.\d+", text) else int(text) if text.isdecimal() else text


def list_notes() -> list[dict[str, Any]]:
    """List the notes by path: `title`, `path`, `folder`, `text`, `tags` and each property by its name."""
    notes = []
    for path in sorted(VAULT.rglob("*.md")):
        text, properties = path.read_text(encoding="utf-8"), {}
        if text.startswith("---\n"):
            head, text = text[4:].split("\n---\n", 1)
            properties = {key: value(given) for key, given in (line.split(": ", 1) for line in head.splitlines())}
        place = path.relative_to(VAULT)
        folder = "" if len(place.parts) == 1 else place.parent.as_posix()
        title = re.findall(r"^# (.+)", text, re.MULTILINE)[0]
        known = {"title": title, "path": place.as_posix(), "folder": folder, "text": text, "tags": []}
        notes.append({**known, **properties})
    return notes


def list_tasks_of_notes() -> list[dict[str, Any]]:
    """List the tasks of the notes: `note` (its title), `text`, `done`, `due`."""
    tasks = []
    for note in list_notes():
        for mark, line in TASK.findall(note["text"]):
            due = re.search(r"📅 (\S+)", line)
            text = re.sub(r" [📅✅] \S+", "", line)
            tasks.append({"note": note["title"], "text": text, "done": mark == "x", "due": due and due[1]})
    return tasks


def list_links() -> list[dict[str, Any]]:
    """List the links between notes: `source` and `target`, titles; `target` is None where no note is there."""
    titles = {Path(note["path"]).stem: note["title"] for note in list_notes()}
    return [
        {"source": note["title"], "target_text": name, "target": titles.get(name)}
        for note in list_notes()
        for name in re.findall(r"\[\[(.+?)\]\]", note["text"])
    ]


def create_note(name: str, content: Any) -> Any:
    """Keep a note under a name, and give its content."""
    MADE[name] = content
    return content


FUNCTIONS = {one.__name__: one for one in (list_notes, list_tasks_of_notes, list_links, create_note)}
