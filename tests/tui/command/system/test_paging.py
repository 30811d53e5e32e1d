"""A text that is longer than the terminal goes through the pager, where there is one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tui.command.common import paging
from tui.command.common.paging import show_markdown, show_text
from tui.text.output import Output

TEXT = "\x1b[3mtext\x1b[0m"
LONG = "\n".join(f"line {number}" for number in range(200))


@pytest.fixture
def paged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the pager keeps what it is given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGER", "sh -c 'cat > paged'")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path / "paged"


def be_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let standard output be a terminal, as it is in a test: while fixtures are made, it is another one."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def test_what_fits_is_printed_and_what_does_not_is_paged(
    paged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what would control the terminal."""
    be_terminal(monkeypatch)
    show_text("short", Output(json=False))
    assert (capsys.readouterr().out, paged.exists()) == ("short\n", False)
    show_text(f"\x1b[2J{LONG}", Output(json=False))
    assert capsys.readouterr().out == ""
    assert paged.read_text() == f"\\x1b[2J{LONG}\n"


@pytest.mark.parametrize("pager", ["", "no-such-pager --at all"])
def test_without_a_pager_the_beginning_is_printed(
    paged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, pager: str
) -> None:
    """And how much that is of all; what is not longer is printed whole."""
    be_terminal(monkeypatch)
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setattr(paging, "LOOKED_AT", len(LONG))
    show_text(LONG, Output(json=False))
    assert capsys.readouterr() == (f"{LONG}\n", "")
    show_text(f"{LONG}, and more", Output(json=False))
    said = capsys.readouterr()
    assert said.out == f"{LONG}\n"
    assert said.err == f"the first {len(LONG):,} of {len(LONG) + 10:,} characters; a pipe or --json gives all\n"


def test_what_is_no_terminal_gets_all(paged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_text(LONG, Output(json=False))
    show_markdown("# Title\n\n*text*\n", Output(json=False))
    assert (capsys.readouterr().out, paged.exists()) == (f"{LONG}\n# Title\n\n*text*\n", False)


def test_markdown_is_rendered_for_a_terminal(
    paged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    be_terminal(monkeypatch)
    show_markdown("*text* of `code`", Output(json=False))
    assert (capsys.readouterr().out.strip(), paged.exists()) == (f"{TEXT} of \x1b[1;36;40mcode\x1b[0m", False)
    show_markdown("\n\n".join(["*text*"] * 200), Output(json=False))
    assert capsys.readouterr().out == ""
    assert paged.read_text().split() == [TEXT] * 200
