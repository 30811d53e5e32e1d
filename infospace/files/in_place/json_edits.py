"""A changed value in a JSON file: the values, members and items that differ, each at its place, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.json_source_map import JsonNode, spot_of
from infospace.data.json_text import read_json, same
from infospace.files.in_place.splice import Edit
from infospace.files.walk import MAX_BYTES, decode


def edited_json(data: bytes, name: str, content: JSON) -> bytes | None:
    """Return a JSON file with another value, None where that cannot be written at the places that differ."""
    try:
        text = decode(data, name)
        head = data[: len(data) - len(text.encode())]
        old = read_json(data, what=repr(name), max_bytes=MAX_BYTES)
    except Invalid:
        return None
    root = spot_of(text)
    if root is None or head + text.encode() != data:
        return None
    result, done = "", 0
    for edit in sorted(_value(text, root, old, content), key=lambda one: one.start):
        if edit.start < done:
            return None
        result, done = result + text[done : edit.start] + edit.text, edit.end
    edited = head + (result + text[done:]).encode()
    return edited if holds(edited, content) else None


def holds(data: bytes, content: JSON) -> bool:
    """Whether a JSON file has a value, however that is written."""
    try:
        return same(read_json(data, what="the file", max_bytes=MAX_BYTES), content)
    except Invalid:
        return False


def _value(text: str, node: JsonNode, old: JSON, new: JSON) -> Iterator[Edit]:
    if same(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping) and node.members and new:
        keys = [member.key for member in node.members]
        spans = [(member.start, member.last) for member in node.members]
        for member in node.members:
            if member.key in new and member.value is not None:
                yield from _value(text, member.value, old[member.key], new[member.key])
        added = [f"{_written(key)}: {_written(value)}" for key, value in new.items() if key not in old]
        yield from _members(text, node, spans, [key in new for key in keys], added)
    elif isinstance(old, list) and isinstance(new, list) and node.items and new:
        common = min(len(old), len(new))
        for item, before, after in zip(node.items, old, new, strict=False):
            yield from _value(text, item, before, after)
        spans = [(item.start, item.end) for item in node.items]
        stays = [at < common for at in range(len(old))]
        yield from _members(text, node, spans, stays, [_written(value) for value in new[common:]])
    else:
        yield Edit(node.start, node.end, _written(new))


def _members(
    text: str, node: JsonNode, spans: Sequence[tuple[int, int]], stays: Sequence[bool], added: Sequence[str]
) -> Iterator[Edit]:
    """Take out what does not stay, with the comma before it, or after it at the front; put what is added at the end."""
    first = next((at for at, one in enumerate(stays) if one), None)
    if first is None:  # nothing of it stays: all of it is what is added
        yield Edit(spans[0][0], spans[-1][1], ", ".join(added))
        return
    if first:
        yield Edit(spans[0][0], spans[first][0], "")
    for at in range(first + 1, len(spans)):
        if not stays[at]:
            yield Edit(spans[at - 1][1], spans[at][1], "")
    if added:
        between = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + text[node.start + 1 : spans[0][0]]
        yield Edit(spans[-1][1], spans[-1][1], "".join(f"{between}{one}" for one in added))


def _written(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
