"""Front matter: YAML 1.2 (core schema) as JSON values, and back.

Nearly every front matter is lines of `key: value`, lists in brackets or under hyphens; those are read here, and
everything else by a YAML parser, which would read the same from them, and takes fifty times as long.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON

MAX_FRONT_MATTER = 2**20
"""The longest front matter read, in characters."""

MAX_DEPTH = 100
"""How deep lists and mappings of the front matter may stand in one another."""

MAX_ALIASED = 10_000
"""How many values the aliases (`*name`) of one front matter may stand for together."""

_WORDS: dict[str, bool | None] = {"": None, "~": None}
for _word, _meaning in (("null", None), ("true", True), ("false", False)):
    _WORDS |= dict.fromkeys((_word, _word.capitalize(), _word.upper()), _meaning)
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
"""Not `007`: who writes zeros in front means the signs, as in a code or a postal code."""
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BARE = re.compile(r"[^\W\d_](?:[\w ./()'&+-]*[\w.()'&+-])?|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_BARE = re.compile(r"(?:null|true|false|yes|no|on|off)", re.IGNORECASE)
_UNPRINTABLE = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read(block: str) -> dict[str, JSON]:
    """Read a front matter. Raises `Invalid` for what is not YAML, or has no JSON form, with the line of the file."""
    if not block.strip():
        return {}
    simple = read_simple(block)
    return read_yaml(block) if simple is None else simple


_KEY = re.compile(r"([A-Za-z_][\w-]{0,99}):(?: +(\S.*?))? *")
_ITEM = re.compile(r"( *)- +(\S.*?) *")
_MARKS = "./()'+;=@*!$%~^|&\"<>–—…‘’“”€"
_FIRST = r"(?:-[0-9]|[\w(./$])"
_PLAIN = re.compile(rf"{_FIRST}(?:[\w {_MARKS},-]|:(?=[\w/]))*")
_PLAIN_IN_LIST = re.compile(rf"{_FIRST}[\w {_MARKS}-]*")
_QUOTED = re.compile(
    rf"\"[\w ?:,#\[\]{{}}{_MARKS.replace(chr(34), '')}-]*\"|'[\w ?:,#\[\]{{}}{_MARKS.replace(chr(39), '')}-]*'"
)


def read_simple(block: str) -> dict[str, JSON] | None:
    """Read what is simple enough to be sure of it; None for the rest, right or wrong."""
    if len(block) > MAX_FRONT_MATTER:
        return None
    members: dict[str, JSON] = {}
    items: list[JSON] | None = None
    indents: set[str] = set()
    try:
        for line in block.removesuffix("\n").split("\n"):
            if match := _KEY.fullmatch(line):
                key, text = match[1], match[2]
                if key in members or key in _WORDS:
                    return None
                items, indents = (None, set()) if text else ([], set())
                members[key] = _simple_value(text) if text else None
            elif (item := _ITEM.fullmatch(line)) and items is not None:
                indents.add(item[1])
                items.append(_simple_scalar(item[2], _PLAIN))
                members[key] = items
            elif line:
                return None
            if len(indents) > 1:
                return None
    except (Invalid, _NotSimpleError):
        return None
    return members


class _NotSimpleError(Exception):
    pass


def _simple_value(text: str) -> JSON:
    if not text.startswith("["):
        return _simple_scalar(text, _PLAIN)
    if not text.endswith("]"):
        raise _NotSimpleError
    inner = text[1:-1].strip(" ")
    return [_simple_scalar(item, _PLAIN_IN_LIST) for item in re.split(", +", inner)] if inner else []


def _simple_scalar(text: str, plain: re.Pattern[str]) -> JSON:
    if plain.fullmatch(text):
        return _plain(text, 0)
    if _QUOTED.fullmatch(text):
        return text[1:-1]
    raise _NotSimpleError


def read_yaml(block: str) -> dict[str, JSON]:
    """Read any front matter, as `read` does."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    if len(block) > MAX_FRONT_MATTER:
        size, most = f"{len(block):,}", f"{MAX_FRONT_MATTER:,}"
        raise Invalid(f"the front matter is {size} characters long", hint=f"at most {most} are read")
    if directive := re.search(r"^%", block, re.MULTILINE):
        raise _invalid(block.count("\n", 0, directive.start()), "a directive begins", "put it in quotes")
    try:
        return _Reader(YAML(typ="safe", pure=True).parse(block)).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _invalid(mark.line, str(error.problem or error.context)) from None
    except ReaderError as error:
        line = block.count("\n", 0, error.position)
        raise _invalid(line, f"the character {block[error.position]!r} is not allowed") from None
    except (OverflowError, ValueError):
        raise Invalid("the front matter has an escape that is not a character") from None


