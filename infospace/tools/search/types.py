"""What tools take and give, by their schemas: which of them take what is at hand, or give what is wanted.

What is at hand is an object whose keys are arguments (`{"properties": {"path": {"type": "string"}}}`), or the value of
one argument. What is wanted stands at the top of a result or below keys of it; keys that it names have to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from infospace.core.errors import Invalid, InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.schema.compatibility import Compatibility, compatibility_of
from infospace.schema.normal_form import Alternative, NormalSchema, normal_form
from infospace.tools.answer_content import result_schema
from infospace.tools.search.tokenize import tokenize

DEEPEST = 4
"""Keys and items inside one another in which places are looked for."""
MOST_PLACES = 120
"""Places of one result."""
MIN_COMPATIBILITY = 0.5
"""Compatibility from which on a type fits."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in what a tool gives: how a plan reads it (`.results[0].id`, "" for all), and what stands there."""

    path: str
    names: tuple[str, ...]
    """The keys that lead to it."""
    schema: NormalSchema

    @property
    def name(self) -> str:
        """The last of the keys, "" for the whole."""
        return self.names[-1] if self.names else ""

    @property
    def in_list(self) -> bool:
        """Whether it is in an item of a list, of which there may be none, or many."""
        return "[0]" in self.path


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool by its schema."""

    name: str
    description: str
    schema: NormalSchema
    required: bool


@dataclass(frozen=True, slots=True)
class TypeQuery:
    """What tools are to take and to give, as JSON Schemas; None is whatever they do."""

    input: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None


ANY_TYPES = TypeQuery()


@dataclass(frozen=True, slots=True)
class InputFit:
    """How well a tool takes what is at hand: by which arguments of it, and which it needs besides.

    `score` is 1 where every value fits, and at least `MIN_COMPATIBILITY`; `reason` says why it is not more.
    """

    score: float
    reason: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutputFit:
    """How well a tool gives what is wanted, and where: the path of the place in its result, "" for all of it."""

    score: float
    reason: str
    place: str


@dataclass(frozen=True, slots=True)
class TypeFit:
    """How well a tool fits by type; None of what was not asked for."""

    input: InputFit | None = None
    output: OutputFit | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON: the score, the reason, and what fits, for what was asked for."""
        results: dict[str, JSON] = {}
        if self.input is not None:
            one = self.input
            arguments, needs = list[JSON](one.arguments), list[JSON](one.needs)
            results["input"] = {"score": one.score, "reason": one.reason, "arguments": arguments, "needs": needs}
        if self.output is not None:
            results["output"] = {"score": self.output.score, "reason": self.output.reason, "place": self.output.place}
        return results


JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def read_type(text: str, what: str) -> dict[str, Any]:
    """Return the JSON Schema that a text is: the name of a JSON type, or JSON. Raises Invalid for anything else."""
    from infospace.data.json_text import read_json
    from infospace.schema.validate import schema_errors

    if text in JSON_TYPES:
        return {"type": text}
    hint = f"{what} is a JSON Schema, or one of {', '.join(JSON_TYPES)}"
    try:
        schema = read_json(text, what=what)
    except InvalidJSON as error:
        raise Invalid(error.message, hint=hint) from error
    if not isinstance(schema, dict):
        raise Invalid(f"{what} is a JSON Schema, an object, or one of {', '.join(JSON_TYPES)}; not {text!r:.80}")
    for fault in schema_errors(schema):
        where = "".join(f"[{part!r}]" for part in fault.place)
        raise Invalid(f"{what}: {fault.message}{' at ' + where if where else ''}", hint=fault.hint)
    return schema


class _Read:
    """The types of one tool, read when they are first asked for."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        return sorted(_parameters(self.tool), key=lambda parameter: not parameter.required)

    @cached_property
    def places(self) -> Sequence[Place]:
        return list(_places(self.tool))


class ToolTypes:
    """The arguments and results of tools in normal form, read once each until a tool changes."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], _Read] = {}

    def parameters(self, tool: Tool) -> Sequence[Parameter]:
        """Return the arguments that a tool takes, those that it needs first."""
        return self._of(tool).parameters

    def places(self, tool: Tool) -> Sequence[Place]:
        """Return the places of what a tool gives, the whole first; the whole alone where nothing is known of it."""
        return self._of(tool).places

    def _of(self, tool: Tool) -> _Read:
        key = tool.kind, tool.full_name
        known = self._read.get(key)
        if known is not None and known.tool is not tool and _same_schemas(known.tool, tool):
            known.tool = tool
        if known is None or known.tool is not tool:
            known = self._read[key] = _Read(tool)
        return known


