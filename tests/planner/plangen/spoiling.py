"""Mistakes put into a plan, of any sort and anywhere: what they lead to is for the check to see."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

from infospace.contract.catalogue import installed

TYPES = (*installed().types(), "if", "map", "for-each", "pages", "files/read", "plan:greet", "plan:nobody")
VALUES = (
    None,
    True,
    0,
    1,
    -1,
    2.5,
    "",
    "x",
    "id",
    "asc",
    "$num",
    "$item",
    [],
    [1],
    {},
    {"title": "x"},
    "Note_1",
    "all",
)
PATHS = ("title", "n", "titel", "owner.name", "tags[0]", "@id", "metadata.title", "content", "n.x", "@metadata.kind")
REFERENCE = re.compile(r"\$\{?[A-Za-z_]\w*")

Place = tuple[Any, Any]


def _places(value: Any) -> Iterator[Place]:
    """Every holder and key in a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def _blocks(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) and "type" in item for item in value):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _blocks(part)


def spoil(document: dict[str, Any], chance: random.Random) -> None:
    """Put one mistake into a plan, in place, and into nothing that it shares with others; now and then it is none."""
    document["steps"] = copy.deepcopy(document["steps"])
    blocks = list(_blocks(document["steps"]))
    if not blocks:
        return
    step = chance.choice(chance.choice(blocks))
    chance.choice((_variable, _variable, _place, _value, _type, _key, _order, _word))(document, step, chance)


def _texts(step: Any) -> list[Place]:
    return [(holder, key) for holder, key in _places(step) if isinstance(holder[key], str) and "$" in holder[key]]


def _variable(document: dict[str, Any], step: Any, chance: random.Random) -> None:
    """Another variable in the place of one."""
    every = REFERENCE.findall(str(document["steps"]))
    spots = [spot for spot in _texts(step) if spot[1] not in ("out", "as")]
    if not spots or not every:
        return
    holder, key = chance.choice(spots)
    other = chance.choice(every).lstrip("${")
    holder[key] = REFERENCE.sub(lambda found: found[0][: 2 if "{" in found[0] else 1] + other, holder[key], count=1)


def _place(_document: dict[str, Any], step: Any, chance: random.Random) -> None:
    """Another place in what a variable holds, or another path."""
    spots = [spot for spot in _texts(step) if spot[1] not in ("out", "as", "collect")]
    paths = [(holder, key) for holder, key in _places(step) if key in ("field", "by", "on", "left_key", "right_key")]
    if paths and chance.random() < 0.6:
        holder, key = chance.choice(paths)
        holder[key] = chance.choice(PATHS)
    elif spots:
        holder, key = chance.choice(spots)
        end = chance.choice((".title", ".n", ".titel", "[0]", ".metadata.kind", ".owner.name", ".@id", "[7]"))
        if REFERENCE.fullmatch(holder[key]):
            holder[key] += end


def _value(_document: dict[str, Any], step: Any, chance: random.Random) -> None:
    """Another value in the place of one."""
    spots = [(holder, key) for holder, key in _places(step) if key not in ("type", "out", "as")]
    if spots:
        holder, key = chance.choice(spots)
        holder[key] = copy.deepcopy(chance.choice(VALUES))


def _type(_document: dict[str, Any], step: Any, chance: random.Random) -> None:
    step["type"] = chance.choice(TYPES)


def _key(_document: dict[str, Any], step: Any, chance: random.Random) -> None:
    """A key left out, or called otherwise."""
    spots = [(holder, key) for holder, key in _places(step) if isinstance(holder, dict) and key != "type"]
    if spots:
        holder, key = chance.choice(spots)
        value = holder.pop(key)
        if chance.random() < 0.5:
            holder[chance.choice(("targett", "value", "limit", "field", "on_fail", "where", key[:-1]))] = value


def _order(document: dict[str, Any], _step: Any, chance: random.Random) -> None:
    """A step at another place, or once more."""
    blocks = list(_blocks(document["steps"]))
    one, other = chance.choice(blocks), chance.choice(blocks)
    index = chance.randrange(len(one))
    step = copy.deepcopy(one[index]) if chance.random() < 0.4 or len(one) == 1 else one.pop(index)
    other.insert(chance.randint(0, len(other)), step)


def _word(_document: dict[str, Any], step: Any, chance: random.Random) -> None:
    """A letter too few in a text."""
    spots = [(h, k) for h, k in _places(step) if isinstance(h[k], str) and len(h[k]) > 3 and k != "out"]
    if spots:
        holder, key = chance.choice(spots)
        at = chance.randrange(1, len(holder[key]))
        holder[key] = holder[key][:at] + holder[key][at + 1 :]
