"""What the check knows of a query before it runs: what in it is wrong, and what its rows will be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from infospace.core.errors import Invalid
from infospace.data.paths import Part, Path, nearest, show_parts
from infospace.data.properties import Property
from infospace.expressions.expression import walk
from infospace.expressions.functions import AGGREGATES
from infospace.expressions.query.parse import ParsedQuery
from infospace.expressions.query.properties import NOTHING_GIVEN, AssignedMetadata, Doubt, doubts
from infospace.expressions.query.space_tables import OF_PROPERTIES, SCHEMAS, TABLES, EmptyTable, SpaceRows
from infospace.expressions.query.tree import (
    MARK,
    Derived,
    Exists,
    Inner,
    Output,
    Query,
    Select,
    Source,
    Table,
    Union,
    Unnest,
    Variable,
    Window,
    clean,
    sources_of,
)
from infospace.expressions.show import show
from infospace.expressions.tokens import is_misspelt
from infospace.expressions.tree import Aggregate, Constant, Expression, Field, Parameter, children
from infospace.expressions.types import Senseless, Typer
from infospace.schema.combine import any_of, closed_object, list_of, nullable
from infospace.schema.infer import Schema, subschema_at, types_of
from infospace.schema.shapes import NoSuchPath, NoteShape, Shape, Unknown, place_in


@dataclass(slots=True)
class QueryAnalysis:
    """What is known of a query."""

    problems: list[Senseless] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    """What is no mistake, but fits no Note that there is now."""
    rows: Schema | None = None
    """The schema of its rows; None where not even their fields are known."""


@dataclass(slots=True)
class _Table:
    """What is known of one table: `at` gives the schema of a place, None where nothing is known."""

    alias: str
    at: Callable[[tuple[Part, ...]], Schema | NoSuchPath | None]
    names: list[str] | None
    element: Schema | None = None
    is_element: bool = False
    is_notes: bool = False


def analyse(
    parsed: ParsedQuery,
    shapes: Mapping[str, Shape],
    parameters: Callable[[str], Schema | None],
    properties: Mapping[str, Property] | None = None,
    assigned: AssignedMetadata = NOTHING_GIVEN,
    variables: Collection[str] = (),
    named: Mapping[str, Shape] | None = None,
) -> QueryAnalysis:
    """Return what is known of a query over Collections whose items have these shapes, by reference.

    `properties` are those of the space's Notes, `assigned` what the plan gives Notes itself, `variables` those
    that are bound, `named` the shapes of the items of the Collections that have a name.
    """
    seen = QueryAnalysis()
    named = named or {}
    for name in parsed.named:
        if name not in named:
            seen.problems.append(unknown_table(parsed, name, variables))
    if not seen.problems:
        analysis = _Analysis(seen, shapes, named, parameters, parsed.text, properties or {}, assigned)
        seen.rows = analysis.query(parsed.query, {})
        _write(parsed, seen)
    return seen


def unknown_table(parsed: ParsedQuery, name: str, variables: Collection[str] = ()) -> Senseless:
    """Return what is said of a table that there is not; `variables` are those that are bound."""
    near, message = nearest(name.lower(), TABLES), f"a Collection is ${name}"
    better = f"${name}" if name in variables else near if near and is_misspelt(name.lower(), near) else None
    if name not in variables:
        offer = f"did you mean {near}? " if near else ""
        message = f"{offer}there is {', '.join(TABLES)}; {message}, and none is kept as {name!r}"
    place = next(
        (source.start for source in sources_of(parsed.query) if isinstance(source, Table) and source.name == name), None
    )
    suggestion = None
    if better is not None and place is not None and parsed.text.startswith(name, place):
        suggestion = f"{parsed.text[:place]}{better}{parsed.text[place + len(name) :]}"
    return Senseless(f"there is no table {name!r}", message, suggestion)


def _write(parsed: ParsedQuery, seen: QueryAnalysis) -> None:
    """Write the query over empty tables: what cannot be written whatever they hold is told."""
    from infospace.core.clock import today_and_now
    from infospace.expressions.query.builder import Builder
    from infospace.expressions.query.columns import Rows
    from infospace.expressions.query.select import Writer

    tables: dict[str, Rows] = {f"${reference}": Rows([]) for reference in parsed.variables}
    tables |= {name: SpaceRows(name, EmptyTable()) for name in TABLES} | {name: Rows([]) for name in parsed.named}
    try:
        Writer(Builder({}, today_and_now), tables, of_nothing=True).write(parsed.query, 1)
    except Invalid as error:
        known = seen.problems and error.message.startswith("there is no ")
        if not known and all(problem.message != error.message for problem in seen.problems):
            seen.problems.append(Senseless(error.message, error.hint))


class _Analysis:
    """Goes through a query with what is known of its tables."""

    def __init__(
        self,
        seen: QueryAnalysis,
        shapes: Mapping[str, Shape],
        named: Mapping[str, Shape],
        parameters: Callable[[str], Schema | None],
        text: str,
        properties: Mapping[str, Property],
        assigned: AssignedMetadata,
    ) -> None:
        self._seen = seen
        self._properties = properties
        self._given = assigned
        self._shapes = shapes
        self._named = named
        self._parameters = parameters
        self._text = text

    def query(self, query: Query, common: Mapping[str, Schema | None]) -> Schema | None:
        """Return the schema of the rows of a query; problems are told on the way."""
        known = dict(common)
        for name, one in query.common:
            known[name.lower()] = self.query(one, known)
        return self._body(query.body, query, known)

    def _body(self, body: Select | Union, query: Query, common: Mapping[str, Schema | None]) -> Schema | None:
        if isinstance(body, Select):
            return self._select(body, query, common)
        sides = [self._body(side, Query(side), common) for side in (body.left, body.right)]
        if sides[0] is None or sides[1] is None:
            return None
        left, right = (list(side["properties"].items()) for side in sides if side is not None)
        if len(left) != len(right):
            return None
        return closed_object({name: any_of(one, other) for (name, one), (_, other) in zip(left, right, strict=True)})

    def _select(self, select: Select, query: Query, common: Mapping[str, Schema | None]) -> Schema | None:
        tables: list[_Table] = []
        inner = {**query.nested, **select.nested}
        outputs: dict[str, Expression] = {}
        find = _Finder(tables)
        typer = self._typer(find, inner, common, outputs)
        for join in select.sources:
            tables.append(self._table(join.source, tables, common))
            if join.on is not None:
                self._report(typer.condition(join.on), join.on, find, outputs)
        results: dict[str, Schema | None] | None = {}
        for output in select.outputs:
            if isinstance(output, Output):
                outputs[output.name] = output.expression
        if select.where is not None:
            self._report(typer.condition(select.where), select.where, find, {})
        for output in select.outputs:
            if isinstance(output, Output):
                self._report(typer.senseless(output.expression), output.expression, find, {})
                if results is not None:
                    results[output.name] = typer.schema(output.expression)
                continue
            for table in tables:
                if output.alias not in (None, table.alias):
                    continue
                if table.names is None:
                    results = None
                elif results is not None:
                    results |= {name: _schema(table.at((name,))) for name in table.names}
        for node in (*select.group, *(sort.by for sort in query.order)):
            self._report(typer.senseless(node), node, find, outputs)
        if select.having is not None:
            self._report(typer.condition(select.having), select.having, find, outputs)
        for window in inner.values():
            if isinstance(window, Window):
                for node in (*window.arguments, *window.partition, *(sort.by for sort in window.order)):
                    self._report(typer.senseless(node), node, find, {})
        self._grouped(select, query, find, outputs)
        return None if results is None else closed_object(results)

    def _report(
        self,
        problems: Iterator[Senseless],
        node: Expression,
        find: _Finder,
        outputs: Mapping[str, Expression],
    ) -> None:
        for part in walk(node):
            if isinstance(part, Field) and not _is_mark(part) and not _is_output(part, outputs):
                problem = find.problem(part.path, self._text)
                if problem is not None and problem not in self._seen.problems:
                    self._seen.problems.append(problem)
        for problem in problems:
            suggestion = None if problem.suggestion is None or MARK in problem.suggestion else problem.suggestion
            result = Senseless(clean(problem.message), problem.hint, suggestion)
            if result not in self._seen.problems:
                self._seen.problems.append(result)

        def property_of(path: Path) -> str | None:
            node = Field(path)
            return None if _is_mark(node) or _is_output(node, outputs) else find.property(path)

        results = [*doubts(node, property_of, self._properties, self._given), *self._hidden(node, find, outputs)]
        self._seen.doubts += [doubt for doubt in results if doubt not in self._seen.doubts]

    def _hidden(self, node: Expression, find: _Finder, outputs: Mapping[str, Expression]) -> Iterator[Doubt]:
        """Iterate over the columns of `notes` that are read where Notes have a property of that name, too."""
        for part in walk(node):
            name = None if not isinstance(part, Field) or _is_output(part, outputs) else find.column(part.path)
            if name is not None and name in self._properties and name not in OF_PROPERTIES:
                some = f"{(count := self._properties[name].notes):,} note{'s' * (count != 1)}"
                message = f"`{name}` is the column of every note, and a property of {some}"
                yield Doubt("hidden-property", message, f"the property is metadata.{show_parts((name,))}")

    def _grouped(self, select: Select, query: Query, find: _Finder, outputs: Mapping[str, Expression]) -> None:
        """Tell of fields that are neither grouped by nor in an aggregate."""
        trees = [output.expression for output in select.outputs if isinstance(output, Output)]
        aggregated = any(isinstance(node, Aggregate) for tree in trees for node in walk(tree))
        if not (select.group or aggregated or select.having is not None):
            return
        keys = []
        for node in select.group:
            place = node.value if isinstance(node, Constant) else None
            if isinstance(place, int) and 1 <= place <= len(trees):
                keys.append(trees[place - 1])
                continue
            keys.append(node)
            if _is_output(node, outputs):
                keys.append(outputs[str(node.path.parts[0])])  # type: ignore[union-attr]
        known = {find.canonical(node.path) for node in keys if isinstance(node, Field)}
        del query
        for tree in trees:
            for field_ in _outside(tree, keys):
                if find.canonical(field_.path) not in known and find.knows(field_.path):
                    text = show_parts(field_.path.parts)
                    message = f"`{text}` is neither grouped by nor in an aggregate"
                    hint = f"GROUP BY {text}, or first({text}), which takes that of the first row"
                    self._seen.problems.append(Senseless(message, hint))

    def _typer(
        self,
        find: _Finder,
        inner: Mapping[str, Inner],
        common: Mapping[str, Schema | None],
        outputs: Mapping[str, Expression],
    ) -> Typer:
        cache: dict[str, Schema | None] = {}

        def of_inner(name: str) -> Schema | None:
            if name not in cache:
                cache[name] = self._of_inner(inner[name], common, typer) if name in inner else None
            return cache[name]

        def schema(path: Path) -> Schema | None:
            first = path.parts[0]
            if isinstance(first, str) and first.startswith(MARK):
                return of_inner(first)
            results = find.schema(path)
            if results is None and len(path.parts) == 1 and not find.knows(path) and str(first) in outputs:
                # In what an output is made of, its own name is a column: `max(price) AS price` ends there.
                return self._typer(find, inner, common, {}).schema(outputs[str(first)])
            return results

        def parameter(name: str) -> Schema | None:
            if name.startswith(MARK):
                return list_of(of_inner(name))
            return self._parameters(name)

        typer = Typer(schema, parameter, text=self._text, never="")
        return typer

    def _of_inner(self, inner: Inner, common: Mapping[str, Schema | None], typer: Typer) -> Schema | None:
        if isinstance(inner, Window):
            return _windowed(inner, typer)
        rows = self.query(inner.query, common)
        if isinstance(inner, Exists):
            return {"type": "boolean"}
        properties = list(rows["properties"].values()) if rows is not None else []
        return nullable(properties[0]) if len(properties) == 1 else None

    def _table(self, source: Source, before: list[_Table], common: Mapping[str, Schema | None]) -> _Table:
        match source:
            case Variable(reference, alias):
                shape = self._shapes.get(reference, Unknown())
                return _of_shape(alias, shape)
            case Table(name, alias) if name in self._named and name.lower() not in common:
                return _of_shape(alias, self._named[name])
            case Table(name, alias) if name.lower() not in common:
                return _of_space(alias, name.lower())
            case Table(name, alias):
                return _of_rows(alias, common[name.lower()])
            case Derived(query, alias):
                return _of_rows(alias, self.query(query, common))
            case Unnest(path, alias):
                problem = _Finder(before).problem(path, self._text)
                if problem is not None and problem not in self._seen.problems:
                    self._seen.problems.append(problem)
                results = _Finder(before).schema(path)
                inner = subschema_at(results, (0,)) if results is not None else None
                element = None if isinstance(inner, NoSuchPath) else inner
                return _Table(alias, _places(NoteShape(element)), _names(element), element, is_element=True)


def _of_shape(alias: str, shape: Shape) -> _Table:
    content = shape.content if isinstance(shape, NoteShape) else None
    table = _Table(alias, _places(shape), _names(content))
    if content is not None and "object" not in types_of(content):
        table.element, table.is_element = content, True
    return table


def _names(schema: Schema | None) -> list[str] | None:
    """Return the keys of objects of a schema, where there are no others."""
    if schema is None:
        return None
    if types_of(schema) - {"null"} <= {"string", "number", "integer", "boolean"}:
        return ["content"]
    properties = schema.get("properties")
    closed = schema.get("additionalProperties") is False
    return list(properties) if isinstance(properties, Mapping) and closed else None


def _of_space(alias: str, name: str) -> _Table:
    """Return one of the space's own tables; `notes` has the properties of its Notes besides its columns."""
    columns = SCHEMAS[name]
    if name != "notes":
        return _Table(alias, _places(NoteShape(closed_object(dict(columns)))), list(columns))
    shape = NoteShape({"type": "object", "properties": dict(columns)})
    return _Table(alias, _places(shape, own=True), None, is_notes=True)


