"""Mistakes that are put into right plans of tool calls, one kind each: those that have one right mending, and guesses.

Of a guess nobody knows what was meant, so that every fix after which the plan passes has changed its meaning.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Plan: TypeAlias = "list[dict[str, Any]]"
Tools: TypeAlias = "Mapping[str, Mapping[str, Any]]"
Plant: TypeAlias = "Callable[[Plan, Tools, random.Random], Iterator[Plan]]"
MENDED: dict[str, Plant] = {}
GUESSES: dict[str, Plant] = {}


def mended(function: Plant) -> Plant:
    """Register a kind of mistake that has one right mending."""
    MENDED[function.__name__] = function
    return function


def guess(function: Plant) -> Plant:
    """Register a kind of mistake of which it is not plain what was meant."""
    GUESSES[function.__name__] = function
    return function


def planted(kind: str, plans: Mapping[str, Plan], tools: Tools, count: int) -> Iterator[tuple[str, Plan]]:
    """Iterate over at most so many wrong plans of a kind, one of a plan, with the names of the plans."""
    plant = {**MENDED, **GUESSES}[kind]
    chance = random.Random(kind)  # noqa: S311 - not for secrets
    found = 0
    for name in chance.sample(sorted(plans), len(plans)):
        offers = list(plant(plans[name], tools, chance))
        if offers and found < count:
            found += 1
            yield name, chance.choice(offers)


def tool_of(step: Mapping[str, Any], tools: Tools) -> Mapping[str, Any]:
    return tools[step["type"].partition("/")[2]]


def changed(plan: Plan, at: int, change: Callable[[dict[str, Any]], None]) -> Plan:
    plan = copy.deepcopy(plan)
    change(plan[at])
    return plan


def rebuilt(plan: Plan, at: int, **fields: Any) -> Plan:
    """The plan with a step's fields replaced; a field that is None is left out."""
    plan = copy.deepcopy(plan)
    plan[at] = {key: value for key, value in {**plan[at], **fields}.items() if value is not None}
    return plan


def typo(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return chance.choice((word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], swapped))


def schema_of(step: Mapping[str, Any], key: str, tools: Tools) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tool_of(step, tools)["inputSchema"]["properties"].get(key, {})
    return found


# What is plainly meant


