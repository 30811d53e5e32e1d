"""Control forms, conditions, and what any step may have besides; the whole plan."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from plangen import tables
from plangen.calls import MAKERS, content
from plangen.conditions import condition
from plangen.corners import CORNERS, in_a_corner
from plangen.meetings import IN_LOOPS, MEETINGS
from plangen.spoiling import spoil
from plangen.things import LIST, NOTE, NUMBER, TEXT, TRUTH, UNKNOWN, Thing, several
from plangen.writer import Step, Writer, a_list, a_note, a_record, anything, holding

SEARCHES = ("discover-collections", "index")
ASKING = ("generate-note", "extract", "refine", "assess", "filter-semantic", "synthesize")
WEIGHTS: Mapping[str, float] = {
    **dict.fromkeys(("discover-notes", "search-within-collection", "discover-tools"), 0.4),
    **dict.fromkeys(SEARCHES, 0.3),
    **dict.fromkeys(ASKING, 0.4),
    **dict.fromkeys(("create-note", "create-collection", "tool", "plan", "if", "meeting", "stop"), 1.5),
    **dict.fromkeys(("ask", "odd", "wait"), 0.6),
}
"""How often a step is of a type, where it is not as often as of most."""
FORMS: dict[str, Callable[[Writer, int], None]] = {}
RECORD = Thing("N", {"n": "number", "name": "text"})


def form(function: Callable[[Writer, int], None]) -> Callable[[Writer, int], None]:
    """Register what writes a control form."""
    FORMS[function.__name__.strip("_").replace("_", "-")] = function
    return function


def steps(w: Writer, count: int, depth: int, type_: str | None = None) -> None:
    """Append some steps, each with a maker of its own, or with that of a type."""
    words = [*MAKERS]
    for _ in range(count):
        first = len(w.block)
        if type_ in FORMS:
            FORMS[type_](w, depth)
        elif type_ is not None:
            MAKERS[type_](w)
        elif depth < 3 and w.maybe(0.3):
            FORMS[w.chance.choices([*FORMS], [WEIGHTS.get(word, 1) for word in FORMS])[0]](w, depth)
        else:
            MAKERS[w.chance.choices(words, [WEIGHTS.get(word, 1) for word in words])[0]](w)
        for step in w.block[first:]:
            _besides(w, step, depth)


def _besides(w: Writer, step: Step, depth: int) -> None:
    """What any step may have."""
    forms = {"if", "while", "for-each", "parallel", "stop", "wait", "ask"}
    several_steps = step["type"] in forms or step["type"].startswith("plan:")
    if w.maybe(0.05):
        step["expect"] = "that it works"
    if w.maybe(0.04):
        step["id"] = f"step-{w.fresh()}"
    if w.maybe(0.08) and not several_steps and "retry" not in step:
        step["retry"] = {"attempts": 2, "wait_s": 0}
    if w.maybe(0.05) and "timeout_s" not in step:
        step["timeout_s"] = 60
    if w.maybe(0.12) and step["type"] != "stop" and "on_fail" not in step:
        step["on_fail"] = "continue" if w.maybe(0.4) else _handler(w, step, depth)
        if step["on_fail"] == "continue" and "out" in step and w.maybe(0.8):
            w.names.pop(step["out"][1:], None)


def _handler(w: Writer, step: Step, depth: int) -> list[Step]:
    out = step.get("out", "")[1:]
    names = {name: thing for name, thing in w.names.items() if name != out} | {"error": Thing("N", {"reason": "text"})}
    with w.inside(names) as block:
        steps(w, w.chance.randint(0, 1), max(depth, 3))
        if out in w.names or (out and w.maybe(0.7)):
            thing = w.names.get(out, UNKNOWN)
            made = Thing("N", "text") if thing.kind not in "NC" else thing
            if made.kind == "C" and made.item.kind != "N":
                made = several(TEXT)
            if w.maybe(0.85):
                kind = "create-collection" if made.kind == "C" else "create-note"
                block.append({"type": kind, "value": w.written(made), "out": f"${out}"})
    return block


@form
def _if(w: Writer, depth: int) -> None:
    asked = condition(w)
    then, otherwise = dict(w.names), dict(w.names)
    with w.inside(then) as yes:
        steps(w, w.chance.randint(0, 2), depth + 1)
    step: Step = {"type": "if", "condition": asked, "then": yes}
    if w.maybe(0.6):
        with w.inside(otherwise) as no:
            steps(w, w.chance.randint(0, 2), depth + 1)
            for name, thing in then.items():
                if name not in otherwise and thing.kind == "N" and w.maybe(0.7):
                    no.append({"type": "create-note", "value": w.written(thing), "out": f"${name}"})
                    otherwise[name] = thing
        step["else"] = no
    w.block.append(step)
    w.names.update({name: thing for name, thing in then.items() if otherwise.get(name) == thing})
    for name in [*w.names]:
        if then.get(name) != otherwise.get(name):
            w.names[name] = UNKNOWN


@form
def _while(w: Writer, depth: int) -> None:
    match w.chance.randint(0, 3):
        case 0:
            name = w.make(several(w.chance.choice((TEXT, NUMBER))))
            asked: dict[str, Any] = {"type": "has_value", "target": f"${name}"}
            change: list[Step] = [{"type": "load", "target": f"${name}", "slice": "1:", "out": f"${name}"}]
        case 1:
            name = w.make(several(NUMBER))
            asked = {"type": "not", "of": {"type": "empty", "target": f"${name}"}}
            change = [{"type": "remove", "target": f"${name}", "value": f"${name}[0]"}]
        case 2:
            name = w.put({"type": "create-note", "value": ""}, TEXT, out=True)
            asked = {"type": "not_contains", "target": f"${name}", "value": "xx"}
            change = [{"type": "create-note", "value": "${" + name + "}x", "out": f"${name}"}]
        case _:
            name = w.put({"type": "create-collection", "value": []}, several(UNKNOWN), out=True)
            count = w.put({"type": "size", "target": f"${name}"}, NUMBER, out=True)
            asked = {"type": "less_than", "target": f"${count}", "value": 2}
            change = [{"type": "create-note", "value": "${" + count + "}", "out": "$one"}]
            change += [{"type": "add", "target": f"${name}", "value": "$one"}]
            change += [{"type": "size", "target": f"${name}", "out": f"${count}"}]
    with w.inside(dict(w.names), fixed=True) as body:
        steps(w, w.chance.randint(0, 1), depth + 1)
    step: Step = {"type": "while", "condition": asked, "body": [*body, *change]}
    if w.maybe(0.5):
        step["max_iterations"] = w.chance.choice((2, 5))
    w.block.append(step)


@form
def _for_each(w: Writer, depth: int) -> None:
    target = w.collection()
    step: Step = {"type": "for-each", "target": target}
    as_ = "item" if w.maybe(0.6) else w.fresh()
    if as_ != "item":
        step["as"] = f"${as_}"
    inner = {**w.names, as_: w.about(target).item}
    before = set(inner)
    with w.inside(inner, fixed=True) as body:
        steps(w, w.chance.randint(1, 3), depth + 1)
        if w.maybe(0.25):
            step["until"] = condition(w)
    step["do"] = body
    made = [name for name in inner if name not in before and any(one.get("out") == f"${name}" for one in body)]
    gives: Thing | None = several(UNKNOWN)
    if made and w.maybe(0.5):
        collected = w.chance.choice(made)
        step["collect"], gives = f"${collected}", several(inner[collected])
    elif not made:
        gives = None
    if w.maybe(0.3):
        step["filter_null"] = w.maybe(0.5)
        gives = gives and several(UNKNOWN)
    if w.maybe(0.25):
        step["on_fail"] = "continue" if w.maybe(0.5) else _item_handler(w, inner, step.get("collect"))
        gives = gives and several(UNKNOWN)
    w.put(step, gives)


def _item_handler(w: Writer, names: dict[str, Thing], collect: str | None) -> list[Step]:
    known = {**names, "error": Thing("N", {"reason": "text"})}
    known.pop((collect or "$")[1:], None)
    with w.inside(known) as block:
        steps(w, 1, 3)
        if collect and w.maybe(0.6):
            block.append({"type": "create-note", "value": "${error.reason}", "out": collect})
    return block


@form
def _map(w: Writer, _depth: int) -> None:
    holds = w.chance.choice((w.record(), TEXT, several(TEXT)))
    target = w.one(lambda t: a_list(t) and t.item == holds, several(holds if holds.kind == "N" else TEXT))
    item = w.about(target).item
    inner = {**w.names, "item": item}
    with w.inside(inner):
        operation, gives = _operation(w, item)
    step: Step = {"type": "map", "target": target, "operation": operation}
    if w.maybe(0.3):
        step["filter_null"], gives = w.maybe(0.5), UNKNOWN
    if w.maybe(0.2):
        step["on_fail"] = "continue" if w.maybe(0.5) else _item_handler(w, inner, None)
        gives = UNKNOWN
    w.put(step, several(gives) if gives is not None else None)


def _operation(w: Writer, item: Thing) -> tuple[Any, Thing | None]:
    choices: list[tuple[Any, Thing | None]] = [
        ({"type": "create-note", "value": {"about": "$item", "n": w.value("number")}}, Thing("N", {"n": "number"})),
        ({"type": "create-note", "value": "${item}"}, TEXT),
        ({"type": "say", "value": "${item}"}, NOTE),
        ("bind", item),
        ("get-metadata", NOTE),
        ("persist", item),
        ({"type": "set-metadata", "value": {"seen": True}}, NOTE),
        ({"type": "files/read", "arguments": {"path": "${item}"}}, TEXT),
        ({"type": "files/search", "arguments": {"query": w.value("text"), "limit": 1}}, LIST),
    ]
    if a_note(item):
        choices.append(({"type": "coerce", "coercion": "string"}, TEXT))
        choices.append(({"type": "update-note", "value": w.value("text")}, TEXT))
    if holding("text", "list")(item):
        choices += [("split", several(NOTE)), ({"type": "load", "slice": ":1"}, item)]
    if a_record(item):
        choices += [
            ({"type": "create-note", "value": f"$item.{key}"}, Thing("N", inner)) for key, inner in item.holds.items()
        ]
    if a_list(item):
        choices += [("size", NUMBER), ({"type": "flatten", "separator": " "}, TEXT), ("head", item)]
    return w.chance.choice(choices) if w.maybe(0.5) else _any_operation(w, item) or w.chance.choice(choices)


def _any_operation(w: Writer, item: Thing) -> tuple[Any, Thing | None] | None:
    """Any call as an operation, with the item as its first resource as a rule; None where it needs steps before it."""
    types = [type_ for type_ in MAKERS if type_ not in ("bind", "size", "persist")]
    outer, w.names = w.names, {**w.names}
    for _ in range(4):
        with w.inside({"item": item}) as block:
            MAKERS[w.chance.choice(types)](w)
        if len(block) == 1 and "replace" not in block[0]:
            operation = {key: value for key, value in block[0].items() if key not in ("out", "name")}
            if operation.get("target") == "$item" and w.maybe(0.5):
                del operation["target"]
            w.names = outer
            return operation, UNKNOWN
    w.names = outer
    return None


PAGED: tuple[tuple[dict[str, Any], Thing], ...] = (
    ({"tool": "odd/listed", "arguments": {"cursor": "$page"}, "items": "rows", "next": "following"}, RECORD),
    (
        {"tool": "odd/listed", "arguments": {"cursor": "$page"}, "items": "rows", "next": "following", "first": ""},
        RECORD,
    ),
    ({"tool": "odd/numbered", "arguments": {"page": "$page"}, "first": 1}, NUMBER),
    ({"tool": "odd/numbered", "arguments": {"page": "$at"}, "as": "$at", "first": 0, "step": 2}, NUMBER),
)


@form
def _pages(w: Writer, _depth: int) -> None:
    way, item = w.chance.choice(PAGED)
    step: Step = {"type": "pages", **way}
    if w.maybe(0.3):
        step["max_pages"] = w.chance.choice((2, 10))
    w.put(step, several(item))


@form
def _parallel(w: Writer, depth: int) -> None:
    branches, bound = [], dict[str, Thing]()
    for _ in range(w.chance.randint(1, 3)):
        names = dict(w.names)
        with w.inside(names, fixed=True) as branch:
            steps(w, w.chance.randint(1, 2), depth + 1)
        branches.append(branch)
        bound |= {name: thing for name, thing in names.items() if name not in w.names}
    w.block.append({"type": "parallel", "branches": branches})
    w.names.update(bound)


@form
def _wait(w: Writer, _depth: int) -> None:
    step: Step = {"type": "wait", "seconds": w.chance.choice((0, 0.001))}
    if w.maybe(0.3):
        step = {"type": "wait", "condition": condition(w) if w.maybe(0.3) else _true(w)}
    w.block.append(step)


def _true(w: Writer) -> dict[str, Any]:
    """A condition that holds, as a rule, so that what waits for it goes on."""
    if w.names and w.maybe(0.5):
        return {"type": "bound", "target": f"${w.chance.choice([*w.names])}"}
    return {"type": "tool_condition", "tool": "files/is_ready"}


QUESTIONS: tuple[tuple[dict[str, Any] | None, Thing], ...] = (
    (None, NOTE),
    ({"type": "integer", "minimum": 1}, NUMBER),
    ({"type": "string"}, TEXT),
    ({"type": "boolean"}, TRUTH),
    (
        {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}, "required": ["name"]},
        Thing("N", {"name": "text"}),
    ),
)


@form
def _ask(w: Writer, _depth: int) -> None:
    schema, gives = w.chance.choice(QUESTIONS)
    step: Step = {"type": "ask", "value": w.value("text")}
    w.put(step if schema is None else {**step, "schema": schema}, gives)


@form
def _odd(w: Writer, depth: int) -> None:
    """A tool that fails, each time or the first, or takes too long. Where steps repeat, none counts its calls."""
    out = w.fresh()
    choices: list[tuple[Step, Thing]] = [
        ({"type": "odd/refuse", "arguments": {"why": w.value("text")}}, TEXT),
        ({"type": "odd/sleep", "timeout_s": 0.02}, TRUTH),
    ]
    if depth == 0:
        calls, key = w.chance.choice((2, 3)), f"{out} {w.chance.random()}"
        retry = {"attempts": w.chance.choice((2, 3, 3)), "wait_s": w.chance.choice((0, 0.001)), "backoff": 2}
        called = {"type": "odd/at_last", "arguments": {"key": key, "calls": calls}, "retry": retry}
        choices += [(called, NUMBER)] * 3
    step, gives = w.chance.choice(choices)
    step = {**step, "out": f"${out}"}
    if w.maybe(0.85 if step["type"] != "odd/at_last" else 0.4):
        handler = [{"type": "create-note", "value": w.written(gives), "out": f"${out}"}]
        step["on_fail"] = "continue" if w.maybe(0.4) else [{"type": "think", "value": "${error.reason}"}, *handler]
    w.block.append(step)
    if step.get("on_fail") != "continue":
        w.names[out] = gives


@form
def _stop(w: Writer, depth: int) -> None:
    step: Step = {"type": "stop"}
    if w.maybe(0.6):
        step["value"] = w.one(anything, w.record()) if w.maybe(0.5) else w.value(content(w))
    if w.maybe(0.3):
        step["status"] = w.chance.choice(("success", "failed"))
    if depth == 0 and w.maybe(0.9):
        step = {"type": "if", "condition": condition(w), "then": [step]}
    w.block.append(step)


@form
def _meeting(w: Writer, depth: int) -> None:
    """Where several of the others meet."""
    w.chance.choice(MEETINGS if depth == 0 else IN_LOOPS)(w)


INPUTS: Mapping[str, tuple[dict[str, Any], Thing]] = {
    "num": ({"type": "integer", "default": 2}, NUMBER),
    "topic": ({"type": "string", "minLength": 1}, TEXT),
    "list_in": ({"kind": "Collection", "default": "reading list"}, several(NOTE)),
    "note_in": ({"kind": "Note"}, NOTE),
}
GIVEN: Mapping[str, Any] = {"topic": "attention", "note_in": "attention", "num": 3}


def computing(chance: random.Random) -> list[Step]:
    """Steps that compute with a Note; now and then an operation has no result."""
    number, text = chance.choice((0, 3, 2.5, None)), chance.choice(("a", "Über 7", ""))
    forms = (
        "round($facts.n * 1.19, 2) + 1",
        "10 / $facts.n",
        "CASE WHEN $facts.n > 2 THEN 'more' ELSE 'less' END",
        "upper($facts.t) || '!' || $facts.n",
        "length($facts.t) > 3 AND $facts.t LIKE '%7%'",
        "TRY_CAST($facts.t AS number)",
        "coalesce($facts.n, 0) % 2",
    )
    compute: Step = {"type": "compute", "expression": chance.choice(forms), "mismatch": "null", "out": "$computed"}
    return [
        {"type": "create-note", "value": {"n": number, "t": text}, "out": "$facts"},
        compute,
        {"type": "say", "value": "${computed}"},
    ]


def querying(chance: random.Random) -> list[Step]:
    """Steps that make rows with one SELECT over a Collection, and read a field of the first."""
    rows = [{"n": chance.choice((1, 2, 2.5, None)), "t": chance.choice(("a", "b", "a7"))} for _ in range(3)]
    forms = (
        "SELECT t AS first, count(*) AS n FROM $facts GROUP BY t",
        "SELECT a.t AS first, b.n FROM $facts a JOIN $facts b ON a.n = b.n ORDER BY b.n DESC",
        "SELECT first(t) AS first, sum(n) AS n FROM $facts WHERE n > 1 OR n IS NULL",
        "SELECT upper(t) AS first, row_number() OVER (ORDER BY n) AS n FROM $facts LIMIT 2",
        "SELECT coalesce(title, 'none') AS first, words AS n FROM notes ORDER BY words LIMIT 1",
    )
    return [
        {"type": "create-collection", "value": rows, "out": "$facts"},
        {"type": "query", "sql": chance.choice(forms), "out": "$found"},
        {"type": "pluck", "target": "$found", "field": "first", "out": "$firsts"},
    ]


class Plans:
    """Makes a plan from a seed, and the inputs for it; of four plans three have a mistake or two."""

    def __init__(self, seed: int, kept: Mapping[str, Thing]) -> None:
        self._writer = Writer(random.Random(seed), kept)  # noqa: S311 - not for secrets
        self._seed = seed

    def plan(self) -> tuple[Any, dict[str, Any]]:
        """Make a plan of one to eight makers' steps; of as many seeds as there are makers each has the first once."""
        w = self._writer
        document: dict[str, Any] = {"budget": {"steps": 300, "seconds": 60}}
        inputs = {name: spec for name, spec in INPUTS.items() if w.maybe(0.3)}
        if inputs:
            document["inputs"] = {name: spec for name, (spec, _) in inputs.items()}
            w.names |= {name: thing for name, (_, thing) in inputs.items()}
        given = {name: GIVEN[name] for name in inputs if name in GIVEN and (name != "num" or w.maybe(0.5))}
        first = [*MAKERS, *FORMS][self._seed % (len(MAKERS) + len(FORMS))]
        steps(w, 1, 0, first)
        steps(w, w.chance.randint(0, 6), 0)
        document["steps"] = w.block
        if w.names and w.maybe(0.4):
            document["result"] = f"${w.chance.choice([*w.names])}"
        for _ in range(w.chance.choice((0, 0, 1, 1, 1, 2))):
            spoil(document, w.chance)
        if self._seed % 3 == 0 and isinstance(document.get("steps"), list):
            document["steps"][:0] = computing(random.Random(self._seed))  # noqa: S311 - not for secrets
        if self._seed % 4 == 1 and isinstance(document.get("steps"), list):
            document["steps"][:0] = querying(random.Random(self._seed))  # noqa: S311 - not for secrets
        if self._seed % 20 == 7 and isinstance(document.get("steps"), list):
            document["steps"][:0] = tables.planning(random.Random(self._seed))  # noqa: S311 - not for secrets
        return document, given

    def corner(self) -> dict[str, Any]:
        """Make a plan of one or two corners, with no mistake besides; it wants a space as it was supplied."""
        w = self._writer
        w.care = 1.0
        for _ in range(w.chance.choice((1, 1, 2))):
            in_a_corner(w, w.chance.choice([*CORNERS]))
        return {"budget": {"steps": 300, "seconds": 60}, "steps": w.block}
