"""What the `extra` of a search's step holds, as types: paths into `$hits.@extra` are checked by them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NotRequired, TypedDict

from infospace.schema.infer import Schema, schema_of


class _Proved(TypedDict):
    """What every certificate says."""

    matched: int | None
    returned: int
    exhaustive: bool
    scored: int
    unembedded: int
    max_below: float | None
    method: Literal["exact", "hnsw", "filter"]
    threshold: float | None
    model: str | None
    generation: int
    chance: NotRequired[float | None]
    """With the threshold `auto` or a proposal: the best cosine that an everyday request has, None for no vectors."""
    proposed_threshold: NotRequired[float | None]
    """With `certify`, by meaning, and a threshold of its own: what `auto` would have been."""


class _Worded(TypedDict):
    """What a search by words says besides."""

    words: list[str]
    words_left_out: NotRequired[list[str]]


class _Legs(TypedDict):
    """How many Notes each of two ways found."""

    meaning: int
    words: int


class Certificate(_Proved):
    """Of `discover-notes` by meaning."""

    notes: int
    confidence: NotRequired[float]
    """How probable it is that the first is about the question, hit or not; not told where nothing is known of that."""


class WordedCertificate(_Proved, _Worded):
    """Of `discover-notes` by words."""

    notes: int


class FusedCertificate(_Proved, _Worded):
    """Of `discover-notes` by both."""

    notes: int
    matched_by: _Legs


class CollectionsCertificate(_Proved):
    """The certificate of `discover-collections`."""

    collections: int


class PassagesCertificate(_Proved):
    """The certificate of `search-within-collection`."""

    passages: int
    items: int
    left_out: int


class _Notes(TypedDict):
    """What `discover-notes` has besides."""

    item_count: int
    hint: NotRequired[str]
    mismatches: NotRequired[int]
    mismatched: NotRequired[str]


class _ByMeaning(_Notes):
    certificate: Certificate


class _ByWords(_Notes):
    certificate: WordedCertificate


class _ByBoth(_Notes):
    certificate: FusedCertificate


class _Collections(TypedDict):
    item_count: int
    certificate: CollectionsCertificate


class _Passages(TypedDict):
    item_count: int
    certificate: PassagesCertificate


_BY_MODE = {"semantic": _ByMeaning, "keyword": _ByWords, "hybrid": _ByBoth}
_schema = cache(schema_of)


def of_notes(arguments: Mapping[str, Any]) -> Schema | None:
    """Return the schema of the `extra` of `discover-notes`; None where the mode is not known."""
    mode = arguments.get("mode", "semantic")
    result = _BY_MODE.get(mode) if isinstance(mode, str) else None
    return None if result is None else _schema(result)


def of_collections(_arguments: Mapping[str, Any]) -> Schema:
    """Return the schema of the `extra` of `discover-collections`."""
    return _schema(_Collections)


def of_passages(_arguments: Mapping[str, Any]) -> Schema:
    """Return the schema of the `extra` of `search-within-collection`."""
    return _schema(_Passages)