class TypeMatcher:
    """Says which tools fit by type, and how well."""

    def __init__(self, types: ToolTypes, query: TypeQuery) -> None:
        self._types = types
        self._input = None if query.input is None else normal_form(_as_searched(query.input, required=False))
        self._output = None if query.output is None else normal_form(_as_searched(query.output, required=True))

    def fit(self, tool: Tool) -> TypeFit | None:
        """Return how a tool fits, None where it does not, or nothing is known of what it takes or gives."""
        takes, gives = None, None
        if self._input is not None:
            takes = self._takes(tool, self._input)
            if takes is None:
                return None
        if self._output is not None:
            gives = self._gives(tool, self._output)
            if gives is None:
                return None
        return TypeFit(takes, gives)

    def _takes(self, tool: Tool, actual: NormalSchema) -> InputFit | None:
        if tool.kind == "server":
            return None
        parameters = self._types.parameters(tool)
        whole = _keyed(actual)
        if whole is not None:
            named = _by_names(parameters, whole)
            if named is not None:
                return named
        results = [
            (fit, parameter)
            for parameter in parameters
            if (fit := _fit_of_value(actual, parameter.schema)).score >= MIN_COMPATIBILITY
            and (whole is None or _names_all(parameter, actual))
        ]
        if not results:
            return None
        fit, best = max(results, key=lambda pair: (pair[0].score, pair[1].required))
        needs = tuple(parameter.name for parameter in parameters if parameter.required and parameter is not best)
        return InputFit(fit.score, fit.reason, (best.name,), needs)

    def _gives(self, tool: Tool, expected: NormalSchema) -> OutputFit | None:
        results = []
        for place in self._types.places(tool):
            if place.in_list or place.schema.is_any:
                continue
            fit = compatibility_of(place.schema, expected)
            if fit.score >= MIN_COMPATIBILITY and _declares(place.schema, expected, frozenset()):
                results.append((fit, place))
        if not results:
            return None
        fit, best = max(results, key=lambda pair: (pair[0].score, -len(pair[1].names)))
        return OutputFit(fit.score, fit.reason, best.path.removeprefix("."))


def callable_with(
    types: ToolTypes, tools: Iterable[Tool], values: Mapping[str, Any], name: str
) -> list[tuple[Tool, InputFit]]:
    """Return the tools that can be called with an object of arguments as it is, those first that are named alike.

    `name` is the name that somebody called. Names of arguments that are the same go before names that are alike.
    """
    matcher, keys, called = TypeMatcher(types, TypeQuery(values)), set(values.get("properties", ())), _words(name)
    results: list[tuple[tuple[int, int, str], Tool, InputFit]] = []
    for tool in tools:
        fit = matcher.fit(tool) if keys and tool.kind == "tool" and not tool.blocked else None
        if fit is None or fit.input is None or fit.input.needs or len(fit.input.arguments) != len(keys):
            continue
        words = len(called & set(tokenize(f"{tool.name} {tool.title}")))
        same = len(keys & set(fit.input.arguments))
        results.append(((-words, -same, tool.full_name), tool, fit.input))
    return [(tool, fit) for _, tool, fit in sorted(results, key=lambda one: one[0])]


def has_output_schema(tool: Tool) -> bool:
    """Whether a tool has a schema of its results, so that it can be found by them."""
    return tool.kind == "tool" and tool.output_schema is not None


def _same_schemas(one: Tool, other: Tool) -> bool:
    return one.input_schema == other.input_schema and one.output_schema == other.output_schema


def _keyed(schema: NormalSchema) -> Alternative | None:
    """The object that a schema describes by its keys, None where it may be anything else."""
    results = schema.alternatives if not schema.is_any else ()
    return results[0] if len(results) == 1 and results[0].type == "object" and results[0].names else None


def _fit_of_value(actual: NormalSchema, expected: NormalSchema) -> Compatibility:
    """How well a value fits; one of which nothing is said fits by its name alone."""
    return Compatibility(1.0, "nothing is said of its type") if actual.is_any else compatibility_of(actual, expected)


