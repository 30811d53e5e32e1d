"""The normal form of a schema: alternatives of one JSON type each, with references, `allOf` and the rest resolved.

`$ref`, `$dynamicRef`, `$anchor` and `$id` are followed within the document; `allOf` is multiplied out over `anyOf` and
`oneOf`; `enum` and `const` become values, or objects and lists of values; `nullable` adds null. Parts are read when
they are first asked for, so a schema may refer to itself. What has no normal form (`not`, `if`, `contains`, …) stays
with an alternative as a `restriction`: the alternative then admits what it says, or less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final, TypeAlias

from infospace.core.regex import compile_pattern
from infospace.data.json_text import dump, same

ALTERNATIVES = 64
"""Alternatives that are multiplied out; a schema with more may admit anything."""
EVERY: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
Restriction: TypeAlias = "tuple[str, str, bool]"
"""A keyword without a normal form, its value as JSON, and whether that says all: it refers to nothing."""

_RESTRICT: Final[Mapping[str, tuple[str, ...]]] = {
    "not": EVERY,
    "if": EVERY,
    "contains": ("array",),
    "unevaluatedItems": ("array",),
    "propertyNames": ("object",),
    "dependentRequired": ("object",),
    "dependentSchemas": ("object",),
    "unevaluatedProperties": ("object",),
}
"""Keywords that have no normal form, by the types on whose values they bear."""
_BESIDE: Final = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
_LARGE: Final[Restriction] = ("anyOf", "more alternatives than are looked at", False)
_CIRCLE: Final[Restriction] = ("$ref", "refers to itself", False)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a schema, and what follows its references."""

    schema: Any
    resolver: Any

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from another part: where it stands, and what `$dynamicRef` in it would find."""
        scope = tuple(dict.fromkeys(uri for uri, _ in self.resolver.dynamic_scope()))
        return id(self.schema), self.resolver._base_uri, scope  # noqa: SLF001 - the library tells it nowhere else


@dataclass(frozen=True, slots=True)
class Alternative:
    """Values of one type. `values` are all that they may be, where that is told: no objects and no lists.

    `whole` says that numbers are whole ones. Everything in `facets` holds, keyword by keyword.
    """

    type: str
    whole: bool
    values: tuple[Any, ...] | None
    facets: tuple[_Part, ...]
    restrictions: frozenset[Restriction]

    def all(self, keyword: str) -> list[Any]:
        """Return what its facets say by one keyword."""
        return [part.schema[keyword] for part in self.facets if keyword in part.schema]

    def least(self, keyword: str) -> Any:
        """Return the greatest of lower bounds, None for none."""
        return max(self.all(keyword), default=None)

    def most(self, keyword: str) -> Any:
        """Return the least of upper bounds, None for none."""
        return min(self.all(keyword), default=None)

    @property
    def required(self) -> frozenset[str]:
        """The keys that an object of it always has."""
        return frozenset(key for keys in self.all("required") for key in keys)

    @property
    def names(self) -> list[str]:
        """The keys that it says something of."""
        return list(dict.fromkeys(key for properties in self.all("properties") for key in properties))

    def at_key(self, name: str) -> NormalSchema:
        """Return what a key of an object of it may hold; nothing where it has no such key."""
        return NormalSchema(_Part(schema, part.resolver) for part in self.facets for schema in _of_key(part, name))

    def others(self) -> NormalSchema:
        """Return what all keys may hold of which it says nothing by name."""
        result = (
            _Part(schema, part.resolver)
            for part in self.facets
            for schema in (part.schema.get("additionalProperties", True), *_patterns(part).values())
        )
        return NormalSchema(result)

    @property
    def has_patterns(self) -> bool:
        """Whether some keys hold something else than the others, by patterns of theirs."""
        return any(_patterns(part) for part in self.facets)

    @property
    def first(self) -> int:
        """How many items of a list it says something of by place."""
        return max((len(items) for items in self.all("prefixItems")), default=0)

    def at_place(self, place: int) -> NormalSchema:
        """Return what the item at a place of a list may be."""
        return NormalSchema(_Part(_of_place(part, place), part.resolver) for part in self.facets)


def _patterns(part: _Part) -> Mapping[str, Any]:
    results: Mapping[str, Any] = part.schema.get("patternProperties", {})
    return results


def _of_key(part: _Part, name: str) -> Iterator[Any]:
    """What one facet says of a key."""
    named = part.schema.get("properties", {})
    matched = [schema for pattern, schema in _patterns(part).items() if compile_pattern(pattern).search(name)]
    if name in named:
        yield named[name]
    yield from matched
    if name not in named and not matched:
        yield part.schema.get("additionalProperties", True)


def _of_place(part: _Part, place: int) -> Any:
    """What one facet says of an item of a list."""
    first = part.schema.get("prefixItems", ())
    return first[place] if place < len(first) else part.schema.get("items", True)


class NormalSchema:
    """What fits several parts of schemas at once, as alternatives."""

    def __init__(self, parts: Iterable[_Part]) -> None:
        self._parts = [part for part in parts if part.schema is not True and part.schema != {}]

    @cached_property
    def key(self) -> frozenset[tuple[Any, ...]]:
        """What is equal where the same parts have to fit."""
        return frozenset(part.key for part in self._parts)

    @cached_property
    def form(self) -> object:
        """What is equal where schemas say the same of values in the same words.

        One with references is like itself alone, since the same words may lead elsewhere.
        """
        texts = tuple(sorted(json.dumps(_without_annotations(part.schema), sort_keys=True) for part in self._parts))
        return self.key if any("Ref" in text or "$ref" in text for text in texts) else texts

    @property
    def is_any(self) -> bool:
        """Whether every value fits."""
        return not self._parts

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The alternatives; none where nothing fits."""
        results = [_ANYTHING]
        for part in self._parts:
            results = _both(results, _expanded(part, frozenset()))
        return tuple(alternative for option in results for alternative in option.by_type())


