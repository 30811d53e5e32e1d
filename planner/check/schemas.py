"""Checking values against the JSON Schemas of tools and of saved plans: the parts that are known, and the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infospace.contract.arguments import UNKNOWN
from infospace.core.json_types import JSON
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import did_you_mean, nearest
from infospace.schema.messages import additional
from infospace.schema.shapes import UNTOLD, NoSuchPath, Schema, subschema_at
from infospace.schema.validate import Misfit, holds, validate_ignoring
from infospace.schema.value_text import describe_types, shown
from planner.check.environment import Environment
from planner.check.references.values import ValueChecker, written_at
from planner.language.problems import Patch, Problems, join, listed, replace
from planner.language.references import ListOf, Literal, ObjectOf, ReferenceInvalid, Value, read_value
from planner.repair.coerce_values import coerce_value
from planner.repair.synonyms import is_synonym

_OPEN = ("additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "$ref", "if", "unevaluatedProperties")
"""Keywords by which a schema says of other keys whether they may be there."""


class FitChecker:
    """Checks a value as written against a JSON Schema."""

    def __init__(self, values: ValueChecker, problems: Problems) -> None:
        self._values = values
        self._problems = problems

    def check(self, raw: JSON, schema: Schema, pointer: str, env: Environment, whose: str) -> None:
        """Check references in a value, and the value as far as it is known; `whose` it is, in words.

        A whole reference is held against the schema by what is known of it.
        """
        self._values.lookalikes(raw, pointer, env)
        try:
            read = read_value(raw)
        except ReferenceInvalid:
            self._values.value(raw, pointer, None, env)
            return
        results = list(misfits_as_written(raw, read, schema))
        for misfit in results:
            self._report_violation(misfit, schema, pointer, whose)
        known, reported = _known_value(read), {(misfit.place, misfit.keyword) for misfit in results}
        for misfit in misfits_as_written(raw, read, schema, formats=True):
            if (misfit.place, misfit.keyword) not in reported:
                self._problems.warn("bad-argument", join(pointer, *misfit.place), f"{whose}: {misfit.message}")
        if isinstance(known, Mapping):
            self._strangers(known, schema, pointer, whose)
        self._values.fits(read, raw, schema, pointer, env, whose, reported)
        self._formats(self._values.content(read, env), raw, schema, pointer, whose)

    def _formats(self, content: Any, raw: JSON, schema: Schema, pointer: str, whose: str) -> None:
        """Warn of what has another format where it is read by a reference, as far as the plan itself has it."""
        if content is UNTOLD:
            return
        for misfit in validate_ignoring(content, schema, UNTOLD, formats=True):
            place, value = written_at(raw, misfit.place)
            if misfit.keyword == "format" and value != misfit.instance:
                self._problems.warn("bad-argument", join(pointer, *place), f"{whose}: `{value}` {misfit.message}")

    def _report_violation(self, misfit: Misfit, schema: Schema, pointer: str, whose: str) -> None:
        place = join(pointer, *misfit.place)
        if misfit.keyword == "required":
            for key in misfit.wanted:
                if key not in misfit.instance:
                    self._missing(key, misfit, schema, place, whose)
            return
        if misfit.keyword == "additionalProperties":
            property_names = tuple(_properties(schema, misfit.place))
            for key in additional(misfit.instance, _schema_at(schema, misfit.place)):
                if key not in property_names:
                    self._unknown(
                        str(key), property_names, misfit.instance, place, whose, _schema_at(schema, misfit.place)
                    )
            return
        fix, hint = None, None
        known = not holds(misfit.instance, UNKNOWN)
        mended = coerce_value(misfit.instance, _schema_at(schema, misfit.place)) if known else None
        if misfit.instance is None and misfit.place and _is_optional(schema, misfit.place):
            fix, hint = [{"op": "remove", "path": place}], "it is optional: leave it out"
        elif mended is not None:
            fix = replace(place, mended.value)
        self._problems.error("bad-argument", place, f"{whose}: {misfit.message}", hint, fix)

    def _missing(self, key: str, misfit: Misfit, schema: Schema, place: str, whose: str) -> None:
        whole = _schema_at(schema, misfit.place)
        expected = _inner(schema, whole, key)
        strange = [name for name in misfit.instance if name not in _properties(schema, misfit.place)]
        lacking = [name for name in misfit.wanted if name not in misfit.instance]
        suggestion = next((name for name in strange if self._intended_key(name, lacking) == key), None)
        if suggestion is not None and whole.get("additionalProperties") is False:
            return
        near = suggestion or nearest(key, strange)
        if near is not None:
            fix = [{"op": "move", "from": join(place, near), "path": join(place, key)}] if suggestion else None
            message = f"{whose} needs {key!r}"
            self._problems.error("missing-argument", place, message, f"is {near!r} meant for it?", fix)
            return
        hint = expected.get("description") or describe_types(expected) or None
        self._problems.error(
            "missing-argument", place, f"{whose} needs {key!r}", hint, _only(expected, join(place, key))
        )

    def _strangers(self, values: Mapping[str, Any], schema: Schema, pointer: str, whose: str) -> None:
        """Tell what an open schema lets pass and says nothing of; what was meant for a missing one is told there.

        It is an error where it is but another spelling of one argument that is not given and that its value fits: what
        a server does not know it passes over, and nobody would notice.
        """
        known = schema.get("properties")
        if not isinstance(known, Mapping) or not known or any(key in schema for key in _OPEN):
            return
        strange = [key for key in values if key not in known]
        suggestion = {nearest(key, strange) for key in schema.get("required", ()) if key not in values}
        for key in strange:
            if key not in suggestion:
                free = [name for name in known if name not in values]
                spelt = [name for name in free if is_misspelling(key, name)]
                place = join(pointer, key)
                message = f"{whose} says nothing of {key!r}, and may pass over it"
                if len(spelt) == 1 and _fits(values[key], _inner(schema, schema, spelt[0])):
                    fix: Patch = [{"op": "move", "from": place, "path": join(pointer, spelt[0])}]
                    self._problems.error("unknown-argument", place, message, f"did you mean {spelt[0]!r}?", fix)
                    continue
                hint = did_you_mean(key, free, f"it takes {listed(list(known))}")
                self._problems.warn("unknown-argument", place, message, hint)

    @staticmethod
    def _intended_key(key: str, lacking: Sequence[str]) -> str | None:
        """Return which of the arguments that are needed and not there an unknown one is plainly written for."""
        results = [name for name in lacking if is_misspelling(key, name) or is_synonym(key, name)]
        return results[0] if len(results) == 1 else None

    def _unknown(
        self, key: str, known_names: tuple[str, ...], instance: Mapping[str, Any], place: str, whose: str, whole: Schema
    ) -> None:
        free = [name for name in known_names if name not in instance]
        lacking = [name for name in whole.get("required", ()) if name in free]
        suggestion = self._intended_key(key, lacking) or next(
            (name for name in free if is_misspelling(key, name)), None
        )
        near = suggestion or nearest(key, free)
        fix: Patch | None = None
        if suggestion is not None:
            fix = [{"op": "move", "from": join(place, key), "path": join(place, suggestion)}]
        elif instance[key] is None:
            fix = [{"op": "remove", "path": join(place, key)}]
        hint = (
            f"did you mean {near!r}?"
            if near
            else f"it takes {listed(list(known_names))}"
            if known_names
            else "it takes nothing"
        )
        self._problems.error("unknown-argument", join(place, key), f"{whose} has no {key!r}", hint, fix)


def misfits_as_written(raw: JSON, read: Value, schema: Schema, *, formats: bool = False) -> Iterator[Misfit]:
    """Iterate over what does not fit a schema whatever the references in a value mean, with the value as written."""
    for misfit in validate_ignoring(_known_value(read), schema, UNKNOWN, formats=formats):
        if holds(misfit.instance, UNKNOWN):
            _, written = written_at(raw, misfit.place)
            yield misfit._replace(message=misfit.message.replace(shown(misfit.instance), shown(written), 1))
        else:
            yield misfit


def _known_value(read: Value) -> Any:
    """A value with `UNKNOWN` in the place of each reference."""
    match read:
        case Literal(value):
            return value
        case ListOf(items):
            return [_known_value(item) for item in items]
        case ObjectOf(items):
            return {key: _known_value(item) for key, item in items.items()}
    return UNKNOWN


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a value, as far as it is known, is what a schema wants."""
    return next(iter(validate_ignoring(value, schema, UNKNOWN)), None) is None


def _only(expected: Schema, place: str) -> Patch | None:
    """Add the one value that fits, where there is but one."""
    if "default" in expected:
        return [{"op": "add", "path": place, "value": expected["default"]}]
    if "const" in expected or len(expected.get("enum", ())) == 1:
        return [
            {"op": "add", "path": place, "value": expected["const"] if "const" in expected else expected["enum"][0]}
        ]
    return None


def _schema_at(schema: Schema, place: tuple[str | int, ...]) -> Schema:
    subschema = subschema_at(schema, place)
    return subschema if isinstance(subschema, Mapping) else {}


def _inner(root: Schema, schema: Schema, key: str | int) -> Schema:
    subschema = subschema_at({**schema, "$defs": root.get("$defs", {})}, (key,))
    return {} if subschema is None or isinstance(subschema, NoSuchPath) else subschema


def _is_optional(schema: Schema, place: tuple[str | int, ...]) -> bool:
    """Whether what stands at a place is a key of an object that need not have it."""
    return isinstance(place[-1], str) and place[-1] not in _schema_at(schema, place[:-1]).get("required", ())


def _properties(schema: Schema, place: tuple[str | int, ...]) -> Iterator[str]:
    yield from _schema_at(schema, place).get("properties", {})
