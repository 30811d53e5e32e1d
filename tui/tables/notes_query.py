"""What the place Notes lists: everything of a kind, what a search finds, what is stale. For threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from infospace.core.errors import Invalid
from infospace.core.ids import Kind, kind_of, number_of
from infospace.core.plural import pluralize
from infospace.data.result import LABEL
from infospace.data.titles import beginning
from infospace.search.query import SearchQuery
from tui.tables.note_places import NotePlaces, NotesFilter, read_places
from tui.tables.task_rows import Task, all_tasks
from tui.text.format import preview_as_prose, single_line
from tui.text.render import format_certificate

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.search.certainty.judging import RecallSample
    from infospace.search.query import Hit, Mode, SearchResults
    from infospace.space import Space
    from infospace.store.protocol import ResourceSummary, Snapshot

What = Literal["notes", "all notes", "collections", "relations", "stale", "tasks"]
"""`notes` are the kept ones, `all notes` also what runs made and nobody kept."""

WHAT: tuple[What, ...] = ("notes", "all notes", "collections", "relations", "stale", "tasks")
MODES: tuple[Mode, ...] = ("semantic", "keyword", "hybrid")

MAX_HITS = 200
"""Hits that are listed at first."""
LOOKED_AT = 50
"""Notes that are looked at to learn whether they have paths, at the top and further down."""
CHUNK = 2_000
"""Resources that are read at a time when all are looked through."""

EVERYWHERE = NotesFilter()

_KINDS = {"collections": Kind.COLLECTION, "relations": Kind.RELATION}


@dataclass(frozen=True, slots=True)
class NotesQuery:
    """What is to be listed. `threshold` None is the model's own."""

    what: What = "notes"
    query: str = ""
    mode: Mode = "semantic"
    threshold: float | None = None
    most: int = MAX_HITS
    within: NotesFilter = EVERYWHERE
    """The folder and the tag whose notes are listed; Collections and Relations lie in none."""

    @property
    def filter(self) -> NotesFilter:
        """The folder and the tag that count."""
        return self.within if self.what in ("notes", "all notes", "tasks") else NotesFilter()

    @property
    def kind(self) -> Kind:
        """The kind that is listed; what is stale may be of any."""
        return _KINDS.get(self.what, Kind.NOTE)

    @property
    def kept(self) -> bool | None:
        """Whether only what is kept is listed."""
        return True if self.what in ("notes", "tasks") else None

    @property
    def how(self) -> Mode | None:
        """How it is searched: Relations, notes that nobody kept and what is stale by the words that are typed."""
        if not self.query.strip():
            return None
        if self.what == "notes":
            return self.mode
        return "semantic" if self.what == "collections" and self.mode == "semantic" else "keyword"

    @property
    def scored(self) -> bool:
        """Whether a threshold counts."""
        return self.how in ("semantic", "hybrid")

    @property
    def subject(self) -> tuple[object, ...]:
        """What tells one list from another, however it is searched."""
        return self.query, self.what, self.filter


@dataclass(frozen=True, slots=True, eq=False)
class NotesList:
    """Ids, what is remarked about some of them, hits where it was a search, and what is said of it all.

    `matched` is how many there are, also where fewer are listed; `threshold` is the one that was used, and
    `words` are those that were looked for.
    """

    sought: NotesQuery
    ids: Sequence[str]
    message: str
    matched: int
    remarks: dict[str, str] = field(default_factory=dict)
    hits: dict[str, Hit] = field(default_factory=dict)
    threshold: float | None = None
    words: Sequence[str] = ()
    tasks: Sequence[Task] = ()
    """The tasks, where these are listed: `ids` are their keys."""
    places: NotePlaces | None = None
    """Where the notes lie, as far as it was read; given back to the next search."""
    filed: bool = False
    """Whether notes that are listed came from files, and so have paths."""

    @property
    def is_sortable(self) -> bool:
        """Whether it has no order of its own."""
        return not self.hits and self.sought.what not in ("stale", "tasks")


def run_notes_query(space: Space, sought: NotesQuery, listener: Listener, known: NotePlaces | None = None) -> NotesList:
    """Return what is to be listed. `known` is where the notes lay when that was read last."""
    places, chosen = _read_chosen(space, sought, known)
    notes = _run(space, sought, listener, chosen)
    with space.store.reading() as snapshot:
        filed = sought.what in ("notes", "all notes") and _are_filed(snapshot, notes.ids)
    return replace(notes, places=places, filed=filed)


