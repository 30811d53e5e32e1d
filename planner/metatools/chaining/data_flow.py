"""Which tool's result can be an argument of another one: by types, and by what both are called.

A result has places (`results[0].id`), and an argument takes what stands at one of them where the types fit *and* the
names say that it is the same thing: an `id` below `movies` for a `movie_id`, a `uri` of a track for the `uri` of an
item. Ids are never taken from another server: they mean nothing there. A whole text is taken for what a tool writes,
sends or reads aloud.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from infospace.core.tool import Tool
from infospace.schema.compatibility import compatibility_of
from infospace.schema.normal_form import NormalSchema, normal_form
from infospace.tools.answer_content import result_schema
from infospace.tools.search.tokenize import tokenize

MOST_EDGES = 8
"""Edges that lead away from one tool: the best."""
DEEPEST = 4
"""Keys and items inside one another in which places are looked for."""
MOST_PLACES = 120
"""Places of one result."""
LEAST = 0.5
"""Compatibility from which on a type fits."""
IDENTIFIERS: Final = frozenset({"id", "ids", "uri", "uuid", "key", "slug", "sha"})
CONTENTS: Final = frozenset({"content", "text", "message", "body", "data", "value"})
"""Names of arguments that take any text."""
_SAYS_NOTHING: Final = frozenset({"get", "list", "id", "item", "result", "the", "of", "a", "by", "tool", "detail"})


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


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool by its schema."""

    name: str
    description: str
    schema: NormalSchema
    required: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """A result that can be an argument: of which tool, which place, for which argument; how surely, and why."""

    source: Tool
    place: Place
    target: Tool
    parameter: str
    score: float
    reason: str

    def to_json(self) -> dict[str, str | float]:
        """Return it as JSON."""
        return {
            "from": self.source.full_name,
            "place": self.place.path,
            "to": self.target.full_name,
            "argument": self.parameter,
            "score": self.score,
            "reason": self.reason,
        }


def words(text: str) -> frozenset[str]:
    """Return the words of a name or a text, as search reads them."""
    return frozenset(tokenize(text))


@lru_cache(maxsize=20_000)
def _name_words(name: str, title: str) -> frozenset[str]:
    return words(f"{name} {title}") - _SAYS_NOTHING


def subject(tool: Tool) -> frozenset[str]:
    """Return the words that a tool's name has for what it deals with."""
    return _name_words(tool.name, tool.title)


class ToolTypes:
    """The arguments and results of tools in normal form, read once each."""

    def __init__(self) -> None:
        self._parameters: dict[tuple[str, bytes], Sequence[Parameter]] = {}
        self._places: dict[int, tuple[Tool, Sequence[Place]]] = {}

    def parameters(self, tool: Tool) -> Sequence[Parameter]:
        """Return the arguments that a tool takes, those that it needs first."""
        key = tool.full_name, tool.digest
        if key not in self._parameters:
            self._parameters[key] = sorted(_parameters(tool), key=lambda one: not one.required)
        return self._parameters[key]

    def places(self, tool: Tool) -> Sequence[Place]:
        """Return the places of what a tool gives, the whole first; the whole alone where nothing is known of it."""
        known = self._places.get(id(tool))
        if known is None or known[0] is not tool:
            known = self._places[id(tool)] = tool, list(_places(tool))
        return known[1]

    def flows(self, source: Tool, target: Tool) -> Iterator[Flow]:
        """Iterate over the arguments of a tool that another one's result can be, the best place for each."""
        if source is target:
            return
        for parameter in self.parameters(target):
            found = [flow for place in self.places(source) if (flow := _flow(source, place, target, parameter))]
            if found:
                yield max(found, key=lambda flow: (flow.score, -len(flow.place.names)))

    def graph(self, tools: Sequence[Tool]) -> list[Flow]:
        """Return the data flow between tools: at most `MOST_EDGES` from each, the best first."""
        found: list[Flow] = []
        for source in tools:
            every = [flow for target in tools for flow in self.flows(source, target) if flow.score >= LEAST]
            every.sort(key=lambda flow: (-flow.score, flow.target.full_name, flow.parameter))
            found += every[:MOST_EDGES]
        return found


def _parameters(tool: Tool) -> Iterator[Parameter]:
    whole = next((one for one in normal_form(tool.input_schema).alternatives if one.type == "object"), None)
    if whole is None:
        return
    told = tool.input_schema.get("properties", {})
    for name in whole.names:
        about = told.get(name)
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


def _flow(source: Tool, place: Place, target: Tool, parameter: Parameter) -> Flow | None:
    related, why = _related(source, place, target, parameter)
    if not related:
        return None
    fits = compatibility_of(place.schema, parameter.schema)
    whole_text = not place.path  # a plan writes a whole result as text, whatever it is
    if fits.score < LEAST and not whole_text:
        return None
    score = round(related * (0.6 if whole_text else fits.score), 4)
    return Flow(source, place, target, parameter.name, score, why)


def _related(source: Tool, place: Place, target: Tool, parameter: Parameter) -> tuple[float, str]:
    """How surely two names mean one thing, 0 where they do not; and in a sentence why."""
    wanted = tokenize(parameter.name)
    if not wanted:
        return 0.0, ""
    if not place.path:
        if parameter.required and wanted[-1] in CONTENTS:
            return 0.7, f"`{parameter.name}` of {target.full_name} takes any text"
        return 0.0, ""
    has = tokenize(place.name)
    if not has:
        return 0.0, ""
    if wanted[-1] in IDENTIFIERS:
        return _same_thing(source, place, target, parameter, wanted, has)
    if wanted == has and parameter.required and source.server == target.server:
        return 0.8, f"both are called `{parameter.name}`"
    return 0.0, ""


def _same_thing(
    source: Tool, place: Place, target: Tool, parameter: Parameter, wanted: Sequence[str], has: Sequence[str]
) -> tuple[float, str]:
    """Whether an identifier of a result is of the thing that an argument identifies."""
    if source.server != target.server or has[-1] != wanted[-1]:
        return 0.0, ""
    around = [word for name in place.names[:-1] for word in tokenize(name)]
    of = {*has[:-1], *around} - _SAYS_NOTHING
    thing = set(wanted[:-1]) or set(words(parameter.description) & subject(target))
    owner = of or set(subject(source))
    inner = around[-1] if around and around[-1] not in _SAYS_NOTHING else None
    if inner is not None and inner not in thing and not set(has[:-1]) & thing:
        return 0.0, ""
    if not thing & (owner | set(subject(source))):
        return 0.0, ""
    near = thing & of
    if of - {"result", "item"} and not near:
        return 0.0, ""
    named = ", ".join(sorted(thing))
    return (1.0 if near else 0.9), f"`{place.path.lstrip('.')}` of {source.full_name} is the {wanted[-1]} of: {named}"
