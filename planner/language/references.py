"""References and templates: how `$x.title[0]` and `${x}` are read, whatever they stand in.

| written | means |
|---|---|
| exactly `$x`, `$x.title[0]` | the thing, or the value with its type |
| `${x.title}` inside or as text | its text |
| `$${x}`, `${$}` | a dollar sign and the text of x; a dollar sign |
| `$$x` | the text `$x` |
| `$` after a letter, a digit or `$`, and no `{` after it | itself |
| `$` before anything else | itself |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from infospace.contract.arguments import ParseMode
from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.paths import OF_REFERENCES, Path, parse_suffix, show_parts

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SHORT = 400
"""Characters of a string up to which its reading is remembered."""
_OPEN = r"(?<![^\W_])(?<!\$)"
"""Where a `$` may begin a name: not after a letter, a digit or another `$`."""
_DOLLAR = re.compile(rf"\$\{{|{_OPEN}\$\$?(?=[A-Za-z_])")
"""A `$` that is not itself."""
_NAMED = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_MEANT = re.compile(rf"\$(?=\{{)|{_OPEN}\$\$?(?=[A-Za-z_])")


_BESIDE = re.compile(r"(?<=[^\W_])\$([A-Za-z_][A-Za-z0-9_]*)")
"""What is text in a value, and a parameter in an expression."""


class ReferenceInvalid(Invalid):
    """A string that is neither text nor a reference; `code` is the problem's, `mended` text that would do."""

    def __init__(self, code: str, message: str, hint: str, mended: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.mended = mended


_HERE = Path(())


@dataclass(frozen=True, slots=True)
class Reference:
    """`$name` followed by a path, which is empty for the variable itself."""

    name: str
    path: Path = _HERE

    def __str__(self) -> str:
        parts = self.path.parts
        items = next((at for at, part in enumerate(parts) if not isinstance(part, int)), len(parts))
        if parts[items : items + 1] and parts[items] in OF_REFERENCES:
            rest = show_parts(("", *parts[items + 1 :])).removeprefix(show_parts(("",)))
            return f"${self.name}{show_parts(parts[:items])}.{parts[items]}{rest}"
        text = str(self.path)
        return f"${self.name}{text if not text or text.startswith('[') else '.' + text}"


@dataclass(frozen=True, slots=True)
class Template:
    """Text with references in it, whose text stands in their place."""

    parts: tuple[str | Reference, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON value with nothing to resolve in it."""

    value: JSON


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list with something to resolve in it."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """An object with something to resolve in its values; keys are literal."""

    items: Mapping[str, Value]


Value: TypeAlias = "Literal | Reference | Template | ListOf | ObjectOf"


def literal(value: JSON) -> JSON:
    """Return a value as it is written in a plan so that nothing in it is a reference."""
    match value:
        case str():
            return _MEANT.sub(_escaped, value)
        case list():
            return [literal(item) for item in value]
        case dict():
            return {key: literal(item) for key, item in value.items()}
    return value


def _escaped(match: re.Match[str]) -> str:
    if match.string.startswith("{", match.end()):
        return "${$}"
    return "$$" if match[0] == "$" else "${$}${$}"


def renamed(text: str, name: str, other: str) -> str:
    """Return a text that reads another variable where it reads the one called `name`."""
    read = rf"(\$\{{|{_OPEN}\$){re.escape(name)}\b"
    return re.sub(read, lambda found: f"{found[1]}{other}", text)


def read_text(text: str) -> Literal | Reference | Template:
    """Read one string as a value; raises ReferenceInvalid."""
    if "$" not in text:
        return Literal(text)
    return _remembered(text) if len(text) <= SHORT else _read(text)


def _read(text: str) -> Literal | Reference | Template:
    whole = whole_reference(text)
    if whole is not None:
        return whole
    parts = tuple(_merge(_parts(text)))
    if all(isinstance(part, str) for part in parts):
        return Literal("".join(str(part) for part in parts))
    return Template(parts)


_remembered = lru_cache(maxsize=4096)(_read)


def whole_reference(text: str) -> Reference | None:
    """Return the reference that a string is from end to end, or None."""
    match = NAME.match(text, 1) if text.startswith("$") else None
    if match is None:
        return None
    try:
        path, end = parse_suffix(text, match.end())
    except Invalid as error:
        raise ReferenceInvalid("bad-reference", error.message, error.hint or "") from error
    return Reference(match.group(), path) if end == len(text) else None


def _parts(text: str) -> Iterator[str | Reference]:
    position = 0
    while match := _DOLLAR.search(text, position):
        yield text[position : match.start()]
        match match.group():
            case "$$":
                yield "$"
                position = match.end()
            case "${" if text.startswith("$}", match.end()):
                yield "$"
                position = match.end() + 2
            case "${":
                reference, position = _braced(text, match.start())
                yield reference
            case _:
                raise _bare(text, match.start())
    yield text[position:]


def _merge(parts: Iterator[str | Reference]) -> Iterator[str | Reference]:
    pending = ""
    for part in parts:
        if isinstance(part, str):
            pending += part
            continue
        if pending:
            yield pending
            pending = ""
        yield part
    if pending:
        yield pending


def _braced(text: str, start: int) -> tuple[Reference, int]:
    hint = "write `${name.path}`, or `${$}{` for the text `${`"
    name = NAME.match(text, start + 2)
    if name is None:
        raise ReferenceInvalid(
            "bad-reference", f"`${{` at character {start} is not followed by a variable's name", hint
        )
    try:
        path, end = parse_suffix(text, name.end())
    except Invalid as error:
        raise ReferenceInvalid("bad-reference", error.message, error.hint or hint) from error
    if not text.startswith("}", end):
        label = text[start : start + 40]
        raise ReferenceInvalid("bad-reference", f"{label!r} does not end with `}}` where the path ends", hint)
    return Reference(name.group(), path), end + 1


def _bare(text: str, start: int) -> ReferenceInvalid:
    match = NAME.match(text, start + 1)
    assert match is not None  # noqa: S101 - the pattern of _DOLLAR says so
    name = match.group()
    try:
        _, end = parse_suffix(text, match.end())
    except Invalid:
        end = match.end()
    raw = text[start + 1 : end]
    mended = f"{text[:start]}${{{raw}}}{text[end:]}" if _is_prose(text[:start], text[end:]) else None
    return ReferenceInvalid(
        "bare-variable",
        f"`${raw}` stands bare inside a longer text (character {start})",
        f"write `${{{raw}}}` for its text, or `$${name}` for the text `${name}`",
        mended,
    )


_REFERENCE = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_][\w.]*(?:\[[^\]]*\])*")


def _is_prose(before: str, after: str) -> bool:
    """Whether what stands around a reference is text to read, and neither a computation nor a decoration.

    A text to read has a word of its own, and no sign beside the reference that stands for something else: of
    `$c.a + 1` nobody wants the text, nor of `{{$r.f}}`.
    """
    around = _REFERENCE.sub(" ", f"{before} {after}")
    if re.search(r"[+*=<>{}|^`%~\\]|&&|\s[-/]\s|\w\(", around.replace("&amp;", "")):
        return False
    beside = before[-1:] + after[:1]
    if re.search(r"[\[\]()#@/<>$_-]", beside.replace("(", "", 1).replace(")", "", 1) if beside == "()" else beside):
        return False
    return re.search(r"[^\W\d_]{2,}", around) is not None


def read_value(value: JSON) -> Value:
    """Read a JSON value at any depth; raises ReferenceInvalid for the first string that is wrong."""
    if isinstance(value, str):
        return read_text(value)
    if isinstance(value, (list, tuple)):
        items = tuple(read_value(item) for item in value)
        return Literal(value) if all(_plain(i, v) for i, v in zip(items, value, strict=True)) else ListOf(items)
    if isinstance(value, dict):
        read = {key: read_value(item) for key, item in value.items()}
        return Literal(value) if all(_plain(read[key], value[key]) for key in value) else ObjectOf(read)
    return Literal(value)


def _plain(read: Value, value: JSON) -> bool:
    return isinstance(read, Literal) and read.value is value


def strings(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Iterate over the strings in a JSON value (keys left out) with their places, in the order they are written.

    Each value is looked at once however deep it stands, and a place is put together for strings alone.
    """
    if isinstance(value, str):
        yield (), value
        return
    keys: list[str | int] = []
    open_: list[Iterator[tuple[str | int, Any]]] = [_items(value)]
    while open_:
        results = next(open_[-1], None)
        if results is None:
            open_.pop()
            if keys:
                keys.pop()
        elif isinstance(results[1], str):
            yield (*keys, results[0]), results[1]
        elif isinstance(results[1], (list, tuple, dict)):
            keys.append(results[0])
            open_.append(_items(results[1]))


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return enumerate(value) if isinstance(value, (list, tuple)) else iter(())


def texts_with_dollar(value: Any) -> list[str]:
    """Return the strings in a JSON value (keys left out) that may refer to something, in the order they are written."""
    results: list[str] = []
    open_ = [value]
    while open_:
        one = open_.pop()
        if isinstance(one, str):
            if "$" in one:
                results.append(one)
        elif isinstance(one, dict):
            open_ += reversed(one.values())
        elif isinstance(one, (list, tuple)):
            open_ += reversed(one)
    return results


def references_in(value: Value) -> Iterator[Reference]:
    """Iterate over the references in a value, in the order they are written."""
    match value:
        case Reference():
            yield value
        case Template(parts):
            yield from (part for part in parts if isinstance(part, Reference))
        case ListOf(items):
            for item in items:
                yield from references_in(item)
        case ObjectOf(items):
            for item in items.values():
                yield from references_in(item)


def names_in(raw: Any) -> Iterator[str]:
    """Iterate over the variables that arguments read, as written; never fewer than they do.

    In a `where` they stand as `$x` inside of a text that is no reference.

    >>> list(names_in({"target": "$rows", "where": "year > $least", "value": "see ${text.title}"}))
    ['rows', 'least', 'text']
    """
    for text in texts_with_dollar(dict(raw) if isinstance(raw, Mapping) else raw):
        try:
            yield from (reference.name for reference in references_in(read_text(text)))
            yield from _BESIDE.findall(text)
        except ReferenceInvalid:
            yield from _NAMED.findall(text)


def map_expressions(
    raw: JSON, mode: ParseMode, write: Callable[[str, tuple[str | int, ...]], Any], value: Callable[[JSON], Any]
) -> Any:
    """Put what `write` gives in the place of each expression in an argument, and what `value` gives of the rest.

    `mode` is EXPRESSIONS or SORT_KEYS; `write` gets the place of the text in the argument too.
    """
    if mode is ParseMode.EXPRESSIONS:
        if not isinstance(raw, dict):
            return value(raw)
        return {key: write(item, (key,)) if isinstance(item, str) else item for key, item in raw.items()}
    if isinstance(raw, str):
        return value(raw) if _is_whole(raw) else write(raw, ())
    if not isinstance(raw, list):
        return value(raw)
    return [
        write(item, (at,)) if isinstance(item, str) and not _is_whole(item) else value(item)
        for at, item in enumerate(raw)
    ]


def _is_whole(text: str) -> bool:
    try:
        return whole_reference(text) is not None
    except ReferenceInvalid:
        return False
