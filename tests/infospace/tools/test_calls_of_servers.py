"""What calls of real servers answer, in whatever form; how they are counted; prompts and resources."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space, open_space
from infospace.core.tool import ToolFailed
from infospace.tools.mcp.transport.environment import HANDED_ON
from planner.execute.start import run_sync

sys.path.insert(0, str(Path(__file__).parent))
from served import call, odd, synced, write


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """A space with one server that runs."""
    folder = tmp_path_factory.mktemp("served")
    with open_space(folder / "space.db") as space:
        synced(space, mcp=write(folder, a=odd("plain", autoApprove=True)))
        yield space


def test_all_blocks_are_kept(served: Space) -> None:
    """With structured content, which comes first; a single text is itself."""
    assert call(served, "a/echo", text="hi").content == "hi"
    structured = call(served, "a/structured")
    assert (structured.content, structured.text) == ({"a": [1, None]}, "also")
    blocks = call(served, "a/blocks").content
    assert blocks == [
        {"type": "text", "text": "first"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    ]


def test_what_cannot_be_kept_is_mended(served: Space) -> None:
    """Bytes that are no UTF-8, half of a character, numbers that are none; a zero byte is text."""
    answer = call(served, "a/odd")
    assert answer.text == "\ufffd\ufffd \x00"
    assert answer.structured == {"n": None, "big": None}


def test_log_lines_among_the_messages_are_passed_over(served: Space) -> None:
    assert call(served, "a/noise").content == "found"


def test_a_failure_in_the_tools_words_is_an_answer(served: Space) -> None:
    answer = call(served, "a/fail")
    assert (answer.is_error, answer.text) == (True, "no such place")


def test_who_asks_something_back_is_told_that_nobody_answers(served: Space) -> None:
    """With an error of the protocol, and the call goes on."""
    assert int(str(call(served, "a/ask").content)) < 0


def test_of_our_environment_a_server_has_what_its_entry_names_and_little_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where programs and files are, and the language: no key, and no password in a URL, of whatever name."""
    for name in ("OPENAI_API_KEY", "INFOSPACE_LLM_KEY", "INFOSPACE_TOKEN", "ORDINARY", "DATABASE_URL", "LC_TIME"):
        monkeypatch.setenv(name, "value")
    with open_space(tmp_path / "space.db") as space:
        synced(space, mcp=write(tmp_path, a=odd("plain", env={"OWN": "set here", "OPENAI_API_KEY": "${ORDINARY}!"})))
        found: Any = call(space, "a/environment").structured
    assert (found["OWN"], found["OPENAI_API_KEY"], found["LC_TIME"]) == ("set here", "value!", "value")
    assert found["PATH"] == os.environ["PATH"]
    assert [name for name in found if not HANDED_ON.fullmatch(name)] == ["OWN", "OPENAI_API_KEY"]


def test_arguments_that_do_not_fit_are_told_before_the_call(served: Space) -> None:
    with pytest.raises(Invalid, match='"text" is missing'):
        call(served, "a/echo", txt=1)


def test_calls_are_counted_in_plans_and_outside(space: Space, tmp_path: Path) -> None:
    """Those that were really made, with their time; what never reached the tool is none."""
    synced(space, mcp=write(tmp_path, a=odd("plain", trusted=True)))
    assert run_sync(space, [{"type": "a/echo", "arguments": {"text": "in a plan"}}]).status == "success"
    assert run_sync(space, [{"type": "a/fail", "on_fail": "continue"}]).status == "success"
    call(space, "a/echo", text="outside")
    with pytest.raises(Invalid, match='"text" is missing'):
        call(space, "a/echo")
    with pytest.raises(ToolFailed, match=r"did not answer within 0\.2 s"):
        call(space, "a/slow", 0.2)
    with space.store.reading() as snapshot:
        uses = {use.name: use for use in snapshot.tool_uses("a")}
    assert {name: (use.execution_count, use.success_rate) for name, use in uses.items()} == {
        "echo": (2, 1.0),
        "fail": (1, 0.0),
        "slow": (1, 0.0),
    }
    assert uses["slow"].mean_ms == uses["slow"].p95_ms > 190


