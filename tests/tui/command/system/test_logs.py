"""What happens is told to Python's logging, and written where somebody wants it; never arguments or contents."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.logs import PACKAGES, write_log
from infospace.core.tool import ToolFailed
from infospace.store.changes import MakeNote
from infospace.store.sqlite.store import LONG_WAIT
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync

WORDS = "the heron is under the bridge"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Nothing goes on being written after a test."""
    loggers = [logging.getLogger(name) for name in PACKAGES]
    levels = [logger.level for logger in loggers]
    yield
    write_log(verbose=False, question=None)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def test_searches_calls_retries_and_leases_are_told_without_what_they_are_about(
    space: Space, caplog: pytest.LogCaptureFixture
) -> None:
    tools = LocalTools("desk")

    @tools.tool(read_only=True)
    async def ring(text: str) -> str:
        """Ring a bell."""
        raise ToolFailed(text)

    space.tools.add(tools)
    search = {"type": "discover-notes", "query": WORDS, "mode": "keyword", "out": "$hits"}
    call = {"type": "desk/ring", "arguments": {"text": WORDS}, "retry": {"attempts": 2, "wait_s": 0}, "out": "$x"}
    with caplog.at_level(logging.INFO):
        result = run_sync(space, [search, {**call, "on_fail": "continue"}], approve=["desk/ring"])
    assert result.status == "success", result.reason
    said = [f"{record.name}: {record.getMessage()}" for record in caplog.records]
    assert any(one.startswith("infospace.search.search: searched keyword (exact): 0 compared, 0 found") for one in said)
    assert sum(one.startswith("infospace.tools.toolbox: called desk/ring: failed, ") for one in said) == 2
    assert "planner.execute.retry: step 2 failed at attempt 1; it is tried again in 0.0 s" in said
    assert "planner.journal.lease: run_1: this process has the lease" in said
    assert "planner.journal.lease: run_1: the lease is given back" in said
    assert not any("heron" in one for one in said)


def test_waiting_for_the_lock_of_a_space_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever else holds it; a commit that did not wait says nothing."""
    with open_space(tmp_path / "space.db") as one, open_space(tmp_path / "space.db") as other:
        change = [MakeNote(one.store.new_id(Kind.NOTE), "a", kept=True)]
        late = [MakeNote(other.store.new_id(Kind.NOTE), "b", kept=True)]
        with caplog.at_level(logging.INFO, logger="infospace.store"):
            one.store.commit(change)
            assert caplog.records == []
            writing = threading.Thread(target=other.store.commit, args=(late,))
            with one.store._writing():
                writing.start()
                writing.join(2 * LONG_WAIT)
                assert writing.is_alive()
            writing.join()
        [record] = caplog.records
    assert record.getMessage().startswith("waited 0.")


def test_a_command_writes_it_to_standard_error_or_to_a_file(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for stands on standard output as ever; a file is appended to."""
    words = ("search", WORDS, "--mode", "keyword")
    quiet = cli(*words)
    loud = cli(*words, "-v")
    assert (loud.code, loud.out, quiet.err.count("INFO")) == (0, quiet.out, 0)
    assert " INFO infospace.search.search: searched keyword" in loud.err
    assert "heron" not in loud.err
    monkeypatch.setenv("INFOSPACE_LOG", "infospace.log")
    for _ in range(2):
        assert cli(*words).err == quiet.err
    assert (tmp_path / "infospace.log").read_text().count("searched keyword") >= 2


@pytest.mark.parametrize(
    ("asked", "said"), [("loud", "INFOSPACE_LOG is 'loud' (debug, info, "), ("no/such.log", "cannot be written")]
)
def test_a_log_that_cannot_be_written_is_wrong_usage(
    cli: Any, monkeypatch: pytest.MonkeyPatch, asked: str, said: str
) -> None:
    monkeypatch.setenv("INFOSPACE_LOG", asked)
    answer = cli("notes", "--json")
    assert answer.code == 2
    assert said in answer.err
    assert json.loads(answer.out)["kind"] == "usage"


def test_the_screen_has_no_room_for_it(tmp_path: Path) -> None:
    """Only a file has; a level alone is for commands, and says nothing there."""
    with pytest.raises(Invalid, match="the screen has no room"):
        write_log(verbose=True, question=None, screen=True)
    write_log(verbose=False, question="debug", screen=True)
    assert not logging.getLogger("planner").handlers
    write_log(verbose=False, question=str(tmp_path / "log"), screen=True)
    logging.getLogger("planner.x").info("it happened")
    assert (tmp_path / "log").read_text().endswith(" INFO planner.x: it happened\n")
