"""What a search proved, as sentences say it: what was proved, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.search.query import certificate
from tui.text.render import format_certificate, hits_table, snippet_with
from tui.text.step_text import certificate_lines


def proved(**more: Any) -> dict[str, Any]:
    """The certificate of an exact search of 266 notes by meaning, with some of it otherwise."""
    usual: dict[str, Any] = {
        "matched": 3, "returned": 3, "scored": 266, "notes": 266, "max_below": 0.295, "threshold": 0.3,
        "model": "some/model", "generation": 4,
    }  # fmt: skip
    return certificate(**(usual | more))


def test_notes_are_counted_as_notes_and_not_as_passages() -> None:
    """A certificate counts Notes; how many passages they have it does not know."""
    message = list(certificate_lines(proved()))
    assert message == [
        "All 3 of 266 notes at or above 0.30; the best below the threshold has 0.295.",
        "Every one of 266 notes was compared, each by its best passage.",
        "Nothing that fits is left out.",
        "Compared by some/model, in generation 4 of the space.",
    ]


def test_the_threshold_auto_says_what_everyday_requests_reach() -> None:
    """A given one says nothing of them, and neither does a space without vectors."""
    message = format_certificate(proved(threshold=0.41) | {"chance": 0.184})
    assert message.startswith("all 3 of 266 notes at or above 0.41 (auto: everyday requests reach 0.18); the best")
    assert "auto" not in format_certificate(proved() | {"chance": None})


def test_notes_that_a_condition_alone_chose_were_compared_with_nothing() -> None:
    """There is no query, no word of it, and no passage."""
    chosen = {"scored": 0, "max_below": None, "threshold": None, "model": None, "method": "filter"}
    assert list(certificate_lines(proved(**chosen, matched=9, returned=9, notes=9))) == [
        "All 9 notes that fit.",
        "Nothing that fits is left out.",
    ]
    assert list(certificate_lines(proved(**chosen, matched=9, returned=2, notes=9))) == [
        "2 of 9 notes that fit.",
        "7 more fit, and were beyond the limit.",
    ]


def test_what_waits_to_be_embedded_was_not_compared() -> None:
    """Nor is it claimed that nothing was overlooked."""
    message = list(certificate_lines(proved(scored=260, unembedded=6)))
    assert message[0].endswith("; 6 not embedded yet, so not searched.")
    assert message[1] == "260 of 266 notes were compared, each by its best passage; the others wait to be embedded."
    assert "Nothing that fits is left out." not in message


def test_the_limit_leaves_out_what_fits() -> None:
    """How much, and what comes next below the threshold, are two things."""
    message = list(certificate_lines(proved(matched=40, returned=5)))
    assert message[0] == ("5 of 40 notes at or above 0.30, 266 searched; the best below the threshold has 0.295.")
    assert "35 more fit, and were beyond the limit." in message


def test_an_index_proves_nothing() -> None:
    """It compared with those that it found."""
    message = list(certificate_lines(proved(matched=None, max_below=None, scored=30, method="hnsw")))
    assert not any("Every one" in line or "more fit" in line or "left out" in line for line in message)
    assert "An index found the nearest: one that it passed over would not be here." in message


def test_words_are_told_with_those_that_were_left_out() -> None:
    """By words alone there is neither threshold nor model."""
    by_words = proved(threshold=None, model=None, max_below=None)
    message = list(certificate_lines(by_words | {"words": ["cat", "dog"], "words_left_out": ["house"]}))
    assert message == [
        "All 3 of 266 notes with a word of the query; very common, so not looked for: house.",
        "Every one of 266 notes was searched.",
        "Nothing that fits is left out.",
        "Words looked for: cat, dog.",
    ]


def test_both_ways_say_how_many_each_found() -> None:
    """The best of the others has no word and lies below the threshold; what waits was searched by words."""
    both = proved(scored=260, unembedded=6) | {"words": ["cat"], "matched_by": {"meaning": 2, "words": 1}}
    message = list(certificate_lines(both))
    assert message[0] == (
        "All 3 of 266 notes at or above 0.30 or with a word of the query; the best without a word and below the"
        " threshold has 0.295; 6 not embedded yet, so searched by words only."
    )
    assert "By meaning 2 fit, by words 1." in message


@pytest.mark.parametrize("noun", ["collections", "passages"])
def test_other_counts_are_called_what_they_are(noun: str) -> None:
    """Collections and passages have no best passage."""
    counted = {noun if key == "notes" else key: value for key, value in proved().items()}
    assert list(certificate_lines(counted))[1] == f"Every one of 266 {noun} was compared."
    assert format_certificate(counted).startswith(f"all 3 of 266 {noun} ")


LONG = "The committee met on Tuesday and agreed on the budget. " * 9


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("zebra", "a zebra ran"),
        ("running", "she runs home"),
        ("resume", "her résumé was read"),
        ("索引", "全文索引と検索"),
        ("budgets", "the budget"),
    ],
)
def test_the_part_of_a_passage_that_is_shown_has_the_word(word: str, said: str) -> None:
    """Of its stem, with or without accents, in scripts without blanks."""
    shown = snippet_with([word], f"{LONG}{said}, at last. {LONG}")
    assert said in shown
    assert len(shown) <= 160


def test_a_passage_that_begins_with_the_word_is_shown_from_its_beginning() -> None:
    """Nor is one cut without words."""
    assert snippet_with(["committee"], LONG).startswith("The committee met")
    assert snippet_with([], LONG) == snippet_with(["nothing-like-it"], LONG)
    long = {"start": 0, "end": 9, "text": f"{LONG}zebra {LONG}", "headings": []}
    said = {"type": "Note", "score": 0.5, "source_id": "Note_1", "title": "T", "passage": long}
    hit = {"text": LONG, "format": "text", "metadata": said}
    cell = next(iter(hits_table([hit], ["zebra"]).columns[3].cells))
    assert "zebra" in str(cell)


def test_a_passage_is_shown_under_its_headings_and_says_neither_them_nor_the_title_again() -> None:
    """A title that is the first heading is none of them; where a file lies is told once."""
    text = "# T\n\nIntro\n\n## A\n\nsome\n\n### B\n\nwords of B"
    start = text.index("### B")
    passage = {"start": start, "end": len(text), "text": text[start:], "headings": ["T", "A", "B"]}
    where = {"path": "d/f.md", "folder": "d", "root": "/r"}
    about = {"type": "Note", "score": 0.5, "source_id": "Note_1", "title": "T", "passage": passage, **where}
    table = hits_table([{"text": text, "format": "text", "metadata": about}])
    assert [column.header for column in table.columns] == ["#", "score", "note", "title and passage", "path"]
    assert str(next(iter(table.columns[3].cells))) == "T\nA › B\nwords of B"
    about |= {"passage": {"start": 0, "end": 12, "text": text[:12], "headings": ["T"]}}
    other = {"text": text, "format": "text", "metadata": {**about, "root": "/q"}}
    table = hits_table([{"text": text, "format": "text", "metadata": about}, other])
    assert [column.header for column in table.columns][4:] == ["path", "root"]
    assert str(next(iter(table.columns[3].cells))) == "T\nIntro"
