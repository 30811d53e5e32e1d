"""Re-exports for primitives: places, order, identity, texts and parts of JSON values, and members of Collections."""

from __future__ import annotations

from infospace.core.bounds import timed
from infospace.core.ids import Kind, number_of
from infospace.core.json_types import JSON
from infospace.core.resources import CollectionResult, Member, text_of
from infospace.data import set_operations
from infospace.data.json_text import dump, read_json, same
from infospace.data.order import equality_key, order_key
from infospace.data.paths import ABSENT, Path, find, kind_of, read, reader, show_parts
from infospace.data.split_text import json_lines, json_list, lines, paragraphs, sentences
from infospace.store.changes import JsonNull

__all__ = [
    "ABSENT",
    "JSON",
    "CollectionResult",
    "JsonNull",
    "Kind",
    "Member",
    "Path",
    "dump",
    "equality_key",
    "find",
    "json_lines",
    "json_list",
    "kind_of",
    "lines",
    "number_of",
    "order_key",
    "paragraphs",
    "read",
    "read_json",
    "reader",
    "same",
    "sentences",
    "set_operations",
    "show_parts",
    "text_of",
    "timed",
]
