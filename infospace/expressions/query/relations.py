"""The tables of one SELECT as it runs, and which of their columns a name means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from infospace.core.errors import Invalid
from infospace.data.paths import Part, Path, nearest, show_parts
from infospace.expressions.query.builder import NULL, STRUCT, UNSURE, Builder, Typed, renamed
from infospace.expressions.query.columns import KIND_NAMES, Rows, Type
from infospace.expressions.query.tree import MARK


class Relation(Protocol):
    """One table as a SELECT has it. `alias` is what paths call it, `order` the column that numbers its rows."""

    alias: str
    order: str

    def has(self, parts: tuple[Part, ...]) -> bool:
        """Whether a path that names no table can mean a column of it."""

    def column(self, parts: tuple[Part, ...]) -> Typed:
        """Return the column of a path."""

    def whole(self) -> bool:
        """Whether the alias alone is a value: an element, or a plain value."""

    def all(self) -> list[str]:
        """Return the names of all columns, in order."""

    def sql(self) -> str:
        """Return what stands in FROM; asked when all columns are known."""


@dataclass(slots=True)
class Base:
    """Items, or elements of lists, with the columns that were asked for."""

    alias: str
    rows: Rows
    builder: Builder
    element: bool = False
    own: bool = False
    """Whether it is one of the space's own tables, of which a query may read some rows alone."""
    order: str = ""
    parent: str = ""
    """Of elements, the column that says which row they come from."""
    joined_to: str = ""
    """Of elements, the column that numbers the rows of their table."""
    _names: dict[tuple[Part, ...], str] = field(default_factory=dict)
    _wholes: dict[tuple[Part, ...], str] = field(default_factory=dict)
    """What says of numbers whether they are whole, by the column."""

    def __post_init__(self) -> None:
        self.order, self.parent = self.builder.name("r"), self.builder.name("r")

    @property
    def tells_absent(self) -> bool:
        """Whether what none of these items has is to be told."""
        return not self.own and len(self.rows) > 0

    def has(self, parts: tuple[Part, ...]) -> bool:
        """Whether any item has the first key."""
        return self.rows.has(parts)

    def column(self, parts: tuple[Part, ...]) -> Typed:
        """Return a column, made of the items when it is first asked for."""
        result = self.rows.column(parts)
        if result.type is Type.NULL:
            if parts and self.tells_absent and not self.rows.has(parts):
                self.builder.absent[show_parts(parts)] = None
            return NULL
        name = self._names.setdefault(parts, self.builder.name("c"))
        most = result.most if result.type is Type.INT else None
        whole = self._wholes.setdefault(parts, self.builder.name("c")) if "w" in result.arrays else None
        return Typed(name, result.type, most, kinds=result.kinds or frozenset(KIND_NAMES), whole=whole)

    def whole(self) -> bool:
        """Whether the alias alone is a value."""
        return self.element or self.rows.keys() == ["content"]

    def all(self) -> list[str]:
        """Return the first keys of all items."""
        return self.rows.keys()

    def sql(self) -> str:
        """Return a SELECT of the columns that were asked for, under names that are theirs alone."""
        table, places = self.builder.table(self.rows), list(self.rows.columns)
        columns = [f"rn AS {self.order}"]
        if self.rows.parents is not None:
            columns.append(f"pn AS {self.parent}")
        columns += [f"{physical(places.index(parts))} AS {name}" for parts, name in self._names.items()]
        columns += [f"{physical(places.index(parts))}w AS {name}" for parts, name in self._wholes.items()]
        return f"(SELECT {', '.join(columns)} FROM {table}) AS {self.builder.name('t')}"


