"""The members of a JSON document apart: one that cannot be read, nested too deep or too long a number, by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from infospace.core.errors import InvalidJSON
from infospace.data.json_text import read_json

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]', re.DOTALL)
_PLACE = re.compile(r" at line \d+, column \d+$")


@dataclass(frozen=True, slots=True)
class UnreadableMember:
    """A member that cannot be read: its key, or its number from 0 on in a list, and why."""

    key: str | int
    error: InvalidJSON


@dataclass(frozen=True, slots=True)
class _Member:
    key: str | int
    start: int
    end: int


def without_unreadable_members(text: str, name: str) -> tuple[str, list[UnreadableMember]]:
    """Return a document with null for each unreadable member of the object or list `name`, and why each is.

    `name` is a key of the document itself. Lines and columns of all else stay. A member whose syntax is wrong stays
    too, since then it is not known where it ends: reading the document says where that is.
    """
    results: list[UnreadableMember] = []
    parts: list[str] = []
    done = 0
    for member in _members(text, name):
        part = text[member.start : member.end]
        error = _error(part)
        if error is not None:
            results.append(UnreadableMember(member.key, error))
            blanks = "".join("\n" if one == "\n" else " " for one in part)
            parts += [text[done : member.start], "null", blanks[4:]]
            done = member.end
    return "".join([*parts, text[done:]]), results


def _error(part: str) -> InvalidJSON | None:
    try:
        json.loads(part)
    except json.JSONDecodeError:
        return None
    except (RecursionError, ValueError):
        try:
            read_json(part, what="it")
        except InvalidJSON as error:
            return InvalidJSON(_PLACE.sub("", error.message), hint=error.hint)  # a place in the member alone
    return None


def _members(text: str, name: str) -> Iterator[_Member]:
    """Iterate over the members of the object or list under a key of the document; as many as its brackets tell."""
    depth, label, key, start = 0, "", "", 0
    number: int | None = None
    """That of the member, within the object or list that is looked for."""
    keyed = in_value = False
    for token in _TOKENS.finditer(text):
        mark = token[0]
        if mark in "[{":
            depth += 1
            if depth == 2 and key == name and number is None:
                number, keyed, in_value, start = 0, mark == "{", mark == "[", token.end()
        elif mark in "]}":
            if depth == 2 and number is not None:
                if text[start : token.start()].strip():
                    yield _Member(_key(label) if keyed else number, start, token.start())
                return
            depth -= 1
        elif depth == 1:
            key, label = (_key(label), label) if mark == ":" else ("", label if mark == "," else mark)
        elif depth == 2 and number is not None:
            if mark == ":":
                in_value, start = True, token.end()
            elif mark == ",":
                yield _Member(_key(label) if keyed else number, start, token.start())
                number, in_value, start = number + 1, not keyed, token.end()
            elif not in_value:
                label = mark


def _key(label: str) -> str:
    try:
        return str(json.loads(label))
    except ValueError:
        return label
