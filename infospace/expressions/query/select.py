"""SELECTs as SQL of the engine: written anew from the tree, in an order of rows that is always the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.plural import pluralize
from infospace.data.paths import Path, nearest
from infospace.expressions.expression import walk
from infospace.expressions.query.aggregate import aggregate, sort_sql, window
from infospace.expressions.query.builder import (
    UNSURE,
    Builder,
    Typed,
    first_whole,
    key_of,
    renamed,
    sort_key,
    unify,
    wholeness,
)
from infospace.expressions.query.columns import NUMBERS, Type, unnest
from infospace.expressions.query.relations import (
    DISTINCT_ROWS,
    Base,
    Compiled,
    DerivedRows,
    Relation,
    Scope,
    Tables,
    null_of,
    rows_in_order,
)
from infospace.expressions.query.space_tables import TABLES
from infospace.expressions.query.translate import Expressions
from infospace.expressions.query.tree import (
    MARK,
    Among,
    Derived,
    Exists,
    Inner,
    Output,
    Query,
    Scalar,
    Select,
    Sort,
    Source,
    Stars,
    Table,
    Union,
    Unnest,
    Variable,
    Window,
    clean,
)
from infospace.expressions.show import show
from infospace.expressions.tree import Aggregate, Constant, Expression, Field, Parameter

_JOINS: Final = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "cross": "CROSS JOIN",
}


class Writer:
    """Writes one query over tables that are at hand.

    Where they are `of_nothing`, as in the check, how many columns `*` gives is not known.
    """

    def __init__(self, builder: Builder, tables: Tables, *, of_nothing: bool = False) -> None:
        self._of_nothing = of_nothing
        self._builder = builder
        self._tables = tables
        self._common: dict[str, Compiled] = {}
        self._with: list[str] = []

    def write(self, query: Query, most: int) -> Compiled:
        """Write a query, of which at most so many rows are wanted."""
        compiled = self._query(query, None, most)
        if self._with:
            return dataclasses.replace(compiled, sql=f"WITH {', '.join(self._with)} {compiled.sql}")
        return compiled

    def _query(self, query: Query, outer: Scope | None, most: int | None = None) -> Compiled:
        hidden = dict(self._common)
        for name, common in query.common:
            compiled = self._query(common, None)
            called = self._builder.name("w")
            self._with.append(f"{called} AS MATERIALIZED ({compiled.sql})")
            self._common[name.lower()] = dataclasses.replace(compiled, sql=f"SELECT * FROM {called}")
        body, sorts = self._body(query, outer)
        self._common = hidden
        limit = self._count(query.limit, "LIMIT")
        offset = self._count(query.offset, "OFFSET")
        columns = ", ".join(body.columns())
        ordered = ", ".join([*sorts, body.order])
        if most is not None:
            limit = most if limit is None else min(limit, most)
            tail = f" LIMIT {limit}" + (f" OFFSET {offset}" if offset else "")
            sql = f"SELECT {columns} FROM ({body.sql}) ORDER BY {ordered}{tail}"
            return Compiled(sql, body.outputs, body.order, body.open)
        if not sorts and limit is None and offset is None:
            return body
        order = self._builder.name("r")
        tail = "" if limit is None else f" LIMIT {limit}"
        tail += f" OFFSET {offset}" if offset else ""
        sql = f"SELECT {columns}, row_number() OVER (ORDER BY {ordered}) AS {order} FROM ({body.sql})"
        return Compiled(f"{sql} ORDER BY {order}{tail}", body.outputs, order, body.open)

    def _count(self, node: Expression | None, clause: str) -> int | None:
        if node is None:
            return None
        value: Any = None
        if isinstance(node, Constant):
            value = node.value
        elif isinstance(node, Parameter):
            value = self._builder.parameters.get(node.name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise Invalid(f"{clause} takes a whole number from 0, or a $parameter that is one")
        return min(value, 2**62)

    def _body(self, query: Query, outer: Scope | None) -> tuple[Compiled, list[str]]:
        """Write what ORDER BY orders, and what it orders by."""
        body = query.body
        if isinstance(body, Select) and not body.distinct:
            return _SelectWriter(self, body, query, outer).write()
        compiled = self._operand(body, outer)
        if not query.order:
            return compiled, []
        relation = DerivedRows(DISTINCT_ROWS, compiled, self._builder)
        scope = Scope([relation])
        expressions = Expressions(
            self._builder,
            scope.resolve,
            strict=True,
            inner=lambda name, value: self.nested(query.nested, name, value, None),
            instead=_output_finder(body, scope),
        )
        outputs = compiled.outputs
        keys = []
        for sort in query.order:
            by = of_place(sort.by, [Field(Path((name,))) for name, _ in outputs])
            keys.append(sort_sql(expressions.value(by), sort))
        renamed = [(name, relation.column((name,))) for name, _ in outputs]
        return Compiled(f"SELECT * FROM {relation.sql()}", tuple(renamed), relation.order, compiled.open), keys

    def _operand(self, body: Select | Union, outer: Scope | None) -> Compiled:
        if isinstance(body, Union):
            return self._union(body, outer)
        compiled, _ = _SelectWriter(self, body, Query(body), outer).write()
        return self._distinct(compiled) if body.distinct else compiled

    def _union(self, body: Union, outer: Scope | None) -> Compiled:
        sides = [self._operand(body.left, outer), self._operand(body.right, outer)]
        counts = [len(side.outputs) for side in sides]
        for side, other in (sides, sides[::-1]):
            if side.open and not side.outputs and other.outputs:
                # `*` of a table without items: it has no columns, and no rows to join.
                return other if body.keep_all else self._distinct(other)
        if counts[0] != counts[1] and not (self._of_nothing and any(side.open for side in sides)):
            raise Invalid(f"UNION joins a SELECT of {pluralize(counts[0], 'output')} with one of {counts[1]}")
        names = [self._builder.name("o") for _ in range(min(counts))]
        listed = list(names)
        selected: list[list[str]] = [[], []]
        outputs = []
        for place, name in enumerate(names):
            pair = [side.outputs[place][1] for side in sides]
            unified, type_ = unify(pair)
            for which in (0, 1):
                sql = null_of(type_) if pair[which].type is Type.NULL else unified[which].sql
                selected[which].append(f"{sql} AS {name}")
            whole = None
            if type_ is Type.NUM:
                whole = UNSURE if any(typed.whole == UNSURE for typed in pair) else self._builder.name("o")
            if whole not in (None, UNSURE):
                listed.append(str(whole))
                for which in (0, 1):
                    sql = "FALSE" if pair[which].type is Type.NULL else wholeness(pair[which])
                    selected[which].append(f"{sql} AS {whole}")
            most = None if None in (pair[0].most, pair[1].most) else max(pair[0].most or 0, pair[1].most or 0)
            outputs.append((sides[0].outputs[place][0], Typed(name, type_, most, pair[0].element, whole=whole)))
        order, side_of, inner = (self._builder.name("r") for _ in range(3))
        parts = [
            f"SELECT {', '.join(columns)}, {which} AS {side_of}, {side.order}::HUGEINT AS {inner} FROM ({side.sql})"
            for which, (columns, side) in enumerate(zip(selected, sides, strict=True))
        ]
        numbered = f"row_number() OVER (ORDER BY {side_of}, {inner}) AS {order}"
        sql = f"SELECT {', '.join(listed)}, {numbered} FROM ({' UNION ALL '.join(parts)})"
        compiled = Compiled(sql, tuple(outputs), order, sides[0].open)
        return compiled if body.keep_all else self._distinct(compiled)

    def _distinct(self, compiled: Compiled) -> Compiled:
        """Keep the first of equal rows."""
        order = self._builder.name("r")
        columns, keys, outputs = [], [], []
        for name, typed in compiled.outputs:
            mine = self._builder.name("o")
            if typed.type is Type.NULL:
                columns.append(f"{null_of(Type.NULL)} AS {mine}")
            else:
                columns.append(f"arg_min({typed.sql}, {compiled.order}) AS {mine}")
                keys.append(sort_key(typed))
            whole = None
            if typed.tells_whole:
                whole = self._builder.name("o")
                columns.append(f"{first_whole(typed.sql, str(typed.whole), compiled.order)} AS {whole}")
            outputs.append((name, renamed(typed, mine, whole)))
        group = ", ".join(keys) or "1 = 1"
        columns.append(f"min({compiled.order}) AS {order}")
        sql = f"SELECT {', '.join(columns)} FROM ({compiled.sql}) GROUP BY {group}"
        return Compiled(sql, tuple(outputs), order, compiled.open)

    def relation(self, source: Source, before: Sequence[Relation], outer: Scope | None) -> Relation:
        """Return a table as a SELECT has it; `before` stand to its left."""
        match source:
            case Variable(reference, alias):
                return Base(alias, self._tables[f"${reference}"], self._builder)
            case Table(name, alias, start):
                common = self._common.get(name.lower())
                if common is not None:
                    return DerivedRows(alias, common, self._builder)
                if name in self._tables and name.lower() not in TABLES:
                    return Base(alias, self._tables[name], self._builder)
                if name.lower() not in self._tables:
                    raise Invalid(f"there is no table {name!r}", hint="a Collection is $name, the space's notes notes")
                rows = self._tables.get(f"{name.lower()}@{start}", self._tables[name.lower()])
                return Base(alias, rows, self._builder, own=True)
            case Derived(query, alias):
                return DerivedRows(alias, self._query(query, None), self._builder)
            case Unnest(path, alias):
                return self._elements(path, alias, Scope(before, outer))

    def _elements(self, path: Path, alias: str, scope: Scope) -> Relation:
        results = scope.find(path)
        if results is None:
            parent, parts = scope.relations[0], path.parts
        else:
            parent, parts = results
        if not isinstance(parent, Base) or parent not in scope.relations:
            message = f"UNNEST({show(Field(path))}) takes a path of a table that stands before it in FROM"
            raise Invalid(
                message, hint="such as FROM $orders o, UNNEST(o.items) AS i; what a SELECT made is no such path"
            )
        base = Base(alias, unnest(parent.rows, parts, show(Field(path))), self._builder, element=True)
        base.joined_to = parent.order
        return base

    def nested(self, inner: Mapping[str, Inner], name: str, value: Typed | None, outer: Scope | None) -> Typed:
        """Write a subselect within an expression."""
        node = inner[name]
        if isinstance(node, Window):
            raise Invalid(f"{node.function}(…) OVER (…) stands in the SELECT list and in ORDER BY alone")
        compiled = self._query(node.query, outer)
        if isinstance(node, Exists):
            return Typed(f"EXISTS (SELECT 1 FROM ({compiled.sql}))", Type.BOOL)
        if len(compiled.outputs) != 1:
            raise Invalid(f"a subselect within an expression gives one output, and this one {len(compiled.outputs)}")
        [(_, typed)] = compiled.outputs
        if isinstance(node, Scalar):
            return renamed(typed, f"(SELECT {typed.sql} FROM ({compiled.sql}))")
        assert value is not None  # noqa: S101 - what stands behind IN has a value before it
        return _among(node, compiled, typed, value)


def _among(_node: Among, compiled: Compiled, typed: Typed, value: Typed) -> Typed:
    if Type.NULL in (typed.type, value.type):
        return Typed(f"CASE WHEN EXISTS (SELECT 1 FROM ({compiled.sql})) THEN NULL ELSE FALSE END", Type.BOOL)
    alike = typed.type is value.type and typed.type is not Type.ANY
    if alike or (typed.type in NUMBERS and value.type in NUMBERS and (typed.is_small or value.is_small)):
        return Typed(f"({value.sql}) IN (SELECT {typed.sql} FROM ({compiled.sql}))", Type.BOOL)
    return Typed(f"({key_of(value)}) IN (SELECT {key_of(typed)} FROM ({compiled.sql}))", Type.BOOL)


def of_place(node: Expression, outputs: Sequence[Expression]) -> Expression:
    """Return the output that a whole number means in ORDER BY and GROUP BY."""
    if isinstance(node, Constant):
        place = node.value
        if isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= len(outputs):
            raise Invalid(
                f"`{show(node)}` orders and groups nothing", hint=f"write an output's name, or 1 to {len(outputs)}"
            )
        return outputs[place - 1]
    return node


def rewrite(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a tree with `change` made of each node, outermost first; None leaves a node and goes into it."""
    if isinstance(node, tuple):
        return tuple(rewrite(part, change) for part in node)
    if isinstance(node, (Path, str)) or not hasattr(node, "__dataclass_fields__"):
        return node
    changed = change(node)
    if changed is not None:
        return changed
    parts = {field.name: rewrite(getattr(node, field.name), change) for field in dataclasses.fields(node)}
    return type(node)(**parts)


