"""A call that was approved and killed is in doubt: what was said before it began says nothing of what became of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from dying import with_drop

from infospace import Space, open_space
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume

pytestmark = pytest.mark.usefixtures("warm_processes")

DROP = {"type": "outside/drop", "arguments": {"text": "it"}, "out": "$d"}


def killed(path: Path, log: Path) -> None:
    """Go on in another process, which dies within the call."""
    script = Path(__file__).with_name("dying.py")
    done = subprocess.run([sys.executable, str(script), str(path), str(log)], check=False, timeout=60)
    assert done.returncode == -9


def here(path: Path, log: Path, *words: Any) -> RunResult:
    """Go on in this process, and answer once for each word."""
    with open_space(path) as space:
        with_drop(space, log, dies=False)
        result = gone_on(space)
        for word in words:
            answer(space, "run_1", result.pending[0].step, word)
            result = gone_on(space)
        return result


def gone_on(space: Space) -> RunResult:
    return asyncio.run(resume(space, "run_1"))


def said(path: Path, word: Any) -> None:
    """Answer, and go on later."""
    with open_space(path) as space:
        answer(space, "run_1", "1", word)


@pytest.mark.parametrize("word", ["once", "run", "always"])
def test_a_call_that_was_allowed_and_killed_is_asked_about_each_time(tmp_path: Path, word: str) -> None:
    """Allowed once it is not repeated unasked; said to be repeated once, it is not repeated twice."""
    path, log = tmp_path / "space.db", tmp_path / "log"
    with open_space(path) as space:
        with_drop(space, log, dies=False)
        assert [one.kind for one in run_sync(space, [DROP]).pending] == ["approve"]
    said(path, word)
    killed(path, log)
    first = here(path, log)
    assert ([one.kind for one in first.pending], log.read_text()) == (["doubt"], "it\n")
    said(path, "repeat")
    killed(path, log)
    second = here(path, log)
    assert ([one.kind for one in second.pending], log.read_text()) == (["doubt"], "it\nit\n")
    assert second.pending[0].answer_key != first.pending[0].answer_key
    ended = here(path, log, {"result": "dropped it"})
    assert ended.result is not None
    assert (ended.status, ended.result.data, log.read_text()) == ("success", "dropped it", "it\nit\n")


def test_a_call_that_is_repeated_ends(tmp_path: Path) -> None:
    """With what it answers then."""
    path, log = tmp_path / "space.db", tmp_path / "log"
    with open_space(path) as space:
        with_drop(space, log, dies=False)
        run_sync(space, [DROP])
    said(path, "once")
    killed(path, log)
    ended = here(path, log, "repeat")
    assert (ended.status, log.read_text()) == ("success", "it\nit\n")
