"""How fast files become notes: read and stored, and apart from that embedded. Medians of turns, formats in turn."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from figures import Cell, Table, interleaved, spread
from formats import FORMATS, made_notes

from infospace import Space, open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths

TURNS = 3
NOTES = 1_000
EMBEDDED = 64
"""Of each format, so many notes are embedded."""


def run() -> dict[str, Table]:
    """Return the table `importing`: of each format notes, MB, and rates a second."""
    notes = made_notes(NOTES)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for format_, write in FORMATS.items():
            for count in (NOTES, EMBEDDED):
                (folder / format_ / str(count)).mkdir(parents=True)
                write(folder / format_ / str(count), notes[:count])
        stored = interleaved({one: lambda turn, one=one: _store(folder, one, turn) for one in FORMATS}, TURNS)  # type: ignore[misc]
        spaces = {one: _Embedding(folder, one) for one in FORMATS}
        embedded = interleaved({one: spaces[one].embed for one in FORMATS}, TURNS)
        return {"importing": {one: _row(folder / one / str(NOTES), stored[one], embedded[one]) for one in FORMATS}}


def _row(folder: Path, stored: list[float], embedded: list[float]) -> dict[str, Cell]:
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    seconds = spread(stored).p50 / 1000
    return {
        "notes": float(NOTES),
        "MB": size,
        "read and stored, notes/s": NOTES / seconds,
        "read and stored, MB/s": size / seconds,
        "embedded, notes/s": EMBEDDED / (spread(embedded).p50 / 1000),
    }


def _store(folder: Path, format_: str, turn: int) -> None:
    with open_space(folder / f"{format_} {turn}.db") as space:
        _imported(space, folder / format_ / str(NOTES), NOTES)


def _imported(space: Space, files: Path, count: int) -> None:
    done = import_paths(space, [files], NullListener())
    if done.failed or done.added != count:
        raise RuntimeError(f"{done.added} of {count} notes: {done.failed[:3]}")


class _Embedding:
    """Embeds the same notes of a format, each turn in a space in which they were just imported."""

    def __init__(self, folder: Path, format_: str) -> None:
        self._spaces: dict[int, Space] = {}
        for turn in range(-1, TURNS):
            self._spaces[turn] = open_space(folder / f"{format_} embedded {turn}.db")
            _imported(self._spaces[turn], folder / format_ / str(EMBEDDED), EMBEDDED)

    def embed(self, turn: int) -> None:
        """Do it."""
        with self._spaces[turn] as space:
            space.embedding.catch_up(NullListener())
