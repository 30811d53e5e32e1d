"""`query`: the rows of one SELECT over Collections and the space's own tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from infospace import Args, Collection, Context, Invalid, Sql, primitive
from infospace.authoring.shapes import NO_METADATA, CollectionShape, NoteShape, Shape, Unknown

if TYPE_CHECKING:
    from infospace.authoring.expressions import ItemMismatches
    from infospace.authoring.queries import ParsedQuery, WrittenQuery


MOST_ABSENT = 3
"""Most paths that are told as those of no item."""


class Query(Args):
    """Arguments of `query`."""

    sql: Sql = Field(
        description="One SELECT: `FROM $x` is a Collection or a list, `FROM notes`, `items`, `links` what the space's "
        "notes hold, any other name a kept Collection; `$x` elsewhere is a typed parameter. Every output has a name."
    )


def _result_shape(arguments: Mapping[str, Any], _shapes: Mapping[str, Shape]) -> Shape:
    from infospace.authoring.queries import BoundQuery, analyse

    bound = arguments.get("sql")
    rows = None
    if isinstance(bound, BoundQuery):
        query = bound.written
        rows = analyse(bound.parsed, query.shapes, query.schemas.get, named=query.named).rows
    return CollectionShape(NoteShape(rows, NO_METADATA))


def _tables(parsed: ParsedQuery, query: WrittenQuery, context: Context) -> dict[str, Collection]:
    """Return the Collections that are read, by `$reference` or name.

    Outside of a plan nothing is bound: there `$name`, too, is what has that name.
    """
    tables = {f"${reference}": table for reference, table in query.tables.items()}
    names = [(f"${variable}", variable) for variable in parsed.variables if variable not in query.tables]
    for key, name in [*names, *((name, name) for name in parsed.named)]:
        resource = context.get(name) if context.has(name) else None
        if isinstance(resource, Collection):
            tables[key] = resource
        elif resource is not None:
            raise Invalid(f"{name!r} is a {resource.kind}, not a table", hint="FROM takes a Collection or a list")
    unbound = [variable for variable in parsed.variables if f"${variable}" not in tables]
    for reference in (*unbound, *(parameter for parameter in parsed.parameters if parameter not in query.parameters)):
        hint = "FROM notes, items, links read the space, FROM name a Collection that has that name"
        raise Invalid(f"${reference} is bound to nothing here", hint=hint)
    return tables


@primitive(
    effect="reads",
    result_shape=_result_shape,
    formerly=["sql", "select", "run-sql"],
    failures=[
        "`sql` is not of the language: one sentence says what, and where in it.",
        "An operation in the SELECT list has no result for its values: a wrong type, a division by zero.",
        "A whole number has more than 38 digits.",
        "`FROM name`, and no Collection of the space has that name.",
        "DuckDB, which runs it, is not installed.",
    ],
    examples=[
        {
            "type": "query",
            "sql": "SELECT person, count(*) AS n, sum(i.price) AS total FROM $orders o, UNNEST(o.items) AS i "
            "WHERE i.price > $least GROUP BY person HAVING n > 1 ORDER BY total DESC LIMIT 5",
            "out": "$buyers",
        },
        {
            "type": "query",
            "sql": "SELECT a.title, b.name AS owner FROM $jobs a LEFT JOIN $people b ON a.owner = b.id",
            "out": "$owned",
        },
        {"type": "query", "sql": "SELECT title, words FROM notes ORDER BY words DESC LIMIT 10", "out": "$longest"},
        {
            "type": "query",
            "sql": 'SELECT n.title, i.text, i.due FROM items i JOIN notes n ON n."@id" = i.note '
            "WHERE n.folder = 'projects' AND NOT i.done AND i.due < today() ORDER BY i.due",
            "out": "$overdue",
        },
    ],
    avoid=[
        "What one verb says: `filter-structured`, `sort`, `group` and `join` keep the items, or need no SQL.",
        "Pasting a value into the text with `${x}`: write `$x`, which keeps its type and needs no quotes.",
    ],
)
async def query(args: Query, context: Context) -> Collection:
    """Give a Collection of new Notes, one for each row of one SELECT.

    `FROM $x` reads a Collection or a list, and `FROM name` the Collection that has that name in the space (an odd one
    in double quotes); the columns are the paths of its items (`content` of plain values; an alias of UNNEST is the
    element); `FROM notes` the space's kept notes: title, path, folder, root, file, created,
    modified, tags (of `#a/b` also `a`), aliases, words, text, content, metadata, and each property by its name.
    `FROM items` reads the tasks, bullets and headings in their texts: note (its id), section, line, kind, text, status
    (the character in the brackets), done, due, scheduled, completed, priority, tags, fields; `FROM links` the links:
    source, target (null where it leads nowhere), target_text, heading, relation, property, line. There are WITH, JOIN,
    UNNEST, WHERE, GROUP BY, HAVING, OVER, DISTINCT, UNION, subselects, ORDER BY and LIMIT, and the functions of
    expressions, which mean the same here; nothing else. Text stands in single quotes, an odd name in double ones.
    Missing is null, and `@id` comes out as `id`. A comparison of different types is unknown in WHERE, ON and HAVING
    (counted in `extra.mismatches`, and told in the answer's text), and fails elsewhere; computing with a column of
    mixed types needs TRY_CAST. Rows stand in the order of their tables where ORDER BY says none, nulls last. The new
    Notes have no metadata of their own.
    """
    from infospace.authoring.queries import Rows, analyse, compute_in_store, run_query

    parsed, query = args.sql.parsed, args.sql.written
    tables = {key: Rows(context.items(table)) for key, table in _tables(parsed, query, context).items()}
    for problem in analyse(parsed, {}, lambda _name: None, named=dict.fromkeys(tables, Unknown())).problems[:1]:
        raise Invalid(problem.message, hint=problem.hint)
    tallies: list[ItemMismatches] = []
    absent: list[str] = []
    with context.tables(parsed, query.parameters) as (own, generation):
        given = (query.parameters, context.clock, context.room.items)
        computed = None if tables else compute_in_store(parsed, own, *given)
        # What a store computes is told; where it lies in a file there is nothing to tell.
        if isinstance(computed, str):
            context.extra |= {"computed": "here", "not_in_the_database": computed}
        elif computed is not None:
            context.extra["computed"] = "in the database"
        if isinstance(computed, list):
            rows = iter(computed)
        else:
            rows = run_query(parsed, tables | own, *given, tallies, absent)
        collection = context.collection(context.make_notes(rows))
    if parsed.tables:
        context.extra["generation"] = generation
    context.extra["mismatches"] = sum(tally.mismatches for tally in tallies)
    for tally in tallies:
        context.remark(str(tally))
    if absent:
        context.remark(f"no item has {', '.join(f'`{path}`' for path in absent[:MOST_ABSENT])}")
    return collection
