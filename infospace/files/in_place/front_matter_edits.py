"""Changing some values of a front matter: each where it stands; comments, order and quotes of the rest stay.

What is new comes after the last key or item; what is changed keeps its quotes; a list or mapping is changed item by
item. Where a value's inside cannot be told apart, the value is written anew as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.files import front_matter as frontmatter
from infospace.files.in_place.splice import Edit
from infospace.files.in_place.yaml_places import Place, places


class NotSeparateError(Exception):
    """A part of a value has no lines, or no place between brackets, of its own."""


def front_matter_edits(
    block: str, old: Mapping[str, JSON], new: Mapping[str, JSON], *, deep: bool = True
) -> list[Edit]:
    """Return the edits that make a front matter which is read as `old` one that is read as `new`.

    Without `deep` each key that differs gets its whole value anew. Raises NotSeparateError where a key has no place of
    its own. Whether the result is read as `new` is for the caller to see: an alias may stand for what was changed.
    """
    whole = places(block)
    if whole is None or (whole.kind == "scalar" and not old):
        return [Edit(len(block), len(block), "".join(frontmatter.entry(*item) + "\n" for item in new.items()))]
    if whole.kind != "mapping":
        raise NotSeparateError
    return [*_Edits(block, deep).mapping(whole, old, new)]


class _Edits:
    def __init__(self, block: str, deep: bool) -> None:
        self._block = block
        self._deep = deep

    def mapping(self, place: Place, old: Mapping[str, JSON], new: Mapping[str, JSON]) -> Iterator[Edit]:
        """Give the edits of the keys that differ."""
        kept = [key in new for key in old]
        for (_, value), (key, before) in zip(place.items, old.items(), strict=True):
            if key in new and not same(before, new[key]):
                yield from self._value(value, before, new[key])
        spans = [(key.start if key else value.start, value.end) for key, value in place.items]
        added = [frontmatter.entry(key, value) for key, value in new.items() if key not in old]
        yield from self._members(place, spans, kept, {len(spans): added})

    def _list(self, place: Place, old: Sequence[JSON], new: Sequence[JSON]) -> Iterator[Edit]:
        kept, added = [True] * len(old), {}
        matcher = SequenceMatcher(None, [*map(_canonical, old)], [*map(_canonical, new)], autojunk=False)
        for what, first, last, start, end in matcher.get_opcodes():
            if what == "equal":
                continue
            pairs = min(last - first, end - start)
            for at in range(pairs):
                yield from self._value(place.items[first + at][1], old[first + at], new[start + at])
            kept[first + pairs : last] = [False] * (last - first - pairs)
            if end - start > pairs:
                added[last] = [frontmatter.value_text(value) for value in new[start + pairs : end]]
        spans = [(value.start, value.end) for _, value in place.items]
        yield from self._members(place, spans, kept, added)

    def _value(self, place: Place, old: JSON, new: JSON) -> Iterator[Edit]:
        """Give the edits of a value: of its parts where that can be, else of all of it."""
        try:
            if self._deep and place.kind == "mapping" and isinstance(old, Mapping) and isinstance(new, Mapping) and new:
                yield from [*self.mapping(place, old, new)]
                return
            if self._deep and place.kind == "list" and isinstance(old, list) and isinstance(new, list) and new:
                yield from [*self._list(place, old, new)]
                return
        except NotSeparateError:
            pass
        text = self._styled(place, new)
        before = self._block[: place.start].rstrip(" ")
        if place.kind in ("list", "mapping") and not place.flow and before.endswith("\n"):
            # Under its key: the text comes beside the key, and the lines go, but for comments before them.
            colon = self._colon_before(place.start)
            yield Edit(colon, colon, f" {text}")
            yield Edit(*self._lines(place.start, place.end), "")
        else:
            yield Edit(place.start, place.end, f"{self._beside_key(place)}{text}" if place.is_empty else text)

    def _beside_key(self, place: Place) -> str:
        """Return what stands between a key and a value where there was none; a key in braces may have no colon yet."""
        before = self._block[place.start - 1]
        if before in "\n -":  # an item of a list, whose place is not known
            raise NotSeparateError
        return " " if before == ":" else ": "

    def _members(
        self, place: Place, spans: Sequence[tuple[int, int]], kept: Sequence[bool], added: Mapping[int, Sequence[str]]
    ) -> Iterator[Edit]:
        """Give the edits that take out what is not kept, and put what is added before the item of that number."""
        if all(kept) and not any(added.values()):
            return
        if place.flow:
            yield from self._between_brackets(place, spans, kept, added)
            return
        dash = "" if place.kind == "mapping" else "- "
        lines = [self._lines(start, end, dash) for start, end in spans]
        for (start, end), stays in zip(lines, kept, strict=True):
            if not stays:
                yield Edit(start, end, "")
        line = self._block[lines[0][0] :]
        indent = " " * (len(line) - len(line.lstrip(" ")))
        for at, texts in added.items():
            position = lines[at][0] if at < len(lines) else lines[-1][1]
            raw = "".join(f"{indent}{dash}{text}\n".replace("\n:", f"\n{indent}:") for text in texts)
            yield Edit(position, position, raw)

    def _between_brackets(
        self, place: Place, spans: Sequence[tuple[int, int]], kept: Sequence[bool], added: Mapping[int, Sequence[str]]
    ) -> Iterator[Edit]:
        if not all(kept) and any(added.values()):
            raise NotSeparateError
        for first, last in _runs(kept):
            if first:
                yield Edit(spans[first - 1][1], spans[last][1], "")
            else:
                yield Edit(spans[0][0], spans[last + 1][0] if last + 1 < len(spans) else spans[last][1], "")
        for at, texts in added.items():
            if not spans:
                yield Edit(place.inside, place.inside, ", ".join(texts))
            elif at < len(spans):
                yield Edit(spans[at][0], spans[at][0], "".join(f"{text}, " for text in texts))
            else:
                yield Edit(spans[-1][1], spans[-1][1], "".join(f", {text}" for text in texts))

    def _lines(self, start: int, end: int, dash: str = "") -> tuple[int, int]:
        """Return where the lines of an item begin and end. Raises NotSeparateError where other items stand on them."""
        begins = self._block.rfind("\n", 0, start) + 1
        ends = self._block.find("\n", end)
        before, after = self._block[begins:start], self._block[end : ends if ends >= 0 else len(self._block)]
        if not re.fullmatch(r" *- +" if dash else r" *(?:\? +)?", before) or not re.fullmatch(r"[ \t]*(?:#.*)?", after):
            raise NotSeparateError
        return begins, len(self._block) if ends < 0 else ends + 1

    def _colon_before(self, start: int) -> int:
        """Return the end of the colon after which, on lines further down, a value begins: comments stand between."""
        lines = self._block[:start].split("\n")
        while lines and not lines[-1].partition("#")[0].strip():
            lines.pop()
        match = re.match(r".*?:(?=\s*(?:#.*)?$)", lines[-1]) if lines else None
        if match is None:
            raise NotSeparateError
        return len("\n".join(lines[:-1])) + (1 if len(lines) > 1 else 0) + match.end()

    def _styled(self, place: Place, value: JSON) -> str:
        """Write a value on one line, a text in the quotes that the one before it had; several lines as a block."""
        if isinstance(value, str) and place.kind == "scalar":
            if place.style == '"':
                return frontmatter.quoted(value)
            if place.style == "'" and value.isprintable():
                return "'" + value.replace("'", "''") + "'"
            if place.style == "|" and (literal := self._literal(place, value)) is not None:
                return literal
        return frontmatter.value_text(value)

    def _literal(self, place: Place, value: str) -> str | None:
        """Write a text of several lines under the indentation of the one before; None where that would not be it."""
        header, _, text = self._block[place.start : place.end].partition("\n")
        first = next((line for line in text.split("\n") if line.strip()), "")
        lines = value.rstrip("\n").split("\n")
        plain = all(line.isprintable() and line == line.strip() for line in lines) and lines[0]
        if not first or not plain or re.search(r"[1-9]", header.partition("#")[0]):
            return None
        chomping = {0: "-", 1: ""}.get(len(value) - len(value.rstrip("\n")))
        if chomping is None:
            return None
        indent = " " * (len(first) - len(first.lstrip(" ")))
        return "\n".join([f"|{chomping}", *(indent + line if line else "" for line in lines)])


def _canonical(value: JSON) -> str:
    return json.dumps(value, sort_keys=True)


def _runs(kept: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Give the first and the last of each row of items that go."""
    first = None
    for at, stays in enumerate([*kept, True]):
        if not stays and first is None:
            first = at
        elif stays and first is not None:
            yield first, at - 1
            first = None
