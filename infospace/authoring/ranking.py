"""Searches of their own kind, for `context.run_search`; imported within the function that searches, being heavy."""

from __future__ import annotations

from infospace.core.listener import Listener
from infospace.search.collections import among_collections
from infospace.search.note_filter import misplaced_in
from infospace.search.passages_of_collection import Among, among_items, counted_passages

__all__ = [
    "Among",
    "Listener",
    "among_collections",
    "among_items",
    "counted_passages",
    "misplaced_in",
]
