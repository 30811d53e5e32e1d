"""Links between imported files become Relations, and stay what the files say."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Relation
from infospace.editing.undo import undo
from infospace.files.import_files import Summary, import_paths
from infospace.files.links import LABEL
from infospace.store.changes import Delete, MakeNote
from infospace.store.sqlite import open_store


def write(root: Path, **files: str) -> Path:
    """Write files under a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def add(space: Space, *paths: Path, prune: bool = False) -> Summary:
    """Import, and see that the store is consistent."""
    summary = import_paths(space, paths, NullListener(), prune=prune)
    assert space.store.check() == []
    return summary


def arrows(space: Space) -> set[tuple[str, str]]:
    """Return the links as pairs of paths."""
    with space.store.reading() as snapshot:
        paths = {one.note: one.path for one in snapshot.tracked()}
        found = [snapshot.get(one) for one in snapshot.relations(relation=LABEL)]
    pairs = [(paths[one.source], paths[one.target]) for one in found if isinstance(one, Relation)]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def unresolved(space: Space) -> set[str]:
    """Return the targets that lead nowhere."""
    with space.store.reading() as snapshot:
        return {link.target for links in snapshot.links().values() for link in links if link.to is None}


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("[[b]]", "x/b.md"),
        ("[[B]]", "x/b.md"),
        ("[[b.md]]", "x/b.md"),
        ("[[x/b]]", "x/b.md"),
        ("[[x/b|shown]] and [[b#part]]", "x/b.md"),
        ("[[The title]]", "y/c.md"),
        ("[[the TITLE]]", "y/c.md"),
        ("[[v1.2]]", "y/v1.2.md"),
        ("[t](x/b.md)", "x/b.md"),
        ("[t](./x/../x/b.md#part)", "x/b.md"),
        ("[t](x/b)", "x/b.md"),
        ("[t](data.csv)", "data.csv"),
        ("[t](../in/x/b.md)", None),
        ("[t](b.md)", None),
        ("[[nobody]]", None),
        ("[[a]]", None),
        ("[t](https://x/b.md)", None),
        ("`[[b]]`", None),
    ],
)
def test_a_link_leads_to_a_file_by_path_stem_or_title(space: Space, tmp_path: Path, link: str, leads: str) -> None:
    """Within the root, upper and lower case alike; a file does not link to itself."""
    write(
        tmp_path / "in",
        **{"a.md": link, "x/b.md": "b", "y/c.md": "# The title\n", "y/v1.2.md": "v", "data.csv": "a\n1\n"},
    )
    add(space, tmp_path / "in")
    assert arrows(space) == ({("a.md", leads)} if leads else set())


def test_of_several_the_nearest_is_meant(space: Space, tmp_path: Path) -> None:
    """The same folder first, then nearest to the root, then in the order of paths."""
    folder = write(tmp_path / "in", **{"x/x/a.md": "[[n]]", "x/x/n.md": "", "y/a.md": "[[n]]", "z/z/n.md": ""})
    add(space, folder)
    assert arrows(space) == {("x/x/a.md", "x/x/n.md"), ("y/a.md", "x/x/n.md")}
    for nearer in ("z/n.md", "w/n.md", "n.md"):
        write(folder, **{nearer: ""})
        add(space, folder)
        assert arrows(space) == {("x/x/a.md", "x/x/n.md"), ("y/a.md", nearer)}


def test_of_files_with_one_title_that_in_the_same_folder_is_meant(space: Space, tmp_path: Path) -> None:
    """Though another is nearer to the root, and before it in the order of paths."""
    files: dict[str, str | bytes] = {"a.md": "# T", "x/y/b.md": "# T", "x/y/c.md": "[[T]]", "z/d.md": "[[T]]"}
    add(space, write(tmp_path / "in", **files))
    assert arrows(space) == {("x/y/c.md", "x/y/b.md"), ("z/d.md", "a.md")}


def test_what_is_written_in_the_same_case_goes_before_what_is_near(space: Space, tmp_path: Path) -> None:
    """By name, by path and by title; then the folder decides."""
    files: dict[str, str | bytes] = {
        "w/a.md": "[[Name]]",
        "x/name.md": "",
        "y/b.md": "[[The title]]",
        "y/c.md": "# The Title",
        "z/z/Name.md": "# The title",
    }
    add(space, write(tmp_path / "in", **files))
    assert arrows(space) == {("w/a.md", "z/z/Name.md"), ("y/b.md", "z/z/Name.md")}


