"""The file of a space is removed or replaced while processes have it open: nothing is acknowledged and lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace.core.errors import StoreError
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.protocol import Store
from infospace.store.sqlite import open_store


def make(store: Store, text: str = "here") -> str:
    """Make a kept Note."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, text, kept=True)])
    return identifier


def texts(path: Path) -> list[Any]:
    """The contents of the Notes of a file, opened anew."""
    with contextlib.closing(open_store(path, create=False)) as store, store.reading() as snapshot:
        assert store.check() == []
        return [note.content for note in snapshot.listing(Kind.NOTE)]  # type: ignore[union-attr]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the space lies, in a folder of its own."""
    return tmp_path / "folder" / "space.db"


@pytest.fixture(params=["just made", "settled"])
def store(path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A space with a Note, open: in a folder that has just changed, and in one where nothing has for a long time."""
    with contextlib.closing(open_store(path, create=True)) as opened:
        make(opened)
        if request.param == "settled":
            os.utime(path.parent, (1_000_000_000, 1_000_000_000))
            opened.commit([])
            assert opened.get("Note_1").kept
        yield opened


def remove(path: Path) -> None:
    """Remove the file alone."""
    path.unlink()


def remove_all(path: Path) -> None:
    """Remove it with the files beside it."""
    for file in path.parent.iterdir():
        file.unlink()


def remove_folder(path: Path) -> None:
    """Remove its folder."""
    shutil.rmtree(path.parent)


def move_folder(path: Path) -> None:
    """Move its folder away."""
    path.parent.rename(path.parent.with_name("elsewhere"))


def file_for_folder(path: Path) -> None:
    """Put a file where the folder was."""
    move_folder(path)
    path.parent.write_text("no folder")


def replace(path: Path) -> None:
    """Put another space in its place, by a move as editors and rsync do it."""
    other = path.with_name("other.db")
    with contextlib.closing(open_store(other, create=True)) as opened:
        make(opened, "another space")
    other.replace(path)


@pytest.mark.parametrize(
    ("take_away", "how"),
    [
        (remove, "removed"),
        (remove_all, "removed"),
        (remove_folder, "removed"),
        (move_folder, "removed"),
        (file_for_folder, "removed"),
        (replace, "replaced by another one"),
    ],
)
def test_a_write_is_refused_and_so_is_a_read(
    store: Store, path: Path, take_away: Callable[[Path], None], how: str
) -> None:
    """By a sentence that says what happened, as often as it is tried."""
    with store.reading():
        pass
    take_away(path)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"the file of the space '{path}' was {how} while it was open"):
            make(store, "lost")
        with pytest.raises(StoreError, match="while it was open"), store.reading():
            pass
        with pytest.raises(StoreError, match="while it was open"):
            store.get("Note_1")


def test_the_other_space_is_left_as_it_is(store: Store, path: Path) -> None:
    """It gets none of the notes, also where its own log is full of what is not in the file yet."""
    program = f"""
import sys
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from infospace.store.sqlite import open_store
store = open_store({str(path)!r}, create=True)
store.commit([MakeNote(store.new_id(Kind.NOTE), "another space", kept=True)])
print("ready", flush=True)
sys.stdin.readline()
store.commit([MakeNote(store.new_id(Kind.NOTE), "and more", kept=True)])
print("done", flush=True)
sys.stdin.readline()
"""
    remove_all(path)
    other = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match="replaced by another one"):
            make(store, "lost")
        store.close()
        print(file=other.stdin, flush=True)
        assert other.stdout.readline() == "done\n"
    finally:
        other.kill()
        other.wait()
        other.stdin.close()
        other.stdout.close()
    assert texts(path) == ["another space", "and more"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_file_beside_it_belongs_to_it(store: Store, path: Path, suffix: str) -> None:
    """Whoever opens the space next would make a new one, and know nothing of what is written to this."""
    path.with_name(path.name + suffix).unlink()
    with pytest.raises(StoreError, match=f"'space.db{suffix}', which belongs to the space .*, was removed"):
        make(store, "lost")


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_file_beside_it_belongs_to_it_before_anything_is_written(path: Path, suffix: str) -> None:
    """It is there as soon as the space is open."""
    with contextlib.closing(open_store(path, create=True)) as store:
        path.with_name(path.name + suffix).unlink()
        with pytest.raises(StoreError, match=f"'space.db{suffix}', which belongs to the space .*, was removed"):
            make(store, "lost")


def test_a_space_that_was_put_back_goes_on(store: Store, path: Path) -> None:
    """It is the same file: what was refused meanwhile can be done again."""
    away = path.parent.with_name("elsewhere")
    path.parent.rename(away)
    with pytest.raises(StoreError, match="was removed"):
        make(store, "lost")
    away.rename(path.parent)
    make(store, "again")
    store.close()
    assert texts(path) == ["here", "again"]


def test_what_takes_the_file_away_in_the_midst_of_a_write_is_noticed_at_its_end(store: Store, path: Path) -> None:
    """The transaction is not committed."""
    away = path.with_name("away")

    def begin_and_lose() -> None:
        with store._writing() as engine:  # type: ignore[attr-defined]
            engine.run("UPDATE state SET value = 99 WHERE key = 'generation'")
            path.rename(away)

    with pytest.raises(StoreError, match="was removed"):
        begin_and_lose()
    away.rename(path)
    with store.reading() as snapshot:
        assert snapshot.generation < 99


def test_others_that_come_and_go_do_no_harm(store: Store, path: Path) -> None:
    """What SQLite does to its files when other processes open and close the space is no loss."""
    for number in range(3):
        assert len(texts(path)) == 1 + number
        make(store)
    store.purge(really=True)
    make(store)


def test_who_only_reads_notices_too(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without the right to write does not go on with what is gone."""
    monkeypatch.setattr("infospace.store.sqlite.open_file.may_write", lambda _path: False)
    with contextlib.closing(open_store(path, create=False)) as reader:
        assert reader.get("Note_1").content == "here"  # type: ignore[union-attr]
        replace(path)
        with pytest.raises(StoreError, match="replaced by another one"):
            reader.get("Note_1")


def test_no_file_is_derived_beside_another_space(path: Path, store: Store) -> None:
    """Nor are the other's own ones tidied away."""
    from infospace.search.index.derived_files import DerivedFiles, Draft

    shelf = DerivedFiles(store)
    replace(path)
    folder = path.with_name(f"{path.name}.derived")
    folder.mkdir()
    own = folder / "matrix-0123"
    own.write_bytes(b"the other's")

    def fill(file: Path) -> str:
        file.write_bytes(b"x")
        return "sum"

    assert shelf.write("matrix", Draft("m", 1, 2, 1, [], fill)) is None
    assert [file.name for file in folder.iterdir()] == ["matrix-0123"]
