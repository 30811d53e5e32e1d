"""The head of a plan in the words of other systems: what its steps, its goal and its result are called there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from planner.language.problems import Patch, join
from planner.parse.document import HEAD
from planner.repair.respelt import Respelt, Spelling
from planner.repair.step_keys import variable_in

_STEPS: Final = (
    "nodes",
    "tasks",
    "actions",
    "tool_calls",
    "calls",
    "workflow",
    "pipeline",
    "operations",
    "stages",
    "sequence",
    "program",
    "commands",
    "plan_steps",
    "instructions",
    "jobs",
    "do",
)
_GOAL: Final = ("description", "title", "name", "task", "objective", "summary", "intent", "purpose", "question")
_RESULT: Final = (
    "output",
    "return",
    "returns",
    "final",
    "answer",
    "final_output",
    "final_answer",
    "outputs",
    "response",
)
_INPUTS: Final = ("parameters", "params", "variables", "args", "arguments", "input", "inputs_schema")
_ENDS: Final = frozenset({"start", "end", "__start__", "__end__", "begin", "finish", "stop"})


def spell_plan(respelt: Respelt) -> str | None:
    """Read the head of a plan as it is meant; return the pointer of its steps, None where it has none."""
    document = respelt.document
    if not isinstance(document, dict):
        return None
    _inner_plan(respelt)
    _steps(respelt)
    for words, key, fits in (
        (_GOAL, "goal", lambda value: isinstance(value, str)),
        (_RESULT, "result", lambda value: variable_in(value) is not None and _is_whole(value)),
        (
            _INPUTS,
            "inputs",
            lambda value: isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()),
        ),
    ):
        _renamed(respelt, words, key, fits)
    document = respelt.document
    assert isinstance(document, dict)  # noqa: S101 - a patch of a key leaves it an object
    key = "plan" if "plan" in document and "steps" not in document else "steps"
    return f"/{key}" if isinstance(document.get(key), list) else None


def _is_whole(value: Any) -> bool:
    return not isinstance(value, str) or value.startswith("$") or " " not in value


def _inner_plan(respelt: Respelt) -> None:
    """A plan within one key, such as `{"plan": {"steps": [ … ]}}`, is the plan."""
    document: Any = respelt.document
    for key in ("plan", "workflow", "pipeline", "graph"):
        inner = document.get(key)
        if isinstance(inner, dict) and inner and "type" not in inner and not set(inner) & (set(document) - {key}):
            if not any(name in inner for name in ("steps", *_STEPS)):
                continue
            patch: Patch = [{"op": "move", "from": join("", key, name), "path": join("", name)} for name in inner]
            patch.append({"op": "remove", "path": join("", key)})
            message = f"a plan stands at the top, not in {key!r}"
            respelt.take(Spelling("unknown-key", join("", key), message, '{"steps": [ … ]}', patch))
            return


def _steps(respelt: Respelt) -> None:
    document: Any = respelt.document
    if "steps" in document or "plan" in document:
        return
    key = next((name for name in _STEPS if isinstance(document.get(name), list)), None)
    if key is None:
        return
    patch: Patch = [{"op": "move", "from": join("", key), "path": "/steps"}]
    edges = document.get("edges")
    if edges is not None:
        if not _follows(edges, document[key]):
            return
        patch.append({"op": "remove", "path": "/edges"})
    message = f"a plan has `steps`, not {key!r}, and they run in the order they stand in"
    respelt.take(Spelling("unknown-key", join("", key), message, "did you mean 'steps'?", patch))


def _follows(edges: Any, nodes: list[Any]) -> bool:
    """Whether edges say no more than that steps come one after another, as they stand."""
    names = [next((str(node[key]) for key in ("id", "name", "key", "node_id") if key in node), "") for node in nodes]
    places = {name: at for at, name in enumerate(names)}
    if not isinstance(edges, list):
        return False
    for edge in edges:
        if isinstance(edge, Mapping):
            ends = [edge.get(key) for key in ("source", "from", "start") if key in edge][:1]
            ends += [edge.get(key) for key in ("target", "to", "end") if key in edge][:1]
            if "condition" in edge or len(edge) > len(ends):
                return False
        else:
            ends = edge if isinstance(edge, list) else []
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            return False
        before, after = (places.get(str(end)) for end in ends)
        known = [
            place is not None or str(end).lower() in _ENDS for place, end in zip((before, after), ends, strict=True)
        ]
        if not all(known) or (before is not None and after is not None and before >= after):
            return False
    return True


def _renamed(respelt: Respelt, words: tuple[str, ...], key: str, fits: Any) -> None:
    document: Any = respelt.document
    if key in document:
        return
    for word in words:
        if word in document and word not in HEAD and fits(document[word]):
            place = join("", word)
            patch: Patch = [{"op": "move", "from": place, "path": join("", key)}]
            if key == "result" and (name := variable_in(document[word])) != document[word]:
                patch += [{"op": "replace", "path": "/result", "value": name}]
            message = f"a plan has no key {word!r}"
            respelt.take(Spelling("unknown-key", place, message, f"did you mean {key!r}?", patch))
            return
