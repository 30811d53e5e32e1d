"""Steps over structured content, followed from one to the next, and searches, models, tools and saved plans."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from plangen.calls import maker
from plangen.things import HITS, LINE, LIST, NOTE, NUMBER, PERSON, TASK, TEXT, TRUTH, UNKNOWN, Thing, nested, several
from plangen.writer import Step, Writer, a_record, anything, holding, of_records

SCHEMAS: Mapping[str, tuple[Mapping[str, Any], Thing]] = {
    "object": (
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["title", "n"],
            "additionalProperties": False,
        },
        Thing("N", {"title": "text", "n": "number"}),
    ),
    "list": ({"type": "array", "items": {"type": "string"}}, LIST),
    "number": ({"type": "number"}, NUMBER),
}
QUERIES = ("attention", "training networks", "what is open")


def where(w: Writer, target: str) -> str:
    """A SQL condition over the items."""
    path, holds = w.path(target)
    numbers = [f"${name}" for name, t in w.names.items() if t.kind == "N" and t.holds == "number"]
    texts = [f"${name}" for name, t in w.names.items() if t.kind == "N" and t.holds == "text"]
    match holds:
        case "number":
            right = w.chance.choice(numbers) if numbers and w.maybe(0.5) else "1"
            first = w.chance.choice((f"{path} >= {right}", f"{path} IN (1, {right})", f"abs({path}) < 3"))
        case "text":
            right = w.chance.choice(texts) if texts and w.maybe(0.3) else "'alpha'"
            first = w.chance.choice((f"{path} = {right}", f"lower({path}) LIKE 'a%'", f"length({path}) > 2"))
        case "list":
            first = f"has({path}, 'alpha')"
        case _:
            first = w.chance.choice((f"{path} IS NOT NULL", f"NOT {path} IS NULL"))
    return first if w.maybe(0.7) else f"{first} OR @id = 'Note_1'"


def computed(w: Writer, target: str) -> tuple[str, Any]:
    """An expression over the items, and what it gives."""
    path, holds = w.path(target)
    given = [f"${name}" for name, t in w.names.items() if t.kind == "N" and t.holds == holds]
    other = w.chance.choice(given) if given and w.maybe(0.3) else path
    match holds:
        case "number":
            forms = (f"{path} * 2", f"round({path} / 3, 1)", f"{path} + {other}", f"abs({path}) % 3")
            return w.chance.choice(forms), "number"
        case "text":
            forms = (f"upper({path})", f"substr({path}, 1, 2) || '!'", f"coalesce({path}, 'none')", f"{other} || ''")
            return w.chance.choice(forms), "text"
        case "list":
            return f"length({path}) > 1", "truth"
        case _:
            return path, holds


@maker("filter-structured", "sort")
def _same(w: Writer, type_: str) -> None:
    target = w.records()
    step: Step = {"type": type_, "target": target}
    if type_ == "sort":
        paths = [w.path(target)[0] for _ in range(2)]
        paths[0] = f"{paths[0]} desc" if w.maybe(0.2) else paths[0]
        step["by"] = paths if w.maybe(0.3) else computed(w, target)[0] if w.maybe(0.3) else paths[0]
        step |= {"order": "desc"} if w.maybe(0.3) else {}
        step |= {"nulls": "first"} if w.maybe(0.2) else {}
    else:
        step["where"] = where(w, target)
    w.put(step, w.about(target))


@maker("pluck")
def _pluck(w: Writer, type_: str) -> None:
    target = w.records()
    path, holds = w.path(target)
    w.put({"type": type_, "target": target, "field": path}, several(Thing("N", holds)))


@maker("project")
def _project(w: Writer, type_: str) -> None:
    target = w.records()
    if w.maybe(0.5):
        columns = {name: computed(w, target) for name in ("x", "y") if name == "x" or w.maybe(0.5)}
        step: Step = {"type": type_, "target": target, "fields": {name: text for name, (text, _) in columns.items()}}
        gives = {name: holds for name, (_, holds) in columns.items()}
        if w.maybe(0.4):
            step["keep"] = True
            content = w.about(target).item.content
            gives = {**content, **gives} if isinstance(content, Mapping) else gives
        if w.maybe(0.5):
            step["mismatch"] = "null"
        w.put(step, several(Thing("N", gives)))
        return
    paths = list(dict.fromkeys(w.path(target)[0] for _ in range(w.chance.randint(1, 3))))
    if any(one != other and one.startswith(f"{other}.") for one in paths for other in paths):
        paths = paths[:1]
    w.put(
        {"type": type_, "target": target, "fields": paths},
        several(Thing("N", nested(paths, w.about(target).item.content))),
    )


@maker("group")
def _group(w: Writer, type_: str) -> None:
    target = w.records()
    by, holds = w.path(target)
    number, _ = w.path(target, "number")
    words = ("count", f"count({by})", f"count_distinct({by})", f"min({by})", f"max({by})", f"list({by})")
    if number != "@id":
        words += (
            f"sum({number})",
            f"avg({number})",
            f"round(median({number} * 2), 1)",
            f"max({number}) - min({number})",
        )
        words += (f"quantile({number}, 0.5)", f"bool_or({number} > 1)", f"first({number})", f"count(DISTINCT {number})")
    step: Step = {"type": type_, "target": target, "by": by}
    if w.maybe(0.3):
        name = w.chance.choice(("k", "size"))
        step["by"], by = {name: computed(w, target)[0]}, "@id"
    elif w.maybe(0.2):
        step.pop("by")
        by = "@id"
    if w.maybe(0.4):
        step["mismatch"] = "null"
    gives: dict[str, Any] = {"n_": "number"} if w.maybe(0.8) else {}
    if gives:
        step["aggregates"] = {"n_": "count", "x": w.chance.choice(words)}
    w.put(step, several(Thing("N", {**({} if "." in by or "@" in by else {by: holds}), **gives} or "any")))


@maker("join")
def _join(w: Writer, type_: str) -> None:
    target, value = w.records(), w.records()
    step: Step = {"type": type_, "target": target, "value": value}
    left, right = (w.about(one).item.content for one in (target, value))
    left, right = (side if isinstance(side, Mapping) else {} for side in (left, right))
    shared = [key for key in left if key in right]
    if shared and w.maybe(0.7):
        step["on"] = w.chance.choice(shared)
    else:
        step |= {"left_key": w.path(target)[0], "right_key": w.path(value)[0]}
    step |= {"join_type": w.chance.choice(("inner", "left", "right", "outer"))} if w.maybe(0.7) else {}
    w.put(step, several(Thing("N", {**left, **right})))


@maker("discover-notes", "discover-collections", "search-within-collection", "discover-tools")
def _search(w: Writer, type_: str) -> None:
    step: Step = {"type": type_, "query": w.chance.choice(QUERIES) if w.maybe(0.8) else w.value("text")}
    if type_ == "search-within-collection":
        step["target"] = w.collection()
    if type_ not in {"discover-tools", "discover-collections"}:
        step |= {"mode": w.chance.choice(("keyword", "keyword", "hybrid"))} if w.maybe(0.9) else {}
    if w.maybe(0.5):
        step["limit"] = w.chance.choice((1, 3, "all"))
    if w.maybe(0.3):
        step["threshold"] = w.chance.choice((0.1, 0, 0.9))
    if type_ == "discover-notes" and w.maybe(0.2):
        step["within"] = w.collection()
    if type_ == "discover-notes" and w.maybe(0.2):
        step["where"] = w.chance.choice(("metadata.status = 'open'", "metadata.priority > 0", "@name IS NOT NULL"))
    if type_ == "discover-notes" and w.maybe(0.1):
        step["certify"] = True
    w.put(step, HITS if "tools" not in type_ else several(NOTE), out=True)


@maker("generate-note", "extract", "refine", "assess")
def _asked(w: Writer, type_: str) -> None:
    step: Step = {"type": type_}
    if type_ != "generate-note" or w.maybe(0.5):
        step["target"] = w.one(anything, w.record()) if type_ in {"assess", "generate-note"} else w.note()
    word = {"generate-note": "prompt", "assess": "predicate"}.get(type_, "instruction")
    step[word] = w.value("text") if w.maybe(0.3) else "It is short."
    gives = TRUTH if type_ == "assess" else TEXT
    if type_ == "refine":
        gives = NOTE
    elif type_ != "assess" and w.maybe(0.5):
        step["schema"], gives = w.chance.choice(tuple(SCHEMAS.values()))
    w.put(step, gives)


def planning(chance: random.Random) -> list[Step]:
    """Return a step that asks for a plan, with or without what else it may be given."""
    step: Step = {"type": "write-plan", "goal": "Find all notes about ranking.", "out": "$planned"}
    more = {"inputs": {"topic": "ranking"}, "so_far": "Nothing yet.", "max_repairs": 0}
    return [step | {key: value for key, value in more.items() if chance.random() < 0.3}]


@maker("filter-semantic", "synthesize")
def _judged(w: Writer, type_: str) -> None:
    target = w.collection()
    step: Step = {"type": type_, "target": target}
    if type_ == "synthesize":
        step |= {"focus": w.value("text")} if w.maybe(0.2) else {}
        w.put(step, Thing("N", {"text": "text", "citations": "list"}))
        return
    step["predicate"] = "It is short."
    step |= {"mode": w.chance.choice(("include", "exclude"))} if w.maybe(0.4) else {}
    w.put(step, w.about(target))


TOOLS: Mapping[str, Thing] = {
    "files/read": TEXT,
    "files/search": LIST,
    "files/is_ready": TRUTH,
    "files/write": TRUTH,
}


def tool_arguments(w: Writer, tool: str) -> dict[str, Any]:
    """Arguments of a tool of the server `files`."""
    match tool:
        case "files/read":
            return {"path": w.value("text")}
        case "files/search":
            return {"query": w.value("text")} | ({"limit": w.chance.choice((1, 2, 3))} if w.maybe(0.8) else {})
        case "files/write":
            return {"path": "a.md", "text": w.value("text")}
    return {}


@maker("call-tool", "tool")
def _tool(w: Writer, type_: str) -> None:
    tool = w.chance.choice(tuple(TOOLS))
    step: Step = {"type": tool}
    if type_ == "call-tool":
        name = tool
        if w.maybe(0.3):
            name = f"${w.put({'type': 'create-note', 'value': tool}, TEXT, out=True)}"
        step = {"type": type_, "tool": name}
    given = tool_arguments(w, tool)
    step |= {"arguments": given} if given or w.maybe(0.5) else {}
    lines = w.put(step, TOOLS[tool], out=tool == "files/search")
    if tool == "files/search" and w.maybe(0.7):
        w.put({"type": "split", "target": f"${lines}"}, several(Thing("N", LINE)))


@maker("get-prompt", "read-resource")
def _outside(w: Writer, type_: str) -> None:
    step: Step = {"type": type_, "resource": f"files/file://{w.chance.choice('abc')}.md"}
    if type_ == "get-prompt":
        step = {"type": type_, "prompt": "files/digest", "arguments": {"subject": w.value("text")}}
    w.put(step, TEXT)


@maker("plan")
def _saved(w: Writer, type_: str) -> None:
    name = w.chance.choice(("greet", "count", "count", "open tasks", "report", "stopping", "about", "asking", "asking"))
    given: dict[str, Any] = {}
    gives: Thing = UNKNOWN
    match name:
        case "greet":
            given, gives = {"who": w.value("text")}, TEXT
            given |= {"times": w.chance.choice((1, 2))} if w.maybe(0.5) else {}
        case "count":
            given, gives = {"things": w.collection()}, NUMBER
        case "open tasks":
            given, gives = (
                {"tasks": w.one(lambda t: of_records(t) and t.item.holds == TASK, several(Thing("N", TASK)))},
                NOTE,
            )
        case "report":
            given, gives = {"who": w.value("text"), "things": w.collection()}, TEXT
        case "stopping":
            given, gives = {"n": w.value("number")}, NOTE
        case "asking":
            gives = TEXT
        case "about":
            given = {"person": w.value(PERSON)} if w.maybe(0.5) else {}
            given["note"] = w.one(a_record if w.maybe(0.5) else holding("text"), w.record())
            gives = TEXT
    step: Step = {"type": f"{type_}:{name}"} | ({"arguments": given} if given else {})
    w.put(step, gives)
