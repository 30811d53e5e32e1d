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


WAYS = "a command that is run, the URL of a server that runs, or `openapi`, a document"
TYPES = '"stdio" with `command`, "http" with `url`'
KEYS = (
    "there are command, args, env, cwd, url, headers, oauth, roots, openapi, base_url, auth, type, disabled, "
    "disabled_tools, autoApprove, examples, description, title, tags, category, trusted, blocked, visibility, team, "
    "timeout_s, start_timeout_s"
)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ([], [("it is [], not an object", '{"command": …} or {"url": …}')]),
        ({}, [("it has neither `command` nor `url`", WAYS)]),
        ({"command": None}, [("'command' is a text, not null", None), ("it has neither `command` nor `url`", WAYS)]),
        (
            {"command": "x", "openapi": "y", "url": "http://x"},
            [("it has both `command` and `url` and `openapi`", WAYS)],
        ),
        ({"command": "x", "url": None}, [("'url' is a text, not null", None)]),
        ({"command": "a\0b"}, [("`command` names nothing", None)]),
        ({"command": "x", "cwd": 1}, [("'cwd' is a text, not 1", None)]),
        ({"command": "x", "type": 3}, [('\'type\' is "stdio", "http" or "openapi", not 3', None)]),
        ({"command": "x", "type": "http"}, [("the type 'http' does not go with 'command'", TYPES)]),
        (
            {"command": "x", "type": "sse"},
            [("the type 'sse' does not go with 'command'", "over HTTP that is streamable HTTP")],
        ),
        ({"url": "http://x", "type": "stdio"}, [("the type 'stdio' does not go with 'url'", TYPES)]),
        ({"openapi": "a", "type": "http"}, [("the type 'http' does not go with 'openapi'", TYPES)]),
        ({"url": "ftp://u:hush@x"}, [('"ftp://•••@x" is not a URL', "http://… or https://…")]),
        ({"openapi": "ftp://u:hush@x"}, [('"ftp://•••@x" is neither a file nor a URL', "a path, or https://…")]),
        (
            {"openapi": "a", "base_url": "ftp://u:hush@x"},
            [('"ftp://•••@x" is not a URL', "https://api.example.org/v1")],
        ),
        ({"command": "x", "timeout_s": -1}, [("'timeout_s' is seconds above 0, a day at most, not -1", None)]),
        (
            {"command": "x", "timeout_s": 86400.5},
            [("'timeout_s' is seconds above 0, a day at most, not 86400.5", None)],
        ),
        (
            {"command": "x", "start_timeout_s": "1"},
            [("'start_timeout_s' is seconds above 0, a day at most, not \"1\"", None)],
        ),
        (
            {"command": "x", "title": "\ud800", "tags": 1},
            [("'title' holds half of a character", "texts are Unicode"), ("'tags' is a list of texts, not 1", None)],
        ),
        (
            {"command": "x", "examples": {"a": [1]}},
            [("'examples' is an object of tools' names, each with a list of arguments, not {\"a\": [1]}", None)],
        ),
        (
            {"command": "x", "examples": []},
            [("'examples' is an object of tools' names, each with a list of arguments, not []", None)],
        ),
        ({"command": "x", "autoApprove": 1}, [("'autoApprove' is a list of tools' names, or true, not 1", None)]),
        ({"command": "x", "autoApprove": [1]}, [("'autoApprove' is a list of tools' names, or true, not [1]", None)]),
        ({"command": "x", "env": 1}, [("'env' is an object of texts, not something else", None)]),
        ({"url": "http://x", "headers": {"A": 1}}, [("'headers' is an object of texts, not something else", None)]),
        ({"openapi": "x", "auth": {"A": 1}}, [("'auth' is an object of texts, not something else", None)]),
        ({"url": "http://x", "oauth": True}, [("'oauth' is an object, or false, not something else", None)]),
        (
            {"url": "http://x", "oauth": {"client_id": 3, "isuer": "x"}},
            [("'oauth.client_id' is a text", None), ("'oauth' has no key 'isuer'; did you mean 'issuer'?", None)],
        ),
        (
            {"command": "x", "args": [1, "--token", "hush"]},
            [('\'args\' is a list of texts, not [1, "--token", "•••"]', None)],
        ),
        ({"command": "x", "args": "run --token hush"}, [("'args' is a list of texts, not \"run --token •••\"", None)]),
        (
            {"command": "x", "args": {"it": ["--token=hush"]}},
            [('\'args\' is a list of texts, not {"it": ["--token=•••"]}', None)],
        ),
        (
            {"command": "x", "args": {"token": "hush", "apiKey": ["hush"], "password": {"a": "hush"}}},
            [('\'args\' is a list of texts, not {"token": "•••", "apiKey": ["•••"], "password": "…"}', None)],
        ),
        (
            {"command": "x", "args": {"--token=hush": 1, "port": "80"}},
            [('\'args\' is a list of texts, not {"--token=•••": 1, "port": "80"}', None)],
        ),
        (
            {"command": "x", "args": ["--token", ["hush"], {"a": "hush"}, None]},
            [('\'args\' is a list of texts, not ["--token", "…", "…", null]', None)],
        ),
        (
            {"command": "x", "args": json.loads("[" * 800 + "]" * 800)},
            [("'args' is a list of texts, not [\"…\"]", None)],
        ),
        *(
            ({"command": "x", key: 1}, [(f"{key!r} is a text, not 1", None)])
            for key in ("description", "category", "visibility", "team", "title")
        ),
        *(
            ({"command": "x", key: 0}, [(f"{key!r} is true or false, not 0", None)])
            for key in ("disabled", "trusted", "blocked")
        ),
        ({"command": "x", "roots": "a"}, [("'roots' is a list of folders, not \"a\"", None)]),
        ({"command": "x", "disabled_tools": [1]}, [("'disabled_tools' is a list of tools' names, not [1]", None)]),
    ],
)
def test_what_is_wrong_with_an_entry_is_told_whole(
    tmp_path: Path, raw: Any, told: list[tuple[str, str | None]]
) -> None:
    """All of it, with what would have fitted; of what is secret nothing."""
    found = read(tmp_path, raw)
    assert found.entries == []
    assert [(one.message, one.hint, one.severity) for one in found.problems] == [(*one, "error") for one in told]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"command": "x", "timeout_s": 86400, "start_timeout_s": 0.001}, []),
        ({"command": "x", "type": "stdio", "autoApprove": False}, []),
        ({"url": "http://x", "type": "http"}, []),
        ({"url": "https://x", "type": "streamable-http"}, []),
        ({"url": "${A}", "type": "streamableHttp", "oauth": False}, []),
        ({"openapi": "${A}", "type": "openapi", "base_url": "${B}"}, []),
        ({"openapi": "http://x/y", "base_url": "http://x"}, []),
        ({"openapi": "https://x/y", "base_url": "https://x"}, []),
        (
            {"command": "x", "comand": 1},
            [("'comand' is not a key of an entry, and is passed over", "did you mean 'command'?")],
        ),
        (
            {"command": "x", "zzz": 1, "qqq": 1},
            [(f"{key!r} is not a key of an entry, and is passed over", KEYS) for key in ("zzz", "qqq")],
        ),
        (
            {"command": "x", "base_url": "http://x", "oauth": {}, "auth": {}},
            [(f"{key!r} has no use beside 'command'", None) for key in ("oauth", "base_url", "auth")],
        ),
        (
            {"url": "http://x", "base_url": "http://y", "auth": {}, "cwd": "x"},
            [(f"{key!r} has no use beside 'url'", None) for key in ("cwd", "base_url", "auth")],
        ),
        (
            {"openapi": "a", "args": [], "env": {}, "cwd": "x", "oauth": {}, "roots": []},
            [(f"{key!r} has no use beside 'openapi'", None) for key in ("args", "env", "cwd", "oauth", "roots")],
        ),
    ],
)
def test_an_entry_stands_whatever_it_is_warned_of(tmp_path: Path, raw: Any, told: list[tuple[str, str | None]]) -> None:
    """Up to the last second of a day; a URL may stand in the environment."""
    found = read(tmp_path, raw)
    assert [(one.message, one.hint, one.severity) for one in found.problems] == [(*one, "warning") for one in told]
    (entry,) = found.entries
    assert (entry.command, entry.url, entry.openapi) == tuple(raw.get(key) for key in ("command", "url", "openapi"))
    assert (entry.timeout_s, entry.start_timeout_s) == (raw.get("timeout_s", 30.0), raw.get("start_timeout_s", 60.0))
    assert (entry.approved, entry.oauth) == ((), None if raw.get("oauth") is False else OAuthSettings())
    assert entry.base_url == raw.get("base_url")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"a": {"command": "x", "env": {"X": [{"B": 1, "B": 2, "A": 1, "A": 2}]}, "command": "y"}}',
            [
                *((f"the key {key!r} stands twice in it", "each key once") for key in ("command", "A", "B")),
                ("'env' is an object of texts, not something else", None),
            ],
        ),
        (
            '{"a": 3, "a": 4}',
            [
                ("the server 'a' stands twice in the file", "each name once"),
                ("it is 4, not an object", '{"command": …} or {"url": …}'),
            ],
        ),
        (
            '{"infospace": {"command": "x"}}',
            [
                (
                    "a server cannot be called 'infospace': that is where primitives and saved plans are found",
                    "give it another name",
                )
            ],
        ),
        (
            '{"plan:x": {"command": "x"}}',
            [
                (
                    "a server cannot be called 'plan:x': `plan:` begins the names of saved plans",
                    "give it another name, such as 'x'",
                )
            ],
        ),
        (
            '{"a ": {"command": "x"}}',
            [("'a ' cannot be a server's name", "printable, without `/`, and no blank at its ends")],
        ),
    ],
)
def test_what_is_wrong_with_names_is_told_whole(tmp_path: Path, text: str, told: list[tuple[str, str | None]]) -> None:
    """Which of the two was meant nobody knows; a name has to be another one's never."""
    path = tmp_path / "mcp.json"
    path.write_text(f'{{"mcpServers": {text}}}')
    assert [(one.message, one.hint) for one in read_entries(path).problems] == told


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("3", '{"mcpServers": {"name": {…}}}'),
        ('{"x": {}}', '{"mcpServers": {"name": {…}}}'),
        ('{"mcpServers": [], "mcpservers": {}}', '{"mcpServers": {"name": {…}}}'),
        ('{"mcpservers": {}}', "it has 'mcpservers'; did you mean \"mcpServers\"?"),
    ],
)
def test_a_file_without_entries_says_how_they_are_written(tmp_path: Path, text: str, hint: str) -> None:
    """A folder is no file, and one that is not there is not found."""
    path = tmp_path / "mcp.json"
    for kind, told, error_hint in (
        (NotFound, f"there is no file {str(path)!r}", "name an `mcp.json`"),
        (InvalidJSON, f'{str(path)!r} has no object "mcpServers"', hint),
    ):
        with pytest.raises(kind) as refused:
            read_entries(path)
        assert (refused.value.message, refused.value.hint) == (told, error_hint)
        path.write_text(text)
    with pytest.raises(InvalidJSON) as refused:
        read_entries(tmp_path)
    assert refused.value.message == f"{str(tmp_path)!r} cannot be read: Is a directory"
    assert refused.value.hint == "name an `mcp.json` that you may read"


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
    with pytest.raises(InvalidJSON, match=message) as raised:
        read_entries(path)
    assert raised.value.message.startswith(repr(str(path)))


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
