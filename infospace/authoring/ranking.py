"""Searches of their own kind, for `context.run_search`; imported within the function that searches, being heavy."""

from __future__ import annotations

from infospace.core.listener import Listener
from infospace.search.collections import search_collections
from infospace.search.explain import explained_hits
from infospace.search.note_filter import misplaced_in
from infospace.search.passages_of_collection import PassageQuery, counted_passages, search_passages_of

__all__ = [
    "Listener",
    "PassageQuery",
    "counted_passages",
    "explained_hits",
    "misplaced_in",
    "search_collections",
    "search_passages_of",
]