def test_an_unresolved_link_is_kept_until_its_target_comes(space: Space, tmp_path: Path) -> None:
    """It becomes a Relation though its own file did not change, and unresolved again when the target goes."""
    folder = write(tmp_path / "in", **{"a.md": "[[later]] [[never]]"})
    add(space, folder)
    assert (arrows(space), unresolved(space)) == (set(), {"later", "never"})
    write(folder, **{"x/later.md": ""})
    add(space, folder)
    assert (arrows(space), unresolved(space)) == ({("a.md", "x/later.md")}, {"never"})
    (folder / "x/later.md").unlink()
    add(space, folder, prune=True)
    assert (arrows(space), unresolved(space)) == (set(), {"later", "never"})


def test_a_link_whose_file_is_called_otherwise_now_leads_to_a_note_in_the_same_import(
    space: Space, tmp_path: Path
) -> None:
    """To one without a file, which is called so; nothing is left for the next import."""
    folder = write(tmp_path / "in", **{"a.md": "[[T]]", "b.md": "# T\n"})
    add(space, folder)
    note = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(note, "no file", {"title": "T"}, kept=True)])
    assert arrows(space) == {("a.md", "b.md")}
    write(folder, **{"b.md": "# Another\n"})
    add(space, folder)
    with space.store.reading() as snapshot:
        [relation] = [snapshot.get(one) for one in snapshot.relations(target=note)]
    assert isinstance(relation, Relation)
    assert add(space, folder).run is None


def test_a_link_that_leaves_the_file_takes_its_relation(space: Space, tmp_path: Path) -> None:
    """The others stay the same Relations, and so do those that were made by hand."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]] [[c]]", "b.md": "", "c.md": ""})
    add(space, folder)
    with space.store.reading() as snapshot:
        before = snapshot.relations()
    write(folder, **{"a.md": "[[c]] more"})
    add(space, folder)
    assert arrows(space) == {("a.md", "c.md")}
    with space.store.reading() as snapshot:
        assert set(snapshot.relations()) < set(before)


def test_a_relation_that_was_deleted_by_hand_stays_away(space: Space, tmp_path: Path) -> None:
    """Until the link leads elsewhere."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "b.md": ""})
    add(space, folder)
    with space.store.reading() as snapshot:
        relation = snapshot.relations()[0]
    space.store.commit([Delete(relation)])
    write(folder, **{"c.md": ""})
    add(space, folder)
    assert arrows(space) == set()


def test_links_follow_a_moved_file(space: Space, tmp_path: Path) -> None:
    """By its stem still; by its path no more."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "c.md": "[t](b.md)", "b.md": "text"})
    add(space, folder)
    assert arrows(space) == {("a.md", "b.md"), ("c.md", "b.md")}
    (folder / "x").mkdir()
    (folder / "b.md").rename(folder / "x/b.md")
    add(space, folder)
    assert arrows(space) == {("a.md", "x/b.md")}


NAMES = ["a.md", "b.md", "x/a.md", "x/c.md", "y/b.md"]
TEXTS = st.lists(
    st.sampled_from(["[[a]]", "[[b]]", "[[c]]", "[[x/a]]", "[t](a.md)", "[t](../b.md)", "[[T]]", "# T\n\n"]), max_size=3
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.none() | TEXTS, max_size=5), min_size=1, max_size=4),
    st.permutations(NAMES),
)
def test_relations_depend_on_the_files_and_not_on_how_they_came(
    rounds: list[dict[str, str | None]], order: list[str]
) -> None:
    """After any history of edits, and file by file in any order, the links are those of one fresh import."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "in"
        write(folder, **{"root.md": ""})
        with Space(open_store(":memory:", create=True)) as grown, Space(open_store(":memory:", create=True)) as pieces:
            for files in rounds:
                for path, text in files.items():
                    if text is None:
                        (folder / path).unlink(missing_ok=True)
                    else:
                        write(folder, **{path: text})
                add(grown, folder, prune=True)
            add(pieces, folder / "root.md")
            for path in order:
                if (folder / path).exists():
                    add(pieces, folder / path)
            with Space(open_store(":memory:", create=True)) as fresh:
                add(fresh, folder)
                assert arrows(grown) == arrows(fresh) == arrows(pieces)
                assert unresolved(grown) == unresolved(fresh) == unresolved(pieces)


