"""A step's view of the space: what a primitive may see and do while one step runs.

What is made through it belongs to the run, is stamped with the step, and is committed together with the
step's journal row, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any, TypeVar, cast

from infospace.context.changes import PendingChanges
from infospace.context.content import content_of, text_of_resource
from infospace.context.scratch_ids import SCRATCH_IDS
from infospace.core import batch_notes
from infospace.core.batch_notes import BatchHead, BatchNote, NoteMembers, ReadNotes, ResultNotes, identifiers_of, picked
from infospace.core.bounds import Bounds, Room, Timed, characters_of, check_time, measure, measure_table, timed
from infospace.core.clock import now, today_and_now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind, is_id
from infospace.core.json_types import JSON
from infospace.core.listener import Listener, NullListener
from infospace.core.names import normalise, validate_name
from infospace.core.resources import (
    Collection,
    CreatedBy,
    ItemT,
    Member,
    Note,
    Relation,
    Resource,
    SearchResult,
)
from infospace.data.paths import did_you_mean
from infospace.data.result import PREVIEW, display_name, truncate
from infospace.journal.uses import ReadVersions
from infospace.store.called import only_note_called
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    Evidence,
    GiveName,
    JsonNull,
    Keep,
    MakeCollection,
    MakeNote,
    MakeNotes,
    MakeRelation,
    RemoveMembers,
    Revise,
    Unkeep,
)

if TYPE_CHECKING:
    from infospace.contract.arguments import BoundCondition
    from infospace.expressions import Clock
    from infospace.expressions.query.columns import Rows
    from infospace.expressions.query.parse import ParsedQuery
    from infospace.llm.meter import Meter
    from infospace.llm.model import Message, OnText
    from infospace.llm.prompts import Material
    from infospace.llm.structured_output import Check
    from infospace.schema.infer import Schema
    from infospace.search.query import Hit, Mode, SearchResults, Threshold
    from infospace.space import Space

ResultT = TypeVar("ResultT")
ResourceT = TypeVar("ResourceT", bound=Resource)

MOST_REMARKS = 3
"""Remarks that an answer's text has."""


