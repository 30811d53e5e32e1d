"""Folders are walked as git and people see them, and files are read as text or refused in a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace.core.errors import Invalid, NotFound
from infospace.files.formats import read
from infospace.files.walk import MAX_BYTES, FileToImport, RefusedFile, SkippedEntry, decode, read_bytes, walk

NAMES = st.sampled_from(["a", "b", "ab", "foo", "x y", "é", "b]"])
PATTERNS = st.sampled_from(
    [
        *("*", "*.md", "!*.md", "*/", "!*/", "a", "a/", "/a", "!a/", "b/*", "!b/ab", "**/a", "a/**", "a/**/b.md"),
        *("!foo", "[ab]*", "[!a]*", "[a-f]oo", "?.md", "\\a.md", "x y.md  ", "x\\ y", "#a", "\\#a", "!", "/", "/*"),
        *("**", "***", "[", "[]a]*", "[^b].md", "[[:alpha:]].md", "[b-a]", "\\", "[\\]]*", "a/b/", "!/a/b", "\ta"),
    ]
)


def make(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def read_text(path: Path) -> str:
    return decode(read_bytes(path), path.name)


def found(path: Path) -> list[str]:
    return [one.relative for one in walk(path) if isinstance(one, FileToImport)]


def refused(path: Path) -> dict[str, str]:
    return {one.path.name: one.reason for one in walk(path) if isinstance(one, RefusedFile)}


def git(folder: Path, *arguments: str) -> str:
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=plain).stdout


def test_a_folder_gives_its_text_files_in_the_order_of_names(tmp_path: Path) -> None:
    """Known suffixes in any case, other files silently aside, folders where their names stand."""
    make(tmp_path, **dict.fromkeys(("b.md", "a/z.TXT", "a/b/c.markdown", "c.text", "a.md", "x.png", "y"), ""))
    root = tmp_path.resolve()
    assert found(tmp_path) == ["a/b/c.markdown", "a/z.TXT", "a.md", "b.md", "c.text"]
    assert next(walk(tmp_path)) == FileToImport(root, "a/b/c.markdown", root / "a/b/c.markdown")
    assert not refused(tmp_path)


def test_a_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    """Who names a file means it: hidden, git-ignored or of another suffix; its folder is the root."""
    make(tmp_path, **{".gitignore": "*", ".hidden/Makefile": "all:"})
    file = tmp_path / ".hidden" / "Makefile"
    root = file.parent.resolve()
    assert list(walk(file)) == [FileToImport(root, "Makefile", root / "Makefile")]


def test_what_does_not_exist_is_not_found_at_once(tmp_path: Path) -> None:
    """A missing path is an error of the call, before anything is listed."""
    with pytest.raises(NotFound, match="nowhere"):
        walk(tmp_path / "nowhere")


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    """A leading dot hides, at any depth; a hidden root that was asked for does not."""
    make(tmp_path, **{".v/.x.md": "", ".v/a.md": "", ".v/.git/b.md": "", ".v/c/.d/e.md": ""})
    assert found(tmp_path) == []
    assert found(tmp_path / ".v") == ["a.md"]


def test_nested_gitignore_files_hold_without_a_repository(tmp_path: Path) -> None:
    """Deeper files overrule those above them, and an ignored folder is not entered."""
    make(tmp_path, **dict.fromkeys(("a.md", "b.md", "in/a.md", "in/b.md", "out/a.md", "out/keep.md"), ""))
    make(tmp_path, **{".gitignore": "a.md\nout/\n!out/keep.md\n", "in/.gitignore": "!a.md\nb.*\n"})
    assert found(tmp_path) == ["b.md", "in/a.md"]


def test_a_rule_that_is_no_pattern_holds_for_nothing_and_is_not_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As git passes it over; the library of patterns says nothing of it either."""
    make(tmp_path, **dict.fromkeys(("a.md", "b.md"), ""))
    make(tmp_path, **{".gitignore": "[z-a].md\nb.md\n"})
    assert found(tmp_path) == ["a.md"]
    assert capfd.readouterr().err == ""


def test_the_usual_list_of_exceptions_is_understood(tmp_path: Path) -> None:
    """Ignoring all but some files is a common idiom, which needs folders to be kept."""
    make(tmp_path, **dict.fromkeys(("a.md", "a.txt", "in/deep/b.md", "in/b.txt"), ""))
    make(tmp_path, **{".gitignore": "*\n!*/\n!*.md\n"})
    assert found(tmp_path) == ["a.md", "in/deep/b.md"]


