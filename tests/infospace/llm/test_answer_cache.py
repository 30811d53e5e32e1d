"""Answers that are kept across runs on request: of models for good, of tools that only read for a time."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Space, open_space
from infospace.core.resources import CreatedBy
from infospace.journal.answer_cache import AnswerCache, addressed
from infospace.llm.client import connect
from infospace.llm.meter import Meter
from infospace.llm.model import Request
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from infospace.tools.scoped_space import ScopedSpace
from planner import RunResult, run_sync

ASK = {"steps": [{"type": "generate-note", "prompt": "a title", "out": "$x"}], "result": "$x"}


@pytest.fixture
def cached(tmp_path: Path) -> Any:
    with open_space(tmp_path / "notes.db") as space:
        assert space.store.derived is not None
        space.answers = AnswerCache(space.store.derived, 60)
        yield space


def ask(space: Space, plan: Any = ASK) -> RunResult:
    result = run_sync(space, plan)
    assert result.status == "success", result.reason
    return result


def test_an_equal_question_of_a_later_run_is_not_asked(cached: Space, endpoint: Endpoint) -> None:
    """It costs nothing, is shown as cached, and stands in the journal, so that a replay has it."""
    endpoint.say("One", "Two")
    first, second = ask(cached), ask(cached)
    assert len(endpoint.requests) == 1
    assert first.result is not None
    assert second.result is not None
    assert first.result.data == second.result.data == "One"
    assert first.steps[0].extra["llm"] == {"model": "made", "calls": 1, "tokens": first.steps[0].extra["llm"]["tokens"]}  # type: ignore[index, call-overload]
    assert second.steps[0].extra["llm"] == {"model": "made", "calls": 0, "tokens": 0, "cached": 1}
    assert second.run is not None
    with cached.store.reading() as snapshot:
        (call,) = snapshot.calls(second.run)
    assert (call.status, call.answer, call.tokens) == ("success", "One", 0)


def test_an_answer_that_is_kept_is_told_whole_where_pieces_are_wanted(cached: Space, endpoint: Endpoint) -> None:
    endpoint.say("One")
    for times in (1, 2):
        meter, pieces = Meter(), list[str]()
        meter.answers = cached.answers
        question = Request(({"role": "user", "content": "a title"},))
        reply, _ = asyncio.run(meter.call(connect(), question, CreatedBy(), pieces.append))
        assert ("".join(pieces), reply.text, reply.cached) == ("One", "One", times == 2)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "another title"},
        {"model": "other"},
        {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    ],
)
def test_a_question_that_differs_in_anything_is_asked(cached: Space, endpoint: Endpoint, other: Any) -> None:
    """By its messages, its model, its schema, and its endpoint."""
    endpoint.say("One", '{"a": "b"}' if "schema" in other else "Two")
    ask(cached)
    ask(cached, {"steps": [{**ASK["steps"][0], **other}], "result": "$x"})  # type: ignore[dict-item]
    assert len(endpoint.requests) == 2


def test_another_endpoint_is_another_model(cached: Space, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.say("One", "Two")
    ask(cached)
    with open_space(cached.store.address) as again:
        assert again.store.derived is not None
        again.answers = AnswerCache(again.store.derived)
        monkeypatch.setenv("INFOSPACE_LLM_URL", endpoint.url.replace("127.0.0.1", "localhost"))
        second = ask(again)
    assert second.result is not None
    assert second.result.data == "Two"


def test_without_the_option_and_within_scopes_nothing_is_kept(
    cached: Space, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.say("One", "Two", "Three")
    ask(cached)
    assert ask(ScopedSpace(cached, Scope(include_servers=("a",)))).result.data == "Two"  # type: ignore[union-attr]
    cached.answers = None
    assert ask(cached).result.data == "Three"  # type: ignore[union-attr]
    assert len(list((tmp_path / "notes.db.derived" / "answers" / "llm").iterdir())) == 1


def test_an_answer_that_could_not_be_used_is_not_kept(cached: Space, endpoint: Endpoint) -> None:
    step = {**ASK["steps"][0], "schema": {"type": "object", "required": ["a"]}}  # type: ignore[dict-item]
    endpoint.say("no", "no", '{"a": 1}')
    assert run_sync(cached, {"steps": [step]}).status == "failed"
    assert run_sync(cached, {"steps": [step]}).status == "success"
    assert len(endpoint.requests) == 3


def desk(calls: list[str]) -> LocalTools:
    tools = LocalTools("desk")

    @tools.tool(read_only=True)
    def read(path: str) -> str:
        """Read a file."""
        calls.append(f"read {path}")
        if path == "none":
            message = "there is no such file"
            raise ValueError(message)
        return f"the text of {path}, read {len(calls)} times"

    @tools.tool(idempotent=True)
    def touch(path: str) -> str:
        """Change a file."""
        calls.append(f"touch {path}")
        return path

    return tools


def call(space: Space, tool: str, path: str) -> RunResult:
    return run_sync(space, {"steps": [{"type": f"desk/{tool}", "arguments": {"path": path}, "out": "$x"}]})


def test_tools_that_only_read_are_not_called_again_for_a_time(cached: Space) -> None:
    """Others are, and so is one that failed, one with other arguments, and one whose time is over."""
    calls: list[str] = []
    cached.tools.add(desk(calls))
    first, second = call(cached, "read", "a"), call(cached, "read", "a")
    assert calls == ["read a"]
    assert first.steps[0].value == second.steps[0].value
    assert "cached" not in first.steps[0].extra
    assert second.steps[0].extra["cached"] is True
    for tool, path in (("read", "b"), ("touch", "a"), ("touch", "a"), ("read", "none"), ("read", "none")):
        call(cached, tool, path)
    assert calls[1:] == ["read b", "touch a", "touch a", "read none", "read none"]
    assert cached.answers is not None
    for path in (cached.answers.folder / "tool").iterdir():
        kept = json.loads(path.read_text())
        path.write_text(json.dumps({**kept, "at": time.time() - 61}))
    call(cached, "read", "a")
    assert calls[-1] == "read a"


def test_the_answer_of_a_tool_that_may_change_something_is_not_kept(cached: Space) -> None:
    calls: list[str] = []
    tools = desk(calls)
    cached.tools.add(tools)
    assert cached.answers is not None
    tool = tools.find("touch")
    assert tool is not None
    assert not tool.read_only
    call(cached, "touch", "a")
    assert (calls, cached.answers.size().tools) == (["touch a"], 0)
    call(cached, "read", "a")
    assert cached.answers.size().tools == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"at": 1}', b'{"answer": "x"}', b"\xff\xfe"])
def test_a_damaged_file_is_as_none(tmp_path: Path, damage: bytes) -> None:
    cache = AnswerCache(tmp_path)
    cache.keep("tool", b"1", "yes")
    assert cache.find("tool", b"1") == "yes"
    (path,) = (tmp_path / "answers" / "tool").iterdir()
    path.write_bytes(damage)
    assert cache.find("tool", b"1") is None
    assert cache.find("llm", b"1") is None


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("a file where the folder would be")
    cache = AnswerCache(tmp_path)
    cache.keep("llm", b"1", "yes")
    assert cache.find("llm", b"1") is None


def test_parts_of_an_address_are_told_apart() -> None:
    assert addressed("ab", "c") != addressed("a", "bc")


def test_it_is_purged(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    for number in range(3):
        cache.keep("llm", os.urandom(4), number)
    cache.keep("tool", b"1", {})
    assert (cache.size().models, cache.size().tools) == (3, 1)
    assert cache.purge().models == 3
    assert cache.size().bytes == 0
    assert cache.purge().models == 0
