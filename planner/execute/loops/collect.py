"""What the items of a `for-each` or `map` gave."""

from __future__ import annotations

from infospace.context.context import Context
from infospace.core.json_types import JSON
from infospace.core.resources import Member, Note, Resource


class Results:
    """What the items of a `for-each` or `map` gave, in order."""

    def __init__(self, context: Context, filter_null: bool) -> None:
        self._context = context
        self._filter_null = filter_null
        self.members: list[Member] = []
        self.failed: list[dict[str, JSON]] = []

    def add(self, index: int, item: str, resource: Resource | None, skipped: str | None = None) -> None:
        """Take what an item gave; nothing, or a null Note, is left out unless positions are to match.

        `skipped` says why the step that gives it was skipped, or that what it gave was deleted.
        """
        status = "success" if skipped is None else "skipped"
        if resource is None or (isinstance(resource, Note) and resource.content is None):
            self._empty(index, item, status, skipped, resource)
        else:
            self._put(resource, index, item, status, None)

    def fail(self, index: int, item: str, reason: str) -> None:
        """Take note of an item that failed."""
        self.failed.append({"index": index, "item": item, "status": "failed", "reason": reason})
        self._empty(index, item, "failed", reason, None)

    def _empty(self, index: int, item: str, status: str, reason: str | None, resource: Resource | None) -> None:
        if not self._filter_null:
            self._put(resource or self._context.note(None), index, item, status, reason)

    def _put(self, resource: Resource, index: int, item: str, status: str, reason: str | None) -> None:
        info: dict[str, JSON] = {"index": index, "item": item, "status": status, "reason": reason}
        self.members.append(Member(resource.id, info))