def physical(place: int) -> str:
    """Return the name of a table's column by its place."""
    return f"q{place}"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A SELECT written: its outputs by name, each a column of `sql`, as what says whether it is whole is.

    `order` numbers its rows. What is `open` has all columns of items by `*`: one that no item has is null.
    """

    sql: str
    outputs: tuple[tuple[str, Typed], ...]
    order: str
    open: bool = False

    def columns(self) -> list[str]:
        """Return the columns that its outputs are."""
        wholes = [typed.whole for _, typed in self.outputs if typed.whole not in (None, UNSURE)]
        return [*(typed.sql for _, typed in self.outputs), *map(str, wholes)]


@dataclass(slots=True)
class DerivedRows:
    """What a subselect, or a SELECT of WITH, gives."""

    alias: str
    compiled: Compiled
    builder: Builder
    order: str = ""
    _names: dict[str, str] = field(default_factory=dict)
    _wholes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.order = self.builder.name("r")

    def has(self, parts: tuple[Part, ...]) -> bool:
        """Whether it has an output of that name."""
        return any(name == parts[0] for name, _ in self.compiled.outputs)

    def column(self, parts: tuple[Part, ...]) -> Typed:
        """Return an output."""
        for name, typed in self.compiled.outputs:
            if name == parts[0]:
                if len(parts) > 1:
                    message = f"`{show_parts(parts)}` asks for a place inside of `{name}`, which a SELECT made"
                    raise Invalid(message, hint=f"let that SELECT give `{show_parts(parts)}` itself")
                if typed.type is Type.NULL:
                    return NULL
                mine = self._names.setdefault(name, self.builder.name("c"))
                whole = typed.whole
                if whole not in (None, UNSURE):
                    whole = self._wholes.setdefault(name, self.builder.name("c"))
                return renamed(typed, mine, whole)
        if self.compiled.open:
            return NULL
        message = f"there is no `{show_parts(parts)}` in what {_called(self.alias)} gives"
        near = nearest(str(parts[0]), self.all())
        raise Invalid(message, hint=f"did you mean `{near}`?" if near else f"it gives {', '.join(self.all())}")

    def whole(self) -> bool:
        """Never: it has names for all that it gives."""
        return False

    def all(self) -> list[str]:
        """Return the names of the outputs."""
        return [name for name, _ in self.compiled.outputs]

    def sql(self) -> str:
        """Return the subselect, with names that are this use's alone."""
        columns = [f"{self.compiled.order} AS {self.order}"]
        columns += [f"{typed.sql} AS {self._names[n]}" for n, typed in self.compiled.outputs if n in self._names]
        columns += [f"{typed.whole} AS {self._wholes[n]}" for n, typed in self.compiled.outputs if n in self._wholes]
        return f"(SELECT {', '.join(columns)} FROM ({self.compiled.sql})) AS {self.builder.name('t')}"


def _called(alias: str) -> str:
    if alias == DISTINCT_ROWS:
        return "DISTINCT or UNION"
    return "the subselect" if alias.startswith(MARK) else f"`{alias}`"


DISTINCT_ROWS: Final = f"{MARK}union"
"""The alias of what ORDER BY orders behind DISTINCT or UNION."""


@dataclass(slots=True)
class Scope:
    """The tables that a clause sees, innermost first."""

    relations: Sequence[Relation]
    outer: Scope | None = None

    def find(self, path: Path) -> tuple[Relation, tuple[Part, ...]] | None:
        """Return the table and the place in it that a path means; None where no item of any has it.

        Raises Invalid where several tables have it.
        """
        first, rest = path.parts[0], path.parts[1:]
        named = next((relation for relation in self.relations if relation.alias == first), None)
        if named is not None and (rest or named.whole()):
            return named, rest
        if self.outer is None and len(self.relations) == 1:
            return self.relations[0], path.parts
        holders = [relation for relation in self.relations if relation.has(path.parts)]
        if len(holders) > 1:
            one, other = (_called(relation.alias) for relation in holders[:2])
            message = f"`{show_parts(path.parts)}` is in {one} and in {other}"
            raise Invalid(message, hint=f"say which: {holders[0].alias}.{show_parts(path.parts)}")
        if holders:
            return holders[0], path.parts
        if self.outer is not None and (results := self.outer.find(path)) is not None:
            return results
        return None

    def has(self, path: Path) -> bool:
        """Whether a path means what some item of a table has."""
        first, rest = path.parts[0], path.parts[1:]
        is_named = any(relation.alias == first and (rest or relation.whole()) for relation in self.relations)
        return is_named or any(relation.has(path.parts) for relation in self.relations)

    def resolve(self, path: Path) -> Typed:
        """Return what a path means; null where no item has it."""
        results = self.find(path)
        if results is not None:
            return results[0].column(results[1])
        for relation in self.relations:
            if isinstance(relation, Base) and relation.tells_absent:
                relation.builder.absent[show_parts(path.parts)] = None
        return NULL

    def canonical(self, path: Path) -> Path:
        """Return a path with its table's alias in front, so that two ways to write it are one."""
        results = self.find(path)
        return path if results is None else Path((results[0].order, *results[1]))


def rows_in_order(relations: Sequence[Relation]) -> str:
    """Return SQL for what orders joined rows: by the first table's row, then the next one's; none comes last."""
    orders = [relation.order for relation in relations]
    if len(orders) == 1:
        return orders[0]
    if len(orders) > 4:
        listed = ", ".join(f"{order} NULLS LAST" for order in orders)
        return f"row_number() OVER (ORDER BY {listed})"
    type_ = "BIGINT" if len(orders) == 2 else "HUGEINT"
    result = f"coalesce({orders[0]}, 2147483647)::{type_}"
    for order in orders[1:]:
        result = f"({result} * 2147483648 + coalesce({order}, 2147483647))"
    return result


def null_of(type_: Type) -> str:
    """Return SQL for null of a type."""
    return f"NULL::{STRUCT if type_ is Type.ANY else 'VARCHAR' if type_ is Type.NULL else type_.value.strip()}"


Tables = Mapping[str, Rows]
"""The tables that a query reads, by reference (`$orders`, `$x.rows`) or, of the space's own, by name (`notes`).

Where a SELECT wants some rows alone of one of these, they stand by name and place, too (`notes@14`).
"""
