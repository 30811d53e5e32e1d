"""`infospace add --detach`: a process that goes on after the command. Real processes, really killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, open_space
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.files.tracked_files import first_to_embed
from tui.runtime.detached_import import DetachedImport, ImportRecord

NOTES = 60
WORDS = "river garden paper window letter morning engine bridge water winter market teacher music doctor village "
PATIENCE = 120.0
"""Seconds that are waited for anything, on however busy a machine."""


@pytest.fixture
def vault(tmp_path: Path, model: Any) -> Path:
    """A folder of notes that are embedded for a while."""
    del model
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_text(f"Note {number} of the vault. {WORDS * 9}")
    return folder


@pytest.fixture
def space(tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A space that is added to slowly; what is still at it is stopped in the end."""
    address = str(tmp_path / "work.db")
    monkeypatch.setenv("INFOSPACE_SPACE", address)
    monkeypatch.setenv("INFOSPACE_THREADS", "1")
    yield address
    cli("add", "--stop")


def until(cli: Any, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The status as soon as something holds of it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        status: dict[str, Any] = cli("add", "--status", "--json").json
        if holds(status):
            return status
        time.sleep(0.1)
    raise AssertionError(f"waited in vain: {status}")


def counts(address: str) -> tuple[int, int]:
    """How many notes there are, and how many wait to be embedded."""
    with open_space(address) as space, space.store.reading() as snapshot:
        return snapshot.count(Kind.NOTE), snapshot.pending_count()


def test_it_goes_on_after_the_command_and_tells_how_far_it_is(cli: Any, vault: Path, space: str) -> None:
    """And what came of it; a second one has to wait."""
    begun = cli("add", str(vault), "--detach")
    assert (begun.code, "it goes on in the background" in begun.err) == (0, True)
    status = until(cli, lambda one: one["what"] == "embedding" and one["done"] > 0)
    assert (status["running"], status["state"]) == (True, "running")
    refused = cli("add", str(vault), "--detach")
    assert (refused.code, "files are being added already" in refused.err) == (2, True)
    done = until(cli, lambda one: not one["running"])
    assert (done["state"], done["message"]) == ("done", f"{NOTES} added, 0 changed, {NOTES} embedded")
    assert counts(space) == (NOTES, 0)
    nothing = cli("add", "--detach")
    assert (nothing.code, "there is nothing to go on with" in nothing.err) == (2, True)


def test_a_killed_worker_is_started_again(cli: Any, vault: Path, space: str) -> None:
    """It goes on with what is not embedded yet."""
    cli("add", str(vault), "--detach")
    status = until(cli, lambda one: one["what"] == "embedding" and one["done"] > 0)
    os.kill(status["worker"], signal.SIGKILL)
    again = until(cli, lambda one: one["worker"] != status["worker"])
    assert again["pid"] == status["pid"]
    assert until(cli, lambda one: not one["running"])["state"] == "done"
    assert counts(space) == (NOTES, 0)


def test_an_import_that_was_broken_off_is_told_and_gone_on_with(cli: Any, vault: Path, space: str) -> None:
    """As after the machine was switched off: both processes are killed."""
    cli("add", str(vault), "--detach")
    status = until(cli, lambda one: one["what"] == "embedding" and one["done"] > 0)
    for process in ("pid", "worker"):
        with suppress(ProcessLookupError):
            os.kill(status[process], signal.SIGKILL)
    until(cli, lambda one: one["broken_off"])
    told = cli("add", "--status")
    assert (told.code, "broken off while embedding" in told.out) == (1, True)
    assert "goes on with it" in told.err
    assert "broken off while embedding" in cli("doctor").out
    assert counts(space)[1] > 0
    assert cli("add", "--detach").code == 0
    assert until(cli, lambda one: not one["running"])["state"] == "done"
    assert counts(space) == (NOTES, 0)
    assert "background" not in cli("doctor").out


def test_it_is_stopped_and_gone_on_with(cli: Any, vault: Path, space: str) -> None:
    """As it was begun, with its options; what was added stays."""
    begun = cli("add", str(vault), "--detach", "--prune", "--git-times", "--json").json
    assert (begun["prune"], begun["git_times"]) == (True, True)
    until(cli, lambda one: one["what"] == "embedding" and one["done"] > 0)
    stopped = cli("add", "--stop", "--json").json
    assert (stopped["state"], stopped["running"]) == ("stopped", False)
    notes, pending = counts(space)
    assert (notes, pending > 0) == (NOTES, True)
    again = cli("add", "--stop")
    assert (again.code, "nothing is being added in the background" in again.err) == (2, True)
    (vault / "0.md").unlink()
    going_on = cli("add", "--detach", "--json").json
    assert (going_on["prune"], going_on["git_times"]) == (True, True)
    assert until(cli, lambda one: not one["running"])["state"] == "done"
    assert counts(space) == (NOTES - 1, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "add needs a PATH"),
        (["--status", "."], "--status and --stop take no PATH"),
        (["-", "--detach"], "standard input cannot be added in the background"),
        (["--detach"], "there is nothing to go on with"),
        (["--stop"], "nothing is being added in the background"),
        ([".", "--detach", "--space", "postgresql://nobody@127.0.0.1:1/x"], "a space in a database is not added to"),
        ([".", "--detach", "--watch"], "not allowed with argument"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_in_a_sentence(cli: Any, space: str, arguments: list[str], message: str) -> None:
    """Before anything is added."""
    said = cli("add", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert cli("add", "--status").out == "nothing was added in the background\n"


def test_what_is_known_of_an_import_is_told_in_a_line(tmp_path: Path) -> None:
    """How far it is; of one that says that it runs, and that nobody does, that it was broken off."""
    job = DetachedImport(str(tmp_path / "work.db"))
    assert job.read() is None
    for record, line in (
        (ImportRecord(("/a", "/b")), "/a, /b: looking for files"),
        (ImportRecord(("/a",), what="embedding", done=1_000, total=2_000), "/a: embedding 1,000 of 2,000"),
        (ImportRecord(("/a",), what="read", total=9, per_second=4.6), "/a: read 0 of 9, 5 a second"),
    ):
        assert (str(record), record.running) == (line, True)
        job.write(record)
        broken = job.read()
        assert broken is not None
        assert (str(broken), broken.running) == (line.replace(": ", ": broken off while "), False)
        assert broken.to_json()["broken_off"] is True
    for state in ("done", "stopped", "failed"):
        job.write(ImportRecord(("/a",), state=state, message="well"))
        ended = job.read()
        assert ended is not None
        assert (str(ended), ended.running, ended.broken_off) == ("/a: well", False, False)
    (tmp_path / "work.db.add.json").write_text('{"paths": 3}')
    with pytest.raises(Invalid, match=r"work.db.add.json' is damaged: .* \(remove it, and add again\)"):
        job.read()


def test_named_files_are_embedded_first_then_those_that_changed_last(tmp_path: Path) -> None:
    """In whatever order they lie in the folder."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for age, name in enumerate(("new", "middle", "named", "old")):
        (folder / f"{name}.md").write_text(f"This is {name}.")
        os.utime(folder / f"{name}.md", (1e9, 1e9 - age * 1e6))
    with open_space(tmp_path / "work.db") as opened:
        import_paths(opened, [folder], NullListener())
        with opened.store.reading() as snapshot:
            titles = {file.note: file.path for file in snapshot.tracked()}
            order = [titles[f"Note_{number}"] for number in first_to_embed(snapshot, [folder, folder / "named.md"])]
    assert order == ["named.md", "new.md", "middle.md", "old.md"]