def _read_chosen(
    space: Space, sought: NotesQuery, known: NotePlaces | None
) -> tuple[NotePlaces | None, set[int] | None]:
    """Return where the notes lie, as far as it is read, and the numbers of those that are meant, None for all."""
    if not sought.filter:
        return known, None
    with space.store.reading() as snapshot:
        places = read_places(snapshot, known)
    return places, places.within(sought.filter)


def draw_recall_sample(
    space: Space, sought: NotesQuery, listener: Listener, known: NotePlaces | None = None
) -> RecallSample:
    """Draw all notes, in an order of chance, of which the first are to be judged to estimate what the search misses.

    Raises Invalid where it is no search of the kept notes.
    """
    from infospace.search.certainty.judging import draw_sample

    if sought.what != "notes" or sought.how is None:
        hint = "type what to look for; where other things are listed, v goes on to the notes"
        raise Invalid("only a search of notes can miss some", hint=hint)
    _, chosen = _read_chosen(space, sought, known)
    return draw_sample(space.search, _as_search(sought, chosen), None, listener)


def explain_hit(space: Space, listed: NotesList, identifier: str) -> str:
    """Say what the score of a hit is made of; empty for what no search found, or found among Collections."""
    from infospace.search.explain import explain
    from tui.text.render import format_explanation

    sought, hit = listed.sought, listed.hits.get(identifier)
    if sought.how is None or hit is None or kind_of(identifier) is not Kind.NOTE:
        return ""
    (explained,) = explain(space, sought.query, [identifier], listed.words, sought.how)
    return f"score {hit.score or 0.0:.3f}; {format_explanation(explained.to_json(sought.how))}"


