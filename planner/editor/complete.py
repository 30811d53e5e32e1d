"""What may stand at a place of the text of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Argument
from infospace.data.json_source_map import is_closed_string
from infospace.expressions.functions import FUNCTIONS
from planner.check.space_facts import SpaceFacts
from planner.editor.complete_sql import complete_sql
from planner.editor.context import CursorContext
from planner.editor.cursor import Cursor, cursor_at, root_of
from planner.editor.keys import keys
from planner.editor.offers import Completion, Offer, bare_key, fitting, quoted
from planner.editor.references import (
    item_places,
    path_before,
    reference_before,
    variable_places,
    variables,
    word_before,
    word_end,
)
from planner.editor.values import aggregates, has_format, values
from planner.language.references import ReferenceInvalid, whole_reference

WORDS = ("AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS NULL", "IS NOT NULL", "CASE WHEN", "CAST", "TRY_CAST")
"""What an expression is made of beside paths, values and functions."""


LITERALS = ("true", "false", "null")


def complete(
    text: str, offset: int, catalogue: Catalogue, facts: SpaceFacts, *, behind: bool = False
) -> Completion | None:
    """Return what may stand at a place of a text, None where nothing is to be written there.

    `offset` counts characters; what stands after it need not be anything. With `behind` what may come next is given
    behind a value too, with the comma that it needs.
    """
    root, lines = root_of(text)
    cursor = cursor_at(text, offset, root, lines=lines, behind=behind)
    if cursor is None:
        return None
    around = CursorContext(cursor, root, catalogue, facts, lines=lines)
    if cursor.at == "key":
        return _keys(cursor, around)
    if cursor.quoted:
        completion = _in_text(cursor, around)
        if completion is not None:
            return completion
    offers = [offer for offer in values(cursor, around) if not cursor.quoted or offer.insert.startswith('"')]
    if cursor.between is not None:
        offers = _next(cursor, offers)
    elif isinstance(cursor.key, int) and cursor.start == cursor.end:
        offers = _before(cursor, offers)
    completion = _completion(cursor.start, cursor.end, cursor.written, offers)
    word = cursor.text[cursor.start : cursor.end]
    if completion is None and cursor.around and not cursor.quoted and word.isidentifier() and word not in LITERALS:
        return Completion(cursor.start, cursor.end, cursor.written, [quoted(word)])
    return completion


def _completion(start: int, end: int, text: str, offers: list[Offer]) -> Completion | None:
    once: dict[str, Offer] = {}
    for offer in offers:
        once.setdefault(offer.label, offer)
    chosen = fitting(once.values(), text)
    return Completion(start, end, text, chosen) if chosen else None


def _keys(cursor: Cursor, around: CursorContext) -> Completion | None:
    offers = list(keys(cursor, around))
    if cursor.between is not None:
        return _completion(cursor.start, cursor.end, cursor.written, _next(cursor, offers))
    member = cursor.member
    colon = member.colon is not None if member is not None else cursor.text[cursor.end :].lstrip()[:1] == ":"
    offers = [bare_key(offer) for offer in offers] if colon else _before(cursor, offers)
    return _completion(cursor.start, cursor.end, cursor.written, offers)


def _next(cursor: Cursor, offers: list[Offer]) -> list[Offer]:
    """Return offers with the comma before them, and what stands between the value and the place."""
    return [replace(offer, insert=f",{cursor.between}{offer.insert}") for offer in offers]


def _before(cursor: Cursor, offers: list[Offer]) -> list[Offer]:
    """Return offers with a comma where something follows them."""
    if cursor.text[cursor.end :].lstrip()[:1] in ("", ",", "]", "}"):
        return offers
    return [
        replace(offer, insert=f"{offer.insert}, ", back=offer.back + 2 * (offer.back > 0 or offer.again))
        for offer in offers
    ]


# Inside of a text


def _in_text(cursor: Cursor, around: CursorContext) -> Completion | None:
    """Complete a reference, or a path, that a string ends with at the cursor; None where it ends with neither."""
    argument = _argument(cursor, around)
    where = argument is not None and _is_over_items(argument, cursor)
    if argument is not None and argument.reading is ParseMode.LITERAL:
        return None
    expressed = _is_expression(cursor, argument)
    value = reference_before(cursor.written)
    if argument is not None and argument.reading is ParseMode.SQL:
        return _sql(cursor, around) if value is None else _reference(cursor, around, argument, where=True)
    if value is not None and (not _is_name(cursor) or where):
        return _reference(cursor, around, argument, where=where or expressed)
    if expressed:
        last = word_before(cursor.written)
        words = _words() if last else list(variables(around.env, brace=False))
        return _completion(cursor.offset - len(last), word_end(cursor.text, cursor.offset), last, words)
    if argument is not None and has_format(argument.schema, "aggregate"):
        return _completion(cursor.start, cursor.end, cursor.written, list(aggregates(around.targets(argument.within))))
    if where or (argument is not None and has_format(argument.schema, "path")):
        return _path(cursor, around, argument, where=where)
    return None


def _sql(cursor: Cursor, around: CursorContext) -> Completion | None:
    """Complete a SELECT: tables, columns, values of properties, functions, clauses."""
    after = cursor.text[cursor.offset : cursor.end].removesuffix('"')
    result = complete_sql(cursor.written, after, around)
    last = cursor.written[result.start :]
    offers = [Offer(text, text) for text in result.texts]
    return _completion(cursor.offset - len(last), word_end(cursor.text, cursor.offset), last, offers)


def _words() -> list[Offer]:
    """What an expression is made of beside paths and values."""
    functions = [Offer(name, name, about=function.written(name)) for name, function in FUNCTIONS.items()]
    return [*(Offer(word, word) for word in WORDS), *functions]


def _is_over_items(argument: Argument, cursor: Cursor) -> bool:
    """Whether the text that the cursor stands in is an expression over items."""
    if argument.reading is ParseMode.EXPRESSIONS:
        return isinstance(cursor.key, str) and cursor.key != argument.name
    return argument.reading in (ParseMode.WHERE, ParseMode.SORT_KEYS)


def _argument(cursor: Cursor, around: CursorContext) -> Argument | None:
    if around.call is None or cursor.nearest("arguments", "condition", "retry") is not None:
        return None
    entry = around.catalogue.find(around.type)
    below = cursor.below(around.call)
    return entry.arguments.get(str(below[0])) if entry is not None and below else None


def _is_expression(cursor: Cursor, argument: Argument | None) -> bool:
    """Whether the text of the cursor is an expression over variables: that of an argument, or a condition."""
    if argument is not None:
        return argument.reading is ParseMode.EXPRESSION
    holder = cursor.holder
    if holder is None:
        return False
    below = holder.role == "conditions" or (holder.role == "condition" and cursor.key == "of")
    return below or (holder.role == "step" and cursor.key == "condition")


def _is_name(cursor: Cursor) -> bool:
    """Whether what stands here names a variable that is bound, and reads none."""
    return cursor.key in ("out", "as", "collect") and cursor.nearest("step") is not None


def _reference(cursor: Cursor, around: CursorContext, argument: Argument | None, *, where: bool) -> Completion | None:
    value = reference_before(cursor.written)
    assert value is not None  # noqa: S101 - asked before
    end = word_end(cursor.text, cursor.offset)
    start = cursor.offset - value.length
    if value.last is not None:
        try:
            reference = whole_reference(f"${value.name}")
        except ReferenceInvalid:
            return None
        variable = None if reference is None else around.env.variables.get(reference.name)
        offers = [] if variable is None else list(variable_places(variable, value.path))
        return _completion(start, end, value.last, offers)
    alone = cursor.written == f"${value.name or ''}" and _closed_after(cursor, end)
    kinds = argument.kinds if argument is not None and argument.reading is ParseMode.RESOURCE and alone else None
    schema = argument.schema if argument is not None and argument.reading is ParseMode.VALUE and alone else None
    brace = not where and (value.brace or not alone)
    end += brace and cursor.text[end : end + 1] == "}"
    offers = list(variables(around.env, kinds or None, schema, brace=brace))
    return _completion(start, end, f"${value.name or ''}", offers)


def _closed_after(cursor: Cursor, end: int) -> bool:
    """Whether the string of the cursor ends at a place."""
    token = cursor.text[cursor.start : cursor.end]
    return end >= cursor.end - is_closed_string(token)


def _path(cursor: Cursor, around: CursorContext, argument: Argument | None, *, where: bool) -> Completion | None:
    value = path_before(cursor.written)
    within = ("target",) if argument is None else argument.within
    shapes = around.targets(within)
    if where and not any(name in ("target", *within) for name in _present_keys(around)):
        shapes = []
    last = value.last or ""
    offers = list(item_places(shapes, value.path))
    if where and not value.path and not last.startswith("."):
        offers += list(variables(around.env, brace=False)) if last == "" else []
        offers += _words()
    return _completion(cursor.offset - len(last), word_end(cursor.text, cursor.offset), last, offers)


def _present_keys(around: CursorContext) -> Iterator[str]:
    if around.call is not None:
        yield from (member.key for member in around.call.spot.members)
