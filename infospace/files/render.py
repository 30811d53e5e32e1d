"""A Note as a file, in a form that importing reads the same Note from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.files.markdown import parse_any, to_markdown


@dataclass(frozen=True, slots=True)
class Rendered:
    """The bytes of a file, the suffix that says how to read them, and metadata that has no place in it."""

    suffix: str
    data: bytes
    side: bytes = b""


def render(content: JSON, metadata: Mapping[str, JSON], suffix: str = ".md") -> Rendered:
    """Write a Note as Markdown with front matter; as JSON what Markdown cannot hold, or is no text.

    `suffix` is that of the file it came from: text without metadata stays text, JSON stays JSON. Importing adds to
    the metadata what the text itself says, its title and tags; everything else comes back as it was.
    """
    if isinstance(content, str) and suffix != ".json":
        if suffix in (".txt", ".text") and not metadata and _is_plain(content):
            return Rendered(suffix, content.encode())
        marked = to_markdown(content, metadata)
        if _reads_back(marked, content, metadata):
            return Rendered(suffix if suffix in (".md", ".markdown") else ".md", marked.encode())
    data = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    side = json.dumps(dict(metadata), ensure_ascii=False, indent=2) + "\n" if metadata else ""
    return Rendered(".json", data.encode(), side.encode())


def _is_plain(text: str) -> bool:
    return not ("\0" in text or "\r" in text or text.startswith("\ufeff"))


def _reads_back(marked: str, content: str, metadata: Mapping[str, JSON]) -> bool:
    """Whether Markdown says the same text, and all of the metadata; tags may be written in another way."""
    if "\0" in marked or "\r" in marked:
        return False
    parsed = parse_any(marked)
    kept = all(key in parsed.metadata and same(parsed.metadata[key], value) for key, value in metadata.items())
    return parsed.text == content and (kept or _same_but_tags(parsed.metadata, metadata))


def _same_but_tags(results: Mapping[str, JSON], metadata: Mapping[str, JSON]) -> bool:
    others = all(key in results and same(results[key], value) for key, value in metadata.items() if key != "tags")
    tags, now = metadata.get("tags"), results.get("tags")
    if not isinstance(now, list):
        return False
    raw = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else None
    return others and raw is not None and all(_clean(tag) in now for tag in raw if _clean(tag))


def _clean(tag: JSON) -> str:
    text = tag if isinstance(tag, str) else json.dumps(tag)
    return text.strip().removeprefix("#").strip()
