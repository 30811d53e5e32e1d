"""Links between imported files: what each leads to, and the Relations that say so.

A link leads to a file under the same root; where that has none that fits, to one under the roots around it and in it.
`[text](path)` by its path, from the folder of its file or from the
root, with or without suffix. `[[name]]` by path too; else by the end of a path without suffix, which a file's stem
is; else by title; else by alias. Upper and lower case are no matter. Of several that fit, the one written in the same
case; then the one in the same folder; then the one nearest to the root; then the first in order of paths.

A file whose rows are Notes is called by its whole name, and a link to it leads to the first row that it has.

What a link leads to depends on the files that are known, not on the order in which they came.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from infospace.core.clock import now
from infospace.core.errors import InfospaceError, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import Made, Relation
from infospace.data.markdown.body import Link
from infospace.files.import_roots import families
from infospace.journal.rows import CloseRun, Heartbeat
from infospace.store.changes import Change, Delete, ExpectLinks, Linked, MakeRelation, SetLinks
from infospace.store.optimistic import TRIES, retry_on_conflict
from infospace.store.protocol import Snapshot, Store, TrackedFile

LABEL = "links-to"
"""The label of the Relations that stand for links which say none of their own."""

MAKERS = frozenset({"add", "edit", "export"})
"""By whom they are made, in no step of a plan."""


def written(links: Iterable[Link]) -> list[Linked]:
    """Return links as they are kept: each target once by each label, leading nowhere yet."""
    found = {(unicodedata.normalize("NFC", link.target), link.wiki, link.label): None for link in links}
    return [Linked(target, wiki, label=label) for target, wiki, label in sorted(found)]


def key_of_link(link: Linked) -> tuple[str, bool, str]:
    """Return what tells the links of a Note apart."""
    return link.target, link.wiki, link.label


def replaced(note: str, old: Sequence[Linked], new: Sequence[Linked], made: Made, alive: Alive) -> Iterator[Change]:
    """Change a Note's links to others: those that stay lead where they did, Relations of those that went go."""
    known = {key_of_link(link): link for link in old}
    rows = [known.get(key_of_link(link), link) for link in new]
    if rows != list(old):
        stay = set(map(_relation, rows))
        doomed = dict.fromkeys(by for by in map(_relation, old) if by and by not in stay)
        yield ExpectLinks(note, old)
        yield from (Delete(relation, made) for relation in doomed if alive(relation))
        yield SetLinks(note, rows)


def _relation(link: Linked) -> str | None:
    """Return the Relation of a link, also of one that leads nowhere since its target has no file any more."""
    return link.lost[1] if link.lost else link.relation


def is_link(relation: Relation) -> bool:
    """Whether a Relation was made for a link, and not by somebody who relates two Notes."""
    made = relation.made
    return made.step is None and made.by in MAKERS


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


class Roots:
    """Where links lead, by the files given: all those of their roots."""

    def __init__(self, tracked: Iterable[TrackedFile]) -> None:
        self._home: dict[str, TrackedFile] = {}
        self._whole: dict[str, tuple[str, _Places]] = {}
        files: dict[str, list[TrackedFile]] = {}
        rows: set[tuple[str, str]] = set()
        for one in sorted(tracked, key=lambda one: one.part):
            if not one.part:
                self._home[one.note] = one
            elif (one.root, one.path) in rows:
                continue
            else:
                rows.add((one.root, one.path))
            files.setdefault(one.root, []).append(one)
        self._places = {root: _Places(of_root) for root, of_root in files.items()}
        for top, roots in families(files):
            if len(roots) > 1:
                below = {root: root[len(top) :].strip("/") for root in roots}
                every = [
                    replace(one, path=posixpath.join(below[root], one.path)) for root in roots for one in files[root]
                ]
                whole = _Places(every)
                self._whole |= {root: (below[root], whole) for root in roots}

    def __contains__(self, note: str) -> bool:
        return note in self._home

    def leads(self, note: str, link: Linked) -> str | None:
        """Return the Note that a link in an imported Note leads to, which may be itself; None when there is none."""
        home = self._home.get(note)
        if home is None:
            return None
        folder = posixpath.dirname(home.path)
        found = self._places[home.root].find(link.target, link.wiki, folder)
        if found is None and home.root in self._whole:
            below, whole = self._whole[home.root]
            found = whole.find(link.target, link.wiki, posixpath.join(below, folder))
        return found


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    bare: str
    note: str


