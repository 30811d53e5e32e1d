"""A consistent view of the space: what the store answers from one read transaction."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from infospace.core.bounds import timed_if_many
from infospace.core.errors import NotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.names import normalise
from infospace.core.resources import Collection, CreatedBy, Note, Relation, Resource, SearchResult
from infospace.core.tool import ToolKind
from infospace.data import result_identity as identity
from infospace.data.properties import Property
from infospace.journal.audit import AuditRow
from infospace.journal.origin import Origin, Product, Reading
from infospace.journal.queue_rows import QueuedRun
from infospace.journal.rows import Approve, CallRow, RunHead, RunRow, RunStats, StepRow, Use
from infospace.journal.schedule_rows import Schedule
from infospace.store.changes import Evidence, Linked
from infospace.store.note_fields import Field, fields_of
from infospace.store.protocol import (
    ChangedNotes,
    Chosen,
    Effect,
    Head,
    Lineage,
    NearestNotes,
    ResourceSummary,
    Rows,
    SpaceTable,
    Text,
    TrackedFile,
    Words,
)
from infospace.store.sqlite.codec import (
    COLLECTION,
    EVIDENCE,
    KINDS,
    NOTE,
    PLAIN,
    gone,
    id_of,
    key_of,
    keys_json,
    location_of,
    place_sql,
    read,
)
from infospace.store.sqlite.codec import run_of as run_id
from infospace.store.sqlite.connection import Connection, Row, ended
from infospace.store.sqlite.journal import approvals, audit, external_calls, queue, schedules, successful_calls, tools
from infospace.store.sqlite.journal import runs as journal
from infospace.store.sqlite.journal.tools import totals as tools_totals
from infospace.store.sqlite.read import (
    batches,
    fulltext,
    fulltext_check,
    provenance,
    run_summaries,
    summaries,
    tables,
    vectors,
)
from infospace.store.sqlite.read.fields import PATH, fields, titled
from infospace.store.sqlite.read.membership_cache import Membership
from infospace.store.sqlite.read.note_heads import heads
from infospace.store.sqlite.read.property_cache import PropertyCache
from infospace.store.sqlite.read.search_results import (
    arrow,
    reference_of,
    results,
    stored_reference,
    text_of_column,
)
from infospace.store.sqlite.transaction import whom
from infospace.store.sqlite.write import collection_texts, effects, files, settle_links
from infospace.store.sqlite.write.embeddings import DERIVED, chosen
from infospace.store.tool_records import StoredServer, StoredTool, SuccessfulCall, ToolUse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.expressions.query.preselect import ColumnTest

NOBODY = CreatedBy()

PAGE = 500
"""How many resources `listing` reads at a time."""

_COLUMNS = f"""key, version, form, name, kept, created, updated, run, step, made_by, metadata, content, deleted,
    {place_sql("resources")}"""

_GET = f"SELECT {_COLUMNS} FROM resources WHERE key = ?"

_EARLIER = f"""SELECT r.key, h.version, h.form, r.name, r.kept, r.created, h.updated, h.run, h.step, h.made_by,
    h.metadata, h.content, NULL, {place_sql("h")}
    FROM history h JOIN resources r USING (key) WHERE h.key = ? AND h.version = ?"""

_MANY = f"SELECT {_COLUMNS} FROM resources WHERE key IN (SELECT value FROM json_each(?))"

_RESULTS = f"""SELECT key, form, content FROM resources
    WHERE key IN (SELECT value FROM json_each(?)) AND form <> {PLAIN}"""

_OF_KIND = {
    True: "FROM resources WHERE (key & 3) = ? AND key > ? AND kept = 1 AND deleted IS NULL",
    False: "FROM resources WHERE (key & 3) = ? AND key > ? AND kept = 0 AND deleted IS NULL",
    None: "FROM resources WHERE (key & 3) = ? AND key > ? AND deleted IS NULL",
}


class SqliteSnapshot:
    """Implements `Snapshot`; good while the `with store.reading()` that gave it lasts.

    Resources are read here; what discovery, provenance, the journal and the servers of tools ask is answered by the
    functions of modules of their own.
    """

    __slots__ = ("_connection", "_membership", "_properties", "generation")

    def __init__(self, connection: Connection, membership: Membership, properties: PropertyCache) -> None:
        self._connection = connection
        self._membership = membership
        self._properties = properties
        # The first query of a read transaction fixes what all of them see: the generation is that of what is read.
        self.generation: int = connection.value("SELECT value FROM state WHERE key = 'generation'")

    def end(self) -> None:
        """Answer nothing any more: the connection is another reader's now."""
        self._connection = ended(self._connection.address)

    # Resources

    def get(self, identifier: str, version: int | None = None) -> Resource:
        """Return a resource. At a version given, also one that was deleted."""
        key = key_of(identifier)
        row = self._connection.fetch_one(_GET, (key,))
        if row is None:
            return self._of_batch(identifier, key, version)
        if version is None and row[12] is not None:
            raise self._deleted(identifier)
        if version is not None and version != row[1]:
            latest = row[1]
            row = self._connection.fetch_one(_EARLIER, (key, version))
            if row is None:
                raise NotFound(f"{identifier} has no version {version}", hint=f"it has versions 1 to {latest}")
        return self._resource(row)

    def _of_batch(self, identifier: str, key: int, version: int | None) -> Note:
        """Return a Note of a batch, which has one version."""
        note = batches.note(self._connection, key >> 2) if key & 3 == NOTE else None
        if note is None:
            raise gone(identifier)
        if version not in (None, 1):
            raise NotFound(f"{identifier} has no version {version}", hint="it has versions 1 to 1")
        return note

    def get_many(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return several current resources."""
        keys = [key_of(identifier) for identifier in identifiers]
        results = {row[0]: row for row in self._connection.all(_MANY, (keys_json(keys),)) if row[12] is None}
        read_once: dict[int, Resource] = dict(zip(results, self._resources(list(results.values())), strict=True))
        others = [key >> 2 for key in keys if key & 3 == NOTE and key not in results]
        read_once |= {number * 4: note for number, note in batches.notes(self._connection, others).items()}
        for identifier, key in zip(identifiers, keys, strict=True):
            if key not in read_once:
                raise self._deleted(identifier)
        return [read_once[key] for key in keys]

    def notes(self, numbers: Sequence[int]) -> Sequence[Note]:
        """Return current Notes by their numbers."""
        together = batches.notes_in_order(self._connection, numbers)
        if together is not None:
            return together
        results = batches.notes(self._connection, numbers)
        others = [number for number in numbers if number not in results]
        if others:
            rest = cast("list[Note]", self.get_many([f"Note_{number}" for number in others]))
            results |= zip(others, rest, strict=True)
        return [results[number] for number in numbers]

    def _deleted(self, identifier: str) -> NotFound:
        sql = "SELECT deleted, deleted_run, deleted_step, deleted_by FROM resources WHERE key = ?"
        row = self._connection.fetch_one(sql, (key_of(identifier),))
        return gone(identifier) if row is None else gone(identifier, row[0], whom(*row[1:]))

    def _resources(self, rows: Sequence[Row]) -> list[Resource]:
        """Several resources; the sources of search results are read together."""
        address = self._connection.address
        references = {row[0]: stored_reference(row[11], address) for row in rows if row[2] == EVIDENCE}
        contents = dict(zip(references, results(self._connection, list(references.values())), strict=True))
        return [self._resource(row, contents.get(row[0])) for row in timed_if_many(rows)]

    def _resource(self, row: Row, evidence: SearchResult | None = None) -> Resource:
        key, version, form, content = row[0], row[1], row[2], row[11]
        connection = self._connection
        head = _head(row, connection.address)
        kind = key & 3
        if kind == NOTE:
            value: Any = evidence or (
                self._evidence(content) if form == EVIDENCE else read(content, connection.address)
            )
            return Note(content=value, evidence=form != PLAIN, **head)
        if kind == COLLECTION:
            return Collection(members=self._membership.of(connection, key, version), **head)
        head.update(arrow(connection, key))
        return Relation(**head)

    def _evidence(self, content: str) -> SearchResult:
        return results(self._connection, [stored_reference(content, self._connection.address)])[0]

    def identities(self, identifiers: Sequence[str]) -> list[str]:
        """Return what resources count as in sets."""
        notes = [int(identifier[5:]) * 4 for identifier in identifiers if identifier.startswith("Note_")]
        rows = self._connection.all(_RESULTS, (keys_json(notes),)) if notes else []
        if not rows:
            return list(identifiers)
        results = {id_of(key): self._identity(key, form, content) for key, form, content in rows}
        return [results.get(identifier, identifier) for identifier in identifiers]

    def _identity(self, key: int, form: int, content: str | None) -> str:
        if form != EVIDENCE:
            return identity.of_own_evidence(id_of(key), read(content, self._connection.address))
        results = stored_reference(content, self._connection.address)
        return identity.of_evidence(id_of(results.source), results.start, results.end, passage=results.passage)

    def versions(self, identifier: str) -> list[tuple[int, str]]:
        """Return version numbers with their times; of a deleted resource too."""
        key = key_of(identifier)
        results: list[tuple[int, str]] = [
            (version, updated)
            for version, updated in self._connection.all(
                """SELECT version, updated FROM history WHERE key = ?1
                UNION ALL SELECT version, updated FROM resources WHERE key = ?1 ORDER BY version""",
                (key,),
            )
        ]
        if not results:
            return [(1, self._of_batch(identifier, key, None).created)]
        return results

    def named(self, name: str) -> str | None:
        """Return the id of the holder of a name, which is compared in NFC."""
        key = self._connection.value("SELECT key FROM resources WHERE name = ?", (normalise(name),))
        return None if key is None else id_of(key)

    def names(self) -> list[str]:
        """Return all names, by code point."""
        return [
            name for (name,) in self._connection.all("SELECT name FROM resources WHERE name IS NOT NULL ORDER BY name")
        ]

    def relations(
        self, *, source: str | None = None, target: str | None = None, relation: str | None = None
    ) -> list[str]:
        """Return the ids of Relations by number; without any argument, of all."""
        conditions = ["deleted IS NULL"]
        values: list[object] = []
        ends = (("source", source and key_of(source)), ("target", target and key_of(target)), ("relation", relation))
        for column, value in ends:
            if value is not None:
                conditions.append(f"relations.{column} = ?")
                values.append(value)
        sql = f"SELECT key FROM relations JOIN resources USING (key) WHERE {' AND '.join(conditions)} ORDER BY key"
        return [id_of(key) for (key,) in self._connection.all(sql, values)]

    def listing(
        self, kind: Kind, *, kept: bool | None = True, after: int = 0, limit: int | None = None
    ) -> Iterator[Resource]:
        """Iterate over the resources of a kind, read by the page."""
        code, above = KINDS.index(kind), after * 4 + 3
        while limit is None or limit > 0:
            page = PAGE if limit is None else min(PAGE, limit)
            rows = self._connection.all(f"SELECT {_COLUMNS} {_OF_KIND[kept]} ORDER BY key LIMIT ?", (code, above, page))
            resources = self._resources(rows)
            if code == NOTE and kept is not True:
                resources = [*resources, *batches.listed(self._connection, above >> 2, page)]
                resources = sorted(resources, key=lambda one: key_of(one.id))[:page]
            yield from resources
            if len(resources) < page:
                return
            above = key_of(resources[-1].id)
            limit = None if limit is None else limit - page

    def count(self, kind: Kind, *, kept: bool | None = True) -> int:
        """Count resources of a kind."""
        counted: int = self._connection.value(f"SELECT count(*) {_OF_KIND[kept]}", (KINDS.index(kind), 0))
        return counted + (batches.count(self._connection) if kind is Kind.NOTE and kept is not True else 0)

    def numbers(self, kind: Kind, *, kept: bool | None = True) -> NDArray[np.int64]:
        """Return the numbers of the resources of a kind."""
        sql = f"SELECT key >> 2 {_OF_KIND[kept]} ORDER BY key"
        besides = batches.every_number(self._connection) if kind is Kind.NOTE and kept is not True else ()
        return summaries.numbers(self._connection, sql, KINDS.index(kind), besides)

    def briefs(self, identifiers: Sequence[str]) -> list[ResourceSummary]:
        """Return what a list shows of resources."""
        return summaries.briefs(self._connection, identifiers)

    def identity(self) -> str:
        """Return what tells this space from every other."""
        result: str = self._connection.value("SELECT value FROM state WHERE key = 'space'")
        return result

    # Files and runs

    def tracked(self, root: str | None = None) -> list[TrackedFile]:
        """Return imported files by root, path and part."""
        return files.tracked(self._connection, root)

    def removed_files(self) -> list[TrackedFile]:
        """Return the files of Notes that were deleted by hand or by a step."""
        return files.removed(self._connection)

    def unsettled_links(self, notes: abc.Collection[str]) -> set[str]:
        """Return those Notes with links that lead to no file, and of which nothing says what else they lead to."""
        return settle_links.unsettled(self._connection, notes)

    def links(self, note: str | None = None) -> dict[str, list[Linked]]:
        """Return the links of imported files by the id of their Note."""
        return files.links(self._connection, note)

    def effects(self, run: str) -> list[Effect]:
        """Return what a run did besides making versions."""
        return effects.effects(self._connection, run)

    def lineages(self, run: str) -> list[Lineage]:
        """Return the resources that a run made, changed or affected."""
        return effects.lineages(self._connection, run)

    def holders(self, identifiers: Sequence[str]) -> list[tuple[str, str]]:
        """Return pairs of a resource and of the living Collection or Relation that holds it."""
        return effects.holders(self._connection, identifiers)

    def run(self, identifier: str) -> RunRow:
        """Return the row of a run. Raises NotFound."""
        return journal.run(self._connection, identifier)

    def runs(self, *, limit: int | None = None, before: int | None = None) -> list[RunRow]:
        """Return runs, latest first."""
        return journal.runs(self._connection, limit, before)

    def run_heads(self) -> list[RunHead]:
        """Return all runs at a glance."""
        return run_summaries.run_heads(self._connection)

    def run_stats(self, runs: Sequence[str]) -> dict[str, RunStats]:
        """Return how far runs are."""
        return run_summaries.run_stats(self._connection, runs)

    def runs_containing(self, text: str) -> set[str]:
        """Return the runs that have a text in them."""
        return run_summaries.runs_containing(self._connection, text)

    def queued(
        self, due: str | None = None, limit: int | None = None, *, names: Sequence[str] = (), skip: int = 0
    ) -> list[QueuedRun]:
        """Return the runs that wait for a worker."""
        return queue.queued(self._connection, due, limit, names, skip)

    def queue_limits(self) -> dict[str, int]:
        """Return how many runs of a queue may go on at once."""
        return queue.limits(self._connection)

    def schedules(self, due: str | None = None) -> list[Schedule]:
        """Return the schedules."""
        return schedules.schedules(self._connection, due)

    def step_extra(self, run: str, step: str) -> dict[str, JSON] | None:
        """Return the `extra` of a step that succeeded."""
        return journal.step_extra(self._connection, run, step)

    def steps(self, run: str) -> list[StepRow]:
        """Return a run's steps."""
        return journal.steps(self._connection, run)

    def answers(self, run: str) -> dict[str, JSON]:
        """Return what was answered to the steps of a run, by position."""
        return journal.answers(self._connection, run)

    def approvals(self, run: str | None = None) -> list[Approve]:
        """Return which tools may be called without asking."""
        return approvals.approvals(self._connection, run)

    def audit(self, limit: int | None = None) -> list[AuditRow]:
        """Return who did what through a door, latest first."""
        return audit.rows(self._connection, limit)

    def calls(self, run: str) -> list[CallRow]:
        """Return a run's calls of what is outside."""
        return external_calls.calls(self._connection, run)

    # Discovery

    def discoverable(self, numbers: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Return the numbers of the Notes that discovery searches."""
        return vectors.discoverable(self._connection, numbers)

    def discoverable_count(self) -> int:
        """Count the Notes that discovery searches."""
        return self._properties.discoverable_count(self._connection, self.generation)

    def searchable(self) -> bool:
        """Whether there is any Note that discovery searches."""
        return bool(self._connection.value("SELECT EXISTS (SELECT 1 FROM resources WHERE found = 1)"))

    def rows(self, model: str, numbers: Iterable[int] | None = None) -> Rows:
        """Return embedded passages; of a model without any vector the dimension is 0."""
        return vectors.rows(self._connection, model, numbers)

    def nearest(self, model: str, query: NDArray[np.float32], limit: int) -> NearestNotes | None:
        """Return what an index of the engine thinks nearest. SQLite knows no vectors: None."""
        compare = self._connection.vector_rows
        return None if compare is None else compare.nearest(model, query, limit)

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
        """Return the Notes from a threshold on. SQLite knows no vectors: None, and whoever searches reads the rows."""
        compare = self._connection.vector_rows
        if compare is None:
            return None
        return compare.above(model, query, threshold, limit=limit, numbers=numbers, excluding=excluding)

    def digests(self, numbers: Iterable[int]) -> list[tuple[int, int, int, bytes]]:
        """Return what the passages of Notes say they are."""
        return vectors.digests(self._connection, numbers)

    def moved(self, generation: int) -> ChangedNotes:
        """Return what changed after a generation; a generation of another space is not complete."""
        return vectors.moved(self._connection, generation, self.generation)

    def pending(self, limit: int | None = None, *, among: Sequence[int] | None = None) -> list[Text]:
        """Return Notes to be embedded with their text."""
        rows = self._connection.all(
            f"""SELECT key, version, content, metadata, {PATH} FROM pending JOIN resources ON key = note * 4
            WHERE ?1 IS NULL OR note IN (SELECT value FROM json_each(?1)) ORDER BY note LIMIT ?2""",
            (None if among is None else keys_json(among), -1 if limit is None else limit),
        )
        address = self._connection.address
        return [
            Text(
                id_of(key),
                version,
                text_of_column(content, address)[0],
                fields_of(read(metadata, address), titled(content, address), path),
            )
            for key, version, content, metadata, path in rows
        ]

    def fields(self, numbers: Iterable[int]) -> dict[int, list[Field]]:
        """Return the fields of Notes as they are now."""
        return fields(self._connection, numbers)

    def pending_sizes(self) -> list[tuple[int, int]]:
        """Return the Notes to be embedded with the lengths of their contents."""
        sql = "SELECT note, coalesce(length(content), 0) FROM pending JOIN resources ON key = note * 4 ORDER BY note"
        return [(note, size) for note, size in self._connection.all(sql)]

    def pending_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of the Notes to be embedded."""
        return vectors.column(self._connection.all("SELECT note FROM pending ORDER BY note"))

    def pending_count(self) -> int:
        """Count the Notes to be embedded."""
        counted: int = self._connection.value("SELECT count(*) FROM pending")
        return counted

    def current(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the versions of Notes."""
        return vectors.current(self._connection, numbers)

    def derived(self, name: str) -> str | None:
        """Return the token of the latest derived file of a name."""
        result: str | None = self._connection.value("SELECT value FROM state WHERE key = ?", (f"{DERIVED}{name}",))
        return result

    def heads(self, numbers: Iterable[int] | None = None, *, text: bool = False, own: bool = False) -> Iterator[Head]:
        """Iterate over what conditions read of discoverable Notes."""
        return heads(self._connection, numbers, text=text, own=own)

    def properties(self) -> abc.Mapping[str, Property]:
        """Return the properties of discoverable Notes, those that most have first."""
        return self._properties.of(self._connection, self.generation)

    def keyword_matches(self, query: str, among: abc.Collection[int] | None = None) -> Words:
        """Return the discoverable Notes that have one of a query's words."""
        return fulltext.search(self._connection, query, among)

    def words_in(self, query: str, texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Return what each word of a query adds to the BM25 of given texts among themselves."""
        return fulltext.score(query, texts)

    def wording(self, tell: Callable[[int, int], None]) -> Iterator[tuple[int | None, str]]:
        """Give what is wrong with the full text."""
        return fulltext_check.differences(self._connection, tell)

    def collections(self) -> int:
        """Count the Collections that can be found."""
        return collection_texts.count(self._connection)

    def undescribed(self, model: str) -> list[Text]:
        """Return the Collections whose passages are not known, with their text."""
        return collection_texts.undescribed(self._connection, model)

    def described(self, model: str) -> Rows:
        """Return the embedded passages of Collections' texts."""
        return collection_texts.rows(self._connection, model)

    def fitting(
        self, words_used: Sequence[str], texts: Sequence[str], among: abc.Collection[int] | None = None
    ) -> NDArray[np.float64]:
        """Return how well stretches of Notes fit words that were looked for."""
        return fulltext.fitting(self._connection, words_used, texts, among)

    def evidence(self, evidence: Sequence[Evidence]) -> list[SearchResult]:
        """Return the contents of search results; their sources may have been deleted since."""
        return results(self._connection, [reference_of(one) for one in evidence])

    def model(self) -> str | None:
        """Return the key of the present model."""
        result: str | None = self._connection.value("SELECT value FROM state WHERE key = 'model'")
        return result

    def chosen(self) -> Chosen | None:
        """Return the model that the space was told to use."""
        return chosen(self._connection)

    def known_vectors(self, model: str, digests: Sequence[bytes]) -> set[bytes]:
        """Return which digests have a vector."""
        return vectors.known_vectors(self._connection, model, digests)

    def vectors(self, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of those of the digests that have one."""
        return vectors.by_digest(self._connection, model, digests)

    def query(self, model: str, digest: bytes) -> NDArray[np.float32] | None:
        """Return the remembered vector of a query."""
        return vectors.query(self._connection, model, digest)

    def queries(self, model: str, limit: int) -> NDArray[np.float32]:
        """Return the vectors of the latest queries that are remembered."""
        return vectors.queries(self._connection, model, limit)

    # The space's own tables

    @staticmethod
    def testable(name: str) -> frozenset[str]:
        """Return the columns of a table by which its rows can be chosen."""
        return tables.testable(name)

    def space_table(
        self,
        name: str,
        tests: Iterable[ColumnTest],
        among: Iterable[tuple[str, abc.Collection[int]]],
        seen: abc.Collection[int] | None = None,
    ) -> SpaceTable:
        """Return rows of one of the space's own tables."""
        return tables.SqliteTable(self._connection, name, tests, among, seen)

    # Provenance

    def origins(self, versions: Sequence[Use]) -> list[Origin]:
        """Return where versions of resources came from, in the given order."""
        return provenance.origins(self._connection, versions)

    def readings(self, identifiers: Iterable[str]) -> list[Reading]:
        """Return the steps that read any version of resources."""
        return provenance.readings(self._connection, identifiers)

    def citing(self, identifiers: Iterable[str]) -> list[Use]:
        """Return the search results that refer to any version of resources, deleted ones too."""
        return provenance.citing(self._connection, identifiers)

    def products(self, runs: Iterable[str]) -> list[Product]:
        """Return the versions that runs made."""
        return provenance.products(self._connection, runs)

    def created_by_steps(self) -> list[Use]:
        """Return the kept resources that a step made or anybody changed, search results apart."""
        return provenance.created_by_steps(self._connection)

    # Servers of tools

    def tools_generation(self) -> int:
        """Return how many commits changed servers, tools or sources."""
        return tools.generation(self._connection)

    def tool_sources(self) -> list[str]:
        """Return the remembered paths of `mcp.json` files."""
        return tools.sources(self._connection)

    def servers(self) -> list[StoredServer]:
        """Return the servers that are known."""
        return tools.servers(self._connection)

    def tools(self, server: str | None = None) -> list[StoredTool]:
        """Return what servers list."""
        return tools.list_tools(self._connection, server)

    def tool(self, server: str, name: str, kind: ToolKind = "tool") -> StoredTool | None:
        """Return one tool, prompt or resource."""
        return tools.find(self._connection, server, name, kind)

    def tool_by_id(self, identifier: str) -> StoredTool | None:
        """Return the tool with an id."""
        number = identifier.removeprefix("tool_")
        is_known = number.isascii() and number.isdecimal() and len(number) <= 18 and identifier == f"tool_{int(number)}"
        return tools.by_number(self._connection, int(number)) if is_known else None

    def tool_counts(self) -> dict[tuple[str, ToolKind], int]:
        """Return how much each server lists."""
        return tools.counts(self._connection)

    def tool_uses(self, server: str | None = None, name: str | None = None) -> list[ToolUse]:
        """Return how calls of tools went."""
        return tools.uses(self._connection, server, name)

    def tool_totals(self, tools: Sequence[tuple[str, str]] | None = None) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how often tools were called, and the share of calls that went well."""
        return tools_totals(self._connection, tools)

    def successful_calls_generation(self) -> int:
        """Return a number that is another one when other calls are remembered."""
        return successful_calls.generation(self._connection)

    def successful_calls(self, limit: int) -> list[SuccessfulCall]:
        """Return calls of tools that went well."""
        return successful_calls.successful_calls(self._connection, limit)

    def server_uses(self) -> list[ToolUse]:
        """Return how calls of the tools of each server went."""
        return tools.server_uses(self._connection)


def read_alone(connection: Connection, key: int, membership: Membership) -> Note | Collection | None:
    """Return what a single statement tells all of: a Note with content of its own, a Collection with known members.

    None for a key of anything else, or of nothing.
    """
    if key & 3 == COLLECTION and not membership.kept(key):
        return None
    row = connection.fetch_often(_GET, (key,))
    if row is None or row[12] is not None:
        return None
    if key & 3 == COLLECTION:
        members = membership.known(key, row[1])
        return None if members is None else Collection(members=members, **_head(row, connection.address))
    return (
        Note(content=read(row[11], connection.address), **_head(row, connection.address)) if row[2] == PLAIN else None
    )


def _head(row: Row, address: str) -> dict[str, Any]:
    """What every kind of resource has, of a row of `_COLUMNS`."""
    key, version, _, name, stored, created, updated, run, step, by, metadata, _, _, place = row
    return {
        "id": id_of(key),
        "metadata": {} if metadata is None else read(metadata, address),
        "name": name,
        "version": version,
        "created": created,
        "updated": updated,
        "kept": stored == 1,
        "created_by": CreatedBy(run_id(run), step, by) if run or by else NOBODY,
        "location": location_of(place),
    }
