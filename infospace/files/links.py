"""Links between imported files, and the Relations that say where they lead.

A link of an imported file leads to a file, by `store/link_targets.py`. The store itself has one that no file fits lead
to a Note without a file, in the commit that brings either.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from infospace.core.clock import now
from infospace.core.errors import InfospaceError, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Relation
from infospace.data.markdown.body import Link
from infospace.journal.rows import CloseRun, Heartbeat
from infospace.store.changes import Change, Delete, ExpectLinks, Linked, MakeRelation, SetLinks, SettleLinks
from infospace.store.link_targets import LinkPlace, LinkTargets, families
from infospace.store.optimistic import TRIES, retry_on_conflict
from infospace.store.protocol import Snapshot, Store, TrackedFile

LABEL = "links-to"
"""The label of the Relations that stand for links which say none of their own."""

MAKERS = frozenset({"add", "edit", "export"})
"""By whom they are made, in no step of a plan."""


def written(links: Iterable[Link]) -> list[Linked]:
    """Return links as they are kept: each target once by each label, leading nowhere yet."""
    results = {(unicodedata.normalize("NFC", link.target), link.wiki, link.label): None for link in links}
    return [Linked(target, wiki, label=label) for target, wiki, label in sorted(results)]


def key_of_link(link: Linked) -> tuple[str, bool, str]:
    """Return what tells the links of a Note apart."""
    return link.target, link.wiki, link.label


def replaced(
    note: str, old: Sequence[Linked], new: Sequence[Linked], created_by: CreatedBy, alive: Alive
) -> Iterator[Change]:
    """Change a Note's links to others: those that stay lead where they did, Relations of those that went go."""
    known = {key_of_link(link): link for link in old}
    rows = [known.get(key_of_link(link), link) for link in new]
    if rows != list(old):
        stay = set(map(_relation, rows))
        doomed = dict.fromkeys(by for by in map(_relation, old) if by and by not in stay)
        yield ExpectLinks(note, old)
        yield from (Delete(relation, created_by) for relation in doomed if alive(relation))
        yield SetLinks(note, rows)


def _relation(link: Linked) -> str | None:
    """Return the Relation of a link, also of one that leads nowhere since its target has no file any more."""
    return link.lost[1] if link.lost else link.relation


def is_link(relation: Relation) -> bool:
    """Whether a Relation was made for a link, and not by somebody who relates two Notes."""
    created_by = relation.created_by
    return created_by.step is None and created_by.by in MAKERS


Alive = Callable[[str], bool]


def is_alive(snapshot: Snapshot) -> Alive:
    """Return what says of an id whether the resource lives."""

    def alive(identifier: str) -> bool:
        try:
            snapshot.get(identifier)
        except NotFound:
            return False
        return True

    return alive


def settle(
    store: Store,
    roots: Collection[str],
    created_by: Callable[[], CreatedBy],
    commit: Callable[[Sequence[Change]], object],
) -> None:
    """Bring the Relations of some roots in line with what links lead to, whatever others do meanwhile.

    It ends when there is nothing left to do. Raises Conflict or NotFound when others were faster every time.
    """

    def changes() -> list[Change]:
        with store.reading() as snapshot:
            return list(resolve(snapshot, roots, lambda: store.new_id(Kind.RELATION), created_by))

    def committed(found: Sequence[Change]) -> bool:
        if found:
            commit(found)
        return bool(found)

    for _ in range(TRIES):
        if not retry_on_conflict(changes, committed):
            return


def settle_run(store: Store, roots: Collection[str], created_by: CreatedBy) -> None:
    """Settle links as the last thing that a run does, and end it: as failed where they cannot be settled."""
    run = str(created_by.run)
    try:
        settle(store, roots, lambda: created_by, lambda links: store.commit(links, [Heartbeat(run, "", now())]))
    except InfospaceError as error:
        store.commit([], [CloseRun(run, "failed", now(), reason=error.message)])
        raise
    store.commit([], [CloseRun(run, "success", now())])


