"""Between values and columns: keys, JSON, provenance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from typing import Any, NamedTuple

from infospace.core.errors import Invalid, NotFound, StoreError
from infospace.core.ids import Kind, is_run_id, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Location
from infospace.data.json_text import compact_writer, dump
from infospace.store.changes import Evidence

NOTE, COLLECTION, RELATION = 0, 1, 2
"""What the two lowest bits of a key say."""

PLAIN, EVIDENCE, OWN_EVIDENCE = 0, 1, 2
"""Forms of a Note: content of its own; a search result by reference; a search result with its own content."""

NUMBERS_OF_STATE = ("generation", "forgotten", "tools", "worked")
"""The keys of `state` whose values are whole numbers. SQLite keeps the type with each value, PostgreSQL texts."""

KINDS = (Kind.NOTE, Kind.COLLECTION, Kind.RELATION)
_WORDS = tuple(kind.value for kind in KINDS)
_CODES = {"Note": NOTE, "Collection": COLLECTION, "Relation": RELATION}
_MOST_DIGITS = 18

_READER = json.JSONDecoder()
_write_sorted = compact_writer(sort_keys=True)

FOUND = "(kept = 1 AND deleted IS NULL AND form = 0 AND (key & 3) = 0 AND (name IS NULL OR substr(name, 1, 1) <> '_'))"
"""What makes a row one that discovery searches."""


def place_sql(row: str) -> str:
    """Return an expression for where the file of a Note lies, or of the one that a search result is of.

    `row` is the alias of what has `form` and `content`. Of a Note that was imported twice, it is the first place.
    """
    note = f"CASE {row}.form WHEN {EVIDENCE} THEN {row}.content ->> 0 ELSE {row}.key END"
    place = "root || char(0) || path || char(0) || part || char(0) || coalesce(created, '') || char(0)"
    first = f"SELECT min({place} || coalesce(modified, '')) FROM files WHERE note ="  # noqa: S608 - constants
    return f"CASE WHEN ({row}.key & 3) = {NOTE} THEN ({first} ({note}) >> 2 AND ({note}) & 3 = {NOTE}) END"


def location_of(place: str | None) -> Location | None:
    """Return the place that `place_sql` gives."""
    if place is None:
        return None
    root, path, part, created, modified = place.split("\0")
    return Location(root, path, int(part), created or None, modified or None)


@lru_cache(maxsize=4096)
def key_of(identifier: str) -> int:
    """Return the key of an id; NotFound for what is no id."""
    kind, _, digits = identifier.partition("_")
    code = _CODES.get(kind)
    if code is None or len(digits) > _MOST_DIGITS or not (digits.isascii() and digits.isdigit()) or digits[0] == "0":
        raise NotFound(f"{identifier!r} is not an id", hint="an id looks like Note_12, Collection_7 or Relation_3")
    return int(digits) * 4 + code


def id_of(key: int) -> str:
    """Return the id of a key."""
    return f"{_WORDS[key & 3]}_{key >> 2}"


def run_number(identifier: str) -> int:
    """Return the number of a run; NotFound for what is no run's id."""
    number = _run_number(identifier)
    if number is None:
        raise NotFound(f"{identifier!r} is not a run's id", hint="a run's id looks like run_3")
    return number


@lru_cache(maxsize=256)
def _run_number(identifier: str) -> int | None:
    return number_of(identifier) if is_run_id(identifier) else None


def run_of(number: int | None) -> str | None:
    """Return the id of a run."""
    return None if number is None else f"run_{number}"


def keys_json(keys: Iterable[int]) -> str:
    """Write numbers as a list for `json_each`, so that a statement's text is the same for any number of them."""
    return json.dumps([int(key) for key in keys])


def provenance_columns(created_by: CreatedBy) -> tuple[int | None, str | None, str | None]:
    """Return the columns run, step, made_by; Invalid for a run that is no run's id."""
    run = created_by.run
    if run is None:
        return None, created_by.step, created_by.by
    number = _run_number(run)
    if number is None:
        raise Invalid(f"{run!r} is not the id of a run that made something", hint="a run's id looks like run_3")
    return number, created_by.step, created_by.by


def object_column(value: Mapping[str, JSON]) -> str | None:
    """Write an object; an empty one is NULL. Raises Invalid for what is no JSON object."""
    if not value:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise Invalid("metadata must be a JSON object", hint="keys are texts")
    return dump(value)


class Written(NamedTuple):
    """A Note's content as it is stored."""

    form: int
    hash: bytes | None
    content: str


def written(content: JSON | Evidence, *, evidence: bool = False) -> Written:
    """Write a Note's content; Invalid for what JSON has no form for."""
    if isinstance(content, Evidence):
        return Written(EVIDENCE, None, _written_evidence(content))
    text = dump(content)
    return Written(OWN_EVIDENCE if evidence else PLAIN, digest_of(text), text)


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of content's compact JSON with sorted keys; `text` is it in stored order."""
    if "{" in text and text[0] != '"':
        text = _write_sorted(_READER.raw_decode(text)[0])
    return sha256(text.encode()).digest()


def _written_evidence(evidence: Evidence) -> str:
    start, end = evidence.start, evidence.end
    if (start is None) != (end is None) or (start is not None and end is not None and not 0 <= start <= end):
        raise Invalid(f"a passage from {start} to {end} is none", hint="0-based characters, end excluded; or neither")
    source = key_of(evidence.source)
    plain = not evidence.extra and not evidence.passage
    if plain and type(evidence.score) is float and isfinite(evidence.score) and start is not None:
        return f"[{source},{evidence.version},{evidence.score!r},{start},{end},{{}}]"
    stored = [source, evidence.version, evidence.score, start, end, dict(evidence.extra)]
    return dump([*stored, True] if evidence.passage else stored)


def read(text: str | None, address: str) -> Any:
    """Read a JSON column; NULL is an empty object. StoreError when the file is damaged."""
    if text is None:
        return {}
    try:
        return _READER.raw_decode(text)[0]
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"the space {address!r} is damaged: a value in it is not JSON", hint="restore a copy of it"
        ) from error


def read_many(text: str, address: str) -> Any:
    """Read a long JSON column as `read` does, in two thirds of the time; short texts that repeat are held once."""
    from pydantic_core import from_json

    try:
        return from_json(text, cache_strings="all")
    except (ValueError, TypeError):
        return read(text, address)  # what is nested deep is read there, and what is damaged is said


def gone(identifier: str, deleted: str | None = None, by: str = "") -> NotFound:
    """Say that a resource does not exist, or was deleted, when and by whom."""
    if deleted is None:
        return NotFound(f"there is no {identifier}", hint="it was never made, or only in another space")
    return NotFound(f"{identifier} was deleted at {deleted}{by}", hint="its earlier versions can be read by number")
