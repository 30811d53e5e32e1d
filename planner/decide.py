"""Whether a condition holds, while a plan runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from infospace.errors import Missing
from infospace.jsonvalue import JSON
from infospace.resources import Collection, Note, Relation, Resource, SearchResult
from infospace.view import Infospace
from planner.conditions import COMPARED, EXISTENCE, ON_ABSENT, compare, is_empty
from planner.patterns import compile_pattern
from planner.plan import All, AnyOf, Condition, Not, Test
from planner.references import Reference, read_text
from planner.resolve import Place, Resolver
from planner.scope import Unbound


class Judge:
    """Decides conditions in one scope. Raises Unbound where a condition other than (not)bound needs a value."""

    def __init__(self, view: Infospace, resolver: Resolver) -> None:
        self._view = view
        self._resolver = resolver

    def holds(self, condition: Condition) -> bool:
        """Whether a condition is true."""
        match condition:
            case All(of):
                return all(self.holds(part) for part in of)
            case AnyOf(of):
                return any(self.holds(part) for part in of)
            case Not(of):
                return not self.holds(of)
            case Test(type_, arguments):
                return self._test(type_, arguments)

    def _test(self, type_: str, arguments: Mapping[str, JSON]) -> bool:
        try:
            target = self._thing(arguments["target"])
        except Unbound:
            if type_ not in EXISTENCE:
                raise
            return type_ == "notbound"
        except Missing:
            return type_ in ON_ABSENT
        match type_:
            case "bound":
                return True
            case "notbound":
                return False
            case "has_value":
                return not self._empty(target)
            case "empty":
                return self._empty(target)
            case "matches_pattern":
                value = self._value(target)
                return isinstance(value, str) and compile_pattern(arguments["pattern"]).search(value) is not None
            case "validates":
                from planner.schemas import misfit

                return misfit(self._value(target), cast("Mapping[str, Any]", arguments["schema"])) is None
        assert type_ in COMPARED, type_  # noqa: S101 - the reader of conditions admits no other
        return self._compare(type_, target, arguments["value"])

    def _compare(self, type_: str, target: Resource | Place, raw: JSON) -> bool:
        try:
            value = self._thing(raw)
        except Missing:
            return type_ in ON_ABSENT
        members = type_ in ("contains", "not_contains") and isinstance(target, Collection)
        if members and isinstance(value, (Note, Collection, Relation)):
            items = self._view.items(cast("Collection", target))
            found = identity(value) in {identity(item) for item in items}
            return found == (type_ == "contains")
        return compare(type_, self._value(target), self._value(value))

    def _thing(self, raw: JSON) -> Resource | Place:
        read = read_text(raw) if isinstance(raw, str) else None
        if isinstance(read, Reference):
            return self._resolver.thing(read)
        return Place(self._resolver.value(raw))

    def _value(self, thing: Resource | Place) -> JSON:
        return thing.value if isinstance(thing, Place) else self._view.content(thing)

    def _empty(self, thing: Resource | Place) -> bool:
        if isinstance(thing, Collection):
            return not len(thing)
        return is_empty(self._value(thing))


def identity(resource: Resource) -> str:
    """Return what a resource is as a member: its id, of a search result its source's id."""
    if isinstance(resource, Note) and resource.evidence:
        return cast("SearchResult", resource.content)["metadata"]["source_id"]
    return resource.id
