"""Places in content: how they are written, and the one rule by which they are read.

`title`, `metadata.score`, `tags[0]`, `["any key"][-1]`, `@metadata.title`. A quote is doubled inside quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, overload

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON

if TYPE_CHECKING:
    from infospace.core.resources import Location

Part: TypeAlias = str | int
"""A key of an object, or a position in a list (negative: from the end)."""

EXAMPLES: Final = 'such as title, metadata.score, tags[0], ["any key"] or @metadata.title'
OF_FILES: Final = ("@path", "@folder", "@file", "@root")
"""Where the file of an imported Note lies; these places do not exist in anything else."""

OF_NOTES: Final = ("@title", "@tags", "@modified")
"""What a Note is called, its tags with those above them, and when its file, or else itself, was last changed."""

OWN: Final = ("@metadata", "@id", "@name", "@created", "@updated", *OF_FILES, *OF_NOTES)
"""What, in the first place of a path, always means the resource and never its content."""
EXTRA: Final = "@extra"
"""What, in the first place of a reference's path, means the `extra` of the step that made the resource."""
OF_REFERENCES: Final = (*OWN, EXTRA)
"""What never means content behind a variable, or behind positions alone."""

KEY: Final = re.compile(r"[^\W\d][\w-]*")
"""A key that needs no quotes."""

_STEP_FORMS = r"""\[(?P<index>-?[0-9]{1,15})\]|\["(?P<double>(?:[^"]|"")*)"\]|\['(?P<single>(?:[^']|'')*)'\]"""
_STEP = re.compile(rf"\.(?P<key>{KEY.pattern})|{_STEP_FORMS}")
_STEP_TICKED = re.compile(rf"\.(?P<key>{KEY.pattern})|\.`(?P<tick>(?:[^`]|``)*)`|{_STEP_FORMS}")
_FIRST = re.compile(rf"(?P<key>{KEY.pattern})|{_STEP_FORMS}")
_FIRST_TICKED = re.compile(rf"(?P<key>{KEY.pattern})|`(?P<tick>(?:[^`]|``)*)`|{_STEP_FORMS}")
_AT = re.compile(rf"@(?:{KEY.pattern})?")
_QUOTES = {"double": '"', "single": "'", "tick": "`"}
_SHOWN_KEYS = 12


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""What `find` gives for a place that does not exist; JSON null exists and is `None`."""


class Readable(Protocol):
    """What a path is read from: a resource with an identity, content and metadata of its own."""

    @property
    def id(self) -> str:
        """Its id, such as `Note_12`."""

    @property
    def name(self) -> str | None:
        """Its name in the space, if it has one."""

    @property
    def content(self) -> JSON:
        """Any JSON value; text is a string."""

    @property
    def metadata(self) -> Mapping[str, JSON]:
        """The resource's own metadata."""

    @property
    def created(self) -> str:
        """When it was made."""

    @property
    def updated(self) -> str:
        """When it was last changed."""

    @property
    def location(self) -> Location | None:
        """Where its file lies, if it has one."""


