"""Who called what through a door: rows that are added, and stay."""

from __future__ import annotations

from store_tools import AT, LATER, Open, generation, open_run

from infospace.journal.audit import AuditRow
from infospace.journal.rows import CloseRun
from infospace.store.protocol import Store


def found(store: Store, limit: int | None = None) -> list[AuditRow]:
    """Return what is kept."""
    with store.reading() as snapshot:
        return snapshot.audit(limit)


def test_rows_come_back_as_they_were_written_latest_first(open_store: Open) -> None:
    """All of them, or so many; in another process too; whoever searches notes has nothing to do with it."""
    store = open_store()
    before = generation(store)
    rows = [
        AuditRow(AT, "ann", "execute_tool", "git/git_status", "success", None, "run_1"),
        AuditRow(AT, "ann", "git__push", "git/push", "refused", 'hidden: "ü" \x00'),
        AuditRow(LATER, "stdio", "run_plan", "", "waiting", None, "run_2"),
    ]
    store.commit([], rows[:2])
    store.commit([], rows[2:])
    assert found(open_store()) == rows[::-1]
    assert found(store, 1) == rows[2:]
    assert found(store, 0) == []
    assert generation(store) == before


def test_they_stay_when_their_run_is_forgotten(store: Store) -> None:
    """What somebody did is not undone by forgetting the journal of it."""
    run = open_run(store)
    row = AuditRow(AT, "ann", "run_plan", "", "success", None, run)
    store.commit([], [CloseRun(run, "success", AT), row])
    store.forget([run], really=True)
    assert found(store) == [row]
