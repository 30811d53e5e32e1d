"""Bringing files in while the screen goes on: how far it is, how fast, and an end when somebody wants one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from infospace.core.errors import ModelError
from infospace.core.plural import pluralize
from infospace.files.import_files import Summary, import_paths
from infospace.files.tracked_files import first_to_embed
from tui.text.pace import RateMeter
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.core.listener import Speech
    from infospace.space import Space

WORDS = ("added", "changed", "restored", "moved", "unchanged", "removed")


class ImportJob:
    """One import in a thread. `said` tells how far it is; `end` ends it, and keeps what is there."""

    def __init__(self, space: Space, paths: Sequence[str]) -> None:
        self.summary = Summary()
        self.ended = False
        self.unembedded: str | None = None
        """Why what is kept waits to be embedded."""
        self._space = space
        self._paths = [path_of(path) for path in paths]
        self._at = ("", 0, 0)
        self._paces: dict[str, RateMeter] = {}

    def run(self) -> None:
        """Import, and embed. Raises what importing raises, but nothing for having been ended."""
        try:
            import_paths(self._space, self._paths, self, summary=self.summary)
            with self._space.store.reading() as snapshot:
                first = first_to_embed(snapshot, self._paths)
            self.summary.passages_embedded = self._space.embedding.catch_up(self, first=first)
        except KeyboardInterrupt:
            self.ended = True
        except ModelError as error:
            self.unembedded = str(error)

    def end(self) -> None:
        self.ended = True

    @property
    def status_text(self) -> str:
        """How far it is, and how fast."""
        what, done, total = self._at
        if not what:
            return "looking for files …"
        rate = self._paces[_work(what)].rate()
        return f"{what} {done:,} of {total:,}" + ("" if rate is None else f", {rate:,.0f} a second")

    def report(self) -> str:
        """Say what was done."""
        summary = self.summary
        text = ", ".join(f"{getattr(summary, word):,} {word}" for word in WORDS if getattr(summary, word))
        parts = [text or "nothing to add"]
        if self.ended:
            parts.append("ended early: adding the same again goes on")
        parts += [f"not read: {one['path']}: {one['reason']}" for one in summary.failed[:3]]
        if len(summary.failed) > 3:
            parts.append(f"and {len(summary.failed) - 3:,} more that were not read")
        parts += [f"warning: {warning['path']}: {warning['reason']}" for warning in summary.warnings[:3]]
        if len(summary.warnings) > 3:
            parts.append(f"and {pluralize(len(summary.warnings) - 3, 'more warning')}")
        if self.unembedded is not None:
            parts.append(f"not embedded yet: {self.unembedded}")
        return "; ".join(parts)

    # As a listener

    def message(self, kind: Speech, text: str) -> None:
        """Ignore it: an import says nothing."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Take how far it is. Raises KeyboardInterrupt, as imports are ended, where somebody wants an end."""
        self._paces.setdefault(_work(what), RateMeter()).mark(done)
        self._at = (what, done, total)
        if self.ended:
            raise KeyboardInterrupt


def _work(what: str) -> str:
    """Which work is meant, without the details."""
    return what.partition(";")[0]
