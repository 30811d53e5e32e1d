"""What a store answers: values, which say nothing of the engine that they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from infospace.core.json_types import JSON

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.core.resources import Location
    from infospace.store.note_fields import Field


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """An imported file as it was last read: where, which Note at which version, the SHA-256 of its bytes.

    `part` is 0 for a whole file, else the number of a row in it, whose digest it then is. `created` and `modified` are
    the file's times, `aliases` what links may call it besides its title, `lines` how many stand before its text, and
    `reader` the version of the importer that read it, 0 for the first ones.
    """

    root: str
    path: str
    note: str
    version: int
    digest: bytes
    part: int = 0
    title: str | None = None
    created: str | None = None
    modified: str | None = None
    aliases: tuple[str, ...] = ()
    lines: int = 0
    reader: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """The embedding model that a space was told to use, and its own threshold.

    `name` is fastembed's, or the absolute path of a folder; `key` tells the files that were measured from others.
    """

    name: str
    key: str
    threshold: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a run did to a resource that no version shows.

    `what`, with the types of `before` and `after`: `name` (text or null), `kept` (boolean), `alive` (boolean; of
    what was restored, `after` is the version that came back, and true where that was not noted), `file` (the fields
    of a `TrackedFile`, its digest in hexadecimal, or null), `links` (a list of the fields of `Linked`).
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
class PurgeStats:
    """What a purge removes: tombstones, earlier versions, vectors of texts that are gone, and their bytes."""

    tombstones: int
    versions: int
    vectors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DeletedRuns:
    """What goes with runs: rows of steps and calls, resources that nobody kept, and the bytes of all of it.

    `needed` are resources that nobody kept and that stay, since something that stays is made of them.
    """

    runs: int
    steps: int
    calls: int
    resources: int
    needed: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a Note or a Collection that waits to be embedded, and a Note's fields."""

    id: str
    version: int
    text: str
    fields: Sequence[Field] = ()


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
class NearestNotes:
    """Notes near a query, nearest first and of equals the lower number, each by its first best passage.

    `numbers`, `versions`, `starts`, `ends`: int64; `cosines`: float64, rounded to six decimals; shape (n,).
    `matched`: how many Notes are at or above the threshold; `max_below`: the highest cosine below it, None where
    no Note is. Both say nothing where an index answered.
    """

    numbers: NDArray[np.int64]
    versions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    cosines: NDArray[np.float64]
    matched: int = 0
    max_below: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Notes that have one of a query's words, by number: `numbers` int64, `scores` (BM25, > 0) float64, shape (n,).

    `used` are the words that were looked for, `common` those left out because too many Notes have them. `titled` are
    the numbers of those of which the query is the whole title or an alias; `bound` is more BM25 than any text can have.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    used: tuple[str, ...]
    common: tuple[str, ...] = ()
    titled: tuple[int, ...] = ()
    bound: float = 0.0


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
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """A resource in a list of many: what it is and how it begins, without all of its content.

    `begins` has the first characters of a Note's text, or of its JSON as it is stored; `size` is how many there are as
    stored, of a Collection how many items it has. A search result that refers to its source has `source`, at its
    version, and `score`, and a Relation has its `ends`: source, label, target. `title` is one that somebody gave.
    """

    id: str
    version: int
    name: str | None
    kept: bool
    created: str
    updated: str
    metadata: Mapping[str, JSON]
    alive: bool = True
    evidence: bool = False
    begins: str = ""
    size: int = 0
    source: tuple[str, int] | None = None
    score: float | None = None
    ends: tuple[str, str, str] | None = None
    location: Location | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedNotes:
    """What discovery must learn since a generation: the numbers of Notes that came, changed or went."""

    touched: frozenset[int]
    complete: bool
    """False when the store no longer knows, and all must be read again."""
