"""A Markdown text taken apart by its parser: code and comments hold nothing, whatever they look like."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from urllib.parse import unquote

from infospace.core.json_types import JSON
from infospace.data.markdown.fields import InlineField, collect, fields_in, read_task
from infospace.data.markdown.front import without_front
from infospace.data.markdown.parser import OPAQUE, blocks, inline, mask

if TYPE_CHECKING:
    from markdown_it.token import Token

ItemKind: TypeAlias = Literal["task", "bullet", "heading"]

LINKS_TO: Final = "links-to"
"""The label of a link that says none."""

_SAYS_SOMETHING = re.compile(r"[#\[]|::|^=|^[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]", re.MULTILINE)
_TAG = re.compile(r"""(?:^|(?<=[\s(\[{"'“‘«]))#([\w/-]+)""")
_BOX = re.compile(r"\[(.)\](?:\s+|$)")
_LABELLED = re.compile(
    r"(?P<label>[a-z][\w-]*(?: [a-z][\w-]*){0,2})[ \t]+!?\[\[[^\[\]\n]*\]\](?:[ \t]+\([^()\n]*\))?[ \t]*"
)
_MARKUP = re.compile(r"[\[\]*_`<\\&%!]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another note: `[[target#heading|text]]` (`wiki`), or `[text](target#heading)`.

    `target` is a name or a relative path, decoded and without heading; `start` is the offset of the opening
    bracket in the text, in characters; `line` from 1. `label` is what `- implements [[X]]` says of it, `property`
    the inline field that it stands in.
    """

    target: str
    text: str
    start: int
    wiki: bool
    heading: str = ""
    line: int = 0
    label: str = LINKS_TO
    property: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A task, a bullet or a heading; `line` from 1, `section` the heading above it.

    `text` is as written, but for what `due`, `scheduled`, `completed` and `priority` say; of a heading, its plain
    text. `status` is the character in a task's brackets, `status_at` its offset in the text, in characters.
    """

    kind: ItemKind
    line: int
    section: str | None
    text: str
    status: str | None = None
    due: str | None = None
    scheduled: str | None = None
    completed: str | None = None
    priority: str | None = None
    tags: tuple[str, ...] = ()
    fields: Mapping[str, JSON] = field(default_factory=dict)
    status_at: int = -1


@dataclass(frozen=True, slots=True)
class Body:
    """What a text says. `fields` are those of the note itself: of its lines, and of bullets that are nothing else."""

    title: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    items: tuple[Item, ...] = ()
    fields: Mapping[str, JSON] = field(default_factory=dict)


@lru_cache(maxsize=256)
def read_body(text: str) -> Body:
    """Read a text with line feeds for line ends. What reads it again within the same commit gets the same Body."""
    return _Reader(text).read() if _SAYS_SOMETHING.search(text) else Body()


@dataclass(slots=True)
class _OpenItem:
    line: int
    has_text: bool = False


class _Reader:
    """Goes through the blocks of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._env: dict[str, Any] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._title = ""
        self._tags: dict[str, None] = {}
        self._links: list[Link] = []
        self._items: list[Item] = []
        self._fields: list[InlineField] = []
        self._open: list[_OpenItem] = []
        self._headings: list[tuple[int, str]] = []

    def read(self) -> Body:
        for opening, block in pairwise(blocks(without_front(self._text), self._env)):
            if block.type == "list_item_open":
                self._open.append(_OpenItem((block.map or [0])[0] + 1))
            elif block.type == "list_item_close":
                self._open.pop()
            elif block.type == "inline" and opening.type == "heading_open":
                self._heading(block, int(opening.tag[1]))
            elif block.type == "inline":
                self._paragraph(block)
        fields = collect(iter(self._fields))
        return Body(self._title, tuple(self._tags), tuple(self._links), tuple(self._items), fields)

    def _heading(self, block: Token, level: int) -> None:
        tokens, masked = self._inline(block)
        text = " ".join((_plain_text(tokens) if tokens else block.content).split())
        if self._open:
            self._open[-1].has_text = True
        if level == 1 and not self._title:
            self._title = text
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        fields = fields_in(block.content, masked)
        self._fields += fields
        line = (block.map or [0])[0] + 1
        section = self._headings[-1][1] if self._headings else None
        self._headings.append((level, text))
        self._items.append(Item("heading", line, section, text, fields={"level": level, **collect(iter(fields))}))
        self._add_links(block, tokens, fields)

    def _paragraph(self, block: Token) -> None:
        item = self._open[-1] if self._open and not self._open[-1].has_text else None
        content = block.content
        if item is None and not ("[" in content or "#" in content or "::" in content):
            return
        box = _BOX.match(content) if item is not None else None
        tokens, masked = self._inline(block, box)
        tags = tuple(dict.fromkeys(_tags_in(tokens))) if "#" in content else ()
        self._tags |= dict.fromkeys(tags)
        fields = fields_in(block.content, masked)
        label = LINKS_TO
        if item is None:
            self._fields += fields
        else:
            item.has_text = True
            status_at = _Offsets(self._text, self._starts, block)(box.start(1)) if box else -1
            self._item(item, block.content, masked, tags, box, status_at)
            if box is None:
                self._fields += (one for one in fields if one.of_line)
                labelled = _LABELLED.fullmatch(masked)
                label = labelled["label"] if labelled else LINKS_TO
        self._add_links(block, tokens, fields, label)

    def _inline(self, block: Token, box: re.Match[str] | None = None) -> tuple[list[Token], str]:
        """Return what stands in a block, where anything may, and its content without what is hidden.

        The `box` of a task is no markup.
        """
        content, start = block.content, box.end() if box else 0
        if not (_MARKUP.search(content, start) or content.find("#", start) >= 0):
            return [], content
        return mask(content, self._env)

    def _item(
        self,
        item: _OpenItem,
        content: str,
        masked: str,
        tags: tuple[str, ...],
        box: re.Match[str] | None,
        status_at: int,
    ) -> None:
        start = box.end() if box else 0
        timing = read_task(content[start:], masked[start:])
        section = self._headings[-1][1] if self._headings else None
        self._items.append(
            Item(
                "task" if box else "bullet",
                item.line,
                section,
                timing.text,
                box[1] if box else None,
                timing.due,
                timing.scheduled,
                timing.completed,
                timing.priority,
                tags,
                timing.fields,
                status_at,
            )
        )

    def _add_links(self, block: Token, tokens: list[Token], fields: list[InlineField], label: str = LINKS_TO) -> None:
        if not any(token.type in ("wiki", "link_open") for token in tokens):
            return
        places = _Offsets(self._text, self._starts, block)
        # Links and fields are both sorted, so a field that ends before this link is never needed again.
        around = 0
        for target, text, position, wiki, heading in links_in(tokens):
            while around < len(fields) and fields[around].end <= position:
                around += 1
            within = fields[around].key if around < len(fields) and fields[around].start <= position else None
            line = places.line(position)
            self._links.append(Link(target, text, places(position), wiki, heading, line, label, within))


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
        self._lines = (
            [0, *(match.end() for match in re.finditer("\n", block.content))] if "\n" in block.content else [0]
        )
        self._found: dict[int, int] = {}

    def line(self, position: int) -> int:
        """Return the line of the text, counted from 1, in which a position in the content stands."""
        return self._first + bisect_right(self._lines, position)

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


def property_links(properties: Mapping[str, JSON]) -> list[Link]:
    """Return the links in the texts of properties, in lists and objects too; they stand in no line."""
    results: list[Link] = []
    for key, value in properties.items():
        for text in (value,) if isinstance(value, str) else _texts(value):
            if "[" in text:
                results += (
                    Link(target, label, -1, wiki, heading, property=key)
                    for target, label, _, wiki, heading in links_in(inline(text, {}))
                )
    return results


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def _plain_text(tokens: list[Token]) -> str:
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
            parts.append(OPAQUE)
    result = (match[1].rstrip("/-") for match in _TAG.finditer("".join(parts)))
    yield from (tag for tag in result if any(map(str.isalpha, tag)))


def links_in(tokens: list[Token]) -> Iterator[tuple[str, str, int, bool, str]]:
    """Iterate over links to notes: target, text, place of the opening bracket, whether `[[…]]`, heading."""
    for index, token in enumerate(tokens):
        if token.type == "wiki" and token.meta["target"]:
            yield token.meta["target"], token.content, token.meta["position"], True, token.meta["heading"]
        elif token.type == "link_open" and "position" in token.meta:
            path, _, heading = str(token.attrs["href"]).partition("#")
            target = unquote(path)
            if target and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/", target):
                yield target, _plain_text(_inside(tokens, index)), token.meta["position"], False, unquote(heading)


def _inside(tokens: list[Token], opened: int) -> list[Token]:
    """Return what stands between the opening of a link and its end."""
    end = opened + 1
    while end < len(tokens) and tokens[end].type != "link_close":
        end += 1
    return tokens[opened + 1 : end]