@dataclass(frozen=True, slots=True)
class Path:
    """A place in a resource; without parts, its content.

    A first part out of `OWN` means the resource: a content key of that name cannot stand in first place.
    """

    parts: tuple[Part, ...]
    written: str = field(default="", compare=False, repr=False)
    """As its author wrote it, where `parse` read it."""

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read all of `text` as one path; raises `Invalid` with the 0-based character at fault."""
        path, end = read_path(text, 0)
        if end != len(text):
            raise _unreadable(text, end)
        return cls(path.parts, text)

    def __str__(self) -> str:
        """Write the path as `parse` reads it."""
        return show_parts(self.parts)


def show_parts(parts: Sequence[Part]) -> str:
    """`parts` as they are written in a path of their own."""
    texts: list[str] = []
    for place, part in enumerate(parts):
        if isinstance(part, int):
            texts.append(f"[{part}]")
        elif KEY.fullmatch(part) or (place == 0 and part in OWN):
            texts.append(f".{part}" if place else part)
        else:
            doubled = part.replace('"', '""')
            texts.append(f'["{doubled}"]')
    return "".join(texts)


def read_path(text: str, start: int, *, backticks: bool = False) -> tuple[Path, int]:
    """Read the path that begins at `start`, and where it ends.

    With `backticks`, `` `odd key` `` is a key too, and `` `@id` `` is `@id`.
    A `.` that no key follows is not part of the path.
    Raises `Invalid` when none begins there.
    """
    if text.startswith("@", start):
        own, end = _read_own(text, start)
        return _read_on(text, end, [own], backticks=backticks)
    first = (_FIRST_TICKED if backticks else _FIRST).match(text, start)
    if first is None:
        raise _unreadable(text, start)
    part = _part(first)
    if first.lastgroup != "tick":
        _refuse_quoted_own(part, text, start)
    return _read_on(text, first.end(), [part], backticks=backticks)


def parse_suffix(text: str, start: int) -> tuple[Path, int]:
    """Read the path that follows a variable (`.title[0]` of `$x.title[0]`), and where it ends.

    It begins with `.` or `[`, or is empty. `.@id` and its like may stand first, or after positions alone,
    which are items of a Collection. Raises `Invalid` at a `[` that opens neither a position nor a quoted key.
    """
    parts: list[Part] = []
    end = start
    while (step := _STEP.match(text, end)) and step["index"] is not None:
        parts.append(int(step["index"]))
        end = step.end()
    if text.startswith(".@", end):
        own, end = _read_own(text, end + 1, OF_REFERENCES)
        parts.append(own)
    elif step is not None:
        _refuse_quoted_own(_part(step), text, end, OF_REFERENCES)
    return _read_on(text, end, parts, backticks=False)


def _read_on(text: str, end: int, parts: list[Part], *, backticks: bool) -> tuple[Path, int]:
    pattern = _STEP_TICKED if backticks else _STEP
    while step := pattern.match(text, end):
        parts.append(_part(step))
        end = step.end()
    if text.startswith("[", end):
        raise _unreadable(text, end)
    return Path(tuple(parts)), end


def _part(step: re.Match[str]) -> Part:
    form = step.lastgroup or "key"
    value = step[form]
    if form == "index":
        return int(value)
    quote = _QUOTES.get(form)
    return value if quote is None else value.replace(quote * 2, quote)


def _read_own(text: str, start: int, known_names: tuple[str, ...] = OWN) -> tuple[str, int]:
    match = _AT.match(text, start)
    word = match[0] if match else "@"
    if word in known_names:
        return word, start + len(word)
    near = nearest(word, known_names)
    hint = f"did you mean {near}? " if near else ""
    message = f"{_cut(word)!r} (character {start}) is nothing that a resource has"
    raise Invalid(message, hint=f"{hint}there are {', '.join(known_names)}")


def _refuse_quoted_own(part: Part, text: str, start: int, known_names: tuple[str, ...] = OWN) -> None:
    if part in known_names:
        message = f"{_cut(text)!r} has {part} as a content key in first place (character {start})"
        raise Invalid(message, hint=f"there it always means the resource: write {part} without quotes")


def _unreadable(text: str, at: int) -> Invalid:
    if not text.strip():
        return Invalid("a path is empty", hint=EXAMPLES)
    if text.startswith(("[*]", "[]"), at):
        message = f"{_cut(text)!r} is not a path: `[` (character {at}) takes one index"
        return Invalid(message, hint="[0] is the first item, [-1] the last; `pluck` takes a field of all")
    if re.match(r"\[-?\d*:-?\d*\]", text[at:]):
        message = f"{_cut(text)!r} is not a path: `[` (character {at}) takes one index, no slice"
        return Invalid(message, hint='`load` takes a slice of items: "slice": "0:2"')
    if at >= len(text):
        return Invalid(f"{_cut(text)!r} is not a path: it ends where a key was expected", hint=EXAMPLES)
    return Invalid(f"{_cut(text)!r} is not a path: found {text[at]!r} at character {at}", hint=EXAMPLES)


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def lookup(value: JSON, parts: Sequence[Part], of: str = "the content") -> JSON:
    """Give the place `parts` inside `value`, which is called `of`; raises `PathNotFound`, which says what there is."""
    result = _walk(value, parts, 0)
    if result is ABSENT:
        raise _missing(value, parts, 0, of)
    return result


def inside(value: JSON, parts: Sequence[Part]) -> JSON | Absent:
    """Give the place `parts` inside `value`, or `ABSENT`."""
    return _walk(value, parts, 0)


def find(resource: Readable, path: Path) -> JSON | Absent:
    """Give the place of `path` in `resource`, or `ABSENT`.

    The first key is a content key if the content is an object that has it; else `metadata` is the resource's
    own, and `content` the text of a resource whose content is text. There is no other fall-back.
    """
    parts = path.parts
    if not parts:
        return resource.content
    return _walk(_root(resource, parts[0]), parts, 1)


def read(resource: Readable, path: Path) -> JSON:
    """Give the place of `path` as `find` does; raises `PathNotFound`, which says what there is instead."""
    value = find(resource, path)
    if value is not ABSENT:
        return value
    parts = path.parts
    root = _root(resource, parts[0])
    if root is not ABSENT:
        raise _missing(root, parts, 1, show_parts(parts[:1]))
    if parts[0] in OF_FILES:
        message = f"`{show_parts(parts)}` does not exist: {resource.id} was not imported from a file"
        raise PathNotFound(message, hint="`bound` asks whether it exists")
    error = _missing(resource.content, parts, 0, f"the content of {resource.id}")
    if parts[0] in resource.metadata:
        error.hint = f"did you mean {show_parts(('metadata', *parts))}?"
    elif isinstance(resource.content, str):
        error.hint = "`content` is the text, `metadata` what is known of it"
    raise error


def reader(path: Path) -> Callable[[Readable], JSON | Absent]:
    """`find` for one path and many resources."""
    if not path.parts:
        return attrgetter("content")
    first, rest = path.parts[0], path.parts[1:]

    def read_second(resource: Readable) -> JSON | Absent:
        value = plain(resource)
        return value.get(second, ABSENT) if type(value) is dict else _step(value, second)

    def read_all(resource: Readable) -> JSON | Absent:
        return _walk(plain(resource), rest, 0)

    plain = _own_reader(first) if first in OWN else _first_reader(first)
    if not rest:
        return plain
    second = rest[0]
    return read_second if len(rest) == 1 and isinstance(second, str) else read_all


def _first_reader(first: Part) -> Callable[[Readable], JSON | Absent]:
    """`_root` for one first part that is not among `OWN`."""
    of_resource, of_text = first == "metadata", first == "content"

    def read_first(resource: Readable) -> JSON | Absent:
        content = resource.content
        if type(content) is str:
            return resource.metadata if of_resource else content if of_text else ABSENT
        if type(content) is not dict:
            return _root(resource, first)
        value: JSON | Absent = content.get(first, ABSENT)
        return resource.metadata if of_resource and value is ABSENT else value

    return read_first


def _read_title(resource: Readable) -> JSON | Absent:
    from infospace.data.titles import title_of

    result = title_of(*_own(resource), resource.location)
    return ABSENT if result is None else result


def _read_tags(resource: Readable) -> JSON | Absent:
    from infospace.data.tags import tags_of, with_parents

    results = with_parents(tags_of(_own(resource)[0].get("tags")))
    return list(results) if results else ABSENT


def _own(resource: Readable) -> tuple[Mapping[str, JSON], str | None, JSON]:
    """Return a Note's metadata, name and content; of a search result those of its source that it tells."""
    content = resource.content
    if getattr(resource, "evidence", False) and isinstance(content, Mapping):
        metadata = content.get("metadata")
        source = metadata.get("source") if isinstance(metadata, Mapping) else None
        if isinstance(metadata, Mapping) and isinstance(source, Mapping):
            return {"title": metadata.get("title"), **source}, None, None
    return resource.metadata, resource.name, content


