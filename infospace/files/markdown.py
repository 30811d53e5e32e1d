"""Markdown files as notes: front matter to metadata, tags and links out of the text, and back again.

Front matter is YAML 1.2 (core schema) between two lines `---` at the very top: `no` and `2024-05-01` are
texts. The body is CommonMark; code, raw HTML, links and addresses hold no tags, and code holds no links.

`parse(to_markdown(t, m))` has the text `t`, and the metadata `m` completed by what `t` itself says: its
title where `m` has none, its tags after those of `m`. So it is exact for every pair that `parse` gives.
Line ends become line feeds, and tags written as `"a, b"` come back as a list.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from infospace.core.json_types import JSON
from infospace.files import front_matter as frontmatter

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_FRONT_OPENS = re.compile(r"---[ \t]*\n")
_FRONT_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n\n?|\Z)", re.MULTILINE)
_LIKE_A_MAPPING = re.compile(r"(?:[ \t]*(?:#.*)?\n)*+(?:\Z|[ \t]*[{?]|.*?:(?:\s|\Z))")

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
    metadata, text = frontmatter.read(block), document[end:]
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
    lines = [frontmatter.entry(key, value) + "\n" for key, value in kept.items()]
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
        links.extend(_links_in(tokens, _Offsets(text, starts, block)))
    return title, tuple(tags), tuple(links)


class _Offsets:
    """Where in a text the characters of a block's content stand.

    A line of content is its source line without the marks of quotes, lists and headings around it. Each is looked
    for once, however many links it has.
    """

    def __init__(self, text: str, starts: list[int], block: Token) -> None:
        self._text = text
        self._starts = starts
        self._first = (block.map or [0])[0]
        self._content = block.content
        self._lines = [0, *(found.end() for found in re.finditer("\n", block.content))]
        self._found: dict[int, int] = {}

    def __call__(self, position: int) -> int:
        """Return the offset in the text of a position in the content."""
        line = bisect_right(self._lines, position) - 1
        if line not in self._found:
            self._found[line] = self._find(line)
        return self._found[line] + position - self._lines[line]

    def _find(self, number: int) -> int:
        first = self._starts[self._first + number]
        source = self._text[first : self._text.find("\n", first) + 1 or None].replace("\0", "\ufffd")
        line = self._content[self._lines[number] :].partition("\n")[0]
        return first + source.rfind(line.strip()) - (len(line) - len(line.lstrip()))


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
                yield Link(target, _spoken(_inside(tokens, index)), offset(token.meta["position"]), wiki=False)


def _inside(tokens: list[Token], opened: int) -> list[Token]:
    """Return what stands between the opening of a link and its end."""
    end = opened + 1
    while end < len(tokens) and tokens[end].type != "link_close":
        end += 1
    return tokens[opened + 1 : end]


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
