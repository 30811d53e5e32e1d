"""A prompt with other ids in it is the prompt that would have been asked about those."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from infospace.core.resources import CreatedBy
from infospace.journal.id_mapping import IdMapping
from infospace.journal.origin import Product
from infospace.journal.rows import Use
from infospace.llm.prompts import reworded, task

WORDS = st.lists(
    st.sampled_from(["Note_1", "Note_2", "Note_12", "a", "\n", "\\n", "[", "_", "<<<material ", ">>>", " "])
)
TEXTS = WORDS.map("".join)
MATERIAL = st.lists(st.tuples(st.sampled_from(["Note_1", "Note_2", "it"]), TEXTS), max_size=3)


def counterparts() -> IdMapping:
    """Two Notes that an earlier run made at two steps, and this one too, the other way round."""
    found = IdMapping(Product(Use(f"Note_{at}", 1), CreatedBy("run_1", str(at), "create-note")) for at in (1, 2))
    found.record_new_id("Note_31", CreatedBy("run_2", "2"))
    found.record_new_id("Note_32", CreatedBy("run_2", "1"))
    return found


@given(TEXTS, MATERIAL)
def test_a_prompt_about_counterparts_is_the_earlier_prompt(instruction: str, material: list[tuple[str, str]]) -> None:
    """Labels, texts and the marks around them; and back again."""
    ids = counterparts()
    before = [message["content"] for message in task(instruction, material)]
    after = [
        message["content"]
        for message in task(ids.later(instruction), [(ids.later(label), ids.later(text)) for label, text in material])
    ]
    assert [reworded(text, ids.earlier) for text in after] == before
    assert [reworded(text, ids.later) for text in before] == after


def test_ids_are_found_in_written_json_and_not_in_longer_words() -> None:
    """What was made elsewhere stays as it is."""
    ids = counterparts()
    assert ids.later('{"text": "see\\nNote_1"} Note_12 XNote_1 Note_1x (Note_2)') == (
        '{"text": "see\\nNote_32"} Note_12 XNote_1 Note_1x (Note_31)'
    )


def test_what_is_made_anew_at_a_step_counts_from_the_first() -> None:
    """An attempt that failed has left nothing there."""
    ids = counterparts()
    ids.restart_step(CreatedBy("run_2", "1"))
    ids.record_new_id("Note_40", CreatedBy("run_2", "1"))
    assert ids.earlier("Note_40 Note_31") == "Note_1 Note_2"
    ids.record_new_id("Note_41", CreatedBy("run_2", "1"))
    assert ids.earlier("Note_41") == "Note_41"
