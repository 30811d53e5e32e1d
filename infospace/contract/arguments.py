"""Argument types that say how they are read and check themselves, so that the check knows no verb.

| type | in a plan | what a primitive gets |
|---|---|---|
| `Ref[Note]`, `Ref[Collection]`, `Ref[Resource]` | `$x`, `$x[0]`, an id, a name | the resource |
| `TitledRef[Note]` and so on | that, or the title, alias or file of one Note alone | the resource |
| `Items` | a list of values and resources, or one resource | a list of both |
| `Where` | SQL text with `$x` as typed parameter | the condition with its parameters |
| `Path` | `metadata.score` | a parsed path |
| `Expression` | `$price * 1.19`, with `$x` as typed parameter | the expression with its parameters |
| `Formulas[X]` | X, in which `ItemExpression`, `Aggregate` stand as values of an object | X |
| `SortKeys[X]` | X, in which `SortKey` or `PathOrExpression` stands alone or in a list | X |
| `ItemExpression` | `price * 1.19`, over the paths of items | the expression with its parameters |
| `Aggregate` | `avg(metadata.score)` | what is computed of many items, with its parameters |
| `SortKey` | a path or an expression, `desc` behind it | the expression with its order |
| `PathOrExpression` | a path, or an expression over the paths of items | the expression with its parameters |
| `Sql` | one SELECT, with `$x` as tables and typed parameters | the query with its tables and parameters |
| `Query` | words to look for, not blank | `str` |
| `Limit` | a whole number from 1, or `"all"` | `int` or `None` for all |
| `Slice` | `"2:5"`, `":-1"`, `"-3:"` | a Python slice |
| `Text` | text, not blank | `str` |
| `JsonSchema` | a JSON Schema (2020-12), read literally | `dict` |
| `ToolName` | `server/tool` | the `Tool` |
| `ToolArguments` | a tool's own arguments, nested | `dict` |
| anything else | JSON, with references replaced by content | that value |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Relation, Resource, is_resource
from infospace.data.paths import Path as ParsedPath
from infospace.schema.value_text import shown

if TYPE_CHECKING:
    from infospace.core.tool import Tool, ToolKind
    from infospace.data.paths import Readable
    from infospace.expressions import Clock, Evaluation, Formula, TypeMismatches
    from infospace.expressions import SortKey as ParsedSortKey
    from infospace.expressions import Where as ParsedWhere
    from infospace.expressions.aggregates import Aggregate as ParsedAggregate
    from infospace.expressions.expression import Parsed
    from infospace.expressions.query.parse import ParsedQuery
    from infospace.schema.shapes import Shape

T = TypeVar("T")
ParsedT = TypeVar("ParsedT", bound="Parsed")


class ParseMode(Enum):
    """How the text of an argument is read before it is validated."""

    RESOURCE = "resource"
    ITEMS = "items"
    WHERE = "where"
    EXPRESSION = "expression"
    """A text of the language of expressions."""
    SQL = "sql"
    """One SELECT, whose tables and parameters are references."""
    EXPRESSIONS = "expressions"
    """Texts in an object are of the language of expressions; what is no object is a value."""
    SORT_KEYS = "sort keys"
    """A text, and each in a list, is of the language of expressions; one that is just a reference is a value."""
    VALUE = "value"
    LITERAL = "literal"
    """Nothing in it is a reference."""
    TOOL = "tool"
    """The full name of a tool, which becomes that tool."""
    PROMPT = "prompt"
    """The full name of a prompt of a server, which becomes that prompt."""
    SERVED = "served"
    """A server and a URI, which become that resource of the server."""
    TOOL_ARGUMENTS = "tool arguments"
    """A value that fits the schema of the tool beside it."""


OFFERED: Final[Mapping[ParseMode, ToolKind]] = {
    ParseMode.TOOL: "tool",
    ParseMode.PROMPT: "prompt",
    ParseMode.SERVED: "resource",
}
"""What servers offer, by the reading of arguments that name it."""


class UnknownValue:
    """Stands in the check for a value that only the run will know; fits every argument."""

    def __repr__(self) -> str:
        return "<not known yet>"


UNKNOWN = UnknownValue()


def are_known(*values: object) -> bool:
    """Whether none of the values is `UNKNOWN`."""
    return all(value is not UNKNOWN for value in values)


def _invalid(error: Invalid) -> PydanticCustomError:
    context = {"message": error.message, "hint": error.hint, "meant": error.suggestion}
    return PydanticCustomError(error.kind, "{message}", context)


def _custom_error(code: str = "misfit") -> PydanticCustomError:
    return PydanticCustomError(code, "not what is wanted")


def _checked(value: Any, validate: core_schema.ValidatorFunctionWrapHandler) -> Any:
    """Let `UNKNOWN` pass, and make a validator's `Invalid` a fault of its field."""
    if value is UNKNOWN:
        return value
    try:
        return validate(value)
    except Invalid as error:
        raise _invalid(error) from error


