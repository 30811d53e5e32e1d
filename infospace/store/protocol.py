"""The store: where a space is kept. A protocol, so that nothing above knows the engine.

What must hold of every store (tests/infospace/memory/contract tries it):

- Commits take effect one after the other, as if there were one writer: a change sees all that was committed
  before, in whatever process, and a generation is never smaller than that of a commit before it. An engine with
  many writers has each take a lock of the space before its first question, and hold it to the end.
- A snapshot sees the state at the moment it was opened, whole transactions alone, for as long as it is open:
  snapshot isolation, with any number of them at once. One thread at a time uses it. An error leaves it good.
  Where an engine's transaction begins to see at its first question, opening asks one.
- Any thread may use a store, and any number of stores, processes and machines one space.
- Ids are given out before they are used, from 1 on, in the order of asking within one store. A number is
  given once, whatever crashes, rolls back or is purged; `commit` takes those given out, and no others.
- A Collection never contains itself, directly or through others: a commit after which one would is Invalid.
- Lists are ordered as their docstring says: ids by number within a kind, texts by code point whatever the
  locale, versions and runs by number. No order rests on a clock: those of two machines differ.
- Texts are any Unicode but lone surrogates, NUL among it, and come back sign for sign; JSON keeps its types and
  the order of its keys; vectors are float32, and come back bit for bit.
- Arguments may be of any length: an engine that takes so many parameters asks more than once.
- Errors are those of infospace.core.errors, whatever the engine raises: Invalid for a value that does not fit,
  NotFound, Conflict, StoreError for the engine, the disk, the network. They are raised before anything is
  stored. Only a commit whose answer was lost on the way may have been stored all the same: who does it again
  with the same ids learns that from a Conflict. The store itself does nothing twice.
- `words` with `words_in`, and `above` with `nearest`, may answer None: the engine cannot. It is the same answer
  for all queries. `fitting` is asked only where `words` answers. Everything else a store can.
- Each call may be a round trip over a network, and holds up the thread that makes it: whoever wants many things
  asks for them at once. A snapshot that stays open keeps what it sees from being cleared away, so it is for
  reading, and not for work that waits.
- How it is opened is told in infospace/store/open.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.resources import Note, Resource, SearchResult
from infospace.data.properties import Property
from infospace.journal.queries import JournalQueries
from infospace.journal.rows import Entry
from infospace.store.changes import Change, Evidence, Linked
from infospace.store.records import (
    ChangedNotes,
    Chosen,
    DeletedRuns,
    Effect,
    Head,
    Lineage,
    NearestNotes,
    PurgeStats,
    ResourceSummary,
    Rows,
    Text,
    TrackedFile,
    Words,
)
from infospace.store.tool_records import ToolQueries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.expressions.query.preselect import ColumnTest
    from infospace.store.note_fields import Field

__all__ = [
    "ChangedNotes",
    "Chosen",
    "DeletedRuns",
    "Effect",
    "Head",
    "Lineage",
    "NearestNotes",
    "Property",
    "PurgeStats",
    "ResourceSummary",
    "Rows",
    "Snapshot",
    "Store",
    "Text",
    "TrackedFile",
    "Words",
]


class Snapshot(ToolQueries, JournalQueries, Protocol):
    """A consistent view of the space in one read transaction; StoreError for every question after its end."""

    @property
    def generation(self) -> int:
        """From 0 on, one more with each commit that changes what discovery may find, and the same with others."""

    def get(self, identifier: str, version: int | None = None) -> Resource:
        """Return a resource, current or at a version; NotFound says whether it was deleted, when and by whom.

        Versions of a deleted one can be read by number.
        """

    def get_many(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return several current resources in the given order, repetitions too; NotFound for the first that is gone."""

    def notes(self, numbers: Sequence[int]) -> Sequence[Note]:
        """Return current Notes by their numbers, in the given order: `many` for those of a large Collection."""

    def identities(self, identifiers: Sequence[str]) -> list[str]:
        """Return what resources count as in sets, in the given order: of search results, what `identity` says.

        Of what is not there, or is no search result, its id.
        """

    def versions(self, identifier: str) -> list[tuple[int, str]]:
        """Return version numbers with their times, oldest first; of a deleted resource too."""

    def named(self, name: str) -> str | None:
        """Return the id of the holder of a name, which is compared in NFC."""

    def names(self) -> list[str]:
        """Return all names, by code point."""

    def relations(
        self, *, source: str | None = None, target: str | None = None, relation: str | None = None
    ) -> list[str]:
        """Return the ids of the Relations with these ends and label, by number."""

    def listing(
        self, kind: Kind, *, kept: bool | None = True, after: int = 0, limit: int | None = None
    ) -> Iterator[Resource]:
        """Iterate over the resources of a kind by number, from above `after`. Deleted ones are left out.

        Other questions may be asked between two of them. The same holds of `heads`.
        """

    def count(self, kind: Kind, *, kept: bool | None = True) -> int:
        """Count the resources of a kind that `listing` would give."""

    def numbers(self, kind: Kind, *, kept: bool | None = True) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the resources of a kind that `listing` would give."""

    def briefs(self, identifiers: Sequence[str]) -> list[ResourceSummary]:
        """Return what a list shows of resources, in the given order, of deleted ones too; NotFound for what never was.

        A Note of any size costs as much as a short one, but for the counting of its characters.
        """

    def discoverable(self, numbers: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the Notes that discovery searches, among `numbers` or all.

        They are kept, not deleted, not evidence, and their name does not begin with `_`.
        """

    def discoverable_count(self) -> int:
        """Count the Notes that discovery searches."""

    def searchable(self) -> bool:
        """Whether there is any Note that discovery searches."""

    def rows(self, model: str, numbers: Iterable[int] | None = None) -> Rows:
        """Return the embedded passages of discoverable Notes, of all or of some, by number and place in the text.

        All of them fit into memory only where `nearest` and `above` cannot answer. Of a model without any vector
        the dimension is 0.
        """

    def nearest(self, model: str, query: NDArray[np.float32], limit: int) -> NearestNotes | None:
        """Return at most `limit` Notes that are nearly all of the nearest, by an index; None: there is none.

        A store that can answer `above` may do without, or until it has so many rows that an index pays. What it
        misses nobody learns, but what it gives has its exact cosine, and is searched in this snapshot.
        """

    def above(
        self,
        model: str,
        query: NDArray[np.float32],
        threshold: float,
        *,
        limit: int | None = None,
        numbers: Iterable[int] | None = None,
        excluding: Iterable[int] = (),
    ) -> NearestNotes | None:
        """Return the Notes from a threshold on, all or the `limit` nearest, among some or all; None: it cannot.

        Those `excluding` says are as if they were not there.

        A proof rests on it: every passage is compared, in double precision and rounded to six decimals before it
        is compared with the threshold; `matched` counts what the limit leaves out too. An engine of single
        precision narrows with a margin of 1e-5, and decides about what is left as said.
        """

    def digests(self, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
        """Return number, start, end and digest of the passages of Notes, in order, with a vector or without."""

    def moved(self, generation: int) -> ChangedNotes:
        """Return what changed for discovery after a generation.

        It is not complete when that never was, or when something was purged since.
        """

    def pending(self, limit: int | None = None, *, among: Sequence[int] | None = None) -> list[Text]:
        """Return Notes to be embedded, all or `among`, by number, with their text (a string, else compact JSON)."""

    def fields(self, numbers: Iterable[int]) -> dict[int, list[Field]]:
        """Return the fields of Notes as they are now, by number: title, aliases, descriptions."""

    def pending_sizes(self) -> list[tuple[int, int]]:
        """Return the numbers of the Notes to be embedded, by number, and how many characters each has as stored."""

    def pending_numbers(self) -> NDArray[np.int64]:
        """Return the numbers (ascending) of the Notes to be embedded."""

    def pending_count(self) -> int:
        """Count the Notes to be embedded."""

    def current(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the versions of Notes that exist, in the order of `numbers`."""

    def derived(self, name: str) -> str | None:
        """Return the token of the latest derived file of a name (`Derived`), None where there never was one."""

    def heads(self, numbers: Iterable[int] | None = None, *, text: bool = False, own: bool = False) -> Iterator[Head]:
        """Iterate over the discoverable Notes, all or some, by number.

        Without `text`, a content that is a text is empty; without `own`, so are id, name and times.
        """

    def properties(self) -> Mapping[str, Property]:
        """Return the properties of discoverable Notes by name: types and, where they are few, values.

        Those that most Notes have stand first. A store keeps them, so that asking again costs what changed.
        """

    def keyword_matches(self, query: str, among: Collection[int] | None = None) -> Words | None:
        """Return the discoverable Notes that have one of a query's words, None when the engine has no full text.

        With `among`, numbers of discoverable Notes, those among these alone: how many there are of a word, or in
        all, is counted among these, too.
        """

    def words_in(self, query: str, texts: Sequence[str]) -> dict[str, NDArray[np.float64]] | None:
        """Return what each word of a query adds to the BM25 of given texts among themselves, (texts).

        A word that none of them has is not there. None when there is no full text.
        """

    def wording(self, tell: Callable[[int, int], None]) -> Iterator[tuple[int | None, str]]:
        """Give what is wrong with the full text, by the Note's number, None for the whole; none without full text.

        `tell` hears how many Notes of how many were read.
        """

    def collections(self) -> int:
        """Count the kept Collections whose name does not begin with `_`: those that can be found."""

    def undescribed(self, model: str) -> list[Text]:
        """Return those of them whose embedded passages are not known, with their text, by number.

        It is the name, the metadata and the titles of the items, each on a line.
        """

    def described(self, model: str) -> Rows:
        """Return the embedded passages of the others; all bounds are 0."""

    def fitting(
        self, words_used: Sequence[str], texts: Sequence[str], among: Collection[int] | None = None
    ) -> NDArray[np.float64]:
        """Return how well stretches of Notes fit words that `words` looked for; 0 where none of them is."""

    def evidence(self, evidence: Sequence[Evidence]) -> list[SearchResult]:
        """Return the contents of search results that refer to their sources' versions, in the given order."""

    def model(self) -> str | None:
        """Return the key of the model whose vectors discovery needs, None before the first."""

    def chosen(self) -> Chosen | None:
        """Return the model that the space was told to use, None for the default one."""

    def known_vectors(self, model: str, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of the digests have a vector already."""

    def vectors(self, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of those of the digests that have one."""

    def query(self, model: str, digest: bytes) -> NDArray[np.float32] | None:
        """Return the remembered vector of a query."""

    def queries(self, model: str, limit: int) -> NDArray[np.float32]:
        """Return the vectors of the latest queries that are remembered, (n, dimension)."""

    def tracked(self, root: str | None = None) -> list[TrackedFile]:
        """Return the imported files, below a root or all, by root and path."""

    def removed_files(self) -> list[TrackedFile]:
        """Return files as they were known when their Notes were deleted, by somebody's hand or a step, and still are.

        Latest last. Of a run that was pruned there are none.
        """

    def step_extra(self, run: str, step: str) -> dict[str, JSON] | None:
        """Return the `extra` of the step of a run that succeeded, by its position; None where there is no such row."""

    def links(self, note: str | None = None) -> dict[str, list[Linked]]:
        """Return the links of the Notes that have a file, or of one, with a file or without; each one's by target.

        One to a Note that has no file of its own now, since it was deleted for example, leads nowhere.
        """

    def unsettled_links(self, notes: Collection[str]) -> set[str]:
        """Return those Notes with links that lead to no file, and of which nothing says what else they lead to."""

    def testable(self, name: str) -> frozenset[str]:
        """Return the columns of one of the space's own tables by which its rows can be chosen."""

    def space_table(
        self,
        name: str,
        tests: Iterable[ColumnTest],
        among: Iterable[tuple[str, Collection[int]]],
        seen: Collection[int] | None = None,
    ) -> SpaceTable:
        """Return the rows of a table that pass tests, and whose columns that hold ids hold one of some Notes' numbers.

        A test of a column that has ids is of equality alone. Where some Notes alone are `seen`, there are rows of
        these alone, and a link to another one leads to null.
        """

    def effects(self, run: str) -> list[Effect]:
        """Return what a run did besides making versions, in its order."""

    def lineages(self, run: str) -> list[Lineage]:
        """Return the resources that a run made, changed or affected, by id."""

    def holders(self, identifiers: Sequence[str]) -> list[tuple[str, str]]:
        """Return pairs of a resource and of the living Collection that has it, or the living Relation at it."""


class SpaceTable(Protocol):
    """Some rows of one of the space's own tables (`notes`, `items`, `links`), by Note and by their place in it.

    Good while the snapshot is open that gave it. Columns are read when they are asked for.
    """

    @property
    def is_filtered(self) -> bool:
        """Whether it can have fewer rows than there are."""

    @property
    def numbers(self) -> Sequence[int]:
        """The number of the Note of each row."""

    def __len__(self) -> int:
        """How many rows there are."""

    def versions(self) -> dict[str, int]:
        """Return the versions of the Notes whose rows these are, by id."""

    def column(self, name: str) -> list[JSON]:
        """Return a column by its name."""

    def property(self, key: str) -> list[JSON]:
        """Return a key of each Note's metadata, null where it has none. Of `notes` alone."""

    def properties(self) -> list[str]:
        """Return the keys of the metadata of all Notes, in the order in which they first come."""

    def has_property(self, key: str) -> bool:
        """Whether any Note has a key in its metadata."""


class Store(Protocol):
    """A space's canonical state."""

    @property
    def address(self) -> str:
        """What the space was opened by, fit to be shown: without the password that a network address may have."""

    @property
    def identity(self) -> str:
        """Tells this space from every other for good, whatever its address: what is derived from it carries this."""

    @property
    def derived(self) -> Path | None:
        """The folder on this machine for files made from this space, which may not exist yet; None without a place."""

    @property
    def writable(self) -> bool:
        """Whether a commit will be kept: not for a space on a read-only medium or a replica, nor for a missing file."""

    def reading(self) -> AbstractContextManager[Snapshot]:
        """Open a snapshot of what is committed now, whoever did it; writers do not wait for it, nor it for them."""

    def get(self, identifier: str) -> Resource:
        """Return a resource as it is now, as a snapshot that is opened for this one question would."""

    def overlay(self) -> AbstractContextManager[Store]:
        """Open a private copy of the space as it is now: what is written to it is thrown away when it is closed."""

    def new_id(self, kind: Kind | Literal["run"]) -> str:
        """Return an id that nobody had and nobody else will have, crash or not.

        Asked once for each thing that is made: a store reserves ranges, durably before it gives the first of one.
        """

    def new_numbers(self, kind: Kind, count: int) -> int:
        """Return the first of so many numbers of new ids, which follow each other: `new_id` for many at once."""

    def commit(self, changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        """Apply changes and journal entries as one transaction, all or nothing; return the generation.

        Raises Conflict, NotFound, Invalid for a change that does not fit, StoreError when the engine
        cannot (disk full, no rights).
        """

    def use_model(self, model: str, chosen: Chosen | None = None) -> None:
        """Make a model's vectors the ones discovery needs; a change makes every discoverable Note pending.

        Nothing happens when the space's choice is not `chosen` any more. Vectors of earlier models stay.
        """

    def choose_model(self, model: str, chosen: Chosen | None) -> None:
        """Keep the choice of a model, None for the default one, and make its vectors the ones discovery needs."""

    def purge(self, *, really: bool) -> PurgeStats:
        """Remove tombstones and earlier versions for good; or only count them.

        What a search result, a kept version of a Collection, an imported file or an unfinished run refers
        to stays.
        """

    def forget(self, runs: Sequence[str], *, really: bool, compact: bool = True) -> DeletedRuns:
        """Remove runs that have ended from the journal, with what they made and nobody kept; or only count it.

        `compact` gives their room back to the system, which may write the whole space anew; else it is used again.

        What something that stays needs for its content stays, and so does what an unfinished run uses. Raises
        NotFound for an unknown run, Conflict for one that has not ended.
        """

    def wait_for_queue(self, seconds: float) -> None:
        """Return when something may have come into a queue, at the latest after so many seconds."""

    def check(self) -> list[str]:
        """Return what is inconsistent, a sentence each; none when all is well."""

    def close(self) -> None:
        """Close it, for good; again is nothing. Ids that nobody was given go back, where no later ones were.

        Snapshots that are open stay good until they end.
        """
