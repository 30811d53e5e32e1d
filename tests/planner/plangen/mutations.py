"""The kinds of mistakes that are put into correct plans."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from plangen.mutating import (
    BLOCKS,
    MUTATIONS,
    NAME,
    arguments,
    at,
    drop,
    entry_of,
    mutation,
    put,
    renamed,
    steps_of,
    typo,
)

from infospace.contract.arguments import ParseMode
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS

__all__ = ["MUTATIONS"]


@mutation
def misspelt_type(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if entry_of(step) or step["type"] in FORMS:
            yield put(pointer, "type", typo(step["type"], chance)), (f"{pointer}/type",)


@mutation
def hallucinated_tool(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if entry_of(step):
            yield put(pointer, "type", chance.choice(("web/search", "files/grep", "sql/run"))), (f"{pointer}/type",)


@mutation
def misspelt_argument(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        for name, _, _ in arguments(step):
            wrong = typo(name, chance)
            yield renamed(pointer, name, wrong), (f"{pointer}/{wrong}",)


@mutation
def missing_argument(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        required = [name for name, _, argument in arguments(step) if argument.required]
        required += [key for key in FORMS[step["type"]].required if key in step] if step["type"] in FORMS else []
        for name in required:
            yield drop(pointer, name), (pointer,)


@mutation
def invented_argument(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if entry_of(step):
            key = chance.choice(("temperature", "verbose", "collection_id", "options"))
            yield put(pointer, key, 1), (f"{pointer}/{key}",)


@mutation
def value_of_another_type(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        for name, written, argument in arguments(step):
            kinds = argument.schema.get("type")
            if argument.reading is ParseMode.VALUE and kinds in ("string", "integer", "number", "boolean"):
                yield put(pointer, name, {"wrong": written}), (f"{pointer}/{name}",)


@mutation
def nested_arguments(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        names = [name for name, _, _ in arguments(step)]

        def change(wrong: Any, pointer: str = pointer, names: list[str] = names) -> None:
            inner = at(wrong, pointer)
            inner["arguments"] = {name: inner.pop(name) for name in names}

        if names and "arguments" not in names:
            yield change, (f"{pointer}/arguments", pointer)


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("schema", "pattern", "out", "as", "collect", "type", "goal", "expect", "id"):
                yield from _texts(item, f"{pointer}/" + key.replace("~", "~0").replace("/", "~1"))


def references(plan: Any) -> Iterator[tuple[str, str, str]]:
    """Where a variable is read: pointer, text, name."""
    for pointer, step in steps_of(plan):
        own = {key: value for key, value in step.items() if key not in (*BLOCKS, "branches")}
        for place, text in _texts(own, pointer):
            plain = re.sub(r"\$\$(?=[A-Za-z_])", "", text.replace("${$}", ""))
            found = NAME.search(plain)
            if found and (text.startswith("$") or "${" in plain or place.endswith("/where")):
                yield place, text, found[1]


def _renamed(text: str, name: str, other: str) -> str:
    """Read another variable where a text reads one first; the same letters elsewhere in it stay."""
    return re.sub(rf"(\$\{{?){name}\b", rf"\g<1>{other}", text, count=1)


def _set_text(pointer: str, text: str) -> Callable[[Any], None]:
    holder, _, key = pointer.rpartition("/")

    def change(plan: Any) -> None:
        inner = at(plan, holder)
        inner[int(key) if isinstance(inner, list) else key] = text

    return change


@mutation
def misspelt_variable(plan: Any, _chance: random.Random) -> Any:
    for pointer, text, name in references(plan):
        yield _set_text(pointer, _renamed(text, name, f"{name}_{name[0]}" if len(name) < 3 else name[:-1])), (pointer,)


@mutation
def one_for_many(plan: Any, _chance: random.Random) -> Any:
    for pointer, text, name in references(plan):
        if len(name) > 1:
            yield _set_text(pointer, _renamed(text, name, name[:-1] if name.endswith("s") else f"{name}s")), (pointer,)


@mutation
def bare_variable_in_text(plan: Any, _chance: random.Random) -> Any:
    for pointer, text, name in references(plan):
        if text.startswith("$") and "{" not in text and pointer.endswith(("/value", "/query", "/prompt")):
            yield _set_text(pointer, f"about ${name}, please"), (pointer,)


@mutation
def binding_left_out(plan: Any, _chance: random.Random) -> Any:
    read: dict[str, list[str]] = {}
    for place, _, read_name in references(plan):
        read.setdefault(read_name, []).append(place)
    for pointer, step in steps_of(plan):
        name = str(step.get("out", ""))[1:]
        others = [other for place, other in steps_of(plan) if place != pointer and other.get("out") == step.get("out")]
        if name in read and not others and "inputs" not in plan:
            yield drop(pointer, "out"), (*read[name], pointer)


@mutation
def read_before_bound(plan: Any, _chance: random.Random) -> Any:
    steps = plan if isinstance(plan, list) else plan.get("steps", [])
    for index in range(len(steps) - 1):
        first, second = steps[index], steps[index + 1]
        name = str(first.get("out", ""))[1:]
        bound = [step for step in steps[:index] if step.get("out") == f"${name}"]
        if name and not bound and re.search(rf"\$\{{?{name}\b", str(second)) and "condition" not in str(second):
            prefix = "" if isinstance(plan, list) else "/steps"

            def change(wrong: Any, index: int = index) -> None:
                block = wrong if isinstance(wrong, list) else wrong["steps"]
                block[index], block[index + 1] = block[index + 1], block[index]

            places = [place for place, _, read in references({"steps": [second]}) if read == name]
            if places:
                yield change, tuple(f"{prefix}/{index}{place.removeprefix('/steps/0')}" for place in places)


@mutation
def bound_in_one_branch_only(plan: Any, _chance: random.Random) -> Any:
    steps = plan if isinstance(plan, list) else plan.get("steps", [])
    prefix = "" if isinstance(plan, list) else "/steps"
    for index, step in enumerate(steps):
        name = str(step.get("out", ""))[1:]
        earlier = [other for other in steps[:index] if other.get("out") == f"${name}"]
        later = [
            (place, text) for place, text, read in references(plan) if read == name and _after(place, prefix, index)
        ]
        if not name or earlier or not later or step["type"] in FORMS:
            continue

        def change(wrong: Any, index: int = index) -> None:
            block = wrong if isinstance(wrong, list) else wrong["steps"]
            condition = {"type": "equals", "target": 1, "value": 1}
            block[index] = {"type": "if", "condition": condition, "then": [block[index]]}

        yield change, (later[0][0],)


def _after(place: str, prefix: str, index: int) -> bool:
    part = place.removeprefix(prefix).split("/")[1]
    return part.isdigit() and int(part) > index


@mutation
def kind_that_does_not_fit(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        for name, written, argument in arguments(step):
            if argument.reading is ParseMode.RESOURCE and argument.kinds == {"Collection"} and isinstance(written, str):
                yield put(pointer, name, 3), (f"{pointer}/{name}",)


@mutation
def misspelt_name(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if "on_fail" in step:
            continue
        for name, written, argument in arguments(step):
            if argument.reading is ParseMode.RESOURCE and written in ("attention", "reading list", "open questions"):
                yield put(pointer, name, typo(written, chance)), (f"{pointer}/{name}",)


@mutation
def id_that_the_space_does_not_have(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        for name, written, argument in arguments(step):
            if argument.reading is ParseMode.RESOURCE and isinstance(written, str):
                kind = "Collection" if argument.kinds == {"Collection"} else "Note"
                yield put(pointer, name, f"{kind}_98765"), (f"{pointer}/{name}",)


@mutation
def name_that_is_taken(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        entry = entry_of(step)
        if entry and entry.out != "none" and entry.names is None and "replace" not in step:
            yield put(pointer, "name", "training"), (f"{pointer}/name",)


@mutation
def out_without_dollar(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if "out" in step:
            yield put(pointer, "out", step["out"][1:]), (f"{pointer}/out",)


@mutation
def out_left_out(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        entry = entry_of(step)
        if entry and entry.out == "required":
            yield drop(pointer, "out"), (pointer,)


@mutation
def field_that_is_not_there(plan: Any, _chance: random.Random) -> Any:
    found = {
        step.get("out") for _, step in steps_of(plan) if step["type"] in ("discover-notes", "discover-collections")
    }
    for pointer, step in steps_of(plan):
        if step.get("target") in found and step["type"] in ("pluck", "sort", "group"):
            key = "field" if step["type"] == "pluck" else "by"
            yield put(pointer, key, "metadata.scroe"), (f"{pointer}/{key}",)


@mutation
def broken_where(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if isinstance(step.get("where"), str):
            broken = chance.choice(
                (f"{step['where']} AND", f"({step['where']}", "year >> 3", "SELECT 1", {"n": {"$gt": 3}})
            )
            yield put(pointer, "where", broken), (f"{pointer}/where",)


@mutation
def broken_slice_path_or_aggregate(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if "slice" in step:
            yield put(pointer, "slice", "0-10"), (f"{pointer}/slice",)
        if isinstance(step.get("field"), str) and step["type"] == "pluck":
            yield put(pointer, "field", f"{step['field']}..x["), (f"{pointer}/field",)
        if step["type"] == "group":
            yield put(pointer, "aggregates", {"x": "median(n"}), (f"{pointer}/aggregates/x",)


def conditions(plan: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every condition that is an object, with its pointer."""
    for pointer, step in steps_of(plan):
        if isinstance(step.get("condition"), dict):
            yield from _inner(step["condition"], f"{pointer}/condition")


