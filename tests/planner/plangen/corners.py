"""Steps whose end is plain from the text, in corners of the language: some can only fail, others can only go well.

Each is marked as what it is, so that a check that accepts the one or refuses the other is seen to be wrong.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from plangen.writer import Step, Writer

FAILS, WORKS = "to fail: ", "to go well: "
"""What `expect` begins with where a step is marked."""
Corner = Callable[[Writer], None]
Ended: TypeAlias = "tuple[Mapping[str, Any], str, str | None]"
"""A step as it was written, its status and the reason."""
CORNERS: dict[str, Corner] = {}


def corner(function: Corner) -> Corner:
    """Register what writes marked steps, and the steps that they need."""
    CORNERS[function.__name__.strip("_").replace("_", " ")] = function
    return function


def marked(w: Writer, good: bool, step: Step, *, once: bool = False) -> None:
    """Append a step that can only fail, now and then handled, or one that can only go well; once: the first time."""
    expected = {"expect": WORKS if good else FAILS}
    if step["type"] == "discover-notes":
        expected["out"] = f"${w.fresh()}"
    absent = step["type"] == "load" and "$" not in step["target"]  # allowed where it is handled, without a warning
    if not good and not absent and not once and w.maybe(0.15):
        expected["on_fail"] = "continue"
    w.block.append({**step, **expected})


def made(w: Writer, value: Any, type_: str = "create-note", **fields: Any) -> str:
    """Append what makes a resource; return a variable of its own."""
    name = f"${w.fresh()}"
    w.block.append({"type": type_, "value": value, **fields, "out": name})
    return name


def listed(w: Writer, value: Any, **fields: Any) -> str:
    return made(w, value, "create-collection", **fields)


def alias(w: Writer, target: str) -> str:
    """Append, now and then, steps by which the same resource is bound to another variable."""
    if w.maybe(0.6):
        return target
    name = f"${w.fresh()}"
    w.block.append({"type": w.chance.choice(("bind", "persist", "load")), "target": target, "out": name})
    return name


def unheard(w: Writer) -> str:
    """A name that nothing has, in this plan or another."""
    return f"corner {w.chance.randrange(10**12)}"


def used(w: Writer, target: str) -> Step:
    """A step that wants a resource, of whatever kind."""
    return w.chance.choice(
        (
            {"type": "bind", "target": target},
            {"type": "load", "target": target},
            {"type": "persist", "target": target},
            {"type": "get-metadata", "target": target},
            {"type": "create-collection", "value": [target]}
            if target.startswith("$") and "{" not in target
            else {"type": "load", "target": target},
            {"type": "create-relation", "source": target, "target": "attention", "relation": "cites"},
        )
    )


@corner
def _text_where_a_resource_is_wanted(w: Writer) -> None:
    good = w.maybe(0.3)
    values = ("attention", "training") if good else ("abc", 7, {"a": 1}, [1], "no such")
    name = made(w, w.chance.choice(values))[1:]
    if not good and w.maybe(0.5):
        name = listed(w, ["a", "b"])[1:]
    if good or w.maybe(0.6):
        marked(w, good, used(w, "${" + name + "}"))
        return
    hits = f"${w.fresh()}"
    w.block.append({"type": "discover-notes", "query": "attention", "mode": "keyword", "out": hits})
    marked(w, False, {"type": w.chance.choice(("size", "flatten", "head")), "target": "${" + hits[1:] + "}"})


ROWS = [{"n": 1, "t": "a", "l": ["a"], "b": True}, {"n": 2, "t": "b", "l": [], "b": False}]
NEVER = (
    'n >= "0.3"', "'1' < n", "t = 3", "n IN (1, 'b')", "n BETWEEN 'a' AND 'b'", "l > l", "n LIKE '1%'",
    "lower(n) = 'a'", "has(t, 'a')", "b AND t", "coalesce(n, 0) = 'a'", "n IN ($list)", "t IN ($list)", "n > $text",
)  # fmt: skip
EVER = (
    "n >= 0.3", "1 < n", "t = '3'", "n IN (1, 2)", "n BETWEEN 0 AND 1", "has(l, 'a')", "t LIKE '1%'", "b AND b",
    "coalesce(n, 0) = 1", "has($list, n)", "t > $text", "n > 0 OR t = $text", "b = TRUE", "@name IS NULL",
)  # fmt: skip


@corner
def _comparison_of_types(w: Writer) -> None:
    good = w.maybe(0.4)
    where = w.chance.choice(EVER if good else NEVER)
    where = where.replace("$list", made(w, [1, 2])) if "$list" in where else where
    where = where.replace("$text", made(w, "a")) if "$text" in where else where
    where = f"NOT ({where})" if w.maybe(0.2) else where
    marked(w, good, {"type": "filter-structured", "target": alias(w, listed(w, ROWS)), "where": where})


@corner
def _comparison_in_hits(w: Writer) -> None:
    good = w.maybe(0.3)
    search = {"type": "discover-notes", "query": "attention", "mode": "keyword"}
    if w.maybe(0.5):
        hits = f"${w.fresh()}"
        w.block.append({**search, "out": hits})
        where = "metadata.score >= 0.3" if good else 'metadata.score >= "0.3"'
        marked(w, good, {"type": "filter-structured", "target": hits, "where": where})
        return
    ids = made(w, ["Note_1", "Note_2"])
    marked(w, good, {**search, "where": f"has({ids}, id)" if good else f"id IN ({ids})"})


@corner
def _name_given_twice(w: Writer) -> None:
    good = w.maybe(0.3)
    items = w.chance.choice((["a"], [{"n": 1}])) if good else w.chance.choice((["a", "b"], [1, 2, 3]))
    name, target = unheard(w), listed(w, items)
    if not good and w.maybe(0.3):
        name = w.chance.choice(("attention", "training"))
    match w.chance.randint(0, 3):
        case 0:
            marked(w, good, {"type": "map", "target": target, "operation": {"type": "name", "value": name}})
        case 1:
            operation = {"type": "name", "target": "$item", "value": name}
            marked(w, good, {"type": "map", "target": alias(w, target), "operation": operation})
        case 2:
            with w.inside(w.names) as inner:
                step = {"type": "create-note", "value": "$item", "name": name, "out": f"${w.fresh()}"}
                marked(w, good, step, once=True)
            w.block.append({"type": "for-each", "target": target, "do": inner})
        case _:
            distinct = {"type": "name", "value": name + " ${item}" if good else name}
            items = ["x", "y"] if good else items
            marked(w, good, {"type": "map", "target": listed(w, items), "operation": distinct})


@corner
def _metadata_of_a_collection(w: Writer) -> None:
    good = w.maybe(0.4)
    kept = {"metadata": {"kind": "list"}} if good or w.maybe(0.7) else {}
    target = alias(w, listed(w, [1, 2], **kept))
    if not good and w.maybe(0.3):
        part = f"${w.fresh()}"
        w.block.append({"type": "head", "target": target, "out": part})
        target, word = part, "kind"
    else:
        word = "kind" if good else "kin"
    match w.chance.randint(0, 2):
        case 0:
            marked(w, good, {"type": "create-note", "value": f"{target}.metadata.{word}"})
        case 1:
            marked(w, good, {"type": "say", "value": "about ${" + f"{target[1:]}.@metadata.{word}" + "}"})
        case _:
            marked(w, good, {"type": "get-metadata", "target": target, "field": word})


@corner
def _items_added_in_a_loop(w: Writer) -> None:
    """A list to which a loop adds Notes, or the items of Collections, and then each as what it is, or is not."""
    good, lists = w.maybe(0.4), w.maybe(0.4)
    target = listed(w, [])
    source = listed(w, [listed(w, [[1]]), listed(w, ["a", "b"])] if lists else [[1], "a"])
    add = {"type": "add", "target": target, "value": "$item"}
    match w.chance.randint(0, 2):
        case 0:
            w.block.append({"type": "for-each", "target": source, "do": [add]})
        case 1:
            w.block.append({"type": "map", "target": source, "operation": add})
        case _:
            w.block += [{**add, "value": f"{source}[{index}]"} for index in (0, 1)]
    right: tuple[Step, ...] = (
        {"type": "split", "target": "$item"},
        {"type": "update-note", "target": "$item", "value": 1},
    )
    wrong: tuple[Step, ...] = (
        {"type": "add", "target": "$item", "value": "$item"},
        {"type": "size", "target": "$item.@id"},
        {"type": "flatten", "target": "$item.@created"},
    )
    step = w.chance.choice(right if good else wrong)
    with w.inside(w.names) as inner:
        marked(w, good, step)
    w.block.append({"type": "for-each", "target": target, "do": inner})


@corner
def _removed_under_another_name(w: Writer) -> None:
    good = w.maybe(0.3)
    name = unheard(w)
    target = made(w, w.chance.choice(("v", [1], {"a": 1})), name=name)
    other = alias(w, target)
    if good:
        kept = f"${w.fresh()}"
        w.block.append({"type": "create-note", "value": target, "out": kept})
    gone, then = w.chance.sample((target, other, name), 2)
    w.block.append({"type": "remove", "target": gone})
    marked(w, good, used(w, kept if good else then))


@corner
def _name_that_moved(w: Writer) -> None:
    good = w.maybe(0.4)
    name, new = unheard(w), unheard(w)
    target = made(w, 1, name=name)
    w.block.append({"type": "name", "target": alias(w, w.chance.choice((target, name))), "value": new})
    if good and w.maybe(0.5):
        made(w, 2, name=name)
        new = name
    marked(w, good, used(w, new if good else name))


@corner
def _place_beyond_the_end(w: Writer) -> None:
    good = w.maybe(0.4)
    make = w.chance.choice((made, listed))
    target = alias(w, make(w, w.chance.choice(([1, 2], ["a", "b"], [{"a": 1}, {"a": 2}]))))
    place = w.chance.choice((0, 1, -1, -2) if good else (2, 5, -3, -5))
    value: Any = f"{target}[{place}]"
    if w.maybe(0.4):
        value = w.chance.choice(("about ${" + value[1:] + "}", {"k": value}, [value]))
    marked(w, good, {"type": w.chance.choice(("create-note", "say", "think")), "value": value})


@corner
def _part_of_what_has_none(w: Writer) -> None:
    good = w.maybe(0.4)
    target = made(w, w.chance.choice(("abc", [1, 2]) if good else (7, 2.5, True, {"a": 1}, None)))
    marked(w, good, {"type": "load", "target": alias(w, target), "slice": w.chance.choice((":1", "1:", "-2:"))})


@corner
def _coercion_that_cannot_be(w: Writer) -> None:
    good = w.maybe(0.4)
    never = (("int", "abc"), ("int", "3.5"), ("float", "b"), ("bool", 2), ("bool", "maybe"), ("json", "{"))
    ever = (("int", "12"), ("int", 3.0), ("float", "3.5"), ("bool", "true"), ("bool", 1), ("json", '{"a": 1}'))
    word, value = w.chance.choice(ever if good else never)
    target = made(w, value)
    if isinstance(value, str) and w.maybe(0.3):
        target = made(w, "${" + target[1:] + "}")
    marked(w, good, {"type": "coerce", "target": alias(w, target), "coercion": word})


MANY = (
    "text where a resource is wanted", "comparison of types", "comparison in hits", "metadata of a collection",
    "items added in a loop", "place beyond the end", "part of what has none", "coercion that cannot be", "two binders",
    "saved plans in loops",
)  # fmt: skip
"""Corners that may be gone through several times: they give no name."""


def in_a_corner(w: Writer, name: str) -> None:
    """Write a corner, at the top or in a form that certainly runs it."""
    alone = name not in MANY
    around = w.chance.choice(
        ("", "", "", "if", "else", "parallel", "nested", *(("each", "handler") if not alone else ()))
    )
    with w.inside(w.names) as inner:
        CORNERS[name](w)
    yes = {"type": "equals", "target": 1, "value": 1}
    match around:
        case "":
            w.block += inner
        case "if":
            w.block.append({"type": "if", "condition": yes, "then": inner})
        case "else":
            w.block.append({"type": "if", "condition": {"type": "not", "of": yes}, "then": [], "else": inner})
        case "parallel":
            w.block.append({"type": "parallel", "branches": [inner, [{"type": "think", "value": "beside"}]]})
        case "nested":
            w.block.append({"type": "parallel", "branches": [[{"type": "parallel", "branches": [[], inner]}], []]})
        case "each":
            w.block.append({"type": "for-each", "target": listed(w, [1, 2][: w.chance.randint(1, 2)]), "do": inner})
        case "handler":
            refused = {"type": "odd/refuse", "arguments": {"why": "no"}}
            w.block.append({**refused, "on_fail": inner})


def marks(value: Any, pointer: str = "") -> Iterator[tuple[str, Step]]:
    """Every marked step of a document, and where it stands."""
    if isinstance(value, Mapping):
        if str(value.get("expect", "")).startswith((FAILS, WORKS)):
            yield pointer, dict(value)
        for key, inner in value.items():
            yield from marks(inner, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from marks(inner, f"{pointer}/{index}")


def misjudged_marks(document: Mapping[str, Any], told: Iterable[tuple[str, str]], ended: Iterable[Ended]) -> list[str]:
    """Say which marked steps the check judged otherwise than their writer did, by what was told and how they ended.

    `told` are severities and pointers. A step that can only fail has an error, or a warning where that is handled.
    """
    found, problems = [], [*told]
    errors = [f"{pointer}/" for severity, pointer in problems if severity == "error"]
    written_as = dict(marks(document))
    for pointer, step in written_as.items():
        if step["expect"] == WORKS and any(error.startswith(f"{pointer}/") for error in errors):
            found.append(f"{pointer} is right, and refused")
    fails = [pointer for pointer, step in written_as.items() if step["expect"] == FAILS]
    if errors and not any(error.startswith(f"{pointer}/") for error in errors for pointer in fails):
        found.append("it is refused for something else")
    for step, status, reason in ended:
        expected = step.get("expect")
        here = [pointer for pointer in fails if written_as[pointer] == step]
        if expected == WORKS and status != "success":
            found.append(f"{step} is right, accepted, and {status}: {reason}")
        if expected == FAILS and not any(place.startswith(at) for _, place in problems for at in here):
            found.append(f"{step} can only fail, is accepted, and ends as {status}: {reason}")
    return found


SAVED_NAMES = ("greet", "count", "open tasks", "report", "stopping", "about", "asking")


def to_be_saved(chance: random.Random) -> tuple[str, dict[str, Any], set[str]]:
    """A name, a plan to be saved under it that runs saved plans, at whatever depth, and the names of these."""
    name = chance.choice((*SAVED_NAMES, "another"))
    called = {chance.choice((*SAVED_NAMES, name, "report")) for _ in range(chance.randint(0, 2))}
    steps: list[Step] = [{"type": "create-collection", "value": [1], "out": "$c"}]
    for one in sorted(called):
        step: Step = {"type": f"plan:{one}"}
        forms: tuple[Step, ...] = (
            step,
            {"type": "map", "target": "$c", "operation": step},
            {"type": "map", "target": "$c", "operation": step["type"]},
            {"type": "for-each", "target": "$c", "do": [step]},
            {"type": "parallel", "branches": [[], [step]]},
            {"type": "if", "condition": {"type": "empty", "target": "$c"}, "then": [], "else": [step]},
            {"type": "while", "condition": {"type": "empty", "target": "$c"}, "body": [step]},
            {"type": "size", "target": "$c", "on_fail": [step]},
        )
        steps.append(chance.choice(forms))
    return name, {"steps": steps}, called


def runs_itself(name: str, called: set[str], saved: Mapping[str, Any]) -> bool:
    """Whether a plan comes to run itself by those that it calls."""
    ahead, seen = [*called], set[str]()
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead += re.findall(r"'plan:([^']*)'", str(saved.get(one, "")))
    return name in seen


UNWRITABLE: tuple[Any, ...] = ("\ud800", "a\udfffb", float("nan"), float("inf"), -float("inf"), 10**5_000, -(10**4_999))
"""What Python has, and JSON has not."""


def unwritable(document: dict[str, Any], chance: random.Random) -> None:
    """Put something that JSON cannot hold into a plan, at any place, and into nothing that it shares with others."""
    document.update(copy.deepcopy(document))
    holders = [document, *(holder for holder, _ in every_place(document) if isinstance(holder, (dict, list)))]
    holder, value = chance.choice(holders), chance.choice(UNWRITABLE)
    if isinstance(holder, dict):
        if isinstance(value, str) and chance.random() < 0.3:
            holder[value] = 1
        else:
            holder[chance.choice(sorted(map(str, holder)) or ["value"])] = value
    elif holder:
        holder[chance.randrange(len(holder))] = value
    else:
        holder.append(value)


def every_place(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in a document that holds others, with what holds it."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, (dict, list)):
            yield inner, value
            yield from every_place(inner)