def _places(shape: Shape, *, own: bool = False) -> Callable[[tuple[Part, ...]], Schema | NoSuchPath | None]:
    def at(parts: tuple[Part, ...]) -> Schema | NoSuchPath | None:
        if own and parts and parts[0] not in SCHEMAS["notes"]:
            return None
        return place_in(shape, parts)

    return at


def _of_rows(alias: str, rows: Schema | None) -> _Table:
    return _Table(alias, _places(NoteShape(rows)) if rows is not None else lambda _parts: None, _names(rows))


class _Finder:
    """Says which table a path means, as far as that is known."""

    def __init__(self, tables: list[_Table]) -> None:
        self._tables = tables

    def _find(self, path: Path) -> tuple[_Table | None, tuple[Part, ...], list[_Table]]:
        """Return the table, the place in it, and all that may have it where there is not one."""
        first, rest = path.parts[0], path.parts[1:]
        named = next((table for table in self._tables if table.alias == first), None)
        if named is not None and (rest or named.is_element):
            return named, rest, []
        may = [table for table in self._tables if not isinstance(table.at(path.parts), NoSuchPath)]
        return (may[0] if len(may) == 1 else None), path.parts, may

    def schema(self, path: Path) -> Schema | None:
        """Return what is known of a path."""
        table, parts, _ = self._find(path)
        if table is None:
            return None
        return table.element if not parts else _schema(table.at(parts))

    def knows(self, path: Path) -> bool:
        """Whether one table has it, for all that is known."""
        table, parts, _ = self._find(path)
        subschema = None if table is None or not parts else table.at(parts)
        return subschema is not None and not isinstance(subschema, NoSuchPath)

    def property(self, path: Path) -> str | None:
        """Return the property of Notes that a path means, if it means one."""
        match self._in_notes(path):
            case ["metadata" | "@metadata", str(name), *_]:
                return name
            case [str(name), *_] if name not in SCHEMAS["notes"] and not name.startswith("@"):
                return name
        return None

    def column(self, path: Path) -> str | None:
        """Return the column of `notes` that a path means, if it means one."""
        match self._in_notes(path):
            case [str(name), *_] if name in SCHEMAS["notes"]:
                return name
        return None

    def _in_notes(self, path: Path) -> list[Part]:
        table, parts, _ = self._find(path)
        return list(parts) if table is not None and table.is_notes else []

    def canonical(self, path: Path) -> tuple[Part, ...]:
        """Return a path without its table's alias, where there is but one table that it can mean."""
        table, parts, _ = self._find(path)
        return path.parts if table is None else (table.alias, *parts)

    def problem(self, path: Path, text: str) -> Senseless | None:
        """Return what is wrong with a path in a query: nothing has it, or several tables do."""
        table, parts, may = self._find(path)
        if table is not None and not may:
            subschema = table.at(parts) if parts else None
            if not isinstance(subschema, NoSuchPath):
                return None
            return _missing(path, subschema.known, f" in `{table.alias}`", text)
        if may:
            sure = [table for table in may if table.at(path.parts) is not None and table.names is not None]
            if len(sure) < 2:
                return None
            message = f"`{show_parts(path.parts)}` is in `{sure[0].alias}` and in `{sure[1].alias}`"
            return Senseless(message, f"say which: {sure[0].alias}.{show_parts(path.parts)}")
        known_names = [key for one in self._tables for key in (one.names or ())]
        return _missing(path, known_names, " in " + " or ".join(f"`{one.alias}`" for one in self._tables), text)