def labelled(space: Space) -> list[tuple[str, str, str]]:
    """Return the Relations as `related` sees them: path, label and path."""
    with space.store.reading() as snapshot:
        paths = {one.note: one.path for one in snapshot.tracked()}
        found = [snapshot.get(one) for one in snapshot.relations()]
    return sorted((paths[one.source], one.relation, paths[one.target]) for one in found if isinstance(one, Relation))


def test_a_relation_carries_the_label_that_the_text_says(space: Space, tmp_path: Path) -> None:
    root = write(
        tmp_path,
        **{"a.md": "- implements [[b]]\n- part of [[c]] (for now)\n- see\n\n[[c]] [[d]]\n", "b.md": "b", "c.md": "c"},
    )
    add(space, root)
    both = [("a.md", "links-to", "c.md"), ("a.md", "part of", "c.md")]
    assert labelled(space) == [("a.md", "implements", "b.md"), *both]
    write(tmp_path, **{"d.md": "- needs [[a]]"})
    add(space, root)
    assert labelled(space)[1:] == [
        both[0],
        ("a.md", "links-to", "d.md"),
        both[1],
        ("d.md", "needs", "a.md"),
    ]


def test_another_label_is_another_relation_and_the_rest_stays(space: Space, tmp_path: Path) -> None:
    root = write(tmp_path, **{"a.md": "- implements [[b]]\n- needs [[c]]\n", "b.md": "b", "c.md": "c"})
    add(space, root)
    with space.store.reading() as snapshot:
        [stays] = snapshot.relations(relation="needs")
    write(root, **{"a.md": "- extends [[b]]\n- needs [[c]]\n"})
    run = add(space, root).run
    assert labelled(space) == [("a.md", "extends", "b.md"), ("a.md", "needs", "c.md")]
    assert add(space, root).run is None
    undo(space.store, str(run))
    assert labelled(space) == [("a.md", "implements", "b.md"), ("a.md", "needs", "c.md")]
    with space.store.reading() as snapshot:
        assert snapshot.relations(relation="needs") == [stays]
    assert space.store.check() == []
    write(root, **{"a.md": "[[b]]\n- needs [[c]]\n"})
    add(space, root)
    assert labelled(space) == [("a.md", "links-to", "b.md"), ("a.md", "needs", "c.md")]


def test_each_label_to_one_target_has_a_relation_of_its_own(space: Space, tmp_path: Path) -> None:
    """And each goes with its words, also when that is undone; the table of links says the same."""
    root = write(tmp_path, **{"a.md": "- implements [[b]]\n- replaces [[b]]\n- see [b](b.md)\n", "b.md": "b"})
    add(space, root)
    three = [("a.md", label, "b.md") for label in ("implements", "links-to", "replaces")]
    assert labelled(space) == three
    with space.store.reading() as snapshot:
        table = snapshot.space_table("links", (), ())
        target = next(one.note for one in snapshot.tracked() if one.path == "b.md")
        assert [*table.column("relation")] == ["implements", "replaces", "links-to"]
        assert [*table.column("target")] == [target] * 3
    write(root, **{"a.md": "- replaces [[b]]\n"})
    run = add(space, root).run
    assert labelled(space) == three[2:]
    undo(space.store, str(run))
    assert labelled(space) == three
    assert space.store.check() == []


def test_a_link_to_a_table_leads_to_its_first_row(space: Space, tmp_path: Path) -> None:
    """By its whole name alone, and to the next row once that is gone; other files are found with or without suffix."""
    text = "[c](data/costs.csv) [[costs.csv]] [[costs]] [[lines.jsonl]] [[x]] [[p.txt]] [h](data/h.html)"
    files = {"costs.csv": "name\nspade\nseed\n", "lines.jsonl": "1\n2\n", "x.json": "1", "p.txt": "p", "h.html": "h"}
    root = write(tmp_path, **{"a.md": text, **{f"data/{name}": data for name, data in files.items()}})
    add(space, root)
    where = {"costs.csv#1", "lines.jsonl#1", "x.json", "p.txt", "h.html"}

    def led() -> set[str]:
        with space.store.reading() as snapshot:
            paths = {one.note: one.path + (f"#{one.part}" if one.part else "") for one in snapshot.tracked()}
            return {paths[one.target].removeprefix("data/") for one in map(snapshot.get, snapshot.relations())}

    assert led() == where
    assert unresolved(space) == {"costs"}
    write(root, **{"data/costs.csv": "name\nseed\n"})
    add(space, root, prune=True)
    assert led() == {*where - {"costs.csv#1"}, "costs.csv#2"}
    assert space.store.check() == []
