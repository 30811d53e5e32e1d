"""The planning profile: strict modes and decoding engines take it, and right plans within it pass their grammars."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Fail, Say
from llguidance import LLMatcher, LLTokenizer
from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

from infospace import Space, open_space
from infospace.core.tool import Tool
from infospace.schema.validate import validate
from planner import run_sync
from planner.evaluation.declared_tools import providers
from planner.evaluation.suite import SuiteGoal, read_suite
from planner.goals.profile import PlanningProfile, planning_profile
from planner.goals.prompt import planning_request
from planner.metatools.lookup import known_tools
from planner.parse.grammar import grammar

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import furnish_whole
from rightplans import RIGHT
from strict_rules import broken_rules

SUITE = read_suite((files("tui") / "sample" / "goals.jsonl").read_text(encoding="utf-8"))
PLANS: dict[str, Any] = json.loads((Path(__file__).parent / "reference_plans.json").read_text(encoding="utf-8"))
BYTES = LLTokenizer("byte")
READS = {"steps": [{"type": "compute", "expression": "1 + 1", "out": "$x"}], "result": "$x"}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with open_space(tmp_path_factory.mktemp("space") / "space.db") as space:
        furnish_whole(space)
        yield space


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlanningProfile]:
    """The profile that each goal of the suite is asked with; the vectors of primitives are made once for all."""
    with open_space(tmp_path_factory.mktemp("space") / "space.db") as first:
        return {goal.id: _profile_of(goal, first, tmp_path_factory.mktemp("goal") / "space.db") for goal in SUITE}


def _profile_of(goal: SuiteGoal, first: Space, path: Path) -> PlanningProfile:
    with open_space(path) as space:
        space.finder = first.finder
        for provider in providers(goal.tools, []):
            space.tools.add(provider)
        found = planning_request(space, goal.goal, goal.inputs).profile
        assert found is not None, goal.id
        return found


def in_order(plan: Any, schema: dict[str, Any]) -> Any:
    """Return a plan as a model writes it that is held to a profile: keys in its order, and those that it wants."""
    steps = [in_form(step, schema) for step in plan["steps"]]
    inputs = {"inputs": plan["inputs"]} if "inputs" in plan else {}
    last = next((step["out"] for step in steps[::-1] if "out" in step), "")
    return {**inputs, "steps": steps, "result": plan.get("result", last)}


def in_form(step: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    usual = {"if": {"else": []}, "for-each": {"as": "$item"}}
    step = {**usual.get(step["type"], {}), **step}
    step = {
        key: [in_form(inner, schema) for inner in value] if key in ("do", "then", "else") else value
        for key, value in step.items()
    }
    forms = [*schema["$defs"]["call"]["anyOf"], *schema["$defs"]["step"]["anyOf"][1:]]
    for form in forms:
        properties = form["properties"]
        if properties.keys() == step.keys() and properties["type"].get("const") == step["type"]:
            ordered = {key: step[key] for key in properties}
            if "arguments" in ordered and isinstance(ordered["arguments"], dict):
                names = properties["arguments"]["properties"]
                given = ordered["arguments"]
                if not given.keys() - names.keys():
                    ordered["arguments"] = {name: given.get(name) for name in names}
            return ordered
    return step


class Engines:
    """What two decoding engines make of a schema, a byte a token."""

    def __init__(self, schema: dict[str, Any], *, both: bool = False) -> None:
        text = json.dumps(schema)
        self.grammar = LLMatcher.grammar_from_json_schema(text)
        is_refused, warnings = LLMatcher.validate_grammar_with_warnings(self.grammar)
        assert not is_refused, warnings
        assert warnings == []
        self.index = None
        if both:
            vocabulary = Vocabulary(256, {bytes([byte]): [byte] for byte in range(256)})
            self.index = Index(build_regex_from_schema(text), vocabulary)

    def accept(self, text: str) -> bool:
        """Whether a model that is held to the schema can write this, and end there."""
        matcher = LLMatcher(BYTES, self.grammar, log_level=0)
        accepted: bool = matcher.consume_tokens(list(text.encode())) and matcher.is_accepting()
        if self.index is not None:
            assert self._outlines(text) == accepted, text
        return accepted

    def _outlines(self, text: str) -> bool:
        guide = Guide(self.index)
        for byte in text.encode():
            if byte not in guide.get_tokens():
                return False
            guide.advance(byte)
        return 256 in guide.get_tokens() or guide.is_finished()


def test_the_profile_of_each_goal_keeps_to_the_published_rules(asked: dict[str, PlanningProfile]) -> None:
    """Of both vendors; the grammar of all plans breaks most of them."""
    assert [(name, broken) for name, one in asked.items() if (broken := broken_rules(one.schema))] == []
    assert all(8 <= len(one.verbs) + len(one.tools) <= 15 for one in asked.values())


def test_the_grammar_of_all_plans_is_refused(space: Space) -> None:
    """So the rules, and the engines here, can refuse."""
    whole = grammar(space.catalogue)
    broken = broken_rules(whole)
    assert {"an object is open", "an object has optional keys", "it is recursive"} <= set(broken)
    assert LLMatcher.validate_grammar_with_warnings(LLMatcher.grammar_from_json_schema(json.dumps(whole)))[0]
    with pytest.raises(ValueError, match="Unsupported"):
        build_regex_from_schema(json.dumps(whole))


def test_right_plans_of_the_suite_are_accepted_by_the_engines(asked: dict[str, PlanningProfile]) -> None:
    """By the profile that their goal is asked with, as it was found by search; most stay within it."""
    within = 0
    for name, profile in asked.items():
        plan = in_order(PLANS[name], profile.schema)
        if not validate(plan, profile.schema):
            within += 1
            assert Engines(profile.schema).accept(json.dumps(plan, ensure_ascii=False)), name
    assert within >= 26


def test_right_plans_of_the_corpus_are_accepted_by_the_engines(furnished: Space) -> None:
    """By a profile of the verbs and tools that they have.

    The corpus is about the corners of the language, most of which no profile has.
    """
    tools = {tool.full_name: tool for tool in known_tools(furnished)}
    within = []
    for name, plan in RIGHT.items():
        document = plan if isinstance(plan, dict) else {"steps": plan}
        if not isinstance(document.get("steps"), list) or not all(isinstance(s, dict) for s in document["steps"]):
            continue
        text = json.dumps(document)
        verbs = [entry.type for entry in furnished.catalogue if f'"{entry.type}"' in text]
        used = [tool for full_name, tool in tools.items() if f'"{full_name}"' in text]
        profile = planning_profile(furnished.catalogue, verbs, used, list(document.get("inputs") or ()))
        if profile is None or not all("type" in step for step in document["steps"]):
            continue
        assert broken_rules(profile.schema) == [], name
        held = in_order(document, profile.schema)
        if not validate(held, profile.schema):
            within.append(name)
            assert Engines(profile.schema).accept(json.dumps(held, ensure_ascii=False)), name
    assert len(within) >= 22


@pytest.mark.parametrize(
    "wrong",
    [
        '{"result": "$x", "steps": []}',
        '{"steps": [], "result": "$x", "goal": "more"}',
        '{"steps": [], "result": "$x"',
        '{"steps": [], "result": 1}',
        '{"steps": [{"type": "qery", "sql": "SELECT 1", "out": "$x"}], "result": "$x"}',
        '{"steps": [{"type": "query", "sql": "SELECT 1"}], "result": "$x"}',
        '{"steps": [{"type": "query", "sql": ["SELECT 1"], "out": "$x"}], "result": "$x"}',
        '{"steps": [{"type": "query", "sql": "SELECT 1", "out": "$x", "limit": 3}], "result": "$x"}',
        '{"steps": [{"type": "files/delete", "arguments": {}, "out": "$x"}], "result": "$x"}',
        "Here is the plan: {}",
        "```json",
        "",
    ],
)
def test_wrong_json_is_refused_by_both_engines(engines: Engines, wrong: str) -> None:
    assert not engines.accept(wrong)


def test_both_engines_accept_what_is_right(engines: Engines) -> None:
    """Blocks and texts with quotes and signs of all scripts among it."""
    inner = {"type": "create-note", "value": 'a "b" ${n.x} 数 \\', "out": "$n"}
    branch = {"type": "if", "condition": "$n > 3", "then": [inner], "else": []}
    loop = {"type": "for-each", "target": "$x", "as": "$i", "do": [branch, inner], "out": "$all"}
    again = {"type": "while", "condition": "$n < 3", "body": [inner, {**loop, "do": [inner]}]}
    within = {**loop, "do": [{**loop, "do": [inner], "out": "$part"}, inner]}
    for steps in (
        [],
        READS["steps"],
        [inner, loop],
        [{**branch, "else": [branch]}],
        [within],
        [again],
        [again, within],
    ):
        assert engines.accept(json.dumps({"steps": steps, "result": "$x"}, ensure_ascii=False))


@pytest.fixture(scope="module")
def engines(furnished: Space) -> Engines:
    found = planning_profile(furnished.catalogue, [], [])
    assert found is not None
    return Engines(found.schema, both=True)


def test_a_next_step_may_be_a_stop(furnished: Space) -> None:
    """In the mode `steps` a document has steps alone."""
    found = planning_profile(furnished.catalogue, [], [], ["topic"], steps=True)
    assert found is not None
    assert broken_rules(found.schema) == []
    accepts = Engines(found.schema).accept
    assert accepts('{"steps": [{"type": "stop", "value": "$x"}]}')
    assert accepts('{"steps": [{"type": "stop", "status": "failed", "value": "no"}]}')
    assert accepts(json.dumps({"steps": READS["steps"]}))
    assert not accepts(json.dumps(READS))


ODD = {
    "type": "object",
    "properties": {
        "when": {"type": "string", "format": "date-time"},
        "who": {"$ref": "#/$defs/person"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "deep": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "object"}}}}},
        "count": {"type": "integer", "minimum": 1},
        "cursor": {"type": ["string", "null"]},
        "anything": {},
    },
    "required": ["when", "who"],
    "$defs": {
        "person": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/person"}, "age": {"type": "integer"}},
            "required": ["name", "boss"],
        }
    },
}


def test_tools_of_any_schema_are_said_within_the_rules(space: Space) -> None:
    """Schemas that lead in a circle, bounds, formats and hundreds of arguments among it."""
    many = {"type": "object", "properties": {f"a{n}": {"type": "integer"} for n in range(300)}}
    wide = {**many, "required": [f"a{n}" for n in range(300)]}
    tools = [Tool("s", "odd", input_schema=ODD), Tool("s", "many", input_schema=many), Tool("s", "bare")]
    found = planning_profile(space.catalogue, [], tools)
    assert found is not None
    assert found.tools == ("s/odd", "s/many", "s/bare")
    assert broken_rules(found.schema) == []
    Engines(found.schema)
    assert planning_profile(space.catalogue, [], [Tool("s", "wide", input_schema=wide)]) is None
    open_ = {"type": "object", "additionalProperties": {"type": "string"}}
    assert planning_profile(space.catalogue, [], [Tool("s", "open", input_schema=open_)]) is None


def test_a_profile_has_the_five_nearest_tools_and_walks_over_their_pages(space: Space) -> None:
    """A tool with a cursor, or a number of a page, has a second form."""
    page = {"type": "object", "properties": {"Cursor": {"type": "string"}, "of": {"type": "string"}}}
    tools = [Tool("s", f"t{number}", input_schema=page if number == 1 else {"type": "object"}) for number in range(7)]
    found = planning_profile(space.catalogue, [], tools)
    assert found is not None
    assert found.tools == ("s/t0", "s/t1", "s/t2", "s/t3", "s/t4")
    forms = [form["properties"] for form in found.schema["$defs"]["call"]["anyOf"]]
    pages = [form for form in forms if form["type"] == {"const": "pages"}]
    assert [(list(form), form["tool"]) for form in pages] == [
        (["type", "tool", "arguments", "items", "next", "out"], {"const": "s/t1"})
    ]


def test_arguments_that_are_null_for_want_of_a_value_are_taken_out(space: Space) -> None:
    """One that may be null by the tool's own schema stays, and so does what is no argument of a tool."""
    found = planning_profile(space.catalogue, [], [Tool("s", "odd", input_schema=ODD)])
    assert found is not None
    step = {"type": "s/odd", "arguments": {"when": None, "who": "$w", "tags": None, "count": 2, "cursor": None}}
    other = {"type": "create-note", "value": None, "out": "$n"}
    assert found.without_nulls({"steps": [step, other]}) == {
        "steps": [{**step, "arguments": {"when": None, "who": "$w", "count": 2, "cursor": None}}, other]
    }


