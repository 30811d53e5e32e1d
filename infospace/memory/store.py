"""The store: where a space is kept. A protocol, so that nothing above knows the engine.

Nothing here assumes a file, a single process, or that all vectors fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, Evidence, Linked
from infospace.resources import Resource, SearchResult
from infospace.runs.journal import Entry, RunRow, StepRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Tracked:
    """An imported file as it was last read: where, which Note at which version, the SHA-256 of its bytes.

    `part` is 0 for a whole file, else the number of a row in it, whose digest it then is.
    """

    root: str
    path: str
    note: str
    version: int
    digest: bytes
    part: int = 0
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a run did to a resource that no version shows.

    `what`, with the types of `before` and `after`: `name` (text or null), `kept` and `alive` (boolean),
    `file` (the fields of a `Tracked`, its digest in hexadecimal, or null), `links` (a list of the fields of
    `Linked`).
    """

    id: str
    what: Literal["name", "kept", "alive", "file", "links"]
    before: JSON
    after: JSON


@dataclass(frozen=True, slots=True)
class Lineage:
    """A resource with the runs that made its versions, oldest first, and how it stands now.

    `gone` is when and by whom it was deleted, to go on a sentence; None while it lives. `later` are runs that
    affected it afterwards otherwise than by a version, with what they did.
    """

    id: str
    versions: Sequence[tuple[int, str | None]]
    name: str | None
    kept: bool
    gone: str | None
    later: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Freed:
    """What a purge removes: tombstones, earlier versions, vectors of texts that are gone, and their bytes."""

    tombstones: int
    versions: int
    vectors: int
    bytes: int


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


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Notes that have one of a query's words, by number: `numbers` int64, `scores` (BM25, > 0) float64, shape (n,).

    `used` are the words that were looked for, `common` those left out because too many Notes have them.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    used: tuple[str, ...]
    common: tuple[str, ...]


class Head(NamedTuple):
    """What a condition reads of a Note: a `Readable`, with less in it where less was asked for.

    `size`: how many characters metadata and content have as they are stored.
    """

    number: int
    size: int
    metadata: Mapping[str, JSON]
    content: JSON
    id: str = ""
    name: str | None = None
    created: str = ""
    updated: str = ""


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

    def digests(self, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
        """Return number, start, end and digest of the passages of Notes, in order, with a vector or without."""

    def moved(self, generation: int) -> Moved:
        """Return what changed for discovery after a generation."""

    def pending(self, limit: int | None = None) -> list[Text]:
        """Return Notes to be embedded with their text (a string, else compact JSON), by number."""

    def pending_numbers(self) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the Notes to be embedded."""

    def pending_count(self) -> int:
        """Count the Notes to be embedded."""

    def current(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the versions of Notes that exist, in the order of `numbers`."""

    def derived(self, name: str) -> str | None:
        """Return the token of the latest derived file of a name (`Derived`)."""

    def heads(self, numbers: Iterable[int] | None = None, *, text: bool = False, own: bool = False) -> Iterator[Head]:
        """Iterate over the discoverable Notes, all or some, by number.

        Without `text`, a content that is a text is empty; without `own`, so are id, name and times.
        """

    def words(self, query: str) -> Words | None:
        """Return the discoverable Notes that have one of a query's words, None when the engine has no full text."""

    def words_in(self, query: str, texts: Sequence[str]) -> NDArray[np.float64] | None:
        """Return the BM25 of given texts among themselves, 0 without a word; None when there is no full text."""

    def evidence(self, evidence: Evidence) -> SearchResult:
        """Return the content of a search result that refers to a source's version."""

    def model(self) -> str | None:
        """Return the key of the model whose vectors discovery needs, None before the first."""

    def known_vectors(self, model: str, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of the digests have a vector already."""

    def vectors(self, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of those of the digests that have one."""

    def query(self, model: str, digest: bytes) -> NDArray[np.float32] | None:
        """Return the remembered vector of a query."""

    def queries(self, model: str, limit: int) -> NDArray[np.float32]:
        """Return the vectors of the latest queries that are remembered, (n, dimension)."""

    def tracked(self, root: str | None = None) -> list[Tracked]:
        """Return the imported files, below a root or all, by root and path."""

    def links(self, note: str | None = None) -> dict[str, list[Linked]]:
        """Return the links of imported files by the id of their Note, ordered; of one Note, or of all with a file."""

    def effects(self, run: str) -> list[Effect]:
        """Return what a run did besides making versions, in its order."""

    def lineages(self, run: str) -> list[Lineage]:
        """Return the resources that a run made, changed or affected, by id."""

    def holders(self, identifiers: Sequence[str]) -> list[tuple[str, str]]:
        """Return pairs of a resource and of the living Collection that has it, or the living Relation at it."""

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
    def derived(self) -> Path | None:
        """The folder for files made from this space, which may not exist yet; None where there is no place."""

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

    def purge(self, *, really: bool) -> Freed:
        """Remove tombstones and earlier versions for good; or only count them.

        What a search result, a kept version of a Collection, an imported file or an unfinished run refers
        to stays.
        """

    def check(self) -> list[str]:
        """Return what is inconsistent, a sentence each; none when all is well."""

    def close(self) -> None:
        """Close it; ids reserved and never given out go back."""
