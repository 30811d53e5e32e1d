"""HTML: its readable text with headings, lists, tables and relative links as Markdown has them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.markdown.body import Link
from infospace.files.formats import FileContent
from infospace.files.walk import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SILENT = frozenset(
    ("head", "script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "select", "textarea")
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li", "main", "nav", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", *_HEADINGS),
    )
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")
_ATTRIBUTE = re.compile(r"""[\s/]+[^\s/>=]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"'][^\s>]*))?""")

ATTRIBUTES = 1_000
"""Attributes of a tag that are read: the parser compares each with all before it."""

DEEPEST = 500
"""How deep elements stand in one another, as in browsers: the parser looks through all that are open."""

DEEPEST_FORMAT = 50
"""The same of formatting, which the parser opens again in every block where it was not closed."""

INDENTED = 50
"""How far a list within lists is indented, in levels."""

_FORMAT = frozenset(["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"])
_LOOSE = frozenset(
    (
        *("area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html", "img", "input"),
        *("li", "link", "meta", "optgroup", "option", "p", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead"),
        *("tr", "track", "wbr"),
    )
)
"""Elements that need no end, so that what opens many of them does not nest them."""


def read(data: bytes, name: str) -> FileContent:
    """Read HTML; the title is that of its head, else its first heading.

    Text is UTF-8 unless a byte order mark, or `<meta charset>` near the top, says otherwise. Raises Invalid when
    the bytes are not of that encoding.
    """
    from selectolax.lexbor import LexborHTMLParser

    parser = LexborHTMLParser(_bounded(_decoded(data, name)))
    writer = _Writer()
    if parser.root is not None:
        _walk(parser.root, writer)
    heading = parser.css_first("head > title") or parser.css_first("h1")
    title = " ".join(heading.text(deep=True).split()) if heading is not None else ""
    metadata: dict[str, JSON] = {"title": title} if title else {}
    return FileContent(writer.text(), metadata, tuple(writer.links))


def _bounded(text: str) -> str:
    """Leave out what takes the parser time that grows with its square: too many attributes, too deep nesting."""
    kept: list[str] = []
    open_now = {True: 0, False: 0}
    done = end = 0
    while tag := _TAG.search(text, end):
        start, end, last = tag.start(), tag.end(), tag.end()
        count = 0
        while match := _ATTRIBUTE.match(text, end):
            end, count = match.end(), count + 1
            last = end if count <= ATTRIBUTES else last
        name = tag[2].lower()
        is_format = name in _FORMAT
        depth, limit = open_now[is_format], DEEPEST_FORMAT if is_format else DEEPEST
        if name not in _LOOSE:
            open_now[is_format] = max(0, depth + (-1 if tag[1] else 1))
        if name not in _LOOSE and max(depth, open_now[is_format]) > limit:
            kept.append(text[done:start])
            done = end = min(end + 1, len(text)) if text.startswith(">", end) else end
        elif last < end:
            kept.append(text[done:last])
            done = end
    return "".join((*kept, text[done:])) if kept else text


def _decoded(data: bytes, name: str) -> str:
    charset = _CHARSET.search(data[:4096])
    if charset is None or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data, name)
    try:
        encoding = codecs.lookup(charset[1].decode("ascii", "replace")).name
    except LookupError:
        raise Invalid(f"{name!r} says that it is {charset[1]!r} text, which is unknown", hint="save as UTF-8") from None
    if encoding in ("utf-8", "ascii") or encoding.startswith("utf-16"):
        return decode(data, name)
    try:
        return data.decode("cp1252" if encoding == "iso8859-1" else encoding)
    except (UnicodeError, LookupError):
        raise Invalid(f"{name!r} is not the {encoding} text that it says it is", hint="save it as UTF-8") from None


def _walk(root: LexborNode, writer: _Writer) -> None:
    """Go through the tree without recursion, since pages nest as deep as they like."""
    waiting: list[tuple[LexborNode, bool]] = [(root, False)]
    while waiting:
        node, closing = waiting.pop()
        tag = node.tag or ""
        if closing:
            writer.close(tag)
        elif tag == "-text":
            writer.write_text(node.text_content or "")
        elif not tag.startswith("-") and tag not in _SILENT and "hidden" not in node.attributes:
            writer.open(tag, node.attributes)
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(list(_children(node))))


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


class _Writer:
    """Gathers text: inline pieces until a block begins or ends."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self._blocks: list[str] = []
        self._pieces: list[str] = []
        self._lists: list[int | None] = []
        self._prefix = ""
        self._raw = 0
        self._row = False
        self._kind = ""
        self._anchors: list[tuple[str, int]] = []

    def text(self) -> str:
        self._flush()
        return "".join(self._blocks).strip("\n")

    def write_text(self, text: str) -> None:
        self._pieces.append(text if self._raw else re.sub(r"\s+", " ", text))

    def open(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _BLOCKS:
            self._flush(keep_prefix=tag == "p")
        if tag in _HEADINGS:
            self._prefix = "#" * _HEADINGS[tag] + " "
        elif tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag == "pre":
            self._raw += 1
        elif tag == "br":
            self._pieces.append("\n")
        elif tag == "img" and attributes.get("alt"):
            self.write_text(attributes["alt"] or "")
        elif tag in ("td", "th"):
            self._pieces.append(" | " if self._row else "")
            self._row = True
        elif tag == "a":
            self._anchors.append((_relative(attributes.get("href") or ""), len(self._pieces)))

    def close(self, tag: str) -> None:
        if tag == "a" and self._anchors:
            self._link(*self._anchors.pop())
        if tag in _BLOCKS:
            self._flush()
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "pre":
            self._raw -= 1
        elif tag == "tr":
            self._row = False

    def _item(self) -> None:
        depth, number = len(self._lists) - 1, self._lists[-1] if self._lists else None
        self._prefix = "  " * min(max(depth, 0), INDENTED) + (f"{number}. " if number else "- ")
        if number:
            self._lists[-1] = number + 1

    def _link(self, target: str, start: int) -> None:
        inner = " ".join("".join(self._pieces[start:]).split())
        if target and inner:
            path = unquote(target)
            self.links.append(Link(path, inner, 0, wiki=False))
            text = f"<{path}>" if re.search(r"[\s()]", path) else path
            self._pieces[start:] = [f"[{inner}]({text})"]

    def _flush(self, *, keep_prefix: bool = False) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        self._anchors.clear()
        if not text.strip():
            if not keep_prefix:
                self._prefix = ""
            return
        if self._raw:
            body = "```\n" + text.strip("\n") + "\n```"
        else:
            body = "\n".join(" ".join(line.split()) for line in text.strip().split("\n"))
        kind = "row" if self._row else "item" if self._prefix.lstrip().startswith(("- ", *"0123456789")) else ""
        self._blocks.append(("\n" if kind and kind == self._kind else "\n\n") + self._prefix + body)
        self._kind, self._prefix = kind, ""


def _relative(href: str) -> str:
    """Return the path of a link that leads to a file beside the page, else nothing."""
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return ""
    return "" if parts.scheme or parts.netloc or parts.path.startswith("/") else parts.path