def test_a_plan_is_asked_for_strictly_then_more_mildly_and_always_arrives(space: Space, endpoint: Endpoint) -> None:
    """An endpoint that refuses a schema is asked for JSON, and one that knows neither in words alone."""

    def refusing(*refused: str) -> list[str]:
        endpoint.requests.clear()
        endpoint.refuses = set(refused)
        endpoint.say(json.dumps(READS))
        step = {"type": "write-plan", "goal": f"one, {refused}", "model": f"m{len(refused)}", "out": "$plan"}
        result = run_sync(space, {"steps": [step]})
        assert result.status == "success"
        forms = [request.get("response_format", {}) for request in endpoint.requests]
        return [f"{one.get('type')} {one.get('json_schema', {}).get('strict', False)}" for one in forms]

    assert refusing() == ["json_schema True"]
    assert broken_rules(endpoint.requests[0]["response_format"]["json_schema"]["schema"]) == []
    assert refusing("json_schema") == ["json_schema True", "json_schema False", "json_object False"]
    assert refusing("json_schema", "json_object")[-1] == "None False"


def test_a_strict_schema_that_is_refused_leaves_other_schemas_alone(space: Space, endpoint: Endpoint) -> None:
    """An endpoint that takes schemas, but no strict ones, is asked with schemas from then on."""
    endpoint.answers = lambda request: (
        Fail(400, "strict is not known")
        if request.get("response_format", {}).get("json_schema", {}).get("strict")
        else Say(json.dumps(READS if "Goal:" in request["messages"][-1]["content"] else {"value": True}))
    )
    for _ in range(2):
        assert run_sync(space, {"steps": [{"type": "write-plan", "goal": "one", "out": "$p"}]}).status == "success"
    judged = {"steps": [{"type": "assess", "target": "$n", "predicate": "it is", "out": "$x"}]}
    run_sync(space, {"steps": [{"type": "create-note", "value": "x", "out": "$n"}, *judged["steps"]]})
    forms = [request["response_format"]["json_schema"].get("strict") for request in endpoint.requests]
    assert forms == [True, None, None, None]


