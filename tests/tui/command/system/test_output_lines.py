"""A line is the same whether `rich` prints it or not: without a terminal it is not asked."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.text.output import Output

MARKS = st.sampled_from(
    ["[red]", "[/x]", ":smile:", "\\", "  ", "\n", "\t", "\r", "\a", "\x1b[1m", "日本", "e\u0301", "\u2028"]
)
LINES = st.lists(MARKS | st.text(st.characters(exclude_categories=["Cs"]), max_size=120), max_size=6).map("".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LINES, st.sampled_from([None, "dim", "bold red"]))
def test_a_line_is_printed_as_rich_would(monkeypatch: pytest.MonkeyPatch, line: str, style: str | None) -> None:
    """Markup, widths and signs that look like emoji are left as they are, in whatever style."""
    out = Output(json=False)
    written = []
    for print_ in (
        lambda: out.text(line, style),
        lambda: out.result.print(line, style=style, markup=False, highlight=False, soft_wrap=True),
    ):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        print_()
        monkeypatch.undo()
        written.append(stream.getvalue())
    assert written[0] == written[1]


def test_colour_that_is_asked_for_comes_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that programs agree on."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    Output(json=False).text("red", "bold red")
    assert "\x1b[" in stream.getvalue()
