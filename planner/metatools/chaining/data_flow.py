"""Which tool's result can be an argument of another one: by types, and by what both are called.

A result has places (`results[0].id`), and an argument takes what stands at one of them where the types fit *and* the
names say that it is the same thing: an `id` below `movies` for a `movie_id`, a `uri` of a track for the `uri` of an
item. Ids are never taken from another server: they mean nothing there. A whole text is taken for what a tool writes,
sends or reads aloud.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from infospace.core.tool import Tool
from infospace.schema.compatibility import Compatibility, compatibility_of
from infospace.schema.normal_form import NormalSchema
from infospace.tools.search.tokenize import tokenize
from infospace.tools.search.types import MIN_COMPATIBILITY, Parameter, Place, ToolTypes

MOST_EDGES = 8
"""Edges that lead away from one tool: the best."""
IDENTIFIERS: Final = frozenset({"id", "ids", "uri", "uuid", "key", "slug", "sha"})
CONTENTS: Final = frozenset({"content", "text", "message", "body", "data", "value"})
"""Names of arguments that take any text."""
_SAYS_NOTHING: Final = frozenset({"get", "list", "id", "item", "result", "the", "of", "a", "by", "tool", "detail"})


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


def flows_between(types: ToolTypes, source: Tool, target: Tool) -> Iterator[Flow]:
    """Iterate over the arguments of a tool that another one's result can be, the best place for each."""
    if source is target:
        return
    for parameter in types.parameters(target):
        flows = [flow for place in types.places(source) if (flow := _flow(source, place, target, parameter))]
        if flows:
            yield max(flows, key=_rank)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The tools around one: what can give what it takes, and what can take what it gives; the surest first."""

    before: Sequence[Flow]
    after: Sequence[Flow]


def data_flow(types: ToolTypes, tools: Sequence[Tool]) -> list[Flow]:
    """Return the data flow between tools: at most `MOST_EDGES` from each, the surest first."""
    takers = _Takers(types, tools)
    return [flow for source in tools for flow in takers.flows_from(source)]


def neighbours(types: ToolTypes, tools: Sequence[Tool], tool: Tool) -> Neighbours:
    """Return the tools around one of them, at most `MOST_EDGES` on each side."""
    into = _Takers(types, [tool])
    near = [one for one in tools if one.server == tool.server and one.full_name != tool.full_name]
    before = [flow for source in near for flow in into.flows_from(source)]
    return Neighbours(_best(before), _Takers(types, near).flows_from(tool))


def _best(flows: Iterable[Flow]) -> list[Flow]:
    """The surest flows, those of equal sureness by name."""
    order = sorted(flows, key=lambda flow: (-flow.score, flow.source.full_name, flow.target.full_name, flow.parameter))
    return order[:MOST_EDGES]


class _Group:
    """Arguments that are one thing to every result: of one name and one form, of tools of one server, by their names.

    So what fits one of them fits all, as surely and for the same reason, and the first `MOST_EDGES` that are not the
    source's own are enough: of thousands alike, no others are looked at.
    """

    def __init__(self) -> None:
        self.members: list[tuple[Tool, Parameter]] = []

    def nearest(self, source: Tool) -> Iterator[tuple[Tool, Parameter]]:
        """Iterate over those that may have an edge from a tool."""
        others = (member for member in self.members if member[0].full_name != source.full_name)
        return islice(others, MOST_EDGES)


class _Takers:
    """The arguments of tools in groups, by their server and by what an edge to them needs.

    That is, as `_related` says: an identifier of a thing is taken where the result, or the tool that gives it, has a
    word of that thing; anything else where it is called the same. What is not found by these has no edge.
    """

    def __init__(self, types: ToolTypes, tools: Iterable[Tool]) -> None:
        self._types = types
        # The schemas are kept with what was found, so that the ids in their forms stay theirs.
        self._fits: dict[tuple[object, object], tuple[NormalSchema, NormalSchema, Compatibility]] = {}
        self._found: defaultdict[tuple[str, ...], list[_Group]] = defaultdict(list)
        groups: dict[tuple[object, ...], _Group] = {}
        for tool in sorted(tools, key=lambda tool: tool.full_name):
            for parameter in types.parameters(tool):
                expected = tokenize(parameter.name)
                identifies = bool(expected) and expected[-1] in IDENTIFIERS
                if not expected or not (identifies or parameter.required):
                    continue
                of = frozenset(_subject_words(expected, parameter, tool)) if identifies else frozenset[str]()
                key = tool.server, parameter.name, parameter.required, of, parameter.schema.form
                if key not in groups:
                    groups[key] = _Group()
                    places = [(expected[-1], "of", word) for word in of] if identifies else [tuple(expected)]
                    for place in places:
                        self._found[tool.server, *place].append(groups[key])
                groups[key].members.append((tool, parameter))

    def flows_from(self, source: Tool) -> list[Flow]:
        """Return the surest flows from a tool, `MOST_EDGES` at most, for each argument from its best place."""
        best: dict[tuple[str, str], Flow] = {}
        for related, place, target, parameter in self._candidates(source):
            key = target.full_name, parameter.name
            if len(best) >= MOST_EDGES and not _may_enter(best.values(), related, key):
                break  # whatever follows is less sure, or as sure and later by name
            flow = _flow(source, place, target, parameter, self._compatibility)
            if (
                flow is not None
                and flow.score >= MIN_COMPATIBILITY
                and (key not in best or _rank(flow) > _rank(best[key]))
            ):
                best[key] = flow
        return _best(best.values())

    def _compatibility(self, actual: NormalSchema, expected: NormalSchema) -> Compatibility:
        """Say it once of schemas that are alike: of thousands of tools most are."""
        forms = actual.form, expected.form
        if forms not in self._fits:
            self._fits[forms] = actual, expected, compatibility_of(actual, expected)
        return self._fits[forms][2]

    def _candidates(self, source: Tool) -> list[tuple[float, Place, Tool, Parameter]]:
        """Places and arguments that mean one thing, by how surely they do; no flow is surer than that."""
        results = []
        for place in self._types.places(source):
            has = tokenize(place.name)
            if not has:
                continue
            keys: list[tuple[str, ...]] = [(source.server, *has)]
            keys += [(source.server, has[-1], "of", word) for word in _around(place, has) | subject(source)]
            for group in {id(group): group for key in keys for group in self._found.get(key, ())}.values():
                related = _related(source, place, *group.members[0])[0]
                if related >= MIN_COMPATIBILITY:
                    results += [(related, place, *member) for member in group.nearest(source)]
        return sorted(results, key=lambda one: (-one[0], one[2].full_name, one[3].name, len(one[1].names)))


def _may_enter(best: Iterable[Flow], related: float, key: tuple[str, str]) -> bool:
    """Whether a flow that is at most so sure may be among the surest."""
    top = sorted((-flow.score, flow.target.full_name, flow.parameter) for flow in best)[:MOST_EDGES]
    return (-related, *key) <= top[-1]


def _rank(flow: Flow) -> tuple[float, int]:
    return flow.score, -len(flow.place.names)


def _flow(
    source: Tool,
    place: Place,
    target: Tool,
    parameter: Parameter,
    compatible: Callable[[NormalSchema, NormalSchema], Compatibility] = compatibility_of,
) -> Flow | None:
    related, why = _related(source, place, target, parameter)
    if not related:
        return None
    fits = compatible(place.schema, parameter.schema)
    whole_text = not place.path  # a plan writes a whole result as text, whatever it is
    if fits.score < MIN_COMPATIBILITY and not whole_text:
        return None
    score = round(related * (0.6 if whole_text else fits.score), 4)
    return Flow(source, place, target, parameter.name, score, why)


def _related(source: Tool, place: Place, target: Tool, parameter: Parameter) -> tuple[float, str]:
    """How surely two names mean one thing, 0 where they do not; and in a sentence why."""
    expected = tokenize(parameter.name)
    if not expected:
        return 0.0, ""
    if not place.path:
        if parameter.required and expected[-1] in CONTENTS:
            return 0.7, f"`{parameter.name}` of {target.full_name} takes any text"
        return 0.0, ""
    has = tokenize(place.name)
    if not has:
        return 0.0, ""
    if expected[-1] in IDENTIFIERS:
        return _same_subject(source, place, target, parameter, expected, has)
    if expected == has and parameter.required and source.server == target.server:
        return 0.8, f"both are called `{parameter.name}`"
    return 0.0, ""


def _same_subject(
    source: Tool, place: Place, target: Tool, parameter: Parameter, expected: Sequence[str], has: Sequence[str]
) -> tuple[float, str]:
    """Whether an identifier of a result is of the thing that an argument identifies."""
    if source.server != target.server or has[-1] != expected[-1]:
        return 0.0, ""
    around = [word for name in place.names[:-1] for word in tokenize(name)]
    of, thing = _around(place, has), _subject_words(expected, parameter, target)
    owner = of or set(subject(source))
    inner = around[-1] if around and around[-1] not in _SAYS_NOTHING else None
    if inner is not None and inner not in thing and not set(has[:-1]) & thing:
        return 0.0, ""
    if not thing & (owner | set(subject(source))):
        return 0.0, ""
    near = thing & of
    if of - {"result", "item"} and not near:
        return 0.0, ""
    label = ", ".join(sorted(thing))
    return (1.0 if near else 0.9), f"`{place.path.lstrip('.')}` of {source.full_name} is the {expected[-1]} of: {label}"


def _around(place: Place, has: Sequence[str]) -> set[str]:
    """The words of the keys around an identifier, and of its own name, that say of what it is."""
    return {*has[:-1], *(word for name in place.names[:-1] for word in tokenize(name))} - _SAYS_NOTHING


def _subject_words(expected: Sequence[str], parameter: Parameter, target: Tool) -> set[str]:
    """The words for what an argument identifies."""
    return set(expected[:-1]) or set(words(parameter.description) & subject(target))
