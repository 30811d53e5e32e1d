"""Reading `mcp.json`: what an entry may say, and one sentence for each thing that is wrong with it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infospace import Invalid, InvalidJSON, NotFound
from infospace.tools.mcp.auth.settings import OAuthSettings
from infospace.tools.mcp.config import Entry, EntryFile, read_entries
from infospace.tools.mcp.env_vars import expanded, values_in
from infospace.tools.mcp.servers import read_all

sys.path.insert(0, str(Path(__file__).parent))
from served import write

WHOLE = {
    "command": "run-it",
    "args": ["--deep", "${PLACE}"],
    "env": {"KEY": "${SECRET}"},
    "cwd": "below",
    "type": "stdio",
    "disabled": True,
    "disabled_tools": ["rm"],
    "autoApprove": ["ls"],
    "description": "Runs it.",
    "title": "It",
    "examples": {"ls": [{"path": "."}]},
    "tags": ["a", "b"],
    "category": "c",
    "trusted": True,
    "blocked": True,
    "visibility": "team",
    "team": "blue",
    "timeout_s": 3,
    "start_timeout_s": 1.5,
}


def read(folder: Path, raw: Any) -> EntryFile:
    """Read a file with one server, `it`."""
    return read_entries(write(folder, it=raw))


def test_everything_that_an_entry_says_is_read(tmp_path: Path) -> None:
    """Of either sort."""
    found = read(tmp_path, WHOLE)
    assert found.problems == []
    assert found.entries == [
        Entry(
            "it",
            str(tmp_path / "mcp.json"),
            command="run-it",
            args=("--deep", "${PLACE}"),
            env={"KEY": "${SECRET}"},
            cwd="below",
            disabled=True,
            disabled_tools=("rm",),
            approved=("ls",),
            description="Runs it.",
            title="It",
            examples={"ls": [{"path": "."}]},
            tags=("a", "b"),
            category="c",
            trusted=True,
            blocked=True,
            visibility="team",
            team="blue",
            timeout_s=3.0,
            start_timeout_s=1.5,
        )
    ]
    assert found.entries[0].folder == tmp_path / "below"
    (web,) = read(tmp_path, {"url": "https://x.org/mcp", "headers": {"A": "b"}, "autoApprove": True}).entries
    assert (web.url, web.headers, web.approved, web.timeout_s) == ("https://x.org/mcp", {"A": "b"}, True, 30.0)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([], "it is [], not an object"),
        ({}, "it has neither `command` nor `url`"),
        ({"command": "x", "url": "http://x"}, "it has both `command` and `url`"),
        ({"command": 1}, "'command' is a text, not 1"),
        ({"command": " "}, "`command` names nothing"),
        ({"command": "x", "args": "a b"}, "'args' is a list of texts, not \"a b\""),
        ({"command": "x", "args": [1]}, "'args' is a list of texts"),
        ({"command": "x", "env": {"A": 1}}, "'env' is an object of texts"),
        ({"url": "x.org"}, '"x.org" is not a URL'),
        ({"url": "http://x", "headers": {"A": None}}, "'headers' is an object of texts"),
        ({"url": "http://x", "type": "sse"}, "the type 'sse' does not go with 'url'"),
        ({"command": "x", "type": "http"}, "the type 'http' does not go with 'command'"),
        ({"command": "x", "disabled": "no"}, "'disabled' is true or false"),
        ({"command": "x", "autoApprove": "all"}, "'autoApprove' is a list of tools' names, or true"),
        ({"command": "x", "timeout_s": 0}, "'timeout_s' is seconds above 0"),
        ({"command": "x", "timeout_s": True}, "'timeout_s' is seconds above 0"),
        ({"command": "x", "title": "\ud800"}, "'title' holds half of a character"),
        ({"command": "x", "examples": {"ls": {"path": "."}}}, "'examples' is an object of tools' names, each with"),
    ],
)
def test_a_wrong_entry_is_left_out_with_a_sentence(tmp_path: Path, raw: Any, message: str) -> None:
    """The others stay."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"it": raw, "other": {"command": "x"}}}))
    found = read_entries(path)
    assert [entry.name for entry in found.entries] == ["other"]
    assert message in found.problems[0].message
    assert {(problem.server, problem.severity) for problem in found.problems} == {("it", "error")}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("infospace", "a server cannot be called 'infospace': that is where primitives and saved plans are found"),
        ("a/b", "'a/b' cannot be a server's name"),
        (" ", "' ' cannot be a server's name"),
    ],
)
def test_a_server_whose_name_means_something_else_is_left_out(tmp_path: Path, name: str, message: str) -> None:
    """With the sentence that says why."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {name: {"command": "x"}, "other": {"command": "x"}}}))
    found = read_entries(path)
    assert [entry.name for entry in found.entries] == ["other"]
    assert [problem.message for problem in found.problems] == [message]


def test_values_of_env_and_headers_are_told_to_nobody(tmp_path: Path) -> None:
    """Not even where they are wrong."""
    found = read(tmp_path, {"command": "x", "env": {"A": "hush-hush", "B": 1}})
    assert "hush" not in str(found.problems)


@pytest.mark.parametrize(
    ("key", "hint"), [("comand", "'command'"), ("autoaprove", "'autoApprove'"), ("zzz", "there are")]
)
def test_an_unknown_key_is_a_warning_with_the_nearest(tmp_path: Path, key: str, hint: str) -> None:
    """The entry stands."""
    found = read(tmp_path, {"command": "x", key: 1})
    assert len(found.entries) == 1
    (problem,) = found.problems
    assert problem.severity == "warning"
    assert hint in str(problem.hint)


def test_what_belongs_to_the_other_sort_is_a_warning(tmp_path: Path) -> None:
    """Headers of a process, arguments of a URL."""
    problems = read(tmp_path, {"url": "http://x", "args": [], "env": {}}).problems
    assert [problem.message for problem in problems] == [
        "'args' has no use beside 'url'",
        "'env' has no use beside 'url'",
    ]
    (problem,) = read(tmp_path, {"command": "x", "headers": {}}).problems
    assert (problem.message, problem.severity) == ("'headers' has no use beside 'command'", "warning")


@pytest.mark.parametrize("name", ["infospace", "", " ", " a", "a/b", "a\nb", "a\x1b[31m", "a\u202eb"])
def test_a_name_that_no_server_can_have(tmp_path: Path, name: str) -> None:
    """`infospace` is where primitives and saved plans are found."""
    found = read_entries(write(tmp_path, **{name: {"command": "x"}}))
    assert (found.entries, len(found.problems)) == ([], 1)


DEEP = "[" * 100_000 + "]" * 100_000
UNREADABLE = [
    (DEEP, "it is nested more than 200 deep"),
    ("9" * 5000, "it cannot be read at /timeout_s: a whole number has 5,000 digits"),
]


@pytest.mark.parametrize(("value", "message"), UNREADABLE)
def test_an_entry_that_no_reader_of_json_reads_is_told_in_a_sentence(tmp_path: Path, value: str, message: str) -> None:
    """As that one's: those before and behind it are read, also where a text of theirs holds brackets and commas."""
    path = tmp_path / "mcp.json"
    path.write_text(
        f'{{"x": {{"mcpServers": []}}, "mcpServers": {{"first": {{"command": "[,", "args": ["}}", "\\"{{"]}},\n'
        f'"bad": {{"timeout_s": {value}}}, "text": "b,", "last": {{"command": "y"}}}}, "more": [1, 2]}}'
    )
    found = read_entries(path)
    assert [(entry.name, entry.command, entry.args) for entry in found.entries] == [
        ("first", "[,", ("}", '"{')),
        ("last", "y", ()),
    ]
    problems = {problem.server: problem.message for problem in found.problems}
    assert problems == {"bad": message, "text": 'it is "b,", not an object'}


