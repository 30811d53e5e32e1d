"""What becomes of links and of their Relations when a run is undone.

The Relation of a link is there when its two ends are, with their files, and when the link is; somebody may have
deleted it by hand. So it is not enough to undo what a run did to it: what it linked may have gone since, or come back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

from infospace.core.resources import Relation
from infospace.files.links import is_alive, is_link
from infospace.store.changes import Linked
from infospace.store.protocol import Snapshot


class LinkUndo:
    """How links stand once a run is undone.

    `before` are the links that Notes had before it, of those where it set them; `files` the Notes that have a file
    of their own then; `deleted` and `restored` what goes and what comes back.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        before: Mapping[str, Sequence[Linked]],
        files: Collection[str],
        deleted: Collection[str],
        restored: Collection[str],
    ) -> None:
        self._snapshot = snapshot
        self._before = before
        self._files = files
        self._deleted = deleted
        self._restored = restored
        self._lives_now = is_alive(snapshot)

    def stays_away(self, relation: Relation) -> bool:
        """Whether a Relation that was deleted stays so, since it is of a link that is no more, or leads nowhere."""
        if not is_link(relation):
            return False
        links = self._leading(relation.source)
        return not any(to == relation.target and by in (relation.id, None) for to, by in links)

    def dead_end(self, relation: Relation) -> str | None:
        """Return an end of a Relation that is not there."""
        return next((end for end in (relation.source, relation.target) if not self._lives(end)), None)

    def coming(self) -> Iterator[str]:
        """Give the Relations of links that lead somewhere again, and that were deleted because they did not."""
        sources = [*self._before, *(one for one, links in self._now.items() if any(link.lost for link in links))]
        sources += [one for one in self._restored if one in self._files]
        for source in dict.fromkeys(sources):
            yield from (by for _, by in self._leading(source) if by is not None and not self._lives(by))

    def leaving(self) -> Iterator[str]:
        """Give the Relations that links have now, where these are none of the Note's links then."""
        for source, links in self._before.items():
            stay = {link.relation for link in links}
            gone = dict.fromkeys(link.relation for link in self._now.get(source, ()))
            yield from (by for by in gone if by is not None and by not in stay and self._is_links(by))

    def _is_links(self, relation: str) -> bool:
        return self._lives(relation) and is_link(cast("Relation", self._snapshot.get(relation)))

    @cached_property
    def _now(self) -> dict[str, list[Linked]]:
        return self._snapshot.links()

    def _leading(self, source: str) -> Iterator[tuple[str, str | None]]:
        """Give for each link of a Note that leads somewhere the Note and the Relation."""
        if source not in self._files:
            return
        results = self._before[source] if source in self._before else self._now.get(source)
        for link in self._snapshot.links(source).get(source, []) if results is None else results:
            to, by = (link.to, link.relation) if link.to is not None else link.lost or (None, None)
            if to in self._files and to is not None:
                yield to, by

    def _lives(self, identifier: str) -> bool:
        return identifier in self._restored or (identifier not in self._deleted and self._lives_now(identifier))
