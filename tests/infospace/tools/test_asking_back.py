"""What a server asks while one of its tools is called is a question of the run, and is answered as any is."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infospace import Space, open_space
from infospace.core.errors import Invalid
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import Event, Progressed, Spoke
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume

sys.path.insert(0, str(Path(__file__).parent))
from served import synced, write

if TYPE_CHECKING:
    from chatting import Endpoint

SERVER = Path(__file__).parent / "asking_server.py"


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """Where the server notes what it was asked and told."""
    return tmp_path / "counted.txt"


@pytest.fixture
def asking(space: Space, tmp_path: Path, counted: Path) -> Space:
    """A space with the server."""
    configured(space, tmp_path, counted)
    return space


def configured(space: Space, tmp_path: Path, counted: Path, **entry: Any) -> None:
    """Sync a space with the server."""
    command = {"command": sys.executable, "args": ["-I", "-S", str(SERVER), str(counted)]}
    assert synced(space, mcp=write(tmp_path, asking={**command, **entry})).failed == []


def played(space: Space, *steps: Any, budget: Any = None, events: list[Event] | None = None) -> RunResult:
    """Run steps."""
    document = {"steps": list(steps), **({"budget": budget} if budget else {})}
    prepared = prepare(space, document)
    assert isinstance(prepared, Prepared), prepared
    heard = events if events is not None else []
    return asyncio.run(Run(space, prepared.plan, heard.append, prepared.warnings).run(prepared.bound))


def answered(space: Space, result: RunResult, value: Any) -> RunResult:
    """Answer what a run waits for, and go on."""
    [pending] = result.pending
    answer(space, str(result.run), pending.step, value)
    return asyncio.run(resume(space, str(result.run)))


def step(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a step that calls a tool of the server."""
    return {"type": f"asking/{tool}", "arguments": arguments, "out": f"${tool}"}


def content(space: Space, result: RunResult, tool: str) -> Any:
    """Return what a step gave."""
    assert result.status == "success", result.to_json()
    view = space.context()
    return view.content(view.get(result.bindings[tool].id))


def calls(counted: Path) -> Sequence[str]:
    """Return which calls were begun and ended, in order."""
    return [line for line in counted.read_text().splitlines() if not line.startswith("capabilities")]


def test_a_form_is_a_question_and_its_answer_goes_on_with_the_same_call(asking: Space, counted: Path) -> None:
    result = played(asking, step("book"))
    assert result.status == "suspended"
    [pending] = result.pending
    assert (pending.kind, pending.question) == ("ask", "asking/book asks: For whom?")
    assert pending.about == {"tool": "asking/book"}, "who answers sees whether they may know the tool"
    assert pending.schema is not None
    assert pending.schema["properties"]["seats"]["default"] == 2
    assert calls(counted) == ["called book"]
    with pytest.raises(Invalid, match="does not fit"):
        answer(asking, str(result.run), pending.step, {"name": "Ann", "seats": 12})
    with pytest.raises(Invalid, match="does not fit"):
        answer(asking, str(result.run), pending.step, {"seats": 3})
    result = answered(asking, result, {"name": "Ann"})
    assert content(asking, result, "book") == {
        "action": "accept",
        "content": {"name": "Ann", "seats": 2, "class": "second"},
    }
    assert calls(counted) == ["called book", "heard result", "answered book"]


def test_a_later_process_calls_again_and_gives_the_answer_that_is_known(tmp_path: Path, counted: Path) -> None:
    path = tmp_path / "a.db"
    with open_space(path) as space:
        configured(space, tmp_path, counted)
        result = played(space, step("book"))
    with open_space(path) as space:
        result = answered(space, result, {"name": "Ann", "seats": 3})
        assert content(space, result, "book")["content"]["seats"] == 3
    kept = [line for line in calls(counted) if line != "answered book"]
    assert kept == ["called book", "heard error", "called book", "heard result"]


def test_the_same_question_twice_is_two_questions(tmp_path: Path, counted: Path) -> None:
    path = tmp_path / "a.db"
    with open_space(path) as space:
        configured(space, tmp_path, counted)
        first = played(space, step("twice"))
        second = answered(space, first, {"name": "Ann"})
        assert second.status == "suspended"
        assert second.pending[0].key != first.pending[0].key
    with open_space(path) as space:
        result = answered(space, second, {"name": "Bob"})
        names = [one["content"]["name"] for one in content(space, result, "twice")]
    assert names == ["Ann", "Bob"]


