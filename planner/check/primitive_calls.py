"""Checking one call of a primitive: its arguments, the places they name, and what it will give."""

from __future__ import annotations

from collections.abc import Collection as AnyCollection
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from infospace.contract.argument_errors import ArgumentError, ArgumentsInvalid
from infospace.contract.arguments import (
    OFFERED,
    UNKNOWN,
    Args,
    BoundCondition,
    BoundExpression,
    BoundQuery,
    ParseMode,
    Written,
    WrittenQuery,
    argument_name,
)
from infospace.contract.decorator import Argument, Primitive
from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.data.json_source_map import parts_of
from infospace.data.paths import Path
from infospace.expressions.aggregates import Aggregate
from infospace.expressions.expression import SortKey, guarded_paths, parse_sort_key
from infospace.expressions.query.properties import AssignedMetadata
from infospace.expressions.refused import list_hint
from infospace.schema.shapes import (
    UNTOLD,
    CollectionShape,
    ContentUnfit,
    Facts,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    bare,
    disjoint,
    format_types,
    is_itself,
    place_in,
    types_of,
    with_identity,
)
from infospace.schema.value_text import describe_schema
from planner.check.conditions import reference_or_none
from planner.check.environment import Environment
from planner.check.expressions import subtracted
from planner.check.references.places import describe_missing
from planner.check.references.values import ValueChecker
from planner.check.tool_calls import ToolChecker
from planner.language.problems import Problems, join, listed, replace
from planner.language.references import map_expressions, read_value
from planner.repair.coerce_values import coerce_value
from planner.repair.misread_places import is_same_place
from planner.repair.sort_keys import descending, has_order, suggest_orders, suggest_pairs, suggest_sort, words_of_order
from planner.repair.unknown_arguments import suggest_argument
from planner.repair.where_text import suggest_where


