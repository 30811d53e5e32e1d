"""What a link leads to, of all the places that it may mean: each rule alone, and which goes before which."""

from __future__ import annotations

import pytest

from infospace.store.changes import Linked
from infospace.store.link_targets import LinkPlace, LinkTargets, families, names_of


def leads(target: str, *places: LinkPlace, home: LinkPlace, wiki: bool = True) -> str | None:
    """Return the path of what a link in `home` leads to, or the name of a Note without a file."""
    known = (home, *places)
    found = LinkTargets(known).leads(home.note, Linked(target, wiki))
    return next((one.path or str(one.title) for one in known if one.note == found), None)


def file(path: str, number: int, root: str = "/in", title: str | None = None, *aliases: str) -> LinkPlace:
    return LinkPlace(root, path, 0, f"Note_{number}", title, aliases)


RANKS = {
    "the same case before what is near the root": ("Note", ["y/note.md", "z/z/Note.md"], "z/z/Note.md"),
    "a path from the folder before the same case": ("Note", ["x/note.md", "z/z/Note.md"], "x/note.md"),
    "the same folder before what is near the root": ("n", ["n.md", "x/n.md"], "x/n.md"),
    "what is near the root before the order of paths": ("n", ["a/a/n.md", "z/n.md"], "z/n.md"),
    "the order of paths last": ("n", ["c/n.md", "b/n.md"], "b/n.md"),
    "the own folder before another one of its letters": ("N", ["X/n.md", "x/n.md"], "x/n.md"),
    "a path from the folder before one from the root": ("y/n", ["y/n.md", "x/y/n.md"], "x/y/n.md"),
    "a path from the root before the end of one": ("y/n", ["x/z/y/n.md", "y/n.md"], "y/n.md"),
    "the end of a path": ("y/n", ["n.md", "z/y/n.md", "z/xy/n.md"], "z/y/n.md"),
    "with its suffix": ("n.md", ["n.txt", "n.md"], "n.md"),
    "with its suffix, though in another folder": ("n.md", ["z/n.txt", "z/n.md"], "z/n.md"),
    "in its own case": ("x/n", ["x/N.md", "x/n.md"], "x/n.md"),
    "a point is no suffix": ("v1.2", ["v1.md", "v1.2.md"], "v1.2.md"),
    "nothing of another name": ("n", ["x/nn.md", "n/x.md"], None),
}


@pytest.mark.parametrize("name", RANKS)
def test_of_several_files_one_is_meant(name: str) -> None:
    """Whichever of them is the older, and in whichever order they are known."""
    target, paths, meant = RANKS[name]
    home = file("x/home.md", 1)
    for order in (paths, paths[::-1]):
        places = [file(path, number) for number, path in enumerate(order, start=2)]
        assert leads(target, *places, home=home) == meant, order


def test_a_name_of_a_file_goes_before_a_title_and_a_title_before_an_alias() -> None:
    home = file("home.md", 1)
    stem, titled, called = file("z/n.md", 2), file("b.md", 3, "/in", "N"), file("a.md", 4, "/in", None, "n")
    assert leads("n", called, titled, stem, home=home) == "z/n.md"
    assert leads("n", called, titled, home=home) == "b.md"
    assert leads("n", called, home=home) == "a.md"
    assert leads("N", file("a.md", 5, "/in", "n"), file("z/z/b.md", 6, "/in", "N"), home=home) == "z/z/b.md"
    assert leads("n", file("z.md", 5, "/in", "N"), file("x/a.md", 6, "/in", "N"), home=file("x/h.md", 1)) == "x/a.md"


def test_a_path_in_text_is_no_name() -> None:
    """Only between double brackets a name or a title is meant."""
    home = file("x/home.md", 1)
    assert leads("n", file("y/n.md", 2), home=home, wiki=False) is None
    assert leads("title", file("y/n.md", 2, "/in", "title"), home=home, wiki=False) is None
    assert leads("../y/n.md", file("y/n.md", 2), home=home, wiki=False) == "y/n.md"


def test_the_own_root_goes_before_those_around_it() -> None:
    """And a root whose name only begins alike is none of the family."""
    home = file("home.md", 1, "/in/deep")
    own, outer, beside = file("z/n.md", 2, "/in/deep"), file("n.md", 3, "/in"), file("n.md", 4, "/in/deeper")
    assert leads("n", outer, beside, own, home=home) == "z/n.md"
    assert leads("n", outer, home=home) == "n.md"
    assert leads("n", file("n.md", 5, "/inner"), home=home) is None
    assert list(families(["/in/deep", "/inner", "/in"])) == [("/in", ["/in", "/in/deep"]), ("/inner", ["/inner"])]


def test_a_note_without_a_file_leads_to_a_file_under_any_root_and_to_the_oldest_of_equals() -> None:
    """By number, not as text; where there is no file, to another such Note."""
    home = LinkPlace("", "home", 0, "Note_1")
    there = [file("n.md", number, f"/{root}") for number, root in ((10, "a"), (9, "b"), (11, "c"))]
    known = LinkTargets([home, *there, LinkPlace("", "n", 0, "Note_2")])
    assert known.leads("Note_1", Linked("n", True)) == "Note_9"
    alone = LinkTargets([home, LinkPlace("", "n", 0, "Note_12"), LinkPlace("", "", 0, "Note_13", "n")])
    assert alone.leads("Note_1", Linked("n", True)) == "Note_12"
    assert alone.leads("Note_99", Linked("n", True)) is None


def test_a_table_is_led_to_by_its_whole_name_alone() -> None:
    """At the first row that is there."""
    home = file("home.md", 1)
    rows = [LinkPlace("/in", "t.csv", part, f"Note_{number}") for part, number in ((7, 2), (3, 4), (5, 3))]
    known = LinkTargets([home, *rows])
    assert known.leads("Note_1", Linked("t.csv", True)) == "Note_4"
    assert known.leads("Note_1", Linked("t", True)) is None
    assert "Note_4" not in known


def test_names_by_which_links_call_a_note() -> None:
    """In lower case; a row has none of its own."""
    assert names_of(file("x/A.b.MD", 1, "/in", "Title", "alias", "")) == {"a.b.md", "a.b", "title", "alias"}
    assert names_of(LinkPlace("/in", "t.csv", 2, "Note_1")) == {"t.csv"}
    assert names_of(LinkPlace("", "figures.v1", 0, "Note_1")) == {"figures.v1"}
    assert names_of(file("n.md", 1, "/in", "x" * 301)) == {"n.md", "n"}
