"""How numbers, times, states and values are told on the screen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infospace.core.plural import pluralize
from infospace.tools.approvals import ARGUMENTS_SEPARATOR
from tui.text.format import (
    between,
    count,
    format_bytes,
    format_duration,
    format_time,
    json_as_prose,
    preview_as_prose,
    question_line,
    sign,
    single_line,
)


@pytest.mark.parametrize(
    ("milliseconds", "message"),
    [
        (0.0, "<0.1 ms"),
        (0.04, "<0.1 ms"),
        (0.05, "0.1 ms"),
        (9.94, "9.9 ms"),
        (10, "10 ms"),
        (999, "999 ms"),
        (1000, "1.0 s"),
        (59_900, "59.9 s"),
        (60_000, "1:00 min"),
        (125_400, "2:05 min"),
        (3_599_000, "59:59 min"),
        (3_600_000, "1:00:00 h"),
        (3_725_000, "1:02:05 h"),
        (90_061_000, "25:01:01 h"),
    ],
)
def test_a_duration_has_the_unit_that_fits(milliseconds: float, message: str) -> None:
    assert format_duration(milliseconds) == message


def test_numbers_are_grouped_and_large_ones_are_millions() -> None:
    assert [count(number) for number in (0, 999, 12_345, 999_999, 1_000_000, 12_345_678)] == [
        "0",
        "999",
        "12,345",
        "999,999",
        "1.0 M",
        "12.3 M",
    ]


def test_bytes_are_kilobytes_until_a_tenth_of_a_megabyte() -> None:
    assert [format_bytes(size) for size in (0, 1_499, 99_999, 100_000, 3_400_000)] == [
        "0 kB",
        "1 kB",
        "100 kB",
        "0.1 MB",
        "3.4 MB",
    ]


def test_one_thing_is_no_things() -> None:
    assert [pluralize(number, "run") for number in (0, 1, 2, 1_000)] == ["0 runs", "1 run", "2 runs", "1,000 runs"]


def test_the_time_between_two_times_is_never_less_than_none() -> None:
    """Clocks are set back; what has not ended lasts until now."""
    assert between("2026-03-31T23:33:20.000Z", "2026-03-31T23:33:21.250Z") == 1250
    assert between("2026-03-31T23:33:21.000Z", "2026-03-31T23:33:20.000Z") == 0
    began = (datetime.now(UTC) - timedelta(seconds=90)).isoformat()
    assert 90_000 <= between(began, None) < 150_000


def test_a_time_is_told_as_people_here_read_it() -> None:
    assert format_time("2026-03-31T23:33:20.987Z")[-5:] == "33:20"
    assert len(format_time("2026-03-31T23:33:20.987Z")) == len("04-01 09:30:00")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "(empty)"),
        (" two\n words ", "two words"),
        ([], "none"),
        ({}, "none"),
        (3, "3"),
        (None, "null"),
        (True, "true"),
        (["a", "b"], "a, b"),
        ({"name": "Ada", "tags": ["a", "b"]}, "name: Ada, tags: (a, b)"),
        ({"at": {"x": 1, "y": []}}, "at: (x: 1, y: none)"),
        (["", {"k": "v"}], "(empty), (k: v)"),
    ],
)
def test_json_is_told_to_who_does_not_know_json(value: Any, message: str) -> None:
    assert json_as_prose(value) == message


def test_a_beginning_of_json_is_told_as_far_as_it_goes() -> None:
    """What is no JSON is a text."""
    assert preview_as_prose('{"name": "Ada", "born": 18') == "name: Ada, born: 18"
    assert preview_as_prose('["a", "b"]') == "a, b"
    assert preview_as_prose("[not JSON") == "[not JSON"
    assert preview_as_prose("three\nwords here") == "three words here"


def test_a_text_is_one_line_without_what_commands_a_terminal() -> None:
    assert single_line("a\n\tb\x1b[31mc") == "a b\\x1b[31mc"
    assert len(single_line("x" * 5000)) == 2000


def test_a_question_about_a_call_has_its_arguments_in_words() -> None:
    assert question_line("Go\non?") == "Go on?"
    asked = f'Call post/send{ARGUMENTS_SEPARATOR}{{"path": "a.txt", "times": 2}}?'
    assert question_line(asked) == f"Call post/send{ARGUMENTS_SEPARATOR}path: a.txt, times: 2?"


def test_each_state_has_its_sign_and_colour() -> None:
    """One that is not known has too."""
    colours = {"success": "green", "error": "red", "warning": "yellow", "accent": "blue"}
    told = {state: sign(state, colours) for state in ("success", "failed", "suspended", "running", "left", "", "odd")}
    assert [text.plain for text in told.values()] == ["✓", "✗", "…", "▶", "!", "○", "?"]
    assert [str(text.spans[0].style) for text in told.values()] == [
        "green",
        "red",
        "yellow",
        "blue",
        "yellow",
        "dim",
        "red",
    ]