class CallChecker:
    """Checks calls against their contracts."""

    def __init__(self, values: ValueChecker, tools: ToolChecker, problems: Problems) -> None:
        self._values = values
        self._tools = tools
        self._problems = problems
        self.extra: Schema | None = None
        """What is known of the `extra` of the latest call."""
        self._given = AssignedMetadata()
        """What calls up to here may give to the metadata of Notes."""

    def check(
        self,
        entry: Primitive,
        raw: Mapping[str, JSON],
        pointer: str,
        env: Environment,
        values: Mapping[str, Shape] | None = None,
        *,
        quiet: bool = False,
    ) -> Shape | None:
        """Check the arguments as written; return what the call will give, as far as that is known; None: nothing.

        `values` are resources that the form around the call supplies. `quiet` tells of references alone: the
        entry is only the nearest to what was written.
        """
        placeholders: dict[str, Any] = dict.fromkeys(values or (), UNKNOWN)
        shapes: dict[str, Shape] = dict(values or {})
        for name, value in raw.items():
            if name in entry.arguments or not quiet:
                placeholders[name] = self._argument(entry, name, raw, join(pointer, name), env, shapes)
            else:
                self._values.references(value, join(pointer, name), env)
        self._tool_arguments(entry, placeholders, raw, pointer, env)
        args, faults = _validate(entry, placeholders)
        if not quiet:
            used: set[str] = set()
            """Arguments that are there under another name."""
            for fault in sorted(faults, key=lambda fault: fault.missing is not None):
                if fault.missing not in used:
                    used.update(self._report_argument_error(entry, fault, raw, pointer, env))
            self._places(entry, args, raw, shapes, pointer, env)
            self._note_metadata(entry, raw)
        self.extra = None if entry.extra_schema is None else entry.extra_schema(args)
        try:
            result_shape = entry.gives(args, shapes)
        except Invalid as error:
            if not quiet:
                handled = isinstance(error, ContentUnfit) and self._values.leniency.handled
                report = self._problems.warn if handled else self._problems.error
                report("wrong-kind", join(pointer, "target"), error.message, error.hint)
            return Unknown()
        if not quiet:
            self._values.changes.call(entry, args, shapes, raw, env)
        target = shapes.get("target")
        if result_shape is not None and entry.changes is entry.gives and target is not None and is_itself(target):
            result_shape = with_identity(bare(result_shape), target.facts.which)
        return result_shape

    def _note_metadata(self, entry: Primitive, raw: Mapping[str, JSON]) -> None:
        """Take what is given as an object, which may become metadata."""
        for name, value in raw.items():
            argument = entry.arguments.get(name)
            if isinstance(value, dict) or (argument is not None and types_of(argument.schema) <= {"object", "null"}):
                self._given.add(value)

    def _tool_arguments(
        self, entry: Primitive, read: Mapping[str, Any], raw: Mapping[str, JSON], pointer: str, env: Environment
    ) -> None:
        """Check the arguments of a tool, as soon as it is known which it is."""
        tool = next((value for value in read.values() if isinstance(value, Tool)), None)
        for name, argument in entry.arguments.items():
            if argument.reading is ParseMode.TOOL_ARGUMENTS:
                self._tools.arguments(tool, raw.get(name, {}), join(pointer, name), env)

    def _argument(
        self,
        entry: Primitive,
        name: str,
        raw: Mapping[str, JSON],
        pointer: str,
        env: Environment,
        shapes: dict[str, Shape],
    ) -> Any:
        argument, value = entry.arguments.get(name), raw[name]
        match argument.reading if argument else ParseMode.VALUE:
            case ParseMode.RESOURCE if argument is not None:
                if value is None and not argument.required:
                    return None
                lists = entry.takes_list(name)
                shapes[name] = self._values.resource(
                    value, pointer, argument.kinds, env, lists=lists, by_title=argument.by_title
                )
                self._check_items(entry, argument, shapes[name], pointer)
                return UNKNOWN
            case ParseMode.ITEMS:
                shapes[name] = self._values.items(value, pointer, env)
                return UNKNOWN
            case ParseMode.WHERE | ParseMode.LITERAL:
                return value
            case ParseMode.EXPRESSION:
                return self._expression(value, pointer, env)
            case ParseMode.SQL:
                return self._query(value, pointer, env)
            case (ParseMode.EXPRESSIONS | ParseMode.SORT_KEYS) as mode if argument is not None:
                return self._expressions(mode, value, pointer, env, argument, shapes)
            case ParseMode.TOOL | ParseMode.PROMPT | ParseMode.SERVED as reading:
                return self._tools.named(value, pointer, env, OFFERED[reading], raw.get("arguments"))
            case ParseMode.TOOL_ARGUMENTS:
                return UNKNOWN if isinstance(value, dict) or reference_or_none(value) is not None else value
        return self._value(value, pointer, env, argument, shapes)

    def _value(
        self, raw: JSON, pointer: str, env: Environment, argument: Argument | None, shapes: dict[str, Shape]
    ) -> Any:
        value, schema = self._values.value(raw, pointer, argument, env)
        if argument is not None:
            content = value if value is not UNKNOWN else UNTOLD
            if content is UNTOLD and schema is not None:
                content = self._values.content(read_value(raw), env)
            shapes[argument.name] = NoteShape(schema, facts=Facts(content=content))
        return value

    def _expressions(
        self,
        mode: ParseMode,
        raw: JSON,
        pointer: str,
        env: Environment,
        argument: Argument,
        shapes: dict[str, Shape],
    ) -> Any:
        """Give an argument with each expression in it told with what is known of its parameters."""

        def write(text: str, place: tuple[str | int, ...]) -> JSON | Written:
            return self._expression(text, join(pointer, *place), env)

        def value(part: JSON) -> Any:
            if part is raw:
                return self._value(raw, pointer, env, argument, shapes)
            return self._values.value(part, pointer, None, env)[0]

        return map_expressions(raw, mode, write, value)

    def _expression(self, value: JSON, pointer: str, env: Environment) -> JSON | Written:
        """Give a text of the language of expressions with what is known of its parameters."""
        from infospace.expressions import parameters_in

        if not isinstance(value, str):
            return value
        known = {name: self._values.known_of(name, pointer, env) for name in parameters_in(value)}
        return Written(value, {}, known)

    def _query(self, value: JSON, pointer: str, env: Environment) -> JSON | WrittenQuery:
        """Give a SELECT with what is known of its tables and parameters."""
        from infospace.expressions.query.parse import parse_query

        if not isinstance(value, str):
            return value
        try:
            parsed = parse_query(value)
        except Invalid:
            return WrittenQuery(value)
        shapes = {}
        for text in parsed.variables:
            result = self._values.resource(f"${text}", pointer, frozenset({Kind.COLLECTION}), env, lists=True)
            shapes[text] = result.item if isinstance(result, CollectionShape) else Unknown()
        named = {}
        for name in parsed.named:
            if self._values.names.has(name, env):
                result = self._values.resource(name, pointer, frozenset({Kind.COLLECTION}), env)
                named[name] = result.item if isinstance(result, CollectionShape) else Unknown()
        known = {name: self._values.known_of(name, pointer, env) for name in parsed.parameters}
        return WrittenQuery(value, {}, {}, shapes, known, named)

    def _queried(self, bound: BoundQuery, pointer: str, env: Environment) -> None:
        """Check a SELECT: the parameters that it reads, its names, and whether it can have a result."""
        from infospace.expressions.query.analyse import analyse

        self._values.parameters(bound, pointer, env)
        parsed, query = bound.parsed, bound.written
        properties = self._values.facts.properties() if parsed.tables else {}
        seen = analyse(parsed, query.shapes, query.schemas.get, properties, self._given, env.variables, query.named)
        for problem in seen.problems:
            fix = None if problem.suggestion is None else replace(pointer, problem.suggestion)
            self._problems.error("bad-expression", pointer, problem.message, problem.hint, fix)
        for doubt in seen.doubts:
            self._problems.warn(doubt.code, pointer, doubt.message, doubt.hint)

    def _properties(self, bound: BoundCondition, pointer: str) -> None:
        """Check a condition on the space's Notes against the properties that they have."""
        from infospace.expressions.query.properties import doubts

        if all(_property_of(path) is None for path in bound.where.paths):
            return
        for doubt in doubts(bound.where.tree, _property_of, self._values.facts.properties(), self._given):
            self._problems.warn(doubt.code, pointer, doubt.message, doubt.hint)

    def _report_argument_error(
        self, entry: Primitive, fault: ArgumentError, raw: Mapping[str, JSON], pointer: str, env: Environment
    ) -> Iterator[str]:
        """Tell a fault; give the argument that was meant by one that there is not."""
        place = join(pointer, *(part for part in _existing_place(fault.place, raw)))
        hint, fix = fault.hint, None
        if fault.code == "unknown-argument" and fault.place:
            hint, fix = suggest_argument(entry, str(fault.place[0]), raw, pointer, hint)
            yield from (parts_of(move["path"])[-1] for move in fix or () if move["op"] == "move")
        elif fault.missing is not None:
            hint = self._fitting(entry.arguments[fault.missing], hint, env)
        elif fault.suggestion is not None:
            fix = replace(place, fault.suggestion)
        elif fault.code == "bad-where" and fault.place:
            sql = suggest_where(raw.get(str(fault.place[0])))
            fix = None if sql is None else replace(place, sql)
        elif fault.code == "bad-argument" and len(fault.place) == 1 and fault.place[0] in entry.arguments:
            name = str(fault.place[0])
            argument = entry.arguments[name]
            mended = coerce_value(raw.get(name), argument.schema)
            fix = None if mended is None else replace(place, mended.value)
            if raw.get(name) is None and not argument.required:
                fix, hint = [{"op": "remove", "path": place}], "it is optional: leave it out"
            if name == "order" and fix is None:
                hint, fix = suggest_orders(name, raw, pointer) or (hint, fix)
        if fix is None and fault.place and _sorts(entry, str(fault.place[0])):
            fix = suggest_sort(str(fault.place[0]), raw, pointer)
        self._problems.error(fault.code, place, fault.message, hint, fix)

    def _check_items(self, entry: Primitive, argument: Argument, shape: Shape, pointer: str) -> None:
        """Check what the items of a Collection hold, where that is known."""
        item = shape.item if isinstance(shape, CollectionShape) else None
        if isinstance(item, NoteShape) and disjoint(item.content, argument.holding):
            held, takes = format_types(item.content), describe_schema(argument.holding)
            self._problems.error("wrong-kind", pointer, f"each item is {held}, and {entry.type} takes {takes}")

    @staticmethod
    def _fitting(argument: Argument, hint: str | None, env: Environment) -> str | None:
        """Say which variables a resource that is missing could be."""
        fits = listed(list(env.of_kind(argument.kinds)), 6) if argument.reading is ParseMode.RESOURCE else ""
        return "; ".join(part for part in (hint, f"bound here: {fits}" if fits else None) if part) or None

    def _places(
        self,
        entry: Primitive,
        args: Mapping[str, Any],
        raw: Mapping[str, JSON],
        shapes: Mapping[str, Shape],
        pointer: str,
        env: Environment,
    ) -> None:
        """Check the paths among the arguments against what is known of the items they are read in."""
        for name, value in args.items():
            place = join(pointer, name)
            argument = entry.arguments.get(name)
            if isinstance(value, BoundQuery):
                self._queried(value, place, env)
            for inner, leaf in _texts(value):
                at = join(place, *inner)
                if not isinstance(leaf, Path):
                    self._values.parameters(leaf, at, env)
                    self._typed(leaf, argument, _item_of(entry, argument, shapes), at, env, ordered=has_order(raw))
                    if isinstance(leaf, BoundCondition) and argument is not None and _of_notes(entry, argument):
                        self._properties(leaf, at)
            for holder in argument.within if argument else ():
                if holder not in shapes:
                    continue
                item = _items_of(entry, holder, shapes)
                order_words = self._words_of_order(name, raw, item, pointer) if _sorts(entry, name) else ()
                for inner, leaf in _texts(value):
                    if inner and inner[0] in order_words:
                        continue
                    written = _at(raw.get(name), inner)
                    for path, guarded in _paths_in(leaf):
                        self._place(path, item, join(place, *inner), written, leaf, guarded=guarded)

    def _words_of_order(self, name: str, raw: Mapping[str, JSON], item: Shape, pointer: str) -> AnyCollection[int]:
        """Tell of words for an order among the keys of a sort that are no fields of the items, as far as is known.

        Returns their places in the list.
        """
        words = words_of_order(raw.get(name))
        places = {at: place_in(item, (word,)) for at, word in words.items()}
        if not places or not all(place is None or isinstance(place, NoSuchPath) for place in places.values()):
            return ()
        hint, fix = suggest_pairs(name, raw, pointer)
        at, word = next(iter(words.items()))
        nowhere = next((place for place in places.values() if isinstance(place, NoSuchPath)), None)
        if nowhere is None:
            message = f"`{word}` is read as a field of the items"
            self._problems.warn("unknown-field", join(pointer, name, at), message, hint)
        else:
            (message, _), _ = describe_missing(item, (word,), nowhere)
            report = self._problems.warn if nowhere.assumed and self._values.leniency.handled else self._problems.error
            report("unknown-field", join(pointer, name, at), message, hint, fix)
        return places.keys()

    def _typed(
        self,
        bound: BoundCondition | BoundExpression[Any],
        argument: Argument | None,
        item: Shape,
        pointer: str,
        env: Environment,
        *,
        ordered: bool = False,
    ) -> None:
        """Check that what an expression compares and computes with can be of the types that it takes.

        `ordered` says that an order stands beside it.
        """
        from planner.check.expressions import senseless_in, unlisted_in

        if argument is not None and argument.reading is ParseMode.EXPRESSION and isinstance(bound, BoundExpression):
            self._names(bound, pointer, env)
            item = Unknown()
        parsed = bound.where if isinstance(bound, BoundCondition) else bound.formula

        known = dict(bound.schemas) if isinstance(bound, BoundExpression) else {}

        def of(name: str) -> Schema | None:
            if name not in known:
                known[name] = self._values.known_of(name, pointer, env)
            return known[name]

        code = "bad-where" if isinstance(bound, BoundCondition) else "bad-expression"
        code = "bad-argument" if isinstance(parsed, Aggregate) else code
        turned = descending(parsed) if isinstance(parsed, SortKey) else None
        for problem in senseless_in(parsed, item, of):
            hint, suggestion = problem.hint, problem.suggestion
            if turned is not None and not any(senseless_in(parse_sort_key(turned), item, of)):
                hint, suggestion = f"largest first is `{turned}`", None if ordered else turned
            self._problems.error(
                code, pointer, problem.message, hint, None if suggestion is None else replace(pointer, suggestion)
            )
        for unlisted in unlisted_in(parsed, item):
            self._problems.warn("unknown-value", pointer, unlisted.message, unlisted.hint)

    def _names(self, bound: BoundExpression[Any], pointer: str, env: Environment) -> None:
        """Say that an expression over variables alone has names, which only items have."""
        from planner.check.expressions import bare_names

        for message, hint, suggestion in bare_names(bound.formula, env):
            fix = None if suggestion is None else replace(pointer, suggestion)
            self._problems.error("bad-expression", pointer, message, hint, fix)
        if bound.formula.reads_all:
            message = "`complete(*)` asks for the fields of an item, and there are no items here"
            self._problems.error("bad-expression", pointer, message, "complete($a, $b) asks for values of variables")

    def _place(self, path: Path, item: Shape, pointer: str, value: JSON, leaf: Text, *, guarded: bool = False) -> None:
        subschema = place_in(item, path.parts)
        if not isinstance(subschema, NoSuchPath) or (subschema.assumed and guarded):
            return
        (message, hint), better = describe_missing(item, path.parts, subschema)
        parts = None if isinstance(leaf, Path) else subtracted(path, item)
        mended = None
        if parts is not None:
            hint, mended = f"a minus has blanks around it: `{parts}`", parts
        elif better is not None:
            mended = str(Path(better))
        elif len(path.parts) == 1 and str(path).lower() in ("today", "now"):
            hint = f"`{str(path).lower()}()` is a function"
        elif isinstance(value, str) and not isinstance(leaf, Path):
            hint = list_hint(value, path) or hint
        fix = None
        sure = parts is not None or (better is not None and is_same_place(path.parts, better))
        if mended is not None and isinstance(value, str) and sure:
            fix = replace(pointer, _replace_path(value, path, mended))
        report = self._problems.warn if subschema.assumed and self._values.leniency.handled else self._problems.error
        report("unknown-field", pointer, message, hint, fix)


