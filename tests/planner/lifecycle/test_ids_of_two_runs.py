"""The ids that a run gives out, and those that the run before gave out in their place."""

from __future__ import annotations

from infospace.core.resources import CreatedBy
from infospace.journal.id_mapping import IdMapping, rename_ids
from infospace.journal.origin import Product
from infospace.journal.rows import Use


def by(step: str | None) -> CreatedBy:
    return CreatedBy("run_1", step, "create-note")


def made(identifier: str, step: str | None, version: int = 1) -> Product:
    return Product(Use(identifier, version), by(step))


def test_the_first_of_a_kind_at_a_step_is_the_first_of_that_kind_there() -> None:
    """By their numbers, and not as texts; changed versions are nothing that was made."""
    ids = IdMapping(
        [
            made("Note_10", "1"),
            made("Note_9", "1"),
            made("Note_3", "1", version=2),
            made("Collection_1", "1"),
            made("Note_11", "2"),
            made("Note_12", None),
        ]
    )
    for new, step in (("Note_20", "1"), ("Note_21", "2"), ("Collection_7", "1"), ("Note_22", "1"), ("Note_23", None)):
        ids.record_new_id(new, by(step))
    then, now = (
        "Note_9 Note_10 Collection_1 Note_11 Note_12 Note_3",
        "Note_20 Note_22 Collection_7 Note_21 Note_23 Note_3",
    )
    assert (ids.later(then), ids.earlier(now)) == (now, then)


def test_what_the_earlier_run_did_not_make_keeps_its_id() -> None:
    """One more at the step than there were, and one at a step that made none."""
    ids = IdMapping([made("Note_1", "1")])
    for new, step in (("Note_5", "1"), ("Note_6", "1"), ("Note_7", "2")):
        ids.record_new_id(new, by(step))
    assert ids.earlier("Note_5 Note_6 Note_7") == "Note_1 Note_6 Note_7"
    assert ids.later("Note_1 Note_6 Note_7") == "Note_5 Note_6 Note_7"


def test_a_step_that_begins_again_counts_from_its_first() -> None:
    """It alone."""
    ids = IdMapping([made("Note_1", "1"), made("Note_2", "1"), made("Note_3", "2"), made("Note_4", "2")])
    for new, step in (("Note_11", "1"), ("Note_13", "2")):
        ids.record_new_id(new, by(step))
    ids.restart_step(by("1"))
    for new, step in (("Note_21", "1"), ("Note_22", "1"), ("Note_24", "2")):
        ids.record_new_id(new, by(step))
    assert ids.later("Note_1 Note_2 Note_3 Note_4") == "Note_21 Note_22 Note_13 Note_24"


def test_ids_are_renamed_wherever_they_stand() -> None:
    """In texts, lists and objects, in keys too; what is no text stays, and a longer number is another id."""
    ids = IdMapping([made("Note_1", "1")])
    ids.record_new_id("Note_7", by("1"))
    value = {"of Note_1": ["Note_1", "Note_12", {"n": 1, "t": None, "f": True}], "x": "see Note_1."}
    renamed = {"of Note_7": ["Note_7", "Note_12", {"n": 1, "t": None, "f": True}], "x": "see Note_7."}
    assert rename_ids(value, ids.later) == renamed
    assert rename_ids(renamed, ids.earlier) == value
