"""What the tests of imports share: files to import, importing them, and what a space then has of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from infospace import Space
from infospace.core.clock import now
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Collection, CreatedBy, Relation
from infospace.editing.edit import edit
from infospace.files.import_files import Summary, import_paths
from infospace.files.links import resolve
from infospace.journal.rows import CloseRun, Entry, OpenRun
from infospace.store.changes import Change, Delete
from infospace.store.protocol import Snapshot, Store


def write(root: Path, **files: str | bytes) -> Path:
    """Write files under a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def add(space: Space, *paths: Path, prune: bool = False) -> Summary:
    """Import, and see that the store is consistent."""
    summary = import_paths(space, paths, NullListener(), prune=prune)
    assert space.store.check() == []
    return summary


def counts(summary: Summary) -> dict[str, int]:
    """Return the counts that are not zero."""
    words = ("added", "changed", "restored", "moved", "unchanged", "removed", "vanished")
    return {word: getattr(summary, word) for word in words if getattr(summary, word)}


def notes(space: Space) -> dict[str, Any]:
    """Return path (with its part) to Note, for all that have a file."""
    with space.store.reading() as snapshot:
        return {f"{one.path}{f'#{one.part}' if one.part else ''}": snapshot.get(one.note) for one in snapshot.tracked()}


def contents(space: Space) -> dict[str, Any]:
    """Return path to content."""
    return {path: note.content for path, note in notes(space).items()}


def runs(space: Space) -> list[tuple[str, str]]:
    """Return kind and status of the runs, latest first."""
    with space.store.reading() as snapshot:
        return [(run.kind, run.status) for run in snapshot.runs()]


def arrows(space: Space) -> set[tuple[str, str]]:
    """Return the links as pairs of paths; none has two Relations."""
    with space.store.reading() as snapshot:
        paths = {one.note: one.path for one in snapshot.tracked()}
        found = [snapshot.get(one) for one in snapshot.relations()]
    pairs = [(paths[one.source], paths[one.target]) for one in found if isinstance(one, Relation)]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def is_settled(space: Space) -> bool:
    """Whether every link leads where its roots and those around them say."""
    with space.store.reading() as snapshot:
        roots = {one.root for one in snapshot.tracked()}
        made = CreatedBy(None, None, "add")
        return not list(resolve(snapshot, roots, lambda: "Relation_0", lambda: made))


def has_one_root(space: Space) -> bool:
    """Whether all files are known by one folder."""
    with space.store.reading() as snapshot:
        return len({one.root for one in snapshot.tracked()}) < 2


def sound(space: Space) -> dict[Path, Any]:
    """Return the Notes by the absolute path of their file, and part; each kept Note has one, and each one Note."""
    assert space.store.check() == []
    with space.store.reading() as snapshot:
        tracked = snapshot.tracked()
        found = {Path(one.root, one.path, str(one.part)): snapshot.get(one.note) for one in tracked}
        kept = [note.id for note in snapshot.listing(Kind.NOTE)]
    assert len(found) == len(tracked)
    assert sorted(note.id for note in found.values()) == sorted(kept)
    return found


class Overtaken:
    """A store whose every commit is overtaken: right before it, `meanwhile` is called with the number of the commit."""

    def __init__(self, store: Store, meanwhile: Callable[[int], object]) -> None:
        self._store = store
        self._meanwhile = meanwhile
        self.commits = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(self, changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        """Commit, a little too late."""
        self.commits += 1
        self._meanwhile(self.commits)
        return self._store.commit(changes, entries)


Act: TypeAlias = tuple[str, Any, Any]
"""What somebody does to a folder or to the space: a word, and what to."""

PATHS = st.sampled_from(["a.md", "b.md", "x/c.md", "r.jsonl"])
TEXTS = st.sampled_from(
    ["[[a]]\n", "[[b]] [[c]]\n", "# T\n\n[[a]]\n", "- needs [[b]]\n- is [[T]]\n", "1\n2\n", "2\n3\n", "[[T]] #tag\n"]
)
ACTS = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("unlink"), PATHS, st.none()),
    st.tuples(st.just("edit"), st.integers(0, 9), TEXTS),
    st.tuples(st.just("rm"), st.integers(0, 9), st.none()),
    st.tuples(st.just("import"), st.booleans(), st.none()),
)
IMPORT: Act = ("import", True, None)


def kept_things(snapshot: Snapshot) -> dict[str, Any]:
    """Return all resources that somebody keeps by id, without version numbers."""
    things = {}
    for kind in Kind:
        for one in snapshot.listing(kind):
            members = [(m.id, m.info) for m in one.members] if isinstance(one, Collection) else None
            things[one.id] = (one.content, dict(one.metadata), one.name, members)
    return things


def done(space: Space, folder: Path, act: Act) -> str | None:
    """Do something to a folder, or to the space; return the run that it was, if it was one."""
    what, one, other = act
    if what == "write":
        write(folder, **{one: other})
    elif what == "unlink":
        (folder / one).unlink(missing_ok=True)
    elif what == "move" and (folder / one).exists():
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / one).rename(folder / other)
    elif what == "import":
        return import_paths(space, [folder], NullListener(), prune=one).run
    with space.store.reading() as snapshot:
        known: Any = list(snapshot.listing(Kind.NOTE))
    if what == "edit" and known:
        chosen = known[one % len(known)]
        return edit(space.store, chosen, other, chosen.metadata, "edit")
    if what == "rm" and known:
        run = space.store.new_id("run")
        opened = OpenRun(run, "edit", "rm", None, {}, now(), "")
        gone = Delete(known[one % len(known)].id, CreatedBy(run, None, "rm"))
        space.store.commit([gone], [opened, CloseRun(run, "success", now())])
        return run
    return None
