"""`infospace notes` by folder, tag, order and columns, `show` by title or alias, and what `add` makes of odd files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.store.changes import GiveName, MakeNote


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    """A space, where the command looks for it, of three notes, two of which have one title."""
    files = {
        "Books/sea.md": "---\nrating: 5\naliases: [Ocean]\ntags: [topic/sea]\n---\n# The Sea\n",
        "Books/moss.md": "---\nrating: 3\n---\n# Moss\n",
        "other.md": "---\nrating: low\n---\n# Moss\n",
    }
    for name, text in files.items():
        (tmp_path / "v" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "v" / name).write_text(text)
    with open_space(tmp_path / "space.db", create=True) as space:
        import_paths(space, [tmp_path / "v"], NullListener())
    return tmp_path / "v"


def test_notes_of_a_folder_in_an_order_with_columns_of_ones_own(cli: Any, filed: Path) -> None:
    found = cli("notes", "--folder", "Books", "--sort", "rating", "--columns", "title,rating,file", "--json").json
    assert [(one["title"], one["rating"], one["file"]) for one in found["notes"]] == [
        ("Moss", 3, "moss.md"),
        ("The Sea", 5, "sea.md"),
    ]
    for order in (["--sort", "rating desc"], ["--sort", "-rating"], ["--sort=-rating"]):
        down = cli("notes", "--folder", "Books", *order, "--columns", "title", "--json").json
        assert [one["title"] for one in down["notes"]] == ["The Sea", "Moss"], order


def test_a_limit_takes_the_latest_or_of_an_order_the_first(cli: Any, filed: Path) -> None:
    """And says of how many."""
    every = [one["id"] for one in cli("notes", "--limit", "all", "--json").json["notes"]]
    said = cli("notes", "--limit", "2", "--json").json
    assert ([one["id"] for one in said["notes"]], said["total"]) == (every[-2:], 3)
    first = cli("notes", "--limit", "1", "--sort", "title desc", "--columns", "title", "--json").json
    assert (first["notes"], first["total"]) == ([{"title": "The Sea"}], 3)
    assert (cli("notes", "--limit", "2").err, cli("notes").err) == ("2 of 3 notes\n", "3 notes\n")


@pytest.mark.parametrize("order", ["aliases", "aliases desc"])
def test_notes_without_the_property_of_an_order_come_last(cli: Any, filed: Path, order: str) -> None:
    listed = cli("notes", "--sort", order, "--columns", "file", "--json").json["notes"]
    assert (listed[0], len(listed)) == ({"file": "sea.md"}, 3)


def test_columns_are_what_a_query_has(cli: Any, filed: Path) -> None:
    cli("edit", "sea.md", "--value", "-", stdin="two words")
    columns = "title,words,version,kept,aliases,rating"
    listed = cli("notes", "--folder", "Books", "--sort", "title desc", "--columns", columns, "--json").json["notes"]
    assert listed == [
        {"title": "The Sea", "words": 2, "version": 2, "kept": True, "aliases": ["Ocean"], "rating": 5},
        {"title": "Moss", "words": 2, "version": 1, "kept": True, "aliases": None, "rating": 3},
    ]


def test_of_two_folders_that_were_added_each_note_says_which_is_its_own(cli: Any, filed: Path, tmp_path: Path) -> None:
    """Of one alone no column does."""
    assert "root" not in cli("notes").out.splitlines()[0].split()
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "new.md").write_text("New.")
    with open_space(tmp_path / "space.db") as space:
        import_paths(space, [tmp_path / "w"], NullListener())
    assert "root" in cli("notes").out.splitlines()[0].split()


def test_notes_of_a_tag_are_those_of_the_tags_below_it_too(cli: Any, filed: Path) -> None:
    found = cli("notes", "--tag", "#topic", "--columns", "title", "--json").json
    assert [one["title"] for one in found["notes"]] == ["The Sea"]


def test_properties_are_listed_with_their_types(cli: Any, filed: Path) -> None:
    said = cli("notes", "--properties").out
    [line] = [line for line in said.splitlines() if line.split()[:1] == ["rating"]]
    assert "number in 2, text in 1" in line
    assert line.split()[-3:] == ["3,", "5,", "low"]


def test_properties_are_those_of_the_notes_that_were_asked_for(cli: Any, filed: Path) -> None:
    """By folder, tag or condition; their types and values are counted among these alone."""
    found = {
        one["property"]: one for one in cli("notes", "--properties", "--folder", "Books", "--json").json["properties"]
    }
    assert found["rating"] == {"property": "rating", "notes": 2, "types": {"number": 2}, "values": [3, 5]}
    assert {one["property"] for one in cli("notes", "--properties", "--tag", "topic", "--json").json["properties"]} == {
        *("rating", "aliases", "tags", "title")
    }
    none = cli("notes", "--properties", "--folder", "Bookz")
    assert "no note has the folder 'Bookz'; did you mean 'Books'?" in none.err


@pytest.mark.parametrize("folder", ["", ".", "/"])
def test_the_folder_that_was_added_has_its_own_notes(cli: Any, filed: Path, folder: str) -> None:
    """Without those of the folders in it."""
    found = cli("notes", "--folder", folder, "--columns", "path", "--json").json
    assert [one["path"] for one in found["notes"]] == ["other.md"]


def test_notes_of_the_space_itself_are_listed_when_they_are_asked_for(cli: Any, filed: Path) -> None:
    """Saved plans and sessions, whose names begin with an underscore."""
    with open_space(filed.parent / "space.db") as space:
        made = space.store.new_id(Kind.NOTE)
        space.store.commit([MakeNote(made, {"steps": []}, kept=True), GiveName(made, "_plan:x")])
        space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), "loose")])
    assert cli("notes", "--json").json["total"] == 3
    assert [one["kept"] for one in cli("notes", "--all", "--json").json["notes"]] == [True] * 4 + [False]
    assert "_plan:x" in cli("notes", "--all").out


@pytest.mark.parametrize("option", ["--columns", "--sort"])
def test_a_column_that_is_not_there_is_one_sentence(cli: Any, filed: Path, option: str) -> None:
    said = cli("notes", option, "nope")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("infospace: no note has a column or property 'nope'")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("called", ["the sea", "The Sea", "ocean"])
def test_a_note_is_shown_by_its_title_or_an_alias(cli: Any, filed: Path, called: str) -> None:
    assert cli("show", called, "--json").json["file"].endswith("sea.md")


def test_a_title_of_two_notes_gives_the_candidates(cli: Any, filed: Path) -> None:
    said = cli("show", "Moss")
    assert said.code == 1
    assert "'Moss' is the title of 2 notes: Note_" in said.err
    assert said.err.count("\n") == 1


def repository(root: Path) -> Path:
    """Make a repository of one file with two commits, beside a file that is in none."""
    root.mkdir()

    def git(*words: str, day: str = "2020-01-01") -> None:
        moment = f"{day}T10:00:00+00:00"
        who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, env={**os.environ, **who, **dates})

    git("init", "-q")
    for text, day in (("one\n", "2021-02-03"), ("two\n", "2023-04-05")):
        (root / "a ü.md").write_text(text)
        git("add", "-A")
        git("commit", "-qm", text, day=day)
    (root / "new.md").write_text("in no commit\n")
    return root


def test_files_of_a_repository_are_as_old_as_their_commits(space: Space, tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    import_paths(space, [root], NullListener(), git_times=True)
    with space.store.reading() as snapshot:
        times = {one.path: (one.created, one.modified) for one in snapshot.tracked()}
    assert times["a ü.md"] == ("2021-02-03T10:00:00.000Z", "2023-04-05T10:00:00.000Z")
    assert str(times["new.md"][1])[:4] > "2023"


def test_the_command_takes_the_times_of_commits_where_it_is_asked_to(cli: Any, model: Any, tmp_path: Path) -> None:
    """Without the option they are the files' own; with it, the next import brings them into line."""
    root, columns = repository(tmp_path / "repository"), ("--columns", "file,created,modified", "--json")

    def times() -> dict[str, tuple[str, str]]:
        return {one["file"]: (one["created"], one["modified"]) for one in cli("notes", *columns).json["notes"]}

    assert cli("add", str(root), "--json").json["added"] == 2
    assert all(modified[:4] > "2023" for _, modified in times().values())
    assert cli("add", str(root), "--git-times", "--json").json["unchanged"] == 2
    assert times()["a ü.md"] == ("2021-02-03T10:00:00.000Z", "2023-04-05T10:00:00.000Z")
    assert times()["new.md"][1][:4] > "2023"


def test_what_cannot_be_read_is_one_sentence_each_and_the_rest_goes_on(space: Space, tmp_path: Path) -> None:
    root = tmp_path / "v"
    root.mkdir()
    (root / "good.md").write_text("good\n")
    (root / "dangling.md").symlink_to(root / "nowhere.md")
    (root / "closed.md").write_text("closed\n")
    (root / "closed.md").chmod(0)
    summary = import_paths(space, [root], NullListener())
    failed = {Path(one["path"]).name: one["reason"] for one in summary.failed}
    wrong = {Path(one["path"]).name: one["reason"] for one in summary.skipped} | failed
    assert "dangling.md" in wrong
    assert ("closed.md" in failed) == (os.geteuid() != 0)
    assert all("\n" not in reason for reason in wrong.values())
    assert summary.added == (2 if os.geteuid() == 0 else 1)
