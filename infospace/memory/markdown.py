"""Markdown files as notes: front matter to metadata, tags and links out of the text, and back again.

Front matter is YAML 1.2 (core schema) between two lines `---` at the very top: `no` and `2024-05-01` are
texts. The body is CommonMark; code, raw HTML, links and addresses hold no tags, and code holds no links.

`parse(to_markdown(t, m))` has the text `t`, and the metadata `m` completed by what `t` itself says: its
title where `m` has none, its tags after those of `m`. So it is exact for every pair that `parse` gives.
Line ends become line feeds, and tags written as `"a, b"` come back as a list.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from infospace.errors import Invalid
from infospace.jsonvalue import JSON

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_FRONT_MATTER = 2**20
"""The longest front matter read, in characters."""

MAX_DEPTH = 100
"""How deep lists and mappings of the front matter may stand in one another."""

MAX_ALIASED = 10_000
"""How many values the aliases (`*name`) of one front matter may stand for together."""

_FRONT_OPENS = re.compile(r"---[ \t]*\n")
_FRONT_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n\n?|\Z)", re.MULTILINE)
_LIKE_A_MAPPING = re.compile(r"(?:[ \t]*(?:#.*)?\n)*+(?:\Z|[ \t]*[{?]|.*?:(?:\s|\Z))")

_WORDS: dict[str, bool | None] = {"": None, "~": None}
for _word, _meaning in (("null", None), ("true", True), ("false", False)):
    _WORDS |= dict.fromkeys((_word, _word.capitalize(), _word.upper()), _meaning)
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BARE = re.compile(r"[^\W\d_](?:[\w ./()'&+-]*[\w.()'&+-])?|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_BARE = re.compile(r"(?:null|true|false|yes|no|on|off)", re.IGNORECASE)
_UNPRINTABLE = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_WIKI = re.compile(r"\[\[(?P<target>[^\[\]\n|#]*)(?P<heading>#[^\[\]\n|]*)?(?:\|(?P<alias>[^\[\]\n]*))?\]\]")
_TAG = re.compile(r"""(?:^|(?<=[\s(\[{"'“‘«]))#([\w/-]+)""")
_OPAQUE = "\ufffc"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another note: `[[target#heading|text]]` (`wiki`), or `[text](target#heading)`.

    `target` is a name or a relative path, decoded and without heading; `start` is the offset of the opening
    bracket in `Parsed.text`, in characters.
    """

    target: str
    text: str
    start: int
    wiki: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A Markdown file taken apart.

    `text` is the body as written, but for its line ends. `metadata` is the front matter; its `title` is the
    first heading of level 1 where it has none itself, and absent where there is neither. `tags`, in the
    metadata too unless something else stands there, are the front matter's and then the body's, each once.
    """

    text: str
    metadata: dict[str, JSON]
    tags: tuple[str, ...]
    links: tuple[Link, ...]


def parse(document: str) -> Parsed:
    """Take a Markdown file apart. Raises `Invalid` for a front matter that is not YAML, or has no JSON form."""
    document = _unix(document).removeprefix("\ufeff")
    block, end = _front(document) or ("", 0)
    metadata, text = _front_matter(block), document[end:]
    title, said, links = _body(text)
    own = _tags(metadata.get("tags"))
    tags = tuple(dict.fromkeys((*(own or ()), *said)))
    if tags and own is not None:
        metadata["tags"] = list(tags)
    if title and metadata.get("title") is None:
        metadata["title"] = title
    return Parsed(text, metadata, tags, links)


def to_markdown(text: str, metadata: Mapping[str, JSON]) -> str:
    """Write a note as a Markdown file; what the text says itself, its title and tags, is not said again."""
    text = _unix(text)
    title, said, _ = _body(text)
    kept = dict(metadata)
    if title and kept.get("title") == title:
        del kept["title"]
    tags = _tags(kept.get("tags")) or ()
    own = tuple(tag for tag in tags if tag not in said)
    if said and (*own, *said) == tags:
        kept["tags"] = list(own)
        if not own:
            del kept["tags"]
    lines = [_entry(key, value) + "\n" for key, value in kept.items()]
    if not lines and not text.startswith("\ufeff") and not _front(text):
        return text
    return f"---\n{''.join(lines)}---\n\n{text}"


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _front(document: str) -> tuple[str, int] | None:
    """Find the front matter, and where the body begins; two rules with prose between them are none."""
    opens = _FRONT_OPENS.match(document)
    closes = _FRONT_CLOSES.search(document, opens.end()) if opens else None
    if not opens or not closes:
        return None
    block = document[opens.end() : closes.start()]
    return (block, closes.end()) if _LIKE_A_MAPPING.match(block) else None


def _tags(value: JSON) -> tuple[str, ...] | None:
    """Read tags as a list or a comma-separated text; None for a value that cannot be merged with others."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(one, (str, int, float)) for one in value):
        return None
    texts = (one if isinstance(one, str) else json.dumps(one) for one in value)
    cleaned = (one.strip().removeprefix("#").strip() for one in texts)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _front_matter(block: str) -> dict[str, JSON]:
    if not block.strip():
        return {}
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
        raise Invalid("the front matter has an escape that is no character") from None


def _invalid(line: int, says: str, hint: str = "YAML: indent with spaces, quote a text with a colon") -> Invalid:
    """Name the line of the file, counted from 1, for a 0-based line of the block."""
    return Invalid(f"the front matter cannot be read at line {line + 2}: {says}", hint=hint)


class _Reader:
    """Makes JSON values of the events of a YAML parser."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, tuple[JSON, int]] = {}
        self._made = 0
        self._aliased = 0

    def document(self) -> dict[str, JSON]:
        first = next(one for one in self._events if _kind(one) not in ("StreamStart", "DocumentStart"))
        if _kind(first) == "StreamEnd":
            return {}
        value, line = self._value(first, 0), first.start_mark.line
        if second := next((one for one in self._events if _kind(one) == "DocumentStart"), None):
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


def _entry(key: str, value: JSON) -> str:
    name = _written(key)
    return f"? {name}\n: {_written(value)}" if len(name) > 1000 else f"{name}: {_written(value)}"


def _written(value: JSON) -> str:
    """Write a value on one line, so that YAML 1.1 and 1.2 read the same from it wherever they can."""
    if isinstance(value, str):
        if len(value) < 1000 and _BARE.fullmatch(value) and not _NOT_BARE.fullmatch(value):
            return value
        text = json.dumps(value, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if isinstance(value, Mapping):
        members = (_entry(key, item).replace("\n", " ") for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, allow_nan=False)


def _body(text: str) -> tuple[str, tuple[str, ...], tuple[Link, ...]]:
    """Find what a text says of itself: its title (or nothing), its tags, its links."""
    if not re.search(r"[#\[]|^=", text, re.MULTILINE):
        return "", (), ()
    md = _markdown()
    env: dict[str, Any] = {}
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    title = ""
    tags: dict[str, None] = {}
    links: list[Link] = []
    for opening, block in pairwise(md.parse(text, env)):
        heading = opening.type == "heading_open"
        wanted = heading and opening.tag == "h1" and not title
        if block.type != "inline" or not (wanted or "[" in block.content or "#" in block.content):
            continue
        tokens: list[Token] = []
        md.inline.parse(block.content, md, env, tokens)
        if wanted:
            title = " ".join(_spoken(tokens).split())
        if not heading:
            tags |= dict.fromkeys(_tags_in(tokens))
        links.extend(_links_in(tokens, partial(_offset, text, starts, block)))
    return title, tuple(tags), tuple(links)


def _offset(text: str, starts: list[int], block: Token, position: int) -> int:
    """Where in `text` the character at `position` of a block's content stands.

    A line of content is its source line without the marks of quotes, lists and headings around it.
    """
    before = block.content[:position]
    first = starts[(block.map or [0])[0] + before.count("\n")]
    source = text[first : text.find("\n", first) + 1 or None].replace("\0", "\ufffd")
    line = block.content[before.rfind("\n") + 1 :].partition("\n")[0]
    column = position - before.rfind("\n") - 1 - (len(line) - len(line.lstrip()))
    return first + source.rfind(line.strip()) + column


def _spoken(tokens: list[Token]) -> str:
    spaces = {"softbreak": " ", "hardbreak": " ", "html_inline": ""}
    return "".join(spaces.get(token.type, token.content) for token in tokens)


def _tags_in(tokens: list[Token]) -> Iterator[str]:
    """Read tags from what is plain text; anything else is a character that no tag can follow or contain."""
    parts, inside = [], 0
    for token in tokens:
        inside += token.nesting if token.type.startswith("link_") else 0
        if token.type == "text" and not inside:
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak", "html_inline"):
            parts.append("\n")
        elif not token.nesting:
            parts.append(_OPAQUE)
    found = (one[1].rstrip("/-") for one in _TAG.finditer("".join(parts)))
    yield from (tag for tag in found if any(map(str.isalpha, tag)))


def _links_in(tokens: list[Token], offset: Callable[[int], int]) -> Iterator[Link]:
    for index, token in enumerate(tokens):
        if token.type == "wiki" and token.meta["target"]:
            yield Link(token.meta["target"], token.content, offset(token.meta["position"]), wiki=True)
        elif token.type == "link_open" and "position" in token.meta:
            target = unquote(str(token.attrs["href"]).partition("#")[0])
            if target and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/", target):
                inner = takewhile(lambda one: one.type != "link_close", tokens[index + 1 :])
                yield Link(target, _spoken(list(inner)), offset(token.meta["position"]), wiki=False)


@cache
def _markdown() -> MarkdownIt:
    """Make a parser that stops at blocks, reads `[[links]]`, and notes where in its block each link opens."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import link

    def link_with_place(state: StateInline, silent: bool) -> bool:
        position, made = state.pos, len(state.tokens)
        if not link(state, silent):
            return False
        if not silent:
            opened = next(one for one in state.tokens[made:] if one.type == "link_open")
            opened.meta["position"] = position
        return True

    md = MarkdownIt("commonmark")
    md.core.ruler.enableOnly(["normalize", "block"])
    md.inline.ruler.at("link", link_with_place)
    md.inline.ruler.before("link", "wiki", _wiki)
    return md


def _wiki(state: StateInline, silent: bool) -> bool:
    found = _WIKI.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        target, heading, alias = found["target"].rstrip("\\").strip(), found["heading"] or "", found["alias"]
        token = state.push("wiki", "", 0)
        token.content = (alias or target + heading.rstrip("\\")).strip()
        token.meta = {"target": target, "position": state.pos}
    state.pos = found.end()
    return True
