"""Everything can be taken out as files, and put back; nothing that is not ours is touched."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Note
from infospace.editing.edit import edit
from infospace.files import export as exporting
from infospace.files.atomic_write import write_atomically
from infospace.files.export import MANIFEST, ExportReport, export, write_back
from infospace.files.import_files import import_paths
from infospace.files.render import render
from infospace.store.changes import Delete, Evidence, GiveName, MakeNote, Revise, Track
from infospace.store.sqlite import open_store
from tests.infospace.memory.imported import arrows, write


def fresh() -> Space:
    """A space in memory."""
    return Space(open_store(":memory:", create=True))


def make(space: Space, content: Any, metadata: Any = None, name: str | None = None) -> str:
    """Make a kept Note."""
    identifier = space.store.new_id(Kind.NOTE)
    named = [GiveName(identifier, name)] if name else []
    space.store.commit([MakeNote(identifier, content, metadata or {}, kept=True), *named])
    return identifier


def add(space: Space, folder: Path) -> dict[str, str]:
    """Import a folder in which nothing may fail; return path to id."""
    assert import_paths(space, [folder], NullListener()).failed == []
    with space.store.reading() as snapshot:
        return {one.path: one.note for one in snapshot.tracked()}


def notes(space: Space) -> list[tuple[Any, dict[str, Any]]]:
    """Return content and metadata of the kept Notes."""
    with space.store.reading() as snapshot:
        return [(one.content, dict(one.metadata)) for one in snapshot.listing(Kind.NOTE)]


def files(folder: Path) -> dict[str, bytes]:
    """Return all files under a folder but the manifest."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def told(done: ExportReport) -> tuple[int, int, int, int]:
    """Return the counts."""
    return done.written, done.unchanged, done.removed, len(done.failed)


def by_content(one: Any) -> str:
    """Sort key for what JSON can hold."""
    return json.dumps(one, sort_keys=True)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["# A\n\n#tag", "---\na: 1\n---\n", "#tag [[x]]", "a\r\nb", "\0", "\ufeffx", "", "```\n#no\n```", "- a\n- b\n"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(st.sampled_from(["title", "tags", "k", "a b", "", "no", "\n"]), VALUES, max_size=3)
NAMES = st.none() | st.sampled_from(["a", "A", "con", ".x", "x/y", "x/y.md", "x.metadata", "é", "z" * 200])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(VALUES, METADATA, NAMES), max_size=6))
@example([([1], {"title": "x"}, None), ([2], {"title": "x.metadata"}, None), ([3], {"title": "x"}, None)])
@example([("", {"tags": "a, b"}, None), ("# T\n\n#c", {"tags": ["b"], "title": "U"}, None)])
def test_whatever_is_kept_comes_back(made: list[tuple[Any, Any, str | None]]) -> None:
    """Content exactly, metadata completed by what the text says; and from then on exactly."""
    with tempfile.TemporaryDirectory() as name, fresh() as first, fresh() as second, fresh() as third:
        names = set()
        for content, metadata, own in made:
            given = None if own in names else own
            names.add(own)
            make(first, content, metadata, given)
        one, two = Path(name) / "one", Path(name) / "two"
        assert export(first.store, one).failed == []
        add(second, one)
        left = notes(second)
        exact = [note for note in notes(first) if note in left]
        for note in sorted(notes(first), key=lambda note: note not in exact):
            fits = [one for one in left if by_content(one) == by_content(note)]
            fits = fits or [one for one in left if by_content(one[0]) == by_content(note[0]) and _kept(note[1], one[1])]
            assert fits, (note, left)
            left.remove(fits[0])
        assert left == []
        assert export(second.store, two).failed == []
        add(third, two)
        assert sorted(notes(third), key=by_content) == sorted(notes(second), key=by_content)