BROKEN = [
    ('"b": {"command": }}}', r"is not JSON at line 2, column \d+: a value was expected"),
    ('"b": {"command": "x"}}', "ends inside an object opened at line 1, column 1"),
    ('"b": {"command": "x"}]}', r"is not JSON at line 2, column \d+"),
]


@pytest.mark.parametrize(("rest", "message"), BROKEN)
def test_a_file_that_is_not_json_says_where_also_behind_an_entry_that_is_too_deep(
    tmp_path: Path, rest: str, message: str
) -> None:
    """The line and the column in the file as it is."""
    path = tmp_path / "mcp.json"
    path.write_text(f'{{"mcpServers": {{"a": {{"timeout_s": {DEEP}}},\n{rest}')
    with pytest.raises(InvalidJSON, match=message):
        read_entries(path)


@pytest.mark.parametrize("whole", ['{"a": %s, "mcpServers": {"b": {"command": "x"}}}', '{"mcpServers": {"b": {"c": %s'])
def test_what_is_too_deep_outside_the_entries_is_the_files(tmp_path: Path, whole: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(whole % DEEP)
    with pytest.raises(InvalidJSON, match=r"nested more than 200 deep at line 1|cut off"):
        read_entries(path)


def test_what_stands_twice_is_wrong_with_that_entry_alone(tmp_path: Path) -> None:
    """A name in one file, a key in one entry; nobody can tell which was meant."""
    path = tmp_path / "mcp.json"
    path.write_text(
        '{"mcpServers": {"a": {"command": "1"}, "b": {"command": "2"}, "a": {"command": "3"},'
        ' "c": {"command": "4", "env": {"X": "1", "X": "2"}}}}'
    )
    found = read_entries(path)
    assert [entry.name for entry in found.entries] == ["b"]
    assert [problem.message for problem in found.problems] == [
        "the server 'a' stands twice in the file",
        "the key 'X' stands twice in it",
    ]


def test_of_two_files_the_first_has_the_name(tmp_path: Path) -> None:
    """The second one's server of that name is an error, and its others stay; a file that cannot be read is one too."""
    one = write(tmp_path, "one.json", a={"command": "first"})
    two = write(tmp_path, "two.json", a={"command": "second"}, b={"command": "x"})
    entries, problems = read_all([one, two, tmp_path / "none.json"])
    assert [(name, entry.command) for name, entry in entries.items()] == [("a", "first"), ("b", "x")]
    assert [(problem.server, Path(problem.file).name) for problem in problems] == [("a", "two.json"), ("", "none.json")]
    assert "one.json' names a server 'a' already" in problems[0].message
    assert (problems[0].server, problems[0].hint) == ("a", "give one of them another name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "ends inside"),
        ("[]", 'has no object "mcpServers"'),
        ('{"mcpservers": {}}', 'has no object "mcpServers"'),
        ('{"mcpServers": []}', 'has no object "mcpServers"'),
        ('{"mcpServers": {}, "mcpServers": {}}', "stands twice"),
    ],
)
def test_a_file_that_is_none_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    """With a sentence; and a missing one is not found."""
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(InvalidJSON, match=message):
        read_entries(path)
    with pytest.raises(NotFound, match=r"no file .*none\.json"):
        read_entries(tmp_path / "none.json")