@mended
def tool_misspelt(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        server, _, name = step["type"].partition("/")
        if len(name) > 6 and (wrong := typo(name, chance)) != name:
            yield rebuilt(plan, at, type=f"{server}/{wrong}")


@mended
def tool_in_another_case(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        server, _, name = step["type"].partition("/")
        words = name.split("_")
        camel = words[0] + "".join(word.capitalize() for word in words[1:])
        if len(words) > 1:
            yield rebuilt(plan, at, type=f"{server}/{chance.choice((camel, '-'.join(words), name.upper()))}")


@mended
def tool_without_its_server(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        name = step["type"].partition("/")[2]
        yield rebuilt(plan, at, type=chance.choice((name, f"functions.{name}", f"gold.{name}", f"mcp__gold__{name}")))


@mended
def argument_misspelt(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key in step["arguments"]:
            if len(key) > 4:
                wrong = typo(key, chance)
                if wrong != key and wrong not in step["arguments"]:
                    yield rebuilt(
                        plan, at, arguments={wrong if one == key else one: v for one, v in step["arguments"].items()}
                    )


@mended
def argument_in_another_case(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key in step["arguments"]:
            words = key.split("_")
            camel = words[0] + "".join(word.capitalize() for word in words[1:])
            if camel != key:
                yield rebuilt(
                    plan, at, arguments={camel if one == key else one: v for one, v in step["arguments"].items()}
                )


@mended
def out_without_dollar(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        if "out" in step:
            yield rebuilt(plan, at, out=step["out"][1:])


@mended
def variable_misspelt(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    names = {f"$r{number}": f"$answer_{number}" for number in range(1, 30)} | {
        f"$var{number}": f"$answer_{number}" for number in range(1, 30)
    }
    text = re.sub(r"\$(?:r|var)\d+", lambda found: names[found[0]], json.dumps(plan))
    again: Plan = json.loads(text)
    for at, step in enumerate(again):
        for key, value in step["arguments"].items():
            if isinstance(value, str) and value.startswith("$answer_"):
                wrong = value.replace("answer", chance.choice(("anwser", "answr", "Answer")), 1)
                yield changed(again, at, lambda one, key=key, wrong=wrong: one["arguments"].update({key: wrong}))  # type: ignore[misc]


@mended
def field_misspelt(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        name, _, path = value.partition(".")
        if len(path) > 5:
            wrong = f"{name}.{typo(path, chance)}"
            if wrong != value:
                yield set_argument(plan, at, key, wrong)


def reads(plan: Plan) -> Iterator[tuple[int, str, str]]:
    for at, step in enumerate(plan):
        for key, value in step["arguments"].items():
            if isinstance(value, str) and value.startswith("$"):
                yield at, key, value


def set_argument(plan: Plan, at: int, key: str, value: Any) -> Plan:
    return changed(plan, at, lambda step: step["arguments"].update({key: value}))


@mended
def arguments_flat(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        taken = {"type", "out", "id", "name", "replace", "retry", "expect", "on_fail", "timeout_s"}
        if step["arguments"] and not taken & step["arguments"].keys():
            plan_ = copy.deepcopy(plan)
            plan_[at] = {
                "type": step["type"],
                **step["arguments"],
                **{key: step[key] for key in ("out",) if key in step},
            }
            yield plan_


def _instead(key: str, *others: str) -> Plant:
    def plant(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
        for at, step in enumerate(plan):
            if key in step:
                other = chance.choice(others)
                plan_ = copy.deepcopy(plan)
                plan_[at] = {other if one == key else one: value for one, value in step.items()}
                yield plan_

    return plant


MENDED["args_for_arguments"] = _instead("arguments", "args", "params", "kwargs")
MENDED["parameters_for_arguments"] = _instead("arguments", "parameters")
MENDED["input_for_arguments"] = _instead("arguments", "input", "inputs")
MENDED["name_for_type"] = _instead("type", "name")
MENDED["function_for_type"] = _instead("type", "function")
MENDED["tool_for_type"] = _instead("type", "tool", "tool_name")
MENDED["action_for_type"] = _instead("type", "action")
MENDED["output_for_out"] = _instead("out", "output")
MENDED["as_for_out"] = _instead("out", "as")
MENDED["id_with_dollar_for_out"] = _instead("out", "id")


def _bare(key: str) -> Plant:
    def plant(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
        later = json.dumps([step["arguments"] for step in plan])
        for at, step in enumerate(plan):
            if "out" in step and re.search(rf"\{step['out']}\b", later):
                plan_ = copy.deepcopy(plan)
                plan_[at] = {key if one == "out" else one: value for one, value in step.items()}
                plan_[at][key] = step["out"][1:]
                yield plan_

    return plant


MENDED["id_read_later_for_out"] = _bare("id")
MENDED["output_without_dollar"] = _bare("output")
MENDED["save_as_for_out"] = _bare("save_as")


@mended
def description_beside(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, _step in enumerate(plan):
        key = chance.choice(("description", "thought", "comment", "reason"))
        yield rebuilt(plan, at, **{key: "Do what has to be done next."})


@mended
def depends_on_beside(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan[1:], start=1):
        if "out" in plan[at - 1]:
            earlier = plan[at - 1]["out"]
            what = chance.choice(([earlier[1:]], [earlier], [at], earlier[1:]))
            yield rebuilt(plan, at, depends_on=what) if step else plan


@mended
def arguments_as_text(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        yield rebuilt(plan, at, arguments=json.dumps(step["arguments"]))


@mended
def openai_call(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        given = step["arguments"]
        call = {"name": step["type"], "arguments": chance.choice((given, json.dumps(given)))}
        out = {"out": step["out"]} if "out" in step else {}
        plan_ = copy.deepcopy(plan)
        plan_[at] = {"type": "function", "function": call, **out}
        yield plan_


@mended
def anthropic_call(plan: Plan, _tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        out = {"id": step["out"][1:]} if "out" in step else {}
        plan_ = copy.deepcopy(plan)
        plan_[at] = {"type": "tool_use", **out, "name": step["type"], "input": step["arguments"]}
        if not out or re.search(rf"\{step['out']}\b", json.dumps([one["arguments"] for one in plan])):
            yield plan_


@mended
def whole_for_its_only_field(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        name, _, path = value.partition(".")
        made = next((step for step in plan[:at] if step.get("out") == name), None)
        if not path or "." in path or made is None:
            continue
        fields = tool_of(made, tools)["outputSchema"]["properties"]
        wanted = schema_of(plan[at], key, tools).get("type")
        fits = [one for one, inner in fields.items() if inner["type"] == wanted]
        if fits == [path] and wanted != "object":
            yield set_argument(plan, at, key, name)


@mended
def text_for_value(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        if schema_of(plan[at], key, tools).get("type") in ("integer", "number", "boolean", "array", "object"):
            yield set_argument(plan, at, key, f"${{{value[1:]}}}")


@mended
def result_in_between(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        name, _, path = value.partition(".")
        if path:
            yield set_argument(plan, at, key, f"{name}.{chance.choice(('result', 'output', 'data'))}.{path}")


@mended
def null_for_optional(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        schema = tool_of(step, tools)["inputSchema"]
        for key in schema["properties"]:
            if key not in schema["required"] and key not in step["arguments"]:
                yield set_argument(plan, at, key, None)


@mended
def number_as_text(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key, value in step["arguments"].items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                kind = schema_of(step, key, tools).get("type")
                if kind in ("integer", "number"):
                    yield set_argument(plan, at, key, json.dumps(value))


@mended
def one_for_a_list_of_it(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key, value in step["arguments"].items():
            if isinstance(value, list) and len(value) == 1 and schema_of(step, key, tools).get("type") == "array":
                yield set_argument(plan, at, key, value[0])


# Guesses

_OTHER = {
    "get": "delete",
    "create": "delete",
    "add": "remove",
    "search": "erase",
    "find": "drop",
    "send": "cancel",
    "update": "delete",
    "retrieve": "revoke",
    "generate": "destroy",
    "analyze": "purge",
    "fetch": "delete",
    "check": "clear",
    "book": "cancel",
    "calculate": "estimate",
    "schedule": "unschedule",
    "verify": "falsify",
    "implement": "revoke",
    "encrypt": "decrypt",
    "monitor": "ignore",
    "identify": "hide",
    "track": "untrack",
    "apply": "deny",
    "start": "stop",
    "enable": "disable",
    "activate": "deactivate",
    "locate": "relocate",
    "recommend": "discourage",
}


@guess
def another_verb(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        server, _, name = step["type"].partition("/")
        first, _, rest = name.partition("_")
        if first.lower() in _OTHER and rest:
            wrong = f"{_OTHER[first.lower()]}_{rest}"
            if wrong not in tools:
                yield rebuilt(plan, at, type=f"{server}/{wrong}")


@guess
def another_noun(plan: Plan, tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        server, _, name = step["type"].partition("/")
        first, _, rest = name.partition("_")
        wrong = f"{first}_{chance.choice(('invoice', 'passport', 'satellite', 'password', 'license'))}"
        if rest and wrong not in tools:
            yield rebuilt(plan, at, type=f"{server}/{wrong}")


@guess
def another_server(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        name = step["type"].partition("/")[2]
        yield rebuilt(plan, at, type=f"{chance.choice(('github', 'jira', 'bank'))}/{name}")


@guess
def an_argument_more(plan: Plan, tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        if tool_of(step, tools)["inputSchema"].get("additionalProperties") is False:
            key, value = chance.choice((("urgent", True), ("dry_run", True), ("retries", 3), ("notify", "ann@x.org")))
            if key not in step["arguments"]:
                yield set_argument(plan, at, key, value)


@guess
def a_variable_made_up(plan: Plan, _tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, key, _ in reads(plan):
        yield set_argument(plan, at, key, chance.choice(("$levels", "$budget", "$members.first", "$t.members")))


@guess
def a_computation(plan: Plan, tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        if "." in value and schema_of(plan[at], key, tools).get("type") == "string":
            forms = ("{} + 1", "{} * 2", "2 - {}", "len({})", "{} || 'x'", "upper({})")
            yield set_argument(plan, at, key, chance.choice(forms).format(value))


@guess
def a_decoration(plan: Plan, tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, key, value in reads(plan):
        if "." in value and schema_of(plan[at], key, tools).get("type") == "string":
            forms = ("{{{{{}}}}}", "{{{{ {} }}}}", "<{}>", "[{}]", "{}|trim", "`{}`", "%{}%")
            yield set_argument(plan, at, key, chance.choice(forms).format(value))


@guess
def an_enum_of_others(plan: Plan, tools: Tools, chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key in step["arguments"]:
            if "enum" in schema_of(step, key, tools):
                yield set_argument(plan, at, key, chance.choice(("highest", "business class", "none", "later")))


@guess
def an_argument_missing(plan: Plan, tools: Tools, _chance: random.Random) -> Iterator[Plan]:
    for at, step in enumerate(plan):
        for key in tool_of(step, tools)["inputSchema"]["required"]:
            if key in step["arguments"]:
                yield changed(plan, at, lambda one, key=key: one["arguments"].pop(key))  # type: ignore[misc]
