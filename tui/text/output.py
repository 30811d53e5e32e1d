"""What a command prints: results on standard output, talk on standard error, colour only on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from infospace.core.errors import InfospaceError

if TYPE_CHECKING:
    from rich.console import Console

    from infospace.core.listener import Listener


_FORCING = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which `rich` may be told that no terminal is one."""

_CONTROL = re.compile(r"[\t\a\b\v\f\r]")
"""What `rich` does not write as it is, whatever it writes to."""

_COMMANDING = re.compile(
    "["
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # may move a terminal's cursor, rename its window, change its colours
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # turn the direction of writing
    r"\u2028\u2029"  # end a line
    r"\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"  # are not to be seen
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    r"\ud800-\udfff"  # have no UTF-8 form
    "]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"  # joiners, but for those between letters
)
"""What is not shown as it is: text of notes, tools, servers and models may hold it, to command or to deceive."""


class UsageError(InfospaceError):
    """The command line does not fit what there is: a missing file, a space that cannot be opened."""

    kind = "usage"


class Output:
    """Where a command's words go. With `json`, standard output gets one JSON document and nothing else."""

    def __init__(self, *, json: bool, space: str | None = None) -> None:
        self.json = json
        self.space = space
        """The space as it was named on the command line, None where it was not: further commands name it too."""

    @cached_property
    def result(self) -> Console:
        """The console for what was asked for."""
        return _console(stderr=False)

    @cached_property
    def side(self) -> Console:
        """The console for talk about it."""
        return _console(stderr=True)

    def document(self, value: Any) -> None:
        """Print one JSON document."""
        json.dump(value, sys.stdout, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
        sys.stdout.write("\n")

    def text(self, text: str = "", style: str | None = None, *, crop: bool = False) -> None:
        """Print a line of the result; with `crop` no more of it than fits the width of a terminal."""
        if crop and sys.stdout.isatty():
            width = self.result.width
            text = text if len(text) <= width else f"{text[: width - 1]}…"
        self._line(text, style, stderr=False)

    def talk(self, text: str, style: str | None = None) -> None:
        """Say something beside the result."""
        self._line(text, style, stderr=True)

    def _line(self, text: str, style: str | None, *, stderr: bool) -> None:
        """Print a line, without `rich`, whose import takes time, where it would print the same."""
        stream = sys.stderr if stderr else sys.stdout
        text = escape_controls(text)
        if stream.isatty() or _CONTROL.search(text) or any(name in os.environ for name in _FORCING):
            console = self.side if stderr else self.result
            console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
            return
        stream.write(f"{text}\n")
        stream.flush()

    def error(self, error: InfospaceError) -> None:
        """Say what went wrong in one sentence; with `json`, as a document too."""
        if self.json:
            self.document({"status": "failed", "kind": error.kind, "reason": error.message, "hint": error.hint})
        sys.stderr.write(f"infospace: {escape_controls(str(error))}\n")

    @contextmanager
    def progress(self) -> Iterator[Listener]:
        """Show long work with a bar and a rate while it lasts; only on a terminal."""
        from infospace.core.listener import NullListener

        if self.json or not sys.stderr.isatty():
            yield NullListener()
            return
        from tui.text.progress import ProgressBars

        with ProgressBars(self.side) as bars:
            yield bars


def escape_controls(text: str) -> str:
    r"""Return text as a person may see it: what would command a terminal, or hide, stands there as `\x1b`, `\u202e`."""
    return _COMMANDING.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _console(*, stderr: bool) -> Console:
    from tui.text.console import SafeConsole

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 100
    return SafeConsole(stderr=stderr, width=width, emoji=False)