def _inner(condition: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(condition, str):
        return
    yield pointer, condition
    of = condition.get("of")
    if isinstance(of, list):
        for index, part in enumerate(of):
            yield from _inner(part, f"{pointer}/of/{index}")
    elif isinstance(of, dict):
        yield from _inner(of, f"{pointer}/of")


@mutation
def misspelt_condition(plan: Any, chance: random.Random) -> Any:
    for pointer, condition in conditions(plan):
        words = {"equals": "equal_to", "greater_than": "gt", "empty": "is_empty", "has_value": "hasvalue"}
        wrong = words.get(condition["type"]) or typo(condition["type"], chance)
        if wrong not in TESTS and wrong not in JOINS:
            yield put(pointer, "type", wrong), (f"{pointer}/type",)


@mutation
def condition_without_a_field(plan: Any, _chance: random.Random) -> Any:
    for pointer, condition in conditions(plan):
        for key in TESTS.get(condition["type"], ("of",)):
            if key in condition and key != "arguments":
                yield drop(pointer, key), (pointer,)


@mutation
def condition_as_text(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        read = NAME.search(str(step.get("condition", "")))
        if isinstance(step.get("condition"), dict) and read:
            written = chance.choice(
                (f"len(${read[1]}) > 0", f"not ${read[1]}", f"${read[1]} == 'x'", f"bound(${read[1]})")
            )
            yield put(pointer, "condition", written), (f"{pointer}/condition",)


@mutation
def unknown_key_of_the_plan(plan: Any, _chance: random.Random) -> Any:
    if isinstance(plan, dict):
        for key in ("description", "stepz", "output"):
            yield put("", key, []), (f"/{key}",)


@mutation
def wrong_common_field(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        key, value = chance.choice(
            (("on_fail", "skip"), ("retry", 3), ("timeout_s", -1), ("id", "1 st"), ("expect", 5), ("replace", True))
        )
        if key not in step and "name" not in step and not (key == "retry" and step["type"] in FORMS):
            yield put(pointer, key, value), (f"{pointer}/{key}",)


@mutation
def endless_loop(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if step["type"] == "while" and "tool_condition" not in str(step["condition"]):
            yield put(pointer, "body", [{"type": "think", "value": "again"}]), (f"{pointer}/condition",)


@mutation
def bound_in_two_branches(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if step["type"] == "parallel":
            first = step["branches"][0][0]["out"]
            yield put(f"{pointer}/branches/1/0", "out", first), (f"{pointer}/branches/1/0/out",)


@mutation
def outside_arguments_beside_the_step(plan: Any, _chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if ("/" in step["type"] or step["type"].startswith("plan:")) and step.get("arguments"):
            key = next(iter(step["arguments"]))

            def change(wrong: Any, pointer: str = pointer, key: str = key) -> None:
                inner = at(wrong, pointer)
                inner[key] = inner["arguments"].pop(key)

            yield change, (f"{pointer}/{key}",)


@mutation
def outside_arguments_that_do_not_fit(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        outside = "/" in step["type"] or step["type"].startswith("plan:")
        for key in step.get("arguments", {}) if outside else ():
            wrong = typo(key, chance)
            yield renamed(f"{pointer}/arguments", key, wrong), (f"{pointer}/arguments/{wrong}",)
            yield put(f"{pointer}/arguments", key, {"no": 1}), (f"{pointer}/arguments/{key}",)


@mutation
def unknown_saved_plan(plan: Any, chance: random.Random) -> Any:
    for pointer, step in steps_of(plan):
        if step["type"].startswith("plan:"):
            yield put(pointer, "type", f"plan:{typo(step['type'][5:], chance)}"), (f"{pointer}/type",)
