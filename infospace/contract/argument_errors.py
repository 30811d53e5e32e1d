"""What is wrong with the arguments of a call: one fault for one mistake, at its place, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.data.paths import did_you_mean, nearest
from infospace.schema.infer import NoSuchPath, Schema, subschema_at
from infospace.schema.references import resolved
from infospace.schema.value_text import describe_schema, either, shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from infospace.contract.decorator import Argument

Place = tuple[str | int, ...]

_MISFITS = frozenset(
    {
        "greater_than",
        "greater_than_equal",
        "int_from_float",
        "int_parsing",
        "finite_number",
        "kind",
        "less_than",
        "less_than_equal",
        "literal_error",
        "misfit",
        "none_required",
    }
)
"""Codes of pydantic, and ours, of a value that is not what is wanted, beside those that end in `_type`."""

_CODES = {
    "where": "bad-where",
    "where_type": "bad-where",
    "expression": "bad-expression",
    "expression_type": "bad-expression",
    "kind": "wrong-kind",
}


@dataclass(frozen=True, slots=True)
class ArgumentError:
    """One thing wrong with the arguments: where (a path into them), a stable code, a sentence, a hint."""

    place: Place
    code: str
    message: str
    hint: str | None = None
    missing: str | None = None
    """The argument that is not there."""
    suggestion: str | None = None
    """The text that says the same in the language, where that is plain."""


class ArgumentsInvalid(Invalid):
    """Arguments that do not fit; `faults` are all of them."""

    def __init__(self, faults: Sequence[ArgumentError]) -> None:
        first = faults[0]
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        super().__init__(f"{first.message}{more}", hint=first.hint)
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class _Error:
    """One of pydantic's errors, its place told from the names that pydantic gives to a union's options."""

    place: Place
    option: tuple[Place, str | int] | None
    """Where the union stands, and which of its options this is about."""
    detail: ErrorDetails

    @property
    def is_type_violation(self) -> bool:
        return self.detail["type"].endswith("_type") or self.detail["type"] in _MISFITS


def argument_errors(
    type_: str, details: Iterable[ErrorDetails], values: Mapping[str, Any], arguments: Mapping[str, Argument]
) -> list[ArgumentError]:
    """Return the faults that pydantic's errors stand for, in their order, each mistake once."""
    errors = [_located(detail, values) for detail in details]
    mistaken = {
        near
        for error in errors
        if error.detail["type"] == "extra_forbidden" and len(error.place) == 1
        for near in [nearest(str(error.place[0]), arguments)]
    }
    writer = _Writer(type_, arguments)
    results = [
        writer.argument_error(error)
        for error in _one_option(errors)
        if not (error.detail["type"] == "missing" and len(error.place) == 1 and error.place[0] in mistaken)
    ]
    return list(dict.fromkeys(results))


def _located(detail: ErrorDetails, values: Mapping[str, Any]) -> _Error:
    place: list[str | int] = []
    option = None
    value: Any = values
    for depth, part in enumerate(detail["loc"]):
        if (isinstance(value, Mapping) and part in value) or _is_position(value, part):
            value = value[part]
        elif detail["type"] != "missing" or depth < len(detail["loc"]) - 1:
            option = option or (tuple(place), part)
            continue
        place.append(part)
    return _Error(tuple(place), option, detail)


def _is_position(value: object, part: object) -> bool:
    return isinstance(value, (list, tuple)) and isinstance(part, int) and part < len(value)


def _one_option(errors: Sequence[_Error]) -> list[_Error]:
    """Keep, of each union, the errors of the option that was probably meant: the one that fits furthest."""
    chosen: dict[Place, str | int] = {}
    best: dict[Place, tuple[int, bool]] = {}
    for error in errors:
        if error.option is not None:
            site, option = error.option
            worth = (len(error.place), not error.is_type_violation)
            if site not in best or worth > best[site]:
                best[site], chosen[site] = worth, option
    return [error for error in errors if error.option is None or chosen[error.option[0]] == error.option[1]]


