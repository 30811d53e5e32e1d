"""The questions of the vault of notes as plans: with verbs where these say it, with a `query` where rows are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VAULT = Path(__file__).parents[2] / "vault"
QUESTIONS: list[dict[str, Any]] = json.loads((VAULT / "questions.json").read_text(encoding="utf-8"))


def notes(where: str, by: str | list[str], fields: dict[str, str]) -> list[dict[str, Any]]:
    """Return a plan that finds notes by a condition, puts them in order and gives some of what they are."""
    return [
        {"type": "discover-notes", "where": where, "out": "$a"},
        {"type": "sort", "target": "$a", "by": by, "out": "$b"},
        {"type": "project", "target": "$b", "fields": fields, "out": "$c"},
    ]


def rows_of(sql: str, *then: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan that reads rows of the space's tables and goes on with verbs, each from the one before."""
    plan: list[dict[str, Any]] = [{"type": "query", "sql": sql, "out": "$r0"}]
    for number, step in enumerate(then):
        plan.append({**step, "target": f"$r{number}", "out": f"$r{number + 1}"})
    return plan


ITEMS = """FROM items i JOIN notes n ON n."@id" = i.note"""
SOURCES = """FROM links l JOIN notes n ON n."@id" = l.source"""

PLANS: dict[str, list[dict[str, Any]]] = {
    "notes with a tag, its children included": [
        {"type": "discover-notes", "where": "contains(@tags, 'person')", "out": "$a"},
        {"type": "sort", "target": "$a", "by": "@title", "out": "$b"},
        {"type": "project", "target": "$b", "fields": {"title": "@title"}, "out": "$c"},
    ],
    "projects of an author": [
        {"type": "discover-notes", "where": "metadata.author = '[[Ann Berg]]'", "out": "$a"},
        {"type": "sort", "target": "$a", "by": "@title", "out": "$b"},
        {"type": "project", "target": "$b", "fields": {"title": "@title"}, "out": "$c"},
    ],
    "notes by folder": [
        {"type": "discover-notes", "where": "@root IS NOT NULL", "out": "$a"},
        {"type": "group", "target": "$a", "by": {"folder": "@folder"}, "aggregates": {"n": "count"}, "out": "$b"},
        {"type": "sort", "target": "$b", "by": "folder", "out": "$c"},
    ],
    "people by city": [
        {"type": "discover-notes", "where": "metadata.type = 'person'", "out": "$a"},
        {
            "type": "group",
            "target": "$a",
            "by": {"city": "metadata.source.city"},
            "aggregates": {"n": "count"},
            "out": "$b",
        },
        {"type": "sort", "target": "$b", "by": ["n desc", "city"], "out": "$c"},
    ],
    "meetings with somebody": [
        {"type": "discover-notes", "where": "contains(metadata.attendees, '[[Bo]]')", "out": "$a"},
        {"type": "sort", "target": "$a", "by": "@file", "out": "$b"},
        {"type": "project", "target": "$b", "fields": {"file": "@file"}, "out": "$c"},
    ],
    "a code with zeros stays text": [
        {"type": "discover-notes", "where": "metadata.code = '005'", "out": "$a"},
        {"type": "sort", "target": "$a", "by": "@title", "out": "$b"},
        {"type": "project", "target": "$b", "fields": {"title": "@title", "code": "metadata.source.code"}, "out": "$c"},
    ],
    "notes with a child tag": notes("contains(@tags, 'person/family')", "@title", {"title": "@title"}),
    "books of a topic": notes("@folder = 'Books' and contains(@tags, 'topic/sea')", "@file", {"file": "@file"}),
    "books still being read": notes(
        "@folder = 'Books' and metadata.status = 'reading'",
        "@file",
        {"file": "@file", "read": "metadata.source.read", "pages": "metadata.source.pages"},
    ),
    "per cent read": notes(
        "metadata.pages is not null",
        "@file",
        {"file": "@file", "pct": "round(100.0 * metadata.source.read / metadata.source.pages, 1)"},
    ),
    "not met for 180 days": notes(
        """@folder = 'People' and days(metadata.`Last Contact`, today()) > 180""", "@title", {"title": "@title"}
    ),
    "birthdays this month": [
        {"type": "discover-notes", "where": "month(metadata.birthday) = month(today())", "out": "$a"},
        {
            "type": "project",
            "target": "$a",
            "fields": {"title": "@title", "day": "day(metadata.source.birthday)"},
            "out": "$b",
        },
        {"type": "sort", "target": "$b", "by": "day", "out": "$c"},
    ],
    "age": [
        {"type": "discover-notes", "where": "metadata.birthday < '1970'", "out": "$a"},
        {"type": "sort", "target": "$a", "by": "metadata.source.birthday", "out": "$b"},
        {"type": "project", "target": "$b", "fields": {"title": "@title"}, "out": "$c"},
    ],
    "this day in other years": notes(
        "@folder = 'Daily' and @file like '%-11-24.md' and @file <> '2026-11-24.md'", "@title", {"title": "@title"}
    ),
    "mood by weekday": [
        {"type": "discover-notes", "where": "@folder = 'Daily'", "out": "$a"},
        {
            "type": "group",
            "target": "$a",
            "by": {"day": "weekday(@title)"},
            "aggregates": {"m": "avg(metadata.source.mood)"},
            "out": "$b",
        },
        {"type": "project", "target": "$b", "fields": {"day": "day", "mood": "round(m, 2)"}, "out": "$c"},
        {"type": "sort", "target": "$c", "by": "day", "out": "$d"},
    ],
    "changed in seven days": [
        {"type": "discover-notes", "where": "days(@modified, now()) <= 7", "out": "$a"},
        {"type": "group", "target": "$a", "aggregates": {"n": "count"}, "out": "$b"},
    ],
    "tasks with a tag": rows_of(
        "SELECT text, tags FROM items WHERE kind = 'task'",
        {"type": "filter-structured", "where": "contains(tags, 'call')"},
        {"type": "sort", "by": "text"},
        {"type": "project", "fields": ["text"]},
    ),
    "cancelled and moved tasks": rows_of(
        "SELECT status, text FROM items WHERE kind = 'task'",
        {"type": "filter-structured", "where": "status in ('-', '>')"},
        {"type": "sort", "by": "text"},
    ),
    "tasks by priority": rows_of(
        "SELECT priority FROM items WHERE priority IS NOT NULL",
        {"type": "group", "by": "priority", "aggregates": {"n": "count"}},
        {"type": "sort", "by": "priority"},
    ),
    "open tasks by file": rows_of(
        """SELECT n.file, i.status, n.folder FROM items i JOIN notes n ON n."@id" = i.note""",
        {"type": "filter-structured", "where": "folder = 'Projects' and status = ' '"},
        {"type": "group", "by": "file", "aggregates": {"n": "count"}},
        {"type": "sort", "by": "file"},
    ),
    "broken links": rows_of(
        "SELECT target_text FROM links WHERE target IS NULL",
        {"type": "group", "by": "target_text", "aggregates": {"n": "count"}},
        {"type": "sort", "by": ["n desc", "target_text"]},
    ),
    "most linked notes": rows_of(
        """SELECT t.title FROM links l JOIN notes t ON t."@id" = l.target""",
        {"type": "group", "by": "title", "aggregates": {"n": "count"}},
        {"type": "sort", "by": ["n desc", "title"]},
        {"type": "head", "count": 1},
    ),
    "links in a property": rows_of(
        """SELECT t.title, l.property FROM links l JOIN notes t ON t."@id" = l.target""",
        {"type": "filter-structured", "where": "property = 'attendees'"},
        {"type": "group", "by": "title", "aggregates": {"n": "count"}},
        {"type": "sort", "by": ["n desc", "title"]},
    ),
    "links with a heading": rows_of(
        "SELECT target_text, heading FROM links WHERE heading IS NOT NULL", {"type": "sort", "by": "heading"}
    ),
    "headings of level 2": rows_of(
        "SELECT text, fields.level AS level FROM items WHERE kind = 'heading'",
        {"type": "filter-structured", "where": "level = 2 and text in ('Log', 'Decisions', 'Tasks')"},
        {"type": "group", "by": "text", "aggregates": {"n": "count"}},
        {"type": "sort", "by": "text"},
    ),
    "shared tags": rows_of(
        "SELECT tag FROM notes, UNNEST(tags) AS tag WHERE starts_with(tag, 'topic/')",
        {"type": "group", "by": "tag", "aggregates": {"n": "count"}},
        {"type": "sort", "by": ["n desc", "tag"]},
    ),
    "links by a label": [
        {"type": "discover-notes", "where": "@file = 'House.md'", "out": "$a"},
        {"type": "related", "target": "$a[0]", "relation": "part of", "direction": "in", "out": "$b"},
        {"type": "sort", "target": "$b", "by": "@title", "out": "$c"},
        {"type": "project", "target": "$c", "fields": {"title": "@title"}, "out": "$d"},
    ],
    "overdue tasks of a folder": rows_of(
        f"SELECT i.text, i.kind, i.status, i.due, n.folder {ITEMS}",
        {"type": "filter-structured", "where": "folder = 'Projects' and status = ' ' and due < today()"},
        {"type": "sort", "by": ["due", "text"]},
        {"type": "project", "fields": ["text"]},
    ),
    "due today": rows_of(
        f"SELECT i.text, i.due, n.title {ITEMS}",
        {"type": "filter-structured", "where": "due = today()"},
        {"type": "project", "fields": ["text", "title"]},
    ),
    "done this month": rows_of(
        "SELECT text, completed FROM items",
        {"type": "filter-structured", "where": "completed >= '2026-11-01'"},
        {"type": "group", "aggregates": {"n": "count"}},
    ),
    "share of done tasks": rows_of(
        f"SELECT i.kind, i.done, n.folder {ITEMS}",
        {"type": "filter-structured", "where": "folder = 'Projects' and kind = 'task'"},
        {"type": "project", "fields": {"one": "CASE WHEN done THEN 1 ELSE 0 END"}},
        {"type": "group", "aggregates": {"n": "count", "done": "sum(one)"}},
    ),
    "tasks under a heading": rows_of(
        "SELECT section, kind FROM items",
        {"type": "filter-structured", "where": "section = 'Plan' and kind = 'task'"},
        {"type": "group", "aggregates": {"n": "count"}},
    ),
    "scheduled for a day": rows_of(
        f"SELECT n.title, i.done, i.scheduled {ITEMS}",
        {"type": "filter-structured", "where": "scheduled = '2026-11-20'"},
        {"type": "project", "fields": ["title", "done"]},
    ),
    "backlinks of a note": [
        {"type": "discover-notes", "where": "@file = 'House.md'", "out": "$a"},
        {"type": "related", "target": "$a[0]", "direction": "in", "out": "$b"},
        {"type": "sort", "target": "$b", "by": "@title", "out": "$c"},
        {"type": "project", "target": "$c", "fields": {"title": "@title"}, "out": "$d"},
    ],
    "links found by an alias": rows_of(
        """SELECT l.target_text, t.file FROM links l JOIN notes t ON t."@id" = l.target""",
        {"type": "filter-structured", "where": "target_text = 'Potage'"},
        {"type": "distinct", "by": "file"},
        {"type": "project", "fields": ["file"]},
    ),
    "orphans": [
        {"type": "discover-notes", "where": "@folder = 'Inbox'", "out": "$a"},
        {"type": "project", "target": "$a", "fields": {"path": "@path"}, "out": "$inbox"},
        {"type": "query", "sql": f"SELECT n.path {SOURCES}", "out": "$from"},
        {
            "type": "query",
            "sql": """SELECT n.path FROM links l JOIN notes n ON n."@id" = l.target WHERE l.target <> l.source""",
            "out": "$to",
        },
        {"type": "union", "target": "$from", "value": "$to", "by": "content", "out": "$linked"},
        {"type": "difference", "target": "$inbox", "value": "$linked", "by": "content", "out": "$r"},
    ],
    "links to itself": rows_of(
        f"SELECT n.file, l.source, l.target {SOURCES}",
        {"type": "filter-structured", "where": "source = target"},
        {"type": "project", "fields": ["file"]},
    ),
    "steps of the last seven days": [
        {
            "type": "discover-notes",
            "where": "@folder = 'Daily' and days(@title, today()) between 0 and 6",
            "out": "$a",
        },
        {"type": "group", "target": "$a", "aggregates": {"n": "sum(metadata.source.steps)"}, "out": "$b"},
    ],
    "hours slept, of inline fields in bullets": rows_of(
        "SELECT fields.hours AS hours FROM items",
        {"type": "filter-structured", "where": "hours is not null"},
        {"type": "group", "aggregates": {"n": "sum(hours)"}},
    ),
    "bullets under a heading": rows_of(
        f"SELECT n.file, n.folder, i.section, i.kind, i.line, i.text {ITEMS}",
        {
            "type": "filter-structured",
            "where": "folder = 'Meetings' and section = 'Decisions' and kind = 'bullet'",
        },
        {"type": "sort", "by": ["file", "line"]},
        {"type": "project", "fields": ["file", "text"]},
    ),
    "meetings without a decision": [
        {"type": "discover-notes", "where": "@folder = 'Meetings'", "out": "$a"},
        {"type": "project", "target": "$a", "fields": {"file": "@file"}, "out": "$met"},
        {"type": "query", "sql": f"SELECT n.file, i.section, i.kind {ITEMS}", "out": "$items"},
        {
            "type": "filter-structured",
            "target": "$items",
            "where": "section = 'Decisions' and kind = 'bullet'",
            "out": "$decided",
        },
        {"type": "project", "target": "$decided", "fields": ["file"], "out": "$with"},
        {"type": "difference", "target": "$met", "value": "$with", "by": "content", "out": "$r"},
    ],
    "recipes with an ingredient and quick": rows_of(
        f"SELECT n.title, n.minutes, i.section, i.text {ITEMS}",
        {"type": "filter-structured", "where": "section = 'Ingredients' and text = 'salt' and minutes < 60"},
        {"type": "sort", "by": "title"},
        {"type": "project", "fields": ["title"]},
    ),
}