class TestVariables:
    """`${VAR}` in what says how a server is reached: command, args, env, cwd, URL and headers."""

    def test_they_are_filled_from_the_environment(self) -> None:
        """What stands behind `:-` is for one that is not set; other dollar signs stay."""
        entry = Entry("x", "f", command="${A}", args=("${A}/${B:-b}", "$A ${} $"), env={"K": "${A}${A}"})
        filled = expanded(entry, {"A": "1"})
        assert (filled.command, filled.args, filled.env) == ("1", ("1/b", "$A ${} $"), {"K": "11"})
        assert expanded(Entry("x", "/d/f", command="c", cwd="${A}/b"), {"A": "e"}).folder == Path("/d/e/b")
        web = expanded(
            Entry("x", "f", url="http://${H}/", headers={"Authorization": "Bearer ${T}"}), {"H": "h", "T": "t"}
        )
        assert (web.url, web.headers) == ("http://h/", {"Authorization": "Bearer t"})

    def test_every_unset_one_is_named(self) -> None:
        """Each once, in the order they stand."""
        with pytest.raises(Invalid, match=r"entry of 'x' needs what the environment has not: B, A, C \("):
            expanded(Entry("x", "f", command="c", args=("${B}${A}", "${B}"), env={"K": "${C}"}), {})

    @given(st.dictionaries(st.sampled_from("AB"), st.text()))
    def test_what_was_filled_in_is_not_read_again(self, environment: dict[str, str]) -> None:
        """A value that looks like a variable is text."""
        filled = expanded(Entry("x", "f", command="c", args=("<${A:-}|${B:-}>",)), environment)
        assert filled.args == (f"<{environment.get('A', '')}|{environment.get('B', '')}>",)


