"""What is cut, left out or refused for its length: as long as the bound it stays, and one more is too long."""

from __future__ import annotations

import asyncio
import logging

import pytest

from infospace import Conflict, Invalid, Note, Space
from infospace.core.redaction import hidden
from infospace.core.tool import Tool
from infospace.data.properties import PropertyCounts, survey
from infospace.data.result import display_name, truncate
from infospace.data.titles import beginning, first_line
from infospace.editing.edit import edit
from infospace.editing.undo import undo
from infospace.expressions import parse_where
from infospace.expressions.expression import MAX_EXPRESSION_CHARACTERS
from infospace.journal.gaps import format_gaps, gaps_in
from infospace.schema.validate import validate
from infospace.schema.value_text import shown
from infospace.tools.approvals import question
from infospace.tools.mcp.errors import format_output_tail
from planner.execute.retry import retry_delay
from planner.execute.start import run_sync
from planner.language.plan import Retry
from planner.server.client_calls import tool_description


def test_a_label_has_sixty_characters() -> None:
    """Of a longer one the last stands for all that follows, and no blank before it."""
    assert [display_name(Note(id="Note_1", content=None, metadata={"title": "x" * size})) for size in (60, 61)] == [
        "x" * 60,
        "x" * 59 + "…",
    ]
    assert display_name(Note(id="Note_1", content=None, metadata={"title": "x" * 58 + " yz"})) == "x" * 58 + "…"
    assert display_name(Note(id="Note_1", content=None, metadata={"title": "a \n b"})) == "a b"


def test_a_text_that_is_cut_is_as_long_as_is_allowed() -> None:
    """And says how long it was, also when it is cut once more."""
    assert truncate("x" * 100, 100) == "x" * 100
    cut = truncate("x" * 101, 100)
    tail = "… [cut: 101 characters in all]"
    assert cut == "x" * (100 - len(tail)) + tail
    assert truncate(cut, 50) == "x" * (50 - len(tail)) + tail


def test_a_value_in_a_message_has_sixty_characters() -> None:
    assert [len(shown("x" * size)) for size in (57, 58, 59)] == [59, 60, 60]
    assert [shown("x" * size)[-1] for size in (58, 59)] == ['"', "…"]


def test_eight_misfits_of_a_value_are_told() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert [len(validate(["a"] * count, numbers)) for count in (7, 8, 9)] == [7, 8, 8]
    assert len(validate(["a"] * 9, numbers, 9)) == 9


def test_twenty_different_values_of_a_property_are_told() -> None:
    """Of a thousand and more none is counted, and it is known when there may be few again."""
    for count, told in ((20, 20), (21, None)):
        values = survey({"n": number} for number in range(count))["n"].values
        assert (None if values is None else len(values)) == told
    counts = PropertyCounts()
    for number in range(1_001):
        counts.add({"n": number})
    for number in range(980):
        counts.remove({"n": number})
    assert counts.are_exact
    counts.remove({"n": 980})
    assert not counts.are_exact


def test_a_value_of_three_characters_is_no_secret() -> None:
    """It stands everywhere; one of four is hidden."""
    assert hidden("abc abcd", ["abc"]) == "abc abcd"
    assert hidden("abc abcd", ["abcd"]) == "abc •••"


def test_of_what_a_server_said_last_the_end_is_told() -> None:
    """The words in the last three hundred characters of its last line that is not empty."""
    assert format_output_tail("") == format_output_tail(" \n\n") == ""
    assert format_output_tail("first\n  last  \n\n") == "; it said 'last'"
    assert format_output_tail("ab" + "x" * 298) == f"; it said '{'ab' + 'x' * 298}'"
    assert format_output_tail("ab" + "x" * 299) == f"; it said '… {'b' + 'x' * 299}'"
    assert format_output_tail("first second " + "y" * 295) == f"; it said '… {'y' * 295}'"
    assert format_output_tail("first second " + "y" * 293) == f"; it said '… second {'y' * 293}'"


def test_a_question_shows_two_hundred_characters_of_a_text_and_twenty_elements_of_a_list() -> None:
    """Of more it says how many there are."""
    write = Tool("files", "write", "Write a file.", {"type": "object"})
    for most, one in ((200, "x"), (20, [0])):
        assert "cut" not in question(write, {"value": one * most})
        assert f"[cut: {most + 1} " in question(write, {"value": one * (most + 1)})


