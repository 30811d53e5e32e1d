"""A space, opened: its memory, its search, its vocabulary. It holds them and does nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from infospace.context.context import Context
from infospace.core.listener import Listener
from infospace.core.resources import CreatedBy

if TYPE_CHECKING:
    from infospace.contract.catalogue import Catalogue
    from infospace.core.errors import InfospaceError
    from infospace.journal.answer_cache import AnswerCache
    from infospace.llm.meter import Meter
    from infospace.llm.model import LanguageModel
    from infospace.search.embedding.service import Embedding
    from infospace.search.search import Search
    from infospace.store.protocol import Store
    from infospace.tools.search.finder import Finder
    from infospace.tools.search.rules.language import Fact
    from infospace.tools.toolbox import Toolbox


class Space:
    """Notes, collections, relations and runs, with what searches them. Close it, or use `with`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.answers: AnswerCache | None = None
        """Where answers of models and tools are kept across runs; nowhere unless somebody asks for it."""
        self.user: Sequence[Fact] = ()
        """What rules for tools know of whoever it is for: facts of `user`."""

    @property
    def unscoped(self) -> Space:
        """The space as it was opened: of one that was narrowed, what it was narrowed from."""
        return self

    @cached_property
    def embedding(self) -> Embedding:
        """What turns Notes into vectors."""
        from infospace.search.embedding.service import Embedding

        return Embedding(self.store)

    @cached_property
    def search(self) -> Search:
        """What finds Notes by meaning."""
        from infospace.search.search import Search

        return Search(self.store, self.embedding)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All that can be done here."""
        from infospace.contract.catalogue import installed

        catalogue = installed()
        catalogue.tools = self.tools
        catalogue.why_unasked = self._why_unasked
        return catalogue

    def _why_unasked(self) -> InfospaceError | None:
        from infospace.core.errors import InfospaceError
        from infospace.llm.settings import configured, installed

        if "language_model" in self.__dict__:
            return None
        try:
            installed(configured().api)
        except InfospaceError as error:
            return error
        return None

    @cached_property
    def language_model(self) -> LanguageModel:
        """What primitives ask: the model that the environment names, or one that was put here.

        Raises NotConfigured where there is none.
        """
        from infospace.llm.client import connect

        return connect()

    def model_for(self, name: str | None = None, *, plans: bool = False) -> LanguageModel:
        """Return the model of a name at the same endpoint, the one that writes `plans`, or the usual one.

        A model that was put here, and that of a replay, answers for all names.
        """
        from dataclasses import replace

        from infospace.llm.client import client_of
        from infospace.llm.settings import Settings, plan_model

        usual = self.language_model
        settings = getattr(usual, "settings", None)
        expected = name or (plan_model() if plans else None)
        if not isinstance(settings, Settings) or expected in (None, settings.model):
            return usual
        if expected not in self._models:
            self._models[expected] = client_of(replace(settings, model=expected))
        return self._models[expected]

    @cached_property
    def _models(self) -> dict[str, LanguageModel]:
        """Those besides the usual one, by name."""
        return {}

    @cached_property
    def tools(self) -> Toolbox:
        """What can be called outside of the space: tools of the servers that it knows, and of providers added here."""
        from infospace.tools.mcp.servers import Servers
        from infospace.tools.toolbox import Toolbox

        return Toolbox(Servers(self.store))

    @cached_property
    def finder(self) -> Finder:
        """The search for tools; its vectors come from the space's embedding model."""
        from infospace.tools.search.finder import Finder
        from infospace.tools.search.rules.source import RuleSource

        return Finder(self.embedding, self.tools.types, RuleSource(self.store))

    def context(
        self,
        created_by: CreatedBy | None = None,
        listener: Listener | None = None,
        *,
        scratch: bool = False,
        meter: Meter | None = None,
    ) -> Context:
        """Return a view for one step. What is made through a `scratch` one is never kept.

        `meter` counts what it asks of the language model, together with other steps.
        """
        context = Context(self, created_by or CreatedBy(), listener, scratch=scratch)
        context.meter = meter
        return context

    def close(self) -> None:
        """Close it, and end the servers of its tools that run."""
        if "tools" in self.__dict__:
            self.tools.close()
        self.store.close()

    def __enter__(self) -> Space:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_space(address: str | Path, *, create: bool = True) -> Space:
    """Open the space in a SQLite file. A missing file is made, or with `create` false stands for an empty space.

    `SCHEME://…` is for the store that is installed for it. Raises StoreError: a folder, no rights, not a space, a
    newer version, no store for the scheme.
    """
    from infospace.store.open import open_store

    return Space(open_store(address, create=create))