def _invalid(line: int, message: str, hint: str = "YAML: indent with spaces, quote a text with a colon") -> Invalid:
    """Name the line of the file, counted from 1, for a 0-based line of the block."""
    return Invalid(f"the front matter cannot be read at line {line + 2}: {message}", hint=hint)


class _Reader:
    """Makes JSON values of the events of a YAML parser."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, tuple[JSON, int]] = {}
        self._made = 0
        self._aliased = 0

    def document(self) -> dict[str, JSON]:
        first = next(event for event in self._events if _kind(event) not in ("StreamStart", "DocumentStart"))
        if _kind(first) == "StreamEnd":
            return {}
        value, line = self._value(first, 0), first.start_mark.line
        if second := next((event for event in self._events if _kind(event) == "DocumentStart"), None):
            raise _invalid(second.start_mark.line, "a second document begins", "one is read")
        if not isinstance(value, dict):
            raise _invalid(line, f"{json.dumps(value)[:40]} stands alone", "each line is `key: value`")
        return value

    def _value(self, event: Any, depth: int) -> JSON:
        kind, before = _kind(event), self._made
        if depth > MAX_DEPTH:
            raise _invalid(event.start_mark.line, "it is nested too deep", f"at most {MAX_DEPTH} deep")
        if kind == "Alias":
            return self._alias(event)
        self._made += 1
        value: JSON
        if kind == "Scalar":
            value = _scalar(event)
        elif kind == "SequenceStart":
            value = [self._value(item, depth + 1) for item in self._until("SequenceEnd")]
        else:
            value = self._mapping(depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._made - before)
        return value

    def _until(self, end: str) -> Iterator[Any]:
        return takewhile(lambda event: _kind(event) != end, self._events)

    def _alias(self, event: Any) -> JSON:
        line = event.start_mark.line
        if event.anchor not in self._anchors:
            raise _invalid(line, f"the alias *{event.anchor} has no anchor before it", "write the value out")
        value, size = self._anchors[event.anchor]
        self._made += size
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            raise _invalid(line, f"its aliases stand for more than {MAX_ALIASED:,} values", "write them out")
        return value

    def _mapping(self, depth: int) -> JSON:
        members: dict[str, JSON] = {}
        for event in self._until("MappingEnd"):
            line, key = event.start_mark.line, self._value(event, depth)
            if not isinstance(key, str):
                raise _invalid(line, f"the key {json.dumps(key)[:40]} is not a text", "put it in quotes")
            if key in members:
                raise _invalid(line, f"the key {key!r} stands there a second time", "each key once")
            members[key] = self._value(next(self._events), depth)
        return members


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _scalar(event: Any) -> JSON:
    text, line = event.value, event.start_mark.line
    tag = (event.tag or "").rpartition(":")[2]
    if tag not in ("", "!", "str", "timestamp", "int", "float", "bool", "null"):
        raise _invalid(line, f"the tag {event.tag!r} has no meaning here", "leave it out")
    if (event.implicit[0] and tag != "!") or tag in ("int", "float", "bool", "null"):
        return _plain(text, line)
    try:  # two escapes in a row may be one character, as in JSON
        return str(text.encode("utf-16", "surrogatepass").decode("utf-16"))
    except UnicodeDecodeError:
        raise _invalid(line, "an escape is half of a character", "write the character") from None


def _plain(text: str, line: int) -> JSON:
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _invalid(line, f"{text} has no JSON form", "use null, or put it in quotes")
    if _WHOLE.fullmatch(text):
        try:
            return int(text, 0 if text.startswith(("0o", "0x")) else 10)
        except ValueError:
            raise _invalid(line, f"a number has {len(text):,} digits", "put it in quotes") from None
    if _REAL.fullmatch(text):
        number = float(text)
        if math.isinf(number):
            raise _invalid(line, f"{text} is too large for a number", "put it in quotes")
        return number
    return text


def entry(key: str, value: JSON) -> str:
    """Write a key with its value."""
    name = value_text(key)
    return f"? {name}\n: {value_text(value)}" if len(name) > 1000 else f"{name}: {value_text(value)}"


def value_text(value: JSON) -> str:
    """Write a value on one line, so that YAML 1.1 and 1.2 read the same from it wherever they can."""
    if isinstance(value, str):
        if len(value) < 1000 and _BARE.fullmatch(value) and not _NOT_BARE.fullmatch(value):
            return value
        return quoted(value)
    if isinstance(value, Mapping):
        members = (entry(key, item).replace("\n", " ") for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return json.dumps(value, allow_nan=False)


def quoted(text: str) -> str:
    """Write a text in double quotes on one line."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
