"""From arguments as written to what a primitive is called with: references become resources and values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from infospace.context.context import Context
from infospace.contract.arguments import OFFERED, BoundCondition, ParseMode, Written, WrittenQuery
from infospace.contract.decorator import Primitive
from infospace.core.bounds import check_time
from infospace.core.errors import ExpressionInvalid, Invalid, PathNotFound
from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from infospace.core.position import Position, place_of
from infospace.core.resources import Collection, Note, Relation, Resource, is_resource, text_of
from infospace.core.tool import ToolKind
from infospace.data.json_text import compact_writer
from infospace.data.paths import EXTRA, Part, Path, lookup, read
from infospace.schema.value_text import shown
from planner.execute.variables import Scope
from planner.language.plan import OwnedRows, Table
from planner.language.references import (
    ListOf,
    Literal,
    ObjectOf,
    Reference,
    Template,
    Value,
    map_expressions,
    read_text,
    read_value,
    texts_with_dollar,
    whole_reference,
)

if TYPE_CHECKING:
    from infospace.expressions.expression import Parsed

Extras: TypeAlias = "Mapping[tuple[str, str], Mapping[str, JSON]]"
"""What steps had in `extra`, by run and position."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place inside content, as opposed to a resource."""

    value: JSON


class Resolver:
    """Resolves what a step's arguments refer to, in one scope, through one view."""

    def __init__(self, context: Context, scope: Scope, extras: Extras | None = None) -> None:
        """`extras` are those of steps that the journal may not have yet."""
        self._context = context
        self._scope = scope
        self._extras = extras or {}
        self._is_made_of_list = False
        """Whether the Collection that was resolved last was made of a list."""

    def arguments(self, entry: Primitive, raw: Mapping[str, JSON]) -> dict[str, Any]:
        """Resolve a primitive's arguments, each by its declared reading."""
        resolved: dict[str, Any] = {}
        lists = False
        for name, value in raw.items():
            argument = entry.arguments.get(name)
            match argument.reading if argument else ParseMode.VALUE:
                case ParseMode.RESOURCE if argument is not None and entry.takes_list(name):
                    resolved[name] = None if value is None else self.collection(value)
                    lists = lists or self._is_made_of_list
                case ParseMode.RESOURCE:
                    by_title = argument is not None and argument.by_title
                    resolved[name] = None if value is None else self.resource(value, by_title=by_title)
                case ParseMode.ITEMS:
                    resolved[name] = self._items(value)
                case ParseMode.WHERE:
                    resolved[name] = self._where(value)
                case ParseMode.EXPRESSION:
                    resolved[name] = self.expression(value)
                case ParseMode.SQL:
                    resolved[name] = self.query(value)
                case (ParseMode.EXPRESSIONS | ParseMode.SORT_KEYS) as mode:
                    resolved[name] = map_expressions(value, mode, self._expression, self.value)
                case ParseMode.TOOL | ParseMode.PROMPT | ParseMode.SERVED as reading:
                    resolved[name] = self._find_tool(value, OFFERED[reading])
                case ParseMode.VALUE | ParseMode.TOOL_ARGUMENTS:
                    resolved[name] = self.value(value)
                case ParseMode.LITERAL:
                    resolved[name] = value
        by = entry.arguments.get("by")
        if lists and by is not None and "by" not in raw and by.default == "@id":
            resolved["by"] = "content"
        return resolved

    def resolve_reference(self, reference: Reference) -> Resource | Place:
        """Return what a reference means: a resource, or a place in content. Raises Unbound, PathNotFound."""
        resource = self._context.get(self._scope.find(reference.name))
        parts = reference.path.parts
        for index, part in enumerate(parts):
            if part == EXTRA:
                return Place(self._extra(resource, parts[index + 1 :]))
            if not (isinstance(resource, Collection) and isinstance(part, int)):
                return Place(read(resource, Path(parts[index:])))
            resource = self._item(resource, part, reference)
        return resource

    def _extra(self, resource: Resource, parts: Sequence[Part]) -> JSON:
        """Return a place in the `extra` of the step that made a resource; raises PathNotFound."""
        created_by = resource.created_by
        results: Mapping[str, JSON] | None = None
        if resource.id in self._context.unwritten:
            results = {}  # the journal does not have its step yet, which had none
        elif created_by.run is not None and created_by.step is not None:
            results = self._extras.get((created_by.run, created_by.step))
            place = place_of(created_by.step)
            whole = place.whole.text if isinstance(place, Position) else created_by.step
            with self._context.space.store.reading() as snapshot:
                for step in dict.fromkeys((created_by.step, whole)):
                    results = snapshot.step_extra(created_by.run, step) if results is None else results
        if results is None:
            raise PathNotFound(f"`@extra` does not exist: no step that the journal has made {resource.id}")
        return lookup(dict(results), parts, f"the `extra` of step {created_by.step}")

    def _item(self, collection: Collection, index: int, reference: Reference) -> Resource:
        count = len(collection)
        if not -count <= index < count:
            held = "is empty" if not count else f"has {count} item{'s' if count > 1 else ''}"
            hint = f"[0] to [{count - 1}], or [-{count}] to [-1]" if count else "branch on the condition `empty`"
            raise PathNotFound(f"{reference} does not exist: {collection.id} {held}", hint=hint)
        return self._context.resources([collection.members[index].id])[0]

    def resource(self, raw: JSON, *, by_title: bool = False) -> Resource | JSON:
        """Resolve an argument that is a resource, with `by_title` by the title of a Note where nothing has the name.

        What is not text is passed on, to be refused by its type.
        """
        if not isinstance(raw, str):
            return raw
        get = self._context.get_by_title if by_title else self._context.get
        match read_text(raw):
            case Reference() as reference:
                target = self.resolve_reference(reference)
                return self._context.note(target.value) if isinstance(target, Place) else target
            case Template() as template:
                return get(self.text(template))
            case Literal(value):
                return get(str(value))

    def collection(self, raw: JSON) -> Resource | JSON:
        """Resolve an argument that is a Collection: a JSON list is taken as `split` would make it.

        The list may stand there, be a place in content, or be the content of a Note. In one that stands there, `$x` is
        content, and ids and names are text. Raises Invalid for a Note without a list.
        """
        self._is_made_of_list = False
        if isinstance(raw, list):
            return self._collection_of([self.value(item) for item in raw])
        if not isinstance(raw, str):
            return raw
        reference = read_text(raw)
        resource = self.resolve_reference(reference) if isinstance(reference, Reference) else self.resource(raw)
        if isinstance(resource, Place):
            content: object = resource.value
        elif isinstance(resource, Note) and not resource.evidence:
            content = resource.content
        else:
            return resource
        if isinstance(content, list):
            return self._collection_of(content)
        raise Invalid(
            f"unchecked: {raw} is {shown(content)}, and a Collection or a list is wanted",
            hint="`split` makes a Collection of a text's parts",
        )

    def _collection_of(self, values: Sequence[JSON]) -> Collection:
        self._is_made_of_list = True
        self._context.room.require_room(items=len(values))
        return self._context.collection(self._context.make_notes(values))

    def value(self, raw: JSON) -> JSON:
        """Resolve an argument that is a value, at any depth."""
        if isinstance(raw, str):
            return self._value(read_text(raw))
        return self._value(read_value(raw)) if texts_with_dollar(raw) else raw

    def _value(self, read_: Value) -> JSON:
        match read_:
            case Literal(value):
                return value
            case Reference():
                check_time()
                resource = self.resolve_reference(read_)
                return resource.value if isinstance(resource, Place) else self._context.content(resource)
            case Template():
                return self.text(read_)
            case ListOf(items):
                return [self._value(item) for item in items]
            case ObjectOf(items):
                return {key: self._value(item) for key, item in items.items()}

    def text(self, template: Template) -> str:
        """Return a template with its references' texts in their place."""
        return self._context.joined(
            (part if isinstance(part, str) else self._text(part) for part in template.parts), ""
        )

    def _text(self, reference: Reference) -> str:
        resource = self.resolve_reference(reference)
        return text_of(resource.value) if isinstance(resource, Place) else self._context.text(resource)

    def _find_tool(self, raw: JSON, kind: ToolKind) -> Any:
        name = self.value(raw)
        return self._context.space.tools.get(name, kind) if isinstance(name, str) else name

    def _items(self, raw: JSON) -> list[Any] | Any:
        if not isinstance(raw, list):
            return self.resource(raw)
        return [self.resource(item) if _names_resource(item) else self.value(item) for item in raw]

    def _where(self, raw: JSON) -> Any:
        if not isinstance(raw, str):
            return raw
        from infospace.expressions import parse_where

        where = parse_where(raw)
        return BoundCondition(
            where, {text: self._value(_parameter(text)) for text in where.parameters}, self._context.clock
        )

    def expression(self, raw: JSON) -> Any:
        """Resolve the parameters of a text of the language of expressions; what is no text is passed on.

        A place that does not exist stands as the error that says so: some operations admit it.
        """
        from infospace.expressions import parameters_in

        if not isinstance(raw, str):
            return raw
        return Written(raw, {text: self._parameter(text) for text in parameters_in(raw)})

    def query(self, raw: JSON) -> Any:
        """Resolve the tables and parameters of a SELECT; what is no text, or cannot be read, is passed on."""
        from infospace.expressions.query.parse import parse_query

        if not isinstance(raw, str):
            return raw
        try:
            parsed = parse_query(raw)
        except ExpressionInvalid:
            return WrittenQuery(raw)
        tables: dict[str, Any] = {text: self.collection(f"${text}") for text in parsed.variables}
        return WrittenQuery(raw, tables, {text: self._parameter(text) for text in parsed.parameters})

    def parameters(self, parsed: Parsed) -> Mapping[str, JSON | PathNotFound]:
        """Return the values of what an expression takes; a place that does not exist is the error that says so."""
        return {text: self._parameter(text) for text in parsed.parameters}

    def _expression(self, text: str, _place: tuple[str | int, ...]) -> Any:
        return self.expression(text)

    def _parameter(self, text: str) -> JSON | PathNotFound:
        try:
            return self._value(_parameter(text))
        except PathNotFound as error:
            return error


