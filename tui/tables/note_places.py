"""Where notes lie: their folders and their tags, with how many notes each has, and the notes of one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from infospace.data.tags import with_parents
from tui.text.format import single_line
from tui.text.table_model import Column

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot

By = Literal["all", "folder", "tag"]


@dataclass(frozen=True, slots=True)
class NotesFilter:
    """Which notes are listed: those in a folder and below it, and those with a tag or one below it; None for all.

    `folder` "" is the root of what was added.
    """

    folder: str | None = None
    tag: str | None = None

    def __bool__(self) -> bool:
        return self.folder is not None or self.tag is not None

    def __str__(self) -> str:
        folder = "" if self.folder is None else f"{self.folder}/" if self.folder else "files"
        return single_line(" ".join(part for part in (folder, f"#{self.tag}" if self.tag is not None else "") if part))


class NotePlaces:
    """The folder and the tags of each note that discovery finds, as they are at one generation."""

    def __init__(self, generation: int, rows: Iterable[tuple[int, str | None, Sequence[str]]]) -> None:
        self.generation = generation
        self._rows = [(number, folder, frozenset(tags)) for number, folder, tags in rows]

    def within(self, within: NotesFilter) -> set[int]:
        """Return the numbers of the notes that are meant."""
        return {
            number
            for number, folder, tags in self._rows
            if _in_folder(folder, within.folder) and (within.tag is None or within.tag in tags)
        }

    def folders(self, tag: str | None) -> dict[str, int]:
        """Return the folders with how many notes are in each and below it, among those with a tag, as a tree."""
        results: Counter[str] = Counter()
        for _, folder, tags in self._rows:
            if folder is not None and (tag is None or tag in tags):
                results.update(("", *with_parents([folder])))
        return dict(sorted(results.items(), key=lambda pair: _as_tree(pair[0])))

    def tags(self, folder: str | None) -> dict[str, int]:
        """Return the tags with how many notes have each, or one below it, among those in a folder, as a tree."""
        results = Counter(tag for _, place, tags in self._rows if _in_folder(place, folder) for tag in tags)
        return dict(sorted(results.items(), key=lambda pair: _as_tree(pair[0])))

    def __len__(self) -> int:
        return len(self._rows)


def _in_folder(place: str | None, folder: str | None) -> bool:
    if folder is None:
        return True
    return place is not None and (not folder or place == folder or place.startswith(f"{folder}/"))


def _as_tree(path: str) -> list[str]:
    return path.casefold().split("/") if path else []


def read_places(snapshot: Snapshot, places: NotePlaces | None = None) -> NotePlaces:
    """Return where the notes lie; what is `places` is given back where nothing has changed since. For a thread."""
    if places is not None and places.generation == snapshot.generation:
        return places
    table = snapshot.space_table("notes", (), ())
    folders: list[Any] = table.column("folder")
    tags: list[Any] = table.column("tags")
    rows = ((number, folder, own or ()) for number, folder, own in zip(table.numbers, folders, tags, strict=True))
    return NotePlaces(snapshot.generation, rows)


@dataclass(frozen=True, slots=True)
class PlaceLine:
    """A folder, a tag, or all of them, as a line that can be chosen."""

    by: By
    name: str
    count: int

    @property
    def key(self) -> str:
        return f"{self.by}:{self.name}"

    @property
    def text(self) -> str:
        """What is searched in when somebody types."""
        return {"all": "all notes", "folder": f"{self.name}/", "tag": f"#{self.name}"}[self.by].casefold()


class PlaceRows:
    """Implements `Rows` over folders and tags: each as a tree with its counts, filtered by what is typed."""

    COLUMNS = (Column("folders and tags", None, least=20), Column("notes", 8, "right"))

    def __init__(self, places: NotePlaces, within: NotesFilter) -> None:
        self._lines = list(_lines(places, within))
        self._shown = self._lines
        self._within = within
        self.accent = ""

    def filter(self, text: str) -> None:
        """Show the lines that have all the words, first those that begin with the text; nothing for all of them."""
        prefix = text.casefold().strip()
        words = prefix.split()
        fits = [line for line in self._lines if all(word in line.text for word in words)]
        self._shown = sorted(fits, key=lambda line: not line.text.lstrip("#").startswith(prefix.lstrip("#")))

    def choose(self, index: int) -> NotesFilter:
        """Return what is listed once a line is chosen; the one that counts already is taken away."""
        line, within = self._shown[index], self._within
        if line.by == "folder":
            return NotesFilter(None if within.folder == line.name else line.name, within.tag)
        if line.by == "tag":
            return NotesFilter(within.folder, None if within.tag == line.name else line.name)
        return NotesFilter()

    def __len__(self) -> int:
        return len(self._shown)

    def key(self, index: int) -> str:
        """Return the folder or the tag of a line."""
        return self._shown[index].key

    def cells(self, index: int, widths: Sequence[int]) -> Sequence[Text | str]:
        """Return the cells of a line; while it is filtered, each is told by its whole path."""
        del widths
        line = self._shown[index]
        chosen = line.name == {"folder": self._within.folder, "tag": self._within.tag, "all": None}[line.by]
        label = Text("● " if chosen else "  ", self.accent)
        if line.by == "all":
            label.append("all notes")
        else:
            whole = len(self._shown) < len(self._lines)
            depth = 0 if whole else line.name.count("/") + (line.by == "folder" and bool(line.name))
            name = single_line(line.name if whole else line.name.rpartition("/")[2])
            label.append("  " * depth)
            label.append((f"{name}/" if line.name else "all files") if line.by == "folder" else f"#{name}")
        return [label, Text(f"{line.count:,}", "dim")]


def _lines(places: NotePlaces, within: NotesFilter) -> Iterator[PlaceLine]:
    yield PlaceLine("all", "", len(places))
    for name, count in places.folders(within.tag).items():
        yield PlaceLine("folder", name, count)
    for name, count in places.tags(within.folder).items():
        yield PlaceLine("tag", name, count)
