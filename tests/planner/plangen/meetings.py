"""Corners where guards, branches, loops, names, deletions and saved plans meet; each is a control form as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from plangen.corners import alias, corner, listed, made, marked, unheard, used
from plangen.writer import Step, Writer

Way: TypeAlias = "tuple[bool, frozenset[str]]"
"""One way in which a condition is decided: what it comes to, and the variables that are bound then."""
TRUE = {"type": "equals", "target": 1, "value": 1}
FALSE = {"type": "not_equals", "target": 1, "value": 1}
PLAIN = (
    TRUE,
    FALSE,
    *({"type": word, "target": 2, "value": 1} for word in ("greater_than", "less_than", "gte", "lte")),
    *({"type": word, "target": "ab", "value": "a"} for word in ("contains", "not_contains")),
    {"type": "matches_pattern", "target": "ab", "pattern": "^b"},
    {"type": "validates", "target": 2, "schema": {"type": "number"}},
    {"type": "tool_condition", "tool": "files/is_ready"},
)
"""Conditions that tell nothing of any variable."""


def ways(condition: Any, known: frozenset[str] = frozenset()) -> Iterator[Way]:
    """Every way in which a condition may be decided, part by part, where some variables are known to be bound."""
    match condition:
        case {"type": "not", "of": of}:
            yield from ((not outcome, told) for outcome, told in ways(of, known))
        case {"type": "and" | "or" as word, "of": [first, *rest]}:
            for outcome, told in ways(first, known):
                if rest and outcome == (word == "and"):
                    yield from ways({"type": word, "of": rest}, told)
                else:
                    yield outcome, told
        case {"type": "bound" | "notbound" as word, "target": str(name)}:
            yield word == "bound", known | {name}
            yield word != "bound", known
        case {"type": "equals", "target": str(name)} if name.startswith("$"):
            if name not in known:
                raise ReadUnbound(name)
            yield from ((outcome, known) for outcome in (True, False))
        case _:
            yield from ((outcome, known) for outcome in (True, False))


class ReadUnbound(Exception):
    """A condition reads what may not be bound."""


def tree(w: Writer, names: list[str], deep: int = 0) -> Any:
    """A condition on which variables are bound."""
    if deep < 3 and w.maybe(0.75 if deep < 1 else 0.4):
        word = w.chance.choice(("and", "or", "not"))
        of = [tree(w, names, deep + 1) for _ in range(1 if word == "not" else w.chance.choice((2, 2, 3)))]
        return {"type": word, "of": of[0] if word == "not" else of}
    name = w.chance.choice(names)
    return w.chance.choice(
        (
            {"type": "bound", "target": name},
            {"type": "notbound", "target": name},
            {"type": "equals", "target": name, "value": 1},
            w.chance.choice(PLAIN),
        )
    )


@corner
def _guards(w: Writer) -> None:
    """Variables that may be bound, a condition on them, and what may be read where it is so, and where it is not."""
    names = [f"${w.fresh()}" for _ in range(w.chance.choice((1, 2, 2, 3)))]
    for name in names:
        bind = {"type": "create-note", "value": 1, "out": name}
        w.block.append({"type": "if", "condition": w.chance.choice((TRUE, FALSE)), "then": [bind]})
    found: list[Way] = []
    while not found:
        condition = tree(w, names)
        try:
            found = list(ways(condition))
        except ReadUnbound:
            continue
    step: Step = {"type": "if", "condition": condition, "then": [], "else": []}
    branches = ("then", True), ("else", False)
    for branch, outcome in branches:
        safe = frozenset(names).intersection(*(told for come, told in found if come is outcome))
        with w.inside(w.names) as inner:
            for name in sorted(safe):
                marked(w, True, {"type": "say", "value": "${" + name[1:] + "}"})
        step[branch] = inner
    doubtful = [
        (branch, name)
        for branch, outcome in branches
        for name in names
        if any(come is outcome and name not in told for come, told in found)
    ]
    if doubtful and w.maybe(0.4):
        branch, name = w.chance.choice(doubtful)
        with w.inside(w.names) as inner:
            marked(w, False, {"type": "say", "value": "${" + name[1:] + "}"}, once=True)
        step[branch] = [*step[branch], *inner]
    w.block.append(step)


def in_branch(w: Writer, *steps: Step) -> list[Step]:
    """A branch, with a call before or after its steps now and then."""
    call = {"type": "files/read", "arguments": {"path": "a"}, "out": f"${w.fresh()}"}
    return [*([call] if w.maybe(0.3) else []), *steps, *([dict(call)] if w.maybe(0.1) else [])]


@corner
def _nested_parallel(w: Writer) -> None:
    """Branches of branches that write and call; what each gives is there afterwards."""
    every, name = listed(w, []), unheard(w)
    outs = [f"${w.fresh()}" for _ in range(4)]
    writes = [
        [
            {"type": "create-note", "value": out, "out": out, "name": f"{name} {index}"}
            for out in outs[index : index + 1]
        ]
        for index in range(2)
    ]
    for write in writes:
        write[0]["value"] = "text"
    writes.append([{"type": "files/read", "arguments": {"path": "b"}, "out": outs[2]}])
    write_out = {"type": "files/write", "arguments": {"path": "c", "text": "d"}, "out": outs[3], "on_fail": "continue"}
    writes.append([write_out, {"type": "create-note", "value": "after", "out": outs[3]}])
    for write, out in zip(writes, outs, strict=True):
        if w.maybe(0.5):
            write.append({"type": "add", "target": every, "value": out})
    first, second, third, fourth = (in_branch(w, *write) for write in writes)
    inner: Step = {"type": "parallel", "branches": [second, third]}
    if w.maybe(0.4):
        inner = {"type": "parallel", "branches": [[], [inner]]}
    branches = [first, [inner], fourth]
    if w.maybe(0.3):
        fall = {"type": "odd/refuse", "arguments": {"why": "no"}, "on_fail": "continue"}
        branches.insert(0, [fall])
    w.block.append({"type": "parallel", "branches": branches})
    for out in outs:
        marked(w, True, {"type": "say", "value": "${" + out[1:] + "}"})
    marked(w, True, {"type": "load", "target": f"{name} 0"})
    if w.maybe(0.2):
        marked(
            w, False, {"type": "create-note", "value": "again", "name": f"{name} 1", "out": f"${w.fresh()}"}, once=True
        )


@corner
def _two_binders(w: Writer) -> None:
    """One variable that calls bind side by side, with readers between and after."""
    name = f"${w.fresh()}"
    read = {"type": "files/read", "out": name}
    steps: list[Step] = []
    for path in "abc"[: w.chance.choice((2, 2, 3))]:
        steps.append({**read, "arguments": {"path": path}})
        if w.maybe(0.4):
            steps.append({"type": "create-note", "value": "read ${" + name[1:] + "}", "out": f"${w.fresh()}"})
    if w.maybe(0.4):
        refuse = {"type": "odd/refuse", "arguments": {"why": "no"}, "out": name}
        steps.insert(w.chance.randint(1, len(steps)), {**refuse, "on_fail": [{**read, "arguments": {"path": "d"}}]})
    if w.maybe(0.4):
        steps = [{"type": "parallel", "branches": [steps, [{"type": "think", "value": "beside"}]]}]
    w.block += steps
    marked(w, True, {"type": "split", "target": name})


@corner
def _deleted_in_a_branch(w: Writer) -> None:
    good, name = w.maybe(0.3), unheard(w)
    target = made(w, "v", name=name)
    other = alias(w, target)
    copy = made(w, "${" + target[1:] + "}")
    gone = {"type": "remove", "target": w.chance.choice((target, other, name))}
    w.block.append(
        w.chance.choice(
            (
                {"type": "parallel", "branches": [[gone], []]},
                {"type": "parallel", "branches": [[], [{"type": "parallel", "branches": [[gone], []]}]]},
                {"type": "if", "condition": w.chance.choice((TRUE, FALSE)), "then": [gone], "else": [dict(gone)]},
            )
        )
    )
    if good and w.maybe(0.5):
        marked(w, True, {"type": "create-note", "value": "anew", "name": name, "out": f"${w.fresh()}"})
        return
    marked(w, good, used(w, copy if good else w.chance.choice((target, other))))


@corner
def _named_in_a_branch(w: Writer) -> None:
    good, name = w.maybe(0.5), unheard(w)
    named = [{"type": "create-note", "value": "v", "name": name, "out": f"${w.fresh()}"} for _ in range(2)]
    with w.inside(w.names) as inner:
        marked(w, False, {"type": "load", "target": name})
    beside = [] if good else inner
    if good and w.maybe(0.5):
        w.block.append({"type": "if", "condition": TRUE, "then": named[:1], "else": named[1:]})
    else:
        w.block.append({"type": "parallel", "branches": [named[:1], beside]})
    if good:
        marked(w, True, used(w, name))


@corner
def _saved_plans_in_loops(w: Writer) -> None:
    good = w.maybe(0.6)
    texts, lists = listed(w, ["a", "b"]), listed(w, [listed(w, [1]), listed(w, [])])
    greet = {"type": "plan:greet", "arguments": {"who": "$item" if good else 7}}
    count = {"type": "plan:count", "arguments": {"things": "$item"}}
    target, call = (texts, greet) if w.maybe(0.5) else (lists if good else texts, count)
    if w.maybe(0.3):
        marked(w, good, {"type": "map", "target": target, "operation": call, "out": f"${w.fresh()}"})
        return
    out, made_of = f"${w.fresh()}", f"${w.fresh()}"
    with w.inside(w.names) as inner:
        marked(w, good, {**call, "out": out})
    if w.maybe(0.3):
        inner = [{"type": "parallel", "branches": [inner, [{"type": "think", "value": "beside"}]]}]
    w.block.append({"type": "for-each", "target": target, "do": inner, "collect": out, "out": made_of})
    if good:
        marked(w, True, {"type": "size", "target": made_of})


@corner
def _aliases(w: Writer) -> None:
    """One resource by several variables and its name: what is changed through one is seen through the others."""
    good, name = w.maybe(0.5), unheard(w)
    first = made(w, {"a": 1}, name=name)
    others = [first, alias(w, first), alias(w, name), name]
    value = {"b": 2} if w.maybe(0.5) else {"a": 1, "b": 2}
    merge = {} if "a" in value else {"merge": True}
    w.block.append({"type": "update-note", "target": w.chance.choice(others), "value": value, **merge})
    through = w.chance.choice(others[:2])
    marked(w, good, {"type": "create-note", "value": f"{through}.{'b' if good else 'c'}", "out": f"${w.fresh()}"})


IN_LOOPS = (_guards, _two_binders, _saved_plans_in_loops)
MEETINGS = (*IN_LOOPS, _nested_parallel, _deleted_in_a_branch, _named_in_a_branch, _aliases)
"""Those that stand in other plans too, where what becomes of them is compared and judged as of any step."""