def _are_filed(snapshot: Snapshot, ids: Sequence[str]) -> bool:
    """Whether notes came from files: of many the first ones, and some of the others, are looked at."""
    some = [*ids[:LOOKED_AT], *ids[LOOKED_AT :: max(1, len(ids) // LOOKED_AT)]]
    return any(brief.location is not None for brief in existing_summaries(snapshot, some))


def _run(space: Space, sought: NotesQuery, listener: Listener, chosen: set[int] | None) -> NotesList:
    if sought.what == "stale":
        return _stale(space, sought)
    if sought.what == "tasks":
        return _tasks(space, sought, chosen)
    if sought.how is None:
        with space.store.reading() as snapshot:
            ids = Ids(sought.kind, _among(snapshot.numbers(sought.kind, kept=sought.kept), chosen))
        return NotesList(sought, ids, _counted(len(ids), sought), len(ids))
    if sought.what == "notes" or (sought.what == "collections" and sought.scored):
        return _searched(space, sought, listener, chosen)
    return _word_search(space, sought, chosen)


def _among(numbers: Any, chosen: set[int] | None) -> Any:
    """Return those of the numbers of Notes that are meant, in their order."""
    if chosen is None:
        return numbers
    import numpy as np

    return np.intersect1d(numbers, _ascending(chosen), assume_unique=True)


def _ascending(numbers: set[int]) -> Any:
    """Return numbers of Notes as a search takes them: ascending."""
    import numpy as np

    return np.array(sorted(numbers), np.int64)


def _tasks(space: Space, sought: NotesQuery, chosen: set[int] | None) -> NotesList:
    """List the tasks of the notes, those that have the words that are typed."""
    with space.store.reading() as snapshot:
        tasks = all_tasks(snapshot, sought.query.casefold().split(), chosen)
    undone = sum(task.open for task in tasks)
    message = f"{undone:,} open of {pluralize(len(tasks), 'task')}"
    return NotesList(sought, [task.key for task in tasks], message + _within(sought), len(tasks), tasks=tasks)


def _within(sought: NotesQuery) -> str:
    return f" in {sought.filter}" if sought.filter else ""


class Ids(Sequence[str]):
    """The ids of a kind, latest first; a hundred thousand cost nothing until they are asked for."""

    def __init__(self, kind: Kind, numbers: Any) -> None:
        self._kind = kind
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def same(self, other: Ids) -> bool:
        """Whether these are the same ids in the same order."""
        return self._kind == other._kind and self._numbers.tolist() == other._numbers.tolist()

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return f"{self._kind}_{self._numbers[-1 - place]}"


def _counted(count: int, sought: NotesQuery) -> str:
    noun = {"notes": "kept note", "all notes": "note", "collections": "Collection", "relations": "Relation"}
    return pluralize(count, noun[sought.what]) + _within(sought)


def _searched(space: Space, sought: NotesQuery, listener: Listener, chosen: set[int] | None) -> NotesList:
    if sought.what == "notes":
        results = space.search.find(_as_search(sought, chosen), listener)
    else:
        from infospace.search.collections import search_collections

        results = search_collections(sought.query, sought.most, sought.threshold)(space, listener)
    hits = {hit.source: hit for hit in results.hits}
    matched = results.certificate["matched"]
    threshold = results.certificate["threshold"]
    words = results.certificate.get("words", ())
    message = _format_certificate(results) + _within(sought)
    return NotesList(sought, list(hits), message, matched, {}, hits, threshold, words)


def _as_search(sought: NotesQuery, chosen: set[int] | None) -> SearchQuery:
    """Return the search of kept notes that is meant."""
    threshold = sought.threshold if sought.scored else None
    within = None if chosen is None else _ascending(chosen)
    return SearchQuery(sought.query, sought.most, threshold, cast("Mode", sought.how), within=within, certify=True)


def _format_certificate(results: SearchResults) -> str:
    """Say what a search proved, without what the slider beside it says, and without a condition: there is none."""
    message = format_certificate(results.certificate).replace(", or none satisfies the condition", "")
    if results.certificate["threshold"] is not None:
        above = f" at or above {results.certificate['threshold']:.2f};"
        message = message.replace(f" is{above}", ";").replace(above, ";")
    return message


def _word_search(space: Space, sought: NotesQuery, chosen: set[int] | None) -> NotesList:
    """Find what has all the words that are typed."""
    words = sought.query.casefold().split()
    with space.store.reading() as snapshot:
        ids = Ids(sought.kind, _among(snapshot.numbers(sought.kind, kept=sought.kept), chosen))
        results = [
            brief.id for brief in read_all(snapshot, ids) if all(word in _searchable_text(brief) for word in words)
        ]
    return NotesList(
        sought, results, f"{len(results):,} of {_counted(len(ids), sought)} with these words", len(results)
    )


def read_all(snapshot: Snapshot, ids: Sequence[str]) -> Iterator[ResourceSummary]:
    """Give what there is to tell of many resources, those that Relations join with their titles."""
    for at in range(0, len(ids), CHUNK):
        yield from with_titles(snapshot, snapshot.briefs(ids[at : at + CHUNK]))


def with_titles(snapshot: Snapshot, briefs: Sequence[ResourceSummary]) -> list[ResourceSummary]:
    """Return briefs in which Relations and search results are told by the titles of what they refer to."""
    others = {end for brief in briefs for end in _others(brief)}
    titles = {brief.id: label_of(brief) for brief in snapshot.briefs(sorted(others))} if others else {}
    return [replace(brief, begins=_by_others(brief, titles)) if _others(brief) else brief for brief in briefs]


def _others(brief: ResourceSummary) -> tuple[str, ...]:
    if brief.ends is not None:
        return brief.ends[0], brief.ends[2]
    return () if brief.source is None else (brief.source[0],)


def _by_others(brief: ResourceSummary, titles: dict[str, str]) -> str:
    if brief.ends is not None:
        source, relation, target = brief.ends
        return f"{titles[source]} ─ {relation} → {titles[target]}"
    title = titles[brief.source[0]] if brief.source is not None else ""
    return title if brief.score is None else f"{title} ({brief.score:.3f})"


def label_of(brief: ResourceSummary) -> str:
    """Return a short name: the title, the name, or how it begins."""
    title = brief.title or brief.metadata.get("title") or brief.name
    if not isinstance(title, str) or brief.ends is not None or brief.source is not None:
        is_json = brief.begins.startswith(("{", "["))
        title = (brief.begins if is_json else beginning(brief.begins, LABEL * 4)) or title
    text = preview_as_prose(title) if isinstance(title, str) and title else ""
    if not text and kind_of(brief.id) is Kind.COLLECTION:
        return f"({pluralize(brief.size, 'item')})"
    return (text if len(text) <= LABEL * 4 else f"{text[: LABEL * 4]}…") or "(empty)"


def _searchable_text(brief: ResourceSummary) -> str:
    """All that is looked through for words, in small letters."""
    fields = json.dumps(dict(brief.metadata), ensure_ascii=False) if brief.metadata else ""
    return f"{brief.id} {brief.name or ''} {path_of(brief)} {brief.begins} {fields}".casefold()


def _stale(space: Space, sought: NotesQuery) -> NotesList:
    """Find what was made of versions that are not current any more."""
    from infospace.lineage.staleness import staleness

    words = sought.query.casefold().split()
    with space.store.reading() as snapshot:
        result = staleness(snapshot)
        remarks = {stale.origin.of.id: causes(stale.changed) for stale in result.stale}
        if words:
            searchable = {brief.id: _searchable_text(brief) for brief in read_all(snapshot, list(remarks))}
            remarks = {
                one: text
                for one, text in remarks.items()
                if all(word in f"{searchable[one]} {text.casefold()}" for word in words)
            }
    message = f"{len(remarks):,} of {pluralize(result.checked, 'thing')} out of date: made of what has changed since"
    if result.unknown:
        message += f"; too little is known of {len(result.unknown):,}"
    return NotesList(sought, list(remarks), message, len(remarks), remarks)


def causes(changed: Sequence[Any]) -> str:
    """Say which inputs are not any more what something was made of."""
    texts = [_cause(one) for one in changed[:3]]
    return "; ".join(texts) + (f"; and {len(changed) - 3:,} more" if len(changed) > 3 else "")


def _cause(changed: Any) -> str:
    origin = changed.origin
    title = f" “{single_line(origin.title)}”" if origin.title else ""
    if changed.what == "deleted":
        return f"{origin.of.id}{title} was deleted {origin.gone}"
    run = f" by {origin.latest_made.run}" if origin.latest_made.run else ""
    return f"{origin.of.id}{title} changed its {changed.what}, now version {origin.latest}{run}"


Sorting = Callable[["ResourceSummary"], Any]


def by_column(space: Space, ids: Sequence[str], column: str, *, downwards: bool) -> list[str]:
    """Return ids sorted by what a column shows of them."""
    ranks: dict[str, Sorting] = {
        "id": lambda brief: number_of(brief.id),
        "title": lambda brief: label_of(brief).casefold(),
        "path": lambda brief: (brief.location is None, path_of(brief).casefold()),
        "tags": lambda brief: tags_of(brief).casefold(),
        "size": lambda brief: brief.size,
        "updated": lambda brief: brief.updated,
        "modified": modified_of,
    }
    rank = ranks[column]
    with space.store.reading() as snapshot:
        ranked = [(rank(brief), brief.id) for brief in read_all(snapshot, ids)]
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0], reverse=downwards)]


