"""Steps that are one call: a maker for every primitive that makes, keeps, changes or says something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from plangen.things import (
    LIST,
    NOTE,
    NUMBER,
    RELATION,
    TEXT,
    TRUTH,
    TYPES,
    UNKNOWN,
    Content,
    Thing,
    several,
)
from plangen.writer import Step, Writer, a_list, a_note, a_record, anything, holding

Maker = Callable[[Writer], None]
Write: TypeAlias = "Callable[..., None]"
MAKERS: dict[str, Maker] = {}


def maker(*types: str) -> Callable[[Write], Write]:
    """Register what writes a step of these types."""

    def register(function: Write) -> Write:
        for type_ in types:
            MAKERS[type_] = partial(function, type_=type_)
        return function

    return register


def named(w: Writer, step: Step) -> Step:
    """Give a step a name, now and then one that is taken."""
    if w.maybe(0.12):
        taken = [name for name in w.kept if "_" not in name]
        step["name"] = w.chance.choice(taken) if taken and w.maybe(0.2) else w.called()
        if step["name"] in w.kept or w.maybe(0.3):
            step["replace"] = True
    return step


def content(w: Writer) -> Content:
    return w.record().holds if w.maybe(0.4) else w.chance.choice(TYPES)


@maker("create-note")
def _note(w: Writer, type_: str) -> None:
    holds = content(w)
    step = {"type": type_, "value": w.value(holds)}
    if w.maybe(0.3):
        step["metadata"] = {"kind": w.value("text"), "priority": 1}
    w.put(named(w, step), Thing("N", holds))


@maker("create-collection")
def _collection(w: Writer, type_: str) -> None:
    item = w.record() if w.maybe(0.6) else Thing("N", w.chance.choice(TYPES))
    count = w.chance.randint(0, 4)
    value: Any = [w.value(item.holds) for _ in range(count)]
    if w.maybe(0.1):
        value, item = w.collection(), UNKNOWN
    elif w.maybe(0.15):
        lists = [w.collection() for _ in range(2)]
        value, item = lists, several(w.about(lists[0]).item)
    elif w.maybe(0.1):
        value, item = [*value, w.collection(), w.note()], UNKNOWN
    step: Step = {"type": type_, "value": value}
    if w.maybe(0.2):
        step["metadata"] = {"kind": "list"}
    w.put(named(w, step), several(item))


@maker("bind", "persist")
def _alias(w: Writer, type_: str) -> None:
    target = w.one(anything, w.record())
    w.put(named(w, {"type": type_, "target": target}), w.about(target))


@maker("load")
def _load(w: Writer, type_: str) -> None:
    whole = w.maybe(0.4)
    target = w.one(anything if whole else lambda t: a_list(t) or holding("text", "list")(t), TEXT)
    step: Step = {"type": type_, "target": target}
    if not whole:
        step["slice"] = w.chance.choice((":1", "1:", "-2:", ":", "::2", ":0"))
    w.put(step, w.about(target))


@maker("create-relation")
def _relation(w: Writer, type_: str) -> None:
    step = {"type": type_, "source": w.one(anything, w.record()), "target": w.note(), "relation": w.value("text")}
    step["relation"] = w.chance.choice(("cites", "part of"))
    w.put(named(w, step), RELATION)


@maker("find-relations", "related")
def _arrows(w: Writer, type_: str) -> None:
    step: Step = {"type": type_}
    for key in ("source", "target"):
        if (type_ == "related" and key == "target") or (type_ == "find-relations" and w.maybe(0.5)):
            step[key] = w.one(anything, w.record())
    if w.maybe(0.5):
        step["relation"] = w.chance.choice(("cites", "part of", "none"))
    if type_ == "related":
        step["direction"] = w.chance.choice(("out", "in", "both"))
    w.put(step, several(RELATION if type_ == "find-relations" else UNKNOWN))


@maker("say", "think")
def _talk(w: Writer, type_: str) -> None:
    w.put({"type": type_, "value": w.value(content(w))})


@maker("size", "head", "tail", "index")
def _count(w: Writer, type_: str) -> None:
    target = w.collection()
    step: Step = {"type": type_, "target": target}
    if type_ in {"head", "tail"} and w.maybe(0.7):
        counts = [f"${n}" for n, t in w.names.items() if t.holds == "number" and t.kind == "N"]
        step["count"] = w.chance.choice(counts) if counts and w.maybe(0.2) else w.chance.choice((0, 1, 2, 2.0, 5))
    w.put(step, w.about(target) if type_ in {"head", "tail"} else NUMBER)


@maker("flatten")
def _flatten(w: Writer, type_: str) -> None:
    target = w.collection()
    step: Step = {"type": type_, "target": target}
    if w.maybe(0.3):
        item = w.about(target).item
        w.put({**step, "separator": None}, item if item.kind == "C" else several(item))
        return
    if w.maybe(0.6):
        step["separator"] = w.chance.choice(("\n", ", ", ""))
    w.put(step, TEXT)


@maker("union", "intersection", "difference", "distinct", "add")
def _sets(w: Writer, type_: str) -> None:
    target = w.collection()
    step: Step = {"type": type_, "target": target}
    gives = w.about(target)
    if type_ == "distinct":
        path, _ = w.path(target)
        step |= {"by": w.chance.choice(("id", "content", path))} if w.maybe(0.7) else {}
    elif type_ == "add":
        step["value"] = w.one(lambda t: t in (gives.item, gives), w.record())
    else:
        step["value"] = (
            w.one(lambda t: t.kind == "C" and t.item == gives.item, gives) if w.maybe(0.7) else w.collection()
        )
        step |= {"by": w.chance.choice(("id", "content"))} if w.maybe(0.5) else {}
    if type_ in {"union", "add"} and w.about(step["value"]) not in (gives, gives.item):
        gives = several(UNKNOWN)
    w.put(step, gives)


@maker("split")
def _split(w: Writer, type_: str) -> None:
    target = w.one(holding("text", "list"), TEXT)
    step: Step = {"type": type_, "target": target}
    text = w.about(target).holds == "text"
    if w.maybe(0.2):
        target = w.one(a_record, w.record())
        path, inner = w.path(target, "text")
        step |= {"target": target, "field": path, "delimiter": w.chance.choice(("sentence", ","))}
        text = inner == "text"
    elif text and w.maybe(0.7):
        step["delimiter"] = w.chance.choice(("auto", "paragraph", "sentence", "line", ", ", "a"))
    w.put(step, several(TEXT if text and step.get("delimiter", "auto") != "auto" else NOTE))


COERCIONS: Mapping[str, tuple[tuple[str, ...], Thing]] = {
    "string": ((), TEXT),
    "int": (("number", "bool"), NUMBER),
    "float": (("number", "bool", "text"), NUMBER),
    "bool": (("bool", "number"), TRUTH),
    "json": (("list", "number", "bool"), NOTE),
    "list": (("text", "list"), LIST),
}


@maker("coerce")
def _coerce(w: Writer, type_: str) -> None:
    word = w.chance.choice(tuple(COERCIONS))
    from_, gives = COERCIONS[word]
    target = w.note(holding(*from_) if from_ else a_note, Thing("N", w.chance.choice(from_)) if from_ else None)
    step: Step = {"type": type_, "target": target, "coercion": word}
    if word == "list" and w.maybe(0.3):
        step["delimiter"] = w.chance.choice((",", ";", "a"))
    w.put(step, gives)


@maker("get-metadata")
def _metadata(w: Writer, type_: str) -> None:
    step: Step = {"type": type_, "target": w.one(anything, w.record())}
    if w.maybe(0.2):
        step["field"] = w.chance.choice(("title", "kind", "@metadata.kind", "priority"))
    w.put(step, NOTE)


@maker("set-metadata")
def _set_metadata(w: Writer, type_: str) -> None:
    value = {w.chance.choice(("kind", "status", "n")): w.value("text")}
    step: Step = {"type": type_, "target": w.one(lambda t: t.kind in "NC", w.record()), "value": value}
    if w.maybe(0.4):
        step["merge"] = w.maybe(0.5)
    if w.maybe(0.1):
        step["if_version"] = w.chance.choice((1, 1, 2))
    w.put(step, NOTE)


@maker("update-note")
def _update(w: Writer, type_: str) -> None:
    target = w.note(a_record if w.maybe(0.6) else a_note)
    holds = w.about(target).content
    step: Step = {"type": type_, "target": target}
    merge = isinstance(holds, Mapping) and w.maybe(0.5)
    if merge:
        key = w.chance.choice((*holds, "extra"))
        step |= {"value": {key: w.value(holds.get(key, "text"))}, "merge": True}
    elif w.maybe(0.8):
        step["value"] = w.value(holds if w.maybe(0.7) else content(w))
    if "value" not in step or w.maybe(0.2):
        step["metadata"] = {"kind": w.value("text")}
    if w.maybe(0.1):
        step["if_version"] = 1
    w.put(named(w, step), Thing("N", holds if merge or "value" not in step else "any"))


@maker("remove")
def _remove(w: Writer, type_: str) -> None:
    if w.maybe(0.7):
        target = w.collection()
        inside = f"{target}[0]" if "[" not in target and target.startswith("$") else w.note()
        w.put({"type": type_, "target": target, "value": inside if w.maybe(0.6) else w.note()}, w.about(target))
        return
    target = w.one(anything, w.record())
    w.put({"type": type_, "target": target})
    name = target.removeprefix("$")
    if name in w.names and w.maybe(0.85):
        del w.names[name]


@maker("name")
def _name(w: Writer, type_: str) -> None:
    target = w.one(anything, w.record())
    step: Step = {"type": type_, "target": target, "value": w.called()}
    if w.maybe(0.3):
        step["replace"] = True
    w.put(step, w.about(target))