def _read_modified(resource: Readable) -> JSON | Absent:
    location = resource.location
    return (None if location is None else location.modified) or resource.updated


_OF_NOTES: Final = {"@title": _read_title, "@tags": _read_tags, "@modified": _read_modified}


def _own_reader(word: Part) -> Callable[[Readable], JSON | Absent]:
    if isinstance(word, str) and word in _OF_NOTES:
        return _OF_NOTES[word]
    attribute = attrgetter(str(word)[1:])
    if word not in OF_FILES:
        return attribute

    def read_location(resource: Readable) -> JSON | Absent:
        return ABSENT if resource.location is None else attribute(resource.location)

    return read_location


_OWN_READERS: Final = {word: _own_reader(word) for word in OWN}


def _root(resource: Readable, first: Part) -> JSON | Absent:
    own = _OWN_READERS.get(first) if isinstance(first, str) else None
    if own is not None:
        return own(resource)
    content = resource.content
    value = _step(content, first)
    if value is not ABSENT:
        return value
    if first == "metadata":
        return resource.metadata
    return content if first == "content" and isinstance(content, (str, int, float)) else ABSENT


def _walk(value: JSON | Absent, parts: Sequence[Part], start: int) -> JSON | Absent:
    for place in range(start, len(parts)):
        value = _step(value, parts[place])
    return value