class _Places:
    """The files under one root, by all that a link may call them."""

    def __init__(self, files: Iterable[TrackedFile]) -> None:
        self._paths: dict[str, list[_Place]] = {}
        self._stems: dict[str, list[_Place]] = {}
        self._titles: dict[str, list[tuple[str, _Place]]] = {}
        self._aliases: dict[str, list[tuple[str, _Place]]] = {}
        for file in files:
            bare = file.path if file.part else posixpath.splitext(file.path)[0]
            place = _Place(file.path, bare, file.note)
            for path in {file.path.casefold(), bare.casefold()}:
                self._paths.setdefault(path, []).append(place)
            self._stems.setdefault(posixpath.basename(bare).casefold(), []).append(place)
            for names, said in ((self._titles, (file.title,)), (self._aliases, file.aliases)):
                for name in filter(None, said):
                    written_so = unicodedata.normalize("NFC", name)
                    names.setdefault(written_so.casefold(), []).append((written_so, place))

    def find(self, target: str, wiki: bool, folder: str) -> str | None:
        for path in dict.fromkeys((posixpath.normpath(posixpath.join(folder, target)), posixpath.normpath(target))):
            fits = self._paths.get(path.casefold(), ())
            if fits:
                return min(fits, key=lambda place: _rank(place, path in (place.path, place.bare), folder)).note
        return self._named(target, folder) if wiki else None

    def _named(self, target: str, folder: str) -> str | None:
        end = "/" + target.strip("/").casefold()
        stems = self._stems.get(posixpath.basename(end), [])
        stems = stems or self._stems.get(posixpath.splitext(posixpath.basename(end))[0], [])
        fits = [
            (place.bare.endswith(target), place)
            for place in stems
            if f"/{place.bare}".casefold().endswith(end) or f"/{place.path}".casefold().endswith(end)
        ]
        for names in (self._titles, self._aliases):
            fits = fits or [(name == target, place) for name, place in names.get(target.casefold(), ())]
        return min(fits, key=lambda fit: _rank(fit[1], fit[0], folder))[1].note if fits else None


def _rank(place: _Place, same_case: bool, folder: str) -> tuple[bool, bool, int, str]:
    return not same_case, posixpath.dirname(place.path) != folder, place.path.count("/"), place.path


def settle(
    store: Store, roots: Collection[str], made: Callable[[], Made], commit: Callable[[Sequence[Change]], object]
) -> None:
    """Bring the Relations of some roots in line with what links lead to, whatever others do meanwhile.

    It ends when there is nothing left to do. Raises Conflict or NotFound when others were faster every time.
    """

    def changes() -> list[Change]:
        with store.reading() as snapshot:
            return list(resolve(snapshot, roots, lambda: store.new_id(Kind.RELATION), made))

    def committed(found: Sequence[Change]) -> bool:
        if found:
            commit(found)
        return bool(found)

    for _ in range(TRIES):
        if not retry_on_conflict(changes, committed):
            return


def settle_run(store: Store, roots: Collection[str], made: Made) -> None:
    """Settle links as the last thing that a run does, and end it: as failed where they cannot be settled."""
    run = str(made.run)
    try:
        settle(store, roots, lambda: made, lambda links: store.commit(links, [Heartbeat(run, "", now())]))
    except InfospaceError as error:
        store.commit([], [CloseRun(run, "failed", now(), reason=error.message)])
        raise
    store.commit([], [CloseRun(run, "success", now())])


def resolve(
    snapshot: Snapshot,
    roots: Collection[str],
    new_id: Callable[[], str],
    made: Callable[[], Made],
    fresh: Iterable[str] = (),
) -> Iterator[Change]:
    """Bring the Relations in line with what links lead to, in some roots and those in them and around them.

    `fresh` names Notes that are new, and so have no Relations from before.
    """
    if not roots:
        return
    every, links, new = snapshot.tracked(), snapshot.links(), frozenset(fresh)
    chosen = {
        root
        for _, family in families({one.root for one in every} | set(roots))
        if any(root in roots for root in family)
        for root in family
    }
    places, alive = Roots(one for one in every if one.root in chosen), is_alive(snapshot)
    for note, old in links.items():
        if note not in places:
            continue
        rows = [(link, places.leads(note, link)) for link in old]
        if any(link.to != to or (link.lost and link.lost[1] and alive(link.lost[1])) for link, to in rows):
            yield from _settled(snapshot, note, rows, new_id, made(), note in new)


def _settled(
    snapshot: Snapshot,
    note: str,
    rows: Sequence[tuple[Linked, str | None]],
    new_id: Callable[[], str],
    made: Made,
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
            yield MakeRelation(relation, note, to, label, kept=True, made=made)
    alive, stay = is_alive(snapshot), set(relations.values())
    doomed = dict.fromkeys(by for by in (_relation(link) for link, _ in rows) if by and by not in stay)
    yield from (Delete(by, made) for by in doomed if alive(by))
    new = [
        replace(link, to=None, relation=None)
        if to is None
        else Linked(link.target, link.wiki, to, relations[to, link.label], None, link.label)
        for link, to in rows
    ]
    yield SetLinks(note, new)