def test_another_entry_has_another_digest() -> None:
    """Where it would list other tools; what only we say of it makes no difference, and no secret is in it."""
    first = Entry("x", "f", command="c", env={"KEY": "hush-hush"})
    digests = {
        entry.digest("salt")
        for entry in (
            first,
            Entry("x", "f", command="d", env={"KEY": "hush-hush"}),
            Entry("x", "f", command="c", env={"KEY": "other"}),
            Entry("x", "f", command="c", args=("a",), env={"KEY": "hush-hush"}),
            Entry("x", "f", url="http://c"),
        )
    }
    assert len(digests) == 5
    assert Entry("x", "g", command="c", env={"KEY": "hush-hush"}, tags=("t",)).digest("salt") in digests
    assert first.digest("salt") != first.digest("pepper")


def test_what_tells_a_server_from_others_stays_from_version_to_version() -> None:
    """What a space keeps of a server is known by it: were it another, all would be listed and asked about anew."""
    command = Entry("x", "f", command="c", args=("a",), env={"K": "v"}, cwd="d")
    assert command.digest("salt").hex() == "4eb8ecc786558068e2b78304825fa521e4ed4f670b3f3623a7a2822033bf4734"
    web = Entry("x", "f", url="http://c", headers={"A": "b"})
    assert web.digest("salt").hex() == "4e15106b63afb51f447967ad1b7d33cd2e6f96eccc3cab7e891f91a4a421db52"
    signed = replace(web, oauth=OAuthSettings(client_id="me"))
    api = Entry("x", "f", openapi="https://c/api.json", base_url="https://c", auth={"key": "k"})
    others = [replace(api, base_url="https://d"), replace(api, auth={}), replace(api, openapi="https://d/api.json")]
    assert len({one.digest("salt") for one in (web, signed, replace(signed, oauth=None), api, *others)}) == 7


def test_what_is_secret_in_an_entry_is_told_whole(tmp_path: Path) -> None:
    """What its values are, those of variables too; what may be shown of a command and a URL has none of it."""
    entry = Entry(
        "x",
        "f",
        command="run",
        args=("--token", "arg-secret", "--fast"),
        env={"A": "env-secret"},
        auth={"k": "auth-secret"},
    )
    assert {"arg-secret", "env-secret", "auth-secret"} <= set(entry.secrets())
    assert (entry.shown_command, entry.shown_url) == (["run", "--token", "•••", "--fast"], None)
    web = Entry("x", "f", url="https://x.org/?key=url-secret", headers={"A": "head-secret"})
    assert {"url-secret", "head-secret"} <= set(web.secrets())
    assert (web.shown_command, web.shown_url) == (None, "https://x.org/?key=•••")
    api = Entry("x", "f", openapi="https://x.org/a?key=doc-secret", base_url="https://ann:base-secret@x.org")
    assert "doc-secret" in api.secrets()
    assert (api.shown_url, api.rest, web.rest) == ("https://x.org/a?key=•••", True, False)
    variables = Entry(
        "x", "f", command="${A}", args=("${B:-b}", "${HOME}"), url="${C}", openapi="${D}", base_url="${E}"
    )
    environment = {**dict.fromkeys("ABCD", "v"), "HOME": "/h"} | {"A": "1", "B": "2", "C": "3", "D": "4"}
    assert values_in(variables, environment) == ["1", "3", "4", "2"]


def test_folders_and_documents_are_seen_from_the_file(tmp_path: Path) -> None:
    """`~` is the user's; a document that is at a URL, or is not there, has nothing that tells it from others."""
    entry = Entry("x", str(tmp_path / "mcp.json"), command="c", roots=("below", "/", "~"), openapi="api.json")
    assert entry.root_uris() == [
        ("below", (tmp_path / "below").resolve().as_uri()),
        ("/", "file:///"),
        (Path.home().resolve().name or "/", Path.home().resolve().as_uri()),
    ]
    assert (entry.folder, entry.document_path("a")) == (tmp_path, tmp_path / "a")
    assert entry.document_path("~/a") == Path.home() / "a"
    assert entry.document_stamp is None
    (tmp_path / "api.json").write_text("{}")
    stat = (tmp_path / "api.json").stat()
    assert entry.document_stamp == (stat.st_mtime_ns, 2)
    for url in ("http://x/api.json", "https://x/api.json"):
        (tmp_path / url).parent.mkdir(parents=True)
        (tmp_path / url).write_text("{}")
        assert replace(entry, openapi=url).document_stamp is None
    assert replace(entry, openapi=None).document_stamp is None