def test_the_time_out_is_the_steps_else_the_entrys(space: Space, tmp_path: Path) -> None:
    """The tool answers after 1.5 s, and the entry gives it 1 s."""
    synced(space, mcp=write(tmp_path, a=odd("plain", timeout_s=1, trusted=True)))
    longer = run_sync(space, [{"type": "a/slow", "timeout_s": 20, "out": "$late"}])
    assert (longer.status, longer.result.data if longer.result else None) == ("success", "late")
    usual = run_sync(space, [{"type": "a/slow"}])
    assert "did not answer within 1 s" in str(usual.reason)
    shorter = run_sync(space, [{"type": "a/slow", "timeout_s": 0.3}])
    assert "longer than its `timeout_s` of 0.3 s" in str(shorter.reason)


def test_a_plan_calls_gets_and_reads(served: Space) -> None:
    """A prompt and a resource become Notes; a resource need not be listed."""
    result = run_sync(
        served,
        {
            "steps": [
                {"type": "get-prompt", "prompt": "a/greet", "arguments": {"who": "Ada"}, "out": "$greeting"},
                {"type": "read-resource", "resource": "a/odd://one", "out": "$one"},
                {"type": "read-resource", "resource": "a/odd://anything", "out": "$any"},
                {
                    "type": "call-tool",
                    "tool": "a/echo",
                    "arguments": {"text": "${greeting} ${one}, ${any}"},
                    "out": "$all",
                },
            ],
            "result": "$all",
        },
    )
    assert result.status == "success"
    assert result.result is not None
    assert result.result.data == "Greet Ada. here is odd://one, here is odd://anything"
    greeting = result.steps[0].extra["content"]
    text = {"type": "text", "text": "Greet Ada."}
    assert greeting == [{"type": "message", "role": "user", "content": text}]
    one = {"uri": "odd://one", "text": "here is odd://one"}
    assert result.steps[1].extra["content"] == [one]
    with served.store.reading() as snapshot:
        answers: list[Any] = [call.answer for call in snapshot.calls(str(result.run))]
    assert [answer["blocks"] for answer in answers[:2]] == [greeting, [{"type": "resource", "resource": one}]]


def test_several_messages_of_a_prompt_are_a_list(served: Space) -> None:
    """Each with its role; the text of a block, and what is no text as it is."""
    result = run_sync(served, [{"type": "get-prompt", "prompt": "a/greet", "arguments": {"who": "both"}, "out": "$g"}])
    assert result.result is not None, result.reason
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    assert result.result.data == [
        {"role": "user", "content": "Greet both."},
        {"role": "assistant", "content": picture},
    ]


def test_a_failure_without_words_is_told_by_what_it_has(served: Space) -> None:
    result = run_sync(served, [{"type": "a/fail", "arguments": {"code": 7}}])
    assert [row.reason for row in result.steps] == ["a/fail failed: {'code': 7}"]


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"type": "get-prompt", "prompt": "a/gret", "arguments": {"who": "x"}}, "unknown-prompt"),
        ({"type": "get-prompt", "prompt": "a/greet"}, "missing-argument"),
        ({"type": "read-resource", "resource": "b/odd://one"}, "unknown-resource"),
    ],
)
def test_a_prompt_or_a_server_that_is_not_there_is_refused(served: Space, step: dict[str, Any], code: str) -> None:
    """By the check, which knows what servers listed; what is known in the run alone fails there."""
    assert [problem.code for problem in run_sync(served, [step]).problems] == [code]
    late = run_sync(
        served, [{"type": "create-note", "value": "a/gret", "out": "$p"}, {"type": "get-prompt", "prompt": "$p"}]
    )
    assert (late.status, "did you mean 'a/greet'?" in str(late.reason)) == ("failed", True)


def test_a_prompt_is_no_step(served: Space) -> None:
    """The check says that there is no such tool."""
    result = run_sync(served, [{"type": "a/greet", "arguments": {"who": "x"}}])
    assert (result.status, result.problems[0].code) == ("refused", "unknown-tool")