class Context:
    """The space as one step sees it."""

    def __init__(
        self,
        space: Space,
        created_by: CreatedBy,
        listener: Listener | None = None,
        *,
        scratch: bool = False,
        drafts: PendingChanges | None = None,
    ) -> None:
        self.space = space
        self.created_by = created_by
        self.changes: list[Change] = []
        self.extra: dict[str, Any] = {}
        """Goes into the answer's `extra`."""
        self.remarks: list[str] = []
        """What the answer's text says of how it came about, beside what it is."""
        self.uses = ReadVersions()
        """Versions of the resources that were read."""
        self.timeout_s: float | None = None
        """Seconds that its step may take, where the step says so."""
        self.clock: Clock = today_and_now
        """The present day and moment, for expressions: those of its run."""
        self.room = Room(Bounds())
        """What its step may still make."""
        self.unwritten: Mapping[str, Note[Any]] = {}
        """Notes by id that earlier steps of its run have made, and the store does not have yet."""
        self._listener = listener or NullListener()
        self._drafts = drafts or PendingChanges()
        self._seen: dict[str, Note[Any]] = {}
        self._scratch = SCRATCH_IDS if scratch else None
        self.meter: Meter | None = None
        """Whoever runs several steps gives them one: what is asked again is not paid again. Else a view has its own."""

    # Making

    def note(self, content: JSON, *, metadata: Mapping[str, JSON] | None = None) -> Note[Any]:
        """Make a Note, transient until it is kept. Raises BudgetExceeded where the step may not make so much."""
        check_time()
        self.room.consume(1, characters_of(content) + (characters_of(metadata) if metadata else 0))
        at = now()
        result = Note(
            id=self._id(Kind.NOTE),
            content=content,
            metadata=metadata or {},
            created=at,
            updated=at,
            created_by=self.created_by,
        )
        self._drafts.made[result.id] = result
        self.changes.append(MakeNote(result.id, content, result.metadata, created_by=self.created_by))
        return result

    def make_notes(self, contents: Iterable[JSON], *, table: bool = False) -> Sequence[Note[Any]]:
        """Make a Note of each content, in order: `note` for many at once, which take less time and room together.

        Of a `table` the names of the columns count once among the characters that a step may make.
        """
        contents = contents if isinstance(contents, list) else list(timed(contents))
        if len(contents) < batch_notes.MANY:
            return [self.note(content) for content in contents]
        characters, plain = measure_table(contents) if table else measure(contents)
        self.room.consume(len(contents), characters)
        result = ResultNotes(BatchHead(now(), self.created_by), self._numbers(len(contents)), contents)
        self._drafts.batches.append(result)
        self.changes.append(MakeNotes(result.first, contents, self.created_by, plain))
        return result

    def search_result(self, hit: Hit) -> Member:
        """Make a search-result Note of a hit, by reference to its source; return its place in a Collection."""
        check_time()
        self.room.consume(1)
        identifier = self._id(Kind.NOTE)
        evidence = Evidence(hit.source, hit.version, hit.score, hit.start, hit.end, hit.extra, hit.passage)
        self._drafts.made[identifier] = evidence
        self.changes.append(MakeNote(identifier, evidence, created_by=self.created_by))
        return Member(identifier)

    def result(self, content: JSON) -> Member:
        """Make a search-result Note whose content is its own, such as a tool's; return its place in a Collection."""
        self.room.consume(1, characters_of(content))
        note: Note[Any] = Note(id=self._id(Kind.NOTE), content=content, created_by=self.created_by, evidence=True)
        self._drafts.made[note.id] = note
        self.changes.append(MakeNote(note.id, content, created_by=self.created_by, evidence=True))
        return Member(note.id)

    def collection(
        self, items: Iterable[Resource | Member] | Sequence[Member], *, metadata: Mapping[str, JSON] | None = None
    ) -> Collection[Any]:
        """Make a Collection of resources in this order, transient until it is kept."""
        at = now()
        members: Sequence[Member]
        if isinstance(items, ResultNotes):
            members = NoteMembers(items.numbers)
        elif isinstance(items, NoteMembers):
            members = items
        else:
            members = tuple(item if isinstance(item, Member) else Member(item.id) for item in timed(items))
        self.room.consume(1)
        self.room.require_members_fit(len(members))
        result: Collection[Any] = Collection(
            id=self._id(Kind.COLLECTION),
            members=members,
            metadata=metadata or {},
            created=at,
            updated=at,
            created_by=self.created_by,
        )
        self._drafts.made[result.id] = result
        self.changes.append(MakeCollection(result.id, members, result.metadata, created_by=self.created_by))
        return result

    def pick(self, collection: Collection[ItemT], places: Sequence[int]) -> Collection[ItemT]:
        """Make a Collection of the items at these places of another one (from 0), in the order of the places."""
        return self.collection(picked(collection.members, places))

    def relation(self, source: Resource, target: Resource, relation: str) -> Relation:
        """Make a Relation between two resources, transient until it is kept."""
        at = now()
        result = Relation(
            id=self._id(Kind.RELATION),
            source=source.id,
            target=target.id,
            relation=relation,
            created=at,
            updated=at,
            created_by=self.created_by,
        )
        self._drafts.made[result.id] = result
        self.changes.append(MakeRelation(result.id, result.source, result.target, relation, created_by=self.created_by))
        return result

    def keep(self, resource: Resource) -> None:
        """Keep a resource in place; of a Collection its members too. Idempotent."""
        self.changes.append(Keep(resource.id))

    def name(self, resource: Resource, name: str, *, replace: bool = False) -> Resource:
        """Name a resource, and so keep it; return what has the name then.

        A taken name is a Conflict when the step ends, unless `replace`: then a holder of the same kind gets the
        resource's content and metadata as its next version, and is what has the name; from another the name moves,
        and what nothing else holds is let go. A search result, and a Relation, stays what it is: the name moves.
        """
        holder = self._holder(validate_name(name)) if replace else None
        if holder is not None and holder.id != resource.id and _may_become(holder, resource):
            resource = self._become(holder, resource)
        self.changes.append(GiveName(resource.id, name, replace))
        self._drafts.names[normalise(name)] = resource.id
        return resource

    def _holder(self, name: str) -> Resource | None:
        """Return who has a name by now; reading it for that does not count as using it."""
        identifier = self._drafts.named(name)
        if identifier is None:
            with self.space.store.reading() as snapshot:
                identifier = snapshot.named(name)
        with suppress(NotFound):
            return None if identifier is None else self._glance([identifier])[0]
        return None

    def _become(self, holder: Resource, resource: Resource) -> Resource:
        """Let the holder of a name be what a resource is. What the run made just for that is let go."""
        if self.is_new(resource) and self._is_unreferenced(resource.id):
            self.changes = [change for change in self.changes if getattr(change, "id", None) != resource.id]
        else:
            self.changes = [change for change in self.changes if change != Keep(resource.id)]
            if resource.kept and resource.created_by.run == self.created_by.run is not None:
                self.changes.append(Unkeep(resource.id, if_free=True))
        return self.become(holder, resource)

    def _is_unreferenced(self, identifier: str) -> bool:
        """Whether nothing that the step makes or changes refers to a resource that it made."""
        return not any(
            identifier in (getattr(change, "source", None), getattr(change, "target", None))
            or any(getattr(member, "id", member) == identifier for member in getattr(change, "members", None) or ())
            for change in self.changes
        )

    def inner(self, created_by: CreatedBy) -> Context:
        """Return a view for a part of the step: it sees what was made and changed here, until it is merged."""
        scratch = self._scratch is not None
        context = type(self)(
            self.space, created_by, self._listener, scratch=scratch, drafts=PendingChanges(self._drafts)
        )
        context.meter = self.meter
        context.timeout_s = self.timeout_s
        context.room = self.room
        context.clock = self.clock
        context.unwritten = self.unwritten
        if self.meter is not None and self.meter.counterparts is not None:
            self.meter.counterparts.restart_step(created_by)
        return context

    def merge(self, other: Context) -> None:
        """Take over what was made through another view of the same step."""
        self.changes += other.changes
        self.remarks += other.remarks
        self._drafts.merge(other._drafts)
        self.uses.update(other.uses)

    def is_new(self, resource: Resource) -> bool:
        """Whether a resource was made through this view."""
        return self._drafts.has_made(resource.id)

    def _id(self, kind: Kind) -> str:
        if self._scratch is not None:
            return self._scratch.new_id(kind)
        identifier = self.space.store.new_id(kind)
        if self.meter is not None and self.meter.counterparts is not None:
            self.meter.counterparts.record_new_id(identifier, self.created_by)
        return identifier

    def _numbers(self, count: int) -> int:
        """Return the first of so many numbers of new Notes, which follow each other."""
        if self._scratch is not None:
            return self._scratch.new_numbers(count)
        first = self.space.store.new_numbers(Kind.NOTE, count)
        if self.meter is not None and self.meter.counterparts is not None:
            for number in range(first, first + count):
                self.meter.counterparts.record_new_id(f"{Kind.NOTE}_{number}", self.created_by)
        return first

    # Changing

    def revise(
        self,
        resource: ResourceT,
        *,
        content: JSON | JsonNull = None,
        metadata: Mapping[str, JSON] | None = None,
        if_version: int | None = None,
    ) -> ResourceT:
        """Give a resource new content or metadata in place, and return it so; None leaves a part as it is.

        Content that is JSON null is `JsonNull()`. Raises Conflict for another version than expected.
        """
        self._check(resource, if_version)
        self.changes.append(Revise(resource.id, content, metadata, if_version, self.created_by))
        parts: dict[str, Any] = {} if metadata is None else {"metadata": metadata}
        if content is not None:
            parts["content"] = None if isinstance(content, JsonNull) else content
        return self._is_now(with_changes(resource, **parts))

    def become(self, holder: Resource, resource: Resource) -> Resource:
        """Give a Note or a Collection what another one is as its next version, and return it so."""
        parts: dict[str, Any] = {"metadata": resource.metadata}
        if isinstance(resource, Collection):
            change = Revise(holder.id, metadata=resource.metadata, created_by=self.created_by, members=resource.members)
            parts["members"] = resource.members
        else:
            content: JSON | JsonNull = JsonNull() if resource.content is None else resource.content
            change = Revise(holder.id, content, resource.metadata, created_by=self.created_by)
            parts["content"] = resource.content
        self.changes.append(change)
        return self._is_now(with_changes(holder, **parts))

    def add(
        self, collection: Collection[Any], members: Sequence[Member], *, if_version: int | None = None
    ) -> Collection[Any]:
        """Put members at the end of a Collection in place, and return it so. None to add makes no version."""
        self._check(collection, if_version)
        self.changes.append(AddMembers(collection.id, members, if_version, self.created_by))
        if not members:
            return collection
        return self._is_now(with_changes(collection, members=(*collection.members, *members)))

    def take_out(
        self, collection: Collection[Any], members: Sequence[Member], *, if_version: int | None = None
    ) -> Collection[Any]:
        """Take members out of a Collection in place, and return it so. None to take out makes no version."""
        self._check(collection, if_version)
        going = {member.id for member in members}
        self.changes.append(RemoveMembers(collection.id, sorted(going), if_version, self.created_by))
        left = tuple(member for member in collection.members if member.id not in going)
        return self._is_now(with_changes(collection, members=left)) if going else collection

    def delete(self, resource: Resource, *, if_version: int | None = None) -> None:
        """Delete a resource, with the Relations that end there; Collections go on without it."""
        self._check(resource, if_version)
        self.changes.append(Delete(resource.id, self.created_by, if_version))
        self._drafts.changed[resource.id] = None

    def acted_on(self, resource: Resource) -> Resource:
        """Return what a change of a resource changes: of a search result its source. Invalid where it has none."""
        source = self.source(resource)
        if isinstance(source, Note) and source.evidence:
            raise Invalid(
                f"{resource.id} is evidence of a search among tools, which stays as it was found",
                hint="`create-note` makes a Note of its content",
            )
        return source

    def _check(self, resource: Resource, version: int | None) -> None:
        if version is not None and version != resource.version:
            raise Conflict(
                f"{resource.id} is at version {resource.version}, not {version}",
                hint="read it again; or leave `if_version` out to write all the same",
            )

    def _is_now(self, resource: ResourceT) -> ResourceT:
        after = with_changes(resource, version=resource.version + 1, updated=now(), created_by=self.created_by)
        self._drafts.changed[resource.id] = after
        return after

    # Reading

    def get(self, reference: str) -> Resource:
        """Return a resource by id or name; NotFound when there is none."""
        draft = self._drafts.find(reference)
        if draft is not None:
            return self._real(reference, draft)
        # Looked up once: it may be written meanwhile, where a step reads in a thread.
        resource: Resource | None = self.unwritten.get(reference)
        if resource is None:
            resource = self.space.store.get(reference) if is_id(reference) else self._named(reference)
        self.uses.add(resource.id, resource.version)
        return resource

    def get_by_title(self, reference: str) -> Resource:
        """Return a resource by id or name, else the one Note whose file, title or alias it is; NotFound for none."""
        try:
            return self.get(reference)
        except NotFound:
            if is_id(reference):
                raise
            with self.space.store.reading() as snapshot:
                identifier = only_note_called(snapshot, reference, exactly=True)
            if identifier is None:
                raise
        return self.get(identifier)

    def _named(self, name: str) -> Resource:
        with self.space.store.reading() as snapshot:
            identifier = snapshot.named(name)
            if identifier is None:
                raise NotFound(f"nothing here has the name {name!r}", hint=did_you_mean(name, snapshot.names(), None))
            draft = self._drafts.find(identifier)
            return snapshot.get(identifier) if draft is None else self._real(identifier, draft)

    def has(self, reference: str) -> bool:
        """Whether there is a resource of an id or a name; that does not count as using it."""
        try:
            draft = self._drafts.find(reference)
            with self.space.store.reading() as snapshot:
                if is_id(reference):
                    return draft is not None or reference in self.unwritten or snapshot.get(reference) is not None
                return snapshot.named(reference) is not None
        except NotFound:
            return False

    def items(self, collection: Collection[ItemT]) -> Sequence[Resource]:
        """Return a Collection's items as they are now, in order: many of them are made when they are gone through."""
        members = collection.members
        # A view that reads resources as they were at another time reads each of them its own way.
        as_stored = type(self).resources is Context.resources and self._drafts.empty and not self.unwritten
        if as_stored and isinstance(members, NoteMembers) and len(members) >= batch_notes.MANY:
            return self._notes(members.numbers)
        return self.resources(identifiers_of(members))

    def _notes(self, numbers: Sequence[int]) -> Sequence[Note[Any]]:
        """Return Notes by number, in order, of which this step has changed none."""
        check_time()
        with self.space.store.reading() as snapshot:
            results = snapshot.notes(numbers)
        if isinstance(results, ReadNotes):
            self.uses.add_notes(numbers)
            return results
        others = [note for note in results if not isinstance(note, BatchNote)]
        for note in others:
            self.uses.add(note.id, note.version)
        if not others:
            self.uses.add_notes(numbers)
        elif len(others) < len(results):
            pairs = zip(numbers, results, strict=True)
            self.uses.add_notes([number for number, note in pairs if isinstance(note, BatchNote)])
        return Timed(results)

    def resources(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return resources by id, in order; NotFound names the first that was deleted."""
        check_time()
        drafts = {i: draft for i in identifiers if (draft := self._drafts.find(i)) is not None}
        results: dict[str, Resource] = {}
        if self.unwritten:
            results = {i: note for i in identifiers if (note := self.unwritten.get(i)) is not None}
        stored = [identifier for identifier in identifiers if identifier not in drafts and identifier not in results]
        if stored:
            with self.space.store.reading() as snapshot:
                results |= zip(stored, snapshot.get_many(stored), strict=True)
        for resource in results.values():
            self.uses.add(resource.id, resource.version)
        self._read(drafts)
        return Timed([results[i] if i in results else self._real(i, drafts[i]) for i in identifiers])

    @contextmanager
    def tables(self, query: ParsedQuery, parameters: Mapping[str, Any]) -> Iterator[tuple[dict[str, Rows], int]]:
        """Open the space's own tables that a query reads, as far as it wants their rows, and their generation.

        They are of one read transaction, and good while it is open: none where the query reads none. The Notes whose
        rows are read are used.
        """
        from infospace.context.space_tables import open_tables

        check_time()
        if not query.tables:
            yield {}, 0
            return
        with self.space.store.reading() as snapshot:
            tables, used = open_tables(snapshot, query, parameters, self.clock)
            yield tables, snapshot.generation
            for identifier, version in used():
                self.uses.add(identifier, version)

    def source(self, resource: Resource) -> Resource:
        """Return the source of a search result, and any other resource itself; a tool has no source here."""
        if isinstance(resource, Note) and resource.evidence:
            source = cast("SearchResult", resource.content)["metadata"]["source_id"]
            return self.get(source) if is_id(source) else resource
        return resource

    def content(self, resource: Resource) -> JSON:
        """Return what a resource is as a value: a Note's JSON, a Collection's list of contents.

        A damaged space may have a Collection that contains itself: in the place of that stands a sentence. Raises
        Invalid where Collections are nested too deep.
        """
        return content_of(resource, self.items)

    def text(self, resource: Resource) -> str:
        """Return a resource's text: of a search result its `text`, of a Collection its items, a blank line between.

        Collections that contain themselves, or are nested too deep, are as `content` has them.
        """
        return text_of_resource(resource, self.items, self.joined)

    def joined(self, texts: Iterable[str], separator: str) -> str:
        """Return texts as one. Raises BudgetExceeded before it is made where the step may not make so long a text."""
        parts, characters = [], 0
        for text in timed(texts):
            characters += len(text) + len(separator)
            self.room.require_room(characters=characters - len(separator))
            parts.append(text)
        return separator.join(parts)

    def _real(self, identifier: str, draft: Resource | Evidence) -> Resource:
        if not isinstance(draft, Evidence):
            return draft
        self._read({identifier: draft})
        return self._seen[identifier]

    def _read(self, drafts: Mapping[str, Resource | Evidence]) -> None:
        """Read those of a step's search results that were not read before, at once."""
        unread = {i: draft for i, draft in drafts.items() if isinstance(draft, Evidence) and i not in self._seen}
        if not unread:
            return
        with self.space.store.reading() as snapshot:
            contents = snapshot.evidence(list(unread.values()))
        for identifier, content in zip(unread, contents, strict=True):
            self._seen[identifier] = Note(id=identifier, content=content, created_by=self.created_by, evidence=True)

    def _glance(self, identifiers: Sequence[str]) -> list[Resource]:
        """Resources to be shown: they do not count as used."""
        uses = self.uses.copy()
        try:
            return self.resources(identifiers)
        finally:
            self.uses = uses

    # Sets and Relations

    def identities(self, members: Sequence[Member]) -> list[str]:
        """Return what members count as in sets: a search result as its source, a passage as its stretch.

        A tool found counts as `server/tool`, any other resource as its id.
        """
        identifiers = [member.id for member in members]
        results = {} if self._drafts.empty else self._drafts.identities(identifiers)
        stored = [identifier for identifier in identifiers if identifier not in results] if results else identifiers
        if stored:
            with self.space.store.reading() as snapshot:
                identities = snapshot.identities(stored)
            if not results:
                return identities
            results |= dict(zip(stored, identities, strict=True))
        return [results[identifier] for identifier in identifiers]

    def relations(
        self, *, source: Resource | None = None, target: Resource | None = None, relation: str | None = None
    ) -> list[Relation]:
        """Return the Relations with these ends and label, by number: kept ones, and those of the same run."""
        with self.space.store.reading() as snapshot:
            identifiers = snapshot.relations(
                source=None if source is None else source.id,
                target=None if target is None else target.id,
                relation=relation,
            )
            stored = snapshot.get_many(identifiers)
        run = self.created_by.run
        results = [
            one for one in stored if isinstance(one, Relation) and (one.kept or (run and one.created_by.run == run))
        ]
        for one in results:
            self.uses.add(one.id, one.version)
        return results

    # Asking a language model

    def material(self, resource: Resource) -> list[Material]:
        """Return a resource as material for a prompt: id and whole text; of a Collection those of each item, once.

        A search result has the id of its source, which stays; one with content of its own has its own.
        """
        if isinstance(resource, Collection):
            return list(dict.fromkeys((_cited(item), self.text(item)) for item in self.items(resource)))
        return [(_cited(resource), self.text(resource))]

    async def ask_model(
        self,
        prompt: str | Sequence[Message],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        check: Check | None = None,
        model: str | None = None,
        plans: bool = False,
        constraint: Schema | None = None,
        on_text: OnText | None = None,
    ) -> JSON:
        """Ask the language model: one message, or a conversation. Returns a text, or with `schema` JSON that fits it.

        `model` names another one at the same endpoint; `plans` asks the one that writes plans. `on_text` is handed the
        answer piece by piece as it comes. `constraint` is a schema that endpoints hold the answer to where they can;
        it is neither told in words nor checked, and a text is returned.

        `max_tokens` bounds the answer, which is never cut: a longer one is a failure. `check` says in sentences what
        else is wrong with an answer; a wrong one is asked for once more, with what is wrong. Equal questions of one
        run are asked once, and with a cache of answers those of all runs. `extra.llm` counts the calls, tokens and
        cached answers of this step, and names the model.

        Raises NotConfigured, Unreachable, RequestRejected, BadResponse (LanguageModelError all), BudgetExceeded, and
        Invalid where `schema` is none.
        """
        from infospace.llm.meter import Meter
        from infospace.llm.structured_output import StructuredClient

        if self.meter is None:
            self.meter = Meter()
        messages: Sequence[Message] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        questions = StructuredClient(self.space.model_for(model, plans=plans), self.meter, self.created_by, on_text)
        try:
            if constraint is not None:
                return await questions.ask_freely(messages, constraint)
            return await questions.ask(messages, schema, max_tokens, check)
        finally:
            value = self.extra.setdefault("llm", {"model": questions.model.name, "calls": 0, "tokens": 0})
            value["calls"] += questions.calls
            value["tokens"] += questions.tokens
            if questions.cached:
                value["cached"] = value.get("cached", 0) + questions.cached

    # Finding

    async def discover(
        self,
        query: str | None,
        *,
        limit: int | None,
        threshold: Threshold | None = None,
        mode: Mode = "semantic",
        where: BoundCondition | None = None,
        within: Collection[Any] | None = None,
        certify: bool = False,
    ) -> SearchResults:
        """Search the kept Notes, or choose among them without a query; `limit` None for all."""
        from infospace.search.note_filter import numbers_within
        from infospace.search.query import SearchQuery

        numbers = None if within is None else numbers_within(self.items(within), self.resources)
        search_query = SearchQuery(query, limit, threshold, mode, where, numbers, certify)
        return await self.space.search.discover(search_query, self._listener)

    async def run_search(self, search: Callable[[Space, Listener], ResultT]) -> ResultT:
        """Let a search of its own kind run beside the loop; it is told of the space and of who listens."""
        import asyncio

        return await asyncio.to_thread(search, self.space, self._listener)

    # Talking

    def say(self, text: str) -> None:
        """Say something to the user."""
        self._listener.message("say", text)

    def think(self, text: str) -> None:
        """Put something into the run's context for later planning turns."""
        self._listener.message("think", text)

    def draft(self, text: str) -> None:
        """Show a piece of what a model is writing, as it comes."""
        self._listener.message("draft", text)

    def log(self, text: str) -> None:
        """Hand on what another program tells for a log; it is neither said to the user nor kept."""
        self._listener.message("log", text)

    def progress(self, done: int, total: int, what: str) -> None:
        """Tell how far long work has come."""
        self._listener.progress(done, total, what)

    def remark(self, text: str) -> None:
        """Say in the answer's text what a reader is to know of how it came about; "" is nothing."""
        if text:
            self.remarks.append(text)

    def answer(self, resource: Resource) -> str:
        """Return the preview of what a step gives, with what was remarked."""
        text = "; ".join(list(dict.fromkeys(self.remarks))[:MOST_REMARKS])
        return self.preview(resource, f" ({truncate(text, PREVIEW // 2)})" if text else "")

    def preview(self, resource: Resource, remark: str = "") -> str:
        """Return at most 500 characters for reading, which say when they are cut; a remark is not cut."""
        if not isinstance(resource, Collection):
            return truncate(self.text(resource), PREVIEW - len(remark)) + remark
        count = len(resource)
        first = self._glance([member.id for member in resource.members[:8]])
        kinds = {item.kind for item in first}
        noun = kinds.pop().lower() if len(kinds) == 1 and count <= len(first) else "item"
        listed = "; ".join(display_name(item) for item in first)
        more = f"; … and {count - len(first):,} more" if count > len(first) else ""
        head = f"{count:,} {noun}{'' if count == 1 else 's'}{remark}"
        return truncate(head + (f": {listed}{more}" if first else ""))


def _may_become(holder: Resource, resource: Resource) -> bool:
    """Whether a holder can be given what a resource is, as its next version."""
    if isinstance(holder, Note) and isinstance(resource, Note):
        return not (holder.evidence or resource.evidence)
    return isinstance(holder, Collection) and isinstance(resource, Collection)


def _cited(resource: Resource) -> str:
    if isinstance(resource, Note) and resource.evidence and isinstance(resource.content, Mapping):
        metadata = resource.content.get("metadata")
        source = metadata.get("source_id") if isinstance(metadata, Mapping) else None
        if isinstance(source, str) and is_id(source):
            return source
    return resource.id
