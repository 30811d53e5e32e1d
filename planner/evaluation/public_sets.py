"""Public sets of goals and gold calls as they are published: NesTools and NESTFUL. Their tools get canned answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.schema.validate import validate
from planner.evaluation.suite import CannedAnswer, DeclaredTool, GoldCall, SuiteGoal

PublicSet: TypeAlias = Literal["nestools", "nestful"]

SERVER = "api"
_TYPES = {
    "str": "string",
    "string": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "list": "array",
    "array": "array",
    "dict": "object",
    "object": "object",
}
_REFERENCE = re.compile(r"\$(var\d+)(?:\.([^$]+))?\$")
_RESPONSE = re.compile(r"API_call_(\d+)")


def nestools_goals(lines: str) -> Iterator[SuiteGoal]:
    """Read NesTools, one task a line: `API_call_i` among the arguments is the i-th response of all calls before."""
    for line in filter(str.strip, lines.splitlines()):
        task = json.loads(line)
        responses: list[JSON] = []
        calls, answers = [], dict[str, list[CannedAnswer]]()
        apis = {api["api_name"]: api for api in task["api"]}
        for call in task["call"]:
            values = {name: _filled(value, responses) for name, value in call["parameters"].items()}
            types = apis[call["api_name"]]["responses"]
            result = {
                name: _made(name, spec.get("type", "str"), len(responses) + at)
                for at, (name, spec) in enumerate(types.items())
            }
            responses += list(result.values())[: len(call["responses"])]
            calls.append(GoldCall(f"{SERVER}/{call['api_name']}", values))
            answers.setdefault(call["api_name"], []).append(CannedAnswer(result, values))
        yield SuiteGoal(
            f"nestools-{task['test_id']}",
            task["task"],
            compare="none",
            tools=[_nestools_tool(api, answers.get(api["api_name"], [])) for api in task["api"]],
            calls=calls,
        )


def nestools_plan(line: Mapping[str, Any]) -> JSON:
    """Return the gold calls of a task as a plan: each call a step, each response a field of its answer."""
    apis = {api["api_name"]: api for api in line["api"]}
    places: list[str] = []
    steps: list[JSON] = []
    for number, call in enumerate(line["call"], 1):
        values = {name: _referred(value, places) for name, value in call["parameters"].items()}
        steps.append({"type": f"{SERVER}/{call['api_name']}", "arguments": values, "out": f"$r{number}"})
        names = list(apis[call["api_name"]]["responses"])[: len(call["responses"])]
        places += [f"$r{number}[{json.dumps(name)}]" for name in names]
    return {"steps": steps}


def nestful_goals(data: Sequence[Mapping[str, Any]], spec: Sequence[Mapping[str, Any]]) -> Iterator[SuiteGoal]:
    """Read NESTFUL: a list of tasks and the specification of their tools; `$var1.field$` is a field of an answer.

    Tasks that contradict the specification are left out: those of `nestful_contradiction`, and those whose gold calls
    have arguments that their tools do not take.
    """
    tools = {tool["name"]: tool for tool in spec}
    for number, task in enumerate(data):
        if nestful_contradiction(task, tools) is not None:
            continue
        results: dict[str, JSON] = {}
        calls, answers = [], dict[str, list[CannedAnswer]]()
        for call in task["output"]:
            if call["name"] == "var_result":
                continue
            values = {name: _looked_up(value, results) for name, value in call["arguments"].items()}
            outputs = tools[call["name"]].get("output_parameters") or {}
            result = {name: _made(name, one.get("type", "string"), number) for name, one in outputs.items()}
            results[call.get("label", "")] = result
            calls.append(GoldCall(f"{SERVER}/{call['name']}", values))
            answers.setdefault(call["name"], []).append(CannedAnswer(result, values))
        names = sorted({call.tool.partition("/")[2] for call in calls})
        declared = {f"{SERVER}/{name}": _nestful_tool(tools[name], answers[name]) for name in names}
        if any(validate(dict(call.arguments), declared[call.tool].input_schema) for call in calls):
            continue
        yield SuiteGoal(f"nestful-{number}", task["input"], compare="none", tools=list(declared.values()), calls=calls)


def nestful_contradiction(task: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Say why no plan can make the gold calls of a task; None where one can.

    They call a tool that the specification lacks, read an answer that no call before them gave, or a field that this
    has not, or compute with it within a text.
    """
    fields: dict[str, Mapping[str, Any]] = {}
    for call in task["output"]:
        if call["name"] == "var_result":
            continue
        if call["name"] not in tools:
            return f"there is no tool {call['name']!r}"
        for text in _texts(call["arguments"]):
            match = _REFERENCE.fullmatch(text)
            if match is None and _REFERENCE.search(text):
                return f"{text!r:.60} computes with an answer"
            if match is not None and match[1] not in fields:
                return f"{text!r:.60} reads an answer that is not there"
            if match is not None and match[2] and match[2] not in fields[match[1]]:
                return f"{text!r:.60} reads a field that is not there"
        fields[call.get("label", "")] = tools[call["name"]].get("output_parameters") or {}
    return None