def _step(value: JSON | Absent, part: Part) -> JSON | Absent:
    if isinstance(part, str):
        if isinstance(value, dict) or (not isinstance(value, str) and isinstance(value, Mapping)):
            result: JSON | Absent = value.get(part, ABSENT)
            return result
    elif isinstance(value, (list, tuple)) and -len(value) <= part < len(value):
        item: JSON = value[part]
        return item
    return ABSENT


def fewer(parts: Sequence[Part], count: int, holder: str) -> PathNotFound:
    """Return what is said of an index that is out of range."""
    message, hint = _counted(count, holder)
    return PathNotFound(f"`{show_parts(parts)}` does not exist: {message}", hint=hint)


def _counted(count: int, holder: str) -> tuple[str, str | None]:
    hint = f"they are [0] to [{count - 1}], or [-{count}] to [-1]" if count else None
    return f"{holder} has {count} item{'' if count == 1 else 's'}", hint


def _missing(value: JSON, parts: Sequence[Part], start: int, of: str) -> PathNotFound:
    for place in range(start, len(parts)):
        part = parts[place]
        inner = _step(value, part)
        if inner is ABSENT:
            holder = f"`{show_parts(parts[:place])}`" if place else of
            message, hint = _describe_candidates(value, part, holder)
            return PathNotFound(f"`{show_parts(parts[: place + 1])}` does not exist: {message}", hint=hint)
        value = inner
    return PathNotFound(f"`{show_parts(parts)}` does not exist")


def _describe_candidates(value: JSON, part: Part, holder: str) -> tuple[str, str | None]:
    if isinstance(part, int):
        if not isinstance(value, (list, tuple)):
            return f"{holder} is {a_kind(value)}, not a list", None
        return _counted(len(value), holder)
    if not isinstance(value, Mapping):
        return f"{holder} is {a_kind(value)}, not an object", None
    if not value:
        return f"{holder} has no keys", None
    keys = _by_nearness(part, tuple(value))
    text = ", ".join(show_parts((key,)) for key in keys[:_SHOWN_KEYS])
    near = nearest(part, keys[:1])
    offer = f"did you mean {show_parts((near,))}? " if near else ""
    more = ", …" if len(keys) > _SHOWN_KEYS else ""
    return f"{holder} has no key {part!r}", f"{offer}it has {text}{more}"


_KINDS: Final[dict[type, str]] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
}


def kind_of(value: JSON) -> str:
    """`null`, `boolean`, `number`, `string`, `list` or `object`; a boolean is not a number."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    other = "object" if isinstance(value, Mapping) else "list"
    return next((kind for type_, kind in _KINDS.items() if isinstance(value, type_)), other)


def a_kind(value: JSON) -> str:
    """Return the JSON kind of a value with its article: `a list`, `an object`, `null`."""
    kind = kind_of(value)
    return {"null": kind, "object": "an object"}.get(kind, f"a {kind}")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Give the candidate that `word` was probably meant to be, ignoring case, or None."""
    return _nearest(word, tuple(candidates))


@lru_cache(maxsize=512)
def _nearest(word: str, candidates: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    folded = {candidate[:64].casefold(): candidate for candidate in reversed(candidates)}
    close = get_close_matches(word[:64].casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


@overload
def did_you_mean(word: str, candidates: Iterable[str], otherwise: str) -> str: ...
@overload
def did_you_mean(word: str, candidates: Iterable[str], otherwise: str | None) -> str | None: ...
def did_you_mean(word: str, candidates: Iterable[str], otherwise: str | None) -> str | None:
    """Return the hint that names the nearest candidate, or `otherwise` where none is near.

    >>> did_you_mean("titel", ["title", "text"], "it has title, text")
    "did you mean 'title'?"
    """
    near = nearest(word, candidates)
    return f"did you mean {near!r}?" if near else otherwise


def nearest_names(word: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """Give the candidates most like a word, the likest first, however unlike they are."""
    return list(_by_nearness(word, sorted(candidates))[:most])


def _by_nearness(word: str, keys: Sequence[str]) -> Sequence[str]:
    from difflib import SequenceMatcher

    if len(keys) > 1000:
        return keys
    matcher = SequenceMatcher(b=word[:64].casefold(), autojunk=False)

    def unlikeness(key: str) -> float:
        matcher.set_seq1(key[:64].casefold())
        return -matcher.ratio()

    return sorted(keys, key=unlikeness)
