"""The store: where a space is kept. A protocol, so that nothing above knows the engine.

Nothing here assumes a file, a single process, or that all vectors fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from infospace.ids import Kind
from infospace.memory.changes import Change, Evidence
from infospace.resources import Resource, SearchResult
from infospace.runs.journal import Entry, RunRow, StepRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Tracked:
    """An imported file as it was last read: where, which Note at which version, the SHA-256 of its bytes."""

    root: str
    path: str
    note: str
    version: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a Note that waits to be embedded."""

    id: str
    version: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Embedded passages: owners' numbers (ascending) and versions, bounds, and vectors, row for row.

    `owners`, `versions`, `starts`, `ends`: int64 of shape (n,); `vectors`: float32, (n, dimension).
    """

    owners: NDArray[np.int64]
    versions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Moved:
    """What discovery must learn since a generation: the numbers of Notes that came, changed or went."""

    touched: frozenset[int]
    complete: bool
    """False when the store no longer knows, and all must be read again."""


class Snapshot(Protocol):
    """A consistent view of the space in one read transaction."""

    @property
    def generation(self) -> int:
        """Grows with every commit that changes what discovery may find."""

    def get(self, identifier: str, version: int | None = None) -> Resource:
        """Return a resource, current or at a version; NotFound says whether it was deleted."""

    def many(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return several current resources in the given order; NotFound for the first that is not there."""

    def versions(self, identifier: str) -> list[tuple[int, str]]:
        """Return version numbers with their times, oldest first."""

    def named(self, name: str) -> str | None:
        """Return the id of the holder of a name."""

    def names(self) -> list[str]:
        """Return all names, sorted."""

    def relations(
        self, *, source: str | None = None, target: str | None = None, relation: str | None = None
    ) -> list[str]:
        """Return the ids of the Relations with these ends and label, by number."""

    def listing(
        self, kind: Kind, *, kept: bool | None = True, after: int = 0, limit: int | None = None
    ) -> Iterator[Resource]:
        """Iterate over the resources of a kind by number, from above `after`. Deleted ones are left out."""

    def count(self, kind: Kind, *, kept: bool | None = True) -> int:
        """Count the resources of a kind that `listing` would give."""

    def discoverable(self, numbers: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the Notes that discovery searches, among `numbers` or all.

        They are kept, not deleted, not evidence, and their name does not begin with `_`.
        """

    def searchable(self) -> bool:
        """Whether there is any Note that discovery searches."""

    def rows(self, model: str, numbers: Iterable[int] | None = None) -> Rows:
        """Return the embedded passages of discoverable Notes, of all or of some."""

    def moved(self, generation: int) -> Moved:
        """Return what changed for discovery after a generation."""

    def pending(self, limit: int | None = None) -> list[Text]:
        """Return Notes to be embedded with their text (a string, else compact JSON), by number."""

    def pending_numbers(self) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the Notes to be embedded."""

    def pending_count(self) -> int:
        """Count the Notes to be embedded."""

    def evidence(self, evidence: Evidence) -> SearchResult:
        """Return the content of a search result that refers to a source's version."""

    def model(self) -> str | None:
        """Return the key of the model whose vectors discovery needs, None before the first."""

    def known_vectors(self, model: str, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of the digests have a vector already."""

    def query(self, model: str, digest: bytes) -> NDArray[np.float32] | None:
        """Return the remembered vector of a query."""

    def tracked(self, root: str | None = None) -> list[Tracked]:
        """Return the imported files, below a root or all, by root and path."""

    def run(self, identifier: str) -> RunRow:
        """Return a run; NotFound when there is none."""

    def runs(self, *, limit: int | None = None, before: int | None = None) -> list[RunRow]:
        """Return runs, latest first, with numbers below `before`."""

    def steps(self, run: str) -> list[StepRow]:
        """Return a run's steps in the order of their sequence."""


class Store(Protocol):
    """A space's canonical state."""

    @property
    def address(self) -> str:
        """What the space was opened by, for messages."""

    @property
    def identity(self) -> str:
        """Tells this space from every other, whatever its address: what is derived from it carries this."""

    @property
    def writable(self) -> bool:
        """Whether a commit will be kept: not for a space on a read-only medium, nor for a missing file."""

    def reading(self) -> AbstractContextManager[Snapshot]:
        """Open a read transaction; writers do not wait for it, nor it for them."""

    def new_id(self, kind: Kind | Literal["run"]) -> str:
        """Return an id that nobody had and nobody else will have, crash or not."""

    def commit(self, changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        """Apply changes and journal entries as one transaction, all or nothing; return the generation.

        Raises Conflict, NotFound, Invalid for a change that does not fit, StoreError when the engine
        cannot (disk full, no rights).
        """

    def use_model(self, model: str) -> None:
        """Make a model's vectors the ones discovery needs; a change makes every discoverable Note pending."""

    def check(self) -> list[str]:
        """Return what is inconsistent, a sentence each; none when all is well."""

    def close(self) -> None:
        """Close it; ids reserved and never given out go back."""