def _output_finder(body: Select | Union, scope: Scope) -> Callable[[Expression], Typed | None]:
    """Return what gives the output that an expression of a SELECT's list is, behind its DISTINCT."""
    outputs = [output for output in body.outputs if isinstance(output, Output)] if isinstance(body, Select) else []

    def known(node: Expression) -> Typed | None:
        if isinstance(node, Constant):
            return None
        name = next((output.name for output in outputs if output.expression == node), None)
        return None if name is None else scope.resolve(Path((name,)))

    return known


class _SelectWriter:
    """Writes one SELECT and what it is ordered by."""

    def __init__(self, writer: Writer, select: Select, query: Query, outer: Scope | None) -> None:
        self._writer = writer
        self._builder = writer._builder  # noqa: SLF001 - one thing in two classes
        self._select = select
        self._inner = {**query.nested, **select.nested}
        self._outer = outer
        self._relations: list[Relation] = []
        self._scope = Scope(self._relations, outer)
        self._order = self._builder.name("r")
        self._sorts = query.order
        self._keys: list[tuple[Expression, str, Typed]] = []
        self._trees: dict[str, Expression] = {}
        self._columns: list[str] = []
        """More columns of the joined rows."""
        self._wholes: dict[str, str] = {}
        """What says of keys of groups whether they are whole, by the key: columns of the joined rows, too."""

    def write(self) -> tuple[Compiled, list[str]]:
        """Write it; return also what stands in ORDER BY."""
        joined = self._from()
        outputs = self._outputs()
        self._trees = {output.name: output.expression for output in reversed(outputs)}
        trees = [output.expression for output in outputs]
        sorts = [dataclasses.replace(sort, by=self._with_outputs(of_place(sort.by, trees))) for sort in self._sorts]
        having = None if self._select.having is None else self._with_outputs(self._select.having)
        where = ""
        if self._select.where is not None:
            self._refuse_aggregates(self._select.where, "WHERE")
            self._builder.clause = "WHERE"
            where = f" WHERE {self._expressions(strict=False).condition(self._select.where, top=True)}"
        grouped = bool(self._select.group) or having is not None
        grouped = grouped or any(self._has_aggregate(tree) for tree in [*trees, *(sort.by for sort in sorts)])
        make = self._grouped(trees) if grouped else self._expressions(strict=True)
        columns, result = [], []
        for output in outputs:
            typed, name = make.value(output.expression), self._builder.name("o")
            sql = null_of(Type.NULL) if typed.type is Type.NULL else typed.sql
            columns.append(f"{sql} AS {name}")
            whole = typed.whole
            if whole not in (None, UNSURE):
                whole = self._builder.name("o")
                columns.append(f"{typed.whole} AS {whole}")
            result.append((output.name, renamed(typed, name, whole)))
        keys = []
        for sort in sorts:
            typed, name = make.value(sort.by), self._builder.name("k")
            if typed.type is not Type.NULL:
                columns.append(f"{typed.sql} AS {name}")
                keys.append(sort_sql(dataclasses.replace(typed, sql=name), sort))
        order = self._builder.name("r")
        columns.append(f"{f'min({self._order})' if grouped else self._order} AS {order}")
        # HAVING may read columns that nothing else does: the rows are written behind it.
        tail = self._group_by(having) if grouped else ""
        sql = f"SELECT {', '.join(columns)} FROM ({self._rows(joined, where)}){tail}"
        is_open = any(isinstance(one, Stars) and any(map(_is_open, self._chosen(one))) for one in self._select.outputs)
        return Compiled(sql, tuple(result), order, is_open), keys

    def _from(self) -> list[tuple[str, Relation, str]]:
        """Return how each table is joined, the table, and the condition."""
        joined: list[tuple[str, Relation, str]] = []
        for join in self._select.sources:
            relation = self._writer.relation(join.source, list(self._relations), self._outer)
            self._relations.append(relation)
            conditions = []
            kind = join.kind
            if isinstance(relation, Base) and relation.joined_to:
                if kind in ("right", "full"):
                    raise Invalid("UNNEST is joined by a comma, JOIN or LEFT JOIN")
                conditions.append(f"{relation.parent} = {relation.joined_to}")
                kind = "inner" if kind == "cross" else kind
            if join.on is not None:
                self._refuse_aggregates(join.on, "ON")
                self._builder.clause = "ON"
                conditions.append(self._expressions(strict=False).condition(join.on, top=True))
            joined.append((_JOINS[kind], relation, " AND ".join(conditions)))
        return joined

    def _rows(self, joined: list[tuple[str, Relation, str]], where: str) -> str:
        """Write the joined rows, each with its number; called when all columns are known."""
        keys = "".join(f", {typed.sql} AS {name}" for _, name, typed in self._keys)
        keys += "".join(f", {column}" for column in self._columns)
        parts = [joined[0][1].sql()]
        for word, relation, condition in joined[1:]:
            parts.append(f"{word} {relation.sql()}" + (f" ON {condition}" if condition else ""))
        return f"SELECT *, {rows_in_order(self._relations)} AS {self._order}{keys} FROM {' '.join(parts)}{where}"

    def _outputs(self) -> list[Output]:
        results: list[Output] = []
        for output in self._select.outputs:
            results += self._all(output) if isinstance(output, Stars) else [output]
        names: set[str] = set()
        for output in results:
            if output.name in names:
                message = f"two outputs are called {output.name!r}"
                raise Invalid(message, hint=f"name one of them: … AS {output.name}_2")
            names.add(output.name)
        if not results:
            results = []
        return results

    def _chosen(self, stars: Stars) -> list[Relation]:
        return [relation for relation in self._relations if stars.alias is None or relation.alias == stars.alias]

    def _all(self, stars: Stars) -> list[Output]:
        chosen = self._chosen(stars)
        if not chosen:
            aliases = [relation.alias for relation in self._relations]
            near = nearest(stars.alias or "", aliases)
            raise Invalid(f"no table is called {stars.alias!r}", hint=f"there is {near or ', '.join(aliases)}")
        return [
            Output(
                name, Field(Path((relation.alias, *((name,) if not _is_whole(relation, name) else ())))), stars.start
            )
            for relation in chosen
            for name in relation.all()
        ]

    def _with_outputs(self, node: Expression) -> Any:
        """Return an expression with outputs in the place of their names, but within aggregates."""

        def change(part: Any) -> Any:
            if isinstance(part, Aggregate):
                return part
            if isinstance(part, Field) and len(part.path.parts) == 1:
                return self._trees.get(str(part.path.parts[0]))
            return None

        return rewrite(node, change)

    def _expressions(self, *, strict: bool) -> Expressions:
        return Expressions(
            self._builder,
            self._scope.resolve,
            strict=strict,
            inner=lambda name, value: self._of_inner(name, value, strict=strict, grouped=False),
            complete=lambda: [relation.column((key,)) for relation in self._relations for key in relation.all()],
        )

    def _of_inner(self, name: str, value: Typed | None, *, strict: bool, grouped: bool) -> Typed:
        node = self._inner[name]
        if isinstance(node, Window) and strict:
            make = self._of_groups if grouped else self._expressions(strict=True)
            assert make is not None  # noqa: S101 - made before anything is written
            return window(
                node, make, f"min({self._order})" if grouped else self._order, None if grouped else self._extra
            )
        return self._writer.nested(self._inner, name, value, None if grouped else self._scope)

    def _extra(self, typed: Typed) -> Typed:
        """Let what a window goes by be a column of its own: the engine takes none there that may fail."""
        if typed.type is Type.NULL:
            return typed
        name = self._builder.name("x")
        self._columns.append(f"{typed.sql} AS {name}")
        return renamed(typed, name)

    def _has_aggregate(self, node: Expression) -> bool:
        for part in walk(node):
            if isinstance(part, Aggregate):
                return True
            inner = self._inner.get(str(part.path.parts[0])) if isinstance(part, Field) else None
            if isinstance(inner, Window) and any(map(self._has_aggregate, _parts_of(inner))):
                return True
        return False

    @staticmethod
    def _refuse_aggregates(node: Expression, clause: str) -> None:
        for part in walk(node):
            if isinstance(part, Aggregate):
                message = f"{clause} has `{clean(show(part))}`, which is made of many rows"
                raise Invalid(message, hint="HAVING stands behind GROUP BY, and takes aggregates")

    _of_groups: Expressions | None = None

    def _grouped(self, trees: Sequence[Expression]) -> Expressions:
        """Return what writes expressions over groups."""
        plain = self._expressions(strict=True)
        for node in self._select.group:
            tree = of_place(node, trees)
            if isinstance(tree, Field) and len(tree.path.parts) == 1 and not self._scope.has(tree.path):
                tree = self._trees.get(str(tree.path.parts[0]), tree)
            self._refuse_aggregates(tree, "GROUP BY")
            typed = plain.value(tree)
            if typed.type is not Type.NULL:
                name = self._builder.name("g")
                if typed.tells_whole:
                    self._wholes[name] = self._builder.name("g")
                    self._columns.append(f"{typed.whole} AS {self._wholes[name]}")
                self._keys.append((self._canonical(tree), name, typed))
            else:
                self._keys.append(
                    (self._canonical(tree), self._builder.name("g"), Typed(null_of(Type.NULL), Type.NULL))
                )
        self._of_groups = self._over_groups(strict=True)
        return self._of_groups

    def _over_groups(self, *, strict: bool) -> Expressions:
        plain = self._expressions(strict=True)
        return Expressions(
            self._builder,
            self._ungrouped,
            strict=strict,
            inner=lambda name, value: self._of_inner(name, value, strict=strict, grouped=True),
            aggregate=lambda node: aggregate(node, plain, self._order),
            instead=self._key_of,
        )

    def _canonical(self, node: Expression) -> Any:
        def change(part: Any) -> Any:
            if isinstance(part, Field) and not str(part.path.parts[0]).startswith(MARK):
                return Field(self._scope.canonical(part.path))
            return None

        return rewrite(node, change)

    def _key_of(self, node: Expression) -> Typed | None:
        """Return what an expression is, where it is grouped by."""
        if isinstance(node, (Constant, Parameter)) or not self._keys:
            return None
        canonical = self._canonical(node)
        for tree, name, typed in self._keys:
            if tree == canonical:
                if typed.type is Type.NULL:
                    return Typed("NULL", Type.NULL)
                plain = typed.type in (Type.INT, Type.TEXT, Type.BOOL)
                sql = name if plain else f"arg_min({name}, {self._order})"
                whole = self._wholes.get(name)
                return renamed(typed, sql, whole and first_whole(name, whole, self._order))
        return None

    def _ungrouped(self, path: Path) -> Typed:
        typed = self._scope.resolve(path)
        if typed.type is Type.NULL:
            return typed
        text = show(Field(path))
        message = f"`{text}` is neither grouped by nor in an aggregate"
        raise Invalid(message, hint=f"GROUP BY {text}, or first({text}), which takes that of the first row")

    def _group_by(self, having: Expression | None) -> str:
        sql = ""
        keys = [
            sort_key(dataclasses.replace(typed, sql=name))
            for _, name, typed in self._keys
            if typed.type is not Type.NULL
        ]
        keys += [name for _, name, typed in self._keys if typed.type is Type.NULL]
        if keys:
            sql = f" GROUP BY {', '.join(keys)}"
        if having is not None:
            self._builder.clause = "HAVING"
            sql += f" HAVING {self._over_groups(strict=False).condition(having)}"
        return sql


def _is_open(relation: Relation) -> bool:
    """Whether `*` of a table gives the columns that its items have, and others are null."""
    return isinstance(relation, Base) or (isinstance(relation, DerivedRows) and relation.compiled.open)


def _is_whole(relation: Relation, name: str) -> bool:
    return isinstance(relation, Base) and name == "content" and relation.rows.keys() == ["content"]


def _parts_of(node: Window) -> list[Expression]:
    inner = [part for argument in node.arguments for part in _arguments(argument)]
    return [*inner, *node.partition, *(sort.by for sort in node.order)]


def _arguments(node: Expression) -> tuple[Expression, ...]:
    return node.arguments if isinstance(node, Aggregate) else (node,)


__all__ = ["Sort", "Writer", "of_place", "rewrite"]