def _kept(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether metadata is what it was, but for a title and tags that the text says."""
    tags = before.get("tags")
    same = all(by_content(after.get(key)) == by_content(value) for key, value in before.items() if key != "tags")
    if isinstance(tags, str) and isinstance(after.get("tags"), list):
        tags = [one.strip().removeprefix("#").strip() for one in tags.split(",")]
        tags = [one for one in tags if one]
    fits = tags is None or by_content(tags) == by_content(after.get("tags")) or _all_in(tags, after.get("tags"))
    return same and fits and after.keys() - before.keys() <= {"title", "tags"}


def _all_in(tags: Any, after: Any) -> bool:
    if not isinstance(tags, list) or not isinstance(after, list):
        return False
    texts = (tag if isinstance(tag, str) else json.dumps(tag) for tag in tags)
    cleaned = [text.strip().removeprefix("#").strip() for text in texts]
    return all(tag in after for tag in cleaned if tag)


LINKED = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "x/a.md", "x/c.txt", "y/d.html", "A.md"]),
    st.lists(
        st.sampled_from(["[[a]]", "[[c]]", "[[x/a]]", "[t](../b.md)", "[t](x/a.md)", "[[d]]", "#tag"]), max_size=3
    ),
    max_size=6,
)


@settings(max_examples=25, deadline=None)
@given(LINKED)
def test_imported_files_come_back_with_their_folders_and_links(linked: dict[str, list[str]]) -> None:
    """By the same paths, but for formats that are not written."""
    with tempfile.TemporaryDirectory() as name, fresh() as first, fresh() as second:
        folder, out = Path(name) / "in", Path(name) / "out"
        folder.mkdir()
        for path, links in linked.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(f"<p>{path}" if path.endswith("html") else f"{path} " + " ".join(links))
        add(first, folder)
        assert export(first.store, out).failed == []
        add(second, out)
        assert {path.replace(".html", ".md") for path in linked} == set(files(out)) or {"a.md", "A.md"} <= set(linked)
        assert sorted(notes(second), key=by_content) == sorted(notes(first), key=by_content)
        if not {"a.md", "A.md"} <= set(linked):
            assert _arrows(first) == _arrows(second)


def _arrows(space: Space) -> set[tuple[Any, Any]]:
    with space.store.reading() as snapshot:
        found: list[Any] = [snapshot.get(one) for one in snapshot.relations()]
        return {(snapshot.get(one.source).content, snapshot.get(one.target).content) for one in found}


def test_each_note_is_one_file_where_people_look_for_it(tmp_path: Path) -> None:
    """By its path, its row, its name, its title, or its id; search results are left out."""
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "in/x/a.md").write_text("---\nk: 1\n---\n\n# A\n")
    (tmp_path / "in/b.txt").write_text("b")
    (tmp_path / "in/t.csv").write_text("n\n1\n")
    with fresh() as space:
        add(space, tmp_path / "in")
        make(space, "text", {"title": "A/B: c?"})
        make(space, {"n": 1}, {"k": [1]}, "my data")
        last = make(space, "no title")
        space.store.commit([MakeNote(space.store.new_id(Kind.NOTE), Evidence(last, 1, 0.5), kept=True)])
        assert told(export(space.store, tmp_path / "out")) == (7, 0, 0, 0)
    assert files(tmp_path / "out") == {
        "x/a.md": b"---\nk: 1\n---\n\n# A\n",
        "b.txt": b"b",
        "t.csv/1.json": b'{\n  "n": "1"\n}\n',
        "A-B- c-.md": b'---\ntitle: "A/B: c?"\n---\n\ntext',
        "my data.json": b'{\n  "n": 1\n}\n',
        "my data.metadata.json": b'{\n  "k": [\n    1\n  ]\n}\n',
        f"{last}.md": b"no title",
    }


def test_roots_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    """When there are several."""
    with fresh() as space:
        for root in ("one/notes", "two/notes"):
            (tmp_path / root).mkdir(parents=True)
            (tmp_path / root / "index.md").write_text(root)
            add(space, tmp_path / root)
        export(space.store, tmp_path / "out")
    assert files(tmp_path / "out") == {"notes/index.md": b"one/notes", "notes-2/index.md": b"two/notes"}


def test_exporting_again_writes_what_changed_and_removes_what_is_gone(tmp_path: Path) -> None:
    """Only files that an export wrote, and that are still as it wrote them."""
    out = tmp_path / "out"
    with fresh() as space:
        a, b = make(space, "a", name="a"), make(space, "b", name="b")
        make(space, "c", name="c")
        export(space.store, out)
        (out / "c.md").write_text("mine now")
        (out / "foreign.md").write_text("foreign")
        space.store.commit([Revise(a, "aa"), GiveName(b, "x/../b2")])
        done = export(space.store, out)
        assert told(done) == (2, 0, 1, 1)
        assert Path(done.failed[0]["path"]).name == "c.md"
        assert files(out) == {"a.md": b"aa", "x-..-b2.md": b"b", "c.md": b"mine now", "foreign.md": b"foreign"}
        assert told(export(space.store, out, force=True)) == (1, 2, 0, 0)
        assert files(out)["c.md"] == b"c"
        assert files(out)["foreign.md"] == b"foreign"


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_the_user_changed_stays_when_its_note_is_gone(tmp_path: Path, force: bool) -> None:
    """Though an export wrote it; what nobody changed goes with its folder, and what is a link is left alone."""
    out = tmp_path / "out"
    with fresh() as space:
        add(space, write(tmp_path / "in", **{"x/a.md": "a", "y/z/b.md": "b", "c.md": "c", "d.md": "d"}))
        export(space.store, out)
        (out / "x/a.md").write_text("mine now")
        (out / "c.md").unlink()
        (tmp_path / "else").write_text("c")
        (out / "c.md").symlink_to(tmp_path / "else")
        with space.store.reading() as snapshot:
            gone = [one.note for one in snapshot.tracked() if one.path != "d.md"]
        space.store.commit([Delete(one) for one in gone])
        assert told(export(space.store, out, force=force)) == (0, 1, 1, 0)
        assert files(out) == {"x/a.md": b"mine now", "c.md": b"c", "d.md": b"d"}
        assert not (out / "y").exists()
        assert told(export(space.store, out)) == (0, 1, 0, 0)
        assert (out / "x/a.md").read_text() == "mine now"


def test_a_note_that_changes_before_every_export_is_replaced_every_time(tmp_path: Path) -> None:
    """The manifest has the bytes that were written last, also where those were not the first."""
    out = tmp_path / "out"
    with fresh() as space:
        note = make(space, "0", name="a")
        for number in range(3):
            space.store.commit([Revise(note, f"{number}")])
            assert told(export(space.store, out)) == (1, 0, 0, 0)
    assert files(out) == {"a.md": b"2"}


def test_an_export_without_its_manifest_takes_its_own_files_for_its_own_again(tmp_path: Path) -> None:
    """They are byte for byte what it would write, so what goes later takes its file along."""
    out = tmp_path / "out"
    with fresh() as space:
        a, _ = make(space, "a", name="a"), make(space, "b", name="b")
        export(space.store, out)
        (out / MANIFEST).unlink()
        assert told(export(space.store, out)) == (0, 2, 0, 0)
        space.store.commit([Delete(a)])
        assert told(export(space.store, out)) == (0, 1, 1, 0)
    assert files(out) == {"b.md": b"b"}


def test_only_files_below_a_path_are_written_back(tmp_path: Path) -> None:
    """A folder whose name goes on with other letters is not below it."""
    folder = write(tmp_path / "in", **{"x/a.md": "a", "xy/b.md": "b", "x.md": "c"})
    with fresh() as space:
        space.store.commit([Revise(note, "mine") for note in add(space, folder).values()])
        assert told(write_back(space.store, folder / "x")) == (1, 0, 0, 0)
        assert files(folder) == {"x/a.md": b"mine", "xy/b.md": b"b", "x.md": b"c"}
        assert told(write_back(space.store, folder / "xy" / "b.md")) == (1, 0, 0, 0)
        assert told(write_back(space.store)) == (1, 2, 0, 0)
    assert files(folder) == {"x/a.md": b"mine", "xy/b.md": b"mine", "x.md": b"mine"}


def test_foreign_files_stay_unless_forced(tmp_path: Path) -> None:
    """Also when another space wrote them."""
    out = tmp_path / "out"
    with fresh() as one, fresh() as other:
        make(one, "one", name="a")
        make(other, "other", name="a")
        export(one.store, out)
        assert told(export(other.store, out)) == (0, 0, 0, 1)
        assert files(out) == {"a.md": b"one"}
        assert told(export(other.store, out, force=True)) == (1, 0, 0, 0)
        assert files(out) == {"a.md": b"other"}


def test_nothing_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    """Not through links, and not by a manifest that somebody made up."""
    (tmp_path / "in/x").mkdir(parents=True)
    (tmp_path / "in/x/a.md").write_text("a")
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    outside.mkdir()
    (out / "x").symlink_to(outside)
    (outside / "victim").write_text("v")
    digest = "4c94485e0c21ae6c41ce1dfe7b6bfaceea5ab68e40a2476f50208e526f506080"
    with fresh() as space:
        manifest = {"space": space.store.identity, "files": {"../outside/victim": digest, "x/victim": digest}}
        (out / MANIFEST).write_text(json.dumps(manifest))
        add(space, tmp_path / "in")
        done = export(space.store, out, force=True)
    assert "outside" in done.failed[0]["reason"]
    assert files(outside) == {"victim": b"v"}


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No half files, and none beside it."""
    out = tmp_path / "out"
    with fresh() as space:
        a = make(space, "a", name="a")
        export(space.store, out)
        space.store.commit([Revise(a, "b" * 100)])
        real = os.fdopen

        def full(descriptor: int, mode: str) -> Any:
            file = real(descriptor, mode)
            if not Path(f"/proc/self/fd/{descriptor}").readlink().name.startswith("..info"):
                file.write(b"half")
                file.close()
                raise OSError(28, "No space left on device")
            return file

        monkeypatch.setattr(os, "fdopen", full)
        done = export(space.store, out)
    assert "No space left" in done.failed[0]["reason"]
    assert files(out) == {"a.md": b"a"}


def test_what_takes_the_place_of_a_file_is_on_the_disk_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new need not be: a power cut takes nothing away with it."""
    done: list[str] = []
    synced, replaced = os.fsync, Path.replace

    def sync(handle: int) -> None:
        done.append(f"sync {os.fstat(handle).st_size}")
        synced(handle)

    def replace(self: Path, target: Path) -> Path:
        done.append(f"replace {target.name}")
        return replaced(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    write_atomically(tmp_path / "a.md", b"one")
    write_atomically(tmp_path / "a.md", b"three")
    assert done == ["replace a.md", "sync 5", "replace a.md"]


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
@pytest.mark.parametrize("rights", [0o600, 0o640, 0o666])
def test_what_replaces_a_file_never_has_more_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rights: int
) -> None:
    """Nobody but its owner can open it before it has those of the file that was there, and then it is still empty."""
    path = write(tmp_path, **{"a.md": "old"}) / "a.md"
    path.chmod(rights)
    seen: list[int] = []

    class Watched(io.BufferedWriter):
        def write(self, data: Any) -> int:
            seen.append(os.fstat(self.fileno()).st_mode & 0o777)
            return super().write(data)

    def opened(descriptor: int, mode: str) -> Watched:
        seen.append(os.fstat(descriptor).st_mode & 0o777)
        return Watched(io.FileIO(descriptor, mode))

    monkeypatch.setattr(os, "fdopen", opened)
    write_atomically(path, b"new")
    assert seen == [0o600, rights]
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", rights)


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    """Also one that leads to another link, or to a file that is not there yet; nothing is left beside either."""
    folder = write(tmp_path / "real", **{"a.json": "old"})
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(folder / "a.json")
    (tmp_path / "new").symlink_to(folder / "b.json")
    write_atomically(tmp_path / "one", b"written")
    write_atomically(tmp_path / "new", b"made")
    assert files(folder) == {"a.json": b"written", "b.json": b"made"}
    assert {one.name for one in tmp_path.iterdir() if one.is_symlink()} == {"one", "two", "new"}
    write_atomically(tmp_path / "one", b"in its place", follow=False)
    assert not (tmp_path / "one").is_symlink()
    assert files(folder)["a.json"] == b"written"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    """It is a pipe afterwards, too."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", b"written")
    assert (tmp_path / "pipe").is_fifo()
    assert os.read(reader, 99) == b"written"
    os.close(reader)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a system whose /dev/stdout is such a link")