def test_rules_of_the_repository_around_a_folder_hold_in_it(tmp_path: Path) -> None:
    """A folder inside a working tree is seen as git sees it, from the top of the repository down."""
    make(tmp_path, **dict.fromkeys(("docs/in/a.md", "docs/in/b.md", "docs/in/c.md", "docs/in/d.md"), ""))
    make(tmp_path, **{".gitignore": "/docs/in/a.md\n", "docs/.gitignore": "b.md", ".git/info/exclude": "c.md\n"})
    assert found(tmp_path / "docs" / "in") == ["d.md"]
    shutil.rmtree(tmp_path / ".git")
    assert found(tmp_path / "docs" / "in") == ["a.md", "b.md", "c.md", "d.md"]


def test_an_ignored_folder_that_is_asked_for_is_listed(tmp_path: Path) -> None:
    """Rules from outside give way where they would leave out the very folder that was named."""
    make(tmp_path, **{".gitignore": "*\n", ".git/HEAD": "", "build/in/a.md": "", "build/in/b.md": ""})
    make(tmp_path, **{"build/in/.gitignore": "b.md"})
    assert found(tmp_path / "build" / "in") == ["a.md"]
    assert found(tmp_path) == []


def test_of_the_end_of_a_rule_blanks_alone_are_no_part(tmp_path: Path) -> None:
    """A tab is, as git has it, and a blank behind a backslash."""
    make(tmp_path, **{".gitignore": "a.md  \nb.md\t\nc.md\\ \n#d.md\n\\#e.md\n\n/\n"})
    make(tmp_path, **dict.fromkeys(("a.md", "b.md", "c.md", "#d.md", "#e.md"), ""))
    assert found(tmp_path) == ["#d.md", "b.md", "c.md"]


def test_what_is_not_taken_says_why(tmp_path: Path) -> None:
    """And counts what is in it, of a folder what would have been taken."""
    make(tmp_path, **dict.fromkeys(("a.md", "LICENSE", "b.BIN", ".c.md", "out/d.md", "out/e.bin", "out/in/f.txt"), ""))
    make(tmp_path, **{".gitignore": "out/\n"})
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "link.bin").symlink_to("b.BIN")
    skipped = {one.path.name: (one.reason, one.count()) for one in walk(tmp_path) if isinstance(one, SkippedEntry)}
    assert skipped == {
        "LICENSE": ("has no suffix", 1),
        "b.BIN": ("is .bin, which is not read", 1),
        ".c.md": ("is hidden", 1),
        ".gitignore": ("is hidden", 1),
        "out": ("is git-ignored", 2),
        "link.md": ("is a symbolic link to what is read at its own place", 1),
        "link.bin": ("is a symbolic link to what is not read", 1),
    }


def test_a_hostile_pattern_takes_no_time(tmp_path: Path) -> None:
    """Patterns are matched in linear time, so no ignore file can hold up an import."""
    make(tmp_path, **{".gitignore": "*a" * 40 + "b\n" + "[[:alpha:]" * 9 + "\n" + " " * 50_000, "a" * 200 + ".md": ""})
    assert len(found(tmp_path)) == 1


LINES = r"""
*.md|a?.md|a??.md|é.md|?.md|??.md|[!a]*.md|[^b].md|[a-c].md|[c-a].md|[]x].md|[a|a\[.md|a[.md|[[].md|\a.md
#x.md|\#x.md|!x.md|\!x.md|x y.md|x\ y.md|x y.md  |sp\ |sp\  |sp |a.md
|[[:alpha:]].md|[[:digit:]]*|[ac]*|[a-bd-f]*|[\]b].md|[b-]*
in|in/|/in|/in/|in/in|in/in/|/a.md|in/*|in/**|in/**/a.md|**/in/a.md|**/a.md|**|***|a**|in/*/a.md|*/a.md
in/?n/a.md|/in[/]a.md|/in[!x]a.md|[^x]*|in//|/|//|!|\|a\|*/|**/|/*|/**|in/a*|\*.md|\?.md|-.md|[a-]*|[+--].md
"""


