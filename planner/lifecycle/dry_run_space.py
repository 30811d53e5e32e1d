"""The space of a dry run: a copy that is thrown away, and what is not known of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from infospace.context.context import Context
from infospace.core.errors import InputRequired, NotFound
from infospace.core.listener import Listener
from infospace.core.names import normalise
from infospace.core.resources import CreatedBy, Resource
from infospace.core.tool import Tool, ToolAnswer
from infospace.llm.meter import Meter
from infospace.llm.model import LanguageModel, OnText, Reply, Request
from infospace.space import Space
from infospace.store.protocol import Store
from infospace.tools.journalled_calls import ToolCalls
from planner.execute.variables import UnboundReason

UNKNOWN = "unknown:"
"""What stands before a step's position in the id of what it would have given."""
DRY = "dry-run"
"""The kind of what is not done, or not known."""


class Unknown(InputRequired):
    """What a dry run does not know is needed; `cause` says which step would have given or changed it."""

    def __init__(self, cause: UnboundReason) -> None:
        super().__init__(cause.step, DRY, str(cause))
        self.cause = cause


class DrySpace(Space):
    """A copy of a space, with what is not known of it."""

    def __init__(self, store: Store, of: Space) -> None:
        super().__init__(store)
        self.tools, self.catalogue = of.tools, of.catalogue
        self.unknown: dict[str, UnboundReason] = {}
        """Why something is not known, by its id, or by a name that it would have."""
        self.undone: dict[str, UnboundReason] = {}
        """Steps that would have written, by position: what is read after them is read without that."""

    def context(
        self,
        created_by: CreatedBy | None = None,
        listener: Listener | None = None,
        *,
        scratch: bool = False,
        meter: Meter | None = None,
    ) -> Context:
        """Return a view that gives nothing of which it is not known what it is."""
        context = _View(self, created_by or CreatedBy(), listener, scratch=scratch)
        context.meter = meter
        return context


class _View(Context):
    def get(self, reference: str) -> Resource:
        """Return a resource; raises Unknown for one of which that is not known."""
        self._require_known([normalise(reference)])
        try:
            resource = super().get(reference)
        except NotFound:
            self._perhaps()
            raise
        self._require_known([resource.id])
        return resource

    def resources(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return resources by id; raises Unknown for the first of which that is not known."""
        self._require_known(identifiers)
        try:
            return super().resources(identifiers)
        except NotFound:
            self._perhaps()
            raise

    def _require_known(self, identifiers: Sequence[str]) -> None:
        for identifier in identifiers:
            cause = self._space.unknown.get(identifier)
            if cause is not None:
                raise Unknown(cause)

    def _perhaps(self) -> None:
        """Something is not there, and may be there after what was not run."""
        for cause in self._space.undone.values():
            raise Unknown(cause)

    @property
    def _space(self) -> DrySpace:
        return cast("DrySpace", self.space)


class NoModel(Meter):
    """Asks no language model."""

    async def call(
        self, model: LanguageModel, request: Request, created_by: CreatedBy, on_text: OnText | None = None
    ) -> tuple[Reply, bool]:
        """Raise Unknown: no model is asked in a dry run."""
        del request, on_text
        raise Unknown(not_called(created_by.step or "", model.name))


class NoCalls(ToolCalls):
    """The tool calls of a dry run: none is made."""

    async def make(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        created_by: CreatedBy,
        call: Callable[[Tool], Awaitable[ToolAnswer]],
        current: Callable[[], Awaitable[Tool]],
    ) -> ToolAnswer:
        """Raise Unknown: no tool is called in a dry run."""
        del arguments, call, current
        raise Unknown(not_called(created_by.step or "", tool.full_name))


def not_called(position: str, what: str) -> UnboundReason:
    """Say that nobody knows what a call gives."""
    return UnboundReason(
        position, f"what step {position} ({what}) gives is not known, since a dry run does not call it"
    )