def _to_integer(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _allow_integral_floats(schema: Any) -> Any:
    """Let 2.0 be a whole number, as it is in JSON."""
    if schema["type"] == "int":
        return core_schema.no_info_before_validator_function(_to_integer, schema)
    for key in ("schema", "items_schema"):
        if key in schema:
            schema[key] = _allow_integral_floats(schema[key])
    return schema


def _fields(schema: Any) -> dict[str, Any]:
    """The fields of a model's core schema, through the validators and definitions around it."""
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    fields: dict[str, Any] = schema["fields"]
    return fields


def argument_name(field_: str) -> str:
    """Return the name by which plans give a field of `Args`: without the underscores behind it."""
    return field_.rstrip("_")


class Args(BaseModel):
    """Base of every primitive's arguments: closed, strict, frozen.

    In the check, `UNKNOWN` stands for what only the run will know: it passes every field's validation. A
    validator over several fields (`model_validator`) must let it pass. A validator may raise Invalid.
    An argument whose name pydantic keeps for itself is declared with an underscore behind it: `schema_`.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        arbitrary_types_allowed=True,
        defer_build=True,
        alias_generator=argument_name,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema = handler(source)
        for field_ in _fields(schema).values():
            holder = field_["schema"] if field_["schema"]["type"] == "default" else field_
            inner = _allow_integral_floats(holder["schema"])
            holder["schema"] = core_schema.no_info_wrap_validator_function(_checked, inner)
        return core_schema.no_info_wrap_validator_function(_checked, schema)


@dataclass(frozen=True, slots=True)
class ParseAs:
    """Marks an argument type with its reading, and for a resource the kinds it takes."""

    reading: ParseMode
    kinds: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True)
class PathsOf:
    """Marks paths with the resource arguments in whose items they are read. Unmarked, that is `target`."""

    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemSchema:
    """Marks a Collection with the JSON Schema that the contents of its items have to fit."""

    schema: Mapping[str, Any]


_CLASSES: dict[type, Kind] = {Note: Kind.NOTE, Collection: Kind.COLLECTION, Relation: Kind.RELATION}


class _RefMark:
    """Makes `Ref[X]` admit resources of the kinds of X, and show itself as a string in JSON Schema."""

    __slots__ = ("by_title",)

    def __init__(self, *, by_title: bool = False) -> None:
        """With `by_title`, a Note is found by its title, alias or file too, where it is the only one."""
        self.by_title = by_title

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        del handler
        kinds = kinds_of(source)

        def check(value: object) -> object:
            if isinstance(value, (Note, Collection, Relation)) and value.kind in kinds:
                return value
            raise _custom_error("kind")

        return core_schema.no_info_plain_validator_function(check)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        del schema, handler
        return {"type": "string"}


def is_ref(mark: object) -> bool:
    """Whether a mark in an annotation is that of `Ref`."""
    return isinstance(mark, _RefMark)


def is_found_by_title(mark: object) -> bool:
    """Whether a mark in an annotation is that of `TitledRef`."""
    return isinstance(mark, _RefMark) and mark.by_title


def kinds_of(annotation: Any) -> frozenset[Kind]:
    """Return the kinds of resource that a class, or a union of classes, stands for."""
    if annotation is Resource or isinstance(annotation, str):
        return frozenset(Kind)
    origin = getattr(annotation, "__origin__", annotation)
    if origin in _CLASSES:
        return frozenset({_CLASSES[origin]})
    return frozenset().union(*(kinds_of(option) for option in get_args(annotation)))


Ref = Annotated[T, _RefMark()]
"""A resource: `Ref[Note]`, `Ref[Collection]`, `Ref[Resource]`."""
TitledRef = Annotated[T, _RefMark(by_title=True)]
"""A resource that is found by title, alias or file too, where only one Note has it: for what changes nothing."""
Formulas = Annotated[T, ParseAs(ParseMode.EXPRESSIONS)]
"""An argument in which texts of an object are expressions: `Formulas[dict[str, ItemExpression]]`."""
SortKeys = Annotated[T, ParseAs(ParseMode.SORT_KEYS)]
"""An argument that is a sort key or a list of them: `SortKeys[SortKey | list[SortKey]]`."""


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """A `where` with the values of its parameters: ask it of one resource after another."""

    where: ParsedWhere
    parameters: Mapping[str, JSON] = field(default_factory=dict)
    clock: Clock | None = field(default=None, compare=False)
    """Gives `today()` and `now()`; without one they are those of the machine."""

    def judge(
        self, tally: TypeMismatches | None = None, fields: tuple[str, ...] = ()
    ) -> Callable[[Readable], bool | None]:
        """Return what says of one resource after the other: True, False, or None where the condition is unknown.

        Unknown is what compares a missing or null value, or of another type, which `tally` counts. All that one judge
        is asked has the same `today()` and `now()`. `fields` are those that `complete(*)` asks for.
        """
        from infospace.expressions import Evaluation, ItemMismatches, TypeMismatches

        evaluation = Evaluation(self.parameters, TypeMismatches() if tally is None else tally, self.clock, fields)
        judge = self.where.judge
        if not isinstance(tally, ItemMismatches):
            return lambda resource: judge(resource, evaluation)

        def each(resource: Readable) -> bool | None:
            tally.begin()
            return judge(resource, evaluation)

        return each

    def match_each(
        self, items: Sequence[Readable], tally: TypeMismatches, fields: tuple[str, ...] = ()
    ) -> list[bool | None]:
        """Return what `judge` says of many resources, one after the other."""
        from infospace.expressions import Evaluation
        from infospace.expressions.expression import match_each

        return match_each(self.where, items, Evaluation(self.parameters, tally, self.clock, fields))

    def match(self, resource: Readable, tally: TypeMismatches | None = None) -> bool | None:
        """Return whether a resource satisfies the condition; None where that is unknown."""
        return self.judge(tally)(resource)


def _read_where(value: object) -> BoundCondition:
    from infospace.expressions import parse_where

    if isinstance(value, BoundCondition):
        return value
    if not isinstance(value, str):
        raise _custom_error("where_type")
    return BoundCondition(parse_where(value))


@dataclass(frozen=True, slots=True)
class BoundExpression(Generic[ParsedT]):
    """An expression, a sort key or an aggregate with the values of its parameters."""

    formula: ParsedT
    parameters: Mapping[str, JSON | PathNotFound] = field(default_factory=dict)
    schemas: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict, compare=False)
    """In the check, where no values are known: what is known of the parameters."""

    def evaluation(self, tally: TypeMismatches, clock: Clock | None = None, fields: tuple[str, ...] = ()) -> Evaluation:
        """Return what it is evaluated with; `tally` says what becomes of an operation that has no result."""
        from infospace.expressions import Evaluation

        return Evaluation(self.parameters, tally, clock, fields)


@dataclass(frozen=True, slots=True)
class Written:
    """A text of the language of expressions as the plan has it, with the values of its parameters."""

    text: str
    parameters: Mapping[str, JSON | PathNotFound] = field(default_factory=dict)
    schemas: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A SELECT as the plan has it, with its tables by reference, and the values of its parameters.

    In the check, where there are neither, `shapes` is what is known of the tables' items, `schemas` of the parameters,
    `named` of the items of Collections that it reads by their names.
    """

    text: str
    tables: Mapping[str, Collection] = field(default_factory=dict)
    parameters: Mapping[str, JSON | PathNotFound] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict, compare=False)
    schemas: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict, compare=False)
    named: Mapping[str, Shape] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A SELECT that was read, and what it was written with."""

    parsed: ParsedQuery
    written: WrittenQuery


def _read_query(value: object) -> BoundQuery:
    from infospace.expressions.query.parse import parse_query

    if isinstance(value, BoundQuery):
        return value
    raw = WrittenQuery(value) if isinstance(value, str) else value
    if not isinstance(raw, WrittenQuery):
        raise _custom_error("expression_type")
    for reference, table in raw.tables.items():
        if not isinstance(table, Collection):
            raise Invalid(f"${reference} is not a table", hint="FROM takes a Collection or a list")
    return BoundQuery(parse_query(raw.text), raw)


def _bind(value: object, parse: Callable[[str], ParsedT], code: str) -> BoundExpression[ParsedT]:
    if isinstance(value, BoundExpression):
        return value
    raw = Written(value) if isinstance(value, str) else value
    if not isinstance(raw, Written):
        raise _custom_error(code)
    return BoundExpression(parse(raw.text), raw.parameters, raw.schemas)


def _read_expression(value: object) -> BoundExpression[Formula]:
    from infospace.expressions import parse_expression

    return _bind(value, parse_expression, "expression_type")


def _read_sort_key(value: object) -> BoundExpression[ParsedSortKey]:
    from infospace.expressions import parse_sort_key

    return _bind(value, parse_sort_key, "misfit")


def _read_path_or_expression(value: object) -> BoundExpression[Formula]:
    from infospace.expressions import parse_path_or_expression

    return _bind(value, parse_path_or_expression, "misfit")


def _read_path(value: object) -> ParsedPath:
    if not isinstance(value, str):
        raise _custom_error()
    return ParsedPath.parse(value)


def _read_aggregate(value: object) -> BoundExpression[ParsedAggregate]:
    from infospace.expressions.aggregates import parse_aggregate

    return _bind(value, parse_aggregate, "misfit")


def _read_limit(value: object) -> int | None:
    if value == "all":
        return None
    value = _to_integer(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise _custom_error()


_SLICE = re.compile(r"\s*(-?[0-9]{1,18})?\s*:\s*(-?[0-9]{1,18})?\s*(?::\s*(-?[0-9]{1,18})?\s*)?")


def _read_slice(value: object) -> slice:
    match = _SLICE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise _custom_error()
    start, stop, step = (int(part) if part else None for part in match.groups())
    if step == 0:
        raise Invalid(f"{shown(value)} has steps of 0", hint='"::2" takes every second, "::-1" all from the end')
    return slice(start, stop, step)


def _not_blank(query: str) -> str:
    if not query.strip():
        raise Invalid("`query` is blank", hint="say in words what to look for")
    return query


def _text_not_blank(text: str) -> str:
    if not text.strip():
        raise Invalid("the text is blank", hint="say in words what is wanted")
    return text


def _read_schema(value: object) -> dict[str, Any]:
    from infospace.schema.validate import schema_errors

    if not isinstance(value, dict):
        raise _custom_error()
    for fault in schema_errors(value):
        where = "".join(f"[{part!r}]" for part in fault.place)
        raise Invalid(f"{fault.message}{' at ' + where if where else ''}", hint=fault.hint)
    return value


def _read_tool(value: object) -> object:
    from infospace.core.tool import Tool

    if isinstance(value, Tool):
        return value
    raise _custom_error()


def _read_tool_arguments(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _custom_error()
    return value


def _read_items(value: object) -> list[object]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if is_resource(value):
        return [value]
    raise _custom_error()


def _plain(read: Callable[[object], Any], **json_schema: Any) -> Any:
    """A type that one function reads, shown in JSON Schema as given."""

    def checked(value: object) -> Any:
        if value is UNKNOWN:
            return value
        try:
            return read(value)
        except Invalid as error:
            raise _invalid(error) from error

    class Mark:
        def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
            del source, handler
            return core_schema.no_info_plain_validator_function(checked)

        def __get_pydantic_json_schema__(
            self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
        ) -> dict[str, Any]:
            del schema, handler
            return dict(json_schema)

    return Mark()


if TYPE_CHECKING:
    Where: TypeAlias = BoundCondition
    Path: TypeAlias = ParsedPath
    Expression: TypeAlias = BoundExpression[Formula]
    ItemExpression: TypeAlias = BoundExpression[Formula]
    Aggregate: TypeAlias = BoundExpression[ParsedAggregate]
    SortKey: TypeAlias = BoundExpression[ParsedSortKey]
    PathOrExpression: TypeAlias = BoundExpression[Formula]
    Sql: TypeAlias = BoundQuery
    Limit: TypeAlias = int | None
    Query: TypeAlias = str
    Slice: TypeAlias = slice
    Items: TypeAlias = list[Resource | JSON]
    Text: TypeAlias = str
    JsonSchema: TypeAlias = dict[str, Any]
    ToolName: TypeAlias = Tool
    PromptName: TypeAlias = Tool
    ServedResource: TypeAlias = Tool
    ToolArguments: TypeAlias = dict[str, Any]
    Value: TypeAlias = JSON
else:
    Where = Annotated[BoundCondition, ParseAs(ParseMode.WHERE), _plain(_read_where, type="string", format="where")]
    Expression = Annotated[
        BoundExpression, ParseAs(ParseMode.EXPRESSION), _plain(_read_expression, type="string", format="expression")
    ]
    Sql = Annotated[BoundQuery, ParseAs(ParseMode.SQL), _plain(_read_query, type="string", format="sql")]
    Path = Annotated[ParsedPath, _plain(_read_path, type="string", format="path")]
    ItemExpression = Annotated[BoundExpression, _plain(_read_expression, type="string", format="expression")]
    Aggregate = Annotated[BoundExpression, _plain(_read_aggregate, type="string", format="aggregate")]
    SortKey = Annotated[BoundExpression, _plain(_read_sort_key, type="string", format="sort-key")]
    PathOrExpression = Annotated[
        BoundExpression, _plain(_read_path_or_expression, type="string", format="path-or-expression")
    ]
    Query = Annotated[str, AfterValidator(_not_blank)]
    Limit = Annotated[int | None, _plain(_read_limit, anyOf=[{"type": "integer", "minimum": 1}, {"const": "all"}])]
    Slice = Annotated[slice, _plain(_read_slice, type="string", format="slice")]
    Items = Annotated[list, ParseAs(ParseMode.ITEMS), _plain(_read_items, type=["array", "string"], format="items")]
    Text = Annotated[str, AfterValidator(_text_not_blank)]
    JsonSchema = Annotated[dict, ParseAs(ParseMode.LITERAL), _plain(_read_schema, type="object")]
    ToolName = Annotated[object, ParseAs(ParseMode.TOOL), _plain(_read_tool, type="string", format="tool")]
    PromptName = Annotated[object, ParseAs(ParseMode.PROMPT), _plain(_read_tool, type="string", format="prompt")]
    ServedResource = Annotated[object, ParseAs(ParseMode.SERVED), _plain(_read_tool, type="string", format="resource")]
    ToolArguments = Annotated[dict, ParseAs(ParseMode.TOOL_ARGUMENTS), _plain(_read_tool_arguments, type="object")]
    Value = Annotated[object, _plain(lambda value: value)]