def test_five_missing_runs_are_named() -> None:
    """The latest first; of more it is said how many there are."""
    assert gaps_in(["run_1", "run_4"]) == ["run_3", "run_2"]
    assert gaps_in([]) == gaps_in(["run_7"]) == []
    five = gaps_in(["run_1", "run_7"])
    assert format_gaps(five).startswith("no run_6, run_5, run_4, run_3, run_2, ")
    assert format_gaps(gaps_in(["run_1", "run_8"])).startswith("no run_7, run_6, run_5, run_4, run_3 and 1 more, ")
    assert " was " in format_gaps(["run_2"])
    assert " were " in format_gaps(five)


def test_a_title_is_looked_for_in_fifty_lines_and_a_thousand_characters_of_each() -> None:
    """A line of marks alone says nothing."""
    assert first_line("---\n" * 49 + "said") == "said"
    assert first_line("---\n" * 50 + "said") == "---"
    assert first_line("-" * 999 + "x") == "-" * 999 + "x"
    assert first_line("x" * 1_000) == first_line("x" * 1_001) == "x" * 1_000
    assert beginning("# a\n\nb c", 100) == "a b c"


def test_what_stands_in_the_way_of_an_undo_is_named_five_times(space: Space) -> None:
    """Of more it is said how many there are."""

    def message(count: int) -> str:
        steps = [{"type": "create-note", "value": number, "name": f"{count} {number}"} for number in range(count)]
        run = run_sync(space, {"steps": steps}).run
        for number in range(count):
            with space.store.reading() as snapshot:
                note = snapshot.get(str(snapshot.named(f"{count} {number}")))
            assert isinstance(note, Note)
            edit(space.store, note, "other", note.metadata, "edit")
        with pytest.raises(Conflict, match="cannot be undone, since") as raised:
            undo(space.store, str(run))
        return str(raised.value)

    five, six = message(5), message(6)
    assert five.count("was changed by") == six.count("was changed by") == 5
    assert ("more" in five, ", and 1 more" in six) == (False, True)


def test_a_condition_has_so_many_characters() -> None:
    """It counts before anything is read."""
    text = "a = 1"
    parse_where(text + " " * (MAX_EXPRESSION_CHARACTERS - len(text)))
    with pytest.raises(
        Invalid, match=f"has {MAX_EXPRESSION_CHARACTERS + 1:,} characters, more than {MAX_EXPRESSION_CHARACTERS:,}"
    ):
        parse_where(text + " " * (MAX_EXPRESSION_CHARACTERS - len(text) + 1))


def test_a_number_of_a_condition_has_four_hundred_digits() -> None:
    """Zeros before it count as well; what is larger than any float is refused in the same words."""
    parse_where(f"a = {'0' * 399}1")
    for number in ("0" * 400 + "1", "1e309", "-1e309"):
        with pytest.raises(Invalid, match="beyond what a number holds"):
            parse_where(f"a = {number}")


@pytest.mark.parametrize(
    ("retry", "attempt", "seconds"),
    [
        (None, 1, "0.0"),
        (Retry(3, 0.0, 2.0), 2, "0.0"),
        (Retry(3, 1.5, 2.0), 1, "1.5"),
        (Retry(3, 1.5, 2.0), 3, "6.0"),
        (Retry(9, 1.0, 60.0), 3, "3600.0"),
        (Retry(9, 1.0, 60.0), 4, "3600.0"),
    ],
)
def test_the_wait_between_attempts_grows_to_an_hour(
    caplog: pytest.LogCaptureFixture, retry: Retry | None, attempt: int, seconds: str
) -> None:
    """By its factor from the second attempt on; whoever is told to rest does not wait."""

    async def told_to_rest() -> None:
        heard = asyncio.Event()
        heard.set()
        await retry_delay(retry, attempt, heard, "7")

    with caplog.at_level(logging.INFO, "planner.execute.retry"):
        asyncio.run(told_to_rest())
    assert caplog.messages == [f"step 7 failed at attempt {attempt}; it is tried again in {seconds} s"]


def test_a_tool_is_described_in_six_hundred_characters_of_its_server() -> None:
    """And by its name alone where it says nothing."""
    tools = [Tool("files", "write", "x" * size, {"type": "object"}) for size in (600, 601, 0)]
    stays, cut, empty = map(tool_description, tools)
    assert stays == f"files/write. Its server says: {'x' * 600}"
    assert cut.endswith("… [cut: 601 characters in all]")
    assert empty == "files/write"