def input_resource(context: Context, value: Resource | Table | JSON) -> str:
    """Return the id of what an input is bound to: a resource itself, else a transient Note, or a Collection of rows."""
    if isinstance(value, Table):
        if isinstance(value.rows, OwnedRows) and value.rows.released:
            raise ValueError("these rows were handed over to another run")
        return context.collection(context.make_notes(value.rows, table=True)).id
    return value.id if is_resource(value) else context.note(cast("JSON", value)).id


def _parameter(text: str) -> Reference:
    reference = whole_reference(f"${text}")
    assert reference is not None  # noqa: S101 - the reader of `where` gives only references
    return reference


def _names_resource(item: JSON) -> bool:
    return isinstance(item, str) and (is_id(item) or isinstance(read_text(item), Reference))


def digest(arguments: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of resolved arguments: resources count by id and version, values as JSON."""
    return hashlib.sha256(_write_stamped(arguments).encode("utf-8", "surrogatepass")).digest()


def _stamp(value: object) -> JSON:
    if isinstance(value, (Note, Collection, Relation)):
        return {"$": value.id, "version": value.version}
    if isinstance(value, BoundCondition):
        return {"where": value.where.text, "parameters": dict(value.parameters)}
    if isinstance(value, Written):
        return {"expression": value.text, "parameters": _values(value.parameters)}
    if isinstance(value, WrittenQuery):
        tables = {name: _stamp(table) for name, table in value.tables.items()}
        return {"sql": value.text, "tables": tables, "parameters": _values(value.parameters)}
    return repr(value)


def _values(parameters: Mapping[str, JSON | PathNotFound]) -> JSON:
    """Return the values of parameters; a place that does not exist stands as the error that says so."""
    return {name: str(of) if isinstance(of, PathNotFound) else of for name, of in parameters.items()}


_write_stamped = compact_writer(default=_stamp, sort_keys=True)
