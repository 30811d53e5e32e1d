"""Servers that answer errors, leak, or nest without end: one call fails, in the server's own words."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace import Space, open_space
from infospace.core.tool import NotCalled, ToolFailed
from infospace.tools.mcp.transport.stdio import KEPT_STDERR
from planner.execute.start import Prepared, check_plan, prepare, run_sync
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.replay import replay

sys.path.insert(0, str(Path(__file__).parent))
from odd_web import Handler, serving
from served import call, odd, synced, write

SECRET, ARGUMENT = "hunter2-hunter2", "letmein-letmein"


@pytest.fixture(scope="module")
def rude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Space, Path]]:
    """A space with one such server, and the file in which it notes its calls."""
    folder = tmp_path_factory.mktemp("rude")
    made = folder / "made.calls"
    entry = odd("rude", str(made), autoApprove=True, env={"API_KEY": SECRET})
    entry["args"] += ["--token", ARGUMENT]
    with open_space(folder / "space.db") as space:
        assert synced(space, mcp=write(folder, a=entry)).failed == []
        yield space, made


@pytest.mark.parametrize(
    ("tool", "message"),
    [("terminated", "Session terminated"), ("paperless", "out of paper"), ("closed", "Connection closed")],
)
def test_an_error_of_the_server_is_its_own_word_and_the_call_is_made_once(
    rude: tuple[Space, Path], tool: str, message: str
) -> None:
    """Whatever its code and its message look like: nobody is told that the server ended, or that nothing was called."""
    space, made = rude
    made.unlink(missing_ok=True)
    with pytest.raises(ToolFailed) as caught:
        call(space, f"a/{tool}")
    assert caught.value.message == f"a/{tool} failed: {message}"
    assert not isinstance(caught.value, NotCalled)
    assert made.read_text(encoding="utf-8").split() == [tool]
    assert call(space, "a/echo", text="on it goes").content == "on it goes"


def test_a_result_nested_without_end_fails_that_call_alone(rude: tuple[Space, Path]) -> None:
    """At once, and the server goes on."""
    space, _ = rude
    with pytest.raises(ToolFailed, match="a/deep failed: it answers with something nested more than 190 deep"):
        call(space, "a/deep", 20)
    assert call(space, "a/echo", text="on").content == "on"


def test_a_failure_that_quotes_a_secret_is_told_without_it(rude: tuple[Space, Path]) -> None:
    """Of `env` and of the arguments: neither the answer nor the journal has it."""
    space, _ = rude
    said = call(space, "a/leaks")
    assert (said.is_error, said.text) == (True, "no entry for ••• and •••")
    result = run_sync(space, [{"type": "a/leaks"}])
    with space.store.reading() as snapshot:
        kept = repr(snapshot.calls(result.run or ""))
    told = json.dumps(result.to_json()) + kept
    assert "no entry for" in told
    assert SECRET not in told
    assert ARGUMENT not in told


@pytest.mark.parametrize(("tool", "went"), [("truth", "then"), ("yes", "then"), ("no", "else")])
def test_a_condition_takes_what_ordinary_servers_answer(rude: tuple[Space, Path], tool: str, went: str) -> None:
    """`{"result": true}`, as a function that returns a truth is served, and the texts `true` and `false`."""
    space, _ = rude
    plan = [
        {
            "type": "if",
            "condition": {"type": "tool_condition", "tool": f"a/{tool}"},
            "then": [{"type": "create-note", "value": "then", "out": "$w"}],
            "else": [{"type": "create-note", "value": "else", "out": "$w"}],
        },
    ]
    assert [one.message for one in check_plan(space, plan)[1].found] == []
    result = run_sync(space, {"steps": plan, "result": "$w"})
    assert result.status == "success"
    assert result.result is not None
    assert result.result.data == went
    replayed = asyncio.run(replay(space, result.run or "")).result
    assert replayed.result is not None
    assert replayed.result.data == went
    prepared = prepare(space, {"steps": plan})
    assert isinstance(prepared, Prepared)
    dried = asyncio.run(dry_run(space, prepared))
    assert [row.status for row in dried.result.steps if row.type == "if"] == ["skipped"]


def test_a_condition_that_is_neither_is_refused_where_that_is_known(rude: tuple[Space, Path]) -> None:
    """By the check where the output schema says so, else by the run."""
    space, _ = rude

    def plan(tool: str) -> list[object]:
        return [{"type": "if", "condition": {"type": "tool_condition", "tool": f"a/{tool}"}, "then": []}]

    assert [one.code for one in check_plan(space, plan("number"))[1].found if one.severity == "error"] == [
        "bad-condition"
    ]
    assert "'perhaps', not true or false" in str(run_sync(space, plan("perhaps")).reason).replace('"', "'")


def test_over_http_an_error_is_the_servers_own_too(space: Space, tmp_path: Path) -> None:
    """In a body of whatever status; what is too deep is told in a sentence, and nothing is made twice."""
    with serving() as url:
        assert synced(space, mcp=write(tmp_path, a={"url": f"{url}/sessions"})).failed == []
        before = Handler.calls
        for tool, message in (
            ("refused", "Session terminated"),
            ("wrong", "no such ink"),
            ("deep", "it answers with something nested more than 190 deep, which is not taken"),
        ):
            with pytest.raises(ToolFailed) as caught:
                call(space, f"a/{tool}")
            assert caught.value.message == f"a/{tool} failed: {message}"
        assert Handler.calls == before + 1
        assert call(space, "a/echo").content == "/sessions"
        space.close()


def test_one_bad_tool_is_refused_by_name_and_the_others_are_there(space: Space, tmp_path: Path) -> None:
    """Whatever is wrong with it; a sync says it, and so does what is kept of the server."""
    done = synced(space, mcp=write(tmp_path, a=odd("bad", trusted=True)))
    assert (done.listed, done.added) == (["a"], ["a/echo", "a/greet", "a/odd://one", "a/odd://{name}"])
    assert [one.name for one in done.refused] == [
        "a list",
        "a text",
        "endless",
        "deep",
        "round",
        "number 7 of its tools",
        "number 8 of its tools",
    ]
    why = {one.name: one.why for one in done.refused}
    assert "nested more than 190 deep" in why["deep"]
    assert "refers to itself without end" in why["round"]
    assert call(space, "a/echo", text="hi").content == "hi"
    assert space.tools.servers is not None
    [server] = space.tools.servers.all()
    assert server.state == "listed"
    assert server.kept is not None
    assert "the tool 'a list' is refused: " in str(server.kept.error)
    assert "the tool 'deep' is refused" in (space.tools.unavailable_reason("a/deep") or "")
    assert [one["name"] for one in done.to_json()["refused"]] == [one.name for one in done.refused]


def test_one_bad_prompt_or_resource_is_refused_by_its_name_or_its_place(space: Space, tmp_path: Path) -> None:
    """As what it is listed as, with the field that is wrong."""
    done = synced(space, mcp=write(tmp_path, a=odd("bad lists", trusted=True)))
    assert {"a/echo", "a/greet", "a/odd://one", "a/odd://{name}"} < set(done.added)
    refused = [(one.kind, one.name, one.why.partition(":")[0]) for one in done.refused]
    assert refused == [
        ("prompt", "scold", "`arguments`"),
        ("prompt", "number 3 of its prompts", "Input should be a valid dictionary or instance of Prompt"),
        ("resource", "odd://two", "`name`"),
        ("resource", "three", "`uri`"),
        ("resource", "odd://{n}/{m}", "`name`"),
    ]


TOKEN = "sk-" + "0123456789abcdef" * 4


def _writes(stream: str, kept: int) -> dict[str, object]:
    """Return the entry of a server of whose secret only so many bytes are kept, at an edge of what it wrote."""
    rest = KEPT_STDERR - 1 - kept
    said = f"'x ' * 4000 + token + ' ' + 'y ' * {rest // 2} + 'z' * {rest % 2}"
    if stream == "stdout":
        said = f"'x ' * {rest // 2} + 'z' * {rest % 2} + ' ' + token + '\\n'"
    code = f"import os, sys; token = os.environ['TOKEN']; sys.{stream}.write({said}); sys.exit(3)"
    return {"command": sys.executable, "args": ["-I", "-S", "-c", code], "env": {"TOKEN": TOKEN}}


def test_a_secret_that_is_cut_in_two_is_not_shown(space: Space, tmp_path: Path) -> None:
    """Of what a server writes 8,192 bytes are kept; what they have of a secret at their edge nobody would recognize."""
    kept = range(9, len(TOKEN), 13)
    entries = {f"{stream}{count}": _writes(stream, count) for stream in ("stderr", "stdout") for count in kept}
    failed = synced(space, mcp=write(tmp_path, **entries)).failed
    assert {one.server for one in failed} == entries.keys()
    for one in failed:
        assert one.reason.startswith(f"the server {one.server!r} ended with code 3 at its start; it said '… ")
        assert one.stderr.startswith("y " if "stderr" in one.server else "x ")
        assert not any(TOKEN[at : at + 8] in one.reason + one.stderr for at in range(len(TOKEN) - 7))