def _sorts(entry: Primitive, name: str) -> bool:
    """Whether an argument is what items are sorted by."""
    argument = entry.arguments.get(name)
    return argument is not None and argument.reading is ParseMode.SORT_KEYS and "order" in entry.arguments


def _validate(entry: Primitive, placeholders: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[ArgumentError]]:
    """Validate with placeholders for what is not known. What does not fit counts as not known afterwards."""
    try:
        return _fields(entry.validate(placeholders)), []
    except ArgumentsInvalid as error:
        faults = list(error.faults)
    bad: dict[str, list[ArgumentError]] = {}
    for fault in faults:
        if fault.place:
            bad.setdefault(str(fault.place[0]), []).append(fault)
    mended = {
        name: _without(value, bad[name]) if name in bad else value
        for name, value in placeholders.items()
        if name in entry.arguments
    }
    for name, argument in entry.arguments.items():
        if argument.required:
            mended.setdefault(name, UNKNOWN)
    try:
        return _fields(entry.validate(mended)), faults
    except ArgumentsInvalid:
        return mended, faults


def _without(value: Any, faults: Sequence[ArgumentError]) -> Any:
    """An argument with what is wrong in it counted as not known: values of an object alone, else all of it."""
    keys = [fault.place[1] for fault in faults if len(fault.place) > 1]
    if not isinstance(value, dict) or len(keys) < len(faults):
        return UNKNOWN
    return {key: UNKNOWN if key in keys else inner for key, inner in value.items()}


