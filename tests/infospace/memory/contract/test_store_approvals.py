"""Which tools may be called without asking: in the whole space, or in one run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from store_tools import AT, LATER, open_run

from infospace.core.errors import NotFound
from infospace.journal.rows import Approve, CloseRun, Disapprove
from infospace.store.protocol import Store


def found(store: Store, run: str | None = None) -> list[Approve]:
    """Return what is approved."""
    with store.reading() as snapshot:
        return snapshot.approvals(run)


def test_an_approval_reads_as_it_was_written(store: Store) -> None:
    """Those of the space hold in every run, those of a run in it alone; by tool."""
    run, other = open_run(store), open_run(store)
    always, once = Approve("files/write", b"\x00d", AT), Approve("files/delete", b"e", AT, run)
    named = Approve("git/*", None, AT, run)
    store.commit([], [named, always, once])
    assert found(store) == found(store, other) == [always]
    assert found(store, run) == [once, always, named]


def test_a_later_approval_of_a_tool_takes_the_place_of_an_earlier_one(store: Store) -> None:
    """In the space and in each run apart."""
    run = open_run(store)
    store.commit([], [Approve("files/write", b"1", AT), Approve("files/write", b"1", AT, run)])
    store.commit([], [Approve("files/write", b"2", LATER)])
    assert found(store, run) == [Approve("files/write", b"2", LATER), Approve("files/write", b"1", AT, run)]


def test_what_is_taken_back_is_asked_about_again(store: Store) -> None:
    """Once; what was never approved is not found, and changes nothing."""
    run = open_run(store)
    store.commit([], [Approve("files/write", b"1", AT), Approve("files/write", b"1", AT, run)])
    store.commit([], [Disapprove("files/write")])
    assert found(store, run) == [Approve("files/write", b"1", AT, run)]
    for entry in (Disapprove("files/write"), Disapprove("files/read", run)):
        with pytest.raises(NotFound, match=entry.tool):
            store.commit([], [Approve("git/push", b"1", AT), entry])
    assert found(store) == []


def test_an_unknown_run_has_no_approvals(store: Store) -> None:
    """Neither written, nor taken back, nor read."""
    for entry in (Approve("files/write", None, AT, "run_99"), Disapprove("files/write", "run_99")):
        with pytest.raises(NotFound, match="run_99"):
            store.commit([], [entry])
    with pytest.raises(NotFound, match="run_99") as error:
        found(store, "run_99")
    assert error.value.hint == "`infospace runs` lists the runs of a space"


def test_approvals_of_a_run_go_with_it(store: Store) -> None:
    """Those of the space stay."""
    run = open_run(store)
    store.commit([], [Approve("a/b", None, AT, run), Approve("a/b", b"1", AT), CloseRun(run, "success", AT)])
    store.forget([run], really=True)
    assert found(store) == [Approve("a/b", b"1", AT)]


def test_another_store_of_the_space_reads_them(open_store: Callable[[], Store]) -> None:
    """As soon as they are committed."""
    one, other = open_store(), open_store()
    one.commit([], [Approve("files/write", b"1", AT)])
    assert found(other) == [Approve("files/write", b"1", AT)]