def _without_annotations(schema: Any) -> Any:
    """Return a schema without what it says to people."""
    return {key: one for key, one in schema.items() if key not in _TOLD} if isinstance(schema, dict) else schema


_TOLD: Final = frozenset({"title", "description", "examples", "default", "deprecated", "$comment"})


def normal_form(schema: Any) -> NormalSchema:
    """Return the normal form of a schema, which has to be one; None is one that admits everything."""
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012

    root = True if schema is None else schema
    return NormalSchema([_Part(root, REGISTRY.resolver_with_root(DRAFT202012.create_resource(root)))])


@dataclass(frozen=True, slots=True)
class _Option:
    """An alternative of several types; `values` are scalars. Not a number alone is `integer`, any number both."""

    types: frozenset[str]
    values: tuple[Any, ...] | None = None
    facets: tuple[_Part, ...] = ()
    restrictions: frozenset[Restriction] = frozenset()

    def by_type(self) -> Iterator[Alternative]:
        """Iterate over it by types, whole numbers among all numbers."""
        for type_ in EVERY:
            if type_ not in self.types or (type_ == "integer" and "number" in self.types):
                continue
            name = "number" if type_ == "integer" else type_
            mine = self.values
            if mine is not None:
                mine = tuple(
                    value for value in mine if _type(value) == name and (type_ == "number" or _is_whole(value))
                )
                if not mine:
                    continue
            bearing = frozenset(
                restriction for restriction in self.restrictions if type_ in _RESTRICT.get(restriction[0], EVERY)
            )
            yield Alternative(name, type_ == "integer", mine, self.facets, bearing)


_ANYTHING: Final = _Option(frozenset(EVERY))