def _missing(path: Path, known: object, where: str, text: str) -> Senseless:
    names = [str(name) for name in known] if isinstance(known, (list, tuple)) else []
    last = str(path.parts[-1])
    near = nearest(last, names)
    hint = f"did you mean `{near}`?" if near else f"there is {', '.join(names[:12])}" if names else None
    quoted = len(path.parts) == 1 and f'"{last}"' in text
    if quoted and near is None:
        hint = f"a text stands in single quotes: '{last}'"
    better = (*path.parts[:-1], near) if near is not None and not quoted and is_misspelt(last, near) else None
    suggestion = None if better is None else _with_path(text, path, Path(better))
    return Senseless(f"there is no `{show_parts(path.parts)}`{where}", hint, suggestion)


def _with_path(text: str, path: Path, better: Path) -> str:
    """Return a query with another path wherever one stands."""
    from infospace.expressions.query.tokens import tokenize_query

    for word in reversed(tokenize_query(text)):
        if isinstance(word.value, Field) and word.value.path == path:
            text = f"{text[: word.start]}{show(Field(better))}{text[word.start + len(word.text) :]}"
    return text


def _schema(subschema: Schema | NoSuchPath | None) -> Schema | None:
    return None if isinstance(subschema, NoSuchPath) else subschema


def _windowed(window: Window, typer: Typer) -> Schema | None:
    if window.function in AGGREGATES:
        return typer.schema(window.arguments[0])
    match window.function:
        case "row_number" | "rank" | "dense_rank" | "ntile":
            return {"type": "integer"}
        case "percent_rank" | "cume_dist":
            return {"type": "number"}
    results = nullable(typer.schema(window.arguments[0]))
    return results if len(window.arguments) < 3 else any_of(results, typer.schema(window.arguments[2]))


def _is_mark(node: Field) -> bool:
    return str(node.path.parts[0]).startswith(MARK)


def _is_output(node: Expression, outputs: Mapping[str, Expression]) -> bool:
    return isinstance(node, Field) and len(node.path.parts) == 1 and str(node.path.parts[0]) in outputs


def _outside(tree: Expression, keys: list[Expression]) -> Iterator[Field]:
    """Iterate over the fields that stand in no aggregate and in nothing that is grouped by."""
    if tree in keys or isinstance(tree, (Aggregate, Parameter)):
        return
    if isinstance(tree, Field):
        if not _is_mark(tree):
            yield tree
        return
    for part in children(tree):
        yield from _outside(part, keys)