def _fields(args: Args) -> dict[str, Any]:
    return {argument_name(name): getattr(args, name) for name in type(args).model_fields}


def _existing_place(place: tuple[str | int, ...], raw: Mapping[str, JSON]) -> Iterator[str | int]:
    """As much of a place as exists in what was written (validation of unions adds names of its own)."""
    value: Any = raw
    for part in place:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if part < len(value):
                value = value[part]
            case _:
                return
        yield part


Text: TypeAlias = "Path | BoundCondition | BoundExpression[Any]"
"""What says of items where something stands in them."""


def _texts(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Text]]:
    """The paths and expressions in an argument, with their places in it."""
    match value:
        case Path() | BoundCondition() | BoundExpression():
            yield place, value
        case list():
            for index, item in enumerate(value):
                yield from _texts(item, (*place, index))
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*place, key))


def _paths_in(leaf: Text) -> Iterator[tuple[Path, bool]]:
    """The paths of items that are read, and of each whether it is guarded: an item may be without it."""
    if isinstance(leaf, Path):
        yield leaf, False
        return
    parsed = leaf.where if isinstance(leaf, BoundCondition) else leaf.formula
    guarded = guarded_paths(parsed.tree)
    grouped = parsed.outside if isinstance(parsed, Aggregate) else ()
    yield from ((path, path in guarded) for path in parsed.paths if path not in grouped)