@pytest.mark.parametrize("is_file", [False, True])
def test_standard_output_is_written_into(tmp_path: Path, is_file: bool) -> None:
    """Whether it is a pipe or a file: what is printed later comes after it."""
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    code = (
        "import sys; from pathlib import Path; from infospace.files.atomic_write import write_atomically\n"
        "write_atomically(Path(sys.argv[1]), b'1\\n'); print(2)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "stdout")]
    if is_file:
        with (tmp_path / "out").open("wb") as out:
            subprocess.run(command, stdout=out, check=True)
        said = (tmp_path / "out").read_bytes()
    else:
        said = subprocess.run(command, capture_output=True, check=True).stdout
    assert (said, (tmp_path / "stdout").is_symlink()) == (b"1\n2\n", True)


def test_a_link_in_a_vault_is_followed_unless_it_leads_out(tmp_path: Path) -> None:
    """Somebody has moved a file, and left a link to it: within the vault it is written there, and stays elsewhere."""
    folder = write(tmp_path / "in", **{"a.md": "a", "b.md": "b", "x/c.md": "c", "d.csv": "v\n1\n"})
    with fresh() as space:
        known = add(space, folder)
        (tmp_path / "out").mkdir()
        for name, to in {"a.md": folder / "other.txt", "b.md": tmp_path / "out/b", "x": tmp_path / "out/x"}.items():
            (folder / name).rename(to)
            (folder / name).symlink_to(to)
        (folder / "d.csv").rename(tmp_path / "out/d")
        (folder / "d.csv").symlink_to(tmp_path / "out/d")
        (folder / "a.metadata.json").symlink_to(tmp_path / "out/b")
        edits = {path: {"v": "2"} if path == "d.csv" else "edited" for path in known}
        space.store.commit([Revise(known[path], content) for path, content in edits.items()])
        done = write_back(space.store)
    assert told(done) == (1, 0, 0, 3)
    assert {one["reason"] for one in done.failed} == {f"a link leads out of {str(folder)!r} (move the file back)"}
    assert (folder / "a.md").is_symlink()
    assert (folder / "other.txt").read_text() == "edited"
    assert files(tmp_path / "out") == {"b": b"b", "d": b"v\n1\n", "x/c.md": b"c"}


def test_edits_are_written_back_to_their_files(tmp_path: Path) -> None:
    """In the file's format, with its line ends; importing then finds nothing new."""
    (tmp_path / "a.md").write_bytes(b"---\r\nk: 1\r\n---\r\n# A\r\n")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "c.json").write_text("[1]")
    (tmp_path / "d.md").write_text("d")
    (tmp_path / "a.md").chmod(0o640)
    with fresh() as space:
        known = add(space, tmp_path)
        assert told(write_back(space.store)) == (0, 4, 0, 0)
        space.store.commit(
            [
                Revise(known["a.md"], "# A\n\nsee [[b]]\n", {"k": 2, "title": "A"}),
                Revise(known["b.txt"], "bb"),
                Revise(known["c.json"], {"n": 1}, {"m": 1}),
            ]
        )
        assert told(write_back(space.store, tmp_path / "a.md")) == (1, 0, 0, 0)
        assert told(write_back(space.store)) == (2, 2, 0, 0)
        assert (tmp_path / "a.md").read_bytes() == b"---\r\nk: 2\r\n---\r\n# A\r\n\r\nsee [[b]]\r\n"
        assert (tmp_path / "a.md").stat().st_mode & 0o777 == 0o640
        assert (tmp_path / "b.txt").read_text() == "bb"
        assert json.loads((tmp_path / "c.json").read_text()) == {"n": 1}
        assert json.loads((tmp_path / "c.metadata.json").read_text()) == {"m": 1}
        assert len(_arrows(space)) == 1
        again = import_paths(space, [tmp_path], NullListener())
        assert (again.unchanged, again.changed, again.run) == (4, 0, None)