def _by_names(parameters: Sequence[Parameter], whole: Alternative) -> InputFit | None:
    """How a tool takes an object whose keys are arguments: each by its name, or by one that has all of its words."""
    left = {parameter.name: parameter for parameter in parameters}
    used: dict[str, Compatibility] = {}
    for name in sorted(whole.names, key=lambda name: name not in left):
        property_schema = whole.at_key(name)
        alike = [parameter for parameter in left.values() if parameter.name == name] or [
            parameter
            for parameter in left.values()
            if set(tokenize(name)) & set(tokenize(parameter.name)) == set(tokenize(name)) != set()
        ]
        results = [
            (fit, one)
            for one in alike
            if (fit := _fit_of_value(property_schema, one.schema)).score >= MIN_COMPATIBILITY
        ]
        if not results:
            return None
        fit, best = max(results, key=lambda pair: (pair[0].score, pair[1].required))
        used[best.name] = fit
        del left[best.name]
    worst = min(used.values(), key=lambda fit: fit.score)
    needs = tuple(one.name for one in left.values() if one.required)
    return InputFit(worst.score, worst.reason, tuple(used), needs)


@lru_cache(maxsize=20_000)
def _words(name: str) -> frozenset[str]:
    return frozenset(tokenize(name))


def _names_all(parameter: Parameter, actual: NormalSchema) -> bool:
    """Whether an argument says something of each key of the object that it is to be."""
    return not parameter.schema.is_any and _declares(parameter.schema, actual, frozenset())


def _declares(declared: NormalSchema, expected: NormalSchema, within: frozenset[Any]) -> bool:
    """Whether a schema says something of every key that another one names, at all depths."""
    if expected.is_any or expected.key in within:
        return True
    within |= {expected.key}
    for alternative in expected.alternatives:
        alike = [other for other in declared.alternatives if other.type == alternative.type]
        if alternative.type == "object":
            for name in alternative.names:
                if not any(
                    name in other.names and _declares(other.at_key(name), alternative.at_key(name), within)
                    for other in alike
                ):
                    return False
        elif alternative.type == "array" and alike and not alternative.at_place(0).is_any:
            place = alternative.at_place(0)
            if not any(_declares(other.at_place(0), place, within) for other in alike):
                return False
    return True


def _as_searched(schema: Any, *, required: bool) -> Any:
    """Return a schema as it is meant in a search: keys are those of an object, and where `required`, all are wanted."""
    if isinstance(schema, list):
        return [_as_searched(inner, required=required) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {
        key: {name: _as_searched(inner, required=required) for name, inner in value.items()}
        if key in _BY_NAME and isinstance(value, Mapping)
        else value
        if key in _AS_IT_IS
        else _as_searched(value, required=required)
        for key, value in schema.items()
    }
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        result.setdefault("type", "object")
        if required:
            result.setdefault("required", list(properties))
    return result


_AS_IT_IS = frozenset({"enum", "const", "required", "not", "default", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def _parameters(tool: Tool) -> Iterator[Parameter]:
    whole = next(
        (alternative for alternative in normal_form(tool.input_schema).alternatives if alternative.type == "object"),
        None,
    )
    if whole is None:
        return
    value = tool.input_schema.get("properties", {})
    for name in whole.names:
        about = value.get(name)
        description = about.get("description", "") if isinstance(about, dict) else ""
        yield Parameter(name, str(description), whole.at_key(name), name in whole.required)


def _places(tool: Tool) -> Iterator[Place]:
    if tool.kind != "tool":
        return
    yield from islice(_within(normal_form(result_schema(tool)), "", (), 0), MOST_PLACES)


def _within(schema: NormalSchema, path: str, names: tuple[str, ...], depth: int) -> Iterator[Place]:
    """The places of a schema, the outer before the inner."""
    yield Place(path, names, schema)
    if depth >= DEEPEST or schema.is_any:
        return
    for alternative in schema.alternatives:
        if alternative.type == "object":
            for name in alternative.names:
                if name.isidentifier():
                    yield from _within(alternative.at_key(name), f"{path}.{name}", (*names, name), depth + 1)
        elif alternative.type == "array":
            yield from _within(alternative.at_place(0), f"{path}[0]", names, depth + 1)
