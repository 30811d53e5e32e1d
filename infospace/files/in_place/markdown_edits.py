"""A changed Note in the Markdown, or the plain text, that it came from: the file with that change, and no other."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.files import front_matter as frontmatter
from infospace.files.formats.markdown_file import read
from infospace.files.in_place.front_matter_edits import NotSeparateError, front_matter_edits
from infospace.files.in_place.splice import Edit, WrittenText, line_edits
from infospace.files.markdown import own_tags, parse, read_front

BOM = "\ufeff"
BY_HAND = "change it in the file, and `infospace add` takes it over"


def edited_markdown(data: bytes, name: str, content: JSON, metadata: Mapping[str, JSON]) -> bytes:
    """Return a Markdown file with a content and metadata, changed only where they differ from what it says.

    What the text says of itself, a title, tags or fields, is not said again where it is what it was. Raises Invalid
    for what cannot be read, and for what such a file cannot say, or not at that place alone.
    """
    coded = _Coded.of(data)
    text = WrittenText(coded.text)
    before = read(data, name).metadata
    _check_text(content, name)
    for deep in (True, False):
        try:
            edits = _edits(text.read, before, str(content), metadata, deep=deep)
            result = coded.encoded(text.spliced(edits))
            if holds_note(result, name, before, content, metadata):
                return result
        except (Invalid, NotSeparateError):
            continue
    changed = [key for key in (*before, *metadata) if _differ(before, metadata, key)]
    what = f"`{changed[0]}`" if changed else "the text"
    raise Invalid(
        f"{what} cannot be changed in {name!r} at its place alone, so that it is read as it is here", hint=BY_HAND
    )


def edited_text(data: bytes, name: str, content: JSON) -> bytes:
    """Return a file of plain text with another content. Raises Invalid for what is no text."""
    coded = _Coded.of(data)
    text = WrittenText(coded.text)
    _check_text(content, name)
    return coded.encoded(text.spliced(line_edits(text.read, str(content), 0)))


def holds_note(data: bytes, name: str, before: Mapping[str, JSON], content: JSON, metadata: Mapping[str, JSON]) -> bool:
    """Whether a file has a content and metadata. Raises Invalid when it cannot be read.

    What its text alone says of itself may be another title, other tags and fields than those of the metadata, where
    these are as they were in `before`: the text was changed, and they were not.
    """
    result, front = read(data, name), _front_matter_of(data)
    if result.content != content or any(key in front and key not in metadata for key in result.metadata):
        return False
    for key in metadata:
        if _differ(result.metadata, metadata, key) and (key in front or _differ(before, metadata, key)):
            own, there, now = (own_tags(one.get("tags")) or () for one in (front, result.metadata, metadata))
            if key != "tags" or not set(own) <= set(now) <= set(there):
                return False
    return True


def _front_matter_of(data: bytes) -> dict[str, JSON]:
    results = read_front(WrittenText(_Coded.of(data).text).read)
    return results[0] if results else {}


def _edits(
    document: str, before: Mapping[str, JSON], content: str, metadata: Mapping[str, JSON], *, deep: bool
) -> list[Edit]:
    front = read_front(document)
    old, block, body = front or ({}, "", 0)
    new = _front_matter(old, before, metadata, content)
    edits = line_edits(document[body:], content, body)
    if front is None:
        needed = new or content.startswith(BOM) or read_front(content)
        lines = "".join(frontmatter.entry(key, value) + "\n" for key, value in new.items())
        return [Edit(0, 0, f"---\n{lines}---\n\n"), *edits] if needed else edits
    if not new and old and not (re.search(r"(?m)^[ \t]*#", block) or content.startswith(BOM) or read_front(content)):
        return [Edit(0, body, ""), *edits]  # the last property goes, and so does what stood around it
    begins = document.index("\n") + 1
    inside = front_matter_edits(block, old, new, deep=deep) if not same(old, new) else []
    closed = document[:body]
    if content and not closed.endswith("\n"):
        edits.insert(0, Edit(body, body, "\n\n" if content.startswith("\n") else "\n"))
    elif content.startswith("\n") and not document[body:].startswith("\n") and not closed.endswith("\n\n"):
        edits.insert(0, Edit(body, body, "\n"))
    return [*(Edit(begins + one.start, begins + one.end, one.text) for one in inside), *edits]


def _front_matter(
    old: Mapping[str, JSON], before: Mapping[str, JSON], metadata: Mapping[str, JSON], content: str
) -> dict[str, JSON]:
    """Return the front matter that is to be: the old one with what differs from what was read.

    What the new text says of itself as it is to be is not put there besides.
    """
    new = {key: value for key, value in old.items() if key in metadata or key not in before}
    document = parse(f"---\n---\n\n{content}").metadata
    for key, value in metadata.items():
        if not _differ(before, metadata, key):
            continue
        if key == "tags":
            value = _tags(old.get(key), document.get(key), value)  # noqa: PLW2901 - the same tags, as they are to be written
        if key in old or (value != [] if key == "tags" else _differ(document, metadata, key)):
            new[key] = value
    return new


def _tags(value: JSON, answer: JSON, expected: JSON) -> JSON:
    """Return the tags that the front matter is to have: none that the text says, and the others as they are written."""
    own, now = own_tags(value), own_tags(expected)
    if own is None or now is None:
        return expected
    missing = [tag for tag in now if tag in own or tag not in (own_tags(answer) or ())]
    if isinstance(value, str):
        return ", ".join(missing)
    listed = value if isinstance(value, list) else []
    as_written = {tag: one for one in listed for tag in own_tags([one]) or ()}
    return [as_written.get(tag, tag) for tag in missing]


def _differ(one: Mapping[str, JSON], other: Mapping[str, JSON], key: str) -> bool:
    return (key in one) != (key in other) or (key in one and not same(one[key], other[key]))


def _check_text(content: JSON, name: str) -> None:
    if not isinstance(content, str) or "\0" in content or "\r" in content:
        raise Invalid(f"the content is not text that {name!r} can hold", hint="`infospace export FOLDER` has it")


@dataclass(frozen=True, slots=True)
class _Coded:
    """The text of a file, and how it is written as bytes: in UTF-8 or UTF-16, with or without a mark at its head."""

    head: bytes
    text: str
    codec: str

    @classmethod
    def of(cls, data: bytes) -> _Coded:
        marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
        codec = next((codec for mark, codec in marks.items() if data.startswith(mark)), "utf-8")
        text = data.decode(codec)
        marked = len(text) - len(text.removeprefix(BOM).removeprefix(BOM))
        return cls(text[:marked].encode(codec), text[marked:], codec)

    def encoded(self, text: str) -> bytes:
        """Return the bytes of another text. Raises Invalid for half of a character, which no file can hold."""
        try:
            return self.head + text.encode(self.codec)
        except UnicodeEncodeError:
            raise Invalid("the text has half of a character", hint="write the character") from None