def test_what_cannot_be_written_back_is_said(tmp_path: Path) -> None:
    """A file that changed meanwhile, a row, a page, text with metadata; all stay as they are."""
    texts = {"a.md": "a", "r.jsonl": "1\n", "p.html": "<p>p", "t.txt": "t", "gone.md": "g"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with fresh() as space:
        known = add(space, tmp_path)
        space.store.commit([Revise(one, "edited", {"k": 1}) for one in known.values()])
        (tmp_path / "a.md").write_text("theirs")
        (tmp_path / "gone.md").unlink()
        done = write_back(space.store)
        reasons = {Path(one["path"]).name: one["reason"] for one in done.failed}
    assert done.written == 0
    assert set(reasons) == set(texts)
    assert "has changed since" in reasons["a.md"]
    assert "cannot hold" in reasons["t.txt"]
    assert "not there any more" in reasons["gone.md"]
    assert (tmp_path / "a.md").read_text() == "theirs"


def test_what_is_no_file_is_never_overwritten(tmp_path: Path) -> None:
    """A link or a folder that has the name stays, also when forced."""
    out = write(tmp_path / "out", **{"b.md/inside": "x"})
    (tmp_path / "target").write_text("theirs")
    (out / "a.md").symlink_to(tmp_path / "target")
    with fresh() as space:
        make(space, "a", name="a")
        make(space, "b", name="b")
        done = export(space.store, out, force=True)
    assert told(done) == (0, 0, 0, 2)
    assert {Path(one["path"]).name for one in done.failed} == {"a.md", "b.md"}
    assert (out / "a.md").is_symlink()
    assert (tmp_path / "target").read_text() == "theirs"


def test_the_manifest_knows_the_files_that_are_there(tmp_path: Path) -> None:
    """One that somebody removed is forgotten; one that was changed and is as it was again is written anew."""
    out = tmp_path / "out"
    with fresh() as space:
        a, b = make(space, "a", name="a"), make(space, "b", name="b")
        export(space.store, out)
        (out / "a.md").write_text("mine")
        (out / "b.md").unlink()
        space.store.commit([Revise(a, "aa"), Delete(b)])
        assert told(export(space.store, out)) == (0, 0, 0, 1)
        assert set(json.loads((out / MANIFEST).read_bytes())["files"]) == {"a.md"}
        (out / "a.md").write_text("a")
        assert told(export(space.store, out)) == (1, 0, 0, 0)
        assert files(out) == {"a.md": b"aa"}


def test_a_note_of_two_files_is_written_to_the_first(tmp_path: Path) -> None:
    """In the order of root and path."""
    with fresh() as space:
        note = add(space, write(tmp_path / "in", **{"b.md": "b"}))["b.md"]
        root = str(tmp_path / "in")
        space.store.commit([Track(root, path, note, b"x" * 32, 1, 0, None) for path in ("c.md", "a/a.md")])
        export(space.store, tmp_path / "out")
    assert list(files(tmp_path / "out")) == ["a/a.md"]


def test_what_was_imported_has_its_path_before_what_was_made(tmp_path: Path) -> None:
    """Then the older goes before the newer, by number."""
    with fresh() as space:
        made = [make(space, f"made {number}", {"title": "a"}) for number in range(11)]
        add(space, write(tmp_path / "in", **{"a.md": "imported"}))
        export(space.store, tmp_path / "out")
    found = {name: data.rpartition(b"\n")[2].decode() for name, data in files(tmp_path / "out").items()}
    assert (found["a.md"], len(made)) == ("imported", 11)
    assert [found[f"a-{number}.md"] for number in (2, 3, 11, 12)] == ["made 0", "made 1", "made 9", "made 10"]


def test_json_is_written_back_with_its_metadata(tmp_path: Path) -> None:
    """With line feeds; metadata that is empty now is written as such where it lay, and nowhere else."""
    written = {"j.json": '{"n":\r\n1}\r\n', "j.metadata.json": '{"k": 1}', "l.json": "[1]"}
    folder = write(tmp_path / "in", **written, **{"m.json": "[ 1]", "m.metadata.json": '{"k" :1,"l":2}'})
    with fresh() as space:
        ids = add(space, folder)
        with space.store.reading() as snapshot:
            known: Any = {path: snapshot.get(note) for path, note in ids.items()}
        edit(space.store, known["j.json"], {"n": 2}, {}, "edit")
        edit(space.store, known["l.json"], [2], {}, "edit")
        edit(space.store, known["m.json"], [1, 2], {"k": 1, "l": 3}, "edit")
        assert told(write_back(space.store)) == (3, 0, 0, 0)
    assert files(folder) == {
        "j.json": b'{"n":\r\n2}\r\n',
        "j.metadata.json": b"{}\n",
        "l.json": b"[2]",
        "m.json": b"[ 1, 2]",
        "m.metadata.json": b'{"k" :1,"l":3}',
    }


def test_metadata_for_which_the_name_of_the_file_is_too_long_is_said(tmp_path: Path) -> None:
    """In place the file stays, since half of the note is not the note; the others are written."""
    name = "x" * 245
    folder = write(tmp_path / "in", **{f"{name}.json": "[1]", "y.json": "[1]", "z.json": "[1]"})
    with fresh() as space:
        ids = add(space, folder)
        with space.store.reading() as snapshot:
            known: Any = {path: snapshot.get(note) for path, note in ids.items()}
        edit(space.store, known[f"{name}.json"], [2], {"k": 1}, "edit")
        edit(space.store, known["z.json"], [2], {"k": 1}, "edit")
        done = write_back(space.store)
        assert told(done) == (1, 1, 0, 1)
        assert done.failed[0]["reason"].endswith(
            "has a name too long for one with metadata beside it (choose a shorter name)"
        )
        assert (folder / f"{name}.json").read_text() == "[1]"
        assert (folder / "z.json").read_text() == "[2]"
        done = export(space.store, tmp_path / "out")
    assert told(done) == (4, 0, 0, 1)
    assert "File name too long" in done.failed[0]["reason"]


def test_a_title_that_was_written_back_is_led_to(tmp_path: Path) -> None:
    """By links of other files, at once."""
    folder = write(tmp_path / "in", **{"a.md": "# Old\n", "b.md": "[[Brand new]]"})
    with fresh() as space:
        ids = add(space, folder)
        with space.store.reading() as snapshot:
            note: Any = snapshot.get(ids["a.md"])
        edit(space.store, note, "# Brand new\n\n[[b]]", {}, "edit")
        write_back(space.store)
        assert arrows(space) == {("b.md", "a.md"), ("a.md", "b.md")}
        with space.store.reading() as snapshot:
            assert [snapshot.get(one).created_by.by for one in snapshot.relations()] == ["edit", "export"]


def test_metadata_that_was_not_written_before_a_crash_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two files the first was written: it is known for the later version, and the other one for the earlier."""
    folder = write(tmp_path / "in", **{"j.json": "[ 1]", "j.metadata.json": '{"k": 1}'})

    def dies(path: Path, data: bytes, *, follow: bool) -> None:
        if path.name.endswith(".metadata.json"):
            raise KeyboardInterrupt
        write_atomically(path, data, follow=follow)

    with fresh() as space:
        ids = add(space, folder)
        with space.store.reading() as snapshot:
            note: Any = snapshot.get(ids["j.json"])
        edit(space.store, note, [2], {"k": 2}, "edit")
        with monkeypatch.context() as crashing:
            crashing.setattr(exporting, "write_atomically", dies)
            with pytest.raises(KeyboardInterrupt):
                write_back(space.store)
        assert files(folder) == {"j.json": b"[ 2]", "j.metadata.json": b'{"k": 1}'}
        assert told(write_back(space.store)) == (1, 0, 0, 0)
    assert files(folder) == {"j.json": b"[ 2]", "j.metadata.json": b'{"k": 2}'}


ODD = (
    b'---\n# whose it is\nstatus:   "open"\ntags: [ a,  b/c ]\nrank: 007\nwhen: 2026-01-02   # a day\n---\n'
    b"\n# One\r\n\nsee [[two]]\r\n"
)
"""A file that is written in another way than an export writes a Note that no file gave."""


def test_a_file_that_was_imported_is_exported_byte_for_byte(tmp_path: Path) -> None:
    space, odd = fresh(), {"one.md": ODD, "b/two.txt": b"plain\r\ntext\n", "three.json": b'{"a":1,   "b": [2]}'}
    odd |= {"four.json": b"[1 ,2]", "four.metadata.json": b'{"k" :1}'}
    write(tmp_path / "vault", **odd)
    add(space, tmp_path / "vault")
    assert told(export(space.store, tmp_path / "out")) == (5, 0, 0, 0)
    assert files(tmp_path / "out") == odd


def test_a_changed_note_is_exported_as_its_file_with_that_change_alone(tmp_path: Path) -> None:
    space = fresh()
    write(tmp_path / "vault", **{"one.md": ODD})
    one = add(space, tmp_path / "vault")["one.md"]
    with space.store.reading() as snapshot:
        note = snapshot.get(one)
    assert isinstance(note, Note)
    assert edit(space.store, note, note.content, {**note.metadata, "status": "done"}, "done")
    export(space.store, tmp_path / "out")
    assert files(tmp_path / "out") == {"one.md": ODD.replace(b'"open"', b'"done"')}
    assert files(tmp_path / "vault") == {"one.md": ODD}


@pytest.mark.parametrize("now", [b"somebody wrote on\n", None])
def test_a_file_that_is_another_now_or_gone_is_exported_from_its_note(tmp_path: Path, now: bytes | None) -> None:
    space, path = fresh(), tmp_path / "vault" / "one.md"
    write(tmp_path / "vault", **{"one.md": ODD})
    add(space, tmp_path / "vault")
    path.unlink() if now is None else path.write_bytes(now)
    export(space.store, tmp_path / "out")
    made = files(tmp_path / "out")["one.md"]
    assert made.startswith(b"---\nstatus: open\n")
    assert b"see [[two]]" in made


@pytest.mark.parametrize(
    ("content", "metadata", "suffix"),
    [
        ("\t", {"title": "U"}, ".md"),
        ("", {"k": "x", "tags": "a, b"}, ".md"),
        ("a", {"k": 1, "tags": ["b"]}, ".md"),
        ("\n#tag ", {"tags": None}, ".json"),
    ],
)
def test_a_text_is_markdown_where_that_says_all_its_metadata(content: str, metadata: Any, suffix: str) -> None:
    """Tags may be written in another way; what front matter would not give back as it is makes it JSON."""
    assert render(content, metadata).suffix == suffix