def nestful_plan(task: Mapping[str, Any]) -> JSON:
    """Return the gold calls of a task that contradicts nothing as a plan: each call a step, named by its label."""
    steps: list[JSON] = []
    for number, call in enumerate(call for call in task["output"] if call["name"] != "var_result"):
        values = {name: _as_reference(value) for name, value in call["arguments"].items()}
        out = f"${call.get('label') or f'last{number}'}"
        steps.append({"type": f"{SERVER}/{call['name']}", "arguments": values, "out": out})
    return {"steps": steps}


def tasks_in(kind: PublicSet, text: str) -> int:
    """Return how many tasks a public set has, those that are left out among them."""
    return len(json.loads(text)) if kind == "nestful" else sum(1 for line in text.splitlines() if line.strip())


def read_public(kind: PublicSet, text: str, spec: str | None) -> list[SuiteGoal]:
    """Read a public set. Raises Invalid where it is none, or where NESTFUL comes without its specification."""
    if kind == "nestful" and spec is None:
        raise Invalid("NESTFUL has its tools in a file of their own", hint="--spec executable-spec.json")
    try:
        if kind == "nestools":
            return list(nestools_goals(text))
        return list(nestful_goals(json.loads(text), json.loads(spec or "[]")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid(f"this is not {kind} as it is published: {type(error).__name__}: {error}") from error


def _nestools_tool(api: Mapping[str, Any], answers: Sequence[CannedAnswer]) -> DeclaredTool:
    parameters = {name: _schema(one) for name, one in api["parameters"].items()}
    responses = {name: _schema(one) for name, one in api["responses"].items()}
    return DeclaredTool(
        f"{SERVER}/{api['api_name']}",
        api["api_description"],
        {"type": "object", "properties": parameters, "required": list(api.get("required", ()))},
        {"type": "object", "properties": responses},
        answers,
    )


def _nestful_tool(tool: Mapping[str, Any], answers: Sequence[CannedAnswer]) -> DeclaredTool:
    values = {
        **(tool.get("query_parameters") or {}),
        **(tool.get("path_parameters") or {}),
        **(tool.get("arguments") or {}),
    }
    outputs = {name: _schema(one) for name, one in (tool.get("output_parameters") or {}).items()}
    required = [name for name, one in values.items() if one.get("required")]
    properties = {name: _schema(one) for name, one in values.items()}
    return DeclaredTool(
        f"{SERVER}/{tool['name']}",
        tool.get("description", ""),
        {"type": "object", "properties": properties, "required": required},
        {"type": "object", "properties": outputs},
        answers,
    )


def _schema(one: Mapping[str, Any]) -> dict[str, Any]:
    type_ = _TYPES.get(str(one.get("type", "")).lower())
    return {**({"type": type_} if type_ else {}), "description": str(one.get("description", ""))}


def _made(name: str, type_: str, number: int) -> JSON:
    """A value of a response: another one for each, so that a wrong reference shows."""
    result: Mapping[str, JSON] = {
        "integer": 100 + number,
        "number": 100.5 + number,
        "boolean": number % 2 == 0,
        "array": [f"{name} {number}"],
        "object": {name: number},
    }
    return result.get(_TYPES.get(type_.lower(), "string"), f"{name} {number}")


def _filled(value: JSON, responses: Sequence[JSON]) -> JSON:
    if isinstance(value, list):
        return [_filled(item, responses) for item in value]
    match = _RESPONSE.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else responses[int(match[1])]


def _referred(value: JSON, places: Sequence[str]) -> JSON:
    if isinstance(value, list):
        return [_referred(item, places) for item in value]
    if not isinstance(value, str):
        return value
    match = _RESPONSE.fullmatch(value)
    return value.replace("$", "${$}") if match is None else places[int(match[1])]


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _as_reference(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {key: _as_reference(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_reference(item) for item in value]
    if not isinstance(value, str):
        return value
    match = _REFERENCE.fullmatch(value)
    if match is None:
        return value.replace("$", "${$}")
    return f"${match[1]}[{json.dumps(match[2])}]" if match[2] else f"${match[1]}"


def _looked_up(value: JSON, results: Mapping[str, JSON]) -> JSON:
    if isinstance(value, Mapping):
        return {key: _looked_up(inner, results) for key, inner in value.items()}
    if isinstance(value, list):
        return [_looked_up(item, results) for item in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    result = results.get(match[1])
    return result.get(match[2]) if match[2] and isinstance(result, Mapping) else result