def test_declining_is_an_answer(asking: Space) -> None:
    result = answered(asking, played(asking, step("book")), "decline")
    assert content(asking, result, "book") == {"action": "decline"}


def test_an_address_is_shown_and_not_opened(asking: Space, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "browser.py"
    script.write_text(f"open({str(tmp_path / 'opened')!r}, 'w')")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    result = played(asking, step("visit"))
    assert "Pay first; go to http://pay.example/7, which is not opened for you" in result.pending[0].question
    result = answered(asking, result, "done")
    assert content(asking, result, "visit")["action"] == "accept"
    assert not (tmp_path / "opened").exists()


def test_a_form_that_nobody_can_answer_is_cancelled(asking: Space) -> None:
    result = played(asking, step("broken"))
    assert content(asking, result, "broken")["result"] == {"action": "cancel"}


def test_outside_of_runs_nobody_is_asked(asking: Space) -> None:
    told = asyncio.run(asking.tools.call(asking.tools.get("asking/book"), {}, None))
    assert json.loads(told.text) == {"action": "cancel"}


def test_a_language_model_answers_after_approval_and_is_paid_by_the_run(
    endpoint: Endpoint, asking: Space, counted: Path
) -> None:
    endpoint.script.append("Leaves in hot water.")
    result = played(asking, step("consult"))
    assert result.status == "suspended"
    [pending] = result.pending
    assert pending.kind == "approve"
    assert "let the server asking ask the language model: Be short. What is tea?" in pending.question
    assert pending.about is not None
    assert pending.about["tool"] == "asking/sampling/createMessage"
    assert endpoint.requests == []
    result = answered(asking, result, "once")
    told = content(asking, result, "consult")["result"]
    assert told["content"] == {"type": "text", "text": "Leaves in hot water."}
    assert told["role"] == "assistant"
    with asking.store.reading() as snapshot:
        assert snapshot.run(str(result.run)).spent["llm_calls"] == 1
    assert calls(counted) == ["called consult", "heard result", "answered consult"]


def test_a_language_model_is_refused_in_a_sentence(endpoint: Endpoint, asking: Space) -> None:
    refused = answered(asking, played(asking, step("consult")), "no")
    assert content(asking, refused, "consult")["error"]["message"] == "nobody allowed that a language model answers"
    poor = answered(asking, played(asking, step("consult"), budget={"llm_calls": 0}), "once")
    assert "llm_calls" in content(asking, poor, "consult")["error"]["message"]
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    shown = played(asking, step("consult", content=picture))
    assert content(asking, shown, "consult")["error"]["message"] == "the language model takes text, and no image"
    assert endpoint.requests == []


def test_without_a_language_model_the_server_is_told_so(asking: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INFOSPACE_LLM_URL", "INFOSPACE_LLM_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    result = played(asking, step("consult"))
    assert "no language model answers here" in content(asking, result, "consult")["error"]["message"]


def test_roots_are_those_of_the_entry_and_else_none_are_offered(tmp_path: Path, counted: Path) -> None:
    (tmp_path / "project").mkdir()
    with open_space(tmp_path / "a.db") as space:
        configured(space, tmp_path, counted, roots=["project", "${HOME}"])
        roots = content(space, played(space, step("where")), "where")["result"]["roots"]
        assert roots[0] == {"uri": (tmp_path / "project").as_uri(), "name": "project"}
        assert len(roots) == 2
        configured(space, tmp_path, counted)
        assert content(space, played(space, step("where")), "where").keys() == {"jsonrpc", "id", "error"}


def test_progress_and_messages_are_events_of_the_step(asking: Space) -> None:
    events: list[Event] = []
    result = played(asking, step("slow"), events=events)
    assert content(asking, result, "slow") == "done"
    assert [(one.done, one.total, one.what) for one in events if isinstance(one, Progressed)] == [
        (1, 2, "part 1"),
        (2, 2, "part 2"),
    ]
    assert [one.text for one in events if isinstance(one, Spoke)] == ["asking (warning): the disk is nearly full"]
    assert result.steps[-1].value == "done"


def test_a_replay_calls_nothing_and_has_the_same_answer(asking: Space, counted: Path) -> None:
    from planner.lifecycle.replay import replay

    result = answered(asking, played(asking, step("book")), {"name": "Ann"})
    before = calls(counted)
    again = asyncio.run(replay(asking, str(result.run)))
    assert calls(counted) == before
    assert again.result.status == "success"