def test_the_last_repair_has_the_whole_language(space: Space, endpoint: Endpoint) -> None:
    wrong = json.dumps({"steps": [{"type": "sort", "target": "$nothing", "by": "a", "out": "$x"}], "result": "$x"})
    said = {"steps": [{"type": "create-note", "value": {"a": [1, {"b": None}]}, "out": "$n"}], "result": "$n"}
    endpoint.say(wrong, json.dumps(said))
    step = {"type": "write-plan", "goal": "an odd note", "max_repairs": 1, "out": "$p"}
    result = run_sync(space, {"steps": [step]})
    assert result.result is not None
    assert result.result.data["steps"] == said["steps"]
    assert [request["response_format"]["type"] for request in endpoint.requests] == ["json_schema", "json_object"]


def test_a_tool_that_cannot_be_said_strictly_can_be_called_all_the_same(space: Space, endpoint: Endpoint) -> None:
    """Where the tool nearest to the goal takes what nobody can name beforehand, JSON is asked for without a schema."""
    suite = {
        "id": "a",
        "goal": "post it",
        "answer": {"ok": True},
        "tools": [
            {
                "name": "web/post",
                "description": "Post fields.",
                "input_schema": {"type": "object", "additionalProperties": True},
                "answers": [{"result": {"ok": True}}],
            }
        ],
    }
    (goal,) = read_suite(json.dumps(suite))
    for provider in providers(goal.tools, []):
        space.tools.add(provider)
    endpoint.say(json.dumps({"steps": [{"type": "web/post", "arguments": {"any": 1}, "out": "$x"}], "result": "$x"}))
    assert run_sync(space, {"steps": [{"type": "write-plan", "goal": "post it", "out": "$p"}]}).status == "success"
    assert endpoint.requests[0]["response_format"] == {"type": "json_object"}


def test_the_other_protocol_is_asked_with_its_own_key(
    space: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`output_config`, a forced tool where that is refused, and words alone at last."""
    monkeypatch.setenv("INFOSPACE_LLM_API", "anthropic")
    monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.removesuffix("/v1"))
    endpoint.answers = lambda request: (
        Fail(400, "output_config: the compiled grammar is too large")
        if "output_config" in request
        else json.dumps(READS)
    )
    result = run_sync(space, {"steps": [{"type": "write-plan", "goal": "one", "out": "$p"}]})
    assert result.status == "success", result.reason
    first, second = endpoint.requests
    assert broken_rules(first["output_config"]["format"]["schema"]) == []
    assert second["tool_choice"] == {"type": "tool", "name": "answer"}
