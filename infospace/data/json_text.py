"""Strict JSON: what people, models and servers hand over, and the one form in which it is kept.

Stricter than `json`: no key twice in an object, no NaN or Infinity, no number too large to be kept, no
lone surrogate, no endless nesting. What is wrong is said in one sentence with its place: line and column
(1-based) where the syntax breaks, a JSON pointer (RFC 6901) where a value does not fit.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isinf
from typing import Any

from infospace.core.errors import Invalid, InvalidJSON
from infospace.core.json_types import JSON

MAX_BYTES = 4 * 2**20
"""The largest document read, in bytes of UTF-8."""

MAX_DEPTH = 200
"""How deep arrays and objects may stand in one another; below the parser's own limit on every Python."""

# The closing quote is optional: a text that never ends hides all brackets behind it.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_TOKENS = re.compile(rf"{_STRING}|[\[\]{{}},:]", re.DOTALL)
_ALL_BUT_BRACKETS = re.compile(rf'{_STRING}|[^\[\]{{}}"]+', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}

ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
"""An escape within a JSON string."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*(?:\n|$)")
_UNFINISHED = re.compile(r"(?:tr?u?|fa?l?s?|nu?l?|-|\.?|[eE][+-]?)")

_EXPECTED = {
    "Expecting value": "a value was expected",
    "Expecting property name": "a key in double quotes was expected",
    "Expecting ':'": "a colon was expected after the key",
    "Expecting ','": "a comma or the closing bracket was expected",
    "Illegal trailing comma": "a value was expected after the comma",
    "Invalid control": "a string holds this character without an escape",
    "Invalid \\": "this escape does not exist",
}


def compact_writer(
    *, default: Callable[[Any], Any] | None = None, sort_keys: bool = False, allow_nan: bool = True
) -> Callable[[Any], str]:
    """Return what writes a value as `JSONEncoder.encode` does, without spaces and with few escapes; raises as it does.

    `encode` makes the encoder in C anew for each value, which takes longer than to write a small one; here all values
    share one. It has no memory of what it stands in, so whatever goes too deep is written once more by `encode`, which
    knows a value that contains itself.
    """
    writer = json.JSONEncoder(
        ensure_ascii=False, allow_nan=allow_nan, separators=(",", ":"), sort_keys=sort_keys, default=default
    )
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # a Python without the part of `json` that is written in C
        return writer.encode
    write = make(None, writer.default, json.encoder.encode_basestring, None, ":", ",", sort_keys, False, allow_nan)

    def encode(value: Any) -> str:
        try:
            return "".join(write(value, 0))
        except RecursionError:
            return writer.encode(value)

    return encode


_write = compact_writer(allow_nan=False)


@dataclass(frozen=True, slots=True)
class _Source:
    """A text under reading: what it is called, and the line it stands on when it is one line of many."""

    what: str
    text: str
    line: int | None = None

    def line_and_column(self, position: int) -> tuple[int, int]:
        line = self.line or self.text.count("\n", 0, position) + 1
        return line, position - self.text.rfind("\n", 0, position)

    def place(self, position: int) -> str:
        line, column = self.line_and_column(position)
        return f"line {line}, column {column}"


@dataclass(frozen=True, slots=True)
class _Bad:
    """Stands, in a second reading, for a value that is refused."""

    message: str
    hint: str


@dataclass(slots=True)
class _Open:
    """An array or object not yet closed: where it opened, and the index or key being read."""

    start: int
    step: str | int

    @property
    def kind(self) -> str:
        return "array" if isinstance(self.step, int) else "object"


def read_json(
    data: str | bytes, *, what: str = "the plan", max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH
) -> JSON:
    """Read one JSON document, which `what` names in errors.

    A byte order mark of UTF-8 is passed over, and so is one Markdown code fence around the document, since
    models write that; lines keep their numbers. Raises `InvalidJSON`: with `pointer` for a key that stands
    twice, NaN, an infinity, an over-long number, a lone surrogate, or nesting past `max_depth`.
    """
    text = _decoded(data, what, max_bytes)
    return _read(_Source(what, _without_fence(text)), max_depth)


def read_json_lines(
    data: str | bytes | Iterable[str | bytes],
    *,
    what: str = "the session",
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
) -> Iterator[tuple[int, JSON]]:
    """Read JSON Lines as they are asked for: 1-based number and value. `data` may be a stream of lines.

    Blank lines, and lines that only open or close a Markdown code fence, are passed over. `max_bytes`
    holds for each line. Raises `InvalidJSON` as `read_json` does; the sentence names the line, and the
    pointer is always empty.
    """
    if isinstance(data, (str, bytes)):
        data = data.split("\n") if isinstance(data, str) else data.split(b"\n")
    for number, line in enumerate(data, start=1):
        text = _decoded(line, f"line {number} of {what}", max_bytes).rstrip("\r\n")
        if not text.strip() or _FENCE.fullmatch(text):
            continue
        try:
            value = _read(_Source(what, text, number), max_depth)
        except InvalidJSON as error:
            raise InvalidJSON(error.message, hint=error.hint, place=error.place) from None
        yield number, value


def dump(value: JSON) -> str:
    """Write the compact form that is stored and hashed: keys in stored order, no spaces, few escapes.

    Raises `Invalid` for what JSON has no form for: NaN, an infinity, a lone surrogate, another type.
    """
    try:
        text = _write(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(
            f"a value cannot be written as JSON: {error}",
            hint="JSON has texts, finite numbers, true, false, null, lists and objects with text keys",
        ) from None
    if lone := _lone(text):
        raise Invalid(
            f"a text holds the lone surrogate {lone[0]!r}, which has no UTF-8 form",
            hint="a character beyond U+FFFF is one code point, or two escapes in a row",
        )
    return text


def dump_plain(value: JSON) -> str:
    """Write what `dump` writes, for a value that is known to be of JSON's own types alone, in a third of the time.

    Numbers with an exponent may be written in another form, and are the same numbers. Raises as `dump` does.
    """
    from pydantic_core import to_json

    try:
        text = to_json(value, inf_nan_mode="constants").decode()
    except ValueError:
        return dump(value)  # what is wrong is said there; what is nested deep is written there
    # Either of these words may stand in a text as well.
    return dump(value) if "NaN" in text or "Infinity" in text else text


def same(a: JSON, b: JSON) -> bool:
    """Whether two values are one JSON value: 1 equals 1.0, true is not 1, the order of keys is no matter."""
    pairs = [(a, b)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, bool) or isinstance(right, bool):
            if left is not right:
                return False
        elif isinstance(left, (dict, Mapping)):
            if not isinstance(right, (dict, Mapping)) or left.keys() != right.keys():
                return False
            pairs.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, (list, Sequence)) and not isinstance(left, str):
            if not isinstance(right, (list, Sequence)) or isinstance(right, str) or len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif left != right:
            return False
    return True


def _decoded(data: str | bytes, what: str, max_bytes: int) -> str:
    size = len(data)
    if isinstance(data, str) and size <= max_bytes and not data.isascii():
        size = len(data.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        # No size is told: who reads from a file reads one byte more than is allowed, and not all of it.
        raise InvalidJSON(f"{what} is longer than the {max_bytes:,} bytes that may be read")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise InvalidJSON(f"{what} looks like {name} text", hint="it must be UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise InvalidJSON(f"{what} is not UTF-8 text: {wrong}", hint="save it as UTF-8") from None


def _without_fence(text: str) -> str:
    """`text` without the code fence around it; the line of the opening fence stays, empty."""
    opening = _FENCE.match(text)
    if not opening:
        return text
    body = text[opening.end() :].rstrip()
    last = body.rpartition("\n")[2].strip()
    if len(last) >= len(opening[1]) and not last.strip(opening[1][0]):
        body = body[: len(body) - len(last)]
    return "\n" * opening[0].count("\n") + body


def _read(source: _Source, max_depth: int) -> JSON:
    text = source.text
    suspected = "\\ud" in text or "\\uD" in text or _lone(text) is not None

    def members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
        nonlocal suspected
        value = dict(pairs)
        suspected = suspected or len(value) != len(pairs)
        return value

    def real(digits: str) -> float:
        nonlocal suspected
        number = float(digits)
        suspected = suspected or isinf(number)
        return number

    def constant(_name: str) -> None:
        nonlocal suspected
        suspected = True

    value: JSON = None
    try:
        hooks = {"parse_float": real, "parse_constant": constant}
        value = _parsed(source, max_depth, object_pairs_hook=members, **hooks)
    except ValueError:  # a whole number past the limit of `int`
        suspected = True
    if text.count("[") + text.count("{") > max_depth and _depth(text) > max_depth:
        raise _too_deep(source, max_depth)
    if suspected:
        _refuse_bad(source, max_depth)
    return value


def _parsed(source: _Source, max_depth: int, **hooks: Callable[..., object]) -> Any:
    try:
        return json.loads(source.text, **hooks)  # type: ignore[arg-type]  # hooks of json.loads
    except json.JSONDecodeError as error:
        unreadable = _syntax_error(source, error)
        unreadable.place = source.line_and_column(error.pos)
        raise unreadable from None
    except RecursionError:
        if _depth(source.text) <= max_depth:
            raise
        raise _too_deep(source, max_depth) from None


def _depth(text: str) -> int:
    brackets = _ALL_BUT_BRACKETS.sub("", text)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _too_deep(source: _Source, max_depth: int) -> InvalidJSON:
    opened = _open_at(source.text, len(source.text), max_depth)
    message = f"{source.what} is nested more than {max_depth} deep at {source.place(opened[-1].start)}"
    hint = f"at most {max_depth} arrays and objects stand in one another"
    return InvalidJSON(message, hint=hint, pointer=_pointer(one.step for one in opened[:max_depth]))


def _open_at(text: str, end: int, max_depth: int | None = None) -> list[_Open]:
    """List what is open at `end`, or where `max_depth` is first passed; up to there `text` must be JSON."""
    opened: list[_Open] = []
    label = ""
    for token in _TOKENS.finditer(text, 0, end):
        mark = token[0]
        if mark in "[{":
            opened.append(_Open(token.start(), 0 if mark == "[" else ""))
            if max_depth is not None and len(opened) > max_depth:
                break
        elif mark in "]}":
            opened.pop()
        elif mark == ":":
            opened[-1].step = json.loads(label)
        elif mark == ",":
            step = opened[-1].step
            opened[-1].step = step + 1 if isinstance(step, int) else step
        else:
            label = mark
    return opened


def _syntax_error(source: _Source, error: json.JSONDecodeError) -> InvalidJSON:
    what, text, position = source.what, source.text, error.pos
    rest = text[position:].strip()
    if not text.strip():
        return InvalidJSON(f"{what} is empty", hint="one JSON document was expected")
    if error.msg.startswith("Unterminated string"):
        return _cut_off(source, f"a string opened at {source.place(position)}")
    if error.msg.startswith("Invalid \\u") and '"' not in rest:
        start = max(text.rfind('"', 0, position), 0)
        return _cut_off(source, f"a string opened at {source.place(start)}")
    opened = _open_at(text, position)
    if _UNFINISHED.fullmatch(rest):
        inside = f"an {opened[-1].kind} opened at {source.place(opened[-1].start)}" if opened else repr(rest)
        return _cut_off(source, inside)
    if not text[:position].strip():
        return _not_json(source, rest)
    if error.msg.startswith("Extra data"):
        return _trailing(source, position)
    expected = next((message for start, message in _EXPECTED.items() if error.msg.startswith(start)), error.msg)
    result = repr(text[position : position + 1])
    message = f"{what} is not JSON at {source.place(position)}: {expected}, and {result} was found"
    return InvalidJSON(message, hint=_syntax_hint(source, position, opened))


def _cut_off(source: _Source, inside: str) -> InvalidJSON:
    return InvalidJSON(f"{source.what} ends inside {inside}: it seems cut off", hint="send all of it")


def _not_json(source: _Source, rest: str) -> InvalidJSON:
    first = rest.split("\n", 1)[0].strip()
    looks = ""
    if re.match(r"#{1,6} |[*_>`]", first) or "```" in rest:
        looks = ", which looks like Markdown"
    elif re.match(r"---|- |%YAML|[\w\"'-]+\s*:(\s|$)", first):
        looks = ", which looks like YAML"
    hint = "JSON begins with { or [, texts stand in double quotes, and there are no comments"
    return InvalidJSON(f"{source.what} is not JSON: it begins with {first[:40]!r}{looks}", hint=hint)


def _trailing(source: _Source, position: int) -> InvalidJSON:
    place, result = source.place(position), source.text[position]
    if result in '{["':
        hint = "one document was expected; JSON Lines has each on a line of its own"
        return InvalidJSON(f"{source.what} has a second document, which begins at {place}", hint=hint)
    message = f"{source.what} ends before {place}, where {result!r} was found"
    return InvalidJSON(message, hint="nothing may follow the document")


def _syntax_hint(source: _Source, position: int, opened: list[_Open]) -> str:
    text, result = source.text, source.text[position : position + 1]
    before = text[:position].rstrip()[-1:]
    if "," in (before, result) and result in "]},":
        return "a comma stands between two values only"
    if result in "]}" and opened:
        closing = "]" if opened[-1].kind == "array" else "}"
        return f"the {opened[-1].kind} opened at {source.place(opened[-1].start)} closes with {closing!r}"
    if result in "'‘’“”":
        return "keys and strings stand in double quotes"
    if result in "/#":
        return "JSON has no comments"
    if result in "\n\r\t":
        return r"inside a string a line break is \n and a tab is \t"
    if re.match(r"None|True|False|undefined", text[position:]):
        return "JSON writes null, true and false"
    if result == "\\" or before == "\\":
        return r"a backslash is written \\"
    return 'an object is {"key": value, …}, an array [value, …]'


def _refuse_bad(source: _Source, max_depth: int) -> None:
    """Read again, with a `_Bad` wherever a value is refused, and raise for the first one in the document."""

    def whole(digits: str) -> JSON | _Bad:
        try:
            return int(digits)
        except ValueError:
            hint = f"at most {sys.get_int_max_str_digits():,} digits are read"
            return _Bad(f"a whole number has {len(digits.lstrip('-')):,} digits", hint)

    def real(digits: str) -> JSON | _Bad:
        number = float(digits)
        return _Bad(f"{digits[:40]} is too large", "at most about 1.8e308") if isinf(number) else number

    def constant(name: str) -> _Bad:
        return _Bad(f"{name} stands where a value was expected", "JSON has no such number; use null")

    def members(pairs: list[tuple[str, object]]) -> dict[str, object] | _Bad:
        results: dict[str, object] = {}
        for key, value in pairs:
            if key in results:
                results[key] = _Bad(f"the key {key!r} stands twice in one object", "each key once")
            else:
                results[key] = value
        return results

    hooks = {"parse_int": whole, "parse_float": real, "parse_constant": constant}
    value = _parsed(source, max_depth, object_pairs_hook=members, **hooks)
    for pointer, bad in _bad_values(value, ""):
        where = (pointer or "its top") + (f" of line {source.line}" if source.line else "")
        raise InvalidJSON(f"{source.what} cannot be read at {where}: {bad.message}", hint=bad.hint, pointer=pointer)


def _bad_values(value: object, pointer: str) -> Iterator[tuple[str, _Bad]]:
    if isinstance(value, _Bad):
        yield pointer, value
    elif isinstance(value, str) and (lone := _lone(value)):
        hint = "a character beyond U+FFFF is written itself, or as two escapes"
        yield pointer, _Bad(f"\\u{ord(lone[0]):04x} is half of a character", hint)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _bad_values(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _bad_values(key, pointer)
            yield from _bad_values(item, pointer + _pointer([key]))


def _lone(text: str) -> re.Match[str] | None:
    return None if text.isascii() else _SURROGATE.search(text)


def _pointer(steps: Iterable[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def copied(value: JSON) -> JSON:
    """Return a value as it would be read anew: who changes it changes nothing else."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}  # type: ignore[union-attr]  # its type is looked at
    if kind is list:
        return [copied(item) for item in value]  # type: ignore[union-attr]
    return value
