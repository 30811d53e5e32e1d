"""A folder is watched by looking at it, and a file that is still being written is waited for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace.files import watch as watching
from infospace.files.walk import FileToImport, RefusedFile, walk
from infospace.files.watch import changes, scan


def test_a_turn_comes_when_something_changed_and_then_stood_still(tmp_path: Path) -> None:
    """New, grown, touched and vanished files alike; hidden ones are no matter."""
    (tmp_path / "a.md").write_text("a")
    looks: list[str] = []

    def acts() -> Iterator[None]:
        yield
        (tmp_path / "b.md").write_text("b")
        yield
        (tmp_path / "b.md").write_text("bb, still growing")
        yield
        yield
        looks.append("settled")
        (tmp_path / ".hidden.md").write_text("h")
        yield
        yield
        looks.append("nothing")
        os.utime(tmp_path / "a.md", ns=(1, 1))
        yield
        yield
        looks.append("touched")
        (tmp_path / "a.md").unlink()
        yield
        yield
        looks.append("gone")

    script = acts()
    turns = changes([tmp_path], scan([tmp_path]), lambda _: next(script, None))
    seen = []
    for _ in range(3):
        next(turns)
        seen.append(list(looks))
    assert seen == [[], ["settled", "nothing"], ["settled", "nothing", "touched"]]


def test_a_file_that_goes_while_its_folder_is_looked_at_takes_no_other_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others stand as they are, and it is none of them."""
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(name)

    def walked(path: Path) -> Iterator[FileToImport | RefusedFile]:
        for one in walk(path):
            if one.path.name == "b.md":
                one.path.unlink()
            yield one

    monkeypatch.setattr(watching, "walk", walked)
    assert [path.name for path in scan([tmp_path])] == ["a.md", "c.md"]


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    """It may come back."""
    assert scan([tmp_path / "nowhere"]) == {}