def _items_of(entry: Primitive, holder: str, shapes: Mapping[str, Shape]) -> Shape:
    """What is known of that in which paths are read: the items of a Collection, or a resource itself."""
    target, of_items = shapes[holder], entry.arguments[holder].kinds == {Kind.COLLECTION}
    return target.item if of_items and isinstance(target, CollectionShape) else target


def _item_of(entry: Primitive, argument: Argument | None, shapes: Mapping[str, Shape]) -> Shape:
    holder = next((one for one in argument.within if one in shapes), None) if argument else None
    return Unknown() if holder is None else _items_of(entry, holder, shapes)


def _of_notes(entry: Primitive, argument: Argument) -> bool:
    """Whether the items of an argument's condition are the space's Notes: there is no argument that has them."""
    return not any(holder in entry.arguments for holder in argument.within)


def _property_of(path: Path) -> str | None:
    """Return the property of a Note that a path means, if it means one."""
    match path.parts:
        case ("metadata" | "@metadata", str(name), *_):
            return name
    return None


def _at(value: Any, place: tuple[str | int, ...]) -> JSON:
    for part in place:
        match value, part:
            case dict(), str():
                value = value.get(part)
            case list(), int():
                value = value[part]
            case _:
                return None
    result: JSON = value
    return result


def _replace_path(text: str, path: Path, better: str) -> str:
    """Return a path, or an expression, with another in the place of one."""
    alone = _path_of(text)
    if alone == path:
        return better
    if alone is not None and (*path.parts[: -len(alone.parts)], *alone.parts) == path.parts:  # a key of the metadata
        return str(Path(Path.parse(better).parts[len(path.parts) - len(alone.parts) :]))
    from infospace.expressions.tokens import tokenize
    from infospace.expressions.tree import Field

    for word in reversed(tokenize(text)):
        if isinstance(word.value, Field) and word.value.path == path:
            text = f"{text[: word.start]}{better}{text[word.start + len(word.text) :]}"
    return text


def _path_of(text: str) -> Path | None:
    try:
        return Path.parse(text)
    except Invalid:
        return None


def item_slot(entry: Primitive, arguments: Mapping[str, JSON], kinds: frozenset[Kind]) -> str | None:
    """Return the argument in which `map` gives an item of these kinds: the first that is a resource.

    None when the operation has none, when it is written already, or when it may be left out and could not
    take such an item.
    """
    first = next((a for a in entry.arguments.values() if a.reading is ParseMode.RESOURCE), None)
    if first is None or first.name in arguments or not (first.required or first.kinds & kinds):
        return None
    return first.name
