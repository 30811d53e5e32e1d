"""A space for somebody who may not know of every tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from infospace.core.json_types import JSON
from infospace.space import Space
from infospace.store.scoped_store import EVERYTHING as EVERYTHING_SEEN
from infospace.store.scoped_store import ScopedStore, Visibility, Whose, visibility_of
from infospace.tools.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from infospace.contract.catalogue import Catalogue
    from infospace.core.listener import Listener
    from infospace.llm.model import LanguageModel
    from infospace.search.embedding.service import Embedding
    from infospace.search.query import SearchQuery, SearchResults
    from infospace.search.search import Search
    from infospace.store.protocol import Store
    from infospace.tools.search.finder import Finder
    from infospace.tools.search.rules.language import Fact
    from infospace.tools.toolbox import Toolbox


class ScopedSpace(Space):
    """A space in which there are no other tools than those of a scope: none is found, checked against, or called.

    What a scope includes limits the tools of servers, and what is listed; of the vocabulary of plans is missing what
    it excludes. A call of a tool lasts `longest_s` at most, None for no such bound. Of notes, runs and sessions there
    is what `sight` sees. `user` is what rules know of them, None as of the space. All else is the space that it was
    made of, which stays open when this is closed.
    """

    def __init__(
        self,
        of: Space,
        scope: Scope,
        longest_s: float | None = None,
        sight: Visibility = EVERYTHING_SEEN,
        user: Sequence[Fact] | None = None,
    ) -> None:
        super().__init__(cast("Store", ScopedStore(of.store, sight)) if sight.limits else of.store)
        self.user = of.user if user is None else user
        self.sight = sight
        self._longest_s = longest_s
        self._of = of
        self._scope = scope

    @property
    def unscoped(self) -> Space:
        """The space that was narrowed."""
        return self._of.unscoped

    @cached_property
    def embedding(self) -> Embedding:
        """What turns Notes into vectors."""
        return self._of.embedding

    @cached_property
    def search(self) -> Search:
        """What finds Notes by meaning, among those that are seen."""
        if not self.sight.hides:
            return self._of.search
        return cast("Search", ScopedSearch(self._of.search, cast("ScopedStore", self.store)))

    @cached_property
    def finder(self) -> Finder:
        """The search for tools, of the whole space."""
        return self._of.finder

    @cached_property
    def language_model(self) -> LanguageModel:
        """The language model of the whole space."""
        return self._of.language_model

    @cached_property
    def tools(self) -> Toolbox:
        """What can be called outside of the space, and may be known of."""
        return self._of.tools.scoped(self._scope, self._longest_s, self.store if self.sight.limits else None)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All that can be done here."""
        return self._of.catalogue.scoped(self.tools)

    def close(self) -> None:
        """Leave the space open."""


class ScopedSearch:
    """A search among the Notes that are seen: the others are neither compared nor counted."""

    def __init__(self, of: Search, store: ScopedStore) -> None:
        self._of = of
        self._store = store

    async def discover(self, query: SearchQuery, listener: Listener) -> SearchResults:
        """Search the Notes that the scope allows, and no others."""
        return await self._of.discover(replace(query, seen=self._store.searched), listener)

    def find(self, query: SearchQuery, listener: Listener) -> SearchResults:
        """Search, in this thread."""
        return self._of.find(replace(query, seen=self._store.searched), listener)


def sight_in(space: Space) -> Visibility:
    """Return what is seen in a space."""
    return space.sight if isinstance(space, ScopedSpace) else EVERYTHING_SEEN


def scope_of(space: Space) -> JSON:
    """Return the scope of a space as a run keeps it, with its sight, None where everything may be known."""
    scope = space.tools.scope
    tools = {} if scope == EVERYTHING else scope.model_dump(mode="json", exclude_defaults=True)
    return {**tools, **sight_in(space).to_json()} or None


def within(space: Space, stored: JSON) -> Space:
    """Return a space as somebody sees it, within a scope that a run keeps besides.

    Of runs and sessions is there what both see: what goes on is its plan, whoever lets it go on.
    """
    if not isinstance(stored, dict):
        return space
    of_run, now = visibility_of(stored), sight_in(space)
    tools = {name: value for name, value in stored.items() if name not in Visibility.__slots__}
    runs: Whose = "own" if "own" in (of_run.runs, now.runs) else "all"
    sessions: Whose = "own" if "own" in (of_run.sessions, now.sessions) else "all"
    narrower = replace(of_run, runs=runs, sessions=sessions)
    return ScopedSpace(space, Scope.model_validate(tools), sight=narrower)