def tags_of(brief: ResourceSummary) -> str:
    """Return the tags on a line."""
    tags = brief.metadata.get("tags")
    if isinstance(tags, list):
        return ", ".join(str(tag) for tag in tags)
    return tags if isinstance(tags, str) else ""


def path_of(brief: ResourceSummary) -> str:
    """Return the path of the file that a Note came from, with the row of a table; empty where there is none."""
    location = brief.location
    if location is None:
        return ""
    return f"{location.path}:{location.part}" if location.part else location.path


def modified_of(brief: ResourceSummary) -> str:
    """Return when the file of a Note was changed last; of another one, when the Note was."""
    return (brief.location.modified if brief.location is not None else None) or brief.updated


def existing_summaries(snapshot: Snapshot, ids: Sequence[str]) -> list[ResourceSummary]:
    """Return what there is to tell of resources, without those that were removed for good."""
    from infospace.core.errors import NotFound

    try:
        return with_titles(snapshot, snapshot.briefs(ids))
    except NotFound:
        return [brief for identifier in ids for brief in _one(snapshot, identifier)]


def _one(snapshot: Snapshot, identifier: str) -> list[ResourceSummary]:
    from infospace.core.errors import NotFound

    try:
        return with_titles(snapshot, snapshot.briefs([identifier]))
    except NotFound:
        return []