class _Writer:
    """Writes faults of one call."""

    def __init__(self, type_: str, arguments: Mapping[str, Argument]) -> None:
        self._type = type_
        self._arguments = arguments

    def argument_error(self, error: _Error) -> ArgumentError:
        """Return the fault that an error stands for."""
        place, detail = error.place, error.detail
        details = detail.get("ctx", {})
        argument = self._arguments.get(str(place[0])) if place else None
        code = _CODES.get(detail["type"], "bad-argument")
        match detail["type"]:
            case "missing":
                return self._missing(place, argument)
            case "extra_forbidden":
                return self._unknown(place)
            case "value_error" | "assertion_error":
                return ArgumentError(place, code, str(details["error"]), _about(argument))
        where = _spell(place)
        if detail["type"] == "string_pattern_mismatch":
            form = f"{where} is {shown(detail['input'])}, which has another form than is wanted"
            return ArgumentError(
                place, code, form, _description_at(argument, _schema_at(argument, place), place) or details["pattern"]
            )
        if "message" in details:
            message, own = details["message"], f"`{place[0]}`" if place else ""
            mine = own and message.startswith((own, f"the {own.strip('`')} "))
            named = message if mine or not own else f"{where}: {message}"
            return ArgumentError(place, code, named, details["hint"], suggestion=details.get("meant"))
        if error.is_type_violation:
            schema = _schema_at(argument, place)
            fits = _kinds(argument.kinds) if argument and argument.kinds else describe_schema(schema)
            if fits:
                hint = _suggest_value(detail["input"], schema) or _description_at(argument, schema, place)
                return ArgumentError(place, code, f"{where} is {shown(detail['input'])}, not {fits}", hint)
        message = (detail["msg"][:1].lower() + detail["msg"][1:]).replace(" after validation,", ",")
        return ArgumentError(
            place,
            code,
            f"{where} is {shown(detail['input'])}: {message}",
            _description_at(argument, _schema_at(argument, place), place),
        )

    def _missing(self, place: Place, argument: Argument | None) -> ArgumentError:
        if len(place) == 1:
            hint = argument.description.removesuffix(".") if argument is not None else None
            return ArgumentError(
                (), "missing-argument", f"{self._type} needs {place[0]!r}", hint or None, str(place[0])
            )
        return ArgumentError(place[:-1], "bad-argument", f"{_spell(place[:-1])} needs {place[-1]!r}", _about(argument))

    def _unknown(self, place: Place) -> ArgumentError:
        name = str(place[-1])
        if len(place) > 1:
            fields = _fields(self._arguments.get(str(place[0])), place[:-1])
            hint = did_you_mean(name, fields, f"it has {', '.join(fields)}" if fields else None)
            return ArgumentError(place, "bad-argument", f"{_spell(place[:-1])} has no field {name!r}", hint)
        known = ", ".join(self._arguments)
        hint = did_you_mean(name, self._arguments, f"it takes {known}" if known else "it takes none")
        return ArgumentError(place, "unknown-argument", f"{self._type} has no argument {name!r}", hint)


def _spell(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`"


def _kinds(kinds: frozenset[Kind]) -> str:
    return either(f"a {kind}" for kind in sorted(kinds)) if len(kinds) < len(Kind) else "a resource"


def _schema_at(argument: Argument | None, place: Place) -> Schema | None:
    if argument is None:
        return None
    subschema = subschema_at(argument.schema, place[1:])
    if isinstance(subschema, NoSuchPath) or subschema is None:
        return None
    if len(place) == 1 and not argument.required and argument.default is None and "anyOf" in subschema:
        return {**subschema, "anyOf": [option for option in subschema["anyOf"] if option != {"type": "null"}]}
    return subschema


def _fields(argument: Argument | None, place: Place) -> list[str]:
    """Return the names that an object there may have, where its schema says so."""
    schema = _schema_at(argument, place)
    if schema is None or argument is None:
        return []
    return list(resolved(schema, argument.schema).get("properties", {}))


def _suggest_value(value: object, schema: Schema | None) -> str | None:
    words = (schema or {}).get("enum", ())
    near = nearest(value, [word for word in words if isinstance(word, str)]) if isinstance(value, str) else None
    return f"did you mean {shown(near)}?" if near else None


def _description_at(argument: Argument | None, schema: Schema | None, place: Place) -> str | None:
    """What a part of an argument is for, where its schema says so; else what the argument is for."""
    inner = (schema or {}).get("description", "") if len(place) > 1 else ""
    return inner.removesuffix(".") or _about(argument, default=len(place) == 1)


def _about(argument: Argument | None, *, default: bool = True) -> str | None:
    """What an argument is for, and with `default` what it is when it is not given."""
    if argument is None:
        return None
    parts = [argument.description.removesuffix(".")]
    if default and not argument.required and argument.default is not None:
        parts.append(f"the default is {shown(argument.default)}")
    return "; ".join(part for part in parts if part) or None