def test_each_line_of_gitignore_means_what_git_says(tmp_path: Path) -> None:
    """Pattern by pattern over one tree of awkward names, git itself is the judge."""
    names = ["a", "b", "c", "ab", "abc", "é", "]", "[", "a[", "#x", "!x", "x y", "*", "?", "-", "1", "X", "in", "sp"]
    make(tmp_path, **{f"{folder}{name}.md": "" for folder in ("", "in/", "in/in/", "in/sp /") for name in names})
    git(tmp_path, "init", "--quiet")
    for line in LINES.replace("\n", "|").split("|"):
        (tmp_path / ".gitignore").write_bytes(line.encode())
        listed = git(tmp_path, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
        assert sorted(found(tmp_path)) == sorted(one for one in listed if one.endswith(".md")), line


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(NAMES, max_size=3).map("/".join), min_size=1, max_size=6, unique=True),
    st.lists(st.tuples(st.integers(0, 5), NAMES, st.sampled_from([".md", ".txt"])), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 5), st.lists(PATTERNS, min_size=1, max_size=4)), min_size=1, max_size=4),
)
def test_the_walk_lists_exactly_what_git_lists(
    folders: list[str], files: list[tuple[int, str, str]], ignores: list[tuple[int, list[str]]]
) -> None:
    """In any tree, under any ignore files, git itself is the judge."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made).resolve()
        git(root, "init", "--quiet")
        for folder in folders:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for number, name, suffix in files:
            (root / folders[number % len(folders)] / (name + suffix)).touch()
        for number, lines in ignores:
            (root / folders[number % len(folders)] / ".gitignore").write_text("\n".join(lines))
        listed = git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
        assert sorted(found(root)) == sorted(one for one in listed if one.endswith((".md", ".txt")))


def test_links_that_lead_out_or_nowhere_are_refused_with_the_reason(tmp_path: Path) -> None:
    """Nothing outside the root is read through a link in it; the rest of the folder goes on."""
    make(tmp_path, **{"root/a.md": "", "out/secret.md": "", "out/tool": ""})
    root = tmp_path / "root"
    for name, target in [("file.md", "../out/secret.md"), ("folder", "../out"), ("gone.md", "nothing"), ("x", "y")]:
        (root / name).symlink_to(target)
    (root / "tool").symlink_to("../out/tool")
    assert found(root) == ["a.md"]
    reasons = refused(root)
    assert sorted(reasons) == ["file.md", "folder", "gone.md"]
    assert reasons["file.md"] == reasons["folder"]
    assert reasons["folder"].startswith("is a symbolic link that leads out of ")
    assert reasons["gone.md"].startswith("is a symbolic link that leads nowhere")


def test_links_inside_the_root_and_loops_are_harmless(tmp_path: Path) -> None:
    """What a link in the root leads to is listed once, at its own place."""
    make(tmp_path, **{"a/b.md": "", "c.md": ""})
    (tmp_path / "a" / "loop").symlink_to("..")
    (tmp_path / "a" / "again.md").symlink_to("../c.md")
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "self.md").symlink_to("self.md")
    assert found(tmp_path) == ["a/b.md", "c.md"]
    assert list(refused(tmp_path)) == ["self.md"]


def test_a_linked_root_or_file_is_known_by_its_real_place(tmp_path: Path) -> None:
    """However a path is spelled, a file has one root and one path under it."""
    make(tmp_path, **{"real/a.md": ""})
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "b.md").symlink_to("real/a.md")
    expected = list(walk(tmp_path / "real"))
    assert list(walk(tmp_path / "link")) == expected
    assert list(walk(tmp_path / "b.md")) == expected
    assert list(walk(tmp_path / "link" / ".." / "real" / "a.md")) == expected


def test_names_are_composed_and_twins_are_refused(tmp_path: Path) -> None:
    """A name means the same whatever system wrote it, and two such files do not become one note."""
    make(tmp_path, **{"e\u0301/a\u0308.md": "", "o\u0308.md": "", "\u00f6.md": ""})
    assert found(tmp_path) == ["\u00e9/\u00e4.md", "\u00f6.md"]
    assert refused(tmp_path) == {"o\u0308.md": "has the same name as another, but for how its accents are written"}


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """Such a name could not be stored or shown; the file beside it is still found."""
    make(tmp_path, **{"a.md": ""})
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert found(tmp_path) == ["a.md"]
    assert list(refused(tmp_path).values()) == ["has a name that is not UTF-8"]


def test_what_is_no_file_is_refused_and_never_opened(tmp_path: Path) -> None:
    """A named pipe would block whoever reads it."""
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path) == {"pipe.md": "is not a regular file"}
    assert list(walk(tmp_path / "pipe")) == [RefusedFile((tmp_path / "pipe").resolve(), "is not a regular file")]
    with pytest.raises(Invalid, match="is not a regular file"):
        read_text(tmp_path / "pipe.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_is_refused_alone(tmp_path: Path) -> None:
    """A forbidden folder or file leaves the others as they are."""
    make(tmp_path, **{"a.md": "", "no/b.md": "", "z.md": ""})
    (tmp_path / "no").chmod(0)
    (tmp_path / "z.md").chmod(0)
    assert found(tmp_path) == ["a.md", "z.md"]
    assert refused(tmp_path) == {"no": "cannot be listed: Permission denied"}
    (tmp_path / "no").chmod(0o700)
    with pytest.raises(Invalid, match=r"'z\.md' cannot be read: Permission denied"):
        read_text(tmp_path / "z.md")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"plain \xc3\xa9\r\n", "plain é\r\n"),
        (b"\xef\xbb\xbfmarked", "marked"),
        ("é😀".encode("utf-16"), "é😀"),
        (b"\xfe\xff" + "é😀".encode("utf-16-be"), "é😀"),
        (b"\xff\xfe", ""),
    ],
)
def test_text_is_read_in_utf8_or_marked_utf16(tmp_path: Path, data: bytes, text: str) -> None:
    """What editors write is read, without the mark of the encoding; an empty file is an empty text."""
    (tmp_path / "a").write_bytes(data)
    assert read_text(tmp_path / "a") == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"0123456789\xff", "'a.md' is not UTF-8 text: byte 0xff at position 10"),
        ("é".encode("latin-1"), "'a.md' is not UTF-8 text: byte 0xe9 at position 0"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "'a.md' is binary: it has a NUL byte at position 8"),
        (b"text\x00text", "'a.md' is binary: it has a NUL byte at position 4"),
        (b"\xff\xfea\x00\x00\x00", "'a.md' is binary: it has a NUL character"),
        (b"\xff\xfea", "'a.md' is not UTF-16 text: byte 0x61 at position 2"),
        (b"\xff\xfe\x00\xd8a\x00", "'a.md' is not UTF-16 text: byte 0x00 at position 2"),
    ],
)
def test_other_bytes_are_refused_by_their_place(tmp_path: Path, data: bytes, message: str) -> None:
    """One sentence names the file, what is wrong and where."""
    (tmp_path / "a.md").write_bytes(data)
    with pytest.raises(Invalid) as caught:
        read_text(tmp_path / "a.md")
    assert caught.value.message == message


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    """The size is looked at first, so that no memory is taken for it."""
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(Invalid, match=r"'big\.txt' has 200 MB \(at most 200 MB are read\)"):
        read_text(tmp_path / "big.txt")


def test_a_file_that_has_vanished_is_not_found(tmp_path: Path) -> None:
    """Between listing and reading a file may go."""
    with pytest.raises(NotFound, match=r"a\.md"):
        read_text(tmp_path / "a.md")


def test_a_markdown_file_becomes_the_parts_of_a_note(tmp_path: Path) -> None:
    """Front matter, tags and links are taken out; the hash is that of the bytes on disk."""
    data = b"\xef\xbb\xbf---\r\ndate: 2024-05-01\r\n---\r\n# Pie\r\n#food [[Apple]]\r\n"
    (tmp_path / "a.MD").write_bytes(data)
    (one,) = walk(tmp_path)
    assert isinstance(one, FileToImport)
    digest, load = read(one)
    note = load()
    assert note.content == "# Pie\n#food [[Apple]]\n"
    assert note.metadata == {"date": "2024-05-01", "tags": ["food"], "title": "Pie"}
    assert [(link.target, link.start) for link in note.links] == [("Apple", 12)]
    assert digest == sha256(data).digest()


def test_a_text_file_is_only_text(tmp_path: Path) -> None:
    """Where there is no Markdown, nothing is read into the characters."""
    (tmp_path / "a.txt").write_bytes(b"---\r\na: 1\r\n---\r# T\n#tag [[x]]")
    (one,) = walk(tmp_path)
    assert isinstance(one, FileToImport)
    note = read(one)[1]()
    assert (note.content, note.metadata, note.links) == ("---\na: 1\n---\n# T\n#tag [[x]]", {}, ())
