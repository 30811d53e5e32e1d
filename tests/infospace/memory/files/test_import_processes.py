"""Processes that import the same files at once: real ones, started together by a line that all wait for."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import add, arrows, has_one_root, is_settled, sound, write

pytestmark = pytest.mark.usefixtures("warm_processes")

IMPORTER = """
import json, sys
from pathlib import Path
from infospace import open_space
from infospace.files import import_files as importing
from infospace.files.formats import csv as tables, html as hypertext, json as objects
from infospace.files.formats import jsonl as lines, markdown_file as marked
from infospace.core.listener import NullListener

importing.BATCH = int(sys.argv[1])
with open_space(sys.argv[2]) as space:
    print("ready", flush=True)
    for line in sys.stdin:
        paths, prune = json.loads(line)
        summary = importing.import_paths(space, [Path(path) for path in paths], NullListener(), prune=prune)
        print(json.dumps(summary.to_json()), flush=True)
"""

FILES = 200
ROWS = 4


def text_of(index: int, chance: random.Random) -> tuple[str, str]:
    """Return name and text of a file: Markdown with links, and one of every other format."""
    links = " ".join(f"[[n{chance.randrange(FILES)}]]" for _ in range(3))
    name = f"d{index % 7}/n{index}"
    rows = range(ROWS)
    return {
        0: (f"{name}.txt", f"text {index}\n"),
        1: (f"{name}.json", json.dumps({"index": index})),
        2: (f"{name}.jsonl", "".join(json.dumps({"index": index, "row": row}) + "\n" for row in rows)),
        3: (f"{name}.csv", "index,row\n" + "".join(f"{index},{row}\n" for row in rows)),
        4: (f"{name}.html", f"<title>Page {index}</title><p>{index} <a href='n{index + 1}.md'>next</a></p>"),
    }.get(index % 9, (f"{name}.md", f"# Note {index}\n\n{links} [[Page {index % 40}]]\n"))


def tree(folder: Path) -> dict[str, str]:
    """Write the files; return what they hold by path."""
    chance = random.Random(1)  # noqa: S311
    files = dict(text_of(index, chance) for index in range(FILES))
    write(folder, **files)
    return files


def units(files: dict[str, str]) -> int:
    """Count the Notes that files are: rows, or wholes."""
    return sum(text.count('"row"') if path.endswith("jsonl") else rows_of(path, text) for path, text in files.items())


def rows_of(path: str, text: str) -> int:
    """Count the Notes of a file that is not JSON Lines."""
    return text.count("\n") - 1 if path.endswith("csv") else 1


class Importers:
    """Processes that import when told to."""

    def __init__(self, space: Path, count: int, batch: int) -> None:
        command = [sys.executable, "-c", IMPORTER, str(batch), str(space)]
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
        ]
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def import_at_once(self, *paths: Path, prune: bool = False) -> list[dict[str, Any]]:
        """Have each import the path of its number, the last one where there are fewer; return the summaries."""
        for index, process in enumerate(self._processes):
            assert process.stdin is not None
            process.stdin.write(json.dumps([[str(paths[min(index, len(paths) - 1)])], prune]) + "\n")
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.flush()
        summaries = []
        for process in self._processes:
            assert process.stdout is not None
            summaries.append(json.loads(process.stdout.readline()))
        return summaries

    def end(self) -> None:
        """Wait until all have ended well."""
        for process in self._processes:
            process.communicate()
            assert process.returncode == 0


def links_of_a_fresh_import(folder: Path) -> set[tuple[str, str]]:
    """Return what the links of a folder come to when one process imports it."""
    with open_space(":memory:") as fresh:
        add(fresh, folder)
        return arrows(fresh)


def total(summaries: list[dict[str, Any]], word: str) -> int:
    """Add a count up."""
    return sum(summary[word] for summary in summaries)


def check_space(space: Space, folder: Path, count: int) -> None:
    """See that every file and row is one Note that lives, and every link one Relation, and nothing else is there."""
    assert len(sound(space)) == count
    assert is_settled(space)
    assert not has_one_root(space) or arrows(space) == links_of_a_fresh_import(folder)


@pytest.mark.parametrize(("count", "batch"), [(2, 400), (2, 12), (2, 40), (3, 7), (4, 25)])
def test_a_tree_that_several_import_at_once_is_there_once(tmp_path: Path, count: int, batch: int) -> None:
    """First when all is new, then when files changed, moved, came and went: nothing twice, nothing lost."""
    files = tree(tmp_path / "in")
    importers = Importers(tmp_path / "x.db", count, batch)
    summaries = importers.import_at_once(tmp_path / "in")
    assert total(summaries, "added") == units(files)
    for summary in summaries:
        assert summary["added"] + summary["unchanged"] == units(files)
        assert (summary["failed"], summary["conflicts"], summary["vanished"]) == ([], [], 0)
        assert summary["run"] is not None or summary["added"] == 0
    with open_space(tmp_path / "x.db") as space:
        check_space(space, tmp_path / "in", units(files))
        before = {note.id for note in sound(space).values()}

    paths = sorted(files)
    for path in paths[:30]:
        extra = f"{path},9\n" if path.endswith("csv") else '{"row": 9}\n' if path.endswith("jsonl") else ""
        text = '{"index": -1}' if path.endswith(".json") else files[path] + (extra or "more\n")
        write(tmp_path / "in", **{path: text})
    (tmp_path / "in/moved").mkdir()
    for path in paths[40:60]:
        (tmp_path / "in" / path).rename(tmp_path / "in/moved" / Path(path).name)
    for path in paths[70:80]:
        (tmp_path / "in" / path).unlink()
    rows = sum(path.endswith(("csv", "jsonl")) for path in paths[:30])
    summaries = importers.import_at_once(tmp_path / "in", prune=True)
    gone, moved = ({path: files[path] for path in some} for some in (paths[70:80], paths[40:60]))
    assert total(summaries, "added") == rows
    assert total(summaries, "changed") == 30 - rows
    assert total(summaries, "moved") == units(moved)
    assert total(summaries, "removed") == units(gone)
    there = units(files) + rows - units(gone)
    for summary in summaries:
        assert sum(summary[word] for word in ("added", "changed", "moved", "unchanged")) == there
        assert (summary["failed"], summary["conflicts"], summary["vanished"]) == ([], [], 0)
    importers.end()
    with open_space(tmp_path / "x.db") as space:
        check_space(space, tmp_path / "in", there)
        assert len({note.id for note in sound(space).values()} & before) == there - rows


def test_a_folder_and_one_inside_it_that_are_imported_at_once_are_there_once(tmp_path: Path) -> None:
    """Whichever root comes first: each file has one note, and is the same when it is imported again."""
    files = tree(tmp_path / "in")
    importers = Importers(tmp_path / "x.db", 3, 9)
    folders = (tmp_path / "in/d1", tmp_path / "in", tmp_path / "in/d2")
    assert total(importers.import_at_once(*folders), "added") == units(files)
    assert total(importers.import_at_once(tmp_path / "in"), "unchanged") == 3 * units(files)
    importers.end()
    with open_space(tmp_path / "x.db") as space:
        check_space(space, tmp_path / "in", units(files))
