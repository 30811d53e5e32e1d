"""The file of scopes and tokens: what it says, and what is wrong with it, with the place."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, NotFound
from infospace.core.bounds import Bounds
from infospace.core.tool import Tool
from infospace.tools.scope import Scope
from planner.server.access import MINUTE, Rate
from planner.server.config import callers_of, checked_token, config_warnings, digest_of, read_config

sys.path.insert(0, str(Path(__file__).parent))
from serving import command

TOKEN = "a-token-of-the-tests"  # noqa: S105 - it opens nothing but what a test serves


def config(folder: Path, document: Any) -> Path:
    """Write a configuration."""
    path = folder / "serve.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_a_token_has_the_scope_that_it_names_else_the_default_one(tmp_path: Path) -> None:
    """Itself, by a variable of the environment, or by its SHA-256."""
    scopes = {
        "default": {"exclude_tags": ["danger"]},
        "readers": {
            "include_servers": ["web"],
            "hide_underlying_tools": False,
            "rate_per_minute": 5,
            "limits": {"timeout_ms": 1_000, "results": 7, "items": 30, "characters": 4_000},
            "approve": ["web/get"],
            "approvals": "planner",
        },
    }
    tokens = [
        {"name": "ann", "token": "${ANN}", "scope": "readers"},
        {"name": "ops", "sha256": hashlib.sha256(b"another-token-of-them").hexdigest(), "admin": True},
    ]
    found = read_config(config(tmp_path, {"scopes": scopes, "tokens": tokens}), {"ANN": TOKEN})
    ann, ops = found.tokens
    assert (ann.digest, ops.digest) == (digest_of(TOKEN), digest_of("another-token-of-them"))
    access = ann.access
    assert (access.caller, access.scope, access.admin) == ("ann", Scope(include_servers=("web",)), False)
    assert (access.hide_underlying_tools, access.rate_per_minute, access.timeout_ms) == (False, 5, 1_000)
    assert (access.results, list(access.approve), access.approvals) == (7, ["web/get"], "planner")
    assert access.bounds == Bounds(30, 4_000)
    assert ops.access.approvals == found.access("stdio").approvals == "people"
    lenient = read_config(config(tmp_path, {"scopes": scopes, "tokens": tokens}), {"ANN": TOKEN}, "planner")
    assert [token.access.approvals for token in lenient.tokens] == ["planner", "planner"]
    assert (ops.access.scope, ops.access.admin) == (Scope(exclude_tags=("danger",)), True)
    assert ops.access.hide_underlying_tools
    assert found.access("stdio", "stdio").scope == Scope(exclude_tags=("danger",))


def test_who_may_do_what_is_told_without_any_token(tmp_path: Path) -> None:
    """The same access as with them; who speaks over standard input and output is the first."""
    scopes = {"default": {"exclude_tags": ["danger"]}, "readers": {"include_servers": ["web"], "approve": ["web/get"]}}
    tokens = [{"name": "ann", "token": "${ANN}", "scope": "readers"}, {"name": "ops", "token": "${OPS}", "admin": True}]
    path = config(tmp_path, {"scopes": scopes, "tokens": tokens})
    with_tokens = read_config(path, {"ANN": TOKEN, "OPS": f"{TOKEN}-too"})
    stdio, *others = callers_of(path)
    assert stdio == with_tokens.access("stdio", "stdio")
    assert others == [token.access for token in with_tokens.tokens]
    with pytest.raises(
        Invalid, match=r"`tokens\[0\]` \(x\) has the scope 'reader', which is not there .*did you mean 'readers'"
    ):
        callers_of(config(tmp_path, {"scopes": scopes, "tokens": [{"name": "x", "token": "y", "scope": "reader"}]}))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{]", ["line 1"]),
        ([], ['it is not a JSON object ({"scopes": {…}, "tokens": […]})']),
        ({"token": []}, ["'token'", "did you mean 'tokens'?"]),
        ({"scopes": {"a": {"include_tgs": []}}}, ["`scopes.a`", "'include_tgs'"]),
        ({"scopes": {"a": {"exclude_names": ["(?=x)"]}}}, ["`scopes.a.exclude_names[0]`", "RE2"]),
        (
            {"scopes": {"a": {"rate_per_minute": 0, "limits": {"results": 1_000}}}},
            ["`scopes.a.rate_per_minute` is 0", "`scopes.a.limits.results` is 1000"],
        ),
        ({"scopes": {"a": {"approve": ["x"]}}}, ["`scopes.a.approve`", "'x' names no tool"]),
        ({"scopes": {"a": {"also": []}}}, ["'also'"]),
        ({"tokens": [{"name": "x"}]}, ["`tokens[0]` (x)", "`token` or `sha256`"]),
        ({"tokens": [{"name": "x", "token": "short"}]}, ["`tokens[0]` (x)", "at least 16 characters"]),
        ({"tokens": [{"name": "x", "token": "${NOT_THERE}"}]}, ["`tokens[0]` (x)", "NOT_THERE"]),
        ({"tokens": [{"name": "x", "sha256": "abc"}]}, ["`sha256` of `tokens[0]` (x)"]),
        (
            {"scopes": {"readers": {}}, "tokens": [{"name": "x", "token": TOKEN, "scope": "reader"}]},
            ["`tokens[0]` (x)", "'reader'", "did you mean 'readers'?"],
        ),
        (
            {"tokens": [{"name": "x", "token": TOKEN}, {"name": "y", "token": TOKEN}]},
            ["`tokens[1]` (y)", "of another one"],
        ),
        (
            {"tokens": [{"name": "x", "token": TOKEN}, {"name": "x", "token": f"{TOKEN}-too"}]},
            ["`tokens[1]` (x) has the name or the token of another one (each its own)"],
        ),
        (
            {"tokens": [{"name": "x", "token": TOKEN, "sha256": hashlib.sha256(TOKEN.encode()).hexdigest()}]},
            ["`tokens[0]` (x) needs `token` or `sha256`, one of them"],
        ),
        ({"tokens": [{"name": "x", "token": "sixteen-and-a-bell\x07"}]}, ["`tokens[0]` (x)", "ASCII without spaces"]),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_with_the_place(tmp_path: Path, document: Any, said: list[str]) -> None:
    """And never with the token."""
    with pytest.raises(Invalid) as wrong:
        read_config(config(tmp_path, document), {})
    assert all(part in str(wrong.value) for part in (*said, "serve.json")), str(wrong.value)
    assert TOKEN not in str(wrong.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no file .* \(`--config` names a JSON file\)"):
        read_config(tmp_path / "nowhere.json", {})


def test_servers_that_nobody_knows_are_doubted(tmp_path: Path) -> None:
    """One that was meant to be excluded would not be."""
    read = read_config(
        config(tmp_path, {"scopes": {"a": {"exclude_servers": ["gti"], "include_servers": ["web"]}}}), {}
    )
    [message] = config_warnings(read, ["git", "web"])
    assert "`scopes.a.exclude_servers` names 'gti'" in message
    assert "did you mean 'git'?" in message


def test_tools_that_nobody_knows_are_doubted_where_their_server_was_listed(tmp_path: Path) -> None:
    """One that was meant to be called without asking is asked about."""
    approve = ["git/statu", "git/*", "later/anything", "git/status/all"]
    read = read_config(config(tmp_path, {"scopes": {"a": {"approve": approve}}}), {})
    message, other = config_warnings(read, ["git", "later"], [Tool("git", "status")])
    assert message == "`scopes.a.approve`: no tool here is called git/statu; did you mean git/status?"
    assert other.startswith("`scopes.a.approve`: no tool here is called git/status/all")


@pytest.mark.parametrize(
    "token",
    ["", "short", "with spaces in the middle of it", "ümlaute-sind-auch-nicht-dabei", "tabs\tin\tthe\tmidst\tof\tit"],
)
def test_a_token_that_cannot_serve_is_refused(token: str) -> None:
    with pytest.raises(Invalid, match="a token has at least"):
        checked_token(token)


def test_a_token_has_sixteen_characters() -> None:
    assert checked_token("x" * 16) == "x" * 16
    with pytest.raises(Invalid, match="at least 16 characters"):
        checked_token("x" * 15)


def test_a_rate_lets_so_many_calls_through_in_any_minute() -> None:
    """It says after how long the next one may come; what it refuses is not counted."""
    at = [0.0]
    rate = Rate(2, lambda: at[0])
    assert rate.acquire() == 0
    at[0] = 20.0
    assert rate.acquire() == 0
    at[0] = 30.0
    assert rate.acquire() == rate.acquire() == MINUTE - 30
    at[0] = MINUTE
    assert rate.acquire() == 0
    assert rate.acquire() == 20
    assert [Rate(None).acquire() for _ in range(1_000)] == [0] * 1_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "serve.json"], "`scopes.a` has no field 'x'"),
        (["--config", "none.json"], "there is no file 'none.json'"),
        (["--http", "0", "--token", TOKEN, "--config", "good.json"], "the tokens are those of the configuration"),
    ],
)
def test_the_command_refuses_in_one_sentence_and_makes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """Code 2; no space is made."""
    from tui.command import main

    monkeypatch.chdir(tmp_path)
    config(tmp_path, {"scopes": {"a": {"x": 1}}})
    (tmp_path / "good.json").write_text(json.dumps({"tokens": [{"name": "a", "token": "one-more-token-of-tests"}]}))
    space = tmp_path / "space.db"
    assert main([*command(space, *words)[3:]]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert said in told.err
    assert not space.exists()
