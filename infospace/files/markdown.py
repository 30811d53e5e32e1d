"""Markdown files as notes: front matter to metadata, tags and links out of the text, and back again.

Front matter is YAML 1.2 (core schema) between two lines `---` at the very top: `no` and `2024-05-01` are
texts. The body is CommonMark; code, raw HTML, links and addresses hold no tags, and code holds no links.

`parse(to_markdown(t, m))` has the text `t`, and the metadata `m` completed by what `t` itself says: its
title where `m` has none, its tags after those of `m`, its inline fields where `m` has no such key. So it is exact
for every pair that `parse` gives.
Line ends become line feeds, and tags written as `"a, b"` come back as a list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.markdown.body import Body, Link, property_links, read_body
from infospace.data.markdown.front import find_front, is_unclosed
from infospace.files import front_matter as frontmatter

_NOT_FIELDS = frozenset(("title", "tags"))
"""What inline fields do not say of a note: headings and `#tags` do."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A Markdown file taken apart.

    `text` is the body as written, but for its line ends. `metadata` is the front matter; its `title` is the
    first heading of level 1 where it has none itself, and absent where there is neither. `tags`, in the
    metadata too unless something else stands there, are the front matter's and then the body's, each once. `links`
    are the body's, then those of the front matter; `lines` stand before the body. `warning` says why a front matter is
    part of the text.
    """

    text: str
    metadata: dict[str, JSON]
    tags: tuple[str, ...]
    links: tuple[Link, ...]
    lines: int = field(default=0, compare=False)
    warning: str = field(default="", compare=False)


def parse(document: str) -> Parsed:
    """Take a Markdown file apart. Raises `Invalid` for a front matter that is not YAML, or has no JSON form."""
    document = _unix(document).removeprefix("\ufeff")
    block, end = find_front(document) or ("", 0)
    return _split_content(document, frontmatter.read(block), end)


def parse_any(document: str) -> Parsed:
    """Take a Markdown file apart; a front matter that cannot be read stays in the text, with a warning."""
    try:
        parsed = parse(document)
    except Invalid as error:
        warning = f"{error.message}, so it is kept as text, without properties"
        return replace(_split_content(_unix(document).removeprefix("\ufeff"), {}, 0), warning=warning)
    if parsed.lines == 0 and is_unclosed(parsed.text):
        warning = "the front matter has no line `---` at its end, so it is kept as text, without properties"
        return replace(parsed, warning=warning)
    return parsed


def _split_content(document: str, metadata: dict[str, JSON], end: int) -> Parsed:
    text = document[end:]
    body = read_body(text)
    own = own_tags(metadata.get("tags"))
    tags = tuple(dict.fromkeys((*(own or ()), *body.tags)))
    links = (*body.links, *property_links(metadata))
    if tags and own is not None:
        metadata["tags"] = list(tags)
    if body.title and metadata.get("title") is None:
        metadata["title"] = body.title
    metadata |= {key: value for key, value in _own_fields(body).items() if key not in metadata}
    return Parsed(text, metadata, tags, links, document.count("\n", 0, end))


def to_markdown(text: str, metadata: Mapping[str, JSON]) -> str:
    """Write a note as a Markdown file; what the text says itself, its title and tags, is not said again."""
    text = _unix(text)
    body = read_body(text)
    body_tags, stored = body.tags, dict(metadata)
    if body.title and stored.get("title") == body.title:
        del stored["title"]
    for key, value in _own_fields(body).items():
        if key in stored and same(stored[key], value):
            del stored[key]
    tags = own_tags(stored.get("tags")) or ()
    own = tuple(tag for tag in tags if tag not in body_tags)
    if body_tags and (*own, *body_tags) == tags:
        stored["tags"] = list(own)
        if not own:
            del stored["tags"]
    lines = [frontmatter.entry(key, value) + "\n" for key, value in stored.items()]
    if not lines and not text.startswith("\ufeff") and read_front(text) is None:
        return text
    return f"---\n{''.join(lines)}---\n\n{text}"


def _own_fields(body: Body) -> dict[str, JSON]:
    return {key: value for key, value in body.fields.items() if key not in _NOT_FIELDS}


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_front(document: str) -> tuple[dict[str, JSON], str, int] | None:
    """Return the front matter as it is read and as it is written, and where the body begins.

    None where there is none, and where it cannot be read: then it is part of the text.
    """
    if (results := find_front(document)) is None:
        return None
    try:
        return frontmatter.read(results[0]), *results
    except Invalid:
        return None


def check_front(document: str) -> None:
    """Raise Invalid for a front matter that cannot be read, with the line."""
    if results := find_front(_unix(document).removeprefix("\ufeff")):
        frontmatter.read(results[0])


def can_be_read(document: str) -> bool:
    """Whether a document has a front matter that can be read, or none."""
    return find_front(document) is None or read_front(document) is not None


def own_tags(value: JSON) -> tuple[str, ...] | None:
    """Read tags as a list or a comma-separated text; None for a value that cannot be merged with others."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(one, (str, int, float)) for one in value):
        return None
    texts = (one if isinstance(one, str) else json.dumps(one) for one in value)
    cleaned = (text.strip().removeprefix("#").strip() for text in texts)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))