def resolve(
    snapshot: Snapshot,
    roots: Collection[str],
    new_id: Callable[[], str],
    created_by: Callable[[], CreatedBy],
    fresh: Iterable[str] = (),
    tracked: Sequence[TrackedFile] | None = None,
) -> Iterator[Change]:
    """Bring the Relations in line with what links lead to, in some roots and those in them and around them.

    `fresh` names Notes that are new, and so have no Relations from before. `tracked` is what the snapshot knows of
    files, where that was read already.
    """
    if not roots:
        return
    every = snapshot.tracked() if tracked is None else tracked
    links, new = snapshot.links(), frozenset(fresh)
    chosen = {
        root
        for _, family in families({file.root for file in every} | set(roots))
        if any(root in roots for root in family)
        for root in family
    }
    places = LinkTargets(
        LinkPlace(file.root, file.path, file.part, file.note, file.title, file.aliases)
        for file in every
        if file.root in chosen
    )
    alive = is_alive(snapshot)
    nowhere, lost = [], set()
    for note, old in links.items():
        if note not in places:
            continue
        rows = [(link, places.leads(note, link)) for link in old]
        if any(to is None for _, to in rows):
            nowhere.append(note)
        if any(link.to is not None and to is None for link, to in rows):
            lost.add(note)
        if any(link.to != to or (link.lost and link.lost[1] and alive(link.lost[1])) for link, to in rows):
            yield from _settled(snapshot, note, rows, new_id, created_by(), note in new)
    if nowhere:
        yield from map(SettleLinks, sorted(lost | snapshot.unsettled_links(nowhere)))


def _settled(
    snapshot: Snapshot,
    note: str,
    rows: Sequence[tuple[Linked, str | None]],
    new_id: Callable[[], str],
    created_by: CreatedBy,
    fresh: bool,
) -> Iterator[Change]:
    yield ExpectLinks(note, [link for link, _ in rows])
    known: Mapping[tuple[str, str], str | None] = {(link.to, link.label): link.relation for link, _ in rows if link.to}
    relations: dict[tuple[str, str], str | None] = {}
    for to, label in dict.fromkeys((to, link.label) for link, to in rows if to is not None):
        if to == note:  # a Relation has two ends: a link to its own Note leads there by none
            relations[to, label] = None
            continue
        if (to, label) in known:
            relations[to, label] = known[to, label]
            continue
        there = [] if fresh else snapshot.relations(source=note, target=to, relation=label)
        relations[to, label] = relation = there[0] if there else new_id()
        if not there:
            yield MakeRelation(relation, note, to, label, kept=True, created_by=created_by)
    alive, stay = is_alive(snapshot), set(relations.values())
    doomed = dict.fromkeys(by for by in (_relation(link) for link, _ in rows) if by and by not in stay)
    yield from (Delete(by, created_by) for by in doomed if alive(by))
    new = [
        replace(link, to=None, relation=None)
        if to is None
        else Linked(link.target, link.wiki, to, relations[to, link.label], None, link.label)
        for link, to in rows
    ]
    yield SetLinks(note, new)


def hidden_aliases(tracked: Sequence[TrackedFile], texts: Collection[str]) -> Iterator[tuple[TrackedFile, str]]:
    """Give the files with an alias that is the name or title of another file under the same root, and why it is idle.

    Links lead by name and title before they do by alias. Told is where either Note is among `texts`.
    """
    if not any(file.aliases for file in tracked):
        return
    names: dict[tuple[str, str], TrackedFile] = {}
    titles: dict[tuple[str, str], TrackedFile] = {}
    for file in tracked:
        if not file.part:
            names.setdefault((file.root, PurePosixPath(file.path).stem.casefold()), file)
            if file.title:
                titles.setdefault((file.root, file.title.casefold()), file)
    for file in tracked:
        for alias in file.aliases:
            called = file.root, alias.casefold()
            name = names.get(called)
            other = name or titles.get(called)
            if other and other.note != file.note and (file.note in texts or other.note in texts):
                what = "name" if name else "title"
                yield file, f"its alias {alias!r} is the {what} of {other.path!r}, to which [[{alias}]] leads"
