"""A space for somebody who may not know of every tool."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from infospace.jsonvalue import JSON
from infospace.space import Space
from infospace.tools.finding.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from infospace.catalogue import Catalogue
    from infospace.llm.model import LanguageModel
    from infospace.search.discovery import Search
    from infospace.search.embedding import Embedding
    from infospace.tools.finding.finder import Finder
    from infospace.tools.toolbox import Toolbox


class NarrowedSpace(Space):
    """A space in which there are no other tools than those of a scope: none is found, checked against, or called.

    What a scope includes limits the tools of servers, and what is listed; of the vocabulary of plans is missing what
    it excludes. A call of a tool lasts `longest_s` at most, None for no such bound. All else is the space that it was
    made of, which stays open when this is closed.
    """

    def __init__(self, of: Space, scope: Scope, longest_s: float | None = None) -> None:
        super().__init__(of.store)
        self._longest_s = longest_s
        self._of = of
        self._scope = scope

    @property
    def whole(self) -> Space:
        """The space that was narrowed."""
        return self._of.whole

    @cached_property
    def embedding(self) -> Embedding:
        """What turns Notes into vectors."""
        return self._of.embedding

    @cached_property
    def search(self) -> Search:
        """What finds Notes by meaning."""
        return self._of.search

    @cached_property
    def finder(self) -> Finder:
        """What finds tools."""
        return self._of.finder

    @cached_property
    def language_model(self) -> LanguageModel:
        """What primitives ask."""
        return self._of.language_model

    @cached_property
    def tools(self) -> Toolbox:
        """What can be called outside of the space, and may be known of."""
        return self._of.tools.narrowed(self._scope, self._longest_s)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All that can be done here."""
        return self._of.catalogue.narrowed(self.tools)

    def close(self) -> None:
        """Leave the space open."""


def scope_of(space: Space) -> JSON:
    """Return the scope of a space as a run keeps it, None where everything may be known."""
    scope = space.tools.scope
    kept: JSON = None if scope == EVERYTHING else scope.model_dump(mode="json", exclude_defaults=True)
    return kept


def within(space: Space, kept: JSON) -> Space:
    """Return a space as somebody sees it, within a scope that a run keeps besides."""
    return space if kept is None else NarrowedSpace(space, Scope.model_validate(kept))
