"""What a generated plan has at hand: kinds and contents in outline, so that most of what is made of them is right."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Content: TypeAlias = "str | Mapping[str, Any]"
"""`text`, `number`, `bool`, `list`, `any`, or an object's keys with the content of each."""


@dataclass(frozen=True)
class Thing:
    """A resource in outline: `N`, `C`, `R` or `?`; a Note's content, or the items of a Collection."""

    kind: str
    holds: Any = "any"

    @property
    def item(self) -> Thing:
        """What a Collection's items are; anything of what is none."""
        return self.holds if isinstance(self.holds, Thing) else Thing("?")

    @property
    def content(self) -> Any:
        """What a Note holds; anything of what is none."""
        return "any" if isinstance(self.holds, Thing) else self.holds


PERSON: Content = {"name": "text", "n": "number", "town": "text"}
TASK: Content = {"title": "text", "n": "number", "tags": "list", "done": "bool", "owner": PERSON}
LINE: Content = {"path": "text", "line": "number", "text": "text"}
SOURCE: Content = {"source_id": "text", "score": "number", "title": "any", "passage": "any"}
HIT: Content = {"text": "text", "format": "text", "metadata": SOURCE, "char_count": "number"}
RECORDS = (TASK, TASK, PERSON)

TEXT, NUMBER, TRUTH, LIST = Thing("N", "text"), Thing("N", "number"), Thing("N", "bool"), Thing("N", "list")
NOTE, RELATION, UNKNOWN = Thing("N"), Thing("R"), Thing("?")
HITS = Thing("C", Thing("N", HIT))

WORDS = ("alpha", "beta gamma", "3", "one, two", "Attention is one.\n\nTraining is two. And three.", "a\nb\nc")
ODD = ("", "[1, 2]", '{"a": 1}', "true", "Note_1", "attention", "$5 and \\d+$", "$$name", "ünï—✓", " ")
TYPES = ("text", "number", "bool", "list")


def several(item: Thing) -> Thing:
    """A Collection of such items."""
    return Thing("C", item)


def literal(content: Content, chance: random.Random) -> Any:
    """Make a JSON value of an outline."""
    match content:
        case "text":
            return chance.choice(WORDS if chance.random() < 0.8 else ODD)
        case "number":
            return chance.choice((0, 1, 2, 3, 4, -1, 2.5, 10**6))
        case "bool":
            return chance.random() < 0.5
        case "list":
            return [literal(chance.choice(("text", "number")), chance) for _ in range(chance.randint(0, 3))]
        case "any":
            return literal(chance.choice((*TYPES, PERSON)), chance) if chance.random() < 0.9 else None
    assert isinstance(content, Mapping), content
    return {key: literal(inner, chance) for key, inner in content.items()}


def places(content: Content, before: str = "") -> Iterator[tuple[str, Content]]:
    """Iterate over the paths into an object, with what is there."""
    if isinstance(content, Mapping):
        for key, inner in content.items():
            path = f"{before}.{key}" if before else key
            yield path, inner
            yield from places(inner, path)


def nested(paths: list[str], content: Content) -> dict[str, Any]:
    """Outline what `project` makes of such paths."""
    known = dict(places(content))
    made: dict[str, Any] = {}
    for path in paths:
        inner = made
        *outer, last = path.split(".")
        for key in outer:
            held = inner.get(key)
            inner[key] = dict(held) if isinstance(held, Mapping) else {}
            inner = inner[key]
        inner[last] = known.get(path, "any")
    return made