def _type(value: Any) -> str:
    """The type of a scalar; of anything else that it is none."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else "string" if isinstance(value, str) else ""


def _is_whole(value: Any) -> bool:
    return not isinstance(value, float) or value.is_integer()


def _both(some: list[_Option], others: list[_Option]) -> list[_Option]:
    """The options of what fits one of some and one of others."""
    if len(some) * len(others) > ALTERNATIVES:
        return [replace(_ANYTHING, restrictions=frozenset({_LARGE}))]
    result = (_joined(option, other) for option in some for other in others)
    return [option for option in result if option.types and option.values != ()]


def _joined(one: _Option, other: _Option) -> _Option:
    if one.values is None or other.values is None:
        values = other.values if one.values is None else one.values
    else:
        theirs = other.values
        values = tuple(value for value in one.values if any(same(value, their) for their in theirs))
    facets, restrictions = one.facets + other.facets, one.restrictions | other.restrictions
    return _Option(one.types & other.types, values, facets, restrictions)


def _expanded(part: _Part, within: frozenset[tuple[Any, ...]]) -> list[_Option]:
    """The options of one part; `within` are the parts that lead to it by references alone."""
    schema = part.schema
    if not isinstance(schema, Mapping):
        return [] if schema is False else [_ANYTHING]
    if part.key in within:
        return [replace(_ANYTHING, restrictions=frozenset({_CIRCLE}))]
    within |= {part.key}
    if isinstance(schema.get("$id"), str):
        from referencing.jsonschema import DRAFT202012

        part = _Part(schema, part.resolver.in_subresource(DRAFT202012.create_resource(schema)))
    results = _own(part)
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(schema.get(keyword), str):
            results = _both(results, _referred(part, keyword, within))
    for option in schema.get("allOf", ()):
        results = _both(results, _expanded(_Part(option, part.resolver), within))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            options = [_expanded(_Part(option, part.resolver), within) for option in schema[keyword]]
            every = [one for some in options for one in some]
            if keyword == "oneOf" and not _exclude_each_other(options):
                alone = frozenset({_restriction(keyword, schema)})
                every = [replace(one, restrictions=one.restrictions | alone) for one in every]
            results = _both(results, every)
    return [*results, _Option(frozenset({"null"}))] if schema.get("nullable") is True else results


def _referred(part: _Part, keyword: str, within: frozenset[tuple[Any, ...]]) -> list[_Option]:
    from referencing.exceptions import Unresolvable

    try:
        led = part.resolver.lookup(part.schema[keyword])
    except (Unresolvable, ValueError, TypeError):  # the last two: a key for an index, or within a text or a number
        return [replace(_ANYTHING, restrictions=frozenset({(keyword, str(part.schema[keyword]), False)}))]
    return _expanded(_Part(led.contents, led.resolver), within)


def _own(part: _Part) -> list[_Option]:
    """The options by what a part says itself."""
    schema = part.schema
    types = schema.get("type", EVERY)
    named = frozenset([types] if isinstance(types, str) else types)
    restrictions = frozenset(
        _restriction(keyword, schema)
        for keyword in _RESTRICT
        if keyword in schema and not (keyword.startswith("unevaluated") and schema[keyword] is True)
    )
    whole = named | {"integer"} if "number" in named else named
    own = [_Option(whole, None, (part,), restrictions)]
    for keyword in ("const", "enum"):
        if keyword in schema:
            values = [schema["const"]] if keyword == "const" else schema["enum"]
            own = _both(own, list(_valued(values, part.resolver)))
    return own


def _valued(values: Iterable[Any], resolver: Any) -> Iterator[_Option]:
    """Options that admit some values and nothing else."""
    plain = tuple(value for value in values if _type(value))
    if plain:
        types = {_type(value) for value in plain}
        yield _Option(frozenset(types | {"integer"} if "number" in types else types), plain)
    for value in values:
        if isinstance(value, Mapping):
            keys = {key: {"const": inner} for key, inner in value.items()}
            exact: dict[str, Any] = {"properties": keys, "required": [*keys], "additionalProperties": False}
            yield _Option(frozenset({"object"}), None, (_Part(exact, resolver),))
        elif isinstance(value, (list, tuple)):
            places = [{"const": inner} for inner in value]
            exact = {"prefixItems": places, "minItems": len(places), "maxItems": len(places)}
            yield _Option(frozenset({"array"}), None, (_Part(exact, resolver),))


def _restriction(keyword: str, schema: Mapping[str, Any]) -> Restriction:
    restricting = (
        schema
        if keyword.startswith("unevaluated")
        else {key: schema.get(key) for key in _BESIDE.get(keyword, [keyword])}
    )
    text = dump(restricting)
    return keyword, text, '"$ref"' not in text and '"$dynamicRef"' not in text


def _exclude_each_other(options: list[list[_Option]]) -> bool:
    """Whether no value fits two of several: by type, by value, or by a key that says which one it is."""
    return all(
        _are_disjoint(option, other) for some, others in combinations(options, 2) for option in some for other in others
    )


def _are_disjoint(one: _Option, other: _Option) -> bool:
    if not one.types & other.types:
        return True
    if one.values is not None and other.values is not None:
        theirs = other.values
        return not any(same(value, their) for value in one.values for their in theirs)
    if one.types != {"object"} or other.types != {"object"}:
        return False
    mine, theirs_by_key = _telling(one), _telling(other)
    return any(
        not any(same(value, their) for value in values for their in theirs_by_key[key])
        for key, values in mine.items()
        if key in theirs_by_key
    )


def _telling(option: _Option) -> dict[str, list[Any]]:
    """The values of the keys that an object always has and for which values are named."""
    results: dict[str, list[Any]] = {}
    required = {key for part in option.facets for key in part.schema.get("required", ())}
    for part in option.facets:
        for key, schema in part.schema.get("properties", {}).items():
            if key in required and isinstance(schema, Mapping) and ("const" in schema or "enum" in schema):
                results[key] = [schema["const"]] if "const" in schema else list(schema["enum"])
    return results
